import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { expandScopes, limits } from '@tenon/protocol';
import type { Clock } from '../kernel/clock.ts';
import { openTestServer, type TestServer } from './test-server.ts';

const JSON_TYPE = { 'content-type': 'application/json' };

function post(
  server: TestServer,
  path: string,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = JSON_TYPE,
): Promise<Response> {
  return fetch(`${server.net.url}${path}`, { method: 'POST', headers, body });
}

function signIn(server: TestServer, code: string): Promise<Response> {
  return post(server, '/api/sign-in', JSON.stringify({ code }));
}

function newCode(server: TestServer, scopes: readonly ['operator.admin'] | readonly ['operator.read'] = ['operator.admin']): string {
  const { id } = server.signIn.create({ scopes, by: 'test', held: expandScopes(['operator.admin']) });
  return server.signIn.url(id)?.split('#code=')[1] ?? '';
}

/** Sends as it is told, and gives everything that comes back. */
async function exchange(server: TestServer, ...parts: readonly string[]): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port: server.net.port });
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', () => {});
  await once(socket, 'connect');
  for (const part of parts) socket.write(part);
  await once(socket, 'close');
  return Buffer.concat(chunks).toString();
}

const statusOf = (answer: string) => Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]);

function headOf(server: TestServer, path: string, headers: Record<string, string>): string {
  const lines = Object.entries({ Host: `127.0.0.1:${server.net.port}`, 'Content-Type': 'application/json', ...headers });
  return `POST ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`;
}

test('a code signs one browser in, once: the token has its scopes, a name and an end', async () => {
  await using server = await openTestServer();
  const code = newCode(server, ['operator.read']);
  const answer = await signIn(server, code);
  assert.equal(answer.status, 200);
  const { token, record } = (await answer.json()) as {
    token: string;
    record: { name: string; scopes: string[]; expiresAt: number; createdAt: number };
  };
  assert.deepEqual([record.name, record.scopes], ['web page', ['operator.read']]);
  assert.equal(record.expiresAt - record.createdAt, limits.signInTokenTtlMs.value);
  const bearer = { authorization: `Bearer ${token}` };
  assert.equal((await fetch(`${server.net.url}/v1/models`, { headers: bearer })).status, 200);

  const again = await signIn(server, code);
  assert.equal(again.status, 401);
  assert.match(((await again.json()) as { message: string }).message, /tenon ui/);

  assert.deepEqual(await (await fetch(`${server.net.url}/api/sign-out`, { method: 'POST', headers: bearer })).json(), { revoked: true });
  assert.equal((await fetch(`${server.net.url}/v1/models`, { headers: bearer })).status, 401, 'after signing out');
  const shared = await fetch(`${server.net.url}/api/sign-out`, { method: 'POST', headers: { authorization: `Bearer ${server.token}` } });
  assert.equal(shared.status, 400, 'the token of the token file');
  assert.equal((await fetch(`${server.net.url}/v1/models`, { headers: { authorization: `Bearer ${server.token}` } })).status, 200);
});

test('a browser is not signed in for longer than the credential that let it in', async () => {
  await using server = await openTestServer();
  const tokenUntil = Date.now() + 3_600_000;
  const { id } = server.signIn.create({ scopes: ['operator.read'], by: 'test', held: expandScopes(['operator.read']), tokenUntil });
  const answer = await signIn(server, server.signIn.url(id)?.split('#code=')[1] ?? '');
  assert.equal(((await answer.json()) as { record: { expiresAt: number } }).record.expiresAt, tokenUntil);
});

test('two browsers with the same link: one of them is signed in', async () => {
  await using server = await openTestServer();
  const code = newCode(server);
  const answers = await Promise.all(Array.from({ length: 5 }, () => signIn(server, code)));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 401, 401, 401, 401]);
});

test('guessing codes counts as guessing tokens', async () => {
  await using server = await openTestServer();
  const code = newCode(server);
  for (let n = 0; n < limits.authFailuresPerMinute.value; n++) assert.equal((await signIn(server, `wrong-${n}`)).status, 401);
  assert.equal((await signIn(server, 'wrong-again')).status, 429);
  const asked = (token: string) => fetch(`${server.net.url}/v1/models`, { headers: { authorization: `Bearer ${token}` } });
  assert.equal((await asked('wrong')).status, 429, 'one budget for both');
  assert.equal((await asked(server.token)).status, 200, 'a right one gets in');
  assert.equal((await signIn(server, code)).status, 200);
  assert.ok(server.refused.includes('auth.failed') && server.refused.includes('auth.rate-limited'));
});

test('bodies: wrong type, not JSON, too large by what is declared and by what comes', async () => {
  await using server = await openTestServer();
  const path = '/api/sign-in';
  const cases: [status: number, body: string | Uint8Array<ArrayBuffer>, headers?: Record<string, string>][] = [
    [415, '{"code":"x"}', { 'content-type': 'text/plain' }],
    [415, 'code=x', { 'content-type': 'application/x-www-form-urlencoded' }],
    [415, '{"code":"x"}', { 'content-type': 'application/json; charset=latin1' }],
    [415, gzipSync('{"code":"x"}'), { ...JSON_TYPE, 'content-encoding': 'gzip' }],
    [400, '{"code":'],
    [400, '{"code":"x","code":"y"}'],
    [400, '{"__proto__":{}}'],
    [400, new Uint8Array([0x22, 0xff, 0x22])],
    [400, '{"code":7}'],
    [400, '{"code":"x","more":1}'],
    [400, '[]'],
    [413, 'x'.repeat(2_000)],
    [401, '{"code":"x"}', { 'content-type': 'Application/JSON; charset="UTF-8"' }],
  ];
  for (const [status, body, headers] of cases)
    assert.equal((await post(server, path, body, headers)).status, status, String(body).slice(0, 40));

  const chunk = `400\r\n${'x'.repeat(1024)}\r\n`;
  assert.equal(statusOf(await exchange(server, headOf(server, path, { 'Transfer-Encoding': 'chunked' }), chunk, chunk)), 413, 'chunked');
  const lying = await exchange(
    server,
    headOf(server, path, { 'Content-Length': '12', Connection: 'close' }),
    '{"code":"x"}POST /api/x HTTP/1.1\r\n\r\n',
  );
  assert.equal(statusOf(lying), 400);
  assert.equal(lying.match(/HTTP\/1\.1/g)?.length, 1, 'what follows the declared length is no second request');
  const both = await exchange(server, headOf(server, path, { 'Content-Length': '12', 'Transfer-Encoding': 'chunked' }), '0\r\n\r\n');
  assert.equal(statusOf(both), 400, 'both lengths');
  assert.ok(server.refused.includes('http.body'));
});

test('a body that is asked for with Expect is sent for only when it would be taken', async () => {
  await using server = await openTestServer();
  const expect = { Expect: '100-continue', Connection: 'close' };
  const body = '{"code":"x"}';
  const asked = await exchange(server, headOf(server, '/api/sign-in', { ...expect, 'Content-Length': String(body.length) }), body);
  assert.match(asked, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 401 /);
  assert.equal(statusOf(await exchange(server, headOf(server, '/api/sign-in', { ...expect, 'Content-Length': '5000' }))), 413);
  assert.equal(statusOf(await exchange(server, headOf(server, '/v1/chat/completions', { ...expect, 'Content-Length': '50' }))), 401);
});

test('a stranger who sends slowly is not waited for, and one with a credential not for ever', async () => {
  const clock = createStepClock();
  await using server = await openTestServer({ clock });
  const slow = exchange(server, headOf(server, '/api/sign-in', { 'Content-Length': '12' }), '{"co');
  const known = exchange(
    server,
    headOf(server, '/v1/chat/completions', { 'Content-Length': '12', Authorization: `Bearer ${server.token}` }),
    '{"co',
  );
  await clock.waiting(limits.handshakeTimeoutMs.value);
  await clock.waiting(limits.httpBodyTimeoutMs.value);
  clock.fire(limits.handshakeTimeoutMs.value);
  await clock.waiting(limits.closeGraceMs.value);
  clock.fire(limits.closeGraceMs.value);
  assert.equal(statusOf(await slow), 408);
  clock.fire(limits.httpBodyTimeoutMs.value);
  await clock.waiting(limits.closeGraceMs.value);
  clock.fire(limits.closeGraceMs.value);
  const answer = await known;
  assert.equal(statusOf(answer), 408);
  assert.match(answer, /"error":\{"message":"The body did not arrive within 60000 ms"/);
});

test('the credential comes before the body, and its scope is asked for', async () => {
  await using server = await openTestServer();
  const reader = await server.mint(['operator.read']);
  const bound = await server.mint(['operator.admin'], 'agent:main:guest');
  for (const path of ['/v1/chat/completions', '/api/sessions/import?key=agent:main:x']) {
    assert.equal((await post(server, path, 'not json')).status, 401, path);
    assert.equal((await post(server, path, 'not json', { ...JSON_TYPE, authorization: 'Bearer x' })).status, 401, path);
    assert.equal((await post(server, path, 'not json', { ...JSON_TYPE, authorization: `Bearer ${reader.token}` })).status, 403, path);
    assert.equal((await fetch(`${server.net.url}${path}`)).status, 405, path);
  }
  const guest = { 'content-type': 'application/jsonl', authorization: `Bearer ${bound.token}` };
  assert.equal((await post(server, '/api/sessions/import?key=agent:main:guest', '', guest)).status, 403);
  const missing = (await (await post(server, '/v1/chat/completions', '{}')).json()) as { error: { type: string; code: string } };
  assert.deepEqual([missing.error.type, missing.error.code], ['authentication_error', 'AUTH_REQUIRED']);
});

test('a session comes in as lines of JSON, whole or not at all', async () => {
  await using server = await openTestServer();
  const headers = { 'content-type': 'application/x-ndjson', authorization: `Bearer ${server.token}` };
  const time = '2026-01-02T03:04:05.000Z';
  const lines = [
    { type: 'session', version: 3, id: 'abcd1234', timestamp: time, cwd: '/' },
    { type: 'message', id: 'aaaa1111', parentId: null, timestamp: time, message: { role: 'user', content: 'hi', timestamp: 1 } },
  ].map((line) => JSON.stringify(line));
  const bad = await post(server, '/api/sessions/import?key=agent:main:in', `${lines.join('\n')}\n{"type":"message"}`, headers);
  assert.equal(bad.status, 400);
  assert.match(((await bad.json()) as { message: string }).message, /^Line 3 /);
  const good = await post(server, '/api/sessions/import?key=agent:main:in&title=From%20a%20file', lines.join('\n'), headers);
  const answer = (await good.json()) as { session: { key: string; title: string }; entries: number; skipped: number };
  assert.deepEqual([answer.session.key, answer.session.title, answer.entries, answer.skipped], ['agent:main:in', 'From a file', 1, 0]);
  assert.equal((await post(server, '/api/sessions/import?key=agent:main:in', lines.join('\n'), headers)).status, 409);
  assert.equal((await post(server, '/api/sessions/import?key=x', lines.join('\n'), headers)).status, 400);
});

test('the files of the page come from memory, under exact names, with a fresh nonce in the page', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tenon-page-'));
  try {
    mkdirSync(join(folder, 'assets'));
    writeFileSync(
      join(folder, 'index.html'),
      '<style nonce="__NONCE__"></style><meta content="__NONCE__"><script src="/assets/app-AB12CD34.js"></script>',
    );
    writeFileSync(join(folder, 'assets', 'app-AB12CD34.js'), 'console.log(1)');
    writeFileSync(join(folder, 'assets', 'app-AB12CD34.js.gz'), gzipSync('console.log(1)'));
    writeFileSync(join(folder, 'icon.svg'), '<svg/>');
    writeFileSync(join(folder, 'secret.key'), 'no');
    await using server = await openTestServer({ page: folder });
    const get = (path: string, headers: Record<string, string> = {}) => fetch(`${server.net.url}${path}`, { headers });

    const nonces = await Promise.all(
      ['/', '/?code=x'].map(async (path) => {
        const page = await get(path);
        const nonce = /'nonce-([^']+)'/.exec(page.headers.get('content-security-policy') ?? '')?.[1];
        assert.equal(page.headers.get('cache-control'), 'no-store');
        assert.equal(page.headers.get('content-type'), 'text/html; charset=utf-8');
        assert.equal(
          await page.text(),
          `<style nonce="${nonce}"></style><meta content="${nonce}"><script src="/assets/app-AB12CD34.js"></script>`,
        );
        return nonce;
      }),
    );
    assert.notEqual(nonces[0], nonces[1]);

    const script = await get('/assets/app-AB12CD34.js', { 'accept-encoding': 'br, gzip' });
    assert.equal(script.headers.get('content-encoding'), 'gzip');
    assert.equal(script.headers.get('vary'), 'accept-encoding');
    assert.equal(script.headers.get('content-type'), 'text/javascript; charset=utf-8');
    assert.equal(script.headers.get('cache-control'), 'public, max-age=31536000, immutable');
    assert.equal(await script.text(), 'console.log(1)');
    assert.equal((await get('/assets/app-AB12CD34.js', { 'accept-encoding': 'gzip;q=0' })).headers.get('content-encoding'), null);
    assert.equal((await get('/icon.svg')).headers.get('cache-control'), 'no-store', 'a name that stays');
    rmSync(folder, { recursive: true });
    assert.equal((await get('/icon.svg')).status, 200, 'also when the files have gone');

    for (const path of [
      '/index.html',
      '/assets',
      '/assets/',
      '/secret.key',
      '/assets/app-AB12CD34.js.gz',
      '/assets/../icon.svg%2e',
      '/%69con.svg',
      '//icon.svg',
    ])
      assert.equal(
        statusOf(await exchange(server, `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${server.net.port}\r\nConnection: close\r\n\r\n`)),
        404,
        path,
      );
    assert.equal((await fetch(`${server.net.url}/icon.svg`, { method: 'POST' })).status, 405);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('the page says what is less safe than the default', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tenon-page-'));
  writeFileSync(join(folder, 'index.html'), '<body><!--WARNINGS--></body>');
  try {
    await using exposed = await openTestServer({ page: folder, warnings: ['Listening on <all> $& addresses'] });
    assert.equal(
      await (await fetch(exposed.net.url)).text(),
      '<body><p class="exposed" role="alert">Listening on &#60;all&#62; $&#38; addresses</p></body>',
    );
    await using safe = await openTestServer({ page: folder });
    assert.equal(await (await fetch(safe.net.url)).text(), '<body></body>');
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('without a built page the status page is at its place', async () => {
  await using server = await openTestServer({ page: join(tmpdir(), 'tenon-no-such-folder') });
  const page = await fetch(server.net.url);
  assert.equal(page.status, 200);
  assert.match(await page.text(), /<style nonce="/);
});

/** A clock whose timers go off when the test says so; its time is the system's. */
function createStepClock() {
  const timers = new Map<() => void, number>();
  const add = (delayMs: number, call: () => void) => {
    timers.set(call, delayMs);
    return { cancel: () => void timers.delete(call) };
  };
  return {
    now: () => Date.now(),
    monotonic: () => performance.now(),
    after: add,
    every: () => ({ cancel() {} }),
    async waiting(delayMs: number): Promise<void> {
      while (![...timers.values()].includes(delayMs)) await new Promise((resolve) => setImmediate(resolve));
    },
    fire(delayMs: number): void {
      for (const [call, delay] of timers) {
        if (delay !== delayMs) continue;
        timers.delete(call);
        call();
      }
    },
  } satisfies Clock & { waiting(delayMs: number): Promise<void>; fire(delayMs: number): void };
}
