import { defineCommand } from '../command.ts';
import { required } from '../values.ts';
import { findJob, occurrenceText } from './cron-shown.ts';

export const cronRun = defineCommand({
  path: 'cron run',
  summary: 'Run a job now, beside its schedule',
  examples: ['cron run j3kf9', 'cron run j3kf9 --json'],
  args: { id: required('Its id, the beginning of it, or its name') },
  async run({ args, out, io, call }) {
    const result = await call('cron.run', { id: (await findJob(args.id, { call })).id });
    const { visible } = await import('@tenon/protocol');
    const { sessionKey = '' } = result.occurrence;
    out.show(result, () => [visible(occurrenceText(result.occurrence, io.now())), `session ${visible(sessionKey)}`]);
  },
});
