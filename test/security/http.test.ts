// S05, S67, S82: the HTTP side of the port.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { limits } from '@tenon/protocol';
import { createRoutes } from '../../packages/gateway/src/net/routes.ts';
import { type GatewayProcess, startGatewayProcess, type StartOptions } from '../support/gateway.ts';
import { createDatabase, startPostgres } from '../support/postgres.ts';
import { connectRaw, type RawClient } from '../support/raw-client.ts';
import { verifies } from '../support/verifies.ts';
import {
  assertStrictHeaders,
  behindProxy,
  assertServedDuring,
  assertUnharmed,
  bystander,
  exchange,
  type HttpAnswer,
  mintToken,
  newAddress,
  newRemote,
  requestText,
  upgradeHeaders,
} from './harness.ts';

test('S67 every response carries the strict headers, whoever writes it', async () => {
  verifies('S67');
  await using gateway = await startGatewayProcess();
  const host = `Host: 127.0.0.1:${gateway.port}\r\nConnection: close\r\n`;
  const ask = (target: string, options: Parameters<typeof requestText>[2] = {}) => requestText(gateway, target, options);
  const upgrade = (headers: Record<string, string>, target = '/') => ask(target, { headers: { ...upgradeHeaders, ...headers } });
  const responses: [status: number, text: string][] = [
    [200, ask('/')],
    [200, ask('/healthz')],
    [200, ask('/readyz')],
    [200, ask('/metrics', { headers: bearer(gateway.token) })],
    [401, ask('/metrics')],
    [200, ask('/', { method: 'HEAD' })],
    [200, ask('/metrics', { method: 'HEAD', headers: bearer(gateway.token) })],
    [200, ask('/', { headers: { Expect: 'a-miracle' } })],
    [200, ask('/', { headers: { Expect: '100-continue' } })],
    [400, postText(gateway, '/api/sign-in', '{')],
    [401, postText(gateway, '/api/sign-in', '{"code":"x"}')],
    [401, postText(gateway, '/api/sign-out', '')],
    [401, postText(gateway, '/v1/chat/completions', '{}')],
    [401, ask('/v1/models')],
    [404, ask('/v1/nothing')],
    [405, ask('/v1/chat/completions')],
    [405, ask('/api/sign-in')],
    [413, postText(gateway, '/api/sign-in', 'x'.repeat(5_000))],
    [415, postText(gateway, '/api/sign-in', 'x', { 'Content-Type': 'text/plain' })],
    [403, postText(gateway, '/v1/chat/completions', '{}', { Origin: 'https://evil.example' })],
    [400, 'NONSENSE\r\n\r\n'],
    [400, `GET / HTTP/9.9\r\n${host}\r\n`],
    [400, `GET /\x01 HTTP/1.1\r\n${host}\r\n`],
    [400, `POST / HTTP/1.1\r\n${host}Content-Length: -1\r\n\r\n`],
    [400, `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n`],
    [400, upgrade({ 'Sec-WebSocket-Key': 'short' })],
    [400, upgrade({ 'Sec-WebSocket-Version': '12' })],
    [400, upgrade({ Upgrade: 'h2c' })],
    [400, upgrade({ 'Sec-WebSocket-Protocol': ',,' })],
    [403, ask('/', { headers: { Origin: 'https://evil.example' } })],
    [403, ask('/nothing', { headers: { Origin: 'null' } })],
    [403, ask('/metrics', { headers: { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'no-cors' } })],
    [403, ask('/', { headers: { Expect: 'a-miracle', Origin: 'https://evil.example' } })],
    [403, upgrade({ Origin: 'https://evil.example' })],
    [404, ask('/nothing')],
    [404, ask('/nothing', { method: 'POST' })],
    [404, upgrade({}, '/nothing')],
    [405, ask('/', { method: 'POST' })],
    [405, ask('/', { method: 'OPTIONS' })],
    [405, ask('/metrics', { method: 'DELETE' })],
    [405, ask('/healthz', { method: 'TRACE' })],
    [405, ask('/readyz', { method: 'PUT', headers: { 'Content-Length': '0' } })],
    [413, ask('/', { method: 'POST', headers: { 'Content-Length': '5' } })],
    [413, ask('/', { method: 'POST', headers: { 'Content-Length': '5', Expect: '100-continue' } })],
    [413, ask('/metrics', { headers: { 'Transfer-Encoding': 'chunked' } })],
    [421, ask('/', { headers: { Host: 'evil.example' } })],
    [421, `GET / HTTP/1.1\r\nConnection: close\r\n\r\n`],
    [421, upgrade({ Host: 'evil.example' })],
    [431, ask('/', { headers: { Cookie: 'x'.repeat(20_000) } })],
    [431, `GET / HTTP/1.1\r\n${host}${'a:\r\n'.repeat(200)}\r\n`],
  ];
  const nonces = new Set<string>();
  for (const [status, text] of responses) {
    const answer = await exchange(gateway, Buffer.from(text, 'latin1'));
    const name = text.slice(0, 120).replaceAll('\r\n', ' | ');
    assert.equal(answer.status, status, name);
    nonces.add(assertStrictHeaders(answer, name).nonce);
  }
  assert.equal(nonces.size, responses.length, 'no nonce comes twice');

  await assertUnharmed(gateway, {
    incidents: ['http.malformed', 'http.origin', 'http.cross-site', 'http.body', 'http.host', 'http.headers', 'ws.malformed'],
  });
});

test('S67 nothing in the page runs or styles by itself: scripts are files of its own, and styles have the nonce', async () => {
  verifies('S67');
  await using gateway = await startGatewayProcess();
  const page = await exchange(gateway, requestText(gateway, '/'));
  const { nonce } = assertStrictHeaders(page, 'the page');
  assert.equal(page.headers['content-type'], 'text/html; charset=utf-8');
  assert.doesNotMatch(page.body, /<\w[^>]*\s(on\w+|style)\s*=|javascript:|<iframe|<base|<form|https?:\/\/|__NONCE__/i);
  for (const [script] of page.body.matchAll(/<script[^>]*>[^<]*<\/script>|<script[^>]*>/g))
    assert.match(script, /^<script( type="module")? src="\/[\w./-]+"><\/script>$/);
  for (const [style] of page.body.matchAll(/<style[^>]*>/g)) assert.equal(style, `<style nonce="${nonce}">`);
  assert.ok(!page.body.includes(gateway.token));
  for (const [, path = ''] of page.body.matchAll(/(?:src|href)="([^"]+)"/g)) {
    const asset = await exchange(gateway, requestText(gateway, path));
    assert.equal(asset.status, 200, path);
    assertStrictHeaders(asset, path, 'public, max-age=31536000, immutable');
    assert.ok(!asset.body.includes(gateway.token), path);
  }
  await assertUnharmed(gateway);
});

/** Every row of the table: a new one is attacked the day it is added. */
const routes = Object.entries(createRoutes());
const guarded = routes.filter(([, { scope }]) => scope !== 'none');

test('S05 a form, a fetch or an image of another site changes nothing, on any route', async () => {
  verifies('S05', 'S06');
  await using gateway = await startGatewayProcess();
  await using admin = await bystander(gateway);
  const { payload } = await admin.request('signin.create', {});
  const code = (payload.url as string).split('#code=')[1] ?? '';
  const before = await stateOf(admin);
  const from = newAddress();
  const site = { 'Sec-Fetch-Site': 'cross-site', Authorization: `Bearer ${gateway.token}` };
  const attacks: Record<string, string>[] = [
    { ...site, Origin: 'https://evil.example', 'Sec-Fetch-Mode': 'navigate', 'Content-Type': 'application/x-www-form-urlencoded' },
    { ...site, Origin: 'null', 'Sec-Fetch-Mode': 'navigate', 'Content-Type': 'text/plain' },
    { ...site, 'Sec-Fetch-Mode': 'navigate', 'Content-Type': 'application/json' },
    { ...site, Origin: 'https://evil.example', 'Sec-Fetch-Mode': 'no-cors', 'Content-Type': 'text/plain' },
    { ...site, Origin: 'https://evil.example', 'Sec-Fetch-Mode': 'cors', 'Content-Type': 'application/json' },
    { 'Sec-Fetch-Site': 'same-site', 'Sec-Fetch-Mode': 'cors', 'Content-Type': 'application/json' },
    { Origin: 'http://localhost.evil.example', 'Content-Type': 'application/json' },
  ];
  for (const [path] of routes) {
    for (const headers of attacks) {
      const answer = await exchange(gateway, postText(gateway, path, JSON.stringify({ code }), headers), from);
      assert.equal(answer.status, 403, `${path} ${JSON.stringify(headers)}`);
      assertStrictHeaders(answer, path);
    }
    for (const mode of ['no-cors', 'cors']) {
      const image = { ...site, 'Sec-Fetch-Mode': mode, 'Sec-Fetch-Dest': 'image' };
      assert.equal((await exchange(gateway, requestText(gateway, path, { headers: image }), from)).status, 403, `<img> ${path}`);
      const asked = { Origin: 'https://evil.example', 'Access-Control-Request-Method': 'POST' };
      const preflight = await exchange(gateway, requestText(gateway, path, { method: 'OPTIONS', headers: asked }), from);
      assert.equal(preflight.status, 403);
      assertStrictHeaders(preflight, `preflight ${path}`);
    }
  }
  assert.deepEqual(await stateOf(admin), before);
  assert.equal(
    (await exchange(gateway, postText(gateway, '/api/sign-in', JSON.stringify({ code })))).status,
    200,
    'the code is still there',
  );
  await assertUnharmed(gateway, { from, incidents: ['http.origin', 'http.cross-site'] });
});

/** What an attack over HTTP could have changed. */
async function stateOf(admin: RawClient): Promise<unknown> {
  const [sessions, tokens] = [await admin.request('sessions.list', {}), await admin.request('tokens.list', {})];
  return [
    sessions.payload.sessions,
    (tokens.payload.tokens as { id: string; revokedAt: number }[]).map(({ id, revokedAt }) => [id, revokedAt]),
  ];
}

test('S82 every guarded route wants a token with the right scope, and reads no body without', async () => {
  verifies('S82', 'S82:v1', 'S03');
  await using gateway = await startGatewayProcess({ args: behindProxy });
  await using admin = await bystander(gateway);
  const powerless = await mintToken(admin, ['operator.approvals']);
  const revoked = await mintToken(admin, ['operator.admin']);
  await admin.request('tokens.revoke', { id: revoked.id });
  assert.ok(guarded.length >= 4);
  for (const [path, { method, scope, body }] of guarded) {
    const ask = (headers: Record<string, string>) =>
      exchange(
        gateway,
        method === 'POST' ? postText(gateway, path, body ? '{' : '', headers) : requestText(gateway, path, { headers }),
        newRemote(),
      );
    const wrong = [{}, bearer('x'), bearer(revoked.token), { Authorization: gateway.token }, { Cookie: `token=${gateway.token}` }];
    for (const headers of wrong) {
      const answer = await ask(headers as Record<string, string>);
      assert.equal(answer.status, 401, `${path} with ${JSON.stringify(headers)}`);
      assertStrictHeaders(answer, path);
    }
    if (scope !== 'any') assert.equal((await ask(bearer(powerless.token))).status, 403, path);
    const huge = { 'Content-Length': String(10 ** 12), 'Content-Type': 'application/json' };
    if (method === 'POST')
      assert.equal(
        (await exchange(gateway, requestText(gateway, path, { method, headers: huge }), newRemote())).status,
        scope === 'any' ? 413 : 401,
      );
    const inAddress = await exchange(gateway, requestText(gateway, `${path}?token=${gateway.token}`, { method }), newRemote());
    assert.equal(inAddress.status, 401, 'a token in the address');
  }
  await assertUnharmed(gateway);
});

test('S82 guessing tokens at /v1 and codes at the sign-in is guessing at the socket: one count for all', async () => {
  verifies('S82', 'S82:v1', 'S09');
  await using gateway = await startGatewayProcess();
  const from = newAddress();
  const guesses = await Promise.all(
    Array.from({ length: 60 }, (_, index) =>
      index % 2
        ? exchange(gateway, requestText(gateway, '/v1/models', { headers: bearer(`wrong-${index}`) }), from)
        : exchange(gateway, postText(gateway, '/api/sign-in', JSON.stringify({ code: `wrong-${index}` })), from),
    ),
  );
  const tried = guesses.filter(({ status }) => status === 401).length;
  assert.ok(tried >= 1 && tried <= limits.authFailuresPerMinute.value, `${tried} were tried`);
  assert.equal(guesses.filter(({ status }) => status === 429).length, 60 - tried);
  await assert.rejects(connectRaw(gateway.socketUrl, 'wrong', {}, { localAddress: from }), /RATE_LIMITED/);
  assert.equal((await exchange(gateway, requestText(gateway, '/v1/models', { headers: bearer(gateway.token) }), from)).status, 200);
  await assertUnharmed(gateway, { from, incidents: ['auth.failed', 'auth.rate-limited'] });
});

test('S82 bodies are bounded by what they declare, by what comes, and in time', async () => {
  verifies('S82', 'S82:v1');
  await using gateway = await startGatewayProcess();
  const from = newAddress();
  const json = { 'Content-Type': 'application/json' };
  const slow = exchange(
    gateway,
    `${requestText(gateway, '/api/sign-in', { method: 'POST', headers: { ...json, 'Content-Length': '12' } })}{"co`,
    from,
  );
  const cases: [status: number, path: string, headers: Record<string, string>, body: string][] = [
    [413, '/v1/chat/completions', { ...bearer(gateway.token), 'Content-Length': String(limits.httpBodyBytes.value + 1) }, ''],
    [413, '/v1/chat/completions', { ...bearer(gateway.token), 'Transfer-Encoding': 'chunked' }, chunksOf(limits.httpBodyBytes.value + 1)],
    [413, '/api/sessions/import?key=agent:main:x', { ...bearer(gateway.token), 'Content-Length': '99999999999' }, ''],
    [413, '/api/sign-in', { 'Transfer-Encoding': 'chunked' }, chunksOf(100_000)],
    [400, '/api/sign-in', { 'Content-Length': '5', 'Transfer-Encoding': 'chunked' }, chunksOf(10)],
    [400, '/api/sign-in', { 'Content-Length': '12' }, '{"code":"x"}POST /api/sign-out HTTP/1.1\r\n\r\n'],
    [400, '/api/sign-in', { 'Transfer-Encoding': 'chunked' }, 'zzz\r\n'],
  ];
  for (const [status, path, headers, body] of cases) {
    const type = path.includes('import') ? { 'Content-Type': 'application/jsonl' } : json;
    const answer = await exchange(gateway, requestText(gateway, path, { method: 'POST', headers: { ...type, ...headers } }) + body, from);
    assert.equal(answer.status, status, `${path} ${JSON.stringify(headers)}`);
    assertStrictHeaders(answer, path);
  }
  assert.equal((await slow).status, 408, 'who sends slowly is not waited for');
  await assertUnharmed(gateway, { from, incidents: ['http.body', 'http.malformed'] });
});

test('a sign-in code is never wider than its maker, is used once, and leaves no trace in the store', async () => {
  verifies('S20', 'S22');
  await using gateway = await startGatewayProcess();
  await using admin = await bystander(gateway);
  const codeOf = (url: unknown) => String(url).split('#code=')[1] ?? '';
  const signIn = (code: string) => exchange(gateway, postText(gateway, '/api/sign-in', JSON.stringify({ code })), newAddress());

  const pairing = await mintToken(admin, ['operator.pairing', 'operator.read']);
  await using maker = await connectRaw(gateway.socketUrl, pairing.token);
  for (const scopes of [['operator.admin'], ['operator.write'], ['operator.pairing', 'operator.approvals']])
    assert.equal((await maker.request('signin.create', { scopes })).error?.code, 'SCOPE', scopes.join());
  const { payload } = await maker.request('signin.create', { idempotencyKey: 'k' });
  const code = codeOf(payload.url);
  assert.equal((await maker.request('signin.create', { idempotencyKey: 'k' })).payload.url, payload.url, 'a repeat');
  const signedIn = await signIn(code);
  assert.equal(signedIn.status, 200);
  const { token, record } = JSON.parse(signedIn.body) as { token: string; record: { id: string; scopes: string[] } };
  assert.deepEqual(record.scopes, ['operator.pairing', 'operator.read']);
  assert.equal((await signIn(code)).status, 401, 'once more');
  assert.equal((await maker.request('signin.create', { idempotencyKey: 'k' })).error?.details?.code, 'SIGN_IN_OVER');

  const left = codeOf((await maker.request('signin.create', {})).payload.url);
  await using page = await connectRaw(gateway.socketUrl, token);
  const closed = page.closed;
  await admin.request('tokens.revoke', { id: pairing.id });
  assert.equal((await signIn(left)).status, 401, 'the credential of its maker was revoked');
  const out = await exchange(gateway, requestText(gateway, '/api/sign-out', { method: 'POST', headers: bearer(token) }));
  assert.deepEqual([out.status, out.body.trim()], [200, '{"revoked":true}']);
  assert.equal((await closed).code, 4001, 'signing out closes the socket of the page');

  const { payload: audit } = await admin.request('audit.list', { limit: 100 });
  const actions = (audit.records as { action: string; target: string }[]).map(({ action, target }) => `${action} ${target}`);
  assert.ok(actions.includes(`tokens.create ${record.id}`) && actions.includes(`tokens.revoke ${record.id}`), actions.join('; '));
  assert.equal(actions.filter((action) => action.startsWith('signin.create ')).length, 2);
  for (const name of readdirSync(gateway.home)) {
    const file = join(gateway.home, name);
    if (statSync(file).isFile()) assert.ok(!readFileSync(file).includes(code), `${name} has the code`);
  }
  await assertUnharmed(gateway);
});

function chunksOf(bytes: number): string {
  const size = Math.min(bytes, 65_536);
  return `${size.toString(16)}\r\n${'x'.repeat(size)}\r\n`.repeat(Math.ceil(bytes / size));
}

/** A POST by hand; JSON unless told otherwise. */
function postText(
  gateway: Pick<GatewayProcess, 'port'>,
  target: string,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): string {
  const all = { 'Content-Type': 'application/json', 'Content-Length': String(Buffer.byteLength(body)), ...headers };
  return requestText(gateway, target, { method: 'POST', headers: all }) + body;
}

const METRICS_HOST = 'metrics.example:9100';

/** Off loopback, as a Prometheus on another machine would reach it, asked for on this one. */
async function startExposed({ args = [], env = {} }: StartOptions = {}): Promise<GatewayProcess> {
  const gateway = await startGatewayProcess({
    args: ['--bind', '0.0.0.0', '--insecure', 'true', ...args],
    env,
    config: `[gateway]\nallowedHosts = ["${METRICS_HOST}"]\n`,
  });
  return { ...gateway, socketUrl: `ws://127.0.0.1:${gateway.port}` };
}

function askMetrics(gateway: GatewayProcess, headers: Record<string, string>, from?: string, method = 'GET'): Promise<HttpAnswer> {
  return exchange(gateway, requestText(gateway, '/metrics', { method, headers: { Host: METRICS_HOST, ...headers } }), from);
}

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

test('S82 the metrics need a token that may read, on loopback too, unless authentication is off', async () => {
  verifies('S82');
  await using gateway = await startExposed({ args: behindProxy });
  await using admin = await bystander(gateway);
  const read = await mintToken(admin, ['operator.read']);
  const pairing = await mintToken(admin, ['operator.pairing', 'operator.approvals']);
  const bound = await mintToken(admin, ['operator.admin'], { sessionKey: 'agent:main:visitor' });
  const revoked = await mintToken(admin, ['operator.read']);
  await admin.request('tokens.revoke', { id: revoked.id });

  for (const token of [gateway.token, read.token]) {
    const answer = await askMetrics(gateway, bearer(token));
    assert.equal(answer.status, 200);
    assert.match(answer.body, /^tenon_connections 1$/m);
    assert.equal((await askMetrics(gateway, bearer(token), undefined, 'HEAD')).status, 200);
  }
  const refusals: [status: number, headers: Record<string, string>][] = [
    [401, {}],
    [401, { Authorization: '' }],
    [401, { Authorization: 'Bearer' }],
    [401, { Authorization: gateway.token }],
    [401, { Authorization: `Basic ${Buffer.from(`x:${gateway.token}`).toString('base64')}` }],
    [401, { Authorization: `Bearer ${gateway.token} x` }],
    [401, { Authorization: `Bearer ${'x'.repeat(600)}` }],
    [401, { Cookie: `token=${gateway.token}` }],
    [401, { 'X-Forwarded-For': '127.0.0.1', 'X-Real-IP': '127.0.0.1', Forwarded: 'for=127.0.0.1' }],
    [401, bearer('x')],
    [401, bearer(revoked.token)],
    [403, bearer(pairing.token)],
    [403, bearer(bound.token)],
  ];
  for (const [status, headers] of refusals) {
    for (const method of ['GET', 'HEAD']) {
      const answer = await askMetrics(gateway, headers, newRemote(), method);
      assert.equal(answer.status, status, `${method} with ${JSON.stringify(headers).slice(0, 80)}`);
      assert.doesNotMatch(answer.body, /tenon_[a-z]/);
      assertStrictHeaders(answer, JSON.stringify(headers).slice(0, 80));
    }
  }
  await using local = await startGatewayProcess();
  assert.equal((await exchange(local, requestText(local, '/metrics'))).status, 401, 'on loopback');
  assert.equal((await exchange(local, requestText(local, '/metrics', { headers: bearer(local.token) }))).status, 200);
  await using trusting = await startGatewayProcess({ args: ['--auth', 'none'] });
  assert.match((await exchange(trusting, requestText(trusting, '/metrics'))).body, /^tenon_connections 0$/m);
  const inAddress = await exchange(gateway, requestText(gateway, `/metrics?token=${gateway.token}`, { headers: { Host: METRICS_HOST } }));
  assert.equal(inAddress.status, 401, 'a token in the address');
  const from = newRemote();
  await askMetrics(gateway, {}, from);
  await askMetrics(gateway, bearer('x'), from);
  await assertUnharmed(gateway, { from, incidents: ['auth.missing', 'auth.failed'] });
});

test('S82 the metrics follow the rules of the socket: Origin, Host, body', async () => {
  verifies('S82');
  await using gateway = await startExposed();
  const good = bearer(gateway.token);
  const from = newAddress();
  const refusals: [status: number, headers: Record<string, string>][] = [
    [403, { ...good, Origin: 'https://evil.example' }],
    [403, { ...good, Origin: 'null' }],
    [403, { ...good, 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'cors' }],
    [421, { ...good, Host: 'evil.example' }],
    [421, { ...good, Host: `0.0.0.0.evil.example:${gateway.port}` }],
    [413, { ...good, 'Content-Length': '10' }],
    [413, { ...good, 'Transfer-Encoding': 'chunked' }],
  ];
  for (const [status, headers] of refusals) {
    const answer = await askMetrics(gateway, headers, from);
    assert.equal(answer.status, status, JSON.stringify(headers));
    assert.doesNotMatch(answer.body, /tenon_[a-z]/);
  }
  assert.equal((await askMetrics(gateway, { ...good, Origin: `https://${METRICS_HOST}` }, from)).status, 200, 'its own origin');
  await assertUnharmed(gateway, { from, incidents: ['http.origin', 'http.cross-site', 'http.host', 'http.body'] });
});

test('S82 guessing at the metrics is guessing at the socket: one count for both, also side by side', async () => {
  verifies('S82', 'S09');
  await using gateway = await startExposed();
  const from = newAddress();
  const guesses = await Promise.all(Array.from({ length: 200 }, (_, index) => askMetrics(gateway, bearer(`wrong-token-${index}`), from)));
  const tried = guesses.filter(({ status }) => status === 401).length;
  assert.ok(tried >= 1 && tried <= limits.authFailuresPerMinute.value, `${tried} were tried`);
  const limited = guesses.filter(({ status }) => status === 429);
  assert.equal(limited.length, 200 - tried);
  for (const { headers } of limited) assert.ok(Number(headers['retry-after']) > 0 && Number(headers['retry-after']) <= 60);
  await assert.rejects(connectRaw(gateway.socketUrl, 'wrong', {}, { localAddress: from }), /RATE_LIMITED/, 'nor at the socket');
  assert.equal((await askMetrics(gateway, bearer(gateway.token), from)).status, 200, 'a right one gets in');
  await assertUnharmed(gateway, { from, incidents: ['auth.failed', 'auth.rate-limited'] });
});

test('S09 on PostgreSQL, where a look at a token takes a while, a flood side by side through a proxy finds no token either', async () => {
  verifies('S09:proxy', 'S82');
  // `npm test` has a server for all; a run of this file alone starts its own.
  const own = process.env.TENON_TEST_POSTGRES ? undefined : await startPostgres();
  const database = await createDatabase(own?.url);
  try {
    await using gateway = await startExposed({
      args: ['--store-engine', 'postgres', ...behindProxy],
      env: { TENON_STORE_URL: database.url },
    });
    const from = newRemote();
    const tokens = Array.from({ length: 100 }, (_, index) => (index === 99 ? gateway.token : `wrong-token-${index}`));
    const answers = await Promise.all(tokens.map((token) => askMetrics(gateway, bearer(token), from)));
    const tried = answers.filter(({ status }) => status === 401).length;
    assert.ok(tried <= limits.authFailuresPerMinute.value, `${tried} were told that they are wrong`);
    assert.equal(answers.filter(({ status }) => status === 429).length, 100 - tried, 'all others, the right one too, learn nothing');
    await assertUnharmed(gateway, { from, incidents: ['auth.failed', 'auth.rate-limited'] });
    await gateway.stop();
  } finally {
    await database.drop();
    await own?.remove();
  }
});

test('S82 a flood of requests for the metrics slows nobody who is inside', async () => {
  verifies('S82');
  await using gateway = await startExposed();
  await using inside = await bystander(gateway);
  let left = 2_000;
  const flood = async () => {
    for (; left > 0; left--) {
      const { status } = await askMetrics(gateway, left % 2 ? {} : bearer(gateway.token));
      assert.ok(status === 200 || status === 401);
    }
  };
  const flooding = Promise.all(Array.from({ length: 16 }, flood));
  await assertServedDuring(inside, flooding, () => left > 0);
  await assertUnharmed(gateway, { incidents: ['auth.missing'] });
});

test('S82 what strangers send does not become part of the metrics', async () => {
  verifies('S82');
  await using gateway = await startGatewayProcess();
  await using client = await connectRaw(gateway.socketUrl, gateway.token);
  for (const method of ['evil"} 1\nevil_total{x="', 'evil.method', 'x'.repeat(128)]) await client.request(method);
  await exchange(gateway, requestText(gateway, '/evil-path', { headers: { Host: 'evil-host.example', Origin: 'https://evil-origin' } }));
  const { status, body } = await exchange(gateway, requestText(gateway, '/metrics', { headers: bearer(gateway.token) }));
  assert.equal(status, 200);
  assert.doesNotMatch(body, /evil|xxxx/);
  assert.match(body, /^tenon_requests_total\{method="unknown",outcome="UNKNOWN_METHOD"\} 3$/m);
  assert.ok(!body.includes(gateway.token));
  for (const line of body.trim().split('\n')) assert.match(line, /^(# (HELP|TYPE) \w+ .+|\w+(\{[^{}\n]*\})? -?[\d.e+-]+)$/, line);
  await assertUnharmed(gateway, { incidents: ['http.host'] });
});
