// Jobs that are removed or let rest: one by one, or all of an owner, a session or a credential, with the commit that is the
// reason for it.
import { announceJob, auditJob, deleteJob, endWaiting, type JobRow, requireJob, skipDue } from './job-row.ts';
import { all, type Dialect, joinSql, one, type Operation, raw, type Sql, sql } from './sql.ts';

const REMOVED = 'The job was removed';
const RESTS = 'The job was paused';
/** Jobs that one commit removes at most, unless it is about one session. */
const STEP = 100;

export function* removeJob(args: { id: string; by?: string; at: number }, dialect: Dialect): Operation<{ id: string; removed: true }> {
  const job = yield* requireJob(args.id, dialect);
  yield* deleteJob(job, REMOVED, args.at);
  yield* auditJob('cron.remove', job, args, dialect);
  return { id: args.id, removed: true };
}

/** Those of one owner, in one session and under one tag where that is said. `more`: ask again. */
export function* removeJobsOf(
  args: { owner: string; sessionKey?: string; tag?: string; reason?: string; at: number },
  dialect: Dialect,
): Operation<{ removed: number; more: boolean }> {
  const conditions = [sql`owner = ${args.owner}`, sql`state <> 'finished'`];
  if (args.sessionKey !== undefined) conditions.push(sql`session_key = ${args.sessionKey}`);
  if (args.tag !== undefined) conditions.push(sql`tag = ${args.tag}`);
  return yield* removeWhere(joinSql(conditions, ' and '), args.reason ?? REMOVED, args.at, dialect);
}

function* removeWhere(which: Sql, reason: string, at: number, dialect: Dialect): Operation<{ removed: number; more: boolean }> {
  const lock = raw(dialect === 'sqlite' ? '' : 'for update');
  const rows = yield* all<JobRow>(sql`select * from jobs where ${which} order by id limit ${STEP} ${lock}`);
  for (const row of rows) yield* deleteJob(row, reason, at);
  return { removed: rows.length, more: rows.length === STEP };
}

/** The session starts afresh: what plugins had planned in it is gone. */
export function* removePluginJobsIn(key: string, at: number, dialect: Dialect): Operation<void> {
  while ((yield* removeWhere(sql`session_key = ${key} and owner like 'plugin:%'`, 'The session was reset', at, dialect)).more);
}

export function* removeJobsIn(key: string, at: number, dialect: Dialect): Operation<void> {
  while ((yield* removeWhere(sql`session_key = ${key}`, 'The session was deleted', at, dialect)).more);
}

/** Nobody works on for a credential that was revoked. */
export function* pauseJobsOf(args: { owner: string; note: string; at: number }, dialect: Dialect): Operation<void> {
  const lock = raw(dialect === 'sqlite' ? '' : 'for update');
  for (const job of yield* all<JobRow>(sql`select * from jobs where owner = ${args.owner} and state = 'active' order by id ${lock}`)) {
    yield* letRest(job, args.note, args.at);
  }
}

export function* letRest(job: JobRow, note: string | undefined, at: number): Operation<JobRow> {
  yield* endWaiting(job, 'skipped', RESTS, at);
  yield* skipDue(job, RESTS, at);
  const row = yield* one<JobRow>(sql`
    update jobs set state = 'paused', note = ${note ?? null}, next_at = null, revision = revision + 1, updated_at = ${at}
    where id = ${job.id} returning *`);
  yield* announceJob('updated', row ?? job, at);
  return row ?? job;
}
