// Calls of plugins for a person. One is kept until somebody has used one of its actions, has put it away, or the plugin takes
// it back; each change is announced in the commit that makes it.
import { requireSession } from './session-row.ts';
import { all, change, type Dialect, emit, one, type Operation, refuse, type Row, sql } from './sql.ts';
import type { ActionRequired, EventPayload } from '@tenon/protocol';

/** The limit `pendingActions` of the protocol: the writer's thread does without its schemas. */
const PENDING_ACTIONS = 32;

type How = EventPayload<'action.resolved'>['how'];

/** One that is there already under the same key stays; it is told again, under the same id. */
export function* requireAction(
  args: {
    key: string;
    id: string;
    pluginId: string;
    pluginName: string;
    title: string;
    actions?: ActionRequired['actions'];
    requestKey: string;
    at: number;
  },
  dialect: Dialect,
): Operation<{ id: string; isNew: boolean }> {
  const { key, id, pluginId, at } = args;
  yield* requireSession(key, dialect);
  const known = yield* one(sql`
    select * from action_requests where session_key = ${key} and plugin_id = ${pluginId} and request_key = ${args.requestKey}`);
  if (known) {
    yield* emit('action.required', toRequest(known), at, key);
    return { id: known.id as string, isNew: false };
  }
  const waiting = yield* one<{ n: number }>(sql`
    select count(*) as n from action_requests where session_key = ${key} and plugin_id = ${pluginId}`);
  if ((waiting?.n ?? 0) >= PENDING_ACTIONS)
    refuse('TOO_LARGE', `${PENDING_ACTIONS} calls of plugin "${pluginId}" wait for a person in session "${key}" already`);
  const row = yield* one(sql`
    insert into action_requests (id, session_key, plugin_id, plugin_name, title, actions, request_key, created_at)
    values (${id}, ${key}, ${pluginId}, ${args.pluginName}, ${args.title}, ${args.actions ? JSON.stringify(args.actions) : null},
      ${args.requestKey}, ${at})
    returning *`);
  yield* emit('action.required', toRequest(row as Row), at, key);
  return { id, isNew: true };
}

export function* listActions(args: { key?: string; pluginId?: string; limit: number }): Operation<{ actions: ActionRequired[] }> {
  const ofSession = args.key === undefined ? sql`` : sql`and session_key = ${args.key}`;
  const ofPlugin = args.pluginId === undefined ? sql`` : sql`and plugin_id = ${args.pluginId}`;
  const rows = yield* all(sql`select * from action_requests where ord > 0 ${ofSession} ${ofPlugin} order by ord limit ${args.limit}`);
  return { actions: rows.map(toRequest) };
}

/** Somebody puts it away. */
export function* dismissAction(args: { id: string; boundTo?: string; at: number }): Operation<{ id: string; dismissed: boolean }> {
  const bound = args.boundTo === undefined ? sql`` : sql`and session_key = ${args.boundTo}`;
  const rows = yield* all(sql`delete from action_requests where id = ${args.id} ${bound} returning *`);
  yield* announceResolved(rows, 'dismissed', args.at);
  return { id: args.id, dismissed: rows.length > 0 };
}

/** The plugin takes one back, or all that it has in the session. */
export function* withdrawActions(args: { key: string; pluginId: string; id?: string; at: number }): Operation<{ withdrawn: number }> {
  const one = args.id === undefined ? sql`` : sql`and id = ${args.id}`;
  const rows = yield* all(sql`
    delete from action_requests where session_key = ${args.key} and plugin_id = ${args.pluginId} ${one} returning *`);
  yield* announceResolved(rows, 'withdrawn', args.at);
  return { withdrawn: rows.length };
}

/** An action of the plugin was carried out: the calls that offer it are answered. */
export function* settleActions(key: string, pluginId: string, actionId: string, at: number): Operation<void> {
  const rows = yield* all(sql`select * from action_requests where session_key = ${key} and plugin_id = ${pluginId}`);
  const answered = rows.filter((row) => toRequest(row).actions?.some((action) => action.actionId === actionId));
  for (const { id } of answered) yield* change(sql`delete from action_requests where id = ${id as string}`);
  yield* announceResolved(answered, 'acted', at);
}

/** The session begins anew or ends, or the plugin goes: nobody is needed any more. */
export function* dropActions(of: { sessionKey: string } | { pluginId: string }, at: number): Operation<number> {
  const where = 'sessionKey' in of ? sql`session_key = ${of.sessionKey}` : sql`plugin_id = ${of.pluginId}`;
  const rows = yield* all(sql`delete from action_requests where ${where} returning *`);
  yield* announceResolved(rows, 'withdrawn', at);
  return rows.length;
}

function* announceResolved(rows: readonly Row[], how: How, at: number): Operation<void> {
  for (const row of rows) {
    const sessionKey = row.session_key as string;
    yield* emit('action.resolved', { sessionKey, id: row.id as string, pluginId: row.plugin_id as string, how }, at, sessionKey);
  }
}

function toRequest(row: Row): ActionRequired {
  return {
    id: row.id as string,
    sessionKey: row.session_key as string,
    pluginId: row.plugin_id as string,
    pluginName: row.plugin_name as string,
    title: row.title as string,
    ...(row.actions === null ? {} : { actions: JSON.parse(row.actions as string) as NonNullable<ActionRequired['actions']> }),
    createdAt: row.created_at as number,
  };
}
