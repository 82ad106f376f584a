import { defineCommand } from '../command.ts';
import { hinting, usageError } from '../failure.ts';
import { on, optional, required } from '../values.ts';
import { sessionKey } from './session-key.ts';

export const sessionBranch = defineCommand({
  path: 'session branch',
  summary: 'Go on from another entry of the tree',
  examples: ['session branch notes 3f2a9c01', 'session branch notes 3f2a9c01 --summarize', 'session branch notes --root'],
  args: { key: required('Its key'), entry: optional('The entry; tenon session tree lists them') },
  options: { root: on('From the very beginning'), summarize: on('Sum up what is left behind for the agent') },
  async run({ args, options, out, call }) {
    if (options.root === (args.entry !== undefined)) throw usageError('[entry] or --root must be given, one of the two');
    const entryId = options.root ? null : args.entry;
    const summarize = options.summarize ? true : undefined;
    const params = { key: await sessionKey(args.key), entryId, summarize };
    const branching = call('sessions.branch', params, { key: '<key>', entryId: '[entry]' }, 120_000);
    const result = await (entryId === null
      ? branching
      : hinting(branching, ['USAGE', 'NOT_FOUND'], `list them with: tenon session tree ${args.key}`));
    out.show(result, () => result.leafId ?? 'the beginning');
  },
});
