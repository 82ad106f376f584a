// A session as clients see it.
import { Type, type Static } from 'typebox';
import { PermissionMode } from './approval.ts';
import { JsonValue } from './json.ts';
import { ModelId } from './model.ts';
import { Count, DisplayText, Label, OwnerId, RandomId, SessionKey, Timestamp } from './names.ts';
import { PluginExtension } from './plugin.ts';
import { QueueMode, ThinkingLevel } from './transcript.ts';

export const sessionStatuses = {
  idle: 'Nothing is under way.',
  queued: 'A message waits for its turn.',
  running: 'The agent is at work.',
  waiting: 'The agent waits for an answer of the operator.',
  failed: 'The last turn failed.',
} as const;
export type SessionStatus = keyof typeof sessionStatuses;
export const SessionStatus = Type.Enum(Object.keys(sessionStatuses) as SessionStatus[]);

/** What the session chose over its agent; null: what the agent says. */
const choices = {
  model: Type.Union([ModelId, Type.Null()]),
  thinking: Type.Union([ThinkingLevel, Type.Null()]),
  permissions: Type.Union([PermissionMode, Type.Null()]),
  queue: Type.Union([QueueMode, Type.Null()]),
};

export const Session = Type.Object(
  {
    key: SessionKey,
    /** Changes with every reset; what was said before belongs to the old id. */
    sessionId: RandomId,
    agentId: OwnerId,
    title: DisplayText,
    label: Type.Union([Label, Type.Null()]),
    pinned: Type.Boolean(),
    archived: Type.Boolean(),
    ...choices,
    status: SessionStatus,
    /** The session that this one was made from. */
    forkedFrom: Type.Optional(SessionKey),
    /** Grows by one with every change of its settings and every reset, not with what is said in it. */
    revision: Count,
    /** What plugins show of their state in it; only where the session itself is read. */
    pluginExtensions: Type.Optional(Type.Array(PluginExtension)),
    /** The same under the names that plugins have chosen for it (`sessionEntrySlotKey`); likewise. */
    slots: Type.Optional(Type.Record(Type.String(), JsonValue)),
    /** What plugins want told with the next turn; likewise. */
    pendingInjections: Type.Optional(Count),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  },
  { additionalProperties: false },
);
export type Session = Static<typeof Session>;

/** The fields that `sessions.create` and `sessions.patch` may set. */
export const sessionFields = {
  title: Type.Optional(DisplayText),
  label: Type.Optional(Type.Union([Label, Type.Null()])),
  pinned: Type.Optional(Type.Boolean()),
  archived: Type.Optional(Type.Boolean()),
  model: Type.Optional(choices.model),
  thinking: Type.Optional(choices.thinking),
  permissions: Type.Optional(choices.permissions),
  queue: Type.Optional(choices.queue),
};
