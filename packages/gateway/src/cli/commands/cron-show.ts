import { defineCommand } from '../command.ts';
import { required } from '../values.ts';
import { findJob, jobLines } from './cron-shown.ts';

export const cronShow = defineCommand({
  path: 'cron show',
  summary: 'Show one job',
  examples: ['cron show j3kf9', 'cron show "Look at the mail" --json'],
  args: { id: required('Its id, the beginning of it, or its name') },
  async run({ args, out, io, call }) {
    const result = await call('cron.get', { id: (await findJob(args.id, { call })).id });
    const { visible } = await import('@tenon/protocol');
    out.show(result, () => jobLines(result.job, out, visible, io.now()));
  },
});
