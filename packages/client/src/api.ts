// What a user of the client sees: its options, its states and its methods, typed by the tables of the protocol.
import type { ClientInfo, EventFrame, EventName, EventPayload, HelloOk, JsonValue, MethodName, Params, Result } from '@tenon/protocol';
import type { CallOptions } from './calls.ts';
import type { Clock } from './clock.ts';
import type { DeviceIdentity } from './device.ts';
import type { Invalid, UnknownFrame } from './incoming.ts';
import type { BackoffBounds } from './reconnect.ts';
import type { SocketConstructor } from './socket.ts';
import type { Position } from './stream.ts';

/** `plugin.<plugin id>.<name>`; those that there are stand in `hello.features.methods`. */
export type PluginMethod = `plugin.${string}.${string}`;

export interface ClientOptions {
  /** `ws://127.0.0.1:18789` */
  readonly url: string;
  readonly token?: string;
  readonly device?: DeviceIdentity;
  /** Asked for when the device pairs. */
  readonly scopes?: readonly string[];
  readonly client?: Partial<ClientInfo>;
  /** What it says that it understands beside `resume`, such as `ui`. */
  readonly capabilities?: readonly string[];
  /** Default: the platform's. */
  readonly WebSocket?: SocketConstructor;
  /** For each call, and for the handshake. Default 30 seconds. */
  readonly requestTimeoutMs?: number;
  /** `false`: a broken connection closes the client. */
  readonly reconnect?: false | Partial<BackoffBounds>;
  /** Receive only these events, and `tick`. Default: all that the scopes allow. */
  readonly events?: readonly string[];
  /** Receive what came after this position first. Default: only what comes from now on. */
  readonly resume?: Position;
  /** For the jitter; uniform in [0, 1). */
  readonly random?: () => number;
  readonly clock?: Clock;
}

/**
 * `new`: `connect` was not called. `closed`: `close` was. `refused`: the gateway said no, and waiting does not help.
 * `revoked`: the credential was withdrawn. `unreachable`: the first connection failed. `lost`: it broke, and `reconnect` is off.
 */
export type CloseReason = 'new' | 'closed' | 'refused' | 'revoked' | 'unreachable' | 'lost';

export type ClientState =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'connected' }
  | { readonly kind: 'waiting'; readonly retryInMs: number; readonly error: Error }
  | { readonly kind: 'closed'; readonly reason: CloseReason; readonly error?: Error };

/**
 * A durable event arrived, and one before it did not. `resume`: the client reconnects and asks for what came after `at`;
 * nothing is lost yet, and the event will come again. `lost`: that did not help (or `reconnect` is off); the event is
 * delivered, and what was between `at` and it has to be read anew.
 */
export interface Gap {
  readonly at: Position;
  readonly frame: EventFrame;
  readonly action: 'resume' | 'lost';
}

/** Params may be left out where all of them are optional; where there are none, nothing else fits. */
export type CallArgs<Method extends MethodName> = keyof Params<Method> extends never
  ? [params?: Record<string, never>, options?: CallOptions]
  : Partial<Params<Method>> extends Params<Method>
    ? [params?: Params<Method>, options?: CallOptions]
    : [params: Params<Method>, options?: CallOptions];

/** Every `on…` returns the function that ends the subscription. */
export interface Client {
  readonly state: ClientState;
  /** The latest one. */
  readonly hello: HelloOk | undefined;
  /** After the last durable event that was delivered; store it with what you derived from the events. */
  readonly position: Position | undefined;
  /**
   * Resolves when connected; while waiting for the next attempt, makes it now. Rejects when the client is closed by the outcome:
   * `GatewayError` for a refusal, `ConnectionError`, `ProtocolError`. The first attempt is the only one, unless `retry`:
   * then everything that may get better (unreachable, not paired yet, rate limited) is waited for.
   */
  connect(options?: { readonly retry?: boolean }): Promise<HelloOk>;
  /** Rejects with `GatewayError`, `CallTimeout`, `ConnectionError`, `ProtocolError`, `TooManyCalls` or the signal's reason. */
  call<Method extends MethodName>(method: Method, ...args: CallArgs<Method>): Promise<Result<Method>>;
  /** A method that a plugin brings. It has no idempotency key: if the connection breaks before the answer, it rejects and is not sent again. */
  callPlugin(method: PluginMethod, params?: JsonValue, options?: CallOptions): Promise<JsonValue>;
  on<Name extends EventName>(name: Name, listener: (payload: EventPayload<Name>, frame: EventFrame) => void): () => void;
  onState(listener: (state: ClientState) => void): () => void;
  /** Frames of a type and events of a name that this version does not know. */
  onUnknown(listener: (frame: UnknownFrame | EventFrame) => void): () => void;
  /** What arrived and does not fit the tables. It was not delivered. */
  onInvalid(listener: (invalid: Invalid) => void): () => void;
  onGap(listener: (gap: Gap) => void): () => void;
  /** Calls that wait are rejected. `connect` opens the client again. */
  close(): Promise<void>;
}
