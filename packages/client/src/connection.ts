// One socket from opening to its end: handshake, frames, watchdog. It knows nothing of retries, calls or positions;
// it tells its owner what arrives, and, exactly once and last, how it ended.
import {
  type ConnectParams,
  type EventFrame,
  events,
  explain,
  GatewayError,
  HelloOk,
  limits,
  matches,
  reading,
  PROTOCOL_VERSION,
  type RequestFrame,
  type ResponseFrame,
} from '@tenon/protocol';
import type { Clock } from './clock.ts';
import { ConnectionError, ProtocolError } from './errors.ts';
import { type Incoming, type Invalid, readIncoming, type UnknownFrame } from './incoming.ts';
import { type CloseLike, closeCodes, type ErrorLike, type MessageLike, type SocketConstructor, type SocketLike } from './socket.ts';

export type ConnectionEnd =
  /** The gateway answered `connect` with no. */
  | { readonly kind: 'refused'; readonly error: GatewayError }
  | { readonly kind: 'revoked'; readonly error: ConnectionError }
  /** Everything else: never opened, broke, fell silent, spoke nonsense. */
  | { readonly kind: 'broken'; readonly error: Error };

export interface ConnectionDeps {
  readonly url: string;
  readonly WebSocket: SocketConstructor;
  readonly clock: Clock;
  /** From now to `hello-ok`. */
  readonly handshakeTimeoutMs: number;
  /** Whether `connect` waits for the challenge, because a device signs it. */
  readonly signs: boolean;
  params(nonce: string | undefined): ConnectParams | Promise<ConnectParams>;
}

export interface ConnectionOwner {
  hello(hello: HelloOk): void;
  response(frame: ResponseFrame): void;
  event(frame: EventFrame): void;
  unknown(frame: UnknownFrame): void;
  /** `id` when it was meant to answer a request. */
  invalid(invalid: Invalid, id: string | undefined): void;
  ended(end: ConnectionEnd): void;
}

export interface Connection {
  send(text: string): void;
  /** Whether silence means that the connection is dead. */
  expectTicks(expected: boolean): void;
  /** Leave without telling the owner. Resolves when the socket has closed, or has had time enough to. */
  leave(code: number, reason: string): Promise<void>;
}

const CONNECT_ID = 'connect';

export function openConnection(deps: ConnectionDeps, owner: ConnectionOwner): Connection {
  const { clock } = deps;
  let phase: 'opening' | 'asked' | 'live' | 'over' = 'opening';
  let tickIntervalMs = 0;
  let heardAt = clock.now();
  let socketClosed = false;
  let onSocketClosed = () => {};
  let watchdog: unknown;
  const handshakeTimer = clock.setTimeout(
    () => breakOff(unreachable(`no hello within ${deps.handshakeTimeoutMs} ms`)),
    deps.handshakeTimeoutMs,
  );

  const socket = openSocket();
  if (socket) {
    socket.onopen = () => {
      if (!deps.signs) void ask(undefined);
    };
    socket.onmessage = (event: MessageLike) => receive(readIncoming(event.data));
    socket.onerror = ({ message, error }: ErrorLike) => {
      // Browsers and Node keep the cause to themselves, so that pages cannot scan ports.
      const unknown = phase === 'live' ? 'the socket failed' : 'nobody answers there, or the upgrade was refused';
      breakOff(broken(message || unknown, { cause: error }));
    };
    socket.onclose = ({ code, reason }: CloseLike) => {
      closed();
      if (code === closeCodes.revoked) {
        end({ kind: 'revoked', error: new ConnectionError('REVOKED', 'The gateway revoked the credential', { closeCode: code }) });
      } else {
        breakOff(broken(`closed with ${code}${reason && ` (${reason})`}`, { closeCode: code }));
      }
    };
  }

  return {
    send(text) {
      if (phase === 'live') socket?.send(text);
    },
    expectTicks(expected) {
      clock.clearTimeout(watchdog);
      if (expected && phase === 'live' && tickIntervalMs > 0) watch(2 * tickIntervalMs);
    },
    async leave(code, reason) {
      detach(code, reason);
      if (socketClosed) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = clock.setTimeout(resolve, limits.closeGraceMs.value);
      onSocketClosed = resolve;
      await promise;
      clock.clearTimeout(timer);
    },
  };

  // A URL that the constructor does not take is told like any other failure: after the owner has got its connection.
  function openSocket(): SocketLike | undefined {
    try {
      return new deps.WebSocket(deps.url);
    } catch (cause) {
      socketClosed = true;
      queueMicrotask(() => breakOff(unreachable('the address cannot be used', { cause })));
      return undefined;
    }
  }

  async function ask(nonce: string | undefined): Promise<void> {
    phase = 'asked';
    try {
      const params = await deps.params(nonce);
      const request: RequestFrame = { type: 'req', id: CONNECT_ID, method: 'connect', params };
      if (phase === 'asked') socket?.send(JSON.stringify(request));
    } catch (cause) {
      breakOff(cause instanceof Error ? cause : unreachable('the device did not sign', { cause }));
    }
  }

  function receive(incoming: Incoming): void {
    if (phase === 'over') return;
    heardAt = clock.now();
    switch (incoming.kind) {
      case 'event':
        owner.event(incoming.frame);
        challenged(incoming.frame);
        break;
      case 'response':
        if (phase === 'asked' && incoming.frame.id === CONNECT_ID) answered(incoming.frame);
        else owner.response(incoming.frame);
        break;
      case 'unknown':
        owner.unknown(incoming.frame);
        break;
      case 'invalid':
        owner.invalid(incoming.invalid, incoming.id);
        if (phase === 'asked' && incoming.id === CONNECT_ID) breakOff(new ProtocolError(incoming.invalid.reason, incoming.invalid.frame));
        break;
    }
  }

  function challenged(frame: EventFrame): void {
    if (frame.event !== 'connect.challenge' || !deps.signs || phase !== 'opening') return;
    if (matches(reading(events['connect.challenge'].payload), frame.payload)) void ask(frame.payload.nonce);
    else breakOff(new ProtocolError('The challenge does not fit its schema', frame));
  }

  function answered(frame: ResponseFrame): void {
    const answer = readHello(frame);
    if (answer.kind !== 'hello') {
      end(answer);
      return;
    }
    phase = 'live';
    clock.clearTimeout(handshakeTimer);
    tickIntervalMs = answer.hello.policy.tickIntervalMs;
    if (tickIntervalMs > 0) watch(2 * tickIntervalMs);
    owner.hello(answer.hello);
  }

  // Re-armed when it fires, not with every frame: frames are many, and silence is rare.
  function watch(delayMs: number): void {
    watchdog = clock.setTimeout(() => {
      const allowedMs = 2 * tickIntervalMs;
      const silentMs = clock.now() - heardAt;
      if (silentMs >= allowedMs) {
        breakOff(broken(`silent for ${silentMs} ms`));
        return;
      }
      // A clock that was set back must not stretch the wait.
      if (silentMs < 0) heardAt = clock.now();
      watch(Math.min(allowedMs - silentMs, allowedMs));
    }, delayMs);
  }

  function breakOff(error: Error): void {
    end({ kind: 'broken', error });
  }

  function end(how: ConnectionEnd): void {
    if (phase === 'over') return;
    detach(how.kind === 'refused' ? closeCodes.normal : closeCodes.restart, '');
    owner.ended(how);
  }

  // The owner goes on at once: the close event of a peer that is gone may take minutes.
  function detach(code: number, reason: string): void {
    if (phase === 'over') return;
    phase = 'over';
    clock.clearTimeout(handshakeTimer);
    clock.clearTimeout(watchdog);
    if (!socket) return;
    socket.onopen = null;
    socket.onmessage = null;
    // Not null: `ws` throws the error of a socket that is closed while it opens when nobody listens.
    socket.onerror = () => {};
    socket.onclose = closed;
    socket.close(code, reason);
  }

  function closed(): void {
    socketClosed = true;
    onSocketClosed();
  }

  function broken(what: string, more: { closeCode?: number; cause?: unknown } = {}): ConnectionError {
    if (phase !== 'live') return unreachable(what, more);
    return new ConnectionError('LOST', `The connection to ${deps.url} broke: ${what}`, more);
  }

  function unreachable(what: string, more: { closeCode?: number; cause?: unknown } = {}): ConnectionError {
    return new ConnectionError('UNREACHABLE', `Cannot connect to ${deps.url}: ${what}`, more);
  }
}

function readHello(frame: ResponseFrame): ConnectionEnd | { readonly kind: 'hello'; readonly hello: HelloOk } {
  const { ok, payload, error } = frame;
  const nonsense = (reason: string): ConnectionEnd => ({ kind: 'broken', error: new ProtocolError(reason, frame) });
  if (!ok) return error ? { kind: 'refused', error: gatewayError(error) } : nonsense('connect was refused without an error');
  if (!matches(reading(HelloOk), payload)) return nonsense(explain(reading(HelloOk), payload, 'hello') ?? 'hello does not fit its schema');
  if (payload.protocol !== PROTOCOL_VERSION) return nonsense(`the gateway chose protocol ${payload.protocol}, which was not offered`);
  return { kind: 'hello', hello: payload };
}

/** The error of a response as the exception that callers catch. */
export function gatewayError({ code, message, details, retryAfterMs }: NonNullable<ResponseFrame['error']>): GatewayError {
  return new GatewayError(code, message, {
    ...(details === undefined ? {} : { details }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}
