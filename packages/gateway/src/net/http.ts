// The HTTP side of the port: gate → row → credential → body → handler → one catch → answer. Paths are matched as they are: one
// that needs decoding is no path of ours.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { GatewayError, limits } from '@tenon/protocol';
import { PLUGIN_PATHS } from '../host/find-route.ts';
import type { Clock } from '../kernel/clock.ts';
import { randomId } from '../kernel/ids.ts';
import type { Incidents } from '../rpc/incidents.ts';
import { bucketOf } from './address.ts';
import { type Answer, fromError, HttpError, send } from './answer.ts';
import { authorize } from './authorize.ts';
import { type Bodies, createBodies, hasBody } from './body.ts';
import { securityHeaders } from './headers.ts';
import { createPluginRoutes } from './plugin-routes.ts';
import type { Call, HttpDeps, Route, Routes } from './route.ts';
import { createRoutes } from './routes.ts';
import { ATTACHMENT_PATHS, attachmentRoute } from './routes/attachments.ts';

export function createHttpHandler(deps: HttpDeps): (request: IncomingMessage, response: ServerResponse) => void {
  const routes = createRoutes();
  const bodies = createBodies(deps);
  const ofPlugin = createPluginRoutes(deps);
  deps.metrics.describe('tenon_http_requests_total', 'HTTP requests by route and status.');
  return (request, response) => {
    const path = (request.url ?? '').split('?', 1)[0] ?? '';
    answer(request, response, path, { deps, routes, ofPlugin, bodies })
      .catch((error: unknown) => refuse(error, path, deps))
      .then((result) => {
        const status = String(result?.status ?? response.statusCode);
        deps.metrics.count('tenon_http_requests_total', { route: routeLabel(path, routes), status });
        if (result && !response.headersSent && !response.destroyed) send(request, response, result, deps.clock);
      });
  };
}

/** From a closed set: whoever asks for made-up paths must not make up labels. */
function routeLabel(path: string, routes: Routes): string {
  if (Object.hasOwn(routes, path)) return path;
  return [PLUGIN_PATHS, ATTACHMENT_PATHS].find((paths) => path.startsWith(paths)) ?? 'other';
}

interface Parts {
  readonly deps: HttpDeps;
  readonly routes: Routes;
  readonly ofPlugin: (path: string) => Route | undefined;
  readonly bodies: Bodies;
}

async function answer(request: IncomingMessage, response: ServerResponse, path: string, parts: Parts): Promise<Answer | undefined> {
  const { deps, routes, ofPlugin, bodies } = parts;
  const peer = deps.peers.of(request.socket, request.headers);
  const { address } = peer;
  checkGate(request, address, deps);
  const route = Object.hasOwn(routes, path) ? routes[path] : (attachmentRoute(path) ?? ofPlugin(path));
  if (hasBody(request) && route?.body === undefined) {
    deps.incidents.record('http.body', address);
    throw new GatewayError('TOO_LARGE', 'No page here takes a body');
  }
  const found = route ?? (await pageRoute(request, path, deps));
  if (!found) throw new GatewayError('NOT_FOUND', 'There is no such page');
  checkMethod(request, found);
  if (found.method !== 'GET' && deps.isDraining())
    throw new GatewayError('UNAVAILABLE', 'The gateway is stopping', { retryAfterMs: 1000, details: { code: 'STOPPING' } });

  const leaving = new AbortController();
  response.once('close', () => leaving.abort());
  const { searchParams: query } = new URL(request.url ?? '', 'http://gateway');
  const call = { request, response, path, query, peer, address, gone: leaving.signal };
  // The credential before the body: a stranger's is not read.
  if (found.scope === 'none') await found.admit?.(peer);
  const principal = found.scope === 'none' ? undefined : await authorize(request, peer, found, deps);
  if (principal) deps.admitted(request, response);
  const timeoutMs = found.body?.timeoutMs ?? (principal ? limits.httpBodyTimeoutMs.value : limits.handshakeTimeoutMs.value);
  const held = found.body && (await readBody(call, found.body, timeoutMs, deps, bodies));
  try {
    const full: Call = { ...call, body: held?.bytes ?? Buffer.alloc(0) };
    if (found.scope === 'none') return await found.handle(full, deps);
    if (principal) return await found.handle({ ...full, principal }, deps);
    throw new Error('a guarded route without a principal');
  } finally {
    held?.release();
  }
}

function checkGate(request: IncomingMessage, address: string, deps: HttpDeps): void {
  const refusal = deps.gate.refusal(request);
  if (!refusal) return;
  deps.incidents.record(`http.${refusal.kind}`, address, { value: refusal.value });
  throw new HttpError(refusal.status, 'FORBIDDEN_ORIGIN', `Refused because of the ${refusal.kind} of this request`);
}

/** A file of the page is a route of its own. */
async function pageRoute({ headers }: IncomingMessage, path: string, { page }: HttpDeps): Promise<Route | undefined> {
  const file = await page.answer(path, headers['accept-encoding']);
  return file && { method: 'GET', scope: 'none', handle: () => file };
}

function checkMethod({ method }: IncomingMessage, route: Route): void {
  const taken = typeof route.method === 'string' ? [route.method] : route.method;
  if (taken.includes(method === 'HEAD' ? 'GET' : (method ?? ''))) return;
  const allow = taken.flatMap((each) => (each === 'GET' ? ['GET', 'HEAD'] : [each])).join(', ');
  throw new HttpError(405, 'INVALID_REQUEST', `Only ${taken.join(', ')}`, { headers: { allow } });
}

async function readBody(call: Omit<Call, 'body'>, row: NonNullable<Route['body']>, timeoutMs: number, deps: HttpDeps, bodies: Bodies) {
  try {
    return await bodies.read(call.request, call.response, row, timeoutMs);
  } catch (error) {
    deps.incidents.record('http.body', call.address, { code: error instanceof GatewayError ? error.code : 'INTERNAL' });
    throw error;
  }
}

/** The one catch. What is not a refusal is a fault of ours: the log gets all of it, the client a reference. */
function refuse(error: unknown, path: string, { log }: HttpDeps): Answer {
  if (error instanceof GatewayError) {
    if (error.code === 'STORAGE') log.error({ path, cause: error.cause }, error.message);
    return fromError(error, path);
  }
  const reference = randomId(6);
  log.error({ error, path, reference }, 'an HTTP request failed');
  return fromError(
    new GatewayError('INTERNAL', 'The gateway could not do this because of a fault of its own', { details: { reference } }),
    path,
  );
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
  // Bodies have deadlines of their own, shorter for strangers; this is what ends a connection that none of them reaches.
  requestTimeout: limits.httpBodyTimeoutMs.value + limits.handshakeTimeoutMs.value,
  keepAliveTimeout: 5_000,
  connectionsCheckingInterval: 1_000,
  requireHostHeader: false,
} as const;
