// The tool calls of a running turn: which were asked for, which were started, which have their result. A crash leaves
// exactly this behind, and the turn goes on from it. The rows go when the run ends; what happened is in the transcript.
import { idText } from './approvals.ts';
import { appendOnLeaf, requireEntry, toEntry } from './entries.ts';
import { requireRunning } from './run-row.ts';
import type { SessionRow } from './session-row.ts';
import { all, change, type Dialect, one, type Operation, refuse, type Row, sql } from './sql.ts';
import type { Entry, EntryDraft, JsonObject } from '@tenon/protocol';

export interface NewCall {
  readonly callId: string;
  readonly name: string;
  readonly args: JsonObject;
}

export interface OpenCall extends NewCall {
  readonly entryId: string;
  readonly state: 'pending' | 'started';
  /** How often it was started. */
  readonly attempts: number;
}

interface CallOf {
  readonly key: string;
  readonly runId: string;
  readonly entryId: string;
  readonly callId: string;
  readonly at: number;
}

export function* insertCalls(sessionId: string, runId: string, entry: Entry | undefined, calls: readonly NewCall[]): Operation<void> {
  if (entry?.type !== 'message' || entry.message.role !== 'assistant') {
    refuse('INVALID_REQUEST', 'Calls belong to a message of the assistant', { code: 'NO_ASSISTANT_MESSAGE' });
  }
  if (new Set(calls.map((call) => call.callId)).size < calls.length) {
    refuse('INVALID_REQUEST', 'Two calls of one message have the same id', { code: 'DUPLICATE_CALL' });
  }
  for (const { callId, name, args } of calls) {
    yield* change(sql`
      insert into calls (session_id, entry_id, call_id, run_id, name, args, state, attempts)
      values (${sessionId}, ${entry.id}, ${idText(callId)}, ${runId}, ${idText(name)}, ${JSON.stringify(args)}, 'pending', 0)`);
  }
}

/** Marks a call as started, before it is; `args` are those that it runs with. */
export function* startCall(args: CallOf & { args: JsonObject }, dialect: Dialect): Operation<{ attempts: number }> {
  const { call } = yield* requireCall(args, dialect);
  if (call.state === 'done') refuse('CONFLICT', `Call "${args.callId}" has its result already`, { code: 'CALL_DONE' });
  const attempts = (call.attempts as number) + 1;
  yield* change(sql`
    update calls set state = 'started', attempts = ${attempts}, args = ${JSON.stringify(args.args)} where ord = ${call.ord as number}`);
  return { attempts };
}

/** Keeps the result of a call. A call that has one keeps it. */
export function* finishCall(args: CallOf & { draft: EntryDraft }, dialect: Dialect): Operation<{ entry: Entry }> {
  const { session, call } = yield* requireCall(args, dialect);
  if (call.state === 'done') return { entry: toEntry(yield* requireEntry(session.session_id, call.result_id as string)) };
  if (args.draft.type !== 'message' || args.draft.message.role !== 'toolResult') {
    refuse('INVALID_REQUEST', 'The result of a call is a tool result', { code: 'NO_TOOL_RESULT' });
  }
  const [entry] = yield* appendOnLeaf(session, [{ draft: args.draft, runId: args.runId }], args.at);
  if (!entry) throw new Error('an entry was not appended');
  yield* change(sql`update calls set state = 'done', result_id = ${entry.id} where ord = ${call.ord as number}`);
  return { entry };
}

const NOT_DONE = 'No result: the turn ended before this call was done.';
const CUT_OFF = 'The turn ended while this call ran. What it did is not known; look before you do it again.';

/** The run ends: a call that has no result yet is given one that says so, because no provider takes a call without one. */
export function* settleCalls(session: SessionRow, runId: string, at: number): Operation<void> {
  const { calls } = yield* listOpenCalls({ runId });
  const drafts = calls.map(({ callId, name, state }) => ({
    runId,
    draft: {
      type: 'message' as const,
      message: {
        role: 'toolResult' as const,
        toolCallId: callId,
        toolName: name,
        content: [{ type: 'text' as const, text: state === 'started' ? CUT_OFF : NOT_DONE }],
        isError: true,
        timestamp: at,
      },
    },
  }));
  yield* appendOnLeaf(session, drafts, at);
  yield* change(sql`delete from calls where run_id = ${runId}`);
}

/** Those without a result, in the order in which they were asked for. */
export function* listOpenCalls(args: { runId: string }): Operation<{ calls: OpenCall[] }> {
  const rows = yield* all(sql`select * from calls where run_id = ${args.runId} and state <> 'done' order by ord`);
  return {
    calls: rows.map((row) => ({
      entryId: row.entry_id as string,
      callId: JSON.parse(row.call_id as string) as string,
      name: JSON.parse(row.name as string) as string,
      args: JSON.parse(row.args as string) as JsonObject,
      state: row.state as OpenCall['state'],
      attempts: row.attempts as number,
    })),
  };
}

function* requireCall(args: CallOf, dialect: Dialect) {
  const { session } = yield* requireRunning(args.key, args.runId, dialect);
  const call: Row | undefined = yield* one(sql`
    select * from calls where session_id = ${session.session_id} and entry_id = ${args.entryId} and call_id = ${idText(args.callId)}`);
  if (!call || call.run_id !== args.runId) {
    refuse('NOT_FOUND', `Cannot find call "${args.callId}" of entry "${args.entryId}"`, { code: 'NO_CALL' });
  }
  return { session, call };
}
