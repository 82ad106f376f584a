import { defineCommand } from '../command.ts';
import { usageError } from '../failure.ts';
import { integer, required, text } from '../values.ts';
import { sessionKey } from './session-key.ts';

export const sessionRewind = defineCommand({
  path: 'session rewind',
  summary: 'Go back to before a message; what came after stays in the tree',
  examples: ['session rewind notes', 'session rewind notes --turns 3', 'session rewind notes --entry 3f2a9c01'],
  args: { key: required('Its key') },
  options: {
    turns: integer('<n>', 'Before the last n messages (default: 1)', { min: 1, max: 1_000 }),
    entry: text('<id>', 'Before this message'),
  },
  async run({ args, options, out, call }) {
    const { turns, entry: entryId } = options;
    if (turns !== undefined && entryId !== undefined) throw usageError('--turns and --entry cannot be given together');
    const result = await call('sessions.rewind', { key: await sessionKey(args.key), turns, entryId }, { key: '<key>', entryId: '--entry' });
    const { safeLines } = await import('../chat/text.ts');
    out.show(result, () => safeLines(result.text ?? ''));
    if (!out.json) out.talk(`The session goes on from ${result.leafId ?? 'its beginning'}; what the message said is printed above`);
  },
});
