// The rows of jobs and of their occurrences, and what is told of them. Locks are taken in one order: session, run, job,
// occurrence; whoever needs only the later ones does without the earlier.
import type { Job, JobSession, JsonObject, Occurrence, Overlap } from '@tenon/protocol';
import { appendAudit } from './audit.ts';
import { readColumns } from './job-columns.ts';
import { change, type Dialect, emit, one, type Operation, refuse, type Row, sql } from './sql.ts';

const MINUTE_MS = 60_000;

export interface JobRow extends Row {
  readonly id: string;
  readonly name: string;
  readonly session_key: string | null;
  readonly agent_id: string | null;
  readonly schedule: string;
  readonly message: string;
  readonly state: string;
  readonly overlap: string;
  readonly on_miss: string;
  readonly retry: string | null;
  readonly delivery: Job['delivery'];
  readonly owner: string;
  readonly tag: string | null;
  readonly next_at: number | null;
  readonly finished_at: number | null;
  readonly revision: number;
}

export interface OccurrenceRow extends Row {
  readonly ord: number;
  readonly job_id: string;
  readonly due_at: number;
  readonly state: string;
  readonly session_key: string | null;
  readonly run_id: string | null;
  readonly attempt: number;
}

export function* lockJob(id: string, dialect: Dialect): Operation<JobRow | undefined> {
  return yield* one<JobRow>(
    dialect === 'sqlite' ? sql`select * from jobs where id = ${id}` : sql`select * from jobs where id = ${id} for update`,
  );
}

export function* requireJob(id: string, dialect: Dialect): Operation<JobRow> {
  return (yield* lockJob(id, dialect)) ?? noJob(id);
}

export function noJob(id: string): never {
  refuse('NOT_FOUND', `Cannot find job "${id}"`, { code: 'NO_JOB' });
}

/** Tells clients; `occurrence` is what has become of one time that it was due. */
export function* announceJob(
  kind: 'added' | 'updated' | 'removed' | 'occurrence',
  job: JobRow,
  at: number,
  occurrence?: OccurrenceRow,
): Operation<void> {
  yield* emit('cron', { kind, job: toJob(job), ...(occurrence ? { occurrence: toOccurrence(occurrence) } : {}) }, at);
}

/** Who changed it, in the same commit; what plugins and the agent do for themselves is told of elsewhere. */
export function* auditJob(
  action: 'cron.add' | 'cron.update' | 'cron.pause' | 'cron.resume' | 'cron.remove',
  job: JobRow,
  { by, at }: { readonly by?: string; readonly at: number },
  dialect: Dialect,
  details: JsonObject = {},
): Operation<void> {
  if (by === undefined) return;
  yield* appendAudit({ actor: by, action, target: job.id, details: { name: job.name, owner: job.owner, ...details }, at }, dialect);
}

/** A job that is never due again and has nothing under way is finished. */
export function* finishIfOver(job: JobRow, at: number): Operation<JobRow> {
  if (job.state !== 'active' || job.next_at !== null) return job;
  const open = yield* one(sql`select 1 as found from occurrences where job_id = ${job.id} and state in ('waiting', 'running') limit 1`);
  if (open) return job;
  const row = yield* one<JobRow>(sql`
    update jobs set state = 'finished', finished_at = ${at}, updated_at = ${at}, revision = revision + 1 where id = ${job.id} returning *`);
  return row ?? job;
}

/** What waits behind a time that has ended may begin: one at a time, the next one tells the one after it. */
export function* wakeNext(jobId: string, at: number): Operation<void> {
  yield* change(sql`
    update occurrences set wake_at = ${at} where ord = (
      select ord from occurrences where job_id = ${jobId} and state = 'waiting' and wake_at is null order by due_at limit 1)`);
}

/** Ends what waits of a job, because the job rests or is gone. What has been tried already was interrupted in any case. */
export function* endWaiting(job: JobRow, state: 'skipped' | 'interrupted', reason: string, at: number): Operation<void> {
  for (;;) {
    const row = yield* one<OccurrenceRow>(sql`
      update occurrences set state = case when attempt > 0 then 'interrupted' else ${state} end, reason = ${reason}, wake_at = null,
        ended_at = ${at}
      where ord = (select ord from occurrences where job_id = ${job.id} and state = 'waiting' order by due_at limit 1) returning *`);
    if (!row) return;
    yield* announceJob('occurrence', job, at, row);
  }
}

interface NewOccurrence {
  readonly state: Occurrence['state'];
  readonly reason?: string;
  readonly sessionKey?: string;
  readonly runId?: string;
  readonly manual?: boolean;
  readonly covers?: number;
  readonly until?: number | null;
  readonly at: number;
}

/** Nothing when there is one of this time already. */
export function* insertOccurrence(job: JobRow, dueAt: number, occurrence: NewOccurrence): Operation<OccurrenceRow | undefined> {
  const { state, reason, sessionKey, runId, manual, covers, until, at } = occurrence;
  const isOpen = state === 'running' || state === 'waiting';
  return yield* one<OccurrenceRow>(sql`
    insert into occurrences (job_id, due_at, state, reason, session_key, run_id, attempt, manual, covers, until, started_at, ended_at)
    values (${job.id}, ${dueAt}, ${state}, ${reason ?? null}, ${sessionKey ?? null}, ${runId ?? null}, ${Number(state === 'running')},
      ${Number(manual ?? false)}, ${covers ?? 1}, ${until ?? null}, ${state === 'running' ? at : null}, ${isOpen ? null : at})
    on conflict (job_id, due_at) do nothing returning *`);
}

/** Times that have come and that nobody has taken on: the job rests, changes or goes before they could begin. */
export function* skipDue(job: JobRow, reason: string, at: number): Operation<void> {
  if (job.state !== 'active' || job.next_at === null || job.next_at > at) return;
  const lateMs = at - job.next_at;
  const { schedule } = readColumns(job);
  const covers = schedule.kind === 'every' ? Math.floor(lateMs / schedule.everyMs) + 1 : 1;
  const until = schedule.kind === 'every' && covers > 1 ? job.next_at + (covers - 1) * schedule.everyMs : null;
  // How often an expression was due is known where times are worked out, not here.
  const others = schedule.kind === 'cron' && lateMs >= MINUTE_MS ? `, like later times until ${new Date(at).toISOString()}` : '';
  const row = yield* insertOccurrence(job, job.next_at, {
    state: 'skipped',
    reason: `${reason} before it could begin${others}`,
    covers,
    until,
    at,
  });
  if (row) yield* announceJob('occurrence', job, at, row);
}

/** The job is gone; what has become of it stays for a while, and a turn of it that runs goes on. */
export function* deleteJob(job: JobRow, reason: string, at: number): Operation<void> {
  yield* endWaiting(job, 'interrupted', reason, at);
  yield* skipDue(job, reason, at);
  yield* change(sql`delete from jobs where id = ${job.id}`);
  yield* announceJob('removed', job, at);
}

export function toJob(row: Row): Job {
  const session: JobSession =
    row.session_key === null ? { agentId: row.agent_id as string, fresh: true } : { key: row.session_key as string };
  const { schedule, onMiss, retry, damage } = readColumns(row);
  const note = (row.note as string | null) ?? damage;
  return {
    id: row.id as string,
    name: row.name as string,
    session,
    schedule,
    message: row.message as string,
    state: row.state as Job['state'],
    ...(note === undefined ? {} : { note }),
    onMiss,
    overlap: row.overlap as Overlap,
    ...(retry ? { retry } : {}),
    delivery: row.delivery as Job['delivery'],
    owner: row.owner as string,
    ...(row.tag === null ? {} : { tag: row.tag as string }),
    ...(row.next_at === null ? {} : { nextAt: row.next_at as number }),
    createdAt: row.created_at as number,
    updatedAt: row.updated_at as number,
  };
}

export function toOccurrence(row: Row): Occurrence {
  return {
    jobId: row.job_id as string,
    dueAt: row.due_at as number,
    state: row.state as Occurrence['state'],
    ...(row.reason === null ? {} : { reason: row.reason as string }),
    ...(row.session_key === null ? {} : { sessionKey: row.session_key as string }),
    ...(row.run_id === null ? {} : { runId: row.run_id as string }),
    attempt: row.attempt as number,
    ...(row.manual === 1 ? { manual: true as const } : {}),
    ...(row.until === null ? {} : { count: row.covers as number, until: row.until as number }),
    ...(row.wake_at === null || row.attempt === 0 ? {} : { retryAt: row.wake_at as number }),
    ...(row.started_at === null ? {} : { startedAt: row.started_at as number }),
    ...(row.ended_at === null ? {} : { endedAt: row.ended_at as number }),
  };
}
