import type { Result } from '@tenon/protocol';
import { spell } from '../amounts.ts';
import { defineCommand } from '../command.ts';
import { choice, integer, optional, text } from '../values.ts';
import { findJob, timeText, whyOf } from './cron-shown.ts';
import { shortId } from './pick.ts';

type Row = Result<'cron.history'>['occurrences'][number];
const states = ['waiting', 'running', 'done', 'failed', 'missed', 'skipped', 'interrupted'] as const;

export const cronHistory = defineCommand({
  path: 'cron history',
  summary: 'What became of each time that a job was due, and why it was missed',
  examples: ['cron history', 'cron history j3kf9 --state missed', 'cron history j3kf9 --json'],
  args: { id: optional('The job; without it, all jobs') },
  options: {
    state: choice(states, 'Only those'),
    limit: integer('<n>', 'How many at most', { min: 1, max: 200, short: 'n' }),
    cursor: text('<cursor>', 'Go on where an earlier list ended'),
  },
  async run({ args, options, out, call, check }) {
    await check('cron.history', options);
    const id = args.id === undefined ? undefined : await idOf(args.id, call);
    const result = await call('cron.history', { id, ...options });
    const { visible } = await import('@tenon/protocol');
    out.show(result, () =>
      out.table(
        [
          { title: 'DUE', cell: (row) => timeText(row.dueAt) },
          { title: 'JOB', cell: (row) => visible(row.jobName ?? shortId(row.jobId)) },
          { title: 'STATE', cell: stateOf },
          { title: 'TOOK', cell: tookOf },
          { title: 'WHY', cell: (row) => visible(whyOf(row) ?? ''), flexible: true },
        ],
        result.occurrences,
      ),
    );
    if (out.json) return;
    if (result.occurrences.length === 0) out.talk('Nothing was due yet');
    if (result.nextCursor !== undefined) out.talk(`There are more: add --cursor ${result.nextCursor}`);
    return;
  },
});

/** A job that is gone still has a history, under its whole id. */
async function idOf(typed: string, call: Parameters<typeof findJob>[1]['call']): Promise<string> {
  return typed.length >= WHOLE_ID ? typed : (await findJob(typed, { call })).id;
}

const WHOLE_ID = 20;

function stateOf({ state, count, manual, attempt }: Row): string {
  return [count === undefined ? state : `${state} ×${count}`, manual ? 'asked for' : '', attempt > 1 ? `attempt ${attempt}` : '']
    .filter(Boolean)
    .join(', ');
}

function tookOf({ startedAt, endedAt }: Row): string {
  return startedAt === undefined || endedAt === undefined ? '-' : spell(endedAt - startedAt);
}
