// Turns that begin without a message of a person: a plugin asked for one, or what plugins have queued waits in a session where
// nothing runs. Whether one is begun is decided in the commit that gives the reason for it (an action, the end of a turn), so
// that a gateway that dies in between has either both or neither.
import type { Run, RunEnd, TextBlock } from '@tenon/protocol';
import { limits } from '@tenon/protocol/limits';
import { requireSwitchedOn } from './plugins.ts';
import { acceptRun, endRun, handleRun } from './runs.ts';
import { requireSession, type SessionRow } from './session-row.ts';
import { all, type Dialect, joinSql, one, type Operation, refuse, type Sql, sql } from './sql.ts';

export interface ContinuationWish {
  readonly runId: string;
  readonly pluginId: string;
  readonly pluginName: string;
  /** Whoever pressed a button or typed a command asked for it; without it, the plugin did by itself. */
  readonly asked?: boolean;
}

export interface WakeWish {
  readonly runId: string;
  /** Plugins whose injections may begin a turn. */
  readonly wakers: readonly { readonly pluginId: string; readonly pluginName: string }[];
  /** Turns of this kind after one that a person asked for; without it, a person has asked for this one. */
  readonly depth?: number;
}

/** `held`: this plugin waits for the next message, because as many turns as may begin by themselves have. */
export interface Woken {
  readonly woken?: string;
  readonly held?: string;
}

/** What a run is kept with that nobody's message began; see `turnsAlone`. */
const BY_WAKE = { by: 'wake' } as const;
const BY_CLIENT = { by: 'client' } as const;
/** Runs that are looked at for the last one that a person asked for. */
const MAX_LOOKED_AT = 200;
const MAX_ALONE = limits.pluginTurns.value;

/** One turn: where one that the plugin has asked for waits already, that is the one. Those of several plugins are told together. */
export function* continueIn(session: SessionRow, wish: ContinuationWish, at: number, dialect: Dialect): Operation<{ runId: string }> {
  const waiting = yield* one<{ run_id: string }>(sql`
    select run_id from runs
    where session_key = ${session.key} and state = 'queued' and origin = 'plugin' and principal = ${principalOf(wish.pluginId)}
    order by ord limit 1`);
  if (waiting) return { runId: waiting.run_id };
  if (!wish.asked) yield* requireFewAlone(session.key);
  const { run } = yield* acceptRun(runOf(session.key, wish, wish.asked ? BY_CLIENT : {}, at), dialect);
  return { runId: run.runId };
}

/** The same for a plugin that asks while nothing else is committed. Without `force`, only if something waits to be told. */
export function* continueRun(
  args: { key: string; wish: ContinuationWish; force: boolean; at: number },
  dialect: Dialect,
): Operation<{ runId?: string }> {
  const { key, wish, force, at } = args;
  const session = yield* requireSession(key, dialect);
  if (!force) {
    const waits = yield* one(sql`
      select 1 as found from injections
      where session_key = ${key} and run_id is null and (expires_at is null or expires_at >= ${at}) limit 1`);
    if (!waits) return {};
  }
  return yield* continueIn(session, wish, at, dialect);
}

/** A message of a plugin to the agent, in a turn as any other message has; within the same bound. */
export function* sayFor(
  args: { key: string; wish: ContinuationWish; text: string; mode: Run['mode']; at: number },
  dialect: Dialect,
): Operation<{ runId: string }> {
  const { key, wish, text, mode, at } = args;
  yield* requireSession(key, dialect);
  yield* requireSwitchedOn(wish.pluginId, dialect);
  if (!wish.asked) yield* requireFewAlone(key);
  const content: TextBlock[] = [{ type: 'text', text }];
  const { run } = yield* acceptRun({ ...runOf(key, wish, wish.asked ? BY_CLIENT : {}, at), content, mode }, dialect);
  return { runId: run.runId };
}

/** If something that may begin a turn waits in a session where nothing runs or waits. */
export function* wakeIn(session: SessionRow, wish: WakeWish, at: number, dialect: Dialect): Operation<Woken> {
  const { key } = session;
  if (wish.wakers.length === 0) return {};
  const busy = yield* one(sql`select 1 as found from runs where session_key = ${key} and state in ('queued', 'running') limit 1`);
  if (busy) return {};
  const waits = yield* one<{ plugin_id: string }>(sql`
    select plugin_id from injections
    where session_key = ${key} and run_id is null and (expires_at is null or expires_at >= ${at}) and plugin_id in (${idsOf(wish)})
    order by priority desc, created_at, ord limit 1`);
  if (!waits) return {};
  if (wish.depth !== undefined && (yield* turnsAlone(key)).woken >= wish.depth) return { held: waits.plugin_id };
  const { pluginName = waits.plugin_id } = wish.wakers.find(({ pluginId }) => pluginId === waits.plugin_id) ?? {};
  const { run } = yield* acceptRun(
    runOf(key, { runId: wish.runId, pluginId: waits.plugin_id, pluginName }, wish.depth === undefined ? BY_CLIENT : BY_WAKE, at),
    dialect,
  );
  return { woken: run.runId };
}

/** After a call of a plugin, or, with `afterTurn`, only if the last turn has ended well with something queued before its end. */
export function* wakeSession(args: { key: string; wake: WakeWish; afterTurn?: boolean; at: number }, dialect: Dialect): Operation<Woken> {
  const { key, wake, at } = args;
  const session = yield* requireSession(key, dialect);
  if (args.afterTurn && !(yield* endedOwing(key, wake))) return {};
  return yield* wakeIn(session, wake, at, dialect);
}

function* endedOwing(key: string, wish: WakeWish): Operation<boolean> {
  const last = yield* one<{ ended_at: number; outcome: string }>(sql`
    select ended_at, outcome from runs where session_key = ${key} and state = 'ended' order by ended_at desc, ord desc limit 1`);
  if (!last || !isWell(JSON.parse(last.outcome) as RunEnd)) return false;
  const owed = yield* one(sql`
    select 1 as found from injections
    where session_key = ${key} and run_id is null and created_at <= ${last.ended_at} and plugin_id in (${idsOf(wish)}) limit 1`);
  return owed !== undefined;
}

/** Sessions in which something of these plugins waits, by their keys; `next` is the `after` of the next page. */
export function* listWaiting(args: {
  pluginIds: readonly string[];
  limit: number;
  after?: string;
  at: number;
}): Operation<{ keys: string[]; next?: string }> {
  if (args.pluginIds.length === 0) return { keys: [] };
  const rows = yield* all<{ session_key: string }>(sql`
    select distinct session_key from injections
    where plugin_id in (${listOf(args.pluginIds)}) and session_key > ${args.after ?? ''} and run_id is null
      and (expires_at is null or expires_at >= ${args.at})
    order by session_key limit ${args.limit}`);
  const keys = rows.map((row) => row.session_key);
  const last = keys.length === args.limit ? keys.at(-1) : undefined;
  return { keys, ...(last === undefined ? {} : { next: last }) };
}

/** The end of a run and the turn that goes on after it. Who was stopped does not go on, and what failed would fail again. */
export function* endAndWake(
  args: Parameters<typeof endRun>[0] & { wake?: WakeWish },
  dialect: Dialect,
): Operation<ResultOf<typeof endRun> & Woken> {
  const ended = yield* endRun(args, dialect);
  return { ...ended, ...(ended.ended ? yield* wakeAfter(args, dialect) : {}) };
}

export function* handleAndWake(
  args: Parameters<typeof handleRun>[0] & { wake?: WakeWish },
  dialect: Dialect,
): Operation<ResultOf<typeof handleRun> & Woken> {
  const handled = yield* handleRun(args, dialect);
  return { ...handled, ...(handled.ended ? yield* wakeAfter(args, dialect) : {}) };
}

type ResultOf<Code extends (...args: never[]) => Operation<unknown>> = ReturnType<Code> extends Operation<infer Result> ? Result : never;

function* wakeAfter(args: { key: string; end: RunEnd; wake?: WakeWish; at: number }, dialect: Dialect): Operation<Woken> {
  const { key, end, wake, at } = args;
  return wake && isWell(end) ? yield* wakeIn(yield* requireSession(key, dialect), wake, at, dialect) : {};
}

/** Otherwise a plugin that goes on at the end of each turn would do so for ever, and a person would pay for it. */
function* requireFewAlone(key: string): Operation<void> {
  if ((yield* turnsAlone(key)).all < MAX_ALONE) return;
  const why = `plugins have begun ${MAX_ALONE} turns since the last one that a person or a schedule asked for`;
  refuse('CONFLICT', `The agent of session "${key}" does not go on: ${why}; send a message`, { code: 'PLUGIN_TURNS' });
}

/** Turns since the last one that a person or a schedule asked for: those that plugins began, and of them those that began by themselves. */
function* turnsAlone(key: string): Operation<{ all: number; woken: number }> {
  const rows = yield* all<{ origin: string; options: string }>(sql`
    select origin, options from runs where session_key = ${key} order by ord desc limit ${MAX_LOOKED_AT}`);
  const count = { all: 0, woken: 0 };
  for (const { origin, options } of rows) {
    const { by } = JSON.parse(options) as { by?: string };
    if (origin !== 'plugin' || by === BY_CLIENT.by) break;
    count.all++;
    if (by === BY_WAKE.by) count.woken++;
  }
  return count;
}

function isWell({ kind }: RunEnd): boolean {
  return kind === 'completed' || kind === 'handled';
}

function runOf(key: string, wish: ContinuationWish, options: { by?: string }, at: number): Parameters<typeof acceptRun>[0] {
  return {
    key,
    runId: wish.runId,
    // A conversation cannot end with the agent's own word: what is told says whose wish it is.
    content: [{ type: 'text', text: `(No person wrote this: the plugin ${wish.pluginName} asks the agent to go on.)` }],
    mode: 'collect',
    trigger: 'plugin',
    principal: principalOf(wish.pluginId),
    options: { ...options, plugin: wish.pluginName },
    at,
  };
}

/** Whose request such a run serves. */
export function principalOf(pluginId: string): string {
  return `plugin:${pluginId}`;
}

function idsOf({ wakers }: WakeWish): Sql {
  return listOf(wakers.map(({ pluginId }) => pluginId));
}

function listOf(values: readonly string[]): Sql {
  return joinSql(
    values.map((value) => sql`${value}`),
    ', ',
  );
}
