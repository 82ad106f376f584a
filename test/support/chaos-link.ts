// One connection of the chaos rig. Unlike the raw client it keeps nothing, so that it can see millions of frames, and it
// never rejects: a request that was sent has an answer, a refusal, or nobody knows how it ended.
import { WebSocket } from 'ws';
import { connectParams, type Frame } from './raw-client.ts';

export type Outcome =
  // biome-ignore lint/suspicious/noExplicitAny: the answers of every method
  | { readonly kind: 'answered'; readonly payload: any }
  | { readonly kind: 'refused'; readonly error: NonNullable<Frame['error']> }
  | { readonly kind: 'unknown' };

export interface Link {
  readonly socket: WebSocket;
  readonly hello: Frame['payload'];
  readonly closed: Promise<{ code: number; reason: string }>;
  readonly isOpen: boolean;
  request(method: string, params: unknown): Promise<Outcome>;
  /** Ends it without a word. */
  cut(): Promise<void>;
}

export interface Door {
  readonly socketUrl: string;
  readonly token: string;
}

export interface LinkOptions {
  readonly connect?: Record<string, unknown>;
  /** Each address has its own limits at the door: who connects in a crowd takes one of its own. */
  readonly from?: string;
  readonly onEvent?: (frame: Frame) => void;
}

/** Rejects when the gateway is not there, goes away meanwhile, or refuses. */
export async function openLink(door: Door, { connect = {}, from = '127.0.0.1', onEvent = () => {} }: LinkOptions = {}): Promise<Link> {
  const socket = new WebSocket(door.socketUrl, { perMessageDeflate: false, localAddress: from, skipUTF8Validation: true });
  const waiting = new Map<string, (outcome: Outcome) => void>();
  let lastId = 0;

  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.once('close', (code, reason) => {
      for (const settle of waiting.values()) settle({ kind: 'unknown' });
      waiting.clear();
      resolve({ code, reason: reason.toString() });
    });
  });
  socket.on('error', () => {});
  socket.on('message', (data) => {
    const frame = JSON.parse(String(data)) as Frame;
    if (frame.type === 'event') return onEvent(frame);
    const settle = waiting.get(frame.id ?? '');
    waiting.delete(frame.id ?? '');
    settle?.(frame.ok ? { kind: 'answered', payload: frame.payload } : { kind: 'refused', error: frame.error! });
  });

  function request(method: string, params: unknown): Promise<Outcome> {
    if (socket.readyState !== WebSocket.OPEN) return Promise.resolve({ kind: 'unknown' });
    const id = `r${++lastId}`;
    const outcome = new Promise<Outcome>((resolve) => waiting.set(id, resolve));
    socket.send(JSON.stringify({ type: 'req', id, method, params }), () => {});
    return outcome;
  }

  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
  });
  const hello = await request('connect', connectParams(door.token, connect));
  if (hello.kind !== 'answered') {
    socket.terminate();
    throw new Error(`connect: ${JSON.stringify(hello)}`);
  }
  return {
    socket,
    hello: hello.payload,
    closed,
    get isOpen() {
      return socket.readyState === WebSocket.OPEN;
    },
    request,
    async cut() {
      socket.terminate();
      await closed;
    },
  };
}
