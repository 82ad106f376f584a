import { defineCommand } from '../command.ts';
import { usageError } from '../failure.ts';
import { on, required, text } from '../values.ts';
import { rulesOf } from './cron-rules.ts';
import { findJob, inFlags, jobLines, ruleOptions, whenOptions, wishOf } from './cron-shown.ts';
import { sessionKey } from './session-key.ts';

export const cronEdit = defineCommand({
  path: 'cron edit',
  summary: 'Change a job',
  examples: ['cron edit j3kf9 --every 2h', 'cron edit j3kf9 --message "Look again" --on-miss 1h', 'cron edit j3kf9 --clear-retry'],
  args: { id: required('Its id, the beginning of it, or its name') },
  options: {
    message: text('<text>', 'What the agent is told then'),
    ...whenOptions,
    session: text('<key>', 'Always in this session'),
    ...ruleOptions,
    clearRetry: on('It is not tried again when it fails'),
    clearTag: on('Take the tag away'),
  },
  async run({ args, options, out, io, call, check }) {
    const { message, name, overlap, delivery } = options;
    const changes = {
      message,
      name,
      overlap,
      delivery,
      schedule: wishOf(options),
      session: options.session === undefined ? undefined : { key: await sessionKey(options.session) },
      tag: options.clearTag ? null : options.tag,
      ...rulesOf(options),
      ...(options.clearRetry ? { retry: null } : {}),
    };
    if (Object.values(changes).every((value) => value === undefined))
      throw usageError('Nothing to change: give --message, --every, --on-miss …');
    const labels = { message: '--message', name: '--name', tag: '--tag', session: '--session' };
    await check('cron.update', changes, labels);
    const { id } = await findJob(args.id, { call });
    const result = await inFlags(call('cron.update', { id, ...changes }, labels));
    const { visible } = await import('@tenon/protocol');
    out.show(result, () => jobLines(result.job, out, visible, io.now()));
  },
});
