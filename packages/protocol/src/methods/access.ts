import { Type, type Static } from 'typebox';
import { DisplayText, RandomId, SessionKey, Timestamp } from '../names.ts';
import { ScopeList } from '../scopes.ts';
import { read, write } from './row.ts';

const closed = { additionalProperties: false };

export const Token = Type.Object(
  {
    id: RandomId,
    name: DisplayText,
    scopes: ScopeList,
    sessionKey: Type.Union([SessionKey, Type.Null()]),
    createdAt: Timestamp,
    expiresAt: Type.Union([Timestamp, Type.Null()]),
    revokedAt: Type.Union([Timestamp, Type.Null()]),
    lastUsedAt: Type.Union([Timestamp, Type.Null()]),
  },
  closed,
);
export type Token = Static<typeof Token>;

/** The fingerprint of a device's public key: its SHA-256 in hex. */
export const DeviceId = Type.String({ pattern: '^[0-9a-f]{64}$', description: 'the SHA-256 of a public key, in hex' });

export const Device = Type.Object(
  {
    id: DeviceId,
    name: DisplayText,
    platform: DisplayText,
    scopes: ScopeList,
    approvedAt: Timestamp,
    approvedBy: Type.String(),
    lastSeenAt: Type.Union([Timestamp, Type.Null()]),
    revokedAt: Type.Union([Timestamp, Type.Null()]),
  },
  closed,
);
export type Device = Static<typeof Device>;

export const PairingRequest = Type.Object(
  {
    requestId: RandomId,
    deviceId: DeviceId,
    name: DisplayText,
    platform: DisplayText,
    scopes: ScopeList,
    address: Type.String(),
    requestedAt: Timestamp,
    expiresAt: Timestamp,
  },
  closed,
);
export type PairingRequest = Static<typeof PairingRequest>;

const NewToken = Type.Object({ token: Type.String(), record: Token }, closed);
const TokenResult = Type.Object({ record: Token }, closed);
const DeviceResult = Type.Object({ device: Device }, closed);

export const accessMethods = {
  'tokens.create': write({
    summary: 'Make a token with at most the scopes of the caller. The secret is in this answer only.',
    scope: 'operator.pairing',
    params: {
      name: Type.String({ minLength: 1, maxLength: 512 }),
      scopes: ScopeList,
      sessionKey: Type.Optional(SessionKey),
      expiresAt: Type.Optional(Timestamp),
    },
    result: NewToken,
  }),
  'signin.create': write({
    summary: 'Make a code that signs one browser in, once and soon, with at most the scopes of the caller. `url` carries it.',
    scope: 'operator.pairing',
    params: { scopes: Type.Optional(ScopeList) },
    result: Type.Object({ url: Type.String(), expiresAt: Timestamp }, closed),
  }),
  'tokens.rotate': write({
    summary: 'Give a token a new secret; sockets that use the old one are closed.',
    scope: 'operator.pairing',
    params: { id: RandomId },
    result: NewToken,
  }),
  'tokens.revoke': write({
    summary: 'Revoke a token and close every socket that uses it.',
    scope: 'operator.pairing',
    params: { id: RandomId },
    result: TokenResult,
  }),
  'tokens.list': read({
    summary: 'List tokens, newest first, without their secrets.',
    scope: 'operator.pairing',
    params: {},
    result: Type.Object({ tokens: Type.Array(Token) }, closed),
  }),
  'device.pair.list': read({
    summary: 'List the pairing requests that wait for an answer.',
    scope: 'operator.pairing',
    params: {},
    result: Type.Object({ requests: Type.Array(PairingRequest) }, closed),
  }),
  'device.pair.approve': write({
    summary: 'Let a device in, with the scopes it asked for or fewer, never more than the caller holds.',
    scope: 'operator.pairing',
    params: { requestId: RandomId, scopes: Type.Optional(ScopeList), name: Type.Optional(DisplayText) },
    result: DeviceResult,
  }),
  'device.pair.reject': write({
    summary: 'Turn a pairing request down.',
    scope: 'operator.pairing',
    params: { requestId: RandomId },
    result: Type.Object({ requestId: RandomId, rejected: Type.Literal(true) }, closed),
  }),
  'device.list': read({
    summary: 'List paired devices, latest first.',
    scope: 'operator.pairing',
    params: {},
    result: Type.Object({ devices: Type.Array(Device) }, closed),
  }),
  'device.rename': write({
    summary: 'Change the name of a device.',
    scope: 'operator.pairing',
    params: { id: DeviceId, name: DisplayText },
    result: DeviceResult,
  }),
  'device.revoke': write({
    summary: 'Revoke a device and close its sockets.',
    scope: 'operator.pairing',
    params: { id: DeviceId },
    result: DeviceResult,
  }),
};
