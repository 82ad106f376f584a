// A run from its message to its end. Each step is one commit: the message and the mark that it was told, an answer and the
// calls in it, the end and everything that ends with it. A run ends once, whoever says so and however often.
import { voidPendingOf } from './approvals.ts';
import { bindAttachments, insertAttachment, type NewAttachment, type Quotas, requireRoom } from './attachments.ts';
import { insertCalls, type NewCall, settleCalls } from './calls.ts';
import { announceQueued, emitChat } from './chat-events.ts';
import { deliverAnswer, type Route, setRoute } from './deliveries.ts';
import { appendOnLeaf, type DraftOf } from './entries.ts';
import { type DrainedInjection, drainInjections, injectionsOfRun, returnInjections, tellInjections } from './injections.ts';
import { originOf, type RunOrigin } from './run-origin.ts';
import { type Content, contentOf, lockRun, requireRunning, runOver, type RunRow, toRun } from './run-row.ts';
import { announce, insertSession, lockSession, notFound, requireSession, settleStatus, toSession } from './session-row.ts';
import { settleOccurrences } from './settle-occurrences.ts';
import { wordsOf } from './session-words.ts';
import { all, change, type Dialect, one, type Operation, refuse, type Row, sql } from './sql.ts';
import { addUsage, parseUsage, withCall } from './usage.ts';
import type { AttachmentRef, Entry, EntryDraft, JsonObject, Run, RunEnd, Usage } from '@tenon/protocol';

/** The limit `queuedRuns` of the protocol: the writer's thread does without its schemas. */
export const QUEUED_RUNS = 100;

/**
 * Takes a message in; the session is made where there is none (`created`). Without a mode, what the session says, else the
 * default. A session without a title gets this one. `busy`: something runs or waits in it already.
 */
export function* acceptRun(
  args: {
    key: string;
    runId: string;
    content: Content;
    mode?: Run['mode'];
    defaultMode?: Run['mode'];
    trigger: Run['trigger'];
    principal: string;
    options: JsonObject;
    title?: string;
    /** Files that are said with it: from now on they belong to the session. */
    attachments?: { readonly handles: readonly string[]; readonly quotas: Quotas; readonly made?: readonly NewAttachment[] };
    /** The channel that brought it, and who answers go to. */
    route?: Route;
    at: number;
  },
  dialect: Dialect,
): Operation<{ run: Run; created: boolean; busy: boolean }> {
  const { key, runId, content, at, title = '' } = args;
  const known = yield* lockSession(key, dialect);
  const session = known ?? (yield* insertSession(key, { title }, at, { status: 'queued' })) ?? notFound(key);
  if (session.title === '' && title !== '') {
    const named = yield* one(sql`
      update sessions set title = ${title}, words = ${wordsOf(key, title)}, revision = revision + 1 where key = ${key} returning *`);
    if (named) yield* announce('patch', toSession(named), at);
  }
  const mode = args.mode ?? (session.queue as Run['mode'] | null) ?? args.defaultMode ?? 'collect';
  const busy = yield* one(sql`select 1 as found from runs where session_key = ${key} and state in ('queued', 'running') limit 1`);
  const waiting = yield* one<{ n: number }>(sql`select count(*) as n from runs where session_key = ${key} and state = 'queued'`);
  if ((waiting?.n ?? 0) >= QUEUED_RUNS) {
    refuse('CONFLICT', `${QUEUED_RUNS} messages wait in session "${key}" already; wait for the agent, or stop it`, { code: 'QUEUE_FULL' });
  }
  const row = yield* one(sql`
    insert into runs (run_id, session_key, session_id, state, mode, origin, principal, message, options, created_at, usage)
    values (${runId}, ${key}, ${session.session_id}, 'queued', ${mode}, ${args.trigger}, ${args.principal}, ${JSON.stringify(content)},
      ${JSON.stringify(known ? args.options : { ...args.options, startsSession: true })}, ${at}, '[]')
    on conflict (run_id) do nothing
    returning *`);
  if (!row) refuse('CONFLICT', `Run "${runId}" exists already`, { code: 'RUN_EXISTS' });
  if (args.attachments) yield* bindAttachments(args.attachments.handles, key, args.attachments.quotas);
  for (const file of args.attachments?.made ?? []) {
    yield* requireRoom(file.bytes, key, args.attachments!.quotas);
    yield* insertAttachment(file, key, at);
  }
  if (args.route) yield* setRoute(key, args.route, at);
  if (!known) yield* announce('create', toSession(session), at);
  yield* announceQueued(key, runId, content, originOf(args.trigger, args.options as RunOrigin), at);
  yield* settleStatus(key, at);
  return { run: toRun(row), created: !known, busy: busy !== undefined };
}

/**
 * Begins the turn of a run that waits, or tells further messages to one that runs. The messages go into the transcript and
 * their runs are marked in one commit. Runs that no longer wait are passed over. A turn that begins takes with it what these
 * plugins have queued (`drain`); asked again, it is given the same. What is queued while it runs waits for the next one.
 */
export function* beginRun(
  args: {
    key: string;
    leadRunId: string;
    runIds: readonly string[];
    contents?: Readonly<Record<string, Content>>;
    drain?: { readonly pluginIds: readonly string[] };
    at: number;
  },
  dialect: Dialect,
): Operation<{ run: Run; entries: Entry[]; injections: DrainedInjection[] }> {
  const { key, leadRunId, at } = args;
  const session = yield* requireSession(key, dialect);
  const lead = yield* lockRun(leadRunId, dialect);
  if (lead.state === 'ended' || lead.joined !== null || lead.session_id !== session.session_id) runOver(leadRunId);
  const told: RunRow[] = [];
  for (const runId of new Set([leadRunId, ...args.runIds])) {
    const run = runId === leadRunId ? lead : yield* lockRun(runId, dialect);
    if (run.state === 'queued' && run.session_id === session.session_id) told.push(run);
  }
  if (lead.state === 'queued') {
    const [other] = yield* all<{ run_id: string }>(sql`
      select run_id from runs where session_key = ${key} and state = 'running' limit 1`);
    if (other) refuse('CONFLICT', `Session "${key}" is busy with run "${other.run_id}"`, { code: 'SESSION_BUSY', runId: other.run_id });
    yield* emitChat({ sessionKey: key, kind: 'started', runId: leadRunId }, at);
  }
  for (const run of told) {
    const joined = run === lead ? null : leadRunId;
    yield* change(sql`update runs set state = 'running', started_at = ${at}, joined = ${joined} where run_id = ${run.run_id}`);
  }
  const injections = args.drain ? yield* takeInjections(key, lead, args.drain.pluginIds, at) : [];
  const inOrder = told.toSorted((a, b) => a.ord - b.ord);
  const entries = yield* appendOnLeaf(
    session,
    inOrder.map((run) => messageOf(run, args.contents?.[run.run_id])),
    at,
  );
  yield* settleStatus(key, at);
  return { run: toRun(yield* lockRun(leadRunId, dialect)), entries, injections };
}

function* takeInjections(key: string, lead: RunRow, pluginIds: readonly string[], at: number): Operation<DrainedInjection[]> {
  if (lead.state === 'queued') return yield* drainInjections(key, lead.run_id, pluginIds, at);
  return (yield* injectionsOfRun({ runId: lead.run_id })).injections;
}

/** As it was accepted, or as plugins have left it. */
function messageOf(run: RunRow, content = contentOf(run)): DraftOf {
  const options = JSON.parse(run.options) as RunOrigin & { attachments?: AttachmentRef[] };
  const { attachments } = options;
  const also = { ...(attachments ? { attachments } : {}), ...originOf(run.origin, options) };
  return { draft: { type: 'message', message: { role: 'user', content, ...also, timestamp: run.created_at } }, runId: run.run_id };
}

/** What a running turn adds. `calls` are those of the last draft, which then is a message of the assistant. */
export function* appendToRun(
  args: {
    key: string;
    runId: string;
    drafts: readonly EntryDraft[];
    calls?: readonly NewCall[];
    usage?: { model: string; usage: Usage };
    at: number;
  },
  dialect: Dialect,
): Operation<{ entries: Entry[] }> {
  const { key, runId, drafts, calls = [], usage, at } = args;
  const { session, run } = yield* requireRunning(key, runId, dialect);
  const entries = yield* appendOnLeaf(
    session,
    drafts.map((draft) => ({ draft, runId })),
    at,
  );
  if (calls.length > 0) yield* insertCalls(session.session_id, runId, entries.at(-1), calls);
  if (usage) {
    yield* change(sql`
      update runs set usage = ${JSON.stringify(withCall(parseUsage(run.usage), usage.model, usage.usage))} where run_id = ${runId}`);
    yield* addUsage({ sessionKey: key, model: usage.model, usage: usage.usage, at });
    // Only what a model said has a cost: an answer that a plugin gave in its place tells the model nothing.
    if (drafts.some((draft) => draft.type === 'message' && draft.message.role === 'assistant')) yield* tellInjections(runId, at);
  }
  return { entries };
}

/** A plugin has dealt with a message that waits: the message, its reply and the end, in one commit. */
export function* handleRun(
  args: { key: string; runId: string; reply: EntryDraft; end: RunEnd; at: number },
  dialect: Dialect,
): Operation<{ ended: boolean; run: Run; entries: Entry[] }> {
  const { key, runId, reply, end, at } = args;
  const session = yield* requireSession(key, dialect);
  const run = yield* lockRun(runId, dialect);
  if (run.state !== 'queued' || run.session_id !== session.session_id) runOver(runId);
  const said = yield* appendOnLeaf(session, [messageOf(run)], at);
  const targetId = said[0]?.id ?? '';
  // The agent was not asked, and is not told later either.
  const drafts: EntryDraft[] = [reply, { type: 'context_edit', targetId, replacement: null }];
  const rest = yield* appendOnLeaf(
    { ...session, leaf_id: targetId },
    drafts.map((draft) => ({ draft, runId })),
    at,
  );
  return { ...(yield* endRun({ key, runId, end, at }, dialect)), entries: [...said, ...rest] };
}

const FAILURES: ReadonlySet<RunEnd['kind']> = new Set(['failed', 'internal_error']);

/** Ends a run, running or queued, and those whose messages it told; its calls get a result. One that has ended stays as it is. */
export function* endRun(
  args: { key: string; runId: string; end: RunEnd; at: number },
  dialect: Dialect,
): Operation<{ ended: boolean; run: Run }> {
  const { key, runId, end, at } = args;
  const session = yield* requireSession(key, dialect);
  const run = yield* lockRun(runId, dialect);
  if (run.state === 'ended') return { ended: false, run: toRun(run) };
  const rows = yield* all<RunRow>(sql`
    update runs set state = 'ended', ended_at = ${at}, outcome = ${JSON.stringify(end)}
    where session_key = ${key} and state <> 'ended' and (run_id = ${runId} or joined = ${runId})
    returning *`);
  yield* settleCalls(session, runId, at);
  yield* voidPendingOf({ runId }, at);
  yield* returnInjections(runId);
  if (end.kind === 'completed' || end.kind === 'handled') yield* deliverAnswer(session, run, at);
  const [first, ...joined] = rows.toSorted((a, b) => Number(b.run_id === runId) - Number(a.run_id === runId) || a.ord - b.ord);
  if (!first) runOver(runId);
  yield* announceEnded([first, ...joined], end, at);
  yield* settleOccurrences(scheduledIn(rows), end, at, dialect);
  yield* settleStatus(key, at, FAILURES.has(end.kind) ? 'failed' : 'idle');
  return { ended: true, run: toRun(first) };
}

/** Ends runs that wait, all of them or those named, as aborted. */
export function* cancelQueuedRuns(
  args: { key: string; runIds?: readonly string[]; reason?: string; at: number },
  dialect: Dialect,
): Operation<{ runs: Run[] }> {
  const { key, runIds, reason, at } = args;
  yield* requireSession(key, dialect);
  const waiting = yield* all<RunRow>(sql`select * from runs where session_key = ${key} and state = 'queued' order by ord`);
  const end: RunEnd = { kind: 'aborted', ...(reason === undefined ? {} : { reason }) };
  const ended: Row[] = [];
  for (const { run_id } of waiting.filter((run) => runIds?.includes(run.run_id) ?? true)) {
    const row = yield* one(sql`
      update runs set state = 'ended', ended_at = ${at}, outcome = ${JSON.stringify(end)} where run_id = ${run_id} returning *`);
    if (row) ended.push(row);
  }
  yield* announceEnded(ended, end, at);
  yield* settleOccurrences(scheduledIn(ended), end, at, dialect);
  if (ended.length > 0) yield* settleStatus(key, at);
  return { runs: ended.map(toRun) };
}

/** What a credential that was revoked has sent, or a plugin has asked for, and nobody has begun yet, in every session. */
export function* cancelQueuedOf(args: { principal: string; reason?: string; at: number }, dialect: Dialect): Operation<void> {
  const { principal, reason = 'The credential that sent it was revoked', at } = args;
  // Of the runs that are open there is an index, of those that wait there is none.
  const sent = yield* all<{ session_key: string; run_id: string }>(sql`
    select session_key, run_id from runs
    where principal = ${principal} and state = 'queued' and state <> 'ended' order by session_key, ord`);
  for (const key of new Set(sent.map((run) => run.session_key))) {
    const runIds = sent.filter((run) => run.session_key === key).map((run) => run.run_id);
    yield* cancelQueuedRuns({ key, runIds, reason, at }, dialect);
  }
}

/** Those that a job began. */
function scheduledIn(rows: readonly Row[]): string[] {
  return rows.filter((row) => row.origin === 'schedule').map((row) => row.run_id as string);
}

function* announceEnded(rows: readonly Row[], end: RunEnd, at: number): Operation<void> {
  for (const row of rows) {
    yield* emitChat({ sessionKey: row.session_key as string, kind: 'ended', runId: row.run_id as string, end }, at);
  }
}
