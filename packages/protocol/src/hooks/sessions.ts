// Hooks of a session's life (start, end, reset, compaction, moves in its tree) and of the gateway's.
import { Type, type Static } from 'typebox';
import { Count, Label, OwnerId, RandomId, SessionKey } from '../names.ts';
import { Entry, EntryId, JsonObject, Message, ThinkingLevel } from '../transcript.ts';
import { lastWinsOrCancel } from './merge.ts';
import { closed, hookEvent, modify, observe } from './row.ts';

const Text = Type.String();
const OptionalText = Type.Optional(Text);

/** Of a session that is known by key and id. */
const session = { sessionKey: SessionKey, sessionId: RandomId, agentId: Type.Optional(OwnerId) };

const compaction = { reason: Type.Enum(['threshold', 'overflow', 'manual']), tokensBefore: Count };

const CompactEvent = hookEvent({
  ...compaction,
  customInstructions: OptionalText,
  /** What would be replaced by the summary, oldest first. */
  entries: Type.Array(Entry),
  /** What comes before it on the path is replaced. */
  firstKeptEntryId: EntryId,
  /** The summary of a plugin; without one the model is asked. */
  summary: OptionalText,
  details: Type.Optional(JsonObject),
});

const TreeEvent = hookEvent({
  /** Null: before the first entry. */
  targetId: Type.Union([EntryId, Type.Null()]),
  oldLeafId: Type.Union([EntryId, Type.Null()]),
  commonAncestorId: Type.Optional(EntryId),
  /** What is left behind, oldest first. */
  entriesToSummarize: Type.Array(Entry),
  userWantsSummary: Type.Boolean(),
  /** The summary of a plugin of what is left behind. */
  summary: OptionalText,
  label: Type.Optional(Label),
});

export const sessionHooks = {
  session_start: observe({
    summary: 'A session has begun, or is in use again.',
    event: Type.Object(
      {
        ...session,
        reason: Type.Enum(['new', 'reset', 'resume', 'fork', 'import']),
        /** The session that it goes on from. */
        resumedFrom: Type.Optional(RandomId),
      },
      closed,
    ),
    timeoutMs: 15_000,
    sepEvents: ['session_start'],
  }),
  session_end: observe({
    summary: 'A session has ended, or the gateway stops.',
    event: Type.Object(
      {
        ...session,
        reason: Type.Enum(['new', 'reset', 'deleted', 'shutdown', 'restart', 'unknown']),
        messageCount: Count,
        durationMs: Type.Optional(Type.Number({ minimum: 0 })),
        nextSessionId: Type.Optional(RandomId),
        nextSessionKey: Type.Optional(SessionKey),
      },
      closed,
    ),
    timeoutMs: 15_000,
    sepEvents: ['session_shutdown'],
  }),
  before_reset: observe({
    summary: 'A session is about to be reset.',
    event: Type.Object({ ...session, reason: OptionalText, messages: Type.Optional(Type.Array(Message)) }, closed),
    timeoutMs: 15_000,
  }),
  session_before_compact: modify({
    summary: 'Older entries of a session are about to be replaced by a summary. It may be cancelled, or given the summary.',
    event: CompactEvent,
    result: Type.Object(
      { cancel: Type.Optional(Type.Boolean()), cancelReason: OptionalText, summary: OptionalText, details: Type.Optional(JsonObject) },
      closed,
    ),
    merge: lastWinsOrCancel<Static<typeof CompactEvent>>(),
    ends: ['refused'],
    onFailure: 'open',
    timeoutMs: 60_000,
    sep: 'session_before_compact',
  }),
  before_compaction: observe({
    summary: 'Compaction begins.',
    event: hookEvent({ ...compaction, messageCount: Count }),
    timeoutMs: 30_000,
  }),
  after_compaction: observe({
    summary: 'Older entries have been replaced by a summary.',
    event: hookEvent({
      ...compaction,
      compactedCount: Count,
      tokensAfter: Type.Optional(Count),
      entryId: EntryId,
      /** Whether the summary is a plugin's. */
      fromPlugin: Type.Boolean(),
    }),
    timeoutMs: 30_000,
    sepEvents: ['session_compact'],
  }),
  session_before_tree: modify({
    summary: 'The leaf of a session is about to move to another entry. It may be cancelled, or given a summary of what is left behind.',
    event: TreeEvent,
    result: Type.Object(
      { cancel: Type.Optional(Type.Boolean()), cancelReason: OptionalText, summary: OptionalText, label: Type.Optional(Label) },
      closed,
    ),
    merge: lastWinsOrCancel<Static<typeof TreeEvent>>(),
    ends: ['refused'],
    onFailure: 'open',
    timeoutMs: 60_000,
    sep: 'session_before_tree',
  }),
  session_tree: observe({
    summary: 'The leaf of a session has moved to another entry.',
    event: hookEvent({
      newLeafId: Type.Union([EntryId, Type.Null()]),
      oldLeafId: Type.Union([EntryId, Type.Null()]),
      /** What was left behind was summed up. */
      summarized: Type.Boolean(),
    }),
    timeoutMs: 15_000,
    sepEvents: ['session_tree'],
  }),
  model_select: observe({
    summary: 'Somebody has chosen the model of a session, or how much it thinks.',
    event: Type.Object({ ...session, model: Text, provider: OptionalText, thinking: ThinkingLevel }, closed),
    timeoutMs: 15_000,
    sepEvents: ['model_select'],
  }),
  gateway_start: observe({
    summary: 'The gateway serves.',
    event: Type.Object({ port: Type.Integer({ minimum: 0, maximum: 65_535 }) }, closed),
    timeoutMs: 30_000,
  }),
  gateway_stop: observe({
    summary: 'The gateway is about to stop.',
    event: Type.Object({ reason: Text }, closed),
    timeoutMs: 5_000,
  }),
};
