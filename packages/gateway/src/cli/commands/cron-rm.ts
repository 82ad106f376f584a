import { defineCommand } from '../command.ts';
import { many, on } from '../values.ts';
import { findJob } from './cron-shown.ts';

export const cronRm = defineCommand({
  path: 'cron rm',
  alias: 'remove',
  summary: 'Remove jobs; a turn that runs goes on',
  examples: ['cron rm j3kf9', 'cron rm j3kf9 j77ab --yes'],
  args: { ids: many('Their ids, the beginnings of them, or their names') },
  options: { yes: on('Do not ask', 'y') },
  async run({ args, options, out, call, consent }) {
    const { visible } = await import('@tenon/protocol');
    const removed: string[] = [];
    for (const typed of args.ids) {
      const job = await findJob(typed, { call });
      await consent(`Remove job "${visible(job.name)}"`, job.id, options.yes);
      await call('cron.remove', { id: job.id });
      removed.push(job.id);
    }
    out.show({ removed }, () => removed.map((id) => `removed ${id}`));
  },
});
