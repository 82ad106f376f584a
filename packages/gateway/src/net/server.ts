// One port for HTTP and WebSocket. Host and Origin are checked before an upgrade, and so are the budgets of those who
// have not said who they are.
import { createServer, type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { limits } from '@tenon/protocol';
import { createGate } from './gate.ts';
import { createClientErrorHandler, createHttpHandler, endSocket, httpServerOptions } from './http.ts';
import { createLobby, type Guest } from './lobby.ts';
import { createPeers } from './peer.ts';
import { createUidFinder, type FindUid } from './peer-uid.ts';
import type { HttpDeps } from './route.ts';
import { createSocketServer, type SocketDeps } from './ws.ts';

export interface NetOptions {
  readonly bind: string;
  readonly port: number;
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
  readonly trustedProxies: readonly string[];
  /** The user at the other end of a local connection; the system's list of sockets where it is left out. */
  readonly findUid?: FindUid;
}

export interface NetServer {
  readonly port: number;
  readonly url: string;
  drain(): Promise<void>;
  close(): Promise<void>;
}

/** Connections, and sockets of any kind beside them. */
const MAX_SOCKETS = limits.maxConnections.value + 512;
/** For those whose requests are being answered, and those on the way out: beyond them the system itself refuses. */
const SPARE_SOCKETS = 512;
/** How many sockets that say nothing go at once when there are too many. */
const CUT_AT_ONCE = 32;

export async function openNetServer(
  options: NetOptions,
  deps: Omit<SocketDeps, 'peers'> & Omit<HttpDeps, 'gate' | 'isDraining' | 'peers' | 'admitted'>,
): Promise<NetServer> {
  const peers = createPeers({ trustedProxies: options.trustedProxies, findUid: options.findUid ?? createUidFinder(deps.clock) });
  const server = createServer(httpServerOptions);
  // Node drops what is over its count in silence: one more, so that the gate can see it and refuse.
  server.maxHeadersCount = limits.httpHeaderCount.value + 1;
  server.maxConnections = MAX_SOCKETS + SPARE_SOCKETS;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host: options.bind, port: options.port, backlog: 511 }, resolve);
  });
  // Listened to from the start: with no connection left, draining already ends it.
  const closed = new Promise<void>((resolve) => server.once('close', resolve));
  const { port } = server.address() as AddressInfo;
  const gate = createGate({ ...options, port });
  const sockets = createSocketServer({ ...deps, peers });
  const strangers = createStrangers();
  let draining = false;
  const handleRequest = createHttpHandler({ ...deps, gate, peers, admitted: strangers.serve, isDraining: () => draining });
  // Node answers an `Expect` by itself, before the gate and without our headers, unless these are listened to.
  for (const event of ['request', 'checkContinue', 'checkExpectation']) server.on(event, handleRequest);
  server.on('clientError', createClientErrorHandler(deps));
  server.on('connection', strangers.come);
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => socket.destroy());
    const { address } = peers.of(request.socket, request.headers);
    const refusal = gate.refusal(request);
    if (refusal) {
      deps.incidents.record(`ws.${refusal.kind}`, address, { value: refusal.value });
      return endSocket(socket, deps.clock, `${refusal.status} ${STATUS_CODES[refusal.status]}`);
    }
    const full = sockets.full();
    if (full) {
      deps.incidents.record('ws.full', address, { limit: full });
      return endSocket(socket, deps.clock, '503 Service Unavailable', { 'retry-after': '5' });
    }
    if (request.url !== '/' && request.url !== '/ws') return endSocket(socket, deps.clock, '404 Not Found');
    strangers.leave(request.socket);
    sockets.upgrade(request, socket, head);
  });

  /** Sockets that nobody has shown a credential on. They time out by themselves; until then they take no place from others. */
  function createStrangers() {
    const lobby = createLobby({
      clock: deps.clock,
      places: () => MAX_SOCKETS - deps.connections.size,
      placesPerAccount: MAX_SOCKETS,
      atOnce: CUT_AT_ONCE,
    });
    const guests = new Map<Socket, Guest>();
    const leave = (socket: Socket): void => {
      guests.get(socket)?.leave();
      guests.delete(socket);
    };
    const enter = (socket: Socket): void => {
      const peer = peers.of(socket);
      const guest = lobby.enter(peer, () => {
        deps.incidents.record('http.full', peer.address, { account: peer.account });
        socket.destroy();
      });
      guests.set(socket, guest);
    };
    return {
      come(socket: Socket): void {
        enter(socket);
        socket.once('close', () => leave(socket));
      },
      leave,
      serve({ socket }: IncomingMessage, response: ServerResponse): void {
        leave(socket);
        response.once('close', () => {
          if (!socket.destroyed) enter(socket);
        });
      },
    };
  }

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
