// Web requests that plugins answer, under `/plugins/<id>/` and nowhere else, so no two plugins meet. The credential and the body
// are looked at as for every route; the plugin gets the request as a value and gives its answer as one. What it answers is
// sandboxed: it is of the origin of the page, and must not act as the page.
import { GatewayError, limits, type Scope } from '@tenon/protocol';
import type { HttpRouteRequest } from '@tenon/plugin-sdk';
import { placed } from '../host/call-plugin.ts';
import type { IncomingHttpHeaders } from 'node:http';
import type { RegisteredItem } from '../host/contribution-registry.ts';
import { findRoute, PLUGIN_PATHS } from '../host/find-route.ts';
import { createWindow } from '../kernel/window.ts';
import { digestOf } from '../rpc/token-mint.ts';
import type { Store } from '../store/store.ts';
import { type Answer, HttpError } from './answer.ts';
import type { BodyRow } from './body.ts';
import { createCrowd } from './crowd.ts';
import type { Peer } from './peer.ts';
import type { Call, HttpDeps, Route } from './route.ts';
import { readAnswer } from './plugin-answer.ts';

const DEFAULT_SCOPE: Scope = 'operator.write';

const body: BodyRow = { maxBytes: limits.pluginRouteBodyBytes.value, types: 'any', timeoutMs: limits.pluginRouteTimeoutMs.value };

/** The route of a path; undefined where no plugin has one. */
export function createPluginRoutes(deps: Omit<HttpDeps, 'gate'>): (path: string) => Route | undefined {
  const { clock, plugins, incidents } = deps;
  const strangers = createWindow({ limit: limits.pluginRoutesPerMinute.value, windowMs: 60_000, clock });
  const underWay = createCrowd();

  async function answer(registered: RegisteredItem<'httpRoute'>, call: Call, scopes: readonly Scope[]): Promise<Answer> {
    const { plugin } = registered;
    if (underWay.of(plugin) >= limits.pluginRoutesInFlight.value) {
      incidents.record('http.in-flight', call.address, { plugin });
      throw new GatewayError('UNAVAILABLE', `Plugin ${plugin} has too much to answer`, {
        retryAfterMs: 1_000,
        details: { code: 'TOO_MANY_IN_FLIGHT', plugin },
      });
    }
    const leave = underWay.enter(plugin);
    try {
      return await ask(registered, call, scopes);
    } finally {
      leave();
    }
  }

  async function ask(registered: RegisteredItem<'httpRoute'>, call: Call, scopes: readonly Scope[]): Promise<Answer> {
    const { plugin, item } = registered;
    const request = await requestOf(registered, call, scopes, deps.store, clock.now());
    const parts = plugins();
    const answered = await parts.caller.call(
      placed(plugin, 'http_route'),
      (given: Omit<HttpRouteRequest, 'signal' | 'text'>, own) =>
        item.handler({
          ...given,
          get text() {
            return new TextDecoder().decode(given.body);
          },
          get signal() {
            return own.signal;
          },
        }),
      request,
      readAnswer,
      call.gone,
    );
    // What a load that has ended meanwhile says is said by nobody.
    if (!registered.isLive || !parts.holds(plugin, 'http.routes')) throw gone(plugin);
    if (answered.ok) return answered.value;
    const isLate = answered.kind === 'timed-out';
    throw new HttpError(
      isLate ? 503 : 502,
      'PLUGIN',
      `Plugin ${plugin} ${isLate ? 'did not answer in time' : 'failed'}; the log of the gateway says how`,
      {
        details: { code: isLate ? 'PLUGIN_TIMEOUT' : 'PLUGIN_FAILED', plugin },
      },
    );
  }

  /** Who needs no credential is counted, as those are who try one. */
  async function admit(peer: Peer): Promise<void> {
    const { address } = peer;
    // Whose it is, is asked for only when the address has spent what it has: on this machine that is everybody's.
    const name = strangers.waitMs(address) === 0 ? address : await peer.findAccount();
    const waitMs = strangers.waitMs(name);
    if (waitMs > 0) {
      incidents.record('http.rate-limited', address);
      throw new GatewayError('RATE_LIMITED', 'Too many requests from this address', { retryAfterMs: waitMs });
    }
    strangers.hit(name);
  }

  return (path) => {
    if (!path.startsWith(PLUGIN_PATHS)) return undefined;
    const { registry, holds } = plugins();
    const registered = findRoute(path, registry.all('httpRoute'));
    if (!registered || !holds(registered.plugin, 'http.routes')) return undefined;
    const { item } = registered;
    const row = { method: item.methods ?? ['GET'], body };
    if (item.auth === 'gateway') {
      const scope = (item.scope ?? DEFAULT_SCOPE) as Scope;
      return { ...row, scope, handle: (call) => answer(registered, call, [...call.principal.held]) };
    }
    return {
      ...row,
      scope: 'none',
      // Before the body is read: that of somebody who comes too often is not.
      admit,
      handle: (call) => answer(registered, call, []),
    };
  };
}

async function requestOf(
  { plugin, item }: RegisteredItem<'httpRoute'>,
  call: Call,
  scopes: readonly Scope[],
  store: Store,
  at: number,
): Promise<Omit<HttpRouteRequest, 'signal' | 'text'>> {
  const { request, path } = call;
  const query: Record<string, string[]> = Object.create(null) as Record<string, string[]>;
  for (const [name, value] of call.query) {
    query[name] ??= [];
    query[name].push(value);
  }
  for (const values of Object.values(query)) Object.freeze(values);
  const below = path.slice(`${PLUGIN_PATHS}${plugin}`.length);
  return Object.freeze({
    method: (request.method === 'HEAD' ? 'GET' : request.method) as HttpRouteRequest['method'],
    path,
    rest: below.slice(item.path.length).replace(/^\//, ''),
    query: Object.freeze(query),
    headers: Object.freeze(await headersOf(request.headers, item.auth, store, at)),
    // A copy: a buffer of the gateway may share its memory with others.
    body: new Uint8Array(call.body),
    client: Object.freeze({ scopes: Object.freeze([...scopes]) }),
  });
}

const KEPT_BACK: ReadonlySet<string> = new Set(['cookie', 'proxy-authorization', 'connection', 'upgrade', 'expect', 'transfer-encoding']);

/** A cookie of this host may be another program's; a credential of the gateway is nobody else's. */
async function headersOf(
  given: IncomingHttpHeaders,
  auth: 'gateway' | 'plugin',
  store: Store,
  at: number,
): Promise<Record<string, string>> {
  const headers: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined || KEPT_BACK.has(name)) continue;
    headers[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  const { authorization } = headers;
  if (authorization !== undefined && (auth === 'gateway' || (await isOurs(authorization, store, at)))) delete headers.authorization;
  return headers;
}

async function isOurs(authorization: string, store: Store, at: number): Promise<boolean> {
  if (/tenon_/i.test(authorization)) return true;
  const token = /^\S+\s+(\S+)\s*$/.exec(authorization)?.[1];
  return token !== undefined && (await store.read('tokens.find', { digest: digestOf(token), at })) !== undefined;
}

function gone(plugin: string): GatewayError {
  return new GatewayError('UNAVAILABLE', `Plugin ${plugin} was unloaded, or may no longer answer web requests`, {
    retryAfterMs: 1_000,
    details: { code: 'PLUGIN_GONE', plugin },
  });
}
