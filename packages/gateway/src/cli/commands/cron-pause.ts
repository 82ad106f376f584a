import { type CommandSpec, defineCommand } from '../command.ts';
import { required } from '../values.ts';
import { findJob, jobLines } from './cron-shown.ts';

export const cronPause = restOrGoOn('pause', 'cron.pause', 'Let a job rest');
export const cronResume = restOrGoOn(
  'resume',
  'cron.resume',
  'Go on with a job that rests; what it has missed meanwhile is not made up for',
);

function restOrGoOn(verb: string, method: 'cron.pause' | 'cron.resume', summary: string): CommandSpec {
  return defineCommand({
    path: `cron ${verb}`,
    summary,
    examples: [`cron ${verb} j3kf9`],
    args: { id: required('Its id, the beginning of it, or its name') },
    async run({ args, out, io, call }) {
      const result = await call(method, { id: (await findJob(args.id, { call })).id });
      const { visible } = await import('@tenon/protocol');
      out.show(result, () => jobLines(result.job, out, visible, io.now()));
    },
  });
}
