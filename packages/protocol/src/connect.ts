// The handshake. `connect` is the first frame and the only one that carries a credential; `hello-ok` is its answer.
import { Type, type Static } from 'typebox';
import { DeviceId } from './methods/access.ts';
import { StateVersion } from './frames.ts';
import { Count, Epoch, MethodOrEventName, Position, SessionKey, Timestamp } from './names.ts';
import { ScopeList } from './scopes.ts';
import { ClientInfo, Health, PresenceEntry } from './status.ts';

const closed = { additionalProperties: false };

/** What a client can say that it understands. */
export const capabilities = {
  ui: 'Shows people what extensions ask, and sends their answers: `ui.requested`, `ui.answer`. Without one, an extension is told that nobody is there.',
  resume: 'Events carry `epoch` and `prev`, and `connect` may ask for what was missed.',
} as const;

/** What a client can connect as. There are no others yet, and an unknown one never gets the rights of this one. */
export const roles = ['operator'] as const;

export const DeviceProof = Type.Object(
  {
    id: DeviceId,
    /** ed25519, SPKI DER in base64url. */
    publicKey: Type.String({ minLength: 1, maxLength: 256 }),
    /** Over `deviceSigningText`, in base64url. */
    signature: Type.String({ minLength: 1, maxLength: 256 }),
    signedAt: Timestamp,
    nonce: Type.String({ minLength: 1, maxLength: 128 }),
  },
  closed,
);
export type DeviceProof = Static<typeof DeviceProof>;

export const ConnectParams = Type.Object(
  {
    minProtocol: Type.Integer({ minimum: 1 }),
    maxProtocol: Type.Integer({ minimum: 1 }),
    client: ClientInfo,
    caps: Type.Optional(Type.Array(Type.String({ maxLength: 64 }), { maxItems: 32 })),
    /** One of `roles`, and `operator` where it is left out; any other is refused. */
    role: Type.Optional(
      Type.String({ maxLength: 64, description: '`operator`, which is also meant where it is left out; any other is refused' }),
    ),
    /** Asked for when a device pairs. A credential's scopes come from its record, never from here. */
    scopes: Type.Optional(Type.Array(Type.String({ maxLength: 64 }), { maxItems: 32 })),
    auth: Type.Optional(Type.Object({ token: Type.Optional(Type.String({ minLength: 1, maxLength: 512 })) }, closed)),
    device: Type.Optional(DeviceProof),
    resume: Type.Optional(Type.Object({ epoch: Type.Optional(Epoch), seq: Position }, closed)),
    /** Receive only these events; without it, all that the scopes allow. */
    events: Type.Optional(Type.Array(MethodOrEventName, { maxItems: 64 })),
    locale: Type.Optional(Type.String({ maxLength: 64 })),
    userAgent: Type.Optional(Type.String({ maxLength: 256 })),
  },
  closed,
);
export type ConnectParams = Static<typeof ConnectParams>;

export const HelloOk = Type.Object(
  {
    type: Type.Literal('hello-ok'),
    protocol: Count,
    server: Type.Object({ version: Type.String(), connId: Type.String(), bootId: Type.Optional(Type.String()) }, closed),
    features: Type.Object(
      {
        methods: Type.Array(Type.String()),
        events: Type.Array(Type.String()),
        capabilities: Type.Optional(Type.Array(Type.String())),
      },
      closed,
    ),
    snapshot: Type.Object({ presence: Type.Array(PresenceEntry), health: Health, stateVersion: StateVersion, uptimeMs: Count }, closed),
    policy: Type.Object(
      {
        maxPayload: Count,
        maxBufferedBytes: Count,
        tickIntervalMs: Count,
        maxInFlight: Type.Optional(Count),
        maxInFlightBytes: Type.Optional(Count),
      },
      closed,
    ),
    auth: Type.Optional(
      Type.Object(
        {
          method: Type.Enum(['token', 'device', 'none']),
          principal: Type.String(),
          scopes: ScopeList,
          sessionKey: Type.Optional(SessionKey),
        },
        closed,
      ),
    ),
    /** For clients with the capability `resume`: where the stream stands now. */
    events: Type.Optional(Type.Object({ epoch: Epoch, seq: Position }, closed)),
  },
  closed,
);
export type HelloOk = Static<typeof HelloOk>;

/** The text that a device signs: everything that the signature must not be usable for otherwise. */
export function deviceSigningText(
  proof: Omit<DeviceProof, 'signature' | 'publicKey'>,
  params: Pick<ConnectParams, 'client' | 'role' | 'scopes' | 'auth'>,
): string {
  const { client } = params;
  return [
    'v3',
    proof.id,
    client.id,
    client.mode,
    params.role ?? 'operator',
    (params.scopes ?? []).join(','),
    String(proof.signedAt),
    params.auth?.token ?? '',
    proof.nonce,
    client.platform,
    client.deviceFamily ?? '',
  ].join('|');
}
