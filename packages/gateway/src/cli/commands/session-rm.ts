import { defineCommand } from '../command.ts';
import { many, on } from '../values.ts';
import { sessionKey } from './session-key.ts';

export const sessionRm = defineCommand({
  path: 'session rm',
  alias: 'delete',
  summary: 'Delete sessions and all that belongs to them',
  examples: ['session rm notes', 'session rm notes drafts --yes', 'session rm notes --dry-run'],
  args: { keys: many('Their keys') },
  options: { yes: on('Do not ask', 'y'), dryRun: on('Only show what would be deleted') },
  async run({ args, options, out, params, call, consent }) {
    const { visible } = await import('@tenon/protocol');
    const labels = { key: '<keys...>' };
    const keys: string[] = [];
    for (const typed of args.keys) keys.push((await params('sessions.delete', { key: await sessionKey(typed) }, labels)).key);
    const deleted: string[] = [];
    for (const key of keys) {
      if (options.dryRun) {
        await call('sessions.get', { key }, labels);
      } else {
        await consent(`Delete session "${key}"`, key, options.yes);
        await call('sessions.delete', { key }, labels);
      }
      deleted.push(key);
    }
    out.show({ dryRun: options.dryRun, deleted }, () =>
      deleted.map((key) => `${options.dryRun ? 'would delete' : 'deleted'} ${visible(key)}`),
    );
  },
});
