// The three frames of the wire. All objects are closed. A client keeps frames of types that it does not know.
import { Type, type Static } from 'typebox';
import { ErrorShape } from './errors.ts';
import { JsonValue } from './json.ts';
import { Count, Epoch, MethodOrEventName, Position } from './names.ts';

export const PROTOCOL_VERSION = 3;

const closed = { additionalProperties: false };

export const StateVersion = Type.Object({ presence: Count, health: Count }, closed);
export type StateVersion = Static<typeof StateVersion>;

export const RequestId = Type.String({ minLength: 1, maxLength: 128 });

export const RequestFrame = Type.Object(
  {
    type: Type.Literal('req'),
    id: RequestId,
    method: MethodOrEventName,
    params: Type.Optional(JsonValue),
    traceparent: Type.Optional(Type.String({ maxLength: 128 })),
  },
  closed,
);

export const ResponseFrame = Type.Object(
  {
    type: Type.Literal('res'),
    id: RequestId,
    ok: Type.Boolean(),
    payload: Type.Optional(JsonValue),
    error: Type.Optional(ErrorShape),
  },
  closed,
);

export const EventFrame = Type.Object(
  {
    type: Type.Literal('event'),
    event: MethodOrEventName,
    payload: Type.Optional(JsonValue),
    /** The place of a durable event in the stream of the store. */
    seq: Type.Optional(Position),
    stateVersion: Type.Optional(StateVersion),
    /** Only for clients with the capability `resume`: the life of the stream, and the last position this client was sent. */
    epoch: Type.Optional(Epoch),
    prev: Type.Optional(Position),
  },
  closed,
);

export const GatewayFrame = Type.Union([RequestFrame, ResponseFrame, EventFrame]);

export type RequestFrame = Static<typeof RequestFrame>;
export type ResponseFrame = Static<typeof ResponseFrame>;
export type EventFrame = Static<typeof EventFrame>;
export type GatewayFrame = Static<typeof GatewayFrame>;
