import { defineCommand } from '../command.ts';
import { on, required } from '../values.ts';
import { sessionKey } from './session-key.ts';

export const sessionReset = defineCommand({
  path: 'session reset',
  summary: 'Start a session afresh under the same key',
  examples: ['session reset notes', 'session reset notes --yes'],
  args: { key: required('Its key') },
  options: { yes: on('Do not ask', 'y') },
  async run({ args, options, out, params, call, consent }) {
    const { key } = await params('sessions.reset', { key: await sessionKey(args.key) }, { key: '<key>' });
    await consent(`Reset session "${key}"`, key, options.yes);
    const result = await call('sessions.reset', { key });
    const { visible } = await import('@tenon/protocol');
    out.show(result, () => `reset ${visible(result.session.key)}`);
  },
});
