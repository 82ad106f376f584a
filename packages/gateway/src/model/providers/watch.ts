// Watches over one request to a model: whether anything still arrives, how much, and for how long. A stream that is
// silent, endless or stopped by somebody is cut here, whatever the provider's code does meanwhile.
import type { Clock, Timer } from '../../kernel/clock.ts';
import { StreamFault } from '../failure.ts';

export const watchBounds = {
  /** Of one answer on the wire. Around each word a provider sends a few hundred bytes of its own. */
  wireBytes: 128 * 1024 * 1024,
  /** On the wire without anything that means something to us: a line that never ends is kept whole until it does. */
  idleBytes: 16 * 1024 * 1024,
  /** Of an answer that says why it was refused. */
  refusalBytes: 1024 * 1024,
  /** From the request to the end of the answer. */
  totalMs: 3_600_000,
} as const;

export interface Watch {
  /** For the provider: aborted when the request is to be given up. */
  readonly signal: AbortSignal;
  /** Why it was given up. */
  readonly fault: StreamFault | undefined;
  /** Resolves when it is given up. */
  readonly givenUp: Promise<void>;
  /** Bytes came in. */
  bytes(count: number, refused: boolean): void;
  /** Something that means something was read. */
  progress(): void;
  /** Time counts only while we wait for the model, not while somebody reads what it said. */
  waiting(yes: boolean): void;
  /** Called when it is given up, or at once if it has been. */
  onGiveUp(call: () => void): void;
  /** No longer watches. What is left of the answer may still be read. */
  end(): void;
  /** Lets go of the connection. */
  hangUp(): void;
}

export function openWatch(clock: Clock, idleTimeoutMs: number, stop: AbortSignal): Watch {
  const controller = new AbortController();
  const { promise: givenUp, resolve } = Promise.withResolvers<void>();
  const startedAt = clock.monotonic();
  let heardAt = startedAt;
  let waiting = true;
  let wireBytes = 0;
  let idleBytes = 0;
  let fault: StreamFault | undefined;
  let cut: (() => void) | undefined;
  let ended = false;
  let timer: Timer | undefined;

  function giveUp(reason: StreamFault): void {
    if (ended || fault) return;
    fault = reason;
    timer?.cancel();
    controller.abort();
    cut?.();
    resolve();
  }

  // One timer that looks again, instead of one per piece: pieces come by the thousand.
  function arm(delayMs: number): void {
    timer = clock.after(Math.max(1, delayMs), look);
  }

  function look(): void {
    const now = clock.monotonic();
    if (now - startedAt >= watchBounds.totalMs)
      return giveUp(new StreamFault('timeout', `still answering after ${watchBounds.totalMs} ms`));
    if (!waiting) return arm(idleTimeoutMs);
    const quietMs = now - heardAt;
    if (quietMs >= idleTimeoutMs) return giveUp(new StreamFault('timeout', `nothing was sent for ${idleTimeoutMs} ms`));
    arm(Math.min(idleTimeoutMs - quietMs, startedAt + watchBounds.totalMs - now));
  }

  function end(): void {
    ended = true;
    timer?.cancel();
    stop.removeEventListener('abort', onStop);
  }

  const onStop = () => giveUp(new StreamFault('aborted', 'stopped'));
  stop.addEventListener('abort', onStop, { once: true });
  if (stop.aborted) onStop();
  else arm(Math.min(idleTimeoutMs, watchBounds.totalMs));

  return {
    signal: controller.signal,
    givenUp,
    get fault() {
      return fault;
    },
    bytes(count, refused) {
      heardAt = clock.monotonic();
      wireBytes += count;
      idleBytes += count;
      // An answer that has ended has nothing more to say.
      if (ended && idleBytes > watchBounds.refusalBytes) controller.abort();
      if (refused && wireBytes > watchBounds.refusalBytes) giveUp(new StreamFault('bad_output', 'the refusal of the server is too long'));
      if (wireBytes > watchBounds.wireBytes) giveUp(new StreamFault('bad_output', `more than ${watchBounds.wireBytes} bytes were sent`));
      if (idleBytes > watchBounds.idleBytes) giveUp(new StreamFault('bad_output', `${idleBytes} bytes were sent that say nothing`));
    },
    progress() {
      idleBytes = 0;
    },
    waiting(yes) {
      if (yes && !waiting) heardAt = clock.monotonic();
      waiting = yes;
    },
    onGiveUp(call) {
      cut = call;
      if (fault) call();
    },
    end,
    hangUp() {
      end();
      controller.abort();
    },
  };
}

/** The watch of a request is found by its signal, the one thing that provider packages hand through to `fetch`. */
export type Watches = WeakMap<AbortSignal, Watch>;

/** `fetch` for a provider package: counts what comes in, and follows no redirect, which would carry the key elsewhere. */
export function watchedFetch(inner: typeof fetch, watches: Watches): typeof fetch {
  return async (input, init) => {
    const watch = init?.signal ? watches.get(init.signal) : undefined;
    const response = await inner(input, { ...init, redirect: 'manual' });
    if (response.status < 200 || (response.status >= 300 && response.status < 400)) {
      await response.body?.cancel();
      throw new StreamFault('unreachable', `the server redirects elsewhere (HTTP ${response.status}); put the final address into baseUrl`);
    }
    if (!watch || !response.body) return response;
    watch.bytes(0, !response.ok);
    return new Response(
      counted(response.body, (count) => watch.bytes(count, !response.ok)),
      response,
    );
  };
}

function counted(body: ReadableStream<Uint8Array>, count: (bytes: number) => void): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await reader.read();
        if (done) return controller.close();
        count(value.byteLength);
        controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
