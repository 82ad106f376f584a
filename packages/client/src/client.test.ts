import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { ConnectParams, explain, PROTOCOL_VERSION } from '@tenon/protocol';
import { build } from 'esbuild';
import { WebSocket } from 'ws';
import { createFakeClock } from '../test-support/fake-clock.ts';
import { meet, nextOf, nextState, openClient } from '../test-support/open-client.ts';
import { verifies } from '../../../test/support/verifies.ts';
import { EPOCH, hello, openScriptedGateway } from '../test-support/scripted-gateway.ts';
import { CLIENT_VERSION, type Client, ConnectionError, GatewayError, type Invalid, ProtocolError } from './index.ts';

const options = { timeout: 20_000 };
const soon = { minMs: 0, maxMs: 0 };
const tick = (client: Client) => nextOf((listener) => client.on('tick', listener));

test('connect is the first frame and says who, how and what; hello is its answer', options, async (t) => {
  const gateway = await openScriptedGateway(t);
  const client = openClient(t, {
    url: gateway.url,
    WebSocket,
    token: 'secret',
    scopes: ['operator.read'],
    events: ['sessions.changed'],
    client: { id: 'test', displayName: 'A test' },
  });
  assert.deepEqual(client.state, { kind: 'closed', reason: 'new' });
  const opening = client.connect();
  assert.equal(client.connect() instanceof Promise, true);
  const peer = await gateway.next();
  const params = await peer.welcome();
  assert.equal(explain(ConnectParams, params, 'params'), undefined);
  assert.deepEqual(
    { ...params, client: undefined },
    {
      minProtocol: PROTOCOL_VERSION,
      maxProtocol: PROTOCOL_VERSION,
      client: undefined,
      caps: ['resume'],
      scopes: ['operator.read'],
      auth: { token: 'secret' },
      events: ['sessions.changed', 'tick'],
    },
  );
  assert.equal(params.client.id, 'test');
  assert.equal(params.client.version, CLIENT_VERSION);
  assert.deepEqual(await opening, hello());
  assert.deepEqual(await client.connect(), hello());
  assert.deepEqual(client.hello, hello());
  assert.deepEqual(client.position, { epoch: EPOCH, seq: 10 });
  assert.deepEqual(client.states, [{ kind: 'connecting' }, { kind: 'connected' }]);
});

test('the version is the one of the package', () => {
  const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string };
  assert.equal(CLIENT_VERSION, manifest.version);
});

test('the package bundles for a browser: nothing of Node is in it', async () => {
  const entry = new URL('./index.ts', import.meta.url).pathname;
  const { errors, outputFiles } = await build({ entryPoints: [entry], bundle: true, platform: 'browser', format: 'esm', write: false });
  assert.deepEqual(errors, []);
  assert.doesNotMatch(outputFiles[0]?.text ?? '', /["']node:|\bBuffer\.|\bprocess\.(env|nextTick|on)\b/);
});

test('a refusal rejects the first connect with its code, whether or not it may get better', options, async (t) => {
  const gateway = await openScriptedGateway(t);
  for (const code of ['UNAUTHORIZED', 'PROTOCOL_MISMATCH', 'INVALID_REQUEST', 'NOT_PAIRED', 'RATE_LIMITED', 'UNAVAILABLE'] as const) {
    const client = openClient(t, { url: gateway.url, WebSocket });
    const opening = client.connect();
    const calling = client.call('health');
    const peer = await gateway.next();
    await peer.turnAway({ code, message: 'No', details: { requestId: 'r1' }, retryAfterMs: 5 });
    await assert.rejects(opening, (error) => error instanceof GatewayError && error.code === code && error.retryAfterMs === 5);
    await assert.rejects(calling, { code });
    assert.equal(client.state.kind === 'closed' && client.state.reason, 'refused');
  }
});

test('nobody there, a bad address, silence and a peer that hangs up are all UNREACHABLE', options, async (t) => {
  const gateway = await openScriptedGateway(t);
  const unreachable = (error: unknown) => error instanceof ConnectionError && error.code === 'UNREACHABLE';

  const clock = createFakeClock();
  const silent = openClient(t, { url: gateway.url, WebSocket, clock, requestTimeoutMs: 2_000 });
  const waiting = silent.connect();
  await (await gateway.next()).next();
  clock.advance(2_000);
  await assert.rejects(waiting, unreachable);

  const hungUp = openClient(t, { url: gateway.url, WebSocket });
  const opening = hungUp.connect();
  (await gateway.next()).close(1013, 'try later');
  await assert.rejects(opening, (error) => unreachable(error) && (error as ConnectionError).closeCode === 1013);

  await gateway.stop();
  for (const Class of [WebSocket, globalThis.WebSocket]) {
    const alone = openClient(t, { url: gateway.url, WebSocket: Class });
    await assert.rejects(alone.connect(), unreachable);
    assert.equal(alone.state.kind === 'closed' && alone.state.reason, 'unreachable');
    await assert.rejects(openClient(t, { url: 'nonsense://', WebSocket: Class }).connect(), unreachable);
  }
});

test('an answer to connect that is no hello is a ProtocolError', options, async (t) => {
  verifies('seed4:client-validates');
  const gateway = await openScriptedGateway(t);
  for (const reply of [
    { ok: true, payload: { type: 'hello-ok' } },
    { ok: true, payload: hello({ protocol: PROTOCOL_VERSION + 1 }) },
    { ok: false },
    { ok: 'yes' },
  ]) {
    const client = openClient(t, { url: gateway.url, WebSocket });
    const opening = client.connect();
    const peer = await gateway.next();
    const { id } = await peer.next();
    peer.send({ type: 'res', id, ...reply });
    await assert.rejects(opening, ProtocolError);
  }
});

test('with retry, connect waits for what may get better and rejects for what will not', options, async (t) => {
  const gateway = await openScriptedGateway(t);
  const clock = createFakeClock();
  const client = openClient(t, { url: gateway.url, WebSocket, clock, random: () => 0.5 });
  const opening = client.connect({ retry: true });
  const first = nextState(client, 'waiting');
  await (await gateway.next()).turnAway({ code: 'NOT_PAIRED', message: 'Not yet' });
  assert.equal((await first).retryInMs, 125);

  const second = nextState(client, 'waiting');
  clock.advance(125);
  await (await gateway.next()).turnAway({ code: 'RATE_LIMITED', message: 'Slower', retryAfterMs: 9_000 });
  const { retryInMs, error } = await second;
  assert.equal(retryInMs, 9_250);
  assert.ok(error instanceof GatewayError && error.code === 'RATE_LIMITED');

  clock.advance(9_250);
  const rejected = assert.rejects(opening, { code: 'UNAUTHORIZED' });
  await (await gateway.next()).turnAway({ code: 'UNAUTHORIZED', message: 'No' });
  await rejected;
});

test('the delays between attempts grow with full jitter, and connect makes the next attempt now', options, async (t) => {
  verifies('foundation:client-reconnect');
  const gateway = await openScriptedGateway(t);
  const clock = createFakeClock();
  const client = openClient(t, { url: gateway.url, WebSocket, clock, random: () => 0.5, reconnect: { minMs: 100, maxMs: 500 } });
  let lost = nextState(client, 'waiting');
  (await meet(client, gateway)).kill();
  const delays: number[] = [];
  for (let attempt = 0; attempt < 5; attempt++) {
    const { retryInMs } = await lost;
    delays.push(retryInMs);
    lost = nextState(client, 'waiting');
    clock.advance(retryInMs);
    (await gateway.next()).close(1013);
  }
  assert.deepEqual(delays, [50, 100, 200, 250, 250]);
  await lost;
  const peer = await meet(client, gateway);
  assert.equal(client.state.kind, 'connected');

  // A gateway that takes us in and drops us at once gets no rush of attempts; a connection that lasted starts anew.
  clock.advance(499);
  const soonAgain = nextState(client, 'waiting');
  peer.kill();
  assert.equal((await soonAgain).retryInMs, 250);
  const lasting = await meet(client, gateway);
  clock.advance(500);
  const muchLater = nextState(client, 'waiting');
  lasting.kill();
  assert.equal((await muchLater).retryInMs, 50);
});

test('a refusal that will not get better ends reconnecting; one that may, does not', options, async (t) => {
  const gateway = await openScriptedGateway(t);
  const client = openClient(t, { url: gateway.url, WebSocket, reconnect: soon });
  (await meet(client, gateway)).close(1012, 'service restart');
  const calling = client.call('health');
  await (await gateway.next()).turnAway({ code: 'UNAVAILABLE', message: 'Starting', retryAfterMs: 1 });
  await (await gateway.next()).turnAway({ code: 'INTERNAL', message: 'Oh' });
  const closed = nextState(client, 'closed');
  const rejected = assert.rejects(calling, { code: 'UNAUTHORIZED' });
  await (await gateway.next()).turnAway({ code: 'UNAUTHORIZED', message: 'No' });
  await rejected;
  assert.equal((await closed).reason, 'refused');
});

test('4001 closes the client: a revoked credential is not tried again', options, async (t) => {
  const gateway = await openScriptedGateway(t);
  const client = openClient(t, { url: gateway.url, WebSocket, reconnect: soon });
  const peer = await meet(client, gateway);
  const calling = client.call('health');
  await peer.next();
  const rejected = assert.rejects(calling, { name: 'ConnectionError', code: 'REVOKED', closeCode: 4001 });
  peer.close(4001, 'revoked');
  await rejected;
  assert.equal(client.state.kind === 'closed' && client.state.reason, 'revoked');
  assert.deepEqual(
    client.states.map(({ kind }) => kind),
    ['connecting', 'connected', 'closed'],
  );
});

test('without reconnect, a broken connection closes the client; connect opens it again', options, async (t) => {
  const gateway = await openScriptedGateway(t);
  const client = openClient(t, { url: gateway.url, WebSocket, reconnect: false });
  const closed = nextState(client, 'closed');
  (await meet(client, gateway)).kill();
  const { reason, error } = await closed;
  assert.equal(reason, 'lost');
  assert.ok(error instanceof ConnectionError && error.code === 'LOST');
  await meet(client, gateway);
  assert.equal(client.state.kind, 'connected');
});

test('close while connecting, waiting and from inside a listener leaves nothing running', options, async (t) => {
  const gateway = await openScriptedGateway(t);
  const clock = createFakeClock();
  for (const Class of [WebSocket, globalThis.WebSocket]) {
    const unheard = openClient(t, { url: (await openScriptedGateway(t)).url, WebSocket: Class, clock });
    const given = assert.rejects(unheard.connect(), { code: 'CLOSED' });
    await unheard.close();
    await given;

    const connecting = openClient(t, { url: gateway.url, WebSocket: Class, clock });
    const rejected = assert.rejects(connecting.connect(), { code: 'CLOSED' });
    await gateway.next();
    await connecting.close();
    await rejected;
  }

  const waiting = openClient(t, { url: gateway.url, WebSocket, clock });
  const lost = nextState(waiting, 'waiting');
  (await meet(waiting, gateway)).kill();
  await lost;
  await waiting.close();

  const inside = openClient(t, { url: gateway.url, WebSocket, clock });
  inside.onState(({ kind }) => void (kind === 'connecting' && inside.close()));
  await assert.rejects(inside.connect(), { code: 'CLOSED' });
  assert.equal(clock.armed, 0);
});

test('a client that was closed by a listener the moment it connected can be opened again, with its calls', options, async (t) => {
  const gateway = await openScriptedGateway(t);
  const client = openClient(t, { url: gateway.url, WebSocket });
  const off = client.onState(({ kind }) => void (kind === 'connected' && client.close()));
  await meet(client, gateway);
  assert.equal(client.state.kind, 'closed');
  off();
  const opening = client.connect();
  const calling = client.call('health');
  const peer = await gateway.next();
  await peer.welcome();
  peer.answer(await peer.next(), { ok: true });
  assert.deepEqual(await calling, { ok: true });
  await opening;
});

test('two tick intervals of silence close the socket with 4000, and the client comes back', options, async (t) => {
  const gateway = await openScriptedGateway(t);
  const clock = createFakeClock();
  const client = openClient(t, { url: gateway.url, WebSocket, clock, random: () => 0.5 });
  const peer = await meet(client, gateway, { policy: { maxPayload: 1_000, maxBufferedBytes: 1_000, tickIntervalMs: 1_000 } });
  for (let n = 0; n < 5; n++) {
    clock.advance(1_900);
    const heard = tick(client);
    peer.event('tick', { ts: n });
    await heard;
  }
  clock.advance(1_999);
  assert.equal(client.state.kind, 'connected');
  clock.advance(1);
  assert.equal(client.state.kind, 'waiting');
  assert.equal((await peer.closed).code, 4000);
  clock.advance(125);
  await (await gateway.next()).welcome();
});

test('a clock that is set back does not stretch the wait for ticks', options, async (t) => {
  const gateway = await openScriptedGateway(t);
  const clock = createFakeClock();
  let shiftMs = 0;
  const shifted = { ...clock, now: () => clock.now() + shiftMs };
  const client = openClient(t, { url: gateway.url, WebSocket, clock: shifted });
  await meet(client, gateway, { policy: { maxPayload: 1_000, maxBufferedBytes: 1_000, tickIntervalMs: 1_000 } });
  shiftMs = -3_600_000;
  clock.advance(4_000);
  assert.equal(client.state.kind, 'waiting');
});

test('a subscription survives the connection, and silence after giving up ticks is no death', options, async (t) => {
  const gateway = await openScriptedGateway(t);
  const clock = createFakeClock();
  const client = openClient(t, { url: gateway.url, WebSocket, clock, random: () => 0 });
  const peer = await meet(client, gateway);
  const leaving = client.call('events.unsubscribe', { events: ['tick', 'presence'] });
  peer.answer(await peer.next(), { events: ['sessions.changed'] });
  await leaving;
  clock.advance(3_600_000);
  assert.equal(client.state.kind, 'connected');

  const lost = nextState(client, 'waiting');
  peer.kill();
  await lost;
  clock.advance(0);
  assert.deepEqual((await (await gateway.next()).welcome()).events, ['sessions.changed', 'tick']);
});

test('unknown frames and events are kept as they came, and break nothing', options, async (t) => {
  verifies('seed4:unknown-frames-survive');
  const gateway = await openScriptedGateway(t);
  const client = openClient(t, { url: gateway.url, WebSocket });
  const kept: unknown[] = [];
  const invalid: Invalid[] = [];
  client.onUnknown((frame) => kept.push(frame));
  client.onInvalid((report) => invalid.push(report));
  const peer = await meet(client, gateway);
  const frames = [
    { type: 'batch', frames: [{ deep: { er: [1, null] } }] },
    { type: 'event', event: 'weather.changed', payload: { sun: true }, seq: 11, epoch: EPOCH, prev: 10 },
    { type: 'req', id: 's1', method: 'client.ping' },
  ];
  for (const frame of frames) peer.send(frame);
  const heard = tick(client);
  peer.event('tick', { ts: 1 });
  await heard;
  assert.deepEqual(kept, frames);
  assert.deepEqual(invalid, []);
  assert.deepEqual(client.position, { epoch: EPOCH, seq: 11 }, 'an unknown event has its place in the stream too');
});

test('what does not fit the tables is reported, not delivered, and breaks nothing', options, async (t) => {
  verifies('seed4:client-validates');
  const gateway = await openScriptedGateway(t);
  const client = openClient(t, { url: gateway.url, WebSocket });
  const reasons: string[] = [];
  let delivered = 0;
  client.onInvalid(({ reason }) => reasons.push(reason));
  client.on('sessions.changed', () => delivered++);
  const peer = await meet(client, gateway);
  peer.event('sessions.changed', { key: 5, reason: 'patch' }, { seq: 11, epoch: EPOCH, prev: 10 });
  peer.send('{"type":"event","event":"tick","payload":{"ts":1,"ts":2}}');
  peer.send('{"type":"event","__proto__":{}}');
  peer.send('not json');
  peer.send('[]');
  peer.send('{}');
  const heard = tick(client);
  peer.event('tick', { ts: 1 });
  await heard;
  assert.equal(delivered, 0);
  assert.equal(reasons.length, 6);
  for (const [index, pattern] of [
    /sessions\.changed payload\/key/,
    /duplicate key "ts"/,
    /reserved key/,
    /not JSON/,
    /not an object/,
    /no type/,
  ].entries()) {
    assert.match(reasons[index] ?? '', pattern);
  }
  assert.equal(client.position?.seq, 11, 'asking for a bad event again would bring the same event');
});

test('fields that a newer gateway has added are let pass, in frames and in what they carry', options, async (t) => {
  const gateway = await openScriptedGateway(t);
  const client = openClient(t, { url: gateway.url, WebSocket });
  const reasons: string[] = [];
  client.onInvalid(({ reason }) => reasons.push(reason));
  const peer = await meet(client, gateway);
  const heard = tick(client);
  peer.send({ type: 'event', event: 'tick', payload: { ts: 1, phase: 'full' }, colour: 'red' });
  await heard;
  assert.deepEqual(reasons, []);
});

test('a listener that throws stops neither the others nor the client', options, async (t) => {
  const gateway = await openScriptedGateway(t);
  const client = openClient(t, { url: gateway.url, WebSocket });
  const peer = await meet(client, gateway);
  const thrown = new Promise((resolve) => process.setUncaughtExceptionCaptureCallback(resolve));
  t.after(() => process.setUncaughtExceptionCaptureCallback(null));
  const bug = new Error('a bug in the listener');
  const off = client.on('tick', () => {
    throw bug;
  });
  const heard = tick(client);
  peer.event('tick', { ts: 1 });
  await heard;
  assert.equal(await thrown, bug);
  off();
  const again = tick(client);
  peer.event('tick', { ts: 2 });
  await again;
  assert.equal(client.state.kind, 'connected');
});
