import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { limits } from '@tenon/protocol';
import type { HttpRoute, HttpRouteRequest } from '@tenon/plugin-sdk';
import { createPluginCaller, type PluginFailure } from '../host/call-plugin.ts';
import { createContributionRegistry } from '../host/contribution-registry.ts';
import { systemClock, type Clock } from '../kernel/clock.ts';
import { createMetrics } from '../kernel/metrics.ts';
import type { RoutePlugins } from './route.ts';
import type { FindUid } from './peer-uid.ts';
import { openTestServer, type TestServer } from './test-server.ts';

interface World extends AsyncDisposable {
  readonly server: TestServer;
  readonly held: Set<string>;
  readonly failures: PluginFailure[];
  add(plugin: string, route: Partial<HttpRoute>): () => void;
  rejected(plugin: string, route: object): string;
  get(path: string, init?: RequestInit & { headers?: Record<string, string> }): Promise<Response>;
}

async function open(clock: Clock = systemClock, findUid: FindUid = async () => undefined): Promise<World> {
  const failures: PluginFailure[] = [];
  const registry = createContributionRegistry();
  const held = new Set(['http.routes']);
  const parts: RoutePlugins = {
    registry,
    caller: createPluginCaller({ clock, metrics: createMetrics(), reportFailure: (failure) => failures.push(failure) }),
    holds: (_, grant) => held.has(grant),
  };
  const server = await openTestServer({ clock, plugins: () => parts, findUid });
  const give = (plugin: string, route: object) => registry.add({ plugin, pluginName: plugin, generation: 1 }, 'httpRoute', route);
  return {
    server,
    held,
    failures,
    add(plugin, route) {
      const added = give(plugin, { auth: 'plugin', handler: () => ({ status: 200, body: 'here' }), ...route });
      assert.ok(added.ok, JSON.stringify(added));
      return added.dispose;
    },
    rejected(plugin, route) {
      const added = give(plugin, { auth: 'plugin', handler: () => ({ status: 200 }), ...route });
      assert.ok(!added.ok, JSON.stringify(route));
      return `${added.code}: ${added.message}`;
    },
    get: (path, init) => fetch(`${server.net.url}${path}`, { redirect: 'manual', ...init }),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

const codeOf = async (response: Response) => {
  const { code, details } = (await response.json()) as { code: string; details?: { code?: string } };
  return details?.code ?? code;
};

test('a route is what its path says, and what is more specific is asked first', async () => {
  await using world = await open();
  const name = (body: string) => ({ handler: () => ({ status: 200, body }) });
  world.add('one', { path: '/', ...name('root') });
  world.add('one', { path: '/files', match: 'prefix', ...name('files') });
  world.add('one', { path: '/files/deep', match: 'prefix', ...name('deep') });
  world.add('one', { path: '/files/deep/exact', ...name('exact') });
  world.add('two', { path: '/files', ...name('of two') });
  const said = async (path: string) => {
    const response = await world.get(path);
    return response.status === 200 ? response.text() : String(response.status);
  };
  assert.equal(await said('/plugins/one'), 'root');
  assert.equal(await said('/plugins/one/'), 'root');
  assert.equal(await said('/plugins/one/files'), 'files');
  assert.equal(await said('/plugins/one/files/a@b:c'), 'files');
  assert.equal(await said('/plugins/one/filesystem'), '404');
  assert.equal(await said('/plugins/one/files/deep/er'), 'deep');
  assert.equal(await said('/plugins/one/files/deep/exact'), 'exact');
  assert.equal(await said('/plugins/one/files/deep/exact/not'), 'deep');
  assert.equal(await said('/plugins/two/files'), 'of two');
  assert.equal(await said('/plugins/two/files/x'), '404');
  assert.equal(await said('/plugins/'), '404');
  assert.equal(await said('/plugins/three/files'), '404');
  for (const path of ['/plugins/one/files/%2e%2e/x', '/plugins/one/files//x', '/plugins/%6fne/files', '/plugins/one/files/a%20b'])
    assert.equal(await said(path), '404', path);
  assert.match(await raw(world.server, 'GET /plugins/one/files/../../two/files HTTP/1.1'), /^HTTP\/1.1 404/);
  assert.match(await raw(world.server, 'GET /plugins/one/files/./x HTTP/1.1'), /^HTTP\/1.1 404/);
});

/** `fetch` would tidy such a path up. */
async function raw(server: TestServer, line: string): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port: server.net.port });
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(socket, 'connect');
  socket.write(`${line}\r\nHost: 127.0.0.1:${server.net.port}\r\nConnection: close\r\n\r\n`);
  await once(socket, 'close');
  return Buffer.concat(chunks).toString();
}

test('the plugin gets the request as a value, without cookies and without a credential of the gateway', async () => {
  await using world = await open();
  const seen: HttpRouteRequest[] = [];
  const handler: HttpRoute['handler'] = (request) => {
    seen.push(request);
    return { status: 201, headers: { 'Content-Type': 'application/json', 'x-plugin-mark': 'm' }, body: JSON.stringify(request.text) };
  };
  world.add('one', { path: '/open', methods: ['GET', 'POST'], match: 'prefix', handler });
  world.add('one', { path: '/kept', auth: 'gateway', methods: ['POST'], handler });
  const response = await world.get('/plugins/one/open/a/b?x=1&x=2&__proto__=y', {
    method: 'POST',
    headers: { authorization: 'Bearer of-the-sender', cookie: 'a=b', 'x-signature': 'abc', 'content-type': 'text/strange' },
    body: 'Grüße',
  });
  assert.deepEqual([response.status, response.headers.get('x-plugin-mark'), await response.json()], [201, 'm', 'Grüße']);
  const [first] = seen;
  assert.ok(first && Object.isFrozen(first.headers) && Object.isFrozen(first.query));
  assert.deepEqual(
    [first.method, first.path, first.rest, first.query.x, first.client.scopes],
    ['POST', '/plugins/one/open/a/b', 'a/b', ['1', '2'], []],
  );
  assert.deepEqual(Object.keys(first.query), ['x', '__proto__']);
  assert.deepEqual(
    [first.headers.authorization, first.headers.cookie, first.headers['x-signature']],
    ['Bearer of-the-sender', undefined, 'abc'],
  );
  for (const authorization of [`Bearer ${world.server.token}`, `Token ${world.server.token}`, 'Bearer tenon_some-other']) {
    await world.get('/plugins/one/open', { headers: { authorization } });
    assert.equal(seen.at(-1)?.headers.authorization, undefined, authorization);
  }
  const { token } = await world.server.mint(['operator.write']);
  await world.get('/plugins/one/kept', { method: 'POST', headers: { authorization: `Bearer ${token}` } });
  assert.equal(seen.at(-1)?.headers.authorization, undefined);
  assert.ok(seen.at(-1)?.client.scopes.includes('operator.write'));
});

test('a route of the gateway’s auth wants a credential with its scope', async () => {
  await using world = await open();
  let calls = 0;
  const handler = () => ({ status: 200, body: String(++calls) });
  world.add('one', { path: '/write', auth: 'gateway', handler });
  world.add('one', { path: '/admin', auth: 'gateway', scope: 'operator.admin', handler });
  const status = async (path: string, token?: string) =>
    (await world.get(path, token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } })).status;
  const reader = await world.server.mint(['operator.read']);
  const writer = await world.server.mint(['operator.write']);
  const guest = await world.server.mint(['operator.write'], 'agent:main:guest');
  assert.equal(await status('/plugins/one/write'), 401);
  assert.equal(await status('/plugins/one/write', 'wrong'), 401);
  assert.equal(await status('/plugins/one/write', reader.token), 403);
  assert.equal(await status('/plugins/one/write', guest.token), 403, 'bound to one session');
  assert.equal(await status('/plugins/one/admin', writer.token), 403);
  assert.equal(calls, 0);
  assert.equal(await status('/plugins/one/write', writer.token), 200);
  assert.equal(await status('/plugins/one/admin', world.server.token), 200);
});

test('every answer is sandboxed, and none speaks for the origin', async () => {
  await using world = await open();
  let answer: unknown;
  world.add('one', { path: '/', handler: () => answer as never });
  answer = { status: 200, headers: { 'content-type': 'text/html', 'cache-control': 'max-age=5' }, body: '<script>alert(1)</script>' };
  const page = await world.get('/plugins/one');
  assert.match(page.headers.get('content-security-policy') ?? '', /^sandbox; default-src 'none'/);
  assert.equal(page.headers.get('x-content-type-options'), 'nosniff');
  assert.equal(page.headers.get('x-frame-options'), 'DENY');
  assert.equal(page.headers.get('cache-control'), 'max-age=5');
  assert.equal(page.headers.get('content-type'), 'text/html');
  const wrong: [answer: unknown, why: RegExp][] = [
    [undefined, /an answer is/],
    ['text', /an answer is/],
    [{ status: 101 }, /from 200 to 599/],
    [{ status: '200' }, /from 200 to 599/],
    [{ status: 200, cookies: [] }, /without "cookies"/],
    [{ status: 200, body: { a: 1 } }, /text or a Uint8Array/],
    [{ status: 200, body: 'x'.repeat(limits.pluginRouteAnswerBytes.value + 1) }, /more than/],
    [{ status: 200, body: new Uint8Array(limits.pluginRouteAnswerBytes.value + 1) }, /more than/],
    [{ status: 200, headers: [] }, /object of texts/],
    ...[
      ['Set-Cookie', 'a=b'],
      ['content-security-policy', 'default-src *'],
      ['X-Content-Type-Options', ''],
      ['access-control-allow-origin', '*'],
      ['clear-site-data', '*'],
      ['service-worker-allowed', '/'],
      ['strict-transport-security', 'max-age=1'],
      ['x-accel-redirect', '/etc/passwd'],
      ['transfer-encoding', 'chunked'],
      ['content-length', '1'],
      ['connection', 'upgrade'],
    ].map(([name = '', value]): [unknown, RegExp] => [{ status: 200, headers: { [name]: value } }, /not for plugins to set/]),
    [{ status: 200, headers: { location: 'x\r\nset-cookie: a=b' } }, /one line/],
    [{ status: 200, headers: { etag: 5 } }, /one line/],
    [{ status: 200, headers: { etag: 'a', ETag: 'b' } }, /twice/],
    [{ status: 200, headers: { 'content-type': 'text/javascript' }, body: 'alert(1)' }, /none of a script/],
    [{ status: 200, headers: { 'content-type': 'application/ecmascript; charset=utf-8' } }, /none of a script/],
    [{ status: 200, headers: { 'content-type': 'nonsense' } }, /content-type/],
    [
      {
        get status() {
          throw new Error('a getter');
        },
      },
      /a getter/,
    ],
  ];
  for (const [given, why] of wrong) {
    answer = given;
    const response = await world.get('/plugins/one');
    assert.equal(response.status, 502, String(why));
    assert.match(response.headers.get('content-security-policy') ?? '', /default-src 'none'/);
    assert.equal(response.headers.get('set-cookie'), null);
    const { details, message } = (await response.json()) as { details: unknown; message: string };
    assert.deepEqual(details, { code: 'PLUGIN_FAILED', plugin: 'one' });
    assert.doesNotMatch(message, why, 'what is wrong is for the log');
    assert.match(world.failures.at(-1)?.message ?? '', why);
  }
  answer = { status: 204, body: 'dropped' };
  const empty = await world.get('/plugins/one');
  assert.deepEqual([empty.status, empty.headers.get('content-length'), await empty.text()], [204, null, '']);
  answer = { status: 302, headers: { location: '/plugins/one/next' } };
  assert.equal((await world.get('/plugins/one')).headers.get('location'), '/plugins/one/next');
  answer = { status: 200, body: new Uint8Array([0, 255]) };
  const bytes = await world.get('/plugins/one');
  assert.deepEqual([bytes.headers.get('content-type'), ...new Uint8Array(await bytes.arrayBuffer())], ['application/octet-stream', 0, 255]);
});

test('methods, bodies and broken handlers have their typed answers', async () => {
  await using world = await open();
  world.add('one', { path: '/post', methods: ['POST', 'DELETE'] });
  world.add('one', { path: '/get' });
  world.add('one', {
    path: '/throw',
    handler: () => {
      throw new Error('secret inside of the plugin');
    },
  });
  const wrongMethod = await world.get('/plugins/one/post');
  assert.deepEqual([wrongMethod.status, wrongMethod.headers.get('allow')], [405, 'POST, DELETE']);
  assert.equal((await world.get('/plugins/one/get', { method: 'OPTIONS' })).status, 405);
  const head = await world.get('/plugins/one/get', { method: 'HEAD' });
  assert.deepEqual([head.status, await head.text()], [200, '']);
  assert.equal((await world.get('/plugins/one/post', { method: 'DELETE' })).status, 200);
  const large = await world.get('/plugins/one/post', { method: 'POST', body: 'x'.repeat(limits.pluginRouteBodyBytes.value + 1) });
  assert.deepEqual([large.status, await codeOf(large)], [413, 'TOO_LARGE']);
  const threw = await world.get('/plugins/one/throw');
  assert.equal(threw.status, 502);
  assert.doesNotMatch(await threw.text(), /secret/);
  assert.match(world.failures.at(-1)?.message ?? '', /secret inside/);
  const crossSite = await world.get('/plugins/one/get', { headers: { origin: 'https://evil.example' } });
  assert.equal(crossSite.status, 403, 'the gate stands before every route');
});

test('a plugin that never answers, loses its grant or is unloaded answers 503, and is asked no more', async () => {
  const begun: (() => void)[] = [];
  await using world = await open();
  const signals: AbortSignal[] = [];
  const waiting = Promise.withResolvers<{ status: number }>();
  const dispose = world.add('one', {
    path: '/wait',
    handler: ({ signal }) => {
      signals.push(signal);
      begun.shift()?.();
      return waiting.promise;
    },
  });
  const asked = async (path: string, init?: RequestInit) => {
    const came = Promise.withResolvers<void>();
    begun.push(came.resolve);
    const response = fetch(`${world.server.net.url}${path}`, init);
    response.catch(() => {});
    await came.promise;
    return { response };
  };
  const leaving = new AbortController();
  await asked('/plugins/one/wait', { signal: leaving.signal });
  leaving.abort();
  if (!signals[0]?.aborted) await once(signals[0]!, 'abort');
  const { response } = await asked('/plugins/one/wait');
  world.held.clear();
  assert.equal((await world.get('/plugins/one/wait')).status, 404, 'at once');
  world.held.add('http.routes');
  dispose();
  waiting.resolve({ status: 200 });
  const late = await response;
  assert.deepEqual([late.status, late.headers.get('retry-after'), await codeOf(late)], [503, '1', 'PLUGIN_GONE']);
  assert.equal((await world.get('/plugins/one/wait')).status, 404);
});

test('the deadline of a handler is 503, and so is more than a plugin can have under way', async () => {
  let waitMs = 0;
  let passedMs = 0;
  const due: (() => void)[] = [];
  // The deadlines of the caller share timers; those of sockets stay real.
  const clock: Clock = {
    ...systemClock,
    monotonic: () => systemClock.monotonic() + passedMs,
    after(ms, work) {
      if (ms !== limits.pluginRouteTimeoutMs.value) return systemClock.after(ms, work);
      waitMs = ms;
      due.push(work);
      return { cancel() {} };
    },
  };
  await using world = await open(clock);
  let calls = 0;
  const all = Promise.withResolvers<void>();
  world.add('one', {
    path: '/hang',
    handler: () => {
      if (++calls === limits.pluginRoutesInFlight.value) all.resolve();
      return new Promise(() => {});
    },
  });
  world.add('two', { path: '/fine' });
  const hanging = Array.from({ length: limits.pluginRoutesInFlight.value }, () => world.get('/plugins/one/hang'));
  await all.promise;
  const refused = await world.get('/plugins/one/hang');
  assert.deepEqual([refused.status, await codeOf(refused)], [503, 'TOO_MANY_IN_FLIGHT']);
  assert.ok(world.server.refused.includes('http.in-flight'));
  assert.equal((await world.get('/plugins/two/fine')).status, 200, 'others do not notice');
  assert.equal(waitMs, limits.pluginRouteTimeoutMs.value);
  passedMs = waitMs;
  for (const work of due.splice(0)) work();
  for (const response of await Promise.all(hanging)) assert.deepEqual([response.status, await codeOf(response)], [503, 'PLUGIN_TIMEOUT']);
});

test('whoever needs no credential is counted by address', async () => {
  await using world = await open();
  let calls = 0;
  world.add('one', { path: '/', handler: () => ({ status: 200, body: String(++calls) }) });
  world.add('one', { path: '/kept' });
  for (let count = 0; count < limits.pluginRoutesPerMinute.value; count++) await (await world.get('/plugins/one')).text();
  const refused = await world.get('/plugins/one');
  assert.equal(refused.status, 429);
  assert.ok(Number(refused.headers.get('retry-after')) > 0);
  assert.equal(calls, limits.pluginRoutesPerMinute.value);
  assert.ok(world.server.refused.includes('http.rate-limited'));
});

test('one user of this machine who spends what the address has leaves others theirs', async () => {
  let uid = 1000;
  await using world = await open(systemClock, async () => uid);
  world.add('one', { path: '/', handler: () => ({ status: 200, body: 'here' }) });
  const ask = async () => {
    const answer = await world.get('/plugins/one', { headers: { connection: 'close' } });
    await answer.text();
    return answer.status;
  };
  const most = limits.pluginRoutesPerMinute.value;
  for (let count = 0; count < 2 * most; count++) assert.equal(await ask(), 200);
  assert.equal(await ask(), 429);
  uid = 1001;
  assert.equal(await ask(), 200);
});

test('a route that cannot be one is refused with what is wrong with it', async () => {
  await using world = await open();
  world.add('one', { path: '/a', match: 'prefix' });
  world.add('one', { path: '/x/y', auth: 'gateway' });
  const cases: [route: object, why: RegExp][] = [
    [{ path: 'a' }, /^INVALID.*path/],
    [{ path: '/../x' }, /^INVALID/],
    [{ path: '/.hidden' }, /^INVALID/],
    [{ path: '/b/' }, /^INVALID/],
    [{ path: `/${'b'.repeat(256)}` }, /^INVALID/],
    [{ path: '/b', auth: undefined }, /^INVALID.*auth/],
    [{ path: '/b', auth: 'none' }, /^INVALID.*auth/],
    [{ path: '/b', methods: [] }, /^INVALID/],
    [{ path: '/b', methods: ['TRACE'] }, /^INVALID/],
    [{ path: '/b', methods: ['GET', 'GET'] }, /^INVALID/],
    [{ path: '/b', scope: 'operator.read' }, /^INVALID.*scope is for routes with auth "gateway"/],
    [{ path: '/b', auth: 'gateway', scope: 'root' }, /^INVALID.*scope must be one of/],
    [{ path: '/b', handler: 'x' }, /^INVALID.*handler is not a function/],
    [{ path: '/a' }, /^DUPLICATE/],
    [{ path: '/a/b', auth: 'gateway' }, /^DUPLICATE.*another auth/],
    [{ path: '/x', match: 'prefix' }, /^DUPLICATE.*another auth/],
  ];
  for (const [route, why] of cases) assert.match(world.rejected('one', route), why, JSON.stringify(route));
  world.add('two', { path: '/a', auth: 'gateway' });
});
