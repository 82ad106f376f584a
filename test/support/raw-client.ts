// A client as small as a test needs it: sends any bytes, keeps everything that comes back. The typed client is
// `@tenon/client`; this one can also do what a well-made client never does.

import { type ClientOptions, WebSocket } from 'ws';

export interface Frame {
  readonly type: string;
  readonly id?: string;
  readonly ok?: boolean;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into payloads of every method and event
  readonly payload?: any;
  readonly error?: { code: string; message: string; details?: Record<string, unknown>; retryAfterMs?: number };
  readonly event?: string;
  readonly seq?: number;
  readonly prev?: number;
  readonly epoch?: string;
}

export interface RawClient extends AsyncDisposable {
  readonly socket: WebSocket;
  readonly frames: Frame[];
  readonly closed: Promise<{ code: number; reason: string }>;
  send(value: unknown): void;
  /** Sends a request and resolves with its response frame, also when it is a refusal. Rejects when the socket closes first. */
  request(method: string, params?: unknown, id?: string): Promise<Frame>;
  /** The first frame, past or future, that fits. Rejects when the socket closes first. */
  find(fits: (frame: Frame) => boolean): Promise<Frame>;
  close(): Promise<void>;
}

export const clientInfo = { id: 'test', version: '1', platform: 'node', mode: 'test' };

export function connectParams(token?: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  return { minProtocol: 3, maxProtocol: 3, client: clientInfo, ...(token === undefined ? {} : { auth: { token } }), ...more };
}

/** An open socket that has not said anything yet. Rejects with the HTTP status where the upgrade is refused. */
export async function openRaw(url: string, options: ClientOptions = {}): Promise<RawClient> {
  const socket = new WebSocket(url, { perMessageDeflate: false, ...options });
  const frames: Frame[] = [];
  const watchers = new Set<{ fits: (frame: Frame) => boolean; resolve: (frame: Frame) => void; reject: (error: Error) => void }>();
  let nextId = 0;
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.on('close', (code, reason) => {
      for (const watcher of watchers) watcher.reject(new Error(`closed with ${code} ${reason}`));
      resolve({ code, reason: reason.toString() });
    });
  });
  socket.on('error', () => {});
  socket.on('message', (data) => {
    const frame = JSON.parse(String(data)) as Frame;
    frames.push(frame);
    for (const watcher of watchers) {
      if (!watcher.fits(frame)) continue;
      watchers.delete(watcher);
      watcher.resolve(frame);
    }
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('unexpected-response', (_, response) => {
      response.resume();
      reject(
        Object.assign(new Error(`refused with HTTP ${response.statusCode}`), { status: response.statusCode, headers: response.headers }),
      );
    });
    socket.once('error', reject);
  });

  function find(fits: (frame: Frame) => boolean): Promise<Frame> {
    const known = frames.find(fits);
    if (known) return Promise.resolve(known);
    if (socket.readyState >= WebSocket.CLOSING && socket.readyState === WebSocket.CLOSED) return Promise.reject(new Error('closed'));
    return new Promise((resolve, reject) => watchers.add({ fits, resolve, reject }));
  }

  async function close(): Promise<void> {
    if (socket.readyState === WebSocket.CLOSED) return;
    socket.close();
    const timer = setTimeout(() => socket.terminate(), 2000);
    await closed;
    clearTimeout(timer);
  }

  return {
    socket,
    frames,
    closed,
    send: (value) => socket.send(typeof value === 'string' ? value : JSON.stringify(value)),
    async request(method, params, id = `q${++nextId}`) {
      const answer = find((frame) => frame.type === 'res' && frame.id === id);
      socket.send(JSON.stringify({ type: 'req', id, method, ...(params === undefined ? {} : { params }) }));
      return answer;
    },
    find,
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** A socket that has connected; throws if it was refused. */
export async function connectRaw(
  url: string,
  token?: string,
  more: Record<string, unknown> = {},
  options: ClientOptions = {},
): Promise<RawClient & { hello: Frame }> {
  const client = await openRaw(url, options);
  const hello = await client.request('connect', connectParams(token, more), 'connect');
  if (!hello.ok) throw Object.assign(new Error(`connect was refused: ${JSON.stringify(hello.error)}`), { error: hello.error });
  return Object.assign(client, { hello });
}
