// Jobs: made, changed, read. When a job is due next is worked out by the caller, who knows time zones; here it
// is one column with an index, so that what is due costs the same however many jobs there are.
import type { Job, JobSession, Occurrence, OnMiss, Overlap, Schedule } from '@tenon/protocol';
import { readColumns } from './job-columns.ts';
import { letRest } from './job-removal.ts';
import { announceJob, auditJob, type JobRow, noJob, requireJob, skipDue, toJob, toOccurrence } from './job-row.ts';
import { requireSwitchedOn } from './plugins.ts';
import { readSession } from './session-row.ts';
import { all, type Dialect, joinSql, one, type Operation, refuse, type Row, type Sql, sql } from './sql.ts';

/** The limits of the same names: the writer's thread does without the schemas of the protocol. */
export const JOB_LIMITS = { jobsPerPlugin: 1_000, jobsPerSession: 1_000, jobs: 200_000 } as const;
const PLUGIN = 'plugin:';

export interface JobFields {
  readonly name: string;
  readonly session: JobSession;
  readonly schedule: Schedule;
  readonly message: string;
  readonly onMiss: OnMiss;
  readonly overlap: Overlap;
  readonly retry?: Job['retry'];
  readonly delivery: Job['delivery'];
  readonly tag?: string;
}

/** `mustExist`: the session that it is bound to. `keep`: listed until somebody removes it, also when it is finished. */
export function* addJob(
  args: { id: string; fields: JobFields; owner: string; nextAt: number; mustExist?: boolean; keep?: boolean; by?: string; at: number },
  dialect: Dialect,
): Operation<{ job: Job }> {
  const { id, fields, owner, nextAt, at } = args;
  const { key, agentId } = placeOf(fields.session);
  if (owner.startsWith(PLUGIN)) yield* requireSwitchedOn(owner.slice(PLUGIN.length), dialect);
  if (args.mustExist && key !== null) yield* readSession(key);
  yield* requireRoom(owner, key);
  const row = yield* one<JobRow>(sql`
    insert into jobs (id, name, session_key, agent_id, schedule, message, state, on_miss, overlap, retry, delivery, owner, tag, keep,
      next_at, revision, created_at, updated_at)
    values (${id}, ${fields.name}, ${key}, ${agentId}, ${JSON.stringify(fields.schedule)}, ${fields.message}, 'active',
      ${JSON.stringify(fields.onMiss)}, ${fields.overlap}, ${fields.retry ? JSON.stringify(fields.retry) : null}, ${fields.delivery},
      ${owner}, ${fields.tag ?? null}, ${Number(args.keep ?? false)}, ${nextAt}, 1, ${at}, ${at})
    on conflict (id) do nothing returning *`);
  if (!row) refuse('CONFLICT', `Job "${id}" exists already`, { code: 'JOB_EXISTS' });
  yield* announceJob('added', row, at);
  yield* auditJob('cron.add', row, args, dialect);
  return { job: toJob(row) };
}

function* requireRoom(owner: string, key: string | null): Operation<void> {
  if (owner.startsWith(PLUGIN)) yield* requireFewer('jobsPerPlugin', sql`owner = ${owner}`, `${owner.slice(PLUGIN.length)} has`);
  if (key !== null) yield* requireFewer('jobsPerSession', sql`session_key = ${key}`, `session "${key}" has`);
  yield* requireFewer('jobs', sql`state <> 'finished'`, 'there are');
}

function* requireFewer(limit: keyof typeof JOB_LIMITS, which: Sql, who: string): Operation<void> {
  const most = JOB_LIMITS[limit];
  const found = yield* one<{ n: number }>(sql`
    select count(*) as n from (select 1 from jobs where ${which} and state <> 'finished' limit ${most}) as counted`);
  if ((found?.n ?? 0) < most) return;
  refuse('CONFLICT', `No more jobs: ${who} ${most} that are not finished; remove some first`, { code: 'JOB_LIMIT', limit });
}

/** `nextAt`: where the schedule is another one. */
export function* updateJob(
  args: {
    id: string;
    fields: Partial<Omit<JobFields, 'retry' | 'tag'>> & Nullable;
    nextAt?: number | null;
    by?: string;
    at: number;
  },
  dialect: Dialect,
): Operation<{ job: Job }> {
  const { id, at } = args;
  const before = yield* requireJob(id, dialect);
  const { name, session, schedule, message, onMiss, overlap, retry, delivery, tag } = { ...toJob(before), ...args.fields };
  // What nobody changes stays as it is, also where it cannot be read.
  const kept = {
    schedule: args.fields.schedule ? JSON.stringify(schedule) : before.schedule,
    onMiss: args.fields.onMiss ? JSON.stringify(onMiss) : before.on_miss,
    retry: args.fields.retry === undefined ? before.retry : retry ? JSON.stringify(retry) : null,
  };
  const { key, agentId } = placeOf(session);
  if (key !== null && key !== before.session_key) yield* requireFewer('jobsPerSession', sql`session_key = ${key}`, `session "${key}" has`);
  // With another schedule it begins anew, also if it was finished; one that rests goes on resting.
  const state = args.nextAt === undefined || before.state === 'paused' ? before.state : 'active';
  const nextAt = args.nextAt === undefined || before.state === 'paused' ? before.next_at : args.nextAt;
  if (args.nextAt !== undefined) yield* skipDue(before, 'The schedule was changed', at);
  const row = yield* one<JobRow>(sql`
    update jobs set name = ${name}, session_key = ${key}, agent_id = ${agentId}, schedule = ${kept.schedule},
      message = ${message}, on_miss = ${kept.onMiss}, overlap = ${overlap}, retry = ${kept.retry},
      delivery = ${delivery}, tag = ${tag ?? null}, state = ${state}, next_at = ${nextAt},
      finished_at = ${state === 'finished' ? before.finished_at : null},
      revision = revision + 1, updated_at = ${at}
    where id = ${id} returning *`);
  const changed = row ?? noJob(id);
  yield* announceJob('updated', changed, at);
  yield* auditJob('cron.update', changed, args, dialect, { changed: Object.keys(args.fields) });
  return { job: toJob(changed) };
}

interface Nullable {
  readonly retry?: Job['retry'] | null;
  readonly tag?: string | null;
}

/** `revision`: only if it is still as it was read. */
export function* pauseJob(
  args: { id: string; note?: string; revision?: number; by?: string; at: number },
  dialect: Dialect,
): Operation<{ job: Job }> {
  const job = yield* requireJob(args.id, dialect);
  if (job.state !== 'active' || job.revision !== (args.revision ?? job.revision)) return { job: toJob(job) };
  const resting = yield* letRest(job, args.note, args.at);
  yield* auditJob('cron.pause', job, args, dialect, args.note === undefined ? {} : { note: args.note });
  return { job: toJob(resting) };
}

/** `nextAt` null: its time has passed, and it is finished. */
export function* resumeJob(
  args: { id: string; nextAt: number | null; by?: string; at: number },
  dialect: Dialect,
): Operation<{ job: Job }> {
  const { id, nextAt, at } = args;
  const job = yield* requireJob(id, dialect);
  if (job.state !== 'paused') return { job: toJob(job) };
  const { damage } = readColumns(job);
  if (damage !== undefined) refuse('CONFLICT', `Job "${id}" cannot be resumed. ${damage}`, { code: 'BAD_SCHEDULE' });
  const state = nextAt === null ? 'finished' : 'active';
  const row = yield* one<JobRow>(sql`
    update jobs set state = ${state}, note = null, next_at = ${nextAt}, finished_at = ${nextAt === null ? at : null},
      revision = revision + 1, updated_at = ${at}
    where id = ${id} returning *`);
  const changed = row ?? noJob(id);
  yield* announceJob('updated', changed, at);
  yield* auditJob('cron.resume', changed, args, dialect);
  return { job: toJob(changed) };
}

export function* getJob(args: { id: string }): Operation<{ job: Job }> {
  const row = yield* one(sql`select * from jobs where id = ${args.id}`);
  const [job] = row ? yield* withLast([row]) : [];
  return { job: job ?? noJob(args.id) };
}

export function* listJobs(args: {
  limit: number;
  cursor?: string;
  state?: 'active' | 'paused' | 'finished' | 'all';
  sessionKey?: string;
  owner?: string;
  tag?: string;
}): Operation<{ jobs: Job[]; nextCursor?: string }> {
  const { state } = args;
  const conditions: Sql[] = [];
  if (state === undefined) conditions.push(sql`state <> 'finished'`);
  else if (state !== 'all') conditions.push(sql`state = ${state}`);
  if (args.sessionKey !== undefined) conditions.push(sql`session_key = ${args.sessionKey}`);
  if (args.owner !== undefined) conditions.push(sql`owner = ${args.owner}`);
  if (args.tag !== undefined) conditions.push(sql`tag = ${args.tag}`);
  if (args.cursor !== undefined) conditions.push(sql`ord < ${cursorIn(args.cursor)}`);
  const where = conditions.length === 0 ? sql`true` : joinSql(conditions, ' and ');
  const rows = yield* all(sql`select * from jobs where ${where} order by ord desc limit ${args.limit + 1}`);
  const page = rows.slice(0, args.limit);
  const last = rows.length > args.limit ? page.at(-1) : undefined;
  return { jobs: yield* withLast(page), ...(last ? { nextCursor: `${last.ord}` } : {}) };
}

function* withLast(rows: readonly Row[]): Operation<Job[]> {
  if (rows.length === 0) return [];
  const ids = joinSql(
    rows.map((row) => sql`${row.id as string}`),
    ', ',
  );
  const latest = yield* all(sql`
    select occurrences.* from jobs join occurrences on occurrences.ord =
      (select ord from occurrences where job_id = jobs.id order by due_at desc limit 1)
    where jobs.id in (${ids})`);
  const byJob = new Map<string, Occurrence>(latest.map((row) => [row.job_id as string, toOccurrence(row)]));
  return rows.map((row) => {
    const last = byJob.get(row.id as string);
    return { ...toJob(row), ...(last ? { last } : {}) };
  });
}

/** What each time has come to, latest first. */
export function* listOccurrences(args: {
  limit: number;
  cursor?: string;
  id?: string;
  state?: string;
}): Operation<{ occurrences: (Occurrence & { jobName?: string })[]; nextCursor?: string }> {
  const conditions: Sql[] = [sql`true`];
  if (args.id !== undefined) conditions.push(sql`job_id = ${args.id}`);
  if (args.state !== undefined) conditions.push(sql`occurrences.state = ${args.state}`);
  if (args.cursor !== undefined) conditions.push(sql`occurrences.ord < ${cursorIn(args.cursor)}`);
  const rows = yield* all(sql`
    select occurrences.*, jobs.name as job_name from occurrences left join jobs on jobs.id = job_id
    where ${joinSql(conditions, ' and ')} order by occurrences.ord desc limit ${args.limit + 1}`);
  const page = rows.slice(0, args.limit);
  const last = rows.length > args.limit ? page.at(-1) : undefined;
  return {
    occurrences: page.map((row) => ({ ...toOccurrence(row), ...(row.job_name === null ? {} : { jobName: row.job_name as string }) })),
    ...(last ? { nextCursor: `${last.ord}` } : {}),
  };
}

function cursorIn(cursor: string): number {
  if (!/^\d{1,16}$/.test(cursor)) refuse('INVALID_REQUEST', 'params/cursor is not one that this method gave');
  return Number(cursor);
}

function placeOf(session: JobSession): { key: string | null; agentId: string | null } {
  return 'key' in session ? { key: session.key, agentId: null } : { key: null, agentId: session.agentId };
}
