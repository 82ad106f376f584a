// The transcript as it is written: entries go onto the leaf and become the leaf. A parent is always there before its
// children, so it has the smaller number. What is said is kept as JSON text; what lists show is kept beside it.
import { randomId } from '../kernel/ids.ts';
import { announceEntry, emitChat } from './chat-events.ts';
import { refuseWhileRunning, requireSession, type SessionRow } from './session-row.ts';
import { change, type Dialect, one, type Operation, refuse, type Row, sql } from './sql.ts';
import { addUsage } from './usage.ts';
import type { Entry, EntryDraft, Usage } from '@tenon/protocol';

/** What the model was asked for to make an entry. */
interface ModelCall {
  readonly model: string;
  readonly usage: Usage;
}

export interface DraftOf {
  readonly draft: EntryDraft;
  readonly runId?: string | undefined;
}

/** Puts entries onto the leaf of a session that is locked, one after another, and announces them. */
export function* appendOnLeaf(session: SessionRow, drafts: readonly DraftOf[], at: number): Operation<Entry[]> {
  const entries: Entry[] = [];
  let leafId = session.leaf_id;
  for (const { draft, runId } of drafts) {
    yield* requireTarget(session.session_id, draft);
    const entry = { id: randomId(), parentId: leafId, at, ...(runId === undefined ? {} : { runId }), ...draft } as Entry;
    yield* insertEntry(session.session_id, entry);
    yield* announceEntry(session.key, entry, at);
    entries.push(entry);
    leafId = entry.id;
  }
  if (leafId !== session.leaf_id) yield* change(sql`update sessions set leaf_id = ${leafId} where key = ${session.key}`);
  return entries;
}

export function* appendEntry(
  args: { key: string; draft: EntryDraft; at: number; runId?: string; ifLeaf?: string | null; usage?: ModelCall },
  dialect: Dialect,
): Operation<{ entry: Entry }> {
  const session = yield* requireSession(args.key, dialect);
  if (args.ifLeaf !== undefined && args.ifLeaf !== session.leaf_id) {
    refuse('CONFLICT', `The leaf of session "${args.key}" has moved`, { code: 'STALE_LEAF', leafId: session.leaf_id });
  }
  const [entry] = yield* appendOnLeaf(session, [{ draft: args.draft, runId: args.runId }], args.at);
  if (args.usage) yield* addUsage({ sessionKey: args.key, ...args.usage, at: args.at });
  return { entry: entry as Entry };
}

/** Makes another entry the leaf, or none, and puts the drafts onto it. */
export function* moveLeaf(
  args: { key: string; leafId: string | null; drafts?: readonly EntryDraft[]; usage?: ModelCall; at: number },
  dialect: Dialect,
): Operation<{ leafId: string | null; entries: Entry[] }> {
  const { key, leafId, drafts = [], at } = args;
  const session = yield* requireSession(key, dialect);
  yield* refuseWhileRunning(key);
  if (leafId !== null) yield* requireEntry(session.session_id, leafId);
  if (leafId !== session.leaf_id) yield* change(sql`update sessions set leaf_id = ${leafId} where key = ${key}`);
  yield* emitChat({ sessionKey: key, kind: 'moved', leafId }, at);
  if (args.usage) yield* addUsage({ sessionKey: key, ...args.usage, at });
  const entries = yield* appendOnLeaf(
    { ...session, leaf_id: leafId },
    drafts.map((draft) => ({ draft })),
    at,
  );
  return { leafId: entries.at(-1)?.id ?? leafId, entries };
}

export function* insertEntry(sessionId: string, entry: Entry): Operation<void> {
  const [id, parentId, type, role, runId, at, preview, labelOf, body] = columnsOf(entry);
  yield* change(sql`
    insert into entries (session_id, id, parent_id, type, role, run_id, at, preview, label_of, body)
    values (${sessionId}, ${id}, ${parentId}, ${type}, ${role}, ${runId}, ${at}, ${preview}, ${labelOf}, ${body})`);
}

export type Columns = [
  id: string,
  parentId: string | null,
  type: string,
  role: string | null,
  runId: string | null,
  at: number,
  preview: string,
  labelOf: string | null,
  body: string,
];

export function columnsOf(entry: Entry): Columns {
  const { id, parentId, at, runId = null, type, ...body } = entry;
  const role = entry.type === 'message' ? entry.message.role : null;
  const labelOf = entry.type === 'label' ? entry.targetId : null;
  return [id, parentId, type, role, runId, at, previewOf(entry), labelOf, JSON.stringify(body)];
}

/** `row` has the columns id, parent_id, type, run_id, at and body. */
export function toEntry(row: Row): Entry {
  return {
    id: row.id,
    parentId: row.parent_id,
    at: row.at,
    ...(row.run_id === null ? {} : { runId: row.run_id }),
    type: row.type,
    ...(JSON.parse(row.body as string) as object),
  } as Entry;
}

export function* requireEntry(sessionId: string, id: string): Operation<Row> {
  const row = yield* one(sql`
    select id, parent_id, type, run_id, at, body from entries where session_id = ${sessionId} and id = ${id}`);
  return row ?? refuse('NOT_FOUND', `Cannot find entry "${id}" in this session`, { code: 'NO_ENTRY', entryId: id });
}

/** What an entry speaks of must be there. */
function* requireTarget(sessionId: string, draft: EntryDraft): Operation<void> {
  if (draft.type === 'label' || draft.type === 'context_edit') yield* requireEntry(sessionId, draft.targetId);
  if (draft.type === 'compaction') yield* requireEntry(sessionId, draft.firstKeptEntryId);
}

const PREVIEW_CHARS = 120;

/** The first words, on one line and without what an engine or a terminal would stumble over. */
function previewOf(entry: Entry): string {
  const words = wordsOf(entry)
    .slice(0, 2 * PREVIEW_CHARS)
    .replace(/[\p{Cc}\s]+/gu, ' ');
  return words.trim().slice(0, PREVIEW_CHARS).toWellFormed();
}

function wordsOf(entry: Entry): string {
  switch (entry.type) {
    case 'message':
      return textOf(entry.message.content);
    case 'custom_message':
      return textOf(entry.content);
    case 'compaction':
    case 'branch_summary':
      return entry.summary;
    case 'model_change':
      return `${entry.provider}/${entry.modelId}`;
    case 'thinking_level_change':
      return entry.thinkingLevel;
    case 'custom':
      return entry.customType;
    case 'label':
      return entry.label ?? '';
    case 'session_info':
      return entry.name;
    case 'context_edit':
      return entry.replacement === null ? '' : textOf(entry.replacement);
  }
}

function textOf(content: readonly { type: string; text?: string; name?: string }[]): string {
  const text = content.find((block) => block.type === 'text' && block.text !== '')?.text;
  return (
    text ?? content.find((block) => block.type === 'toolCall')?.name ?? (content.some((block) => block.type === 'image') ? '[image]' : '')
  );
}
