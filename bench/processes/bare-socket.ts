// The limit of everything that crosses a socket: `ws` with nothing behind it.
// `/echo` sends back what it gets; `/answer/<bytes>` answers with that many; what comes in at `/say` goes to everybody
// at `/listen` and back to the sender.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { type RawData, type WebSocket, WebSocketServer } from 'ws';
import { serveJobs } from '../child.ts';

const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false });
const listeners = new Set<WebSocket>();
const TEXT = { binary: false };

server.on('connection', (socket, request) => {
  const [, path, bytes] = (request.url ?? '').split('/');
  socket.on('error', () => {});
  if (path === 'listen') {
    listeners.add(socket);
    socket.on('close', () => listeners.delete(socket));
  }
  const answer = 'x'.repeat(Number(bytes ?? 0));
  const react: Record<string, (data: RawData) => void> = {
    echo: (data) => socket.send(data, TEXT),
    answer: () => socket.send(answer),
    say: (data) => {
      for (const listener of listeners) listener.send(data, TEXT);
      socket.send(data, TEXT);
    },
  };
  socket.on('message', react[path ?? ''] ?? (() => {}));
});

export const jobs = {
  async url(_: object): Promise<string> {
    if (!server.address()) await once(server, 'listening');
    return `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
  },
};

serveJobs(jobs);
