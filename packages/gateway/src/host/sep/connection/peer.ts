// One side of JSON-RPC over lines: the gateway's, towards one extension process. It never throws whatever a line says, and
// everything it keeps is bounded: lines, requests both ways, bytes both ways. Who does not read is not written to, who
// says too much is not read. The ids of both sides overlap, so a message with a method is never taken for a reply.
import type { Readable, Writable } from 'node:stream';
import { parseJson } from '@tenon/protocol';
import { errors, limits as wireLimits, texts } from '@tenon/protocol/sep/wire';
import type { Clock } from '../../../kernel/clock.ts';
import { createDeadlines } from '../../deadlines.ts';
import { shortText } from '../../error-text.ts';
import { HeldDeadline } from '../../held-deadline.ts';
import { type Lines, readLines } from './lines.ts';
import { createOutbox, type Outbox, type OutboxLimits, type Waiting } from './outbox.ts';
import { NotAnswered, readRpcError, RpcError } from './rpc-error.ts';
import { createThrottle, type Throttle, type ThrottleLimits } from './throttle.ts';

export type Params = Readonly<Record<string, unknown>>;

export interface PeerCall {
  readonly method: string;
  /** Aborts when the other side cancels the request or is gone. */
  readonly signal: AbortSignal;
}

/** Answers a request. What it throws is the error of the reply; nothing is the same as `{}`. */
export type PeerHandler = (params: Params, call: PeerCall) => unknown;

export interface PeerLimits {
  readonly lineBytes: number;
  readonly ownLineBytes: number;
  /** Requests of ours without a reply. */
  readonly inFlight: number;
  /** Requests of theirs without a reply, and their bytes: beyond them it is not read. */
  readonly asked: number;
  readonly askedBytes: number;
  readonly outbox: OutboxLimits;
  /** What it says of its own accord. */
  readonly throttle: ThrottleLimits;
  /** Its replies: they are as many as there are requests of ours, so only their bytes count. */
  readonly replies: ThrottleLimits;
}

const PATIENCE_MS = wireLimits.floodMs.value;

export const peerLimits: PeerLimits = {
  lineBytes: wireLimits.lineBytes.value,
  ownLineBytes: wireLimits.hostLineBytes.value,
  inFlight: wireLimits.toExtensionInFlight.value,
  asked: wireLimits.toHostInFlight.value,
  askedBytes: wireLimits.toHostBytes.value,
  outbox: {
    messages: wireLimits.outboundFrames.value,
    bytes: wireLimits.outboundBytes.value,
    events: wireLimits.observeQueue.value,
    eventBytes: wireLimits.outboundBytes.value,
  },
  throttle: {
    perSecond: wireLimits.notificationsPerSecond.value,
    burst: 5 * wireLimits.notificationsPerSecond.value,
    bytesPerSecond: wireLimits.saidBytesPerSecond.value,
    burstBytes: 4 * wireLimits.saidBytesPerSecond.value,
    patienceMs: PATIENCE_MS,
  },
  replies: {
    perSecond: Number.MAX_SAFE_INTEGER,
    burst: Number.MAX_SAFE_INTEGER,
    bytesPerSecond: wireLimits.replyBytesPerSecond.value,
    burstBytes: 2 * wireLimits.replyBytesPerSecond.value,
    patienceMs: PATIENCE_MS,
  },
};

const JSON_BOUNDS = { depth: wireLimits.jsonDepth.value, keys: wireLimits.jsonKeys.value };

/** What a line, or the lack of reading, was. Each is counted. */
export const peerFaults = [
  'malformed',
  'not-an-object',
  'batch',
  'invalid',
  'unknown-method',
  'unknown-reply',
  'late-reply',
  'duplicate-id',
  'too-long',
  'flood',
  'held-back',
  'not-read',
  'handler-failed',
] as const;
export type PeerFault = (typeof peerFaults)[number];

export interface PeerOptions {
  /** What the other side writes. */
  readonly input: Readable;
  /** What it reads. */
  readonly output: Writable;
  readonly clock: Clock;
  readonly limits?: Partial<PeerLimits>;
  /** Of this extension, over all its processes: ids are never used again. */
  readonly nextId: () => number;
  request(method: string): PeerHandler | undefined;
  notification(method: string): ((params: Params) => void) | undefined;
  /** Contract: does not throw. `detail` is short. */
  noticed?(fault: PeerFault, detail: string): void;
  /** Once. Nothing is read or written any more. */
  closed(reason: string): void;
}

export interface RequestOptions {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Called as soon as it is over, before the next line is read: what is said of it from then on comes too late. */
  readonly over?: (() => void) | undefined;
}

export interface Peer {
  /** Rejects with RpcError and with nothing else. */
  request(method: string, params: Params, options: RequestOptions): Promise<unknown>;
  /** False when it was not taken, because the other side does not read. */
  notify(method: string, params: Params): boolean;
  /** An event, which is shed when others wait that are newer. */
  event(params: Params): void;
  readonly counts: Readonly<Record<PeerFault, number>>;
  readonly inFlight: number;
  readonly isClosed: boolean;
  /** Whether it is this side that does not read: silence says nothing then. */
  readonly isHeldBack: boolean;
  readonly waitingBytes: number;
  readonly eventsShed: number;
  /** When the last message came, on the monotonic clock. Lines that are none say nothing of whoever writes them. */
  readonly heardAt: number;
  /** The time of the requests that this signal would end stands still until what it gives is called. */
  hold(signal: AbortSignal): () => void;
  /** Resolves when no request of ours is under way any more, or after this time. */
  drained(timeoutMs: number): Promise<void>;
  /** Requests under way fail with this reason. */
  close(reason: string): void;
}

interface Pending {
  readonly id: number;
  readonly method: string;
  readonly line: Waiting;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: RpcError) => void;
  readonly signal: AbortSignal | undefined;
  readonly over: (() => void) | undefined;
  abort: (() => void) | undefined;
  deadline: HeldDeadline | undefined;
}

interface Asked {
  readonly id: number | string;
  readonly method: string;
  readonly params: Params;
  readonly bytes: number;
  readonly controller: AbortController;
  isAnswered: boolean;
}

const EXCERPT = 120;
/** The parser that fails keeps its text until the next large collection, so such a line costs more memory than others. */
const MALFORMED_COST = 8;

export function createPeer(options: PeerOptions): Peer {
  const { clock, nextId } = options;
  const limits: PeerLimits = { ...peerLimits, ...options.limits };
  const counts = Object.fromEntries(peerFaults.map((fault) => [fault, 0])) as Record<PeerFault, number>;
  const deadlines = createDeadlines(clock);
  const throttle = createThrottle(limits.throttle, clock);
  const replies = createThrottle(limits.replies, clock);
  const pending = new Map<number, Pending>();
  const asked = new Map<number | string, Asked>();
  let askedBytes = 0;
  let lastId = 0;
  let eventSeq = 0;
  let lastContext: unknown;
  let heardAt = clock.monotonic();
  let isThrottled = false;
  let isClosed = false;
  let whenDrained: (() => void) | undefined;

  const outbox: Outbox = createOutbox(options.output, {
    limits: limits.outbox,
    lostEvents: (lost) => lineOf({ method: 'event', params: { event: 'events_lost', context: lastContext, payload: { lost } } }),
    onRoom: readOn,
    onBroken: () => close('the extension has closed its input'),
  });
  const lines: Lines = readLines(options.input, {
    maxBytes: limits.lineBytes,
    onLine,
    onTooLong() {
      notice('too-long', `a line has more than ${limits.lineBytes} bytes`);
      close(`it wrote a line of more than ${limits.lineBytes} bytes`);
    },
    onEnd: () => close('the extension has closed its output'),
  });

  function notice(fault: PeerFault, detail: string): void {
    counts[fault]++;
    options.noticed?.(fault, detail);
  }

  function onLine(text: string, bytes: number): void {
    const was = takeLine(text, bytes);
    const spentOf = was === 'reply' ? replies : throttle;
    const waitMs = spentOf.spend(1, was === 'malformed' ? MALFORMED_COST * bytes : bytes);
    if (waitMs > 0) holdBack(waitMs, spentOf);
    else if (isBehind()) lines.pause();
  }

  function holdBack(waitMs: number, { isFlooded }: Throttle): void {
    if (isThrottled || isClosed) return;
    if (isFlooded) {
      notice('flood', 'it says too much for too long');
      return close('it said too much for too long');
    }
    counts['held-back']++;
    isThrottled = true;
    lines.pause();
    clock.after(waitMs, () => {
      isThrottled = false;
      readOn();
    });
  }

  /** Whether what was read waits for us, or for the other side to read our answers. */
  function isBehind(): boolean {
    return asked.size >= limits.asked || askedBytes >= limits.askedBytes || outbox.hasTooManyAnswers;
  }

  function readOn(): void {
    if (!isThrottled && !isBehind() && !isClosed) lines.resume();
  }

  /** A reply is one to a request that waits. */
  function takeLine(text: string, bytes: number): 'reply' | 'malformed' | 'other' {
    const parsed = parseJson(text, JSON_BOUNDS);
    if (!parsed.ok) {
      if (text.trim() !== '') notice('malformed', `a line is not taken (${parsed.fault.reason}): ${shortText(text.slice(0, EXCERPT))}`);
      return 'malformed';
    }
    const message = parsed.value;
    if (typeof message !== 'object' || message === null) {
      notice('not-an-object', `a line is no object: ${shortText(text.slice(0, EXCERPT))}`);
      return 'other';
    }
    if (Array.isArray(message)) {
      notice('batch', `a line is a list of ${message.length}; each message has its own line`);
      return 'other';
    }
    const { id, method, params, result, error } = message;
    if (method === undefined) return takeReply(id, result, error, Object.hasOwn(message, 'result')) ? 'reply' : 'other';
    takeCall(id, method, params, bytes);
    return 'other';
  }

  function takeReply(id: unknown, result: unknown, error: unknown, hasResult: boolean): boolean {
    const request = typeof id === 'number' ? pending.get(id) : undefined;
    const isLate = !request && typeof id === 'number' && Number.isInteger(id) && id > 0 && id <= lastId;
    if (request || isLate) heardAt = clock.monotonic();
    if (!request) {
      notice(isLate ? 'late-reply' : 'unknown-reply', `nobody waits for a reply to ${shortText(JSON.stringify(id)?.slice(0, EXCERPT))}`);
      return false;
    }
    end(request);
    if (error !== undefined && error !== null) request.reject(readRpcError(error, errors.Internal.code));
    else if (hasResult) request.resolve(result ?? {});
    else request.reject(new RpcError(errors.Internal.code, `the reply to ${request.method} has neither result nor error`));
    return true;
  }

  function takeCall(id: unknown, method: unknown, params: unknown, bytes: number): void {
    const isNotification = id === undefined || id === null;
    if (!isNotification && !isId(id)) return notice('invalid', 'the id of a request is neither a whole number nor a text');
    if (typeof method !== 'string') {
      notice('invalid', 'the method is no text');
      return isNotification ? undefined : answer(id, { error: { code: errors.InvalidRequest.code, message: 'method must be a string' } });
    }
    if (params !== undefined && (typeof params !== 'object' || params === null || Array.isArray(params))) {
      notice('invalid', `the params of ${shortText(method)} are no object`);
      if (!isNotification) answer(id, { error: { code: errors.InvalidParams.code, message: 'params must be an object' } });
      return;
    }
    heardAt = clock.monotonic();
    const given = (params ?? {}) as Params;
    if (isNotification) return method === '$/cancel' ? cancelled(given.id) : notified(method, given);
    if (asked.has(id)) return notice('duplicate-id', `the id ${shortText(String(id))} is that of a request under way`);
    const request: Asked = { id, method, params: given, bytes, controller: new AbortController(), isAnswered: false };
    asked.set(id, request);
    askedBytes += bytes;
    handle(request);
  }

  function notified(method: string, params: Params): void {
    const handler = options.notification(method);
    if (!handler) return notice('unknown-method', `it said ${shortText(method)}`);
    try {
      handler(params);
    } catch (error) {
      notice('handler-failed', `${shortText(method)}: ${shortText(error)}`);
    }
  }

  /** The other side no longer waits: it is told so at once, and what comes of the work is dropped. */
  function cancelled(id: unknown): void {
    const request = isId(id) ? asked.get(id) : undefined;
    if (!request) return;
    request.controller.abort();
    settle(request, { error: { code: errors.Cancelled.code, message: texts.cancelled } });
  }

  function handle(request: Asked): void {
    const handler = options.request(request.method);
    if (!handler) {
      notice('unknown-method', `it asked for ${shortText(request.method)}`);
      return settle(request, {
        error: { code: errors.MethodNotFound.code, message: texts.methodNotFound(request.method.slice(0, EXCERPT)) },
      });
    }
    const done = (reply: Reply) => settle(request, reply);
    const failed = (error: unknown) => done({ error: errorOf(request.method, error) });
    try {
      const result = handler(request.params, { method: request.method, signal: request.controller.signal });
      if (result instanceof Promise) result.then((value: unknown) => done({ result: value ?? {} }), failed);
      else done({ result: result ?? {} });
    } catch (error) {
      failed(error);
    }
  }

  /** What is not an error of the wire is a fault of ours: the other side is not told what it says. */
  function errorOf(method: string, error: unknown): ReplyError {
    if (error instanceof RpcError) {
      const { code, message, data } = error;
      return data === undefined ? { code, message } : { code, message, data };
    }
    notice('handler-failed', `${shortText(method)}: ${shortText(error)}`);
    return { code: errors.Internal.code, message: 'the host failed; its log says how' };
  }

  function settle(request: Asked, reply: Reply): void {
    if (request.isAnswered) return;
    request.isAnswered = true;
    asked.delete(request.id);
    askedBytes -= request.bytes;
    answer(request.id, reply);
    readOn();
  }

  function answer(id: number | string, reply: Reply): void {
    if (isClosed) return;
    const line = textOf({ id, ...reply });
    if (line !== undefined && !isTooLong(line)) return outbox.answer(line);
    const message = line === undefined ? 'the result is no JSON' : `the result has more than ${limits.ownLineBytes} bytes`;
    notice('handler-failed', message);
    outbox.answer(lineOf({ id, error: { code: errors.Internal.code, message } }));
  }

  function isTooLong(text: string): boolean {
    return 3 * text.length > limits.ownLineBytes && Buffer.byteLength(text) - 1 > limits.ownLineBytes;
  }

  function request(method: string, params: Params, { timeoutMs, signal, over }: RequestOptions): Promise<unknown> {
    const refused = (message: string, code: number = errors.Internal.code) => Promise.reject(new RpcError(code, message));
    if (isClosed) return unanswered('closed', texts.closed);
    if (signal?.aborted) return unanswered('cancelled', texts.cancelled);
    if (pending.size >= limits.inFlight) {
      notice('not-read', `${method} was not sent: ${limits.inFlight} requests wait for an answer`);
      return unanswered('busy', `the extension has ${limits.inFlight} requests to answer already`);
    }
    if (!outbox.hasRoom) {
      notice('not-read', `${method} was not sent: the extension does not read`);
      return unanswered('busy', 'the extension does not read what it is sent');
    }
    const id = nextId();
    lastId = id;
    const text = requestLine(id, method, params);
    if (text === undefined) return refused(`${method} was not sent: its params are no JSON`, errors.InvalidParams.code);
    if (isTooLong(text)) return refused(`${method} was not sent: it has more than ${limits.ownLineBytes} bytes`, errors.InvalidParams.code);
    const line = outbox.put(text)!;
    return new Promise((resolve, reject) => {
      const entry: Pending = { id, method, line, resolve, reject, signal, over, abort: undefined, deadline: undefined };
      const expire = () => giveUp(entry, new NotAnswered('late', `no answer to ${method} within ${timeoutMs} ms`));
      entry.deadline = new HeldDeadline(timeoutMs, expire, deadlines, clock);
      if (signal) {
        entry.abort = () => giveUp(entry, new NotAnswered('cancelled', texts.cancelled));
        signal.addEventListener('abort', entry.abort, { once: true });
      }
      pending.set(id, entry);
    });
  }

  function giveUp(entry: Pending, error: RpcError): void {
    if (!end(entry)) return;
    // What was not written yet is taken back, so that who never reads does not fill our memory.
    if (!outbox.takeBack(entry.line)) outbox.put(lineOf({ method: '$/cancel', params: { id: entry.id } }));
    entry.reject(error);
  }

  /** False when it has ended before. Whoever ends it says how, at once. */
  function end({ id, deadline, signal, abort, over }: Pending): boolean {
    if (!pending.delete(id)) return false;
    deadline?.end();
    if (abort) signal?.removeEventListener('abort', abort);
    over?.();
    if (pending.size === 0) whenDrained?.();
    return true;
  }

  function close(reason: string): void {
    if (isClosed) return;
    isClosed = true;
    lines.close();
    outbox.close();
    for (const each of [...pending.values()]) if (end(each)) each.reject(new NotAnswered('closed', texts.closed));
    for (const each of [...asked.values()]) {
      each.isAnswered = true;
      each.controller.abort();
    }
    asked.clear();
    askedBytes = 0;
    options.closed(reason);
  }

  return {
    request,
    notify(method, params) {
      if (isClosed) return false;
      const text = textOf({ method, params });
      const isTaken = text !== undefined && !isTooLong(text) && outbox.put(text) !== undefined;
      if (!isTaken) notice('not-read', `${method} was not sent`);
      return isTaken;
    },
    event(params) {
      if (isClosed) return;
      // A number that is missing tells of a loss, whatever the reason.
      const text = textOf({ method: 'event', params: { ...params, seq: eventSeq++ } });
      if (text === undefined || isTooLong(text)) return notice('not-read', `an event has more than ${limits.ownLineBytes} bytes`);
      lastContext = params.context;
      outbox.offer(text);
    },
    counts,
    hold(signal) {
      const releases = [...pending.values()].flatMap((each) => (each.signal === signal && each.deadline ? [each.deadline.hold()] : []));
      return () => {
        for (const release of releases) release();
      };
    },
    drained(timeoutMs) {
      if (pending.size === 0) return Promise.resolve();
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = clock.after(timeoutMs, resolve);
      whenDrained = resolve;
      return promise.then(() => timer.cancel());
    },
    get inFlight() {
      return pending.size;
    },
    get isClosed() {
      return isClosed;
    },
    get isHeldBack() {
      return lines.isPaused;
    },
    get waitingBytes() {
      return outbox.waitingBytes + askedBytes;
    },
    get eventsShed() {
      return outbox.shed;
    },
    get heardAt() {
      return heardAt;
    },
    close,
  };
}

type ReplyError = { readonly code: number; readonly message: string; readonly data?: unknown };
type Reply = { readonly result: unknown } | { readonly error: ReplyError };

/** The same as `textOf`, without an object in between: requests are what there is most of. */
function requestLine(id: number, method: string, params: Params): string | undefined {
  try {
    return `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${JSON.stringify(params)}}\n`;
  } catch {
    return undefined;
  }
}

function unanswered(why: NotAnswered['why'], message: string): Promise<never> {
  return Promise.reject(new NotAnswered(why, message));
}

function lineOf(message: object): string {
  return `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`;
}

function textOf(message: object): string | undefined {
  try {
    return lineOf(message);
  } catch {
    return undefined;
  }
}

function isId(id: unknown): id is number | string {
  return typeof id === 'string' ? id.length <= EXCERPT : Number.isInteger(id);
}
