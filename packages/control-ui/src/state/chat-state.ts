// One conversation as the page has it: the entries of the transcript, the runs that have not ended with what they say
// right now, and messages that are on their way. The functions here are pure; each takes what the gateway said and gives
// the next state, the same one where nothing changed.
import type { AttachmentRef, Entry, EventPayload, Result, Run, RunEnd, RunStream } from '@tenon/protocol';
import type { ChatImage } from '../chat/types.ts';
import { bounds } from './bounds.ts';
import { type LiveRun, newRun, runAfter } from './live-run.ts';
import type { Trouble } from './trouble.ts';

/** A message of this page that is not in the transcript yet. */
export interface Outgoing {
  readonly runId: string;
  readonly text: string;
  readonly images: readonly ChatImage[];
  readonly files?: readonly AttachmentRef[] | undefined;
  readonly at: number;
  readonly state: 'sending' | 'sent' | 'failed';
  readonly error?: string | undefined;
}

export interface EndedRun {
  readonly runId: string;
  readonly end: RunEnd;
  readonly at: number;
  /** The entry after which it is told. */
  readonly after: string | undefined;
}

export interface ChatState {
  readonly key: string;
  readonly loaded: { readonly kind: 'loading' | 'ready' } | { readonly kind: 'failed'; readonly error: Trouble };
  readonly entries: readonly Entry[];
  /** There is something older: where to read on. */
  readonly more: string | undefined;
  readonly loadingOlder: boolean;
  readonly runs: ReadonlyMap<string, LiveRun>;
  readonly outgoing: readonly Outgoing[];
  /** How the last runs ended, where that needs a word. */
  readonly ended: readonly EndedRun[];
  readonly stopping: boolean;
  /** For entries that streamed on this page: the key of their row, which stays as it was. */
  readonly rowKeys: ReadonlyMap<string, string>;
  /** An event could not be taken as it came: the latest page has to be read again. */
  readonly stale: boolean;
}

export function emptyChat(key: string): ChatState {
  return {
    key,
    loaded: { kind: 'loading' },
    entries: [],
    more: undefined,
    loadingOlder: false,
    runs: new Map(),
    outgoing: [],
    ended: [],
    stopping: false,
    rowKeys: new Map(),
    stale: false,
  };
}

const ENDED_KEPT = 20;
const ROW_KEYS_KEPT = 200;

/** The latest page. What streams now is kept where its run still goes on; what was known of older entries is not. */
export function withHistory(chat: ChatState, page: Result<'chat.history'>): ChatState {
  const runs = new Map<string, LiveRun>();
  for (const { run, text } of page.runs) {
    if (run.state !== 'ended') runs.set(run.runId, merged(chat.runs.get(run.runId), run, text));
  }
  const told = toldRuns(page.entries);
  const outgoing = chat.outgoing.filter(
    (each) => each.state === 'failed' || !(told.has(each.runId) || runs.has(each.runId) || each.state === 'sent'),
  );
  const joined = joinPages(chat.entries, page.entries);
  return {
    ...chat,
    loaded: { kind: 'ready' },
    entries: joined ?? page.entries,
    more: joined ? chat.more : page.more,
    runs: forgetTold(runs, page.entries),
    outgoing,
    stopping: chat.stopping && runs.size > 0,
    stale: false,
  };
}

function merged(live: LiveRun | undefined, run: Run, text: string | undefined): LiveRun {
  return {
    runId: run.runId,
    state: run.state === 'queued' ? 'queued' : 'running',
    createdAt: run.createdAt,
    text: text ?? live?.text,
    ...(live?.from === undefined ? originOf(run) : { from: live.from, via: live.via }),
    phase: live?.phase,
    segments: live?.segments ?? [],
    tools: live?.tools ?? new Map(),
  };
}

// What is known of a run that waited before the page came: not who it was by name.
function originOf({ trigger }: Run): Pick<LiveRun, 'from' | 'via'> {
  return trigger === 'user' || trigger === 'api' ? {} : { from: `A ${trigger}`, via: trigger };
}

// The page that was read and what was there before, as one, if they touch: then what was read of older pages stays.
function joinPages(before: readonly Entry[], page: readonly Entry[]): readonly Entry[] | undefined {
  const first = page[0];
  if (!first) return undefined;
  const at = before.findIndex((entry) => entry.id === first.id);
  return at < 0 ? undefined : [...before.slice(0, at), ...page];
}

// A segment is told once its entry is there. After a read nothing says which, so only what the last entries do not
// already hold stays.
function forgetTold(runs: ReadonlyMap<string, LiveRun>, entries: readonly Entry[]): ReadonlyMap<string, LiveRun> {
  const texts = new Set(entries.slice(-12).flatMap((entry) => (isAssistant(entry) ? [textOf(entry)] : [])));
  const results = resultIds(entries);
  const next = new Map<string, LiveRun>();
  for (const [id, run] of runs) {
    const segments = run.segments.filter((segment) => segment.text !== '' && ![...texts].some((text) => text.startsWith(segment.text)));
    const tools = new Map([...run.tools].filter(([callId]) => !results.has(callId)));
    next.set(id, { ...run, segments, tools });
  }
  return next;
}

/** Entries that came while the page was being read, and are not on it. */
export function withArrived(chat: ChatState, arrived: readonly Entry[]): ChatState {
  return arrived.reduce(withEntry, chat);
}

export function withOlder(chat: ChatState, page: Pick<Result<'chat.history'>, 'entries' | 'more'>): ChatState {
  const known = new Set(chat.entries.map((entry) => entry.id));
  const older = page.entries.filter((entry) => !known.has(entry.id));
  return { ...chat, entries: [...older, ...chat.entries], more: older.length > 0 ? page.more : undefined, loadingOlder: false };
}

/** The transcript has changed. */
export function withChatEvent(chat: ChatState, event: EventPayload<'chat'>, now: number): ChatState {
  switch (event.kind) {
    case 'queued':
      return withRun(chat, event.runId, now, (run) => ({
        ...run,
        state: 'queued',
        text: contentText(event.content) ?? run.text,
        from: event.from ?? run.from,
        via: event.via ?? run.via,
      }));
    case 'started':
      return withRun(chat, event.runId, now, (run) => ({ ...run, state: 'running' }));
    case 'entry':
      if (!event.entry) return { ...chat, stale: true };
      return withEntry(chat, event.entry);
    case 'moved':
      return { ...chat, stale: true };
    case 'ended':
      return event.runId === undefined ? chat : withEnd(chat, event.runId, event.end, now);
  }
}

function withEntry(chat: ChatState, entry: Entry): ChatState {
  if (chat.entries.some((each) => each.id === entry.id)) return chat;
  const last = chat.entries.at(-1);
  // It hangs somewhere else: the path to the leaf is not the one that we have.
  const fits = last === undefined ? entry.parentId === null || chat.loaded.kind === 'loading' : entry.parentId === last.id;
  if (!fits) return { ...chat, stale: true };
  const entries = [...chat.entries, entry];
  const over = entries.length - bounds.entries;
  const kept = over > 0 ? entries.slice(over) : entries;
  const outgoing = isUser(entry) ? chat.outgoing.filter((each) => each.runId !== entry.runId) : chat.outgoing;
  return {
    ...chat,
    entries: kept,
    more: over > 0 ? kept[0]!.id : chat.more,
    outgoing: outgoing.length === chat.outgoing.length ? chat.outgoing : outgoing,
    rowKeys: rowKeysAfterEntry(chat, entry),
    runs: entry.runId === undefined ? chat.runs : runsAfterEntry(chat.runs, entry.runId, entry),
  };
}

function rowKeysAfterEntry({ rowKeys, runs }: ChatState, entry: Entry): ReadonlyMap<string, string> {
  const segment = isAssistant(entry) && entry.runId !== undefined ? runs.get(entry.runId)?.segments[0] : undefined;
  if (!segment) return rowKeys;
  const kept = rowKeys.size >= ROW_KEYS_KEPT ? [...rowKeys].slice(-ROW_KEYS_KEPT / 2) : rowKeys;
  return new Map(kept).set(entry.id, segment.key);
}

// The text that streamed is in the transcript now: it must not be shown twice.
function runsAfterEntry(runs: ReadonlyMap<string, LiveRun>, runId: string, entry: Entry): ReadonlyMap<string, LiveRun> {
  const run = runs.get(runId);
  if (!run) return runs;
  if (isAssistant(entry)) return new Map(runs).set(runId, { ...run, segments: run.segments.slice(1) });
  const callId = resultId(entry);
  if (callId !== undefined && run.tools.has(callId)) {
    const tools = new Map(run.tools);
    tools.delete(callId);
    return new Map(runs).set(runId, { ...run, tools });
  }
  if (isUser(entry) && run.text !== undefined) return new Map(runs).set(runId, { ...run, text: undefined });
  return runs;
}

function withEnd(chat: ChatState, runId: string, end: RunEnd | undefined, now: number): ChatState {
  const runs = new Map(chat.runs);
  runs.delete(runId);
  const ended =
    end && needsWords(end) && !chat.ended.some((each) => each.runId === runId)
      ? [...chat.ended, { runId, end, at: now, after: chat.entries.at(-1)?.id }].slice(-ENDED_KEPT)
      : chat.ended;
  return {
    ...chat,
    runs,
    ended,
    outgoing: chat.outgoing.filter((each) => each.runId !== runId || each.state === 'failed'),
    stopping: false,
  };
}

/** A turn that simply answered says nothing about its end. */
export function needsWords(end: RunEnd): boolean {
  return end.kind !== 'completed' && end.kind !== 'handled';
}

function withRun(chat: ChatState, runId: string | undefined, now: number, change: (run: LiveRun) => LiveRun): ChatState {
  if (runId === undefined) return chat;
  const run = chat.runs.get(runId) ?? newRun(runId, now);
  return { ...chat, runs: new Map(chat.runs).set(runId, change(run)) };
}

/** What a run does right now. Its end is told by the transcript, with the reason. */
export function withRunStream(chat: ChatState, event: RunStream): ChatState {
  if (chat.ended.some((each) => each.runId === event.runId)) return chat;
  if (event.stream === 'plugin' || (event.stream === 'lifecycle' && event.phase === 'ended')) return chat;
  return withRun(chat, event.runId, event.ts, (run) => runAfter(run, event));
}

export function isBusy(chat: ChatState): boolean {
  return chat.runs.size > 0 || chat.outgoing.some((each) => each.state !== 'failed');
}

function isUser(entry: Entry): boolean {
  return entry.type === 'message' && entry.message.role === 'user';
}

function isAssistant(entry: Entry): boolean {
  return entry.type === 'message' && entry.message.role === 'assistant';
}

function textOf(entry: Entry): string {
  if (entry.type !== 'message' || entry.message.role !== 'assistant') return '';
  return entry.message.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('');
}

function resultId(entry: Entry): string | undefined {
  return entry.type === 'message' && entry.message.role === 'toolResult' ? entry.message.toolCallId : undefined;
}

function resultIds(entries: readonly Entry[]): Set<string> {
  return new Set(entries.map(resultId).filter((id) => id !== undefined));
}

function toldRuns(entries: readonly Entry[]): Set<string> {
  return new Set(entries.flatMap((entry) => (isUser(entry) && entry.runId !== undefined ? [entry.runId] : [])));
}

function contentText(content: EventPayload<'chat'>['content']): string | undefined {
  return content?.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
}
