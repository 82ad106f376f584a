// The transcript as it is read. A page costs what is on it: a path is walked from its newest entry towards the root, a tree
// and an export go by the number of the entry, and what is too large for a page is not read.
import { requireEntry, toEntry } from './entries.ts';
import { readSession, toSession } from './session-row.ts';
import { all, type Operation, type Row, sql } from './sql.ts';
import type { Entry, Session, TreeNode } from '@tenon/protocol';

/**
 * The last entries of the path that ends in `from` (without it, in the leaf), oldest first: `limit` of them at most, and
 * not more than `maxBytes` unless the newest alone is larger. `more` is the `from` of the page before.
 */
export function* readPath(args: { key: string; from?: string; limit: number; maxBytes?: number }): Operation<{
  session: Session;
  leafId: string | null;
  entries: Entry[];
  more?: string;
}> {
  const row = yield* readSession(args.key);
  const session = toSession(row);
  const leafId = row.leaf_id;
  const from = args.from ?? leafId;
  if (from === null) return { session, leafId, entries: [] };
  if (args.from !== undefined) yield* requireEntry(row.session_id, args.from);
  const maxBytes = args.maxBytes ?? Number.MAX_SAFE_INTEGER;
  const rows = yield* all<Row & { ord: number }>(sql`
    with recursive path (ord, parent_id, depth, bytes) as (
      select ord, parent_id, 1, cast(octet_length(body) as bigint) from entries where session_id = ${row.session_id} and id = ${from}
      union all
      select entries.ord, entries.parent_id, path.depth + 1, path.bytes + octet_length(entries.body)
      from path join entries on entries.session_id = ${row.session_id} and entries.id = path.parent_id
      where path.depth < ${args.limit} and path.bytes + octet_length(entries.body) <= ${maxBytes})
    select entries.ord, id, entries.parent_id, type, run_id, at, body from path join entries on entries.ord = path.ord`);
  // They come newest first, or as the engine likes: to turn them round here costs less than a sort there.
  rows.sort((a, b) => a.ord - b.ord);
  const more = rows[0]?.parent_id as string | null | undefined;
  return { session, leafId, entries: rows.map(toEntry), ...(more == null ? {} : { more }) };
}

export function* getEntry(args: { key: string; id: string }): Operation<{ entry: Entry }> {
  const { session_id } = yield* readSession(args.key);
  return { entry: toEntry(yield* requireEntry(session_id, args.id)) };
}

/** What the assistant said last in a run. */
export function* lastAnswerOf(args: { sessionId: string; runId: string }): Operation<{ entry?: Entry }> {
  const [row] = yield* all(sql`
    select id, parent_id, type, run_id, at, body from entries
    where session_id = ${args.sessionId} and run_id = ${args.runId} and role = 'assistant' order by ord desc limit 1`);
  return row ? { entry: toEntry(row) } : {};
}

/** All entries without their content, in the order in which they were added; `next` is the `after` of the next page. */
export function* readTree(args: {
  key: string;
  after?: number;
  limit: number;
}): Operation<{ nodes: TreeNode[]; leafId: string | null; next?: number }> {
  const session = yield* readSession(args.key);
  const rows = yield* all(sql`
    select ord, id, parent_id, type, role, at, preview from entries
    where session_id = ${session.session_id} and ord > ${args.after ?? 0} order by ord limit ${args.limit + 1}`);
  const page = rows.slice(0, args.limit);
  const last = page.at(-1);
  const leafId = session.leaf_id;
  if (!last) return { nodes: [], leafId };
  const labels = yield* all(sql`
    select labels.label_of, labels.body from entries join entries as labels
      on labels.session_id = entries.session_id and labels.label_of = entries.id
    where entries.session_id = ${session.session_id} and entries.ord > ${args.after ?? 0} and entries.ord <= ${last.ord as number}
    order by labels.ord`);
  const labelOf = new Map(labels.map((row) => [row.label_of, (JSON.parse(row.body as string) as { label: string | null }).label]));
  const current = yield* onPath(session.session_id, leafId, page[0]?.ord as number);
  const nodes = page.map((row) => {
    const label = labelOf.get(row.id as string) ?? null;
    return {
      id: row.id as string,
      parentId: row.parent_id as string | null,
      type: row.type as string,
      ...(row.role === null ? {} : { role: row.role as string }),
      at: row.at as number,
      preview: row.preview as string,
      ...(label === null ? {} : { label }),
      current: current.has(row.id as string),
    };
  });
  return { nodes, leafId, ...(rows.length > page.length ? { next: last.ord as number } : {}) };
}

/**
 * The ids on the path to the leaf, down to the entry of this number. A parent has a smaller number than its children, so one
 * look at each, newest first and in the index alone, finds them: faster than to go from parent to parent.
 */
function* onPath(sessionId: string, leafId: string | null, downTo: number): Operation<Set<string>> {
  const path = new Set<string>();
  if (leafId === null) return path;
  const rows = yield* all<{ id: string; parent_id: string | null }>(sql`
    select id, parent_id from entries where session_id = ${sessionId} and ord >= ${downTo} order by ord desc`);
  let expected: string | null = leafId;
  for (const { id, parent_id } of rows) {
    if (id !== expected) continue;
    path.add(id);
    expected = parent_id;
  }
  return path;
}

/** Whole entries, in the order in which they were added: `limit` at most, and not more than `maxBytes` unless one alone is larger. */
export function* exportEntries(args: { key: string; after?: number; limit: number; maxBytes?: number }): Operation<{
  session: Session;
  leafId: string | null;
  entries: Entry[];
  next?: number;
}> {
  const row = yield* readSession(args.key);
  const sessionId = row.session_id;
  const after = args.after ?? 0;
  const sizes = yield* all<{ ord: number; bytes: number }>(sql`
    select ord, octet_length(body) as bytes from entries
    where session_id = ${sessionId} and ord > ${after} order by ord limit ${args.limit + 1}`);
  let bytes = 0;
  const count = sizes.findIndex((size, index) => {
    bytes += size.bytes;
    return index === args.limit || (index > 0 && bytes > (args.maxBytes ?? Number.MAX_SAFE_INTEGER));
  });
  const last = sizes.at(count === -1 ? -1 : count - 1);
  const head = { session: toSession(row), leafId: row.leaf_id };
  if (!last) return { ...head, entries: [] };
  const rows: Row[] = yield* all(sql`
    select id, parent_id, type, run_id, at, body from entries
    where session_id = ${sessionId} and ord > ${after} and ord <= ${last.ord} order by ord`);
  return { ...head, entries: rows.map(toEntry), ...(count === -1 ? {} : { next: last.ord }) };
}
