// What is kept how long. Each row is a bound that `doctor` shows and one bounded step of the sweep.
import { trimAudit } from './audit.ts';
import { sweepDeliveries } from './deliveries.ts';
import { storedTables } from './migrations.ts';
import { sweepOccurrences } from './occurrences.ts';
import { all, change, type Dialect, emit, joinSql, one, type Operation, raw, sql } from './sql.ts';
import { sweepQuestions } from './ui-questions.ts';
import { dayOf } from './usage.ts';

export interface Retention {
  readonly answerMs: number;
  readonly eventMs: number;
  readonly eventCount: number;
  readonly auditCount: number;
  /** After it was revoked or has expired. */
  readonly credentialMs: number;
  /** After it has ended. */
  readonly runMs: number;
  /** After it was settled; deliveries and questions of extensions, too. */
  readonly approvalMs: number;
  /** After the reset that left it behind. */
  readonly transcriptMs: number;
  readonly usageMs: number;
  /** After it has ended. */
  readonly occurrenceMs: number;
}

/** Rows that one sweep removes from one table at most, so that nobody waits behind it. */
const STEP = 2_000;

export interface Swept {
  readonly answers: number;
  readonly events: number;
  readonly pairings: number;
  readonly audit: number;
  readonly runs: number;
  readonly approvals: number;
  /** Entries of transcripts that were left behind. */
  readonly entries: number;
  readonly usage: number;
  /** Those that have expired, and those of the runs. */
  readonly injections: number;
  readonly occurrences: number;
  /** Finished ones. */
  readonly jobs: number;
  readonly deliveries: number;
  /** Of extensions. */
  readonly questions: number;
  /** Whether a table has more to remove. */
  readonly more: boolean;
}

export function* sweep(args: { at: number; keep: Retention }, dialect: Dialect): Operation<Swept> {
  const { at, keep } = args;
  const answers = yield* change(sql`
    delete from answers where (principal, key) in (
      select principal, key from answers where created_at < ${at - keep.answerMs} order by created_at limit ${STEP})`);
  const stream = yield* one<{ head: number }>(sql`select head from stream where id = 1`);
  const head = stream?.head ?? 0;
  // Older than the time, or beyond the count: either ends it.
  const expired = yield* one<{ seq: number | null }>(sql`
    select max(seq) as seq from (select seq, at from events order by seq limit ${STEP}) as oldest where at < ${at - keep.eventMs}`);
  const events = yield* change(sql`
    delete from events where seq in (
      select seq from events where seq <= ${Math.max(expired?.seq ?? 0, head - keep.eventCount)} order by seq limit ${STEP})`);
  const lapsed = yield* all<{ request_id: string; device_id: string }>(sql`
    delete from pairings where expires_at <= ${at} returning request_id, device_id`);
  for (const { request_id, device_id } of lapsed) {
    yield* emit('device.pair.resolved', { requestId: request_id, deviceId: device_id, decision: 'expired' }, at);
  }
  const ended = at - keep.credentialMs;
  yield* change(sql`delete from tokens where revoked_at < ${ended} or expires_at < ${ended}`);
  yield* change(sql`delete from devices where revoked_at < ${ended}`);
  const audit = yield* trimAudit({ keep: keep.auditCount, limit: STEP });
  const gone = yield* all<{ run_id: string }>(sql`
    delete from runs where ord in (select ord from runs where ended_at < ${at - keep.runMs} order by ended_at limit ${STEP}) returning run_id`);
  const runs = gone.length;
  const injections = yield* sweepInjections(
    at,
    gone.map(({ run_id }) => run_id),
    dialect,
  );
  const approvals = yield* change(sql`
    delete from approvals where ord in (
      select ord from approvals where state <> 'pending' and decided_at < ${at - keep.approvalMs} order by decided_at limit ${STEP})`);
  const entries = yield* sweepTranscript(at - keep.transcriptMs);
  const usage = yield* change(sql`
    delete from usage where (session_key, model, day) in (
      select session_key, model, day from usage where day < ${dayOf(at - keep.usageMs)} order by day limit ${STEP})`);
  const schedules = yield* sweepOccurrences(at - keep.occurrenceMs, STEP);
  const deliveries = yield* sweepDeliveries(at - keep.approvalMs);
  const questions = yield* sweepQuestions(at - keep.approvalMs);
  const steps = [
    ...[answers, events, audit, runs, approvals, usage, deliveries, questions, injections.expired],
    ...[schedules.occurrences, schedules.jobs],
  ];
  return {
    answers,
    events,
    pairings: lapsed.length,
    audit,
    runs,
    approvals,
    entries,
    usage,
    deliveries,
    questions,
    injections: injections.expired + injections.ofRuns,
    ...schedules,
    more: entries > 0 || steps.some((removed) => removed === STEP),
  };
}

/** Those that expired before a turn took them, and those that the runs had taken. */
function* sweepInjections(at: number, runIds: readonly string[], dialect: Dialect): Operation<{ expired: number; ofRuns: number }> {
  // A row that somebody else removes at this moment is left to them: two who wait for each other would both fail.
  const free = raw(dialect === 'sqlite' ? '' : 'for update skip locked');
  const expired = yield* change(sql`
    delete from injections where ord in (
      select ord from injections where run_id is null and expires_at < ${at} order by expires_at limit ${STEP} ${free})`);
  if (runIds.length === 0) return { expired, ofRuns: 0 };
  const ids = joinSql(
    runIds.map((runId) => sql`${runId}`),
    ', ',
  );
  const ofRuns = yield* change(sql`
    delete from injections where ord in (select ord from injections where run_id in (${ids}) ${free})`);
  return { expired, ofRuns };
}

/** One step of the oldest transcript that a reset left behind before this time. */
function* sweepTranscript(before: number): Operation<number> {
  const retired = yield* one<{ session_id: string }>(sql`
    select session_id from retired_sessions where at < ${before} order by at limit 1`);
  if (!retired) return 0;
  const { session_id } = retired;
  const removed = yield* change(sql`
    delete from entries where ord in (select ord from entries where session_id = ${session_id} order by ord limit ${STEP})`);
  if (removed < STEP) yield* change(sql`delete from retired_sessions where session_id = ${session_id}`);
  return removed;
}

/** More than a few pages: what the next writes may need. */
const ROOM = 65_536;

/** Writes as much as a large request would, and takes it back: a store that has room for it is well. */
export function* probe(args: { at: number }): Operation<void> {
  yield* change(sql`
    insert into answers (principal, key, method, digest, answer, created_at)
    values ('', 'probe', '', '', ${'x'.repeat(ROOM)}, ${args.at})`);
  yield* change(sql`delete from answers where principal = '' and key = 'probe'`);
  yield* change(sql`update probe set at = ${args.at} where id = 1`);
}

/** Counted up to here: more than this is told as such, so that a look at a large store costs little. */
export const COUNTED_UP_TO = 100_000;

export function* countRows(_: object): Operation<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const table of storedTables) {
    const row = yield* one<{ n: number }>(
      sql`select count(*) as n from (select 1 from ${raw(table)} limit ${COUNTED_UP_TO + 1}) as counted`,
    );
    counts[table] = row?.n ?? 0;
  }
  return counts;
}
