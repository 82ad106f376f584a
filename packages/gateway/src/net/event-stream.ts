// A streamed answer: server-sent events. It opens with the first thing that is said, so that a request that fails before
// that still gets a plain answer with its own status. A client that does not read is cut off, not buffered for.
import type { ServerResponse } from 'node:http';
import { limits } from '@tenon/protocol';
import type { Clock, Timer } from '../kernel/clock.ts';
import { securityHeaders } from './headers.ts';

export interface EventStream {
  /** Whether something was sent: from then on the status is 200, whatever happens. */
  readonly opened: boolean;
  event(data: string): void;
  /** Seen by people who look, skipped by clients. */
  comment(text: string): void;
  end(): void;
}

/** What may wait for a client that is slow right now. Beyond it, it is cut off at once. */
const MAX_WAITING_BYTES = 4 * limits.maxBufferedBytes.value;

export function createEventStream(
  response: ServerResponse,
  deps: { readonly clock: Clock; readonly headers?: Readonly<Record<string, string>>; readonly onSlow: () => void },
): EventStream {
  const { clock } = deps;
  let opened = false;
  let ended = false;
  let patience: Timer | undefined;

  function open(): void {
    if (opened) return;
    opened = true;
    response.writeHead(200, { ...securityHeaders(), ...deps.headers, 'content-type': 'text/event-stream; charset=utf-8' });
    response.on('drain', () => {
      patience?.cancel();
      patience = undefined;
    });
  }

  function write(text: string): void {
    if (ended || response.destroyed) return;
    open();
    response.write(text);
    if (response.writableLength > MAX_WAITING_BYTES) return cutOff();
    if (response.writableLength > limits.maxBufferedBytes.value) patience ??= clock.after(limits.slowConsumerGraceMs.value, cutOff);
  }

  function cutOff(): void {
    if (ended) return;
    stop();
    deps.onSlow();
    response.destroy();
  }

  function stop(): void {
    ended = true;
    heartbeat.cancel();
    patience?.cancel();
  }

  // Also tells proxies and clients that wait for headers that somebody is there.
  const heartbeat = clock.every(limits.streamHeartbeatMs.value, () => {
    if (!response.writableNeedDrain) write(': still here\n\n');
  });
  response.once('close', stop);

  return {
    get opened() {
      return opened;
    },
    event: (data) => write(`data: ${data}\n\n`),
    comment: (text) => write(`: ${text.replace(/[\r\n]+/g, ' ')}\n\n`),
    end() {
      stop();
      if (opened) response.end();
    },
  };
}
