// One end of a JSON-RPC connection of lines. Both ends ask and answer, each with ids of its own, so a frame is classified by
// whether it has a method. No line that arrives and no handler that fails ends it: what cannot be read is dropped and said.
import { RpcError, messageOf, toRpcError } from './rpc-error.ts';
import type { Transport } from './transport.ts';
import { bounds, errorCode } from './wire.ts';

export type Params = Readonly<Record<string, unknown>>;
export type FrameId = number | string;

export interface IncomingCall {
  readonly id: FrameId;
  /** Aborted when the other side has cancelled, or the connection has ended. Made when it is asked for. */
  readonly signal: AbortSignal;
  readonly isCancelled: boolean;
}

export interface PeerHandlers {
  /** What it returns is the result, nothing is `{}`; what it throws is the error. */
  onRequest?(method: string, params: Params, call: IncomingCall): unknown;
  onNotification?(method: string, params: Params): void;
  /** Something was dropped or failed that has nobody else to tell. */
  onFault?(what: string): void;
  onClose?(): void;
}

export interface PeerLimits {
  /** Requests in each direction that are not answered yet. */
  readonly maxInFlight?: number;
  readonly maxLineBytes?: number;
}

export interface RequestOptions {
  readonly signal?: AbortSignal | undefined;
  /** Without it a request waits as long as the connection lasts. */
  readonly timeoutMs?: number | undefined;
}

interface Pending {
  resolve(result: unknown): void;
  reject(error: RpcError): void;
}

export class Peer {
  readonly #transport: Transport;
  readonly #handlers: PeerHandlers;
  readonly #maxInFlight: number;
  readonly #maxLineBytes: number;
  readonly #pending = new Map<FrameId, Pending>();
  /** Handlers that run, by the id that they answer; a cancelled one stays until it settles. */
  readonly #running = new Map<FrameId, Incoming>();
  #nextId = 1;
  #isClosed = false;

  constructor(transport: Transport, handlers: PeerHandlers = {}, limits: PeerLimits = {}) {
    this.#transport = transport;
    this.#handlers = handlers;
    this.#maxInFlight = limits.maxInFlight ?? bounds.inFlight;
    this.#maxLineBytes = limits.maxLineBytes ?? bounds.writeBytes;
  }

  /** Begins to read. */
  start(): this {
    this.#transport.start({
      onLine: (line) => this.#read(line),
      onFault: (what) => this.#fault(`dropped ${what}`),
      onClose: () => this.#end(),
    });
    return this;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  async request(method: string, params: Params = {}, { signal, timeoutMs }: RequestOptions = {}): Promise<unknown> {
    if (this.#isClosed) throw new RpcError(errorCode.Internal, `Cannot ask for ${method}: the connection has ended`);
    if (signal?.aborted) throw cancelled(method);
    if (this.#pending.size >= this.#maxInFlight) {
      throw new RpcError(errorCode.Internal, `Cannot ask for ${method}: ${this.#maxInFlight} requests are waiting already`);
    }
    const id = this.#nextId++;
    const line = this.#encode({ jsonrpc: '2.0', id, method, params });
    return new Promise((resolve, reject) => {
      const give = (error: RpcError) => {
        if (!this.#pending.has(id)) return;
        this.notify('$/cancel', { id });
        settle();
        reject(error);
      };
      const onAbort = () => give(cancelled(method));
      const timer = timeoutMs === undefined ? undefined : setTimeout(() => give(timedOut(method, timeoutMs)), timeoutMs);
      const settle = () => {
        this.#pending.delete(id);
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#pending.set(id, {
        resolve(result) {
          settle();
          resolve(result);
        },
        reject(error) {
          settle();
          reject(error);
        },
      });
      this.#transport.send(line);
    });
  }

  notify(method: string, params: Params = {}): void {
    if (this.#isClosed) return;
    this.#transport.send(this.#encode({ jsonrpc: '2.0', method, params }));
  }

  /** Everything that waits is refused; resolves when what was sent is out. */
  async close(): Promise<void> {
    const out = this.#transport.close();
    this.#end();
    await out;
  }

  #read(line: string): void {
    let frame: unknown;
    try {
      frame = JSON.parse(line);
    } catch {
      if (line.trim() === '') return;
      return this.#fault(`dropped a line that is not JSON: ${excerpt(line)}`);
    }
    if (!isObject(frame)) return this.#fault(`dropped a line that is not an object: ${excerpt(line)}`);
    if (typeof frame.method === 'string') return this.#readCall(frame.method, frame.id, frame.params, line);
    if (!isId(frame.id) || !('result' in frame || 'error' in frame))
      return this.#fault(`dropped a frame that is neither call nor answer: ${excerpt(line)}`);
    const pending = this.#pending.get(frame.id);
    // An answer to what was given up, or to nothing.
    if (!pending) return;
    if ('error' in frame && frame.error !== undefined) pending.reject(readError(frame.error));
    else pending.resolve(frame.result);
  }

  #readCall(method: string, id: unknown, given: unknown, line: string): void {
    const params = given ?? {};
    if (id === undefined || id === null) {
      if (!isObject(params)) return this.#fault(`dropped a ${method} whose params are not an object`);
      if (method === '$/cancel') return this.#cancel(params.id);
      return this.#guarded(method, () => this.#handlers.onNotification?.(method, params));
    }
    if (!isId(id)) return this.#fault(`dropped a request whose id is neither a whole number nor text: ${excerpt(line)}`);
    // An answer could not be told from the answer to the first one.
    if (this.#running.has(id)) return this.#fault(`dropped a second request with the id ${JSON.stringify(id)}`);
    if (!isObject(params)) return this.#refuse(id, new RpcError(errorCode.InvalidParams, `The params of ${method} are not an object`));
    if (this.#running.size >= this.#maxInFlight) {
      return this.#refuse(id, new RpcError(errorCode.Internal, `Cannot take ${method}: ${this.#maxInFlight} requests are running already`));
    }
    this.#run(method, id, params);
  }

  // Without a promise where the handler needs none: most calls of most extensions are answered at once.
  #run(method: string, id: FrameId, params: Params): void {
    const call = new Incoming(id);
    this.#running.set(id, call);
    const settle = (answer: () => void) => {
      this.#running.delete(id);
      if (!call.isCancelled) answer();
    };
    const fulfil = (result: unknown) => settle(() => this.#answer(id, { result: result ?? {} }));
    const refuse = (thrown: unknown) => settle(() => this.#refuse(id, toRpcError(thrown)));
    try {
      const result = this.#handlers.onRequest?.(method, params, call);
      if (isPromise(result)) result.then(fulfil, refuse);
      else fulfil(result);
    } catch (thrown) {
      refuse(thrown);
    }
  }

  // Answered at once: whether the handler takes notice of its signal is its own affair, and what it says later is dropped.
  #cancel(id: unknown): void {
    const call = isId(id) ? this.#running.get(id) : undefined;
    if (!call || call.isCancelled) return;
    this.#refuse(call.id, new RpcError(errorCode.Cancelled, 'The request was cancelled'));
    this.#guarded('$/cancel', () => call.cancel());
  }

  #refuse(id: FrameId, error: RpcError): void {
    this.#answer(id, { error: error.toJSON() });
  }

  #answer(id: FrameId, body: { result: unknown } | { error: unknown }): void {
    if (this.#isClosed) return;
    try {
      const [field, value] = 'result' in body ? ['result', body.result] : ['error', body.error];
      this.#transport.send(this.#checked(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"${field}":${JSON.stringify(value) ?? '{}'}}`));
    } catch (thrown) {
      const error = new RpcError(errorCode.Internal, `The answer cannot be sent: ${messageOf(thrown)}`);
      this.#transport.send(JSON.stringify({ jsonrpc: '2.0', id, error }));
    }
  }

  /** Throws where the frame is no JSON or too long: a frame that the other side would drop is not sent. */
  #encode(frame: object): string {
    return this.#checked(JSON.stringify(frame));
  }

  #checked(line: string): string {
    if (line.length * MOST_BYTES_PER_UNIT > this.#maxLineBytes && Buffer.byteLength(line) > this.#maxLineBytes) {
      throw new RpcError(errorCode.InvalidParams, `It is ${Buffer.byteLength(line)} bytes, at most ${this.#maxLineBytes} can be sent`);
    }
    return line;
  }

  #guarded(what: string, run: () => unknown): void {
    try {
      run();
    } catch (thrown) {
      this.#fault(`${what} failed: ${messageOf(thrown)}`);
    }
  }

  #fault(what: string): void {
    this.#handlers.onFault?.(what);
  }

  #end(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const { reject } of [...this.#pending.values()]) reject(new RpcError(errorCode.Internal, 'The connection has ended'));
    for (const call of this.#running.values()) this.#guarded('the end of a call', () => call.cancel());
    this.#guarded('onClose', () => this.#handlers.onClose?.());
  }
}

class Incoming implements IncomingCall {
  readonly id: FrameId;
  isCancelled = false;
  #controller: AbortController | undefined;

  constructor(id: FrameId) {
    this.id = id;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.isCancelled) this.#controller.abort();
    return this.#controller.signal;
  }

  cancel(): void {
    this.isCancelled = true;
    this.#controller?.abort();
  }
}

const MOST_BYTES_PER_UNIT = 3;
const EXCERPT = 120;

function excerpt(line: string): string {
  return line.length > EXCERPT ? `${line.slice(0, EXCERPT)}…` : line;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whoever made it. */
export function isPromise<Value>(value: Value | PromiseLike<Value>): value is PromiseLike<Value> {
  return isObject(value) && typeof value.then === 'function';
}

function isId(value: unknown): value is FrameId {
  return typeof value === 'string' || Number.isSafeInteger(value);
}

function readError(value: unknown): RpcError {
  if (!isObject(value)) return new RpcError(errorCode.Internal, 'The request was refused without a reason');
  const { code, message, data } = value;
  return new RpcError(
    Number.isSafeInteger(code) ? (code as number) : errorCode.Internal,
    typeof message === 'string' ? message : 'The request was refused without a message',
    data,
  );
}

function cancelled(method: string): RpcError {
  return new RpcError(errorCode.Cancelled, `${method} was cancelled`);
}

function timedOut(method: string, timeoutMs: number): RpcError {
  return new RpcError(errorCode.Cancelled, `${method} was not answered within ${timeoutMs} ms`);
}
