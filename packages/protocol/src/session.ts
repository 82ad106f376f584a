// A session as clients see it.
import { Type, type Static } from 'typebox';
import { Count, DisplayText, Label, OwnerId, RandomId, SessionKey, Timestamp } from './names.ts';

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
    /** Grows by one with every change. */
    revision: Count,
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
};
