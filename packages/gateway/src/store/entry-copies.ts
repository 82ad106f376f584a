// Transcripts that come from elsewhere: a path of another session, or a file. Each is one commit, and all or nothing.
import { type Columns, columnsOf, requireEntry } from './entries.ts';
import { announce, existsAlready, insertSession, requireSession, type SessionFields, toSession } from './session-row.ts';
import { change, type Dialect, joinSql, type Operation, refuse, type Sql, sql } from './sql.ts';
import type { Entry, Session } from '@tenon/protocol';

/** The limit `importEntries` of the protocol: the writer's thread does without its schemas. */
export const IMPORT_ENTRIES = 100_000;

/** Rows of one statement at most. */
const CHUNK = 512;
const CHUNK_BYTES = 4_194_304;

/**
 * Makes a session of the path to an entry, or to the leaf, with the settings of the first. What plugins have in the first is
 * not copied: it may name things that are there once, such as a decision that is pending.
 */
export function* forkSession(
  args: { key: string; newKey: string; entryId?: string; title?: string; at: number },
  dialect: Dialect,
): Operation<{ session: Session; entries: number }> {
  const { key, newKey, at } = args;
  const source = yield* requireSession(key, dialect);
  if (args.entryId !== undefined) yield* requireEntry(source.session_id, args.entryId);
  const leafId = args.entryId ?? source.leaf_id;
  const { title, model, thinking, permissions, queue } = toSession(source);
  const fields = { title: args.title ?? title, model, thinking, permissions, queue };
  const row = (yield* insertSession(newKey, fields, at, { parentKey: key, leafId })) ?? existsAlready(newKey);
  const entries = leafId === null ? 0 : yield* copyPath(source.session_id, leafId, row.session_id);
  const { session } = yield* announce('fork', toSession(row), at);
  return { session, entries };
}

function* copyPath(from: string, leafId: string, to: string): Operation<number> {
  const copied = yield* change(sql`
    insert into entries (session_id, id, parent_id, type, role, run_id, at, preview, label_of, body)
    with recursive path (ord, parent_id, depth) as (
      select ord, parent_id, 1 from entries where session_id = ${from} and id = ${leafId}
      union all
      select entries.ord, entries.parent_id, path.depth + 1
      from path join entries on entries.session_id = ${from} and entries.id = path.parent_id where path.depth <= ${IMPORT_ENTRIES})
    select cast(${to} as text), id, entries.parent_id, type, role, run_id, at, preview, label_of, body
    from path join entries on entries.ord = path.ord order by entries.ord`);
  if (copied > IMPORT_ENTRIES) refuse('TOO_LARGE', `The path has more than ${IMPORT_ENTRIES} entries`);
  return copied;
}

/**
 * Entries on their way into the store, as lines of bytes: the writer's thread has a small heap, and a file can hold more
 * objects than would fit into it. Bytes lie outside of the heap, and are read a chunk at a time.
 */
export type PackedEntries = Uint8Array;

export function packEntries(entries: readonly Entry[]): PackedEntries {
  return Buffer.concat(entries.map((entry) => Buffer.from(`${JSON.stringify(columnsOf(entry))}\n`)));
}

/** Makes a session of entries that the caller has checked, parents before children. */
export function* importEntries(args: {
  key: string;
  fields: SessionFields;
  entries: PackedEntries;
  leafId: string | null;
  /** Lines that were left out; told back with the answer. */
  skipped?: number;
  at: number;
}): Operation<{ session: Session; entries: number; skipped: number }> {
  const { key, fields, leafId, skipped = 0, at } = args;
  const row = (yield* insertSession(key, fields, at, { leafId })) ?? existsAlready(key);
  const known = new Set<string>();
  for (const chunk of chunksOf(args.entries)) {
    for (const [id, parentId] of chunk) checkPlace(known, id, parentId);
    // In powers of two: a few sizes, so that the statements are a few and stay prepared.
    for (let first = 0, size = CHUNK; first < chunk.length; first += size) {
      while (size > chunk.length - first) size /= 2;
      const values = chunk.slice(first, first + size).map((columns) => valuesOf(row.session_id, columns));
      yield* change(sql`
        insert into entries (session_id, id, parent_id, type, role, run_id, at, preview, label_of, body) values ${joinSql(values, ', ')}`);
    }
  }
  if (leafId !== null && !known.has(leafId))
    refuse('INVALID_REQUEST', `The leaf "${leafId}" is not among the entries`, { code: 'NO_LEAF' });
  const { session } = yield* announce('import', toSession(row), at);
  return { session, entries: known.size, skipped };
}

function* chunksOf(packed: PackedEntries): Generator<Columns[]> {
  const bytes = Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength);
  let chunk: Columns[] = [];
  let began = 0;
  for (let start = 0, end = 0; start < bytes.length; start = end + 1) {
    end = bytes.indexOf(NEWLINE, start);
    chunk.push(JSON.parse(bytes.toString('utf8', start, end)) as Columns);
    if (chunk.length < CHUNK && end - began < CHUNK_BYTES) continue;
    yield chunk;
    chunk = [];
    began = end;
  }
  if (chunk.length > 0) yield chunk;
}

const NEWLINE = 10;

function checkPlace(known: Set<string>, id: string, parentId: string | null): void {
  if (known.size >= IMPORT_ENTRIES) refuse('TOO_LARGE', `The import has more than ${IMPORT_ENTRIES} entries`);
  if (known.has(id)) refuse('INVALID_REQUEST', `Entry "${id}" is there twice`, { code: 'DUPLICATE_ENTRY', entryId: id });
  if (parentId !== null && !known.has(parentId)) {
    refuse('INVALID_REQUEST', `Entry "${id}" comes before its parent "${parentId}", or that is missing`, {
      code: 'NO_PARENT',
      entryId: id,
    });
  }
  known.add(id);
}

function valuesOf(sessionId: string, [id, parentId, type, role, runId, at, preview, labelOf, body]: Columns): Sql {
  return sql`(${sessionId}, ${id}, ${parentId}, ${type}, ${role}, ${runId}, ${at}, ${preview}, ${labelOf}, ${body})`;
}
