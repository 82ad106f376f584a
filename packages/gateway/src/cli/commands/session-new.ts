import { defineCommand } from '../command.ts';
import { on, optional, text } from '../values.ts';
import { sessionKey } from './session-key.ts';

export const sessionNew = defineCommand({
  path: 'session new',
  summary: 'Make a session',
  examples: ['session new', 'session new notes --title "Notes"', 'session new --agent helper --label work'],
  args: { key: optional('Its key; without one, a random one under the agent') },
  options: {
    title: text('<text>', 'Its title'),
    label: text('<label>', 'Its label'),
    agent: text('<id>', 'The agent it belongs to'),
    pinned: on('Pin it'),
  },
  async run({ args, options, out, call }) {
    const key = args.key === undefined ? undefined : await sessionKey(args.key);
    const { title, label, agent: agentId } = options;
    const pinned = options.pinned ? true : undefined;
    const result = await call('sessions.create', { key, title, label, agentId, pinned }, { key: '<key>', agentId: '--agent' });
    const { visible } = await import('@tenon/protocol');
    out.show(result, () => visible(result.session.key));
  },
});
