// Operations on sessions. Lists page by key: no OFFSET and no count(*), so that a page costs the same at any size.
import { randomId } from '../kernel/ids.ts';
import { dropActions } from './action-requests.ts';
import { voidPendingOf } from './approvals.ts';
import { removeAttachmentsOf } from './attachments.ts';
import { appendAudit } from './audit.ts';
import { emitChat } from './chat-events.ts';
import { dropDeliveries } from './deliveries.ts';
import { applyEffects, type PluginEffects } from './plugin-actions.ts';
import { removeJobsIn, removePluginJobsIn } from './job-removal.ts';
import { emptySession } from './plugin-state.ts';
import {
  announce,
  existsAlready,
  insertSession,
  notFound,
  readSession,
  refuseWhileRunning,
  requireSession,
  type SessionFields,
  toSession,
} from './session-row.ts';
import { settleOccurrences } from './settle-occurrences.ts';
import { postgresSearch, sqliteSearch, wordsIn, wordsOf } from './session-words.ts';
import { all, change, emit, joinSql, one, type Operation, raw, refuse, type Row, type Sql, sql, type Dialect } from './sql.ts';
import { dropQuestions } from './ui-questions.ts';
import type { Session } from '@tenon/protocol';

export interface ListSessions {
  readonly limit: number;
  readonly cursor?: string;
  readonly agentId?: string;
  readonly label?: string;
  readonly archived?: boolean;
  readonly search?: string;
  /** Only this session exists for the caller. */
  readonly boundTo?: string;
}

export function* createSession(
  args: { key: string; fields: SessionFields; by?: string; at: number },
  dialect: Dialect,
): Operation<{ session: Session }> {
  const row = (yield* insertSession(args.key, args.fields, args.at)) ?? existsAlready(args.key);
  yield* auditMode(args, null, args.fields.permissions ?? null, dialect);
  return yield* announce('create', toSession(row), args.at);
}

/** `plugin`: what a plugin does together with it; `runId` is the turn that then goes on. */
export function* patchSession(
  args: {
    key: string;
    fields: SessionFields;
    ifRevision?: number;
    plugin?: PluginEffects;
    by?: string;
    at: number;
  },
  dialect: Dialect,
): Operation<{ session: Session; runId?: string }> {
  const { key, fields, at } = args;
  const current = yield* requireSession(key, dialect);
  if (args.ifRevision !== undefined && args.ifRevision !== current.revision) {
    refuse('CONFLICT', `Session "${key}" is at revision ${current.revision}, not ${args.ifRevision}`, {
      code: 'STALE_REVISION',
      revision: current.revision as number,
    });
  }
  const before = toSession(current);
  const session: Session = {
    ...before,
    title: fields.title ?? before.title,
    label: fields.label === undefined ? before.label : fields.label,
    pinned: fields.pinned ?? before.pinned,
    archived: fields.archived ?? before.archived,
    model: fields.model === undefined ? before.model : fields.model,
    thinking: fields.thinking === undefined ? before.thinking : fields.thinking,
    permissions: fields.permissions === undefined ? before.permissions : fields.permissions,
    queue: fields.queue === undefined ? before.queue : fields.queue,
    revision: before.revision + 1,
    updatedAt: Math.max(at, before.updatedAt),
  };
  yield* change(sql`
    update sessions set title = ${session.title}, label = ${session.label}, pinned = ${Number(session.pinned)},
      archived = ${Number(session.archived)}, model = ${session.model}, thinking = ${session.thinking},
      permissions = ${session.permissions}, queue = ${session.queue}, revision = ${session.revision}, words = ${wordsOf(key, session.title)},
      updated_at = ${session.updatedAt}
    where key = ${key}`);
  const { runId } = args.plugin ? yield* applyEffects(current, args.plugin, at, dialect) : {};
  yield* auditMode(args, before.permissions, session.permissions, dialect);
  const now = runId === undefined ? session : toSession(yield* readSession(key));
  return { ...(yield* announce('patch', now, at)), ...(runId === undefined ? {} : { runId }) };
}

/** Who changes what a session may do without asking leaves a record of it, in the same commit. */
function* auditMode(
  { key, by, at }: { key: string; by?: string; at: number },
  before: Session['permissions'],
  after: Session['permissions'],
  dialect: Dialect,
): Operation<void> {
  if (before === after) return;
  yield* appendAudit({ actor: by ?? 'gateway', action: 'sessions.permissions', target: key, details: { before, after }, at }, dialect);
}

/**
 * A new session id and an empty transcript. The old one is kept for a while; messages that wait are told to the new one.
 * What plugins have in it and have queued for it is gone.
 */
export function* resetSession(args: { key: string; at: number }, dialect: Dialect): Operation<{ session: Session }> {
  const { key, at } = args;
  const before = yield* requireSession(key, dialect);
  yield* refuseWhileRunning(key);
  const sessionId = randomId();
  yield* change(sql`
    insert into retired_sessions (session_id, session_key, at)
    select session_id, key, ${at} from sessions
    where key = ${key} and exists (select 1 from entries where session_id = ${before.session_id})`);
  yield* change(sql`update runs set session_id = ${sessionId} where session_key = ${key} and state = 'queued'`);
  yield* emptySession(before, sessionId, at);
  yield* removePluginJobsIn(key, at, dialect);
  yield* dropDeliveries(key);
  yield* dropActions({ sessionKey: key }, at);
  yield* dropQuestions(key, at, 'reset');
  // As a patch does, also with a clock that went back: a session never slides towards older pages.
  const row = yield* one(sql`
    update sessions set session_id = ${sessionId}, leaf_id = null, status = case when status = 'failed' then 'idle' else status end,
      revision = revision + 1, updated_at = case when updated_at > ${at} then updated_at else ${at} end
    where key = ${key} returning *`);
  return yield* announce('reset', toSession(row ?? notFound(key)), at);
}

/** Removes the session and all that was said and asked in it. What waited is told that it will not come to it. */
export function* deleteSession(args: { key: string; at: number }, dialect: Dialect): Operation<{ key: string; deleted: true }> {
  const { key, at } = args;
  const { session_id } = yield* requireSession(key, dialect);
  yield* refuseWhileRunning(key);
  yield* voidPendingOf({ sessionKey: key }, at);
  const waiting = yield* all<{ run_id: string }>(sql`
    select run_id from runs where session_key = ${key} and state = 'queued' order by ord`);
  for (const { run_id } of waiting) {
    const end = { kind: 'aborted', reason: 'The session was deleted' } as const;
    yield* emitChat({ sessionKey: key, kind: 'ended', runId: run_id, end }, at);
    yield* settleOccurrences([run_id], end, at, dialect);
  }
  yield* removeJobsIn(key, at, dialect);
  yield* change(sql`
    delete from entries where session_id = ${session_id} or session_id in (select session_id from retired_sessions where session_key = ${key})`);
  yield* change(sql`delete from calls where session_id = ${session_id}`);
  yield* change(sql`delete from runs where session_key = ${key}`);
  yield* change(sql`delete from approvals where session_key = ${key}`);
  yield* change(sql`delete from usage where session_key = ${key}`);
  yield* change(sql`delete from retired_sessions where session_key = ${key}`);
  yield* change(sql`delete from plugin_state where session_key = ${key}`);
  yield* change(sql`delete from injections where session_key = ${key}`);
  yield* removeAttachmentsOf(key);
  yield* dropDeliveries(key);
  yield* dropActions({ sessionKey: key }, at);
  yield* dropQuestions(key, at, 'delete');
  yield* change(sql`delete from session_routes where session_key = ${key}`);
  yield* change(sql`delete from sessions where key = ${key}`);
  yield* emit('sessions.changed', { key, reason: 'delete' }, at, key);
  return { key, deleted: true };
}

export function* getSession(args: { key: string }): Operation<{ session: Session }> {
  return { session: toSession(yield* readSession(args.key)) };
}

/** Refuses where there is none; reads nothing of it. */
export function* expectSession({ key }: { key: string }): Operation<void> {
  if (!(yield* one(sql`select 1 as there from sessions where key = ${key}`))) notFound(key);
}

export function* listSessions(args: ListSessions, dialect: Dialect): Operation<{ sessions: Session[]; nextCursor?: string }> {
  const words = args.search === undefined ? undefined : wordsIn(args.search);
  if (words?.length === 0) return { sessions: [] };
  const conditions: Sql[] = [];
  if (args.boundTo !== undefined) conditions.push(sql`key = ${args.boundTo}`);
  if (args.agentId !== undefined) conditions.push(sql`agent_id = ${args.agentId}`);
  if (args.label !== undefined) conditions.push(sql`label = ${args.label}`);
  const after = args.cursor === undefined ? undefined : parseCursor(args.cursor);

  let source = raw('sessions');
  let order: Sql;
  if (words) {
    // Newest first by their number: a word that a million sessions share would otherwise have to be sorted whole.
    const ord = raw(dialect === 'sqlite' ? 'session_words.rowid' : 'ord');
    if (dialect === 'sqlite') source = raw('session_words join sessions on ord = session_words.rowid');
    conditions.push(dialect === 'sqlite' ? sqliteSearch(words) : postgresSearch(words));
    if (args.archived !== undefined) conditions.push(sql`archived = ${Number(args.archived)}`);
    if (after) conditions.push(sql`${ord} < ${after.ord}`);
    order = sql`${ord} desc`;
  } else {
    conditions.push(sql`archived = ${Number(args.archived ?? false)}`);
    if (after) conditions.push(sql`(updated_at, ord) < (${after.updatedAt}, ${after.ord})`);
    order = raw('updated_at desc, ord desc');
  }
  const rows = yield* all(sql`
    select sessions.* from ${source} where ${joinSql(conditions, ' and ')} order by ${order} limit ${args.limit + 1}`);
  const page = rows.slice(0, args.limit);
  const last = rows.length > args.limit ? page.at(-1) : undefined;
  return { sessions: page.map(toSession), ...(last ? { nextCursor: cursorOf(last) } : {}) };
}

function cursorOf(row: Row): string {
  return Buffer.from(`${row.updated_at}.${row.ord}`).toString('base64url');
}

function parseCursor(cursor: string): { updatedAt: number; ord: number } {
  const match = /^(\d{1,16})\.(\d{1,16})$/.exec(Buffer.from(cursor, 'base64url').toString());
  if (!match) refuse('INVALID_REQUEST', 'params/cursor is not one that sessions.list gave');
  return { updatedAt: Number(match[1]), ord: Number(match[2]) };
}
