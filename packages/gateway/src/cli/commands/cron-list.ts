import type { Job } from '@tenon/protocol';
import { relative } from '../amounts.ts';
import { defineCommand } from '../command.ts';
import { choice, integer, on, text } from '../values.ts';
import { occurrenceText, scheduleText } from './cron-shown.ts';
import { shortId } from './pick.ts';
import { sessionKey } from './session-key.ts';

export const cronList = defineCommand({
  path: 'cron list',
  alias: 'ls',
  summary: 'List jobs: when they are due next, and what became of the last time',
  examples: ['cron list', 'cron list --session notes', 'cron list --state all --json'],
  options: {
    state: choice(['active', 'paused', 'finished', 'all'], 'Only those; else active and paused ones'),
    session: text('<key>', 'Only those of this session'),
    tag: text('<tag>', 'Only those with this tag'),
    limit: integer('<n>', 'How many at most', { min: 1, max: 200, short: 'n' }),
    cursor: text('<cursor>', 'Go on where an earlier list ended'),
    all: on('Every page'),
  },
  async run({ options, out, io, call }) {
    const jobs: Job[] = [];
    let cursor = options.cursor;
    do {
      const { state, tag, limit } = options;
      const key = options.session === undefined ? undefined : await sessionKey(options.session);
      const page = await call('cron.list', { state, tag, limit, cursor, sessionKey: key }, { sessionKey: '--session', tag: '--tag' });
      jobs.push(...page.jobs);
      cursor = page.nextCursor;
    } while (options.all && cursor !== undefined);
    const { visible } = await import('@tenon/protocol');
    out.show(cursor === undefined ? { jobs } : { jobs, nextCursor: cursor }, () =>
      out.table(
        [
          { title: 'ID', cell: (job) => shortId(job.id) },
          { title: 'NAME', cell: (job) => visible(job.name), flexible: true },
          { title: 'WHEN', cell: (job) => visible(scheduleText(job.schedule)) },
          {
            title: 'NEXT',
            cell: (job) => (job.nextAt === undefined ? (job.state === 'active' ? '-' : job.state) : relative(job.nextAt, io.now())),
          },
          { title: 'LAST', cell: (job) => (job.last ? visible(occurrenceText(job.last, io.now())) : '-'), flexible: true },
        ],
        jobs,
      ),
    );
    if (out.json) return;
    if (jobs.length === 0) out.talk('No jobs. Make one with: tenon cron add "Look at the mail" --every 1h --session notes');
    if (cursor !== undefined) out.talk(`There are more: tenon cron list --cursor ${visible(cursor)}   (or --all)`);
    return;
  },
});
