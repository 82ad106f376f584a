// The client: connects, stays connected, and hands out what arrives. It owns the state machine
// (closed → connecting → connected → waiting → connecting …) and ties together the parts that know the details:
// `connection.ts` one socket, `calls.ts` what waits for an answer, `stream.ts` the place in the event stream.
import {
  type ClientInfo,
  type ConnectParams,
  deviceSigningText,
  type EventFrame,
  type EventName,
  type EventPayload,
  errors,
  eventRow,
  explain,
  GatewayError,
  type HelloOk,
  isEventName,
  isMethodName,
  type JsonValue,
  type MethodName,
  matches,
  reading,
  PROTOCOL_VERSION,
  type Result,
} from '@tenon/protocol';
import type { CallArgs, Client, ClientOptions, ClientState, CloseReason, Gap, PluginMethod } from './api.ts';
import { type CallOptions, createCalls } from './calls.ts';
import { type Clock, systemClock } from './clock.ts';
import { type Connection, type ConnectionEnd, openConnection } from './connection.ts';
import { ConnectionError, ProtocolError } from './errors.ts';
import type { Invalid, UnknownFrame } from './incoming.ts';
import { createListeners } from './listeners.ts';
import { type BackoffBounds, createBackoff, retryDelay } from './reconnect.ts';
import { closeCodes, type SocketConstructor } from './socket.ts';
import { createEventStream, type Position } from './stream.ts';

/** A test holds this against package.json. */
export const CLIENT_VERSION = '0.1.0';

const DEFAULT_TIMEOUT_MS = 30_000;
const DEFAULT_BACKOFF: BackoffBounds = { minMs: 250, maxMs: 30_000 };

export function createClient(options: ClientOptions): Client {
  return new GatewayClient(options);
}

type AnyListener = (payload: unknown, frame: EventFrame) => void;

class GatewayClient implements Client {
  readonly #options: ClientOptions;
  readonly #WebSocket: SocketConstructor;
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #bounds: BackoffBounds;
  readonly #backoff;
  readonly #calls;
  readonly #stream;
  readonly #info: ClientInfo;
  readonly #stateListeners = createListeners<[ClientState]>();
  readonly #unknownListeners = createListeners<[UnknownFrame | EventFrame]>();
  readonly #invalidListeners = createListeners<[Invalid]>();
  readonly #gapListeners = createListeners<[Gap]>();
  readonly #eventListeners = new Map<EventName, ReturnType<typeof createListeners<Parameters<AnyListener>>>>();

  #state: ClientState = { kind: 'closed', reason: 'new' };
  #hello: HelloOk | undefined;
  #connection: Connection | undefined;
  #opening: PromiseWithResolvers<HelloOk> | undefined;
  #retryTimer: unknown;
  #connectedAt: number | undefined;
  /** Whether a failed attempt is followed by another. */
  #persistent = false;
  /** What the connection is subscribed to, for the next one. */
  #subscription: readonly string[] | undefined;
  /** Where the last gap was met, so that the same one is not met for ever. */
  #gapAt: Position | undefined;

  constructor(options: ClientOptions) {
    const WebSocket = options.WebSocket ?? globalThis.WebSocket;
    if (!WebSocket) throw new Error('Cannot find a WebSocket on this platform: pass one as `WebSocket`');
    this.#options = options;
    this.#WebSocket = WebSocket;
    this.#clock = options.clock ?? systemClock;
    this.#timeoutMs = options.requestTimeoutMs ?? DEFAULT_TIMEOUT_MS;
    this.#bounds = { ...DEFAULT_BACKOFF, ...options.reconnect };
    this.#backoff = createBackoff(this.#bounds, options.random ?? Math.random);
    this.#calls = createCalls(this.#clock, this.#timeoutMs);
    this.#stream = createEventStream(options.resume);
    this.#subscription = options.events;
    this.#info = {
      id: 'tenon-client',
      version: CLIENT_VERSION,
      platform: globalThis.navigator?.platform || 'unknown',
      mode: 'client',
      ...options.client,
    };
  }

  get state(): ClientState {
    return this.#state;
  }

  get hello(): HelloOk | undefined {
    return this.#hello;
  }

  get position(): Position | undefined {
    return this.#stream.position;
  }

  async connect({ retry = false }: { readonly retry?: boolean } = {}): Promise<HelloOk> {
    if (this.#state.kind === 'connected' && this.#hello) return this.#hello;
    if (retry) this.#persistent = true;
    this.#opening ??= Promise.withResolvers();
    const { promise } = this.#opening;
    if (this.#state.kind !== 'connecting') this.#attempt();
    return promise;
  }

  async call<Method extends MethodName>(method: Method, ...[params, options]: CallArgs<Method>): Promise<Result<Method>> {
    if (!isMethodName(method)) throw new GatewayError('UNKNOWN_METHOD', `Cannot call "${method}": no such method in the tables`);
    if (this.#state.kind === 'closed') {
      throw this.#state.error ?? new ConnectionError('CLOSED', `Cannot call "${method}": the client is not connected`);
    }
    // `calls.ts` has checked the result against the row that `Result` is derived from.
    const result = (await this.#calls.add(method, params ?? {}, options ?? {})) as Result<Method>;
    if (method === 'events.subscribe' || method === 'events.unsubscribe') this.#subscribed(result as Result<'events.subscribe'>);
    return result;
  }

  async callPlugin(method: PluginMethod, params: JsonValue = {}, options: CallOptions = {}): Promise<JsonValue> {
    if (this.#state.kind === 'closed') {
      throw this.#state.error ?? new ConnectionError('CLOSED', `Cannot call "${method}": the client is not connected`);
    }
    return (await this.#calls.add(method, params, options)) as JsonValue;
  }

  on<Name extends EventName>(name: Name, listener: (payload: EventPayload<Name>, frame: EventFrame) => void): () => void {
    let listeners = this.#eventListeners.get(name);
    if (!listeners) {
      listeners = createListeners();
      this.#eventListeners.set(name, listeners);
    }
    // The payload is checked against the row of this name before it is handed out.
    return listeners.add(listener as AnyListener);
  }

  onState(listener: (state: ClientState) => void): () => void {
    return this.#stateListeners.add(listener);
  }

  onUnknown(listener: (frame: UnknownFrame | EventFrame) => void): () => void {
    return this.#unknownListeners.add(listener);
  }

  onInvalid(listener: (invalid: Invalid) => void): () => void {
    return this.#invalidListeners.add(listener);
  }

  onGap(listener: (gap: Gap) => void): () => void {
    return this.#gapListeners.add(listener);
  }

  async close(): Promise<void> {
    const left = this.#leave(closeCodes.normal, 'bye');
    if (this.#state.kind !== 'closed') this.#finish('closed', new ConnectionError('CLOSED', 'The client was closed'));
    await left;
  }

  #attempt(): void {
    this.#clock.clearTimeout(this.#retryTimer);
    this.#setState({ kind: 'connecting' });
    // A listener may have closed the client.
    if (this.#state.kind !== 'connecting') return;
    const { url, device } = this.#options;
    const connection = openConnection(
      {
        url,
        WebSocket: this.#WebSocket,
        clock: this.#clock,
        handshakeTimeoutMs: this.#timeoutMs,
        signs: device !== undefined,
        params: (nonce) => this.#connectParams(nonce),
      },
      {
        hello: (hello) => this.#connected(hello, connection),
        response: (frame) => this.#reportInvalid(this.#calls.answer(frame)),
        event: (frame) => this.#event(frame),
        unknown: (frame) => this.#unknownListeners.emit(frame),
        invalid: (invalid, id) => {
          this.#reportInvalid(invalid);
          if (id !== undefined) this.#calls.fail(id, new ProtocolError(invalid.reason, invalid.frame));
        },
        ended: (end) => this.#ended(end),
      },
    );
    this.#connection = connection;
  }

  async #connectParams(nonce: string | undefined): Promise<ConnectParams> {
    const { token, device, scopes, capabilities = [] } = this.#options;
    const position = this.#stream.position;
    const params: ConnectParams = {
      minProtocol: PROTOCOL_VERSION,
      maxProtocol: PROTOCOL_VERSION,
      client: this.#info,
      caps: ['resume', ...capabilities],
      ...(scopes ? { scopes: [...scopes] } : {}),
      ...(token === undefined ? {} : { auth: { token } }),
      ...(position ? { resume: position } : {}),
      // Without ticks, silence would say nothing about the connection.
      ...(this.#subscription ? { events: [...new Set([...this.#subscription, 'tick'])] } : {}),
    };
    if (!device || nonce === undefined) return params;
    const proof = { id: device.id, signedAt: this.#clock.now(), nonce };
    const signature = await device.sign(deviceSigningText(proof, params));
    return { ...params, device: { ...proof, publicKey: device.publicKey, signature } };
  }

  #connected(hello: HelloOk, connection: Connection): void {
    this.#hello = hello;
    this.#persistent = true;
    this.#connectedAt = this.#clock.now();
    this.#stream.begin(hello.events);
    const opening = this.#opening;
    this.#opening = undefined;
    this.#setState({ kind: 'connected' });
    opening?.resolve(hello);
    if (this.#connection === connection) this.#calls.attach((text) => connection.send(text), hello.policy.maxPayload);
  }

  #event(frame: EventFrame): void {
    const verdict = this.#stream.judge(frame);
    if (verdict === 'duplicate') return;
    if (verdict === 'gap' && this.#resumeFrom(frame) === 'resume') return;
    // Moved even when the payload turns out invalid: asking for the same event again would bring the same payload.
    this.#stream.advance(frame);

    if (isEventName(frame.event)) this.#deliver(frame.event, frame);
    else this.#unknownListeners.emit(frame);
  }

  #deliver(name: EventName, frame: EventFrame): void {
    const { payload } = frame;
    const schema = eventRow(name).payload;
    if (!matches(reading(schema), payload)) {
      this.#reportInvalid({
        reason: explain(reading(schema), payload, `${name} payload`) ?? `${name} payload does not fit its schema`,
        frame,
      });
      return;
    }
    if (name === 'resumed') this.#stream.resumed(payload as EventPayload<'resumed'>);
    if (name === 'snapshot-required') this.#stream.restart(payload as EventPayload<'snapshot-required'>);
    this.#eventListeners.get(name)?.emit(payload, frame);
  }

  // Once per place: a gateway that cannot fill the gap must not keep us in a circle.
  #resumeFrom(frame: EventFrame): Gap['action'] {
    const at = this.#stream.position ?? { seq: 0 };
    const again = this.#gapAt?.seq === at.seq && this.#gapAt.epoch === at.epoch;
    const action = again || this.#options.reconnect === false ? 'lost' : 'resume';
    this.#gapAt = at;
    this.#gapListeners.emit({ at, frame, action });
    if (action === 'resume' && this.#connection) {
      void this.#leave(closeCodes.restart, 'events are missing');
      this.#retryAfter(undefined, new ConnectionError('LOST', `Events after ${at.seq} are missing`));
    }
    return action;
  }

  #subscribed({ events }: Result<'events.subscribe'>): void {
    this.#subscription = events;
    this.#connection?.expectTicks(events.includes('tick'));
  }

  #reportInvalid(invalid: Invalid | undefined): void {
    if (invalid) this.#invalidListeners.emit(invalid);
  }

  #ended(end: ConnectionEnd): void {
    const wasConnected = this.#state.kind === 'connected';
    this.#connection = undefined;
    this.#calls.detach();
    if (this.#persistent && this.#options.reconnect !== false && mayGetBetter(end)) {
      this.#retryAfter(end.kind === 'refused' ? end.error.retryAfterMs : undefined, end.error);
    } else if (end.kind === 'broken') {
      this.#finish(wasConnected ? 'lost' : 'unreachable', end.error);
    } else {
      this.#finish(end.kind, end.error);
    }
  }

  #retryAfter(retryAfterMs: number | undefined, error: Error): void {
    // A gateway that takes us in and drops us at once is not well: only a connection that lasted starts the backoff anew.
    if (this.#connectedAt !== undefined && this.#clock.now() - this.#connectedAt >= this.#bounds.maxMs) this.#backoff.reset();
    this.#connectedAt = undefined;
    const retryInMs = retryDelay(this.#backoff, retryAfterMs);
    this.#retryTimer = this.#clock.setTimeout(() => this.#attempt(), retryInMs);
    this.#setState({ kind: 'waiting', retryInMs, error });
  }

  async #leave(code: number, reason: string): Promise<void> {
    const connection = this.#connection;
    this.#connection = undefined;
    this.#calls.detach();
    await connection?.leave(code, reason);
  }

  #finish(reason: CloseReason, error: Error): void {
    this.#clock.clearTimeout(this.#retryTimer);
    this.#persistent = false;
    this.#backoff.reset();
    const opening = this.#opening;
    this.#opening = undefined;
    this.#setState({ kind: 'closed', reason, error });
    this.#calls.end(error);
    opening?.reject(error);
  }

  #setState(state: ClientState): void {
    this.#state = state;
    this.#stateListeners.emit(state);
  }
}

function mayGetBetter(end: ConnectionEnd): boolean {
  if (end.kind !== 'refused') return end.kind === 'broken';
  // An INTERNAL fault is not worth repeating a request for, but a gateway that is restarted may be rid of it.
  return errors[end.error.code].retryable || end.error.code === 'INTERNAL';
}
