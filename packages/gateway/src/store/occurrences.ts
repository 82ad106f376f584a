// What becomes of each time that a job is due. It is taken on in the commit that accepts its run and moves the job on, and it
// ends in the commit that ends the run: so it is there once, whenever the gateway dies. The job and the time name it.
import type { Job, Occurrence } from '@tenon/protocol';
import { readColumns } from './job-columns.ts';
import {
  announceJob,
  finishIfOver,
  insertOccurrence,
  type JobRow,
  lockJob,
  type OccurrenceRow,
  requireJob,
  toJob,
  toOccurrence,
  wakeNext,
} from './job-row.ts';
import { acceptRun, QUEUED_RUNS } from './runs.ts';
import { lockSession } from './session-row.ts';
import { all, type Dialect, one, type Operation, refuse, type Row, sql } from './sql.ts';

/** Times in one millisecond that somebody can ask for. */
const MOST_BESIDE = 10;
/** The limit `jobsWaiting`. */
export const JOBS_WAITING = 10;

/** Times in a row that are one record. */
export interface MissedTimes {
  readonly dueAt: number;
  readonly until: number;
  readonly count: number;
  readonly reason: string;
}

export interface DueTime {
  readonly dueAt: number;
  /** Of the run that it becomes. */
  readonly runId: string;
}

/** Jobs that are due, the longest overdue first, and attempts that are. */
export function* listDue(args: { at: number; limit: number }): Operation<{ jobs: DueJob[]; waiting: Occurrence[] }> {
  const jobs = yield* all<JobRow>(sql`
    select * from jobs where next_at is not null and next_at <= ${args.at} order by next_at, ord limit ${args.limit}`);
  const waiting = yield* all(sql`
    select * from occurrences where wake_at is not null and wake_at <= ${args.at} order by wake_at, ord limit ${args.limit}`);
  return { jobs: jobs.map(toDue), waiting: waiting.map(toOccurrence) };
}

export interface DueJob {
  readonly job: Job;
  readonly revision: number;
  /** What of it cannot be read. */
  readonly damage?: string;
}

function toDue(row: JobRow): DueJob {
  const { damage } = readColumns(row);
  return { job: toJob(row), revision: row.revision, ...(damage === undefined ? {} : { damage }) };
}

/** When something is due next. */
export function* nextDue(_: object): Operation<{ at?: number }> {
  const job = yield* one<{ at: number }>(sql`select next_at as at from jobs where next_at is not null order by next_at limit 1`);
  const attempt = yield* one<{ at: number }>(sql`select wake_at as at from occurrences where wake_at is not null order by wake_at limit 1`);
  const times = [job, attempt].flatMap((row) => (row ? [row.at] : []));
  return times.length === 0 ? {} : { at: Math.min(...times) };
}

/**
 * Takes on what is due of a job that is still as it was read, and moves it on: `missed` is recorded, `due` becomes a run, or
 * waits, or is skipped, as the job says. `key` is the session of the run.
 */
export function* claimDue(
  args: { key: string; jobId: string; revision: number; missed?: MissedTimes; due?: DueTime; nextAt: number | null; at: number },
  dialect: Dialect,
): Operation<{ claimed: boolean; runId?: string; occurrence?: Occurrence }> {
  const { key, jobId, missed, due, nextAt, at } = args;
  yield* lockSession(key, dialect);
  const job = yield* lockJob(jobId, dialect);
  if (job?.state !== 'active' || job.revision !== args.revision || job.next_at !== (missed ?? due)?.dueAt) return { claimed: false };
  const moved = yield* one<JobRow>(sql`
    update jobs set next_at = ${nextAt}, revision = revision + 1, updated_at = ${at} where id = ${jobId} returning *`);
  if (!moved) return { claimed: false };
  const rows: OccurrenceRow[] = [];
  if (missed) {
    const until = missed.count > 1 ? missed.until : null;
    const row = yield* insertOccurrence(moved, missed.dueAt, { state: 'missed', reason: missed.reason, covers: missed.count, until, at });
    if (row) rows.push(row);
  }
  const last = due ? yield* beginOccurrence(moved, key, due, false, at, dialect) : undefined;
  if (last) rows.push(last);
  const now = yield* finishIfOver(moved, at);
  for (const row of rows) yield* announceJob('occurrence', now, at, row);
  const runId = last?.run_id ?? undefined;
  return { claimed: true, ...(runId === undefined ? {} : { runId }), ...(last ? { occurrence: toOccurrence(last) } : {}) };
}

/** Beside its schedule, because somebody asked for it. */
export function* runNow(
  args: { key: string; jobId: string; runId: string; at: number },
  dialect: Dialect,
): Operation<{ job: Job; occurrence: Occurrence }> {
  const { key, jobId, runId, at } = args;
  yield* lockSession(key, dialect);
  const job = yield* requireJob(jobId, dialect);
  const dueAt = yield* freeTime(job, at);
  const occurrence = yield* beginOccurrence(job, key, { dueAt, runId }, true, at, dialect);
  if (!occurrence) refuse('CONFLICT', `Job "${jobId}" was run in this very millisecond; try again`, { code: 'OCCURRENCE_EXISTS' });
  yield* announceJob('occurrence', job, at, occurrence);
  return { job: toJob(job), occurrence: toOccurrence(occurrence) };
}

/** Now, or a millisecond beside what is due now: that has a record of its own. */
function* freeTime({ id, next_at }: JobRow, at: number): Operation<number> {
  const taken = yield* all<{ due_at: number }>(sql`
    select due_at from occurrences where job_id = ${id} and due_at >= ${at} and due_at < ${at + MOST_BESIDE} order by due_at`);
  const times = new Set([next_at, ...taken.map((row) => row.due_at)]);
  let free = at;
  while (times.has(free) && free < at + MOST_BESIDE) free++;
  return free;
}

/** One that has waited: behind another one, or for its next attempt. Not any more, if it was taken on or ended meanwhile. */
export function* startWaiting(
  args: { key: string; jobId: string; dueAt: number; runId: string; at: number },
  dialect: Dialect,
): Operation<{ runId?: string }> {
  const { key, jobId, dueAt, runId, at } = args;
  yield* lockSession(key, dialect);
  const job = yield* lockJob(jobId, dialect);
  const row = yield* one<OccurrenceRow>(sql`
    select * from occurrences where job_id = ${jobId} and due_at = ${dueAt} and state = 'waiting' and wake_at <= ${at}`);
  if (!job || !row) return {};
  const full = yield* fullSession(key);
  const now = full
    ? yield* one<OccurrenceRow>(sql`
        update occurrences set state = 'skipped', reason = ${full}, wake_at = null, ended_at = ${at} where ord = ${row.ord} returning *`)
    : yield* one<OccurrenceRow>(sql`
        update occurrences set state = 'running', run_id = ${runId}, attempt = attempt + 1, wake_at = null,
          started_at = coalesce(started_at, ${at})
        where ord = ${row.ord} returning *`);
  if (full) yield* wakeNext(jobId, at);
  else yield* acceptRun(runOf(job, key, { runId, dueAt }, at), dialect);
  yield* announceJob('occurrence', full ? yield* finishIfOver(job, at) : job, at, now ?? row);
  return full ? {} : { runId };
}

/** As the job's rule for overlaps says. Nothing when there is one of this time already. */
function* beginOccurrence(
  job: JobRow,
  key: string,
  due: DueTime,
  manual: boolean,
  at: number,
  dialect: Dialect,
): Operation<OccurrenceRow | undefined> {
  const { dueAt, runId } = due;
  const open = yield* all<{ state: string }>(sql`
    select state from occurrences where job_id = ${job.id} and state in ('waiting', 'running') limit ${JOBS_WAITING + 2}`);
  const place = { sessionKey: key, manual, at };
  if (open.length > 0 && job.overlap !== 'allow') {
    if (job.overlap === 'skip')
      return yield* insertOccurrence(job, dueAt, { ...place, state: 'skipped', reason: 'The time before had not ended' });
    if (open.filter(({ state }) => state === 'waiting').length >= JOBS_WAITING)
      return yield* insertOccurrence(job, dueAt, { ...place, state: 'skipped', reason: `${JOBS_WAITING} times of it wait already` });
    return yield* insertOccurrence(job, dueAt, { ...place, state: 'waiting', reason: 'The time before has not ended' });
  }
  const full = yield* fullSession(key);
  if (full) return yield* insertOccurrence(job, dueAt, { ...place, state: 'skipped', reason: full });
  const row = yield* insertOccurrence(job, dueAt, { ...place, state: 'running', runId });
  if (row) yield* acceptRun(runOf(job, key, due, at), dialect);
  return row;
}

function* fullSession(key: string): Operation<string | undefined> {
  const waiting = yield* one<{ n: number }>(sql`select count(*) as n from runs where session_key = ${key} and state = 'queued'`);
  return (waiting?.n ?? 0) >= QUEUED_RUNS ? `${QUEUED_RUNS} messages wait in session "${key}" already` : undefined;
}

function runOf(job: JobRow, key: string, { runId, dueAt }: DueTime, at: number): Parameters<typeof acceptRun>[0] {
  const { tag } = job;
  const scheduled = { jobId: job.id, name: job.name, dueAt, delivery: job.delivery, ...(tag === null ? {} : { tag }) };
  return {
    key,
    runId,
    content: [{ type: 'text', text: job.message }],
    mode: 'followup',
    trigger: 'schedule',
    principal: job.owner,
    options: { scheduled },
    ...(job.session_key === null ? { title: job.name } : {}),
    at,
  };
}

/** Those that have ended long ago, and finished jobs; a job that is to be kept stays. */
export function* sweepOccurrences(before: number, step: number): Operation<{ occurrences: number; jobs: number }> {
  const gone = yield* all<Row>(sql`
    delete from occurrences where ord in (select ord from occurrences where ended_at < ${before} order by ended_at limit ${step})
    returning ord`);
  const jobs = yield* all<Row>(sql`
    delete from jobs where ord in (select ord from jobs where finished_at < ${before} and keep = 0 order by finished_at limit ${step})
    returning ord`);
  return { occurrences: gone.length, jobs: jobs.length };
}
