// Requests of one authenticated connection: bounded in number and bytes, answered as they finish. A peer that only sends
// what is refused, or does not read the answers, is not read from until that has passed.
import type { Duplex } from 'node:stream';
import { GatewayError, limits } from '@tenon/protocol';
import type { WebSocket } from 'ws';
import type { Clock } from '../kernel/clock.ts';
import { createWindow } from '../kernel/window.ts';
import type { Connection } from '../rpc/connections.ts';
import type { Dispatch } from '../rpc/dispatch.ts';
import type { Incidents } from '../rpc/incidents.ts';
import { parseFrame } from './frame.ts';
import type { Send } from './sender.ts';

export interface IntakeDeps {
  readonly clock: Clock;
  readonly incidents: Incidents;
  readonly dispatch: Dispatch;
}

/** What all connections share: whether the gateway is stopping, and how many requests are under way. */
export interface Shared<Deps extends IntakeDeps = IntakeDeps> {
  readonly deps: Deps;
  isDraining(): boolean;
  began(): void;
  ended(): void;
}

export interface RequestIntake {
  take(data: Buffer): void;
}

export function createRequestIntake(
  connection: Connection,
  send: Send,
  webSocket: WebSocket,
  socket: Duplex,
  shared: Shared,
): RequestIntake {
  const { deps } = shared;
  const refusals = createWindow({
    limit: limits.refusedPerWindow.value,
    windowMs: limits.refusedWindowMs.value,
    clock: deps.clock,
    maxNames: 1,
  });
  const ids = new Set<string>();
  let bytes = 0;
  /** Frames that had been read when the connection was made to wait. */
  const held: Buffer[] = [];
  let waits = false;

  function refuse(id: string, error: GatewayError): void {
    send(JSON.stringify({ type: 'res', id, ok: false, error: error.toShape() }));
  }

  /** Nothing more is taken from who only sends what is refused, or does not read the answers. */
  function mustWait(): boolean {
    const waitMs = refusals.waitMs('');
    if (waitMs > 0) {
      deps.incidents.record('requests.throttled', connection.address);
      deps.clock.after(waitMs, goOn);
    } else if (webSocket.bufferedAmount > limits.maxBufferedBytes.value) waitForReader();
    else return false;
    waits = true;
    webSocket.pause();
    return true;
  }

  /** Who takes nothing at all of what was answered is closed as any slow client is. */
  function waitForReader(): void {
    const before = webSocket.bufferedAmount;
    const drained = () => {
      patience.cancel();
      goOn();
    };
    const patience = deps.clock.after(limits.slowConsumerGraceMs.value, () => {
      socket.off('drain', drained);
      if (webSocket.bufferedAmount < before) return waitForReader();
      deps.incidents.record('requests.unread', connection.address);
      connection.close(1008, 'slow consumer', limits.slowConsumerFlushMs.value);
    });
    socket.once('drain', drained);
  }

  function goOn(): void {
    waits = false;
    while (held.length > 0) {
      if (webSocket.readyState !== webSocket.OPEN || mustWait()) return;
      handle(held.shift() as Buffer);
    }
    webSocket.resume();
  }

  function handle(data: Buffer): void {
    const frame = parseFrame(data);
    if ('error' in frame) {
      refusals.hit('');
      return refuse(frame.id, frame.error);
    }
    if (ids.has(frame.id)) {
      refusals.hit('');
      return refuse(
        frame.id,
        new GatewayError('INVALID_REQUEST', `A request with the id "${frame.id}" is under way already`, {
          details: { code: 'DUPLICATE_ID' },
        }),
      );
    }
    if (shared.isDraining()) return refuse(frame.id, new GatewayError('UNAVAILABLE', 'The gateway is stopping', { retryAfterMs: 1000 }));
    if (ids.size >= limits.maxInFlight.value || bytes + data.length > limits.maxInFlightBytes.value) {
      return refuse(
        frame.id,
        new GatewayError('UNAVAILABLE', 'Too many requests of this connection are under way', {
          retryAfterMs: 50,
          details: { code: 'TOO_MANY_IN_FLIGHT' },
        }),
      );
    }
    const answered = deps.dispatch(frame, connection);
    if (!(answered instanceof Promise)) {
      if (answered.refused) refusals.hit('');
      return send(answered.text);
    }
    ids.add(frame.id);
    bytes += data.length;
    shared.began();
    void answered.then(({ text, refused }) => {
      ids.delete(frame.id);
      bytes -= data.length;
      if (refused) refusals.hit('');
      send(text);
      shared.ended();
    });
  }

  return {
    take(data) {
      if (waits || mustWait()) held.push(data);
      else handle(data);
    },
  };
}
