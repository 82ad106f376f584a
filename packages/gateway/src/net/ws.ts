// A WebSocket from its first byte to its last: limits before parsing, `connect` before anything else, then frames to
// dispatch and answers back. What a peer sends is bounded at every step.
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import {
  capabilities,
  ConnectParams,
  eventNames,
  eventRow,
  explain,
  GatewayError,
  type HelloOk,
  limits,
  matches,
  methodNames,
  PROTOCOL_VERSION,
  type RequestFrame,
  roles,
  visible,
} from '@tenon/protocol';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Clock } from '../kernel/clock.ts';
import { randomId } from '../kernel/ids.ts';
import type { Log } from '../kernel/log.ts';
import type { Metrics } from '../kernel/metrics.ts';
import type { Connection, Connections } from '../rpc/connections.ts';
import type { Dispatch } from '../rpc/dispatch.ts';
import type { EventHub } from '../rpc/events.ts';
import type { HealthBoard } from '../rpc/health.ts';
import type { Incidents } from '../rpc/incidents.ts';
import { pluginFeatures } from '../rpc/plugin-rpc.ts';
import type { Principal } from '../rpc/principal.ts';
import type { RoutePlugins } from './route.ts';
import { bucketOf } from './address.ts';
import type { Authenticator, Challenge } from './auth.ts';
import { parseFrame } from './frame.ts';
import { createLobby, type Guest } from './lobby.ts';
import type { Peer, Peers } from './peer.ts';
import { createRequestIntake, type RequestIntake, type Shared } from './requests.ts';
import { createSenders, ignore, type Send } from './sender.ts';
import { endSocket } from './http.ts';

export interface SocketDeps {
  readonly peers: Peers;
  readonly auth: Authenticator;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly incidents: Incidents;
  readonly dispatch: Dispatch;
  readonly events: EventHub;
  readonly connections: Connections;
  readonly health: HealthBoard;
  /** For what they add to the features. */
  readonly plugins: () => Pick<RoutePlugins, 'registry' | 'holds'>;
  readonly version: string;
  readonly bootId: string;
}

export interface SocketServer {
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Why no further socket is taken now; undefined when one may come. */
  full(): string | undefined;
  /** No new connections and no new requests; resolves when what is under way has been answered. */
  drain(): Promise<void>;
  close(): void;
}

export function createSocketServer(deps: SocketDeps): SocketServer {
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: limits.maxPayload.value,
    perMessageDeflate: false,
    clientTracking: false,
    skipUTF8Validation: false,
    autoPong: false,
  });
  server.on('wsClientError', (error, socket, request) => {
    deps.incidents.record('ws.malformed', bucketOf(request.socket.remoteAddress), { reason: error.message });
    endSocket(socket, deps.clock, '400 Bad Request', { 'sec-websocket-version': '13' });
  });
  const waiting = createLobby({
    clock: deps.clock,
    places: () => limits.preAuthSockets.value,
    placesPerAccount: limits.preAuthSocketsPerAccount.value,
  });
  const lifes = new Set<Life>();
  const probing = deps.clock.every(limits.pingIntervalMs.value, () => {
    for (const life of lifes) life.probe();
  });
  let draining = false;
  let underWay = 0;
  let drained: (() => void) | undefined;

  const senders = createSenders();
  const shared: Shared<SocketDeps> = {
    deps,
    isDraining: () => draining,
    began() {
      underWay++;
    },
    ended() {
      underWay--;
      if (underWay === 0) drained?.();
    },
  };

  return {
    full() {
      if (draining) return 'stopping';
      return deps.connections.size >= limits.maxConnections.value ? 'connections' : undefined;
    },
    upgrade(request, socket, head) {
      const peer = deps.peers.of(request.socket, request.headers);
      const guest = waiting.enter(peer, () => {
        deps.incidents.record('ws.full', peer.address, { limit: 'pre-auth sockets', account: peer.account });
        socket.destroy();
      });
      socket.once('close', guest.leave);
      server.handleUpgrade(request, socket, head, (webSocket) => {
        const life = beginLife(webSocket, socket, peer, guest, shared, senders.create(webSocket, socket));
        lifes.add(life);
        webSocket.once('close', () => lifes.delete(life));
      });
    },
    async drain() {
      draining = true;
      if (underWay > 0) await new Promise<void>((resolve) => (drained = resolve));
    },
    close() {
      probing.cancel();
      for (const life of lifes) life.end(1012, 'service restart');
      server.close();
    },
  };
}

interface Life {
  end(code: number, reason: string): void;
  /** Asks whether the peer is still there; cuts it off when it has not shown itself since the last time. */
  probe(): void;
}

function beginLife(webSocket: WebSocket, socket: Duplex, peer: Peer, guest: Guest, shared: Shared<SocketDeps>, send: Send): Life {
  const { deps } = shared;
  const { clock } = deps;
  const { address } = peer;
  const challenge: Challenge = { nonce: randomId(24), ts: clock.now() };
  let connection: Connection | undefined;
  let requests: RequestIntake | undefined;
  /** What was read together with `connect`; undefined until that has come. */
  let early: Buffer[] | undefined;
  let preAuthBytes = 0;
  /** Whether anything has come from the peer since it was last asked. */
  let heard = true;

  const deadline = clock.after(limits.handshakeTimeoutMs.value, () => refuse('handshake.timeout', 1008, 'connect took too long'));

  function end(code: number, reason: string, graceMs: number = limits.closeGraceMs.value): void {
    deadline.cancel();
    guest.state = 'answered';
    if (webSocket.readyState === webSocket.OPEN) webSocket.close(code, reason);
    // Who does not answer our close frame in time is cut off.
    clock.after(graceMs, () => webSocket.terminate());
  }

  function refuse(kind: string, code: number, reason: string): void {
    deps.incidents.record(kind, address);
    end(code, reason);
  }

  // Before authentication a peer gets far less room than a frame may have later.
  function countBytes(chunk: Buffer): void {
    preAuthBytes += chunk.length;
    if (preAuthBytes > limits.preAuthFrameBytes.value + 64) {
      socket.off('data', countBytes);
      refuse('handshake.too-large', 1009, 'too large before connect');
    }
  }
  socket.on('data', countBytes);

  webSocket.on('pong', () => {
    heard = true;
  });
  webSocket.on('message', (data: Buffer, isBinary: boolean) => {
    heard = true;
    if (isBinary) return refuse('frame.binary', 1003, 'text frames only');
    if (webSocket.readyState !== webSocket.OPEN) return;
    if (requests) requests.take(data);
    else if (early) early.push(data);
    else shakeHands(data);
  });
  // Who does not read gets no pongs either: they would pile up.
  webSocket.on('ping', (data: Buffer) => {
    heard = true;
    if (webSocket.bufferedAmount <= limits.maxBufferedBytes.value) webSocket.pong(data, false, ignore);
  });
  webSocket.on('error', (error: Error & { code?: string }) => {
    // The library has sent the close frame that fits: 1009 for size, 1007 for bad UTF-8, 1002 for bad framing.
    deps.incidents.record('frame.invalid', address, { code: error.code ?? 'unknown' });
  });
  webSocket.once('close', () => {
    deadline.cancel();
    guest.leave();
    if (!connection) return;
    connection.subscription?.leave();
    deps.connections.remove(connection);
  });

  /** The first frame. Nothing else is read until it has been answered; what was read along with it waits. */
  function shakeHands(data: Buffer): void {
    early = [];
    socket.off('data', countBytes);
    if (data.length > limits.preAuthFrameBytes.value) return refuse('handshake.too-large', 1009, 'too large before connect');
    const frame = parseFrame(data);
    if ('error' in frame || frame.method !== 'connect') {
      const error = 'error' in frame ? frame.error : new GatewayError('INVALID_REQUEST', 'The first frame must be connect');
      send(JSON.stringify({ type: 'res', id: frame.id, ok: false, error: error.toShape() }));
      return refuse('handshake.not-connect', 1008, 'the first frame must be connect');
    }
    webSocket.pause();
    guest.state = 'heard';
    admit(frame).then(
      () => {
        webSocket.resume();
        for (const data of early ?? []) requests?.take(data);
        early = [];
      },
      (error: unknown) => {
        const refusal =
          error instanceof GatewayError
            ? error
            : new GatewayError('INTERNAL', 'The gateway could not do this because of a fault of its own');
        if (refusal.code === 'INTERNAL') deps.log.error({ error }, 'a handshake failed');
        if (MALFORMED.has(refusal.code)) deps.incidents.record('handshake.malformed', address, { code: refusal.code });
        deps.metrics.count('tenon_handshakes_refused_total', { code: refusal.code });
        send(JSON.stringify({ type: 'res', id: frame.id, ok: false, error: refusal.toShape() }));
        webSocket.resume();
        end(1008, refusal.code.toLowerCase());
      },
    );
  }

  async function admit(frame: RequestFrame): Promise<void> {
    const params = checkConnect(frame.params);
    const { revocations } = deps.connections;
    const principal = await deps.auth.connect(params, challenge, peer);
    if (deps.connections.revokedSince(revocations, principal.id)) {
      throw new GatewayError('UNAUTHORIZED', 'The credential was revoked', { details: { code: 'AUTH_REVOKED' } });
    }
    if (webSocket.readyState !== webSocket.OPEN) return;
    deadline.cancel();
    guest.leave();
    const resumes = params.caps?.includes('resume') ?? false;
    const mine: Connection = {
      id: randomId(),
      principal,
      client: params.client,
      connectedAt: clock.now(),
      address,
      subscription: undefined,
      revoked: false,
      close: end,
    };
    connection = mine;
    requests = createRequestIntake(mine, send, webSocket, socket, shared);
    deps.connections.add(mine);
    const hello = createHello(mine, principal, resumes, deps);
    send(JSON.stringify({ type: 'res', id: frame.id, ok: true, payload: hello }));
    mine.subscription = deps.events.join(
      { principal, resumes, caps: params.caps, send, bufferedBytes: () => webSocket.bufferedAmount, close: end },
      { names: params.events, resume: params.resume },
    );
    deps.metrics.count('tenon_handshakes_total');
  }

  send(JSON.stringify({ type: 'event', event: 'connect.challenge', payload: challenge }));
  return {
    end,
    probe() {
      // While nothing is read from it, its silence says nothing.
      if (webSocket.readyState !== webSocket.OPEN || webSocket.isPaused) return;
      if (!heard) {
        deps.metrics.count('tenon_dead_peers_total');
        webSocket.terminate();
        return;
      }
      heard = false;
      webSocket.ping(undefined, false, ignore);
    },
  };
}

/** What `connect` is refused for before any credential is looked at. */
const MALFORMED: ReadonlySet<string> = new Set(['INVALID_REQUEST', 'PROTOCOL_MISMATCH']);

function checkConnect(params: unknown): ConnectParams {
  if (!matches(ConnectParams, params)) {
    throw new GatewayError('INVALID_REQUEST', explain(ConnectParams, params, 'params') ?? 'params do not fit', {
      details: { code: 'INVALID_PARAMS' },
    });
  }
  if (params.minProtocol > PROTOCOL_VERSION || params.maxProtocol < PROTOCOL_VERSION) {
    throw new GatewayError(
      'PROTOCOL_MISMATCH',
      `This gateway speaks protocol ${PROTOCOL_VERSION}, the client ${params.minProtocol} to ${params.maxProtocol}`,
      {
        details: { code: 'PROTOCOL_MISMATCH', supported: PROTOCOL_VERSION },
      },
    );
  }
  const { role = 'operator' } = params;
  if (!(roles as readonly string[]).includes(role)) {
    const shown = visible(role);
    throw new GatewayError('INVALID_REQUEST', `This gateway has no role "${shown}"; connect as ${roles.join(' or ')}, or leave it out`, {
      details: { code: 'UNKNOWN_ROLE', role: shown, roles: [...roles] },
    });
  }
  return params;
}

/** The events that clients can subscribe to; those of the handshake come by themselves. */
const features = {
  methods: ['connect', ...methodNames],
  events: eventNames.filter((name) => eventRow(name).scope !== 'handshake'),
  capabilities: Object.keys(capabilities),
};

function createHello(connection: Connection, principal: Principal, resumes: boolean, deps: SocketDeps): HelloOk {
  const { connections, health, events } = deps;
  const snapshot = health.snapshot();
  const ofPlugins = pluginFeatures(deps.plugins(), principal);
  const seesPresence = principal.held.has('operator.read') && principal.sessionKey === undefined;
  return {
    type: 'hello-ok',
    protocol: PROTOCOL_VERSION,
    server: { version: deps.version, connId: connection.id, bootId: deps.bootId },
    features: {
      ...features,
      methods: [...features.methods, ...ofPlugins.methods],
      events: [...features.events, ...ofPlugins.events],
    },
    snapshot: {
      presence: seesPresence ? connections.presence() : [],
      health: snapshot,
      stateVersion: { presence: connections.version, health: health.version },
      uptimeMs: snapshot.uptimeMs ?? 0,
    },
    policy: {
      maxPayload: limits.maxPayload.value,
      maxBufferedBytes: limits.maxBufferedBytes.value,
      tickIntervalMs: limits.tickIntervalMs.value,
      maxInFlight: limits.maxInFlight.value,
      maxInFlightBytes: limits.maxInFlightBytes.value,
    },
    auth: {
      method: principal.method,
      principal: principal.id,
      scopes: [...principal.scopes],
      ...(principal.sessionKey === undefined ? {} : { sessionKey: principal.sessionKey }),
    },
    ...(resumes ? { events: { epoch: events.epoch, seq: events.head } } : {}),
  };
}
