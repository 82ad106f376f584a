// S09, S14: whatever a local process tries, who has a valid credential gets in; and what strangers may cost is charged to
// the user who costs it.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { limits } from '@tenon/protocol';
import { type GatewayProcess, startGatewayProcess } from '../support/gateway.ts';
import { lockOuts } from '../support/lock-out.ts';
import { connectRaw, openRaw, type RawClient } from '../support/raw-client.ts';
import { verifies } from '../support/verifies.ts';
import { assertUnharmed, bystander, eventually, exchange, openBare, requestText, tryConnect, upgradeHeaders } from './harness.ts';

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

function postText(gateway: GatewayProcess, path: string, body: string): string {
  const headers = { 'Content-Type': 'application/json', 'Content-Length': String(body.length) };
  return requestText(gateway, path, { method: 'POST', headers }) + body;
}

test('S09 a valid credential gets in everywhere, however many wrong ones were tried, and wrong ones learn nothing', async () => {
  verifies('S09', 'S82:lock-out');
  await using gateway = await startGatewayProcess();
  await using admin = await bystander(gateway);
  const code = (((await admin.request('signin.create', {})).payload.url as string).split('#code=')[1] ?? '').trim();
  const spent = limits.authFailuresPerMinute.value;
  const guesses = await Promise.all(
    Array.from({ length: spent * 3 }, (_, index) => tryConnect(gateway, { token: `tenon_wrong-token-${index}` })),
  );
  const codes = guesses.map(({ error }) => error?.code);
  assert.equal(codes.filter((each) => each === 'UNAUTHORIZED').length, spent);
  assert.equal(codes.filter((each) => each === 'RATE_LIMITED').length, spent * 2, 'the rest is not told that it was wrong');

  assert.equal((await tryConnect(gateway, { token: gateway.token })).ok, true, 'the socket');
  for (const path of ['/v1/models', '/metrics', '/api/ext'])
    assert.equal((await exchange(gateway, requestText(gateway, path, { headers: bearer(gateway.token) }))).status, 200, path);
  const wrong = await exchange(gateway, requestText(gateway, '/v1/models', { headers: bearer('wrong') }));
  assert.equal(wrong.status, 429);
  assert.ok(Number(wrong.headers['retry-after']) > 0 && Number(wrong.headers['retry-after']) <= 60);
  assert.equal((await exchange(gateway, postText(gateway, '/api/sign-in', '{"code":"wrong"}'))).status, 429);
  const signedIn = await exchange(gateway, postText(gateway, '/api/sign-in', JSON.stringify({ code })));
  assert.equal(signedIn.status, 200, 'the sign-in');
  const { token } = JSON.parse(signedIn.body) as { token: string };
  assert.equal((await tryConnect(gateway, { token })).ok, true);
  await assertUnharmed(gateway, { incidents: ['auth.failed', 'auth.rate-limited'] });
});

test('S14 connections on which nothing or half a request is sent keep nobody out, even where there are more than the gateway has places', async () => {
  verifies('S14:idle-sockets');
  await using gateway = await startGatewayProcess();
  await lockOuts['connections without a word']!(gateway, 3_200);
  await assertUnharmed(gateway, { incidents: ['http.full'] });
});

/** An upgrade that is followed by nothing. */
async function silentSocket(gateway: GatewayProcess) {
  const bare = await openBare(gateway);
  bare.socket.write(requestText(gateway, '/', { headers: upgradeHeaders }));
  return bare;
}

test('S14 sockets that say nothing keep nobody out, and a burst of twelve is not refused', async (t) => {
  verifies('S14');
  await using gateway = await startGatewayProcess();
  await using inside = await bystander(gateway);
  const burst = await Promise.all(Array.from({ length: 12 }, () => connectRaw(gateway.socketUrl, gateway.token)));
  for (const client of burst) assert.equal(client.hello.ok, true);

  const silent = await Promise.all(Array.from({ length: 150 }, () => silentSocket(gateway)));
  await using newcomer = await connectRaw(gateway.socketUrl, gateway.token);
  assert.equal((await newcomer.request('health')).ok, true);
  await eventually('all but a few are closed', () => {
    const open = silent.filter(({ socket }) => !socket.destroyed && !socket.readableEnded).length;
    t.diagnostic(`${open} silent sockets are open`);
    return open <= limits.preAuthSockets.value;
  });
  // Wrong credentials on sockets that are then left open take no place either.
  const stubborn = await Promise.all(Array.from({ length: 40 }, () => openRaw(gateway.socketUrl)));
  for (const client of stubborn) client.send({ type: 'req', id: '1', method: 'connect', params: { nonsense: true } });
  assert.equal((await tryConnect(gateway, { token: gateway.token })).ok, true);
  assert.equal((await inside.request('health')).ok, true, 'who is inside notices nothing');
  for (const { socket } of silent) socket.destroy();
  await Promise.all([...burst, ...stubborn].map((client: RawClient) => client.close()));
  await assertUnharmed(gateway, { incidents: ['ws.full'] });
});

test('S14 the places of one user are not those of another', {
  skip: process.getuid?.() !== 0 && 'another user can be had by root only',
}, async () => {
  verifies('S09', 'S14');
  await using gateway = await startGatewayProcess();
  const told = await asNobody(gateway.port);
  assert.equal(told.limited, true, 'nobody has spent its own budget');
  const own = await tryConnect(gateway, { token: 'tenon_wrong' });
  assert.equal(own.error?.code, 'UNAUTHORIZED', 'and not that of root');
  await using admin = await bystander(gateway);
  const { payload } = await admin.request('audit.list', { limit: 50 });
  const accounts = (payload.records as { action: string; details: { account?: string } }[])
    .filter(({ action }) => action === 'auth.rate-limited')
    .map(({ details }) => details.account);
  assert.deepEqual(accounts, ['uid:65534']);
});

/** Guesses as another user of this machine until it is told to wait. */
function asNobody(port: number): Promise<{ limited: boolean }> {
  const program = `
    const { get } = require('node:http');
    const ask = () => new Promise((resolve, reject) => get({ host: '127.0.0.1', port: ${port}, path: '/v1/models', agent: false, headers: { authorization: 'Bearer wrong' } }, (answer) => { answer.resume(); resolve(answer.statusCode); }).on('error', reject));
    (async () => { let status; for (let n = 0; n <= ${limits.authFailuresPerMinute.value}; n++) status = await ask(); console.log(JSON.stringify({ limited: status === 429 })); })();`;
  return new Promise((resolve, reject) => {
    execFile(process.execPath, ['-e', program], { uid: 65534, gid: 65534, cwd: '/' }, (error, stdout) =>
      error ? reject(error) : resolve(JSON.parse(stdout) as { limited: boolean }),
    );
  });
}
