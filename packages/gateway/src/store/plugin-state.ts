// The state of plugins in sessions: a JSON value for each session, plugin and namespace, in a row and with a revision of its
// own, so that no other writer of the session can drop it. Null is no state. Its row stays behind without a value, because
// a revision must never come again: who saw it before a removal or a reset would overwrite what came after.
import { type Enqueued, enqueueAll, type NewInjection } from './injections.ts';
import { requireSwitchedOn } from './plugins.ts';
import { announce, requireSession, type SessionRow, toSession } from './session-row.ts';
import { all, change, type Dialect, one, type Operation, refuse, type Row, sql } from './sql.ts';
import type { JsonValue } from '@tenon/protocol';

/** The limits `pluginStateBytes` and `pluginStateTotalBytes` of the protocol: the writer's thread does without its schemas. */
export const PLUGIN_STATE_BYTES = 262_144;
export const PLUGIN_STATE_TOTAL_BYTES = 16_777_216;

export interface StatePut {
  readonly namespace: string;
  /** Null removes it. */
  readonly value: JsonValue;
  /** Only if it is at this revision; 0: only if it was never there. */
  readonly ifRevision?: number;
}

export interface PluginState {
  readonly pluginId: string;
  readonly namespace: string;
  readonly value: JsonValue;
  readonly revision: number;
  readonly updatedAt: number;
}

export function* putState(
  args: StatePut & { key: string; pluginId: string; at: number },
  dialect: Dialect,
): Operation<{ revision: number }> {
  const { key, pluginId, at, namespace } = args;
  const session = yield* requireSession(key, dialect);
  yield* requireSwitchedOn(pluginId, dialect);
  const revisions = yield* applyPuts(session, pluginId, [args], at);
  yield* announce('plugin-patch', toSession(session), at);
  return { revision: revisions[namespace] ?? 0 };
}

/** Without a namespace, all of the plugin in this session. */
export function* removeState(
  args: { key: string; pluginId: string; namespace?: string; ifRevision?: number; at: number },
  dialect: Dialect,
): Operation<{ removed: number }> {
  const { key, pluginId, namespace, ifRevision, at } = args;
  const session = yield* requireSession(key, dialect);
  const rows = yield* all<{ namespace: string }>(sql`
    select namespace from plugin_state where session_key = ${key} and plugin_id = ${pluginId} and value is not null order by namespace`);
  const there = rows.filter((row) => namespace === undefined || row.namespace === namespace);
  if (ifRevision !== undefined && namespace !== undefined) yield* requireRevision(session, pluginId, { namespace, ifRevision });
  if (there.length === 0) return { removed: 0 };
  yield* applyPuts(
    session,
    pluginId,
    there.map((row) => ({ namespace: row.namespace, value: null })),
    at,
  );
  yield* announce('plugin-patch', toSession(session), at);
  return { removed: there.length };
}

/** Several changes of one plugin in one session, and what it queues with them: all of it or nothing. */
export function* commitState(
  args: { key: string; pluginId: string; puts: readonly StatePut[]; injections?: readonly NewInjection[]; at: number },
  dialect: Dialect,
): Operation<{ revisions: Record<string, number>; injections: Enqueued[] }> {
  const { key, pluginId, puts, at } = args;
  const session = yield* requireSession(key, dialect);
  yield* requireSwitchedOn(pluginId, dialect);
  const revisions = yield* applyPuts(session, pluginId, puts, at);
  const injections = yield* enqueueAll(session, pluginId, args.injections ?? [], at);
  if (puts.length > 0 || injections.some(({ enqueued }) => enqueued)) yield* announce('plugin-patch', toSession(session), at);
  return { revisions, injections };
}

/** In a session that is locked; gives the new revisions by namespace. */
export function* applyPuts(
  session: SessionRow,
  pluginId: string,
  puts: readonly StatePut[],
  at: number,
): Operation<Record<string, number>> {
  const revisions: Record<string, number> = {};
  for (const put of puts) {
    yield* requireRevision(session, pluginId, put);
    const value = put.value === null ? null : JSON.stringify(put.value);
    const bytes = value === null ? 0 : Buffer.byteLength(value);
    if (bytes > PLUGIN_STATE_BYTES) {
      refuse('TOO_LARGE', `The state "${put.namespace}" of plugin "${pluginId}" has ${bytes} bytes; ${PLUGIN_STATE_BYTES} are possible`, {
        code: 'STATE_TOO_LARGE',
      });
    }
    const row = yield* one<{ revision: number }>(sql`
      insert into plugin_state (session_key, session_id, plugin_id, namespace, value, bytes, revision, updated_at)
      values (${session.key}, ${session.session_id}, ${pluginId}, ${put.namespace}, ${value}, ${bytes}, 1, ${at})
      on conflict (session_key, plugin_id, namespace) do update set session_id = excluded.session_id, value = excluded.value,
        bytes = excluded.bytes, revision = plugin_state.revision + 1, updated_at = excluded.updated_at
      returning revision`);
    revisions[put.namespace] = row?.revision ?? 0;
  }
  if (puts.some(({ value }) => value !== null)) yield* requireRoom(session.key, pluginId);
  return revisions;
}

/** Whether all of it is as it was when somebody looked. */
export function* requireRevisions(
  session: SessionRow,
  pluginId: string,
  seen: readonly { readonly namespace: string; readonly ifRevision: number }[],
): Operation<void> {
  for (const each of seen) yield* requireRevision(session, pluginId, each);
}

function* requireRevision(session: SessionRow, pluginId: string, put: { namespace: string; ifRevision?: number }): Operation<void> {
  const { namespace, ifRevision } = put;
  if (ifRevision === undefined) return;
  const { revision } = yield* getState({ key: session.key, pluginId, namespace });
  if (revision === ifRevision) return;
  refuse('CONFLICT', `The state "${namespace}" of plugin "${pluginId}" is at revision ${revision}, not ${ifRevision}`, {
    code: 'STALE_REVISION',
    revision,
    namespace,
  });
}

function* requireRoom(key: string, pluginId: string): Operation<void> {
  const sum = yield* one<{ bytes: number }>(sql`
    select cast(coalesce(sum(bytes), 0) as bigint) as bytes from plugin_state where session_key = ${key} and plugin_id = ${pluginId}`);
  const bytes = sum?.bytes ?? 0;
  if (bytes > PLUGIN_STATE_TOTAL_BYTES) {
    refuse(
      'TOO_LARGE',
      `Plugin "${pluginId}" would have ${bytes} bytes of state in session "${key}"; ${PLUGIN_STATE_TOTAL_BYTES} are possible`,
      { code: 'STATE_TOO_LARGE' },
    );
  }
}

/** Null and revision 0 where there was never one. */
export function* getState(args: { key: string; pluginId: string; namespace: string }): Operation<{ value: JsonValue; revision: number }> {
  const row = yield* one<{ value: string | null; revision: number }>(sql`
    select value, revision from plugin_state
    where session_key = ${args.key} and plugin_id = ${args.pluginId} and namespace = ${args.namespace}`);
  if (!row) return { value: null, revision: 0 };
  return { value: row.value === null ? null : (JSON.parse(row.value) as JsonValue), revision: row.revision };
}

/** All that a plugin has in a session, also what it has removed: null, at the revision of the removal. */
export function* snapshotOf(args: {
  key: string;
  pluginId: string;
}): Operation<{ states: { namespace: string; value: JsonValue; revision: number }[] }> {
  const rows = yield* all<{ namespace: string; value: string | null; revision: number }>(sql`
    select namespace, value, revision from plugin_state where session_key = ${args.key} and plugin_id = ${args.pluginId} order by namespace`);
  return {
    states: rows.map(({ namespace, value, revision }) => ({
      namespace,
      value: value === null ? null : (JSON.parse(value) as JsonValue),
      revision,
    })),
  };
}

/** All that plugins have in a session, or one of them. */
export function* statesOfSession(args: { key: string; pluginId?: string }): Operation<{ states: PluginState[] }> {
  const rows = yield* all(
    args.pluginId === undefined
      ? sql`select * from plugin_state where session_key = ${args.key} and value is not null order by plugin_id, namespace`
      : sql`
          select * from plugin_state where session_key = ${args.key} and plugin_id = ${args.pluginId} and value is not null
          order by namespace`,
  );
  return { states: rows.map(toState) };
}

/** The sessions in which a plugin has state, by their keys; `next` is the `after` of the next page. */
export function* listStates(args: {
  pluginId: string;
  namespace: string;
  limit: number;
  after?: string;
}): Operation<{ states: (PluginState & { key: string })[]; next?: string }> {
  const rows = yield* all<Row & { session_key: string }>(sql`
    select * from plugin_state
    where plugin_id = ${args.pluginId} and namespace = ${args.namespace} and value is not null and session_key > ${args.after ?? ''}
    order by session_key limit ${args.limit}`);
  const last = rows.length === args.limit ? rows.at(-1) : undefined;
  return { states: rows.map((row) => ({ key: row.session_key, ...toState(row) })), ...(last ? { next: last.session_key } : {}) };
}

/** The session begins anew: plugins have nothing in it any more, and nothing of theirs waits for it. */
export function* emptySession(session: SessionRow, sessionId: string, at: number): Operation<void> {
  yield* change(sql`
    update plugin_state set value = null, bytes = 0, session_id = ${sessionId}, revision = revision + 1, updated_at = ${at}
    where session_key = ${session.key}`);
  yield* change(sql`delete from injections where session_key = ${session.key}`);
}

function toState(row: Row): PluginState {
  return {
    pluginId: row.plugin_id as string,
    namespace: row.namespace as string,
    value: JSON.parse(row.value as string) as JsonValue,
    revision: row.revision as number,
    updatedAt: row.updated_at as number,
  };
}
