// The gateway as a client meets it: the handshake, events and their replay, status, settings, stopping.
import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { eventNames, eventRow, limits, matches, methodNames, HelloOk } from '@tenon/protocol';
import { loadConfig } from '../../packages/gateway/src/config.ts';
import { startGateway } from '../../packages/gateway/src/gateway.ts';
import { cleanUp, removeFolder } from '../support/clean-up.ts';
import { createManualClock } from '../support/clock.ts';
import { startGatewayProcess, temporaryHome } from '../support/gateway.ts';
import { clientInfo, connectRaw, openRaw } from '../support/raw-client.ts';
import { verifies } from '../support/verifies.ts';

test('connect must be first; hello says what the tables say, and how things stand', async () => {
  verifies('seed4:first-frame-connect', 'seed4:hello-features', 'seed4:snapshot', 'foundation:port');
  await using gateway = await startGatewayProcess();
  await using rude = await openRaw(gateway.socketUrl);
  assert.equal((await rude.request('health')).error?.code, 'INVALID_REQUEST');
  assert.equal((await rude.closed).code, 1008);

  await using client = await connectRaw(gateway.socketUrl, gateway.token, { caps: ['resume'] });
  const hello = client.hello.payload;
  assert.ok(matches(HelloOk, hello));
  assert.deepEqual(hello.features.methods, ['connect', ...methodNames]);
  assert.deepEqual(
    hello.features.events,
    eventNames.filter((name) => eventRow(name).scope !== 'handshake'),
  );
  assert.deepEqual(hello.policy, {
    maxPayload: limits.maxPayload.value,
    maxBufferedBytes: limits.maxBufferedBytes.value,
    tickIntervalMs: limits.tickIntervalMs.value,
    maxInFlight: limits.maxInFlight.value,
    maxInFlightBytes: limits.maxInFlightBytes.value,
  });
  assert.equal(hello.snapshot.presence[0]?.connId, hello.server.connId, 'it sees itself');
  assert.equal(hello.snapshot.health.ok, true);
  const mismatch = await openRaw(gateway.socketUrl);
  const refused = await mismatch.request('connect', { minProtocol: 1, maxProtocol: 2, client: clientInfo, auth: { token: gateway.token } });
  assert.equal(refused.error?.code, 'PROTOCOL_MISMATCH');
  assert.equal((await mismatch.closed).code, 1008);
  const page = await fetch(gateway.url);
  assert.equal(page.status, 200, 'HTTP is served on the same port');
});

test('the first start makes a token in a private file, and the store keeps only its digest', async () => {
  verifies('foundation:shared-token');
  await using gateway = await startGatewayProcess();
  for (const [name, mode] of Object.entries({ token: 0o600, 'home.key': 0o600, 'tenon.db': 0o600, 'tenon.db-wal': 0o600, '.': 0o700 })) {
    assert.equal(statSync(join(gateway.home, name)).mode & 0o777, mode, name);
  }
  await using admin = await connectRaw(gateway.socketUrl, gateway.token);
  const { token } = (await admin.request('tokens.create', { name: 'x', scopes: ['operator.read'], idempotencyKey: 'k' })).payload;
  await gateway.stop();
  for (const secret of [gateway.token, token]) {
    for (const file of ['tenon.db', 'logs/gateway.log']) {
      assert.ok(!readFileSync(join(gateway.home, file)).includes(secret), `a secret is in ${file}`);
    }
  }
  const database = new DatabaseSync(join(gateway.home, 'tenon.db'), { readOnly: true });
  assert.equal(database.prepare('select count(*) as n from tokens where length(digest) = 64').get()?.n, 2);
  database.close();
});

test('tick, presence, health and shutdown are events; a moved wall clock does not disturb them', async (t) => {
  verifies('seed4:tick');
  const home = temporaryHome();
  cleanUp(t, () => removeFolder(home));
  const clock = createManualClock(Date.now());
  const gateway = await startGateway({ config: loadConfig({ home, env: {}, flags: { 'gateway.port': 0 } }), version: 'test', clock });
  const token = readFileSync(gateway.tokenFile, 'utf8').trim();
  const socketUrl = gateway.url.replace('http', 'ws');
  await using first = await connectRaw(socketUrl, token);
  await using second = await connectRaw(socketUrl, token);
  clock.jump(-86_400_000);
  clock.advance(100);
  const presence = await first.find((frame) => frame.event === 'presence');
  assert.deepEqual(
    presence.payload.presence.map((entry: { connId: string }) => entry.connId),
    [first, second].map((client) => client.hello.payload.server.connId),
  );
  assert.equal((presence as { stateVersion?: { presence: number } }).stateVersion?.presence, 2);
  clock.advance(limits.tickIntervalMs.value);
  assert.equal((await first.find((frame) => frame.event === 'tick')).seq, undefined, 'an ephemeral event has no position');
  const stopped = gateway.stop('the end of the test');
  assert.deepEqual((await first.find((frame) => frame.event === 'shutdown')).payload, { reason: 'the end of the test' });
  assert.equal((await first.closed).code, 1012);
  await second.closed;
  clock.advance(limits.closeGraceMs.value);
  await stopped;
});

test('events have positions, and a client that comes back gets what it missed, once', async () => {
  verifies('foundation:resume', 'foundation:event-positions');
  await using gateway = await startGatewayProcess();
  await using admin = await connectRaw(gateway.socketUrl, gateway.token);
  const create = (name: string) => admin.request('sessions.create', { key: `agent:main:${name}` });
  await using before = await connectRaw(gateway.socketUrl, gateway.token, { caps: ['resume'] });
  await create('one');
  const { seq, epoch } = await before.find((frame) => frame.event === 'sessions.changed');
  assert.equal(seq, 1);
  await before.close();
  await create('two');
  await create('three');

  await using back = await connectRaw(gateway.socketUrl, gateway.token, { caps: ['resume'], resume: { epoch, seq } });
  await back.find((frame) => frame.event === 'resumed');
  await create('four');
  await back.find((frame) => frame.seq === 4);
  const replayed = back.frames.filter((frame) => frame.event === 'sessions.changed' || frame.event === 'resumed');
  assert.deepEqual(
    replayed.map((frame) => [frame.payload.key ?? frame.event, frame.prev]),
    [
      ['agent:main:two', 1],
      ['agent:main:three', 2],
      ['resumed', undefined],
      ['agent:main:four', 3],
    ],
  );
  await using stranger = await connectRaw(gateway.socketUrl, gateway.token, { resume: { epoch: 'another-epoch', seq: 1 } });
  const told = await stranger.find((frame) => frame.event === 'snapshot-required');
  assert.deepEqual(told.payload, { reason: 'epoch-changed', epoch, seq: 4 });
});

test('a connection chooses its events', async () => {
  verifies('foundation:subscribe');
  await using gateway = await startGatewayProcess();
  await using admin = await connectRaw(gateway.socketUrl, gateway.token, { events: [] });
  const create = (name: string) => admin.request('sessions.create', { key: `agent:main:${name}` });
  await create('unheard');
  const { payload } = await admin.request('events.subscribe', { events: ['sessions.changed'] });
  assert.deepEqual(payload.events, ['sessions.changed']);
  await create('heard');
  await admin.find((frame) => frame.event === 'sessions.changed');
  assert.deepEqual((await admin.request('events.unsubscribe', { events: ['sessions.changed'] })).payload.events, []);
  await create('unheard-again');
  await admin.request('health');
  const heard = admin.frames.filter((frame) => frame.event === 'sessions.changed').map((frame) => frame.payload.key);
  assert.deepEqual(heard, ['agent:main:heard']);
});

test('liveness, readiness and metrics are served over HTTP; logs and doctor over the socket', async () => {
  verifies('foundation:http-endpoints', 'foundation:logs', 'foundation:doctor', 'foundation:retention');
  await using gateway = await startGatewayProcess();
  await using admin = await connectRaw(gateway.socketUrl, gateway.token);
  await admin.request('health');
  for (const path of ['/healthz', '/readyz']) {
    const answer = await fetch(gateway.url + path);
    assert.deepEqual([answer.status, await answer.json()], [200, { ok: true }], path);
  }
  const metrics = await (await fetch(`${gateway.url}/metrics`, { headers: { authorization: `Bearer ${gateway.token}` } })).text();
  assert.match(metrics, /^tenon_connections 1$/m);
  assert.match(metrics, /^tenon_requests_total\{method="health",outcome="ok"\} 1$/m);

  const tail = (await admin.request('logs.tail', { limit: 500 })).payload;
  assert.ok(tail.records.some((record: { message: string }) => record.message === 'ready'));
  assert.deepEqual((await admin.request('logs.tail', { after: tail.cursor })).payload.records, []);

  const report = (await admin.request('doctor.run', {})).payload;
  assert.equal(report.ok, true, JSON.stringify(report.findings));
  const retention = report.findings.filter((finding: { check: string }) => finding.check === 'retention');
  assert.ok(retention.length >= 9);
  for (const { message } of retention) assert.doesNotMatch(message, /no bound is stated/, message);
});

test('a method stops the gateway: the answer arrives, clients are told, and it exits with 0', async () => {
  verifies('foundation:shutdown-method');
  await using gateway = await startGatewayProcess();
  await using admin = await connectRaw(gateway.socketUrl, gateway.token);
  assert.deepEqual((await admin.request('gateway.shutdown', { reason: 'enough' })).payload, { stopping: true });
  assert.deepEqual((await admin.find((frame) => frame.event === 'shutdown')).payload, { reason: 'enough' });
  assert.equal((await admin.closed).code, 1012);
  assert.equal((await gateway.exited).code, 0);
});

test('system.echo is one row, one handler and this test', async () => {
  verifies('seed4:worked-example');
  await using gateway = await startGatewayProcess();
  await using admin = await connectRaw(gateway.socketUrl, gateway.token);
  assert.deepEqual((await admin.request('system.echo', { text: 'hello' })).payload, { ok: true, text: 'hello' });
  // The name stands in the table, beside its handler and in the one table of examples; what is generated follows.
  const { execFileSync } = await import('node:child_process');
  const root = join(import.meta.dirname, '..', '..');
  // Tests that only use it as a method like any other do not count.
  const places = ['packages/*/src/*.ts', 'scripts', 'test/support', ':!*.test.ts'];
  const found = execFileSync('git', ['grep', '--untracked', '-l', '-F', "'system.echo'", '--', ...places], { cwd: root, encoding: 'utf8' });
  assert.deepEqual(found.trim().split('\n'), [
    'packages/gateway/src/rpc/methods/system.ts',
    'packages/protocol/src/methods/system.ts',
    'test/support/method-examples.ts',
  ]);
});
