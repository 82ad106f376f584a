// A real WebSocket server whose side of the conversation a test speaks line by line. It shares no code with the gateway
// or the client but the tables, so that the two ends are held to the same text and not to each other.
import { type ConnectParams, type ErrorShape, type EventFrame, type HelloOk, PROTOCOL_VERSION, type RequestFrame } from '@tenon/protocol';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { type WebSocket, WebSocketServer } from 'ws';

export const EPOCH = 'epoch-one';

export interface Peer {
  /** Of the challenge that was sent when the socket opened. */
  readonly nonce: string;
  next(): Promise<RequestFrame & { params: Record<string, unknown> }>;
  /** Reads `connect` and answers hello-ok; gives back what the client said. */
  welcome(hello?: Partial<HelloOk>): Promise<ConnectParams>;
  /** Reads `connect`, says no, and closes as a gateway does. */
  turnAway(error: ErrorShape): Promise<ConnectParams>;
  send(frame: object | string): void;
  event(event: string, payload: unknown, more?: Partial<EventFrame>): void;
  answer(request: RequestFrame, payload: unknown): void;
  refuse(request: RequestFrame, error: ErrorShape): void;
  close(code: number, reason?: string): void;
  /** Without a close frame, as when a process is killed. */
  kill(): void;
  readonly closed: Promise<{ code: number; reason: string }>;
}

export interface ScriptedGateway {
  readonly url: string;
  /** The next client that connects. */
  next(): Promise<Peer>;
  /** Stop listening, so that the next attempt finds nobody. */
  stop(): Promise<void>;
}

export async function openScriptedGateway(t: TestContext): Promise<ScriptedGateway> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  await once(server, 'listening');
  const peers = createQueue<Peer>();
  let count = 0;
  server.on('connection', (socket) => peers.push(createPeer(socket, `nonce-${++count}`)));
  const stop = async () => {
    for (const socket of server.clients) socket.terminate();
    await new Promise((resolve) => server.close(resolve));
  };
  t.after(stop);
  return { url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`, next: () => peers.shift(), stop };
}

export function hello(more: Partial<HelloOk> = {}): HelloOk {
  return {
    type: 'hello-ok',
    protocol: PROTOCOL_VERSION,
    server: { version: '0.1.0', connId: 'c1' },
    features: { methods: [], events: [], capabilities: ['resume'] },
    snapshot: { presence: [], health: { ok: true }, stateVersion: { presence: 0, health: 0 }, uptimeMs: 1 },
    policy: { maxPayload: 1_048_576, maxBufferedBytes: 1_048_576, tickIntervalMs: 30_000 },
    events: { epoch: EPOCH, seq: 10 },
    ...more,
  };
}

function createPeer(socket: WebSocket, nonce: string): Peer {
  const requests = createQueue<RequestFrame & { params: Record<string, unknown> }>();
  socket.on('message', (data) => requests.push(JSON.parse(String(data))));
  socket.on('error', () => {});
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.on('close', (code, reason) => resolve({ code, reason: String(reason) }));
  });
  const send = (frame: object | string) => socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame));
  const event: Peer['event'] = (name, payload, more = {}) => send({ type: 'event', event: name, payload, ...more });
  event('connect.challenge', { nonce, ts: 1 });

  const readConnect = async () => {
    const request = await requests.shift();
    if (request.method !== 'connect') throw new Error(`The first frame was "${request.method}"`);
    return request;
  };
  return {
    nonce,
    next: () => requests.shift(),
    async welcome(more) {
      const { id, params } = await readConnect();
      send({ type: 'res', id, ok: true, payload: hello(more) });
      return params as ConnectParams;
    },
    async turnAway(error) {
      const { id, params } = await readConnect();
      send({ type: 'res', id, ok: false, error });
      socket.close(1008, error.code);
      return params as ConnectParams;
    },
    send,
    event,
    answer: ({ id }, payload) => send({ type: 'res', id, ok: true, payload }),
    refuse: ({ id }, error) => send({ type: 'res', id, ok: false, error }),
    close: (code, reason) => socket.close(code, reason),
    kill: () => socket.terminate(),
    closed,
  };
}

interface Queue<Item> {
  push(item: Item): void;
  shift(): Promise<Item>;
}

export function createQueue<Item>(): Queue<Item> {
  const items: Item[] = [];
  const takers: ((item: Item) => void)[] = [];
  return {
    push(item) {
      const taker = takers.shift();
      if (taker) taker(item);
      else items.push(item);
    },
    shift: () => (items.length > 0 ? Promise.resolve(items.shift() as Item) : new Promise((resolve) => takers.push(resolve))),
  };
}
