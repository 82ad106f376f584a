// The row of a session, for every operation that changes something in it: read under a lock, told to clients, and its
// status worked out anew from what is under way. Whoever locks more than one kind of row locks the session first.
import { randomId } from '../kernel/ids.ts';
import { wordsOf } from './session-words.ts';
import { all, emit, one, type Dialect, type Operation, refuse, type Row, sql } from './sql.ts';
import type { EventPayload, Session } from '@tenon/protocol';

export interface SessionRow extends Row {
  readonly key: string;
  readonly session_id: string;
  readonly leaf_id: string | null;
  readonly status: string;
  readonly updated_at: number;
}

export interface SessionFields {
  readonly title?: string;
  readonly label?: string | null;
  readonly pinned?: boolean;
  readonly archived?: boolean;
  readonly model?: string | null;
  readonly thinking?: Session['thinking'];
  readonly permissions?: Session['permissions'];
  readonly queue?: Session['queue'];
}

/** A new session; nothing when there is one of this key. */
export function* insertSession(
  key: string,
  fields: SessionFields,
  at: number,
  more: { status?: Session['status']; parentKey?: string; leafId?: string | null } = {},
): Operation<SessionRow | undefined> {
  const agentId = key.split(':')[1] ?? '';
  const title = fields.title ?? '';
  return yield* one<SessionRow>(sql`
    insert into sessions (key, session_id, agent_id, title, label, pinned, archived, model, thinking, permissions, queue, status, parent_key,
      leaf_id, revision, words, created_at, updated_at)
    values (${key}, ${randomId()}, ${agentId}, ${title}, ${fields.label ?? null}, ${Number(fields.pinned ?? false)},
      ${Number(fields.archived ?? false)}, ${fields.model ?? null}, ${fields.thinking ?? null}, ${fields.permissions ?? null},
      ${fields.queue ?? null}, ${more.status ?? 'idle'}, ${more.parentKey ?? null}, ${more.leafId ?? null}, 1, ${wordsOf(key, title)},
      ${at}, ${at})
    on conflict (key) do nothing
    returning *`);
}

export function existsAlready(key: string): never {
  refuse('CONFLICT', `Session "${key}" exists already`, { code: 'SESSION_EXISTS' });
}

/** The session, which nobody else changes until the commit. */
export function* lockSession(key: string, dialect: Dialect): Operation<SessionRow | undefined> {
  return yield* one<SessionRow>(
    dialect === 'sqlite' ? sql`select * from sessions where key = ${key}` : sql`select * from sessions where key = ${key} for update`,
  );
}

export function* requireSession(key: string, dialect: Dialect): Operation<SessionRow> {
  return (yield* lockSession(key, dialect)) ?? notFound(key);
}

/** For reads. */
export function* readSession(key: string): Operation<SessionRow> {
  return (yield* one<SessionRow>(sql`select * from sessions where key = ${key}`)) ?? notFound(key);
}

export function notFound(key: string): never {
  refuse('NOT_FOUND', `Cannot find session "${key}"`);
}

/** One turn at a time: what would pull the ground from under a running one is refused. */
export function* refuseWhileRunning(key: string): Operation<void> {
  const [running] = yield* all<{ run_id: string }>(sql`
    select run_id from runs where session_key = ${key} and state = 'running' limit 1`);
  if (running) refuse('CONFLICT', `Session "${key}" is busy with run "${running.run_id}"`, { code: 'SESSION_BUSY', runId: running.run_id });
}

export function* announce(
  reason: EventPayload<'sessions.changed'>['reason'],
  session: Session,
  at: number,
): Operation<{ session: Session }> {
  yield* emit('sessions.changed', { key: session.key, reason, session }, at, session.key);
  return { session };
}

/**
 * Says what is under way in the session now, if that has changed. `otherwise`: what it is when nothing is; without it, a
 * session whose last turn failed stays failed.
 */
export function* settleStatus(key: string, at: number, otherwise?: 'idle' | 'failed'): Operation<void> {
  const found = yield* one<{ status: string; work: string }>(sql`
    select status, case
      when exists (select 1 from runs where session_key = ${key} and state = 'running') then
        case when exists (select 1 from approvals where session_key = ${key} and state = 'pending' and run_id <> '') then 'waiting' else 'running' end
      when exists (select 1 from runs where session_key = ${key} and state = 'queued') then 'queued'
      else '' end as work
    from sessions where key = ${key}`);
  if (!found) return;
  const status = found.work || (otherwise ?? (found.status === 'failed' ? 'failed' : 'idle'));
  if (status === found.status) return;
  // A clock that went back does not move a session towards older pages.
  const row = yield* one(sql`
    update sessions set status = ${status}, updated_at = case when updated_at > ${at} then updated_at else ${at} end
    where key = ${key} returning *`);
  if (row) yield* announce('activity', toSession(row), at);
}

export function toSession(row: Row): Session {
  return {
    key: row.key as string,
    sessionId: row.session_id as string,
    agentId: row.agent_id as string,
    title: row.title as string,
    label: row.label as string | null,
    pinned: row.pinned === 1,
    archived: row.archived === 1,
    model: row.model as string | null,
    thinking: row.thinking as Session['thinking'],
    permissions: row.permissions as Session['permissions'],
    queue: row.queue as Session['queue'],
    status: row.status as Session['status'],
    ...(row.parent_key === null ? {} : { forkedFrom: row.parent_key as string }),
    revision: row.revision as number,
    createdAt: row.created_at as number,
    updatedAt: row.updated_at as number,
  };
}
