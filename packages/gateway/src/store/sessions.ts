// Operations on sessions. Lists page by key: no OFFSET and no count(*), so that a page costs the same at any size.
import { randomId } from '../kernel/ids.ts';
import { all, change, emit, joinSql, one, type Operation, raw, refuse, type Row, type Sql, sql, type Dialect } from './sql.ts';
import type { EventPayload, Session } from '@tenon/protocol';

export interface SessionFields {
  readonly title?: string;
  readonly label?: string | null;
  readonly pinned?: boolean;
  readonly archived?: boolean;
}

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

const COLUMNS = raw('ord, key, session_id, agent_id, title, label, pinned, archived, revision, created_at, updated_at');

export function* createSession(args: { key: string; fields: SessionFields; at: number }): Operation<{ session: Session }> {
  const { key, fields, at } = args;
  const agentId = key.split(':')[1] ?? '';
  const title = fields.title ?? '';
  const row = yield* one(sql`
    insert into sessions (key, session_id, agent_id, title, label, pinned, archived, revision, words, created_at, updated_at)
    values (${key}, ${randomId()}, ${agentId}, ${title}, ${fields.label ?? null}, ${Number(fields.pinned ?? false)},
      ${Number(fields.archived ?? false)}, 1, ${wordsOf(key, title)}, ${at}, ${at})
    on conflict (key) do nothing
    returning ord, key, session_id, agent_id, title, label, pinned, archived, revision, created_at, updated_at`);
  if (!row) refuse('CONFLICT', `Session "${key}" exists already`, { code: 'SESSION_EXISTS' });
  return yield* announce('create', toSession(row), at);
}

export function* patchSession(
  args: { key: string; fields: SessionFields; ifRevision?: number; at: number },
  dialect: Dialect,
): Operation<{ session: Session }> {
  const { key, fields, at } = args;
  const current = yield* one(
    dialect === 'sqlite'
      ? sql`select ord, key, session_id, agent_id, title, label, pinned, archived, revision, created_at, updated_at
          from sessions where key = ${key}`
      : sql`select ord, key, session_id, agent_id, title, label, pinned, archived, revision, created_at, updated_at
          from sessions where key = ${key} for update`,
  );
  if (!current) notFound(key);
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
    revision: before.revision + 1,
    updatedAt: Math.max(at, before.updatedAt),
  };
  yield* change(sql`
    update sessions set title = ${session.title}, label = ${session.label}, pinned = ${Number(session.pinned)},
      archived = ${Number(session.archived)}, revision = ${session.revision}, words = ${wordsOf(key, session.title)},
      updated_at = ${session.updatedAt}
    where key = ${key}`);
  return yield* announce('patch', session, at);
}

export function* resetSession(args: { key: string; at: number }): Operation<{ session: Session }> {
  // As a patch does, also with a clock that went back: a session never slides towards older pages.
  const row = yield* one(sql`
    update sessions set session_id = ${randomId()}, revision = revision + 1,
      updated_at = case when updated_at > ${args.at} then updated_at else ${args.at} end
    where key = ${args.key}
    returning ord, key, session_id, agent_id, title, label, pinned, archived, revision, created_at, updated_at`);
  if (!row) notFound(args.key);
  return yield* announce('reset', toSession(row), args.at);
}

export function* deleteSession(args: { key: string; at: number }): Operation<{ key: string; deleted: true }> {
  const deleted = yield* change(sql`delete from sessions where key = ${args.key}`);
  if (deleted === 0) notFound(args.key);
  yield* emit('sessions.changed', { key: args.key, reason: 'delete' }, args.at, args.key);
  return { key: args.key, deleted: true };
}

export function* getSession(args: { key: string }): Operation<{ session: Session }> {
  const row = yield* one(sql`
    select ord, key, session_id, agent_id, title, label, pinned, archived, revision, created_at, updated_at
    from sessions where key = ${args.key}`);
  if (!row) notFound(args.key);
  return { session: toSession(row) };
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
    select ${COLUMNS} from ${source} where ${joinSql(conditions, ' and ')} order by ${order} limit ${args.limit + 1}`);
  const page = rows.slice(0, args.limit);
  const last = rows.length > args.limit ? page.at(-1) : undefined;
  return { sessions: page.map(toSession), ...(last ? { nextCursor: cursorOf(last) } : {}) };
}

function* announce(reason: EventPayload<'sessions.changed'>['reason'], session: Session, at: number): Operation<{ session: Session }> {
  yield* emit('sessions.changed', { key: session.key, reason, session }, at, session.key);
  return { session };
}

function notFound(key: string): never {
  refuse('NOT_FOUND', `Cannot find session "${key}"`);
}

function toSession(row: Row): Session {
  return {
    key: row.key as string,
    sessionId: row.session_id as string,
    agentId: row.agent_id as string,
    title: row.title as string,
    label: row.label as string | null,
    pinned: row.pinned === 1,
    archived: row.archived === 1,
    revision: row.revision as number,
    createdAt: row.created_at as number,
    updatedAt: row.updated_at as number,
  };
}

function cursorOf(row: Row): string {
  return Buffer.from(`${row.updated_at}.${row.ord}`).toString('base64url');
}

function parseCursor(cursor: string): { updatedAt: number; ord: number } {
  const match = /^(\d{1,16})\.(\d{1,16})$/.exec(Buffer.from(cursor, 'base64url').toString());
  if (!match) refuse('INVALID_REQUEST', 'params/cursor is not one that sessions.list gave');
  return { updatedAt: Number(match[1]), ord: Number(match[2]) };
}

const MAX_WORDS = 64;
/** In characters: PostgreSQL refuses words of 2 kB, and one sign can become many when it is normalized. */
const MAX_WORD = 64;

// The engines would cut text into words each in its own way. We cut, and they only look up.
function wordsIn(text: string): string[] {
  const words = text
    .normalize('NFKC')
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu)
    ?.slice(0, MAX_WORDS);
  return words?.map((word) => (word.length > MAX_WORD ? [...word].slice(0, MAX_WORD).join('') : word)) ?? [];
}

function wordsOf(key: string, title: string): string {
  return [...new Set([...wordsIn(title), ...wordsIn(key)])].join(' ');
}

function sqliteSearch(words: readonly string[]): Sql {
  const match = words.map((word) => `"${word}"*`).join(' ');
  return sql`session_words match ${match}`;
}

function postgresSearch(words: readonly string[]): Sql {
  const query = words.map((word) => `'${word}':*`).join(' & ');
  return sql`array_to_tsvector(string_to_array(words, ' ')) @@ ${query}::tsquery`;
}
