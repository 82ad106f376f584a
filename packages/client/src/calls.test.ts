import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits } from '@tenon/protocol';
import { WebSocket } from 'ws';
import { createFakeClock } from '../test-support/fake-clock.ts';
import { meet, nextOf, nextState, openClient } from '../test-support/open-client.ts';
import { verifies } from '../../../test/support/verifies.ts';
import { openScriptedGateway } from '../test-support/scripted-gateway.ts';
import { CallTimeout, ConnectionError, GatewayError, type Invalid, ProtocolError, TooManyCalls } from './index.ts';

const options = { timeout: 20_000 };
const KEY = 'agent:main:one';

const session = {
  key: KEY,
  sessionId: 'abcdefghijklmnop',
  agentId: 'main',
  title: 'One',
  label: null,
  pinned: false,
  archived: false,
  model: null,
  thinking: null,
  permissions: null,
  queue: null,
  status: 'idle',
  revision: 2,
  createdAt: 1,
  updatedAt: 2,
};

for (const [name, Class] of [
  ['ws', WebSocket],
  ["the platform's WebSocket", globalThis.WebSocket],
] as const) {
  test(`a call is answered, over ${name}`, options, async (t) => {
    verifies('foundation:client-typed');
    const gateway = await openScriptedGateway(t);
    const client = openClient(t, { url: gateway.url, WebSocket: Class, token: 'secret' });
    const peer = await meet(client, gateway);

    const patching = client.call('sessions.patch', { key: KEY, title: 'One' });
    const request = await peer.next();
    assert.equal(request.method, 'sessions.patch');
    assert.equal(request.params.title, 'One');
    peer.answer(request, { session });
    assert.equal((await patching).session.title, 'One');

    const listing = client.call('sessions.list');
    const list = await peer.next();
    assert.deepEqual(list.params, {}, 'a safe method gets no key');
    peer.answer(list, { sessions: [session] });
    assert.deepEqual(await listing, { sessions: [session] });
    await client.close();
    assert.equal((await peer.closed).code, 1000);
  });
}

test('the types follow the tables', () => {
  verifies('foundation:client-typed');
  // Never run: the compiler is the test.
  async function typed(client: import('./index.ts').Client): Promise<string> {
    await client.call('health');
    await client.call('sessions.create');
    await client.call('sessions.list', { limit: 5 }, { timeoutMs: 1 });
    // @ts-expect-error the key is required
    await client.call('sessions.get');
    // @ts-expect-error no such parameter
    await client.call('sessions.get', { key: KEY, colour: 'red' });
    // @ts-expect-error no such method
    await client.call('sessions.paint', {});
    // @ts-expect-error nothing to say
    await client.call('health', { loud: true });
    client.on('sessions.changed', (payload) => payload.reason === 'delete');
    // @ts-expect-error no such event
    client.on('sessions.painted', () => {});
    return (await client.call('sessions.get', { key: KEY })).session.title;
  }
  assert.equal(typeof typed, 'function');
});

test('a refusal becomes a GatewayError with its code, details and delay', options, async (t) => {
  const gateway = await openScriptedGateway(t);
  const client = openClient(t, { url: gateway.url, WebSocket });
  const peer = await meet(client, gateway);
  const calling = client.call('sessions.get', { key: KEY });
  peer.refuse(await peer.next(), { code: 'RATE_LIMITED', message: 'Too fast', details: { wait: 1 }, retryAfterMs: 250 });
  await assert.rejects(calling, (error) => {
    assert.ok(error instanceof GatewayError);
    assert.deepEqual([error.code, error.message, error.details, error.retryAfterMs], ['RATE_LIMITED', 'Too fast', { wait: 1 }, 250]);
    return true;
  });
});

test('a method that the tables do not have is refused without a word to the gateway', options, async (t) => {
  const gateway = await openScriptedGateway(t);
  const client = openClient(t, { url: gateway.url, WebSocket });
  await meet(client, gateway);
  await assert.rejects(client.call('toString' as 'health'), { name: 'GatewayError', code: 'UNKNOWN_METHOD' });
});

test('a method of a plugin is called by its name, and not sent again when the connection breaks', options, async (t) => {
  const gateway = await openScriptedGateway(t);
  const client = openClient(t, { url: gateway.url, WebSocket, reconnect: { minMs: 0, maxMs: 0 } });
  const peer = await meet(client, gateway);
  const calling = client.callPlugin('plugin.hello.greet', { whom: 'you' });
  const request = await peer.next();
  assert.deepEqual([request.method, request.params], ['plugin.hello.greet', { whom: 'you' }]);
  peer.answer(request, ['anything', 1]);
  assert.deepEqual(await calling, ['anything', 1]);

  const cut = client.callPlugin('plugin.hello.greet');
  await peer.next();
  peer.kill();
  await assert.rejects(cut, { name: 'ConnectionError', code: 'LOST' });
});

test('a result that does not fit its row rejects the call and is reported', options, async (t) => {
  verifies('seed4:client-validates');
  const gateway = await openScriptedGateway(t);
  const client = openClient(t, { url: gateway.url, WebSocket });
  const peer = await meet(client, gateway);
  for (const [reply, reason] of [
    [{ ok: true, payload: { session: { ...session, title: 5 } } }, /session\/title/],
    [{ ok: true }, /sessions\.get result/],
    [{ ok: false }, /without an error/],
    [{ ok: false, error: { code: 'NO_SUCH_CODE', message: '' } }, /response\/error\/code/],
  ] as const) {
    const reported = nextOf<Invalid>((listener) => client.onInvalid(listener));
    const calling = client.call('sessions.get', { key: KEY });
    const { id } = await peer.next();
    peer.send({ type: 'res', id, ...reply });
    await assert.rejects(calling, (error) => error instanceof ProtocolError && reason.test(error.message));
    assert.match((await reported).reason, reason);
  }
  assert.equal(client.state.kind, 'connected');
});

test('an answer that nobody asked for is reported', options, async (t) => {
  const gateway = await openScriptedGateway(t);
  const client = openClient(t, { url: gateway.url, WebSocket });
  const peer = await meet(client, gateway);
  const reported = nextOf<Invalid>((listener) => client.onInvalid(listener));
  peer.send({ type: 'res', id: '99', ok: true, payload: {} });
  assert.match((await reported).reason, /"99", which was not asked/);
});

test('a call under way when the socket breaks is sent again under the same key, in the same order', options, async (t) => {
  verifies('foundation:client-reconnect');
  const gateway = await openScriptedGateway(t);
  const client = openClient(t, { url: gateway.url, WebSocket, reconnect: { minMs: 0, maxMs: 0 } });
  const peer = await meet(client, gateway);
  const patching = client.call('sessions.patch', { key: KEY, title: 'One' });
  const reading = client.call('sessions.get', { key: KEY });
  const own = client.call('sessions.reset', { key: KEY, idempotencyKey: 'mine' });
  const before = [await peer.next(), await peer.next(), await peer.next()];
  const key = before[0]?.params.idempotencyKey;
  assert.match(String(key), /^[0-9a-f]{32}$/);
  assert.equal(before[2]?.params.idempotencyKey, 'mine');
  peer.kill();

  const second = await gateway.next();
  await second.welcome();
  const after = [await second.next(), await second.next(), await second.next()];
  assert.deepEqual(after, before);
  for (const request of after) second.answer(request, { session });
  assert.deepEqual(await Promise.all([patching, reading, own]), [{ session }, { session }, { session }]);
});

test('two keyed calls get different keys', options, async (t) => {
  const gateway = await openScriptedGateway(t);
  const client = openClient(t, { url: gateway.url, WebSocket });
  const peer = await meet(client, gateway);
  const calls = [client.call('sessions.create'), client.call('sessions.create')];
  const requests = [await peer.next(), await peer.next()];
  assert.notEqual(requests[0]?.params.idempotencyKey, requests[1]?.params.idempotencyKey);
  for (const request of requests) peer.answer(request, { session });
  await Promise.all(calls);
});

test('a call without an answer times out; its late answer is dropped in silence', options, async (t) => {
  verifies('foundation:client-reconnect');
  const gateway = await openScriptedGateway(t);
  const clock = createFakeClock();
  const client = openClient(t, { url: gateway.url, WebSocket, clock, requestTimeoutMs: 1_000 });
  const peer = await meet(client, gateway);
  const invalid: Invalid[] = [];
  client.onInvalid((report) => invalid.push(report));

  const slow = client.call('health');
  const slower = client.call('health', {}, { timeoutMs: 1_500 });
  const patient = client.call('health', {}, { timeoutMs: Infinity });
  const requests = [await peer.next(), await peer.next(), await peer.next()];
  clock.advance(999);
  clock.advance(1);
  await assert.rejects(slow, (error) => error instanceof CallTimeout && error.method === 'health' && error.timeoutMs === 1_000);
  clock.advance(500);
  await assert.rejects(slower, CallTimeout);
  for (const request of requests) peer.answer(request, { ok: true });
  assert.deepEqual(await patient, { ok: true });
  assert.deepEqual(invalid, []);
});

test('a signal ends the waiting with its reason, before, while and after the call', options, async (t) => {
  verifies('foundation:client-reconnect');
  const gateway = await openScriptedGateway(t);
  const clock = createFakeClock();
  const client = openClient(t, { url: gateway.url, WebSocket, clock });
  const peer = await meet(client, gateway);
  const armed = clock.armed;

  const reason = new Error('changed my mind');
  await assert.rejects(client.call('health', {}, { signal: AbortSignal.abort(reason) }), reason);

  const controller = new AbortController();
  const calling = client.call('health', {}, { signal: controller.signal });
  await peer.next();
  controller.abort();
  await assert.rejects(calling, { name: 'AbortError' });

  const late = new AbortController();
  const answered = client.call('health', {}, { signal: late.signal });
  peer.answer(await peer.next(), { ok: true });
  assert.deepEqual(await answered, { ok: true });
  late.abort();
  assert.equal(clock.armed, armed, 'no timer is left behind');
});

test('a call that is aborted before it could be sent is never sent', options, async (t) => {
  const gateway = await openScriptedGateway(t);
  const client = openClient(t, { url: gateway.url, WebSocket });
  const opening = client.connect();
  const controller = new AbortController();
  const dropped = client.call('status', {}, { signal: controller.signal });
  const kept = client.call('health');
  controller.abort(new Error('no'));
  await assert.rejects(dropped, /^Error: no$/);
  const peer = await gateway.next();
  await peer.welcome();
  await opening;
  const request = await peer.next();
  assert.equal(request.method, 'health');
  peer.answer(request, { ok: true });
  await kept;
});

test('at most a thousand calls wait; one more is refused and the others live on', options, async (t) => {
  const gateway = await openScriptedGateway(t);
  const client = openClient(t, { url: gateway.url, WebSocket });
  const opening = client.connect();
  const calls = Array.from({ length: 1_000 }, () => client.call('health'));
  await assert.rejects(client.call('health'), TooManyCalls);
  const peer = await gateway.next();
  await peer.welcome();
  await opening;
  for (let n = 0; n < 1_000; n++) peer.answer(await peer.next(), { ok: true });
  assert.equal((await Promise.all(calls)).length, 1_000);
});

test('no more is in flight than a gateway allows, abandoned calls included', options, async (t) => {
  const gateway = await openScriptedGateway(t);
  const client = openClient(t, { url: gateway.url, WebSocket });
  const peer = await meet(client, gateway);
  const controller = new AbortController();
  const abandoned = client.call('status', {}, { signal: controller.signal });
  const first = await peer.next();
  controller.abort(new Error('no'));
  await assert.rejects(abandoned);

  const calls = Array.from({ length: limits.maxInFlight.value }, (_, n) => client.call('system.echo', { text: String(n) }));
  const sent = [];
  while (sent.length < limits.maxInFlight.value - 1) sent.push(await peer.next());
  // The gateway still works on the abandoned one, so the last call waits for it: what comes next is sent after this answer.
  let answered = false;
  const next = peer.next().then((request) => ({ request, answered }));
  peer.event('tick', { ts: 1 });
  await nextOf((listener) => client.on('tick', listener));
  answered = true;
  peer.refuse(first, { code: 'SCOPE', message: 'no' });
  const last = await next;
  assert.ok(last.answered);
  for (const request of [...sent, last.request]) peer.answer(request, { ok: true, text: String(request.params.text) });
  assert.deepEqual(
    (await Promise.all(calls)).map(({ text }) => text),
    calls.map((_, n) => String(n)),
  );
});

test('a request over maxPayload is refused here, because the gateway would close the socket on it', options, async (t) => {
  const gateway = await openScriptedGateway(t);
  const client = openClient(t, { url: gateway.url, WebSocket });
  await meet(client, gateway, { policy: { maxPayload: 1_000, maxBufferedBytes: 1_000, tickIntervalMs: 0 } });
  await assert.rejects(client.call('system.echo', { text: 'ü'.repeat(600) }), { name: 'GatewayError', code: 'TOO_LARGE' });
});

test('a text that no gateway would read is refused here, because the refusal could not name the call', options, async (t) => {
  const gateway = await openScriptedGateway(t);
  const client = openClient(t, { url: gateway.url, WebSocket });
  await meet(client, gateway);
  for (const text of ['\ud800', 'a\0b']) {
    await assert.rejects(client.call('system.echo', { text }), { name: 'GatewayError', code: 'PARSE' });
  }
});

test('closing rejects what waits, and later calls', options, async (t) => {
  const gateway = await openScriptedGateway(t);
  const client = openClient(t, { url: gateway.url, WebSocket });
  await assert.rejects(client.call('health'), (error) => error instanceof ConnectionError && error.code === 'CLOSED');
  const peer = await meet(client, gateway);
  const calling = client.call('health');
  await peer.next();
  const rejected = assert.rejects(calling, { name: 'ConnectionError', code: 'CLOSED' });
  const closed = nextState(client, 'closed');
  await client.close();
  await rejected;
  assert.equal((await closed).reason, 'closed');
  await assert.rejects(client.call('health'), { name: 'ConnectionError', code: 'CLOSED' });
  await client.close();
});
