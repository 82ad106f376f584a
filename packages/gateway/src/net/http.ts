// The HTTP side of the port: a few fixed pages, matched by their exact path. A path that needs decoding is no path of ours.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { errors, GatewayError, limits } from '@tenon/protocol';
import type { Clock } from '../kernel/clock.ts';
import type { Metrics } from '../kernel/metrics.ts';
import { bucketOf } from './address.ts';
import type { Authenticator } from './auth.ts';
import type { Gate } from './gate.ts';
import { createNonce, securityHeaders } from './headers.ts';
import type { HealthBoard } from '../rpc/health.ts';
import type { Incidents } from '../rpc/incidents.ts';
import { statusPage } from './status-page.ts';

export interface HttpDeps {
  readonly gate: Gate;
  readonly auth: Authenticator;
  readonly incidents: Incidents;
  readonly health: HealthBoard;
  readonly ready: () => { ok: boolean; reason?: string };
  readonly metrics: Metrics;
  /** Off loopback, what tells something about the inside needs a token. */
  readonly metricsNeedToken: boolean;
  readonly version: string;
  readonly warnings: readonly string[];
}

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
  readonly nonce?: string;
  readonly headers?: Record<string, string>;
}

type Route = (request: IncomingMessage, deps: HttpDeps) => Answer | Promise<Answer>;

const routes: Readonly<Record<string, Route>> = {
  '/': (_, { version, health, warnings }) => {
    const nonce = createNonce();
    return {
      status: 200,
      type: 'text/html; charset=utf-8',
      nonce,
      body: statusPage({ version, health: health.snapshot(), warnings, nonce }),
    };
  },
  // Alive: the process answers. Ready: it can also write.
  '/healthz': () => json(200, { ok: true }),
  '/readyz': (_, { ready }) => {
    const state = ready();
    return json(state.ok ? 200 : 503, state);
  },
  '/metrics': async (request, { auth, metrics, metricsNeedToken }) => {
    if (metricsNeedToken) {
      const principal = await auth.bearer(request.headers.authorization, bucketOf(request.socket.remoteAddress));
      if (!principal.held.has('operator.read')) throw new GatewayError('SCOPE', 'This needs the scope operator.read');
      if (principal.sessionKey !== undefined) throw new GatewayError('SCOPE', 'This credential is bound to one session');
    }
    return { status: 200, type: 'text/plain; version=0.0.4; charset=utf-8', body: metrics.render() };
  },
};

export function createHttpHandler(deps: HttpDeps): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    answer(request, deps).then(
      (result) => send(request, response, result),
      (error: unknown) => send(request, response, fromError(error)),
    );
  };
}

async function answer(request: IncomingMessage, deps: HttpDeps): Promise<Answer> {
  const refusal = deps.gate.refusal(request);
  if (refusal) {
    deps.incidents.record(`http.${refusal.kind}`, bucketOf(request.socket.remoteAddress), { value: refusal.value });
    return {
      ...fromError(new GatewayError('FORBIDDEN_ORIGIN', `Refused because of the ${refusal.kind} of this request`)),
      status: refusal.status,
    };
  }
  if (request.headers['content-length'] !== undefined || request.headers['transfer-encoding'] !== undefined) {
    if (request.headers['content-length'] !== '0') {
      deps.incidents.record('http.body', bucketOf(request.socket.remoteAddress));
      return { ...fromError(new GatewayError('TOO_LARGE', 'No page here takes a body')), headers: { connection: 'close' } };
    }
  }
  const path = (request.url ?? '').split('?', 1)[0] ?? '';
  const route = Object.hasOwn(routes, path) ? routes[path] : undefined;
  if (!route) return fromError(new GatewayError('NOT_FOUND', 'There is no such page'));
  if (request.method !== 'GET' && request.method !== 'HEAD')
    return { ...json(405, { code: 'INVALID_REQUEST', message: 'Only GET' }), headers: { allow: 'GET, HEAD' } };
  return route(request, deps);
}

function fromError(error: unknown): Answer {
  if (!(error instanceof GatewayError)) return json(errors.INTERNAL.status, { code: 'INTERNAL', message: 'A fault of the gateway' });
  const retry = error.retryAfterMs === undefined ? {} : { 'retry-after': String(Math.ceil(error.retryAfterMs / 1000)) };
  return { ...json(errors[error.code].status, error.toShape()), headers: retry };
}

function json(status: number, value: unknown): Answer {
  return { status, type: 'application/json; charset=utf-8', body: `${JSON.stringify(value)}\n` };
}

function send(request: IncomingMessage, response: ServerResponse, { status, type, body, nonce, headers }: Answer): void {
  // What is left of a body is not read: the connection ends with the answer.
  if (status >= 400) response.setHeader('connection', 'close');
  response.writeHead(status, {
    ...securityHeaders(nonce),
    ...headers,
    'content-type': type,
    'content-length': Buffer.byteLength(body),
  });
  response.end(request.method === 'HEAD' ? undefined : body);
}

/** Node's own answers (bad syntax, headers too large, too slow), with our headers. */
export function createClientErrorHandler({ incidents, clock }: { incidents: Incidents; clock: Clock }) {
  return (error: Error & { code?: string }, socket: Duplex): void => {
    if (socket.destroyed || !socket.writable) return;
    const [kind, status] = clientErrors[error.code ?? ''] ?? ['malformed', '400 Bad Request'];
    const { remoteAddress, bytesRead } = socket as Socket;
    // Browsers open sockets ahead of need and then say nothing: no reason to note that.
    if (bytesRead > 0) incidents.record(`http.${kind}`, bucketOf(remoteAddress), { code: error.code ?? 'unknown' });
    endSocket(socket, clock, status);
  };
}

const clientErrors: Readonly<Record<string, readonly [kind: string, status: string]>> = {
  HPE_HEADER_OVERFLOW: ['headers', '431 Request Header Fields Too Large'],
  ERR_HTTP_REQUEST_TIMEOUT: ['timeout', '408 Request Timeout'],
};

/** An answer on a bare socket, where no response object exists. */
export function endSocket(socket: Duplex, clock: Clock, status: string, headers: Record<string, string> = {}): void {
  const lines = Object.entries({ ...securityHeaders(), ...headers, connection: 'close', 'content-length': '0' }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  // A peer may keep its half open for ever: what still comes is dropped, and soon so is the socket.
  socket.end(`HTTP/1.1 ${status}\r\n${lines.join('\r\n')}\r\n\r\n`).resume();
  const cut = clock.after(limits.closeGraceMs.value, () => socket.destroy());
  socket.once('close', () => cut.cancel());
}

export const httpServerOptions = {
  maxHeaderSize: limits.httpHeaderBytes.value,
  headersTimeout: limits.handshakeTimeoutMs.value,
  requestTimeout: limits.handshakeTimeoutMs.value,
  keepAliveTimeout: 5_000,
  connectionsCheckingInterval: 1_000,
  requireHostHeader: false,
} as const;
