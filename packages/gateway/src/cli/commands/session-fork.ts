import { defineCommand } from '../command.ts';
import { required, text } from '../values.ts';
import { sessionKey } from './session-key.ts';

export const sessionFork = defineCommand({
  path: 'session fork',
  summary: 'Make a new session from what was said in one',
  examples: ['session fork notes', 'session fork notes --to notes-2 --title "Another way"', 'session fork notes --entry 3f2a9c01'],
  args: { key: required('Its key') },
  options: {
    to: text('<key>', 'The key of the new session; without one, a random one'),
    entry: text('<id>', 'Only what leads to this entry'),
    title: text('<text>', 'The title of the new session'),
  },
  async run({ args, options, out, call }) {
    const newKey = options.to === undefined ? undefined : await sessionKey(options.to);
    const params = { key: await sessionKey(args.key), newKey, entryId: options.entry, title: options.title };
    const result = await call('sessions.fork', params, { key: '<key>', newKey: '--to', entryId: '--entry' });
    const { visible } = await import('@tenon/protocol');
    out.show(result, () => visible(result.session.key));
  },
});
