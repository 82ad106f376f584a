// The calls that wait for an answer. They outlive the socket: what was under way when it broke is sent again on the next
// one, in the same order and under the same idempotency key, so that the gateway does it once and answers as before.
// A call ends exactly once: by its answer, its timeout, its signal, or the end of the client.
import {
  explain,
  GatewayError,
  isMethodName,
  type KeyedMethod,
  limits,
  matches,
  reading,
  methodRow,
  type Params,
  parseJson,
  type RequestFrame,
  type ResponseFrame,
} from '@tenon/protocol';
import type { Clock } from './clock.ts';
import { gatewayError } from './connection.ts';
import { CallTimeout, ConnectionError, ProtocolError, TooManyCalls } from './errors.ts';
import type { Invalid } from './incoming.ts';

export interface CallOptions {
  /** Instead of the client's `requestTimeoutMs`. `Infinity`: none. */
  readonly timeoutMs?: number;
  /** Ends the waiting, not the work: what was sent may still be done. */
  readonly signal?: AbortSignal;
}

export interface Calls {
  /** A method that is not in the tables is a plugin's: nobody knows what a repeat would do, so it is sent once. */
  add(method: string, params: unknown, options: CallOptions): Promise<unknown>;
  /** A connection is ready: send what waits. */
  attach(send: (text: string) => void, maxPayload: number): void;
  /** The connection is gone: everything waits again. */
  detach(): void;
  /** What is wrong with the answer, if anything is; then the call was rejected with it. */
  answer(frame: ResponseFrame): Invalid | undefined;
  /** The answer to this request was unusable. */
  fail(id: string, error: Error): void;
  /** No answer will come any more. */
  end(error: Error): void;
}

interface Call {
  readonly id: string;
  readonly method: string;
  readonly text: string;
  readonly bytes: number;
  readonly settle: (error: Error | undefined, result?: unknown) => void;
}

/** One connection's share: what the gateway counts as in flight, abandoned calls included, because it still works on them. */
interface Link {
  readonly send: (text: string) => void;
  readonly maxPayload: number;
  readonly inFlight: Map<string, number>;
  bytes: number;
}

const utf8 = new TextEncoder();

const MAX_PENDING = 1_000;
const MAX_PENDING_BYTES = 64 * 1024 * 1024;

export function createCalls(clock: Clock, defaultTimeoutMs: number): Calls {
  const pending = new Map<string, Call>();
  /** Those of `pending` that are not sent on this connection yet, oldest first. */
  let waiting = new Set<Call>();
  let pendingBytes = 0;
  let link: Link | undefined;
  let lastId = 0;

  function add(method: string, params: unknown, { timeoutMs = defaultTimeoutMs, signal }: CallOptions): Promise<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    if (signal?.aborted) {
      reject(signal.reason);
      return promise;
    }
    const id = String(++lastId);
    const text = requestText(id, method, params);
    // The gateway could not say whose request it is that it cannot read, and the call would wait for nothing.
    const parsed = parseJson(text);
    if (!parsed.ok) {
      reject(new GatewayError('PARSE', `Cannot call "${method}": ${parsed.fault.reason}`));
      return promise;
    }
    const bytes = utf8.encode(text).byteLength;
    if (pending.size >= MAX_PENDING || pendingBytes + bytes > MAX_PENDING_BYTES) {
      reject(new TooManyCalls(`Cannot call "${method}": ${pending.size} calls wait for an answer already`));
      return promise;
    }

    const onAbort = () => call.settle(signal?.reason);
    const timer = timeoutMs === Infinity ? undefined : clock.setTimeout(() => call.settle(new CallTimeout(method, timeoutMs)), timeoutMs);
    const call: Call = {
      id,
      method,
      text,
      bytes,
      settle(error, result) {
        if (!pending.delete(id)) return;
        waiting.delete(call);
        pendingBytes -= bytes;
        clock.clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
        if (error === undefined) resolve(result);
        else reject(error);
      },
    };
    signal?.addEventListener('abort', onAbort);
    pending.set(id, call);
    pendingBytes += bytes;
    waiting.add(call);
    flush();
    return promise;
  }

  function flush(): void {
    if (!link) return;
    for (const call of waiting) {
      // The gateway would close the socket on this one, and on every further one where it is sent again.
      if (call.bytes > link.maxPayload) {
        call.settle(new GatewayError('TOO_LARGE', `Cannot call "${call.method}": ${call.bytes} bytes, ${link.maxPayload} are allowed`));
        continue;
      }
      const full = link.inFlight.size >= limits.maxInFlight.value || link.bytes + call.bytes > limits.maxInFlightBytes.value;
      if (full && link.inFlight.size > 0) return;
      waiting.delete(call);
      link.inFlight.set(call.id, call.bytes);
      link.bytes += call.bytes;
      link.send(call.text);
    }
  }

  /** Whether the request was in flight on this connection. */
  function landed(id: string): boolean {
    const bytes = link?.inFlight.get(id);
    if (!link || bytes === undefined) return false;
    link.inFlight.delete(id);
    link.bytes -= bytes;
    return true;
  }

  return {
    add,
    attach(send, maxPayload) {
      link = { send, maxPayload, inFlight: new Map(), bytes: 0 };
      flush();
    },
    detach() {
      const sent = [...pending.values()].filter(({ id, method }) => link?.inFlight.has(id) && !isMethodName(method));
      link = undefined;
      for (const { method, settle } of sent)
        settle(new ConnectionError('LOST', `The connection broke before "${method}" was answered; it may have been done`));
      waiting = new Set(pending.values());
    },
    answer(frame) {
      if (!landed(frame.id)) return { reason: `an answer to "${frame.id}", which was not asked`, frame };
      const call = pending.get(frame.id);
      const wrong = call && settleWith(call, frame);
      flush();
      return wrong;
    },
    fail(id, error) {
      if (!landed(id)) return;
      pending.get(id)?.settle(error);
      flush();
    },
    end(error) {
      for (const call of [...pending.values()]) call.settle(error);
    },
  };
}

function settleWith(call: Call, frame: ResponseFrame): Invalid | undefined {
  if (!frame.ok && frame.error) {
    call.settle(gatewayError(frame.error));
    return undefined;
  }
  // What a plugin answers has no row: it is the JSON that it is.
  const result = isMethodName(call.method) ? methodRow(call.method).result : undefined;
  if (frame.ok && (!result || matches(reading(result), frame.payload))) {
    call.settle(undefined, frame.payload);
    return undefined;
  }
  const reason =
    frame.ok && result ? explain(reading(result), frame.payload, `${call.method} result`) : `${call.method} was refused without an error`;
  const error = new ProtocolError(reason ?? `${call.method} result does not fit its schema`, frame);
  call.settle(error);
  return { reason: error.message, frame };
}

function requestText(id: string, method: string, params: unknown): string {
  const keyed = isMethodName(method) && methodRow(method).repeat === 'keyed';
  const given = params as Partial<Params<KeyedMethod>>;
  const sent: unknown = keyed ? { ...given, idempotencyKey: given.idempotencyKey ?? randomKey() } : params;
  return JSON.stringify({ type: 'req', id, method, params: sent } satisfies Omit<RequestFrame, 'params'> & { params: unknown });
}

// Not `randomUUID`: browsers have it on https and localhost only.
function randomKey(): string {
  const bytes = globalThis.crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
