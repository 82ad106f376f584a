// One port for HTTP and WebSocket. Host and Origin are checked before an upgrade, and so are the budgets of those who
// have not said who they are.
import { createServer, type IncomingMessage, STATUS_CODES } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { limits } from '@tenon/protocol';
import { bucketOf } from './address.ts';
import { createGate } from './gate.ts';
import { createClientErrorHandler, createHttpHandler, endSocket, httpServerOptions } from './http.ts';
import type { HttpDeps } from './route.ts';
import { createSocketServer, type SocketDeps } from './ws.ts';

export interface NetOptions {
  readonly bind: string;
  readonly port: number;
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
}

export interface NetServer {
  readonly port: number;
  readonly url: string;
  drain(): Promise<void>;
  close(): Promise<void>;
}

/** Sockets of any kind, before they have sent a whole request. */
const MAX_SOCKETS = limits.maxConnections.value + 512;

export async function openNetServer(options: NetOptions, deps: SocketDeps & Omit<HttpDeps, 'gate' | 'isDraining'>): Promise<NetServer> {
  const server = createServer(httpServerOptions);
  // Node drops what is over its count in silence: one more, so that the gate can see it and refuse.
  server.maxHeadersCount = limits.httpHeaderCount.value + 1;
  server.maxConnections = MAX_SOCKETS;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host: options.bind, port: options.port, backlog: 511 }, resolve);
  });
  // Listened to from the start: with no connection left, draining already ends it.
  const closed = new Promise<void>((resolve) => server.once('close', resolve));
  const { port } = server.address() as AddressInfo;
  const gate = createGate({ ...options, port });
  const sockets = createSocketServer(deps);
  let draining = false;
  const handleRequest = createHttpHandler({ ...deps, gate, isDraining: () => draining });
  // Node answers an `Expect` by itself, before the gate and without our headers, unless these are listened to.
  for (const event of ['request', 'checkContinue', 'checkExpectation']) server.on(event, handleRequest);
  server.on('clientError', createClientErrorHandler(deps));
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => socket.destroy());
    const address = bucketOf(request.socket.remoteAddress);
    const refusal = gate.refusal(request);
    if (refusal) {
      deps.incidents.record(`ws.${refusal.kind}`, address, { value: refusal.value });
      return endSocket(socket, deps.clock, `${refusal.status} ${STATUS_CODES[refusal.status]}`);
    }
    const full = sockets.full(address);
    if (full) {
      deps.incidents.record('ws.full', address, { limit: full });
      return endSocket(socket, deps.clock, '503 Service Unavailable', { 'retry-after': '5' });
    }
    if (request.url !== '/' && request.url !== '/ws') return endSocket(socket, deps.clock, '404 Not Found');
    sockets.upgrade(request, socket, head);
  });

  return {
    port,
    url: `http://${options.bind.includes(':') ? `[${options.bind}]` : options.bind}:${port}`,
    async drain() {
      draining = true;
      server.close();
      await sockets.drain();
    },
    async close() {
      sockets.close();
      server.close();
      server.closeIdleConnections();
      deps.clock.after(limits.closeGraceMs.value, () => server.closeAllConnections());
      await closed;
    },
  };
}
