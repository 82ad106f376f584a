// Health, presence and status as clients see them.
import { Type, type Static } from 'typebox';
import { Count, Epoch, Position, Timestamp } from './names.ts';
import { ScopeList } from './scopes.ts';

const closed = { additionalProperties: false };

/** What a client says of itself in `connect`. It gives no rights. */
export const ClientInfo = Type.Object(
  {
    id: Type.String({ minLength: 1, maxLength: 128 }),
    displayName: Type.Optional(Type.String({ maxLength: 128 })),
    version: Type.String({ minLength: 1, maxLength: 64 }),
    platform: Type.String({ minLength: 1, maxLength: 128 }),
    mode: Type.String({ minLength: 1, maxLength: 64 }),
    instanceId: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
    deviceFamily: Type.Optional(Type.String({ maxLength: 64 })),
    buildId: Type.Optional(Type.String({ maxLength: 96 })),
    timeZone: Type.Optional(Type.String({ maxLength: 64 })),
  },
  closed,
);
export type ClientInfo = Static<typeof ClientInfo>;

export const Health = Type.Object(
  {
    ok: Type.Optional(Type.Boolean()),
    ts: Type.Optional(Timestamp),
    uptimeMs: Type.Optional(Count),
    /** One entry per part that is not well; absent or empty when all is well. */
    problems: Type.Optional(
      Type.Array(Type.Object({ part: Type.String(), reason: Type.String(), since: Timestamp }, closed), { maxItems: 64 }),
    ),
  },
  closed,
);
export type Health = Static<typeof Health>;

export const PresenceEntry = Type.Object(
  {
    connId: Type.String(),
    client: ClientInfo,
    principal: Type.String(),
    scopes: ScopeList,
    connectedAt: Timestamp,
  },
  closed,
);
export type PresenceEntry = Static<typeof PresenceEntry>;

export const Status = Type.Object(
  {
    version: Type.String(),
    protocol: Count,
    pid: Count,
    url: Type.String(),
    startedAt: Timestamp,
    uptimeMs: Count,
    auth: Type.String(),
    store: Type.Object({ engine: Type.String(), location: Type.String(), schemaVersion: Count }, closed),
    events: Type.Object({ epoch: Epoch, seq: Position }, closed),
    connections: Count,
    memory: Type.Object({ residentBytes: Count, heapBytes: Count }, closed),
    health: Health,
    warnings: Type.Array(Type.String()),
  },
  closed,
);
export type Status = Static<typeof Status>;
