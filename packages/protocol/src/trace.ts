// What code of plugins did in a session, call by call, while somebody records it: the seam inspector.
import { Type, type Static } from 'typebox';
import { JsonValue } from './json.ts';
import { Count, SessionKey, Timestamp } from './names.ts';
import { RunId } from './transcript.ts';

const closed = { additionalProperties: false };
const Text = Type.String();

export const traceOutcomes = {
  unchanged: 'It ran, and left everything as it was.',
  changed: 'It ran, and `changes` says what is different now.',
  refused: 'It said no, or what it wanted was not allowed; `reason` says which and why.',
  claimed: 'It gave the answer itself; nobody after it was asked.',
  failed: 'It threw, or answered something that cannot be used.',
  'timed-out': 'It gave no answer in time.',
  aborted: 'Nobody waited for its answer any more.',
  dropped: 'It was not called: too many calls of its plugin waited already.',
  skipped: 'It was not called: its plugin was unloaded, or lost the right to take part.',
} as const;
export type TraceOutcome = keyof typeof traceOutcomes;

/** One value that is different now. What is added has no `before`, what is removed no `after`. */
export const TraceChange = Type.Object(
  {
    /** A JSON pointer into what the handler worked on; empty for the whole of it. */
    path: Text,
    /** Cut where it is long, and `***` where its name says that it is a secret. */
    before: Type.Optional(JsonValue),
    after: Type.Optional(JsonValue),
  },
  closed,
);
export type TraceChange = Static<typeof TraceChange>;

export const TraceRecord = Type.Object(
  {
    /** Grows with every record of this gateway. */
    seq: Count,
    at: Timestamp,
    sessionKey: SessionKey,
    runId: Type.Optional(RunId),
    /** The same for all handlers that took part in the same thing, such as one run of a hook. */
    dispatch: Count,
    /** The name of a hook, or of another seam: `tool_policy`, `session_action`, `sessions_patch`, `command`, `tool`, … */
    place: Text,
    plugin: Text,
    /** Within the dispatch, from 1. */
    order: Count,
    priority: Type.Optional(Type.Integer()),
    durationMs: Type.Number({ minimum: 0 }),
    /** It was called so often in a row and left everything as it was; `durationMs` is the sum. */
    times: Type.Optional(Count),
    outcome: Type.Enum(Object.keys(traceOutcomes) as TraceOutcome[]),
    reason: Type.Optional(Text),
    changes: Type.Optional(Type.Array(TraceChange)),
    /** Changes that are not listed, because there were too many. */
    moreChanges: Type.Optional(Count),
  },
  closed,
);
export type TraceRecord = Static<typeof TraceRecord>;
