import { defineCommand } from '../command.ts';
import { required, text } from '../values.ts';
import { sessionKey } from './session-key.ts';

const PATIENCE_MS = 300_000;

export const sessionCompact = defineCommand({
  path: 'session compact',
  summary: 'Sum up the older messages, to make room',
  examples: ['session compact notes', 'session compact notes --keep "the list of files"'],
  args: { key: required('Its key') },
  options: { keep: text('<text>', 'What the summary has to keep in mind') },
  async run({ args, options, out, call }) {
    const params = { key: await sessionKey(args.key), instructions: options.keep };
    const result = await call('sessions.compact', params, { key: '<key>', instructions: '--keep' }, PATIENCE_MS);
    const { visible } = await import('@tenon/protocol');
    out.show(result, () =>
      result.compacted
        ? `summed up; it was ${result.tokensBefore ?? 'an unknown number of'} tokens before`
        : `nothing was done: ${visible(result.reason ?? '')}`,
    );
  },
});
