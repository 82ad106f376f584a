import { Type } from 'typebox';
import { ItemName } from '../contributions.ts';
import { JsonValue } from '../json.ts';
import { limits } from '../limits.ts';
import { Count, Label, OwnerId, SessionKey } from '../names.ts';
import { PendingInjection } from '../plugin.ts';
import { Session, sessionFields } from '../session.ts';
import { RunId } from '../transcript.ts';
import { read, write } from './row.ts';

const closed = { additionalProperties: false };
const SessionResult = Type.Object({ session: Session }, closed);

export const sessionMethods = {
  'sessions.list': read({
    summary: 'List sessions, latest change first, a page at a time; with `search`, newest first.',
    scope: 'operator.read',
    bound: 'filtered',
    params: {
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: limits.pageSize.value })),
      cursor: Type.Optional(Type.String({ minLength: 1, maxLength: 512 })),
      agentId: Type.Optional(OwnerId),
      label: Type.Optional(Label),
      archived: Type.Optional(Type.Boolean()),
      search: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
    },
    result: Type.Object({ sessions: Type.Array(Session), nextCursor: Type.Optional(Type.String()) }, closed),
  }),
  'sessions.get': read({
    summary: 'Read one session.',
    scope: 'operator.read',
    bound: { param: 'key' },
    params: { key: SessionKey },
    result: SessionResult,
  }),
  'sessions.create': write({
    summary: 'Create a session. Without a key, a random one under the agent.',
    scope: 'operator.write',
    params: { key: Type.Optional(SessionKey), agentId: Type.Optional(OwnerId), ...sessionFields },
    result: SessionResult,
  }),
  'sessions.patch': write({
    summary:
      'Change fields of a session; with `ifRevision`, only if nobody changed it meanwhile; with `extension`, together with what a plugin does: all of it or nothing.',
    scope: 'operator.write',
    bound: { param: 'key' },
    params: {
      key: SessionKey,
      ...sessionFields,
      ifRevision: Type.Optional(Count),
      /** Something that a plugin does together with it. The payload goes to the plugin as it is. */
      extension: Type.Optional(Type.Object({ plugin: OwnerId, action: ItemName, payload: Type.Optional(JsonValue) }, closed)),
    },
    /** `runId`: the turn that goes on because the plugin wants it. */
    result: Type.Object({ ...SessionResult.properties, runId: Type.Optional(RunId) }, closed),
  }),
  'sessions.injections': read({
    summary:
      'What plugins want told with the next turn of a session, in the order in which it is told; `pendingInjections` counts those that no turn has taken.',
    scope: 'operator.admin',
    params: { key: SessionKey },
    result: Type.Object({ injections: Type.Array(PendingInjection) }, closed),
  }),
  'sessions.reset': write({
    summary: 'Start the session afresh: a new session id, the same key and settings.',
    scope: 'operator.write',
    bound: { param: 'key' },
    params: { key: SessionKey },
    result: SessionResult,
  }),
  'sessions.delete': write({
    summary: 'Delete a session and all that belongs to it.',
    scope: 'operator.write',
    params: { key: SessionKey },
    result: Type.Object({ key: SessionKey, deleted: Type.Literal(true) }, closed),
  }),
};
