// S67, S82: the HTTP side of the port.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits } from '@tenon/protocol';
import { type GatewayProcess, startGatewayProcess, type StartOptions } from '../support/gateway.ts';
import { createDatabase, startPostgres } from '../support/postgres.ts';
import { connectRaw } from '../support/raw-client.ts';
import { verifies } from '../support/verifies.ts';
import {
  assertStrictHeaders,
  assertUnharmed,
  bystander,
  exchange,
  type HttpAnswer,
  mintToken,
  newAddress,
  openByHand,
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
    [200, ask('/metrics')],
    [200, ask('/', { method: 'HEAD' })],
    [200, ask('/metrics', { method: 'HEAD' })],
    [200, ask('/', { headers: { Expect: 'a-miracle' } })],
    [200, ask('/', { headers: { Expect: '100-continue' } })],
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

  const waiting = await Promise.all(Array.from({ length: limits.preAuthSocketsPerAddress.value }, () => openByHand(gateway)));
  const full = await exchange(gateway, upgrade({}));
  assert.equal(full.status, 503);
  assertStrictHeaders(full, 'full');
  for (const each of waiting) each.socket.destroy();
  await assertUnharmed(gateway, {
    incidents: ['http.malformed', 'http.origin', 'http.cross-site', 'http.body', 'http.host', 'http.headers', 'ws.malformed', 'ws.full'],
  });
});

test('S67 the page has no script, and its style is the one that the policy names', async () => {
  verifies('S67');
  await using gateway = await startGatewayProcess();
  const page = await exchange(gateway, requestText(gateway, '/'));
  const { nonce } = assertStrictHeaders(page, 'the page');
  assert.equal(page.headers['content-type'], 'text/html; charset=utf-8');
  assert.doesNotMatch(page.body, /<script|\son\w+\s*=|javascript:|<iframe|<base|<form|\sstyle\s*=|https?:\/\//i);
  assert.deepEqual(page.body.match(/<style[^>]*>/g), [`<style nonce="${nonce}">`]);
  assert.ok(!page.body.includes(gateway.token));
  await assertUnharmed(gateway);
});

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

test('S82 off loopback the metrics need a token that may read', async () => {
  verifies('S82');
  await using gateway = await startExposed();
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
      const answer = await askMetrics(gateway, headers, newAddress(), method);
      assert.equal(answer.status, status, `${method} with ${JSON.stringify(headers).slice(0, 80)}`);
      assert.doesNotMatch(answer.body, /tenon_[a-z]/);
      assertStrictHeaders(answer, JSON.stringify(headers).slice(0, 80));
    }
  }
  const inAddress = await exchange(gateway, requestText(gateway, `/metrics?token=${gateway.token}`, { headers: { Host: METRICS_HOST } }));
  assert.equal(inAddress.status, 401, 'a token in the address');
  const from = newAddress();
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
  assert.equal((await askMetrics(gateway, bearer(gateway.token), from)).status, 429, 'right is not told from wrong');
  await assert.rejects(connectRaw(gateway.socketUrl, gateway.token, {}, { localAddress: from }), /RATE_LIMITED/, 'nor at the socket');
  assert.equal((await askMetrics(gateway, bearer(gateway.token), newAddress())).status, 200, 'another address');
  await assertUnharmed(gateway, { from, incidents: ['auth.failed', 'auth.rate-limited'] });
});

test('S09 on PostgreSQL, where a look at a token takes a while, a flood side by side finds no token either', async () => {
  verifies('S09', 'S82');
  // `npm test` has a server for all; a run of this file alone starts its own.
  const own = process.env.TENON_TEST_POSTGRES ? undefined : await startPostgres();
  const database = await createDatabase(own?.url);
  try {
    await using gateway = await startExposed({ args: ['--store-engine', 'postgres'], env: { TENON_STORE_URL: database.url } });
    const from = newAddress();
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
  let answered = 0;
  while (left > 0) {
    assert.equal((await inside.request('health')).ok, true);
    answered++;
  }
  await flooding;
  assert.ok(answered > 20, `${answered} answers during the flood`);
  await assertUnharmed(gateway, { incidents: ['auth.missing'] });
});

test('S82 what strangers send does not become part of the metrics', async () => {
  verifies('S82');
  await using gateway = await startGatewayProcess();
  await using client = await connectRaw(gateway.socketUrl, gateway.token);
  for (const method of ['evil"} 1\nevil_total{x="', 'evil.method', 'x'.repeat(128)]) await client.request(method);
  await exchange(gateway, requestText(gateway, '/evil-path', { headers: { Host: 'evil-host.example', Origin: 'https://evil-origin' } }));
  const { status, body } = await exchange(gateway, requestText(gateway, '/metrics'));
  assert.equal(status, 200, 'on loopback without a token');
  assert.doesNotMatch(body, /evil|xxxx/);
  assert.match(body, /^tenon_requests_total\{method="unknown",outcome="UNKNOWN_METHOD"\} 3$/m);
  assert.ok(!body.includes(gateway.token));
  for (const line of body.trim().split('\n')) assert.match(line, /^(# (HELP|TYPE) \w+ .+|\w+(\{[^{}\n]*\})? -?[\d.e+-]+)$/, line);
  await assertUnharmed(gateway, { incidents: ['http.host'] });
});
