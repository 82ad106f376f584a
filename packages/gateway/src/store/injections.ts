// What plugins have queued for the next turn of a session. An injection waits, is taken by the run that begins, and is told
// when the model has answered in that run; the last two steps are part of commits that the run makes anyway. A run that
// ends before the model has answered in it has told nobody anything: what it took goes back to where it was. So each
// injection stands in exactly one turn that has an answer, whatever fails or is killed in between.
import { idText } from './approvals.ts';
import { requireSwitchedOn } from './plugins.ts';
import { announce, lockSession, type SessionRow, toSession } from './session-row.ts';
import { all, change, type Dialect, joinSql, one, type Operation, refuse, type Row, type Sql, sql } from './sql.ts';
import type { JsonValue } from '@tenon/protocol';

/** The limit `pluginInjections` of the protocol: the writer's thread does without its schemas. */
export const PLUGIN_INJECTIONS = 32;

export interface NewInjection {
  /** Names it while it waits; whoever enqueues it again meanwhile changes nothing. */
  readonly id: string;
  readonly text: string;
  readonly placement: 'prepend_context' | 'append_context';
  /** Higher ones come first. */
  readonly priority: number;
  readonly metadata?: JsonValue;
  /** From now on; without it, until a turn takes it. */
  readonly ttlMs?: number;
}

/** As the turn is given it. */
export interface DrainedInjection {
  readonly id: string;
  readonly pluginId: string;
  readonly text: string;
  readonly placement: NewInjection['placement'];
  readonly metadata?: JsonValue;
}

/** One that no turn has told yet; `runId`: the run that has taken it. */
export interface WaitingInjection extends DrainedInjection {
  readonly priority: number;
  readonly createdAt: number;
  readonly expiresAt?: number;
  readonly runId?: string;
}

export interface Enqueued {
  readonly enqueued: boolean;
  /** As it was given: of `duplicate`, also that of the one that waits. */
  readonly id: string;
  readonly reason?: 'duplicate' | 'full' | 'no-session';
}

export function* enqueueInjection(
  args: NewInjection & { key: string; pluginId: string; at: number },
  dialect: Dialect,
): Operation<Enqueued> {
  const { key, pluginId, id, at } = args;
  const session = yield* lockSession(key, dialect);
  if (!session) return { enqueued: false, id, reason: 'no-session' };
  yield* requireSwitchedOn(pluginId, dialect);
  const outcome = yield* insertInjection(key, pluginId, args, at);
  if (outcome.enqueued) yield* announce('plugin-patch', toSession(session), at);
  return outcome;
}

/** Several into a session that is locked, or none: a queue that is full refuses all of them. */
export function* enqueueAll(session: SessionRow, pluginId: string, injections: readonly NewInjection[], at: number): Operation<Enqueued[]> {
  const outcomes: Enqueued[] = [];
  for (const injection of injections) {
    const outcome = yield* insertInjection(session.key, pluginId, injection, at);
    if (outcome.reason === 'full') {
      refuse('CONFLICT', `${PLUGIN_INJECTIONS} injections of plugin "${pluginId}" wait in session "${session.key}" already`, {
        code: 'INJECTIONS_FULL',
      });
    }
    outcomes.push(outcome);
  }
  return outcomes;
}

function* insertInjection(key: string, pluginId: string, injection: NewInjection, at: number): Operation<Enqueued> {
  const { id, text, placement, priority, metadata, ttlMs } = injection;
  yield* change(sql`
    delete from injections where session_key = ${key} and plugin_id = ${pluginId} and run_id is null and expires_at < ${at}`);
  // Those that a run has taken and not told yet may come back: they hold their id and their place.
  const live = yield* one<{ n: number; same: number }>(sql`
    select count(*) as n, count(case when id = ${idText(id)} then 1 end) as same from injections
    where session_key = ${key} and plugin_id = ${pluginId} and told_at is null`);
  if ((live?.same ?? 0) > 0) return { enqueued: false, id, reason: 'duplicate' };
  if ((live?.n ?? 0) >= PLUGIN_INJECTIONS) return { enqueued: false, id, reason: 'full' };
  yield* change(sql`
    insert into injections (id, session_key, plugin_id, text, placement, priority, metadata, created_at, expires_at)
    values (${idText(id)}, ${key}, ${pluginId}, ${JSON.stringify(text)}, ${placement}, ${priority},
      ${metadata === undefined ? null : JSON.stringify(metadata)}, ${at}, ${expiryOf(ttlMs, at)})`);
  return { enqueued: true, id };
}

/** A whole number that every engine keeps: a plugin may ask for half a millisecond, or for ever. */
function expiryOf(ttlMs: number | undefined, at: number): number | null {
  return ttlMs === undefined ? null : Math.min(Number.MAX_SAFE_INTEGER, Math.floor(at + ttlMs));
}

/** Removes those of a plugin that wait; what a run has taken stays with it. */
export function* removeInjections(args: { key: string; pluginId: string; at: number }, dialect: Dialect): Operation<{ removed: number }> {
  const { key, pluginId, at } = args;
  const session = yield* lockSession(key, dialect);
  if (!session) return { removed: 0 };
  const removed = yield* change(sql`
    delete from injections where session_key = ${key} and plugin_id = ${pluginId} and run_id is null`);
  if (removed > 0) yield* announce('plugin-patch', toSession(session), at);
  return { removed };
}

/** Gives a run what waits for it, in the order in which it is told. The session is locked. */
export function* drainInjections(key: string, runId: string, pluginIds: readonly string[], at: number): Operation<DrainedInjection[]> {
  if (pluginIds.length === 0) return [];
  yield* change(sql`
    update injections set run_id = ${runId}
    where session_key = ${key} and run_id is null and (expires_at is null or expires_at >= ${at}) and plugin_id in (${listOf(pluginIds)})`);
  return (yield* injectionsOfRun({ runId })).injections;
}

/** What a run has taken: the same however often it begins or goes on. */
export function* injectionsOfRun(args: { runId: string }): Operation<{ injections: DrainedInjection[] }> {
  const rows = yield* all(sql`
    select * from injections where run_id = ${args.runId} order by priority desc, created_at, ord`);
  return { injections: rows.map(toDrained) };
}

/** The model has answered in this run: what the run took was told. In the commit of the answer. */
export function* tellInjections(runId: string, at: number): Operation<void> {
  yield* change(sql`update injections set told_at = ${at} where run_id = ${runId} and told_at is null`);
}

/**
 * The run ends: what it took and never told waits again, for the next turn. That is so whenever no answer of the model is
 * in the transcript under this run: the model failed, the turn was stopped or refused before it, a plugin or a command
 * of the person answered in its place. One answer, also one that was cut off, and it was told.
 */
export function* returnInjections(runId: string): Operation<void> {
  yield* change(sql`update injections set run_id = null where run_id = ${runId} and told_at is null`);
}

/** Those that no turn has told yet, in the order in which they will be; with `at`, without those that have expired. */
export function* listInjections(args: { key: string; pluginId?: string; at?: number }): Operation<{ injections: WaitingInjection[] }> {
  const conditions: Sql[] = [sql`session_key = ${args.key} and told_at is null`];
  if (args.pluginId !== undefined) conditions.push(sql`plugin_id = ${args.pluginId}`);
  if (args.at !== undefined) conditions.push(sql`(run_id is not null or expires_at is null or expires_at >= ${args.at})`);
  const rows = yield* all(sql`
    select * from injections where ${joinSql(conditions, ' and ')} order by priority desc, created_at, ord limit 1000`);
  return { injections: rows.map(toWaiting) };
}

/** How many wait in each of these sessions; those without any are left out. */
export function* countInjections(args: { keys: readonly string[]; at: number }): Operation<{ counts: Record<string, number> }> {
  const counts: Record<string, number> = {};
  if (args.keys.length === 0) return { counts };
  const rows = yield* all<{ key: string; n: number }>(sql`
    select session_key as key, count(*) as n from injections
    where session_key in (${listOf(args.keys)}) and run_id is null and (expires_at is null or expires_at >= ${args.at})
    group by session_key order by session_key`);
  for (const { key, n } of rows) counts[key] = n;
  return { counts };
}

function listOf(values: readonly string[]): Sql {
  return joinSql(
    values.map((value) => sql`${value}`),
    ', ',
  );
}

function toDrained(row: Row): DrainedInjection {
  return {
    id: JSON.parse(row.id as string) as string,
    pluginId: row.plugin_id as string,
    text: JSON.parse(row.text as string) as string,
    placement: row.placement as NewInjection['placement'],
    ...(row.metadata === null ? {} : { metadata: JSON.parse(row.metadata as string) as JsonValue }),
  };
}

function toWaiting(row: Row): WaitingInjection {
  return {
    ...toDrained(row),
    priority: row.priority as number,
    createdAt: row.created_at as number,
    ...(row.expires_at === null ? {} : { expiresAt: row.expires_at as number }),
    ...(row.run_id === null ? {} : { runId: row.run_id as string }),
  };
}
