import assert from 'node:assert/strict';
import { PassThrough, Readable, Writable } from 'node:stream';
import { test } from 'node:test';
import { createManualClock } from '../../../testing/manual-clock.ts';
import { createPeer, type PeerHandler, type PeerLimits, type PeerOptions, peerLimits } from './peer.ts';
import { RpcError } from './rpc-error.ts';
import { verifies } from '../../../../../../test/support/verifies.ts';

interface Message {
  readonly jsonrpc?: string;
  readonly id?: number | string | null;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

/** A peer whose other side is this test: it says lines and looks at what was written. */
function world(options: Partial<Omit<PeerOptions, 'limits'>> & { limits?: Partial<PeerLimits> } = {}) {
  const clock = createManualClock();
  const input = new PassThrough();
  const written: Message[] = [];
  const output = new Writable({
    write(chunk: Buffer, _encoding, done) {
      for (const line of chunk.toString().split('\n').filter(Boolean)) written.push(JSON.parse(line) as Message);
      done();
    },
  });
  let id = 0;
  let closedBecause: string | undefined;
  const notices: string[] = [];
  const peer = createPeer({
    input,
    output,
    clock,
    nextId: () => ++id,
    request: () => undefined,
    notification: () => undefined,
    noticed: (fault, detail) => notices.push(`${fault}: ${detail}`),
    closed: (reason) => {
      closedBecause = reason;
    },
    ...options,
  });
  const says = (...messages: unknown[]) => {
    for (const each of messages) input.write(typeof each === 'string' ? `${each}\n` : `${JSON.stringify(each)}\n`);
  };
  return { peer, clock, input, output, written, says, notices, closedBecause: () => closedBecause };
}

/** Until what streams do by themselves is done. */
const settled = async () => {
  for (let step = 0; step < 8; step++) await new Promise((resolve) => setImmediate(resolve));
};

async function until(holds: () => boolean): Promise<void> {
  for (let step = 0; !holds(); step++) {
    assert.ok(step < 100_000, 'it never came to hold');
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const rpc = (code: number, message: RegExp) => (error: unknown) =>
  error instanceof RpcError && error.code === code && message.test(error.message);

test('a request is one line, and its reply is found by its id whatever else is said between', async () => {
  const { peer, written, says } = world();
  const [one, two] = [peer.request('ping', {}, { timeoutMs: 1_000 }), peer.request('tool/execute', { tool: 'x' }, { timeoutMs: 1_000 })];
  await settled();
  assert.deepEqual(written, [
    { jsonrpc: '2.0', id: 1, method: 'ping', params: {} },
    { jsonrpc: '2.0', id: 2, method: 'tool/execute', params: { tool: 'x' } },
  ]);
  says({ jsonrpc: '2.0', id: 2, result: { content: 'ok' } }, '', '  ', { jsonrpc: '2.0', id: 1, result: null });
  assert.deepEqual(await two, { content: 'ok' });
  assert.deepEqual(await one, {}, 'no result is the same as an empty one');
});

test('an error of the other side comes back with its code, also when it cannot be read', async () => {
  const { peer, says } = world();
  const calls = [1, 2, 3].map(() => peer.request('hook', {}, { timeoutMs: 1_000 }));
  says({ id: 1, error: { code: -32000, message: 'no', data: { why: 1 } } }, { id: 2, error: 7 }, { id: 3 });
  await assert.rejects(calls[0]!, rpc(-32000, /^no$/));
  await assert.rejects(calls[1]!, rpc(-32603, /cannot be read/));
  await assert.rejects(calls[2]!, rpc(-32603, /neither result nor error/));
});

test('G1: no line ends the host: null, primitives, lists, half JSON, garbage, replies to nobody are counted and dropped', async () => {
  const { peer, says, written, notices } = world();
  says('null', '5', '"x"', 'true', '[]', '[{"id":1,"method":"ping"}]', '{"half', '\u0000\u0001\ufffd', '{}', '{"id":77,"result":{}}');
  says('{"id":{"a":1},"method":"ping"}', '{"id":1.5,"method":"ping"}', '{"__proto__":{"method":"ping"},"id":1}', '{"method":7}');
  await settled();
  assert.deepEqual(written, []);
  const { malformed, batch, invalid } = peer.counts;
  assert.deepEqual(
    { malformed, none: peer.counts['not-an-object'], batch, invalid, replies: peer.counts['unknown-reply'] },
    {
      malformed: 3,
      none: 4,
      batch: 2,
      invalid: 3,
      replies: 2,
    },
  );
  assert.ok(notices.every((each) => each.length < 300));
  assert.equal(peer.isClosed, false);
});

test('requests of the other side are answered under their own id, with its type, and a null id is a notification', async () => {
  const heard: unknown[] = [];
  const { says, written } = world({
    request: (method) => (method === 'ping' ? () => undefined : undefined),
    notification: (method) => (method === 'log' ? (params) => heard.push(params) : undefined),
  });
  says({ id: 'a', method: 'ping' }, { id: 1, method: 'ping', params: {} }, { id: 2, method: 'nothing/here' });
  says(
    { id: 3, method: 'ping', params: [1] },
    { id: 4, method: {} },
    { id: null, method: 'log', params: { message: 'm' } },
    { method: 'who' },
  );
  await until(() => written.length === 5 && heard.length === 1);
  assert.deepEqual(
    written.map(({ id, result, error }) => ({ id, result, code: error?.code })),
    [
      { id: 'a', result: {}, code: undefined },
      { id: 1, result: {}, code: undefined },
      { id: 2, result: undefined, code: -32601 },
      { id: 3, result: undefined, code: -32602 },
      { id: 4, result: undefined, code: -32600 },
    ],
  );
  assert.equal(written[2]?.error?.message, 'method not found: nothing/here');
});

test('a handler that throws tells an error of the wire as it is, and a fault of the host without its words', async () => {
  const { says, written, peer } = world({
    request: (method) => () => {
      throw method === 'kv/get' ? new RpcError(-32004, 'capability disabled', { group: 'kv' }) : new Error('secret path');
    },
  });
  says({ id: 1, method: 'kv/get' }, { id: 2, method: 'ping' });
  await until(() => written.length === 2);
  assert.deepEqual(written[0]?.error, { code: -32004, message: 'capability disabled', data: { group: 'kv' } });
  assert.deepEqual(written[1]?.error, { code: -32603, message: 'the host failed; its log says how' });
  assert.equal(peer.counts['handler-failed'], 1);
});

test('G6: a line without an end costs no more than the bound, and ends the connection', async () => {
  let given = 0;
  const chunk = Buffer.alloc(65_536, 'x');
  const input = new Readable({
    read() {
      given += chunk.length;
      this.push(given > 2_147_483_648 ? null : chunk);
    },
  });
  const { peer, closedBecause } = world({ input });
  const waits = peer.request('ping', {}, { timeoutMs: 1_000 });
  await assert.rejects(waits, rpc(-32603, /connection closed/));
  assert.match(closedBecause() ?? '', /more than 1048576 bytes/);
  assert.ok(given < peerLimits.lineBytes + 10 * chunk.length, `${given} bytes were read`);
  assert.equal(peer.counts['too-long'], 1);
  input.destroy();
});

test('a line that comes byte by byte, with characters cut in two, is read as it was written', async () => {
  const { peer, input } = world();
  const waits = peer.request('ping', {}, { timeoutMs: 1_000 });
  for (const byte of Buffer.from(`${JSON.stringify({ id: 1, result: { text: 'ä€😀'.repeat(1_000) } })}\r\n`)) input.write(Buffer.of(byte));
  assert.deepEqual(await waits, { text: 'ä€😀'.repeat(1_000) });
});

test('a request that is too long for a line is refused before it is sent, and so is a result', async () => {
  const { peer, says, written } = world({ request: () => () => ({ text: 'ä'.repeat(600) }), limits: { ownLineBytes: 1_000 } });
  await assert.rejects(peer.request('tool/execute', { text: 'ä'.repeat(600) }, { timeoutMs: 1_000 }), rpc(-32602, /more than 1000 bytes/));
  says({ id: 1, method: 'kv/get' });
  await until(() => written.length === 1);
  assert.deepEqual(written[0]?.error, { code: -32603, message: 'the result has more than 1000 bytes' });
});

test('G7: who does not read gets no more than the budget, and what times out frees its buffer', async () => {
  const output = new Writable({ write() {}, highWaterMark: 16_384 });
  const { peer, clock } = world({ output });
  const megabyte = 'x'.repeat(1_000_000);
  let refused = 0;
  const calls = Array.from({ length: 200 }, () =>
    peer.request('tool/execute', { arguments: { megabyte } }, { timeoutMs: 120_000 }).catch((error: RpcError) => {
      if (/does not read/.test(error.message)) refused++;
      return error.message;
    }),
  );
  await settled();
  assert.ok(peer.waitingBytes <= 4_194_304 + 1_000_100, `${peer.waitingBytes} bytes wait`);
  assert.ok(refused >= 190, `${refused} were refused`);
  assert.equal(peer.counts['not-read'], refused);
  clock.advance(120_000);
  await Promise.all(calls);
  await settled();
  assert.ok(peer.waitingBytes < 1_000, `${peer.waitingBytes} bytes still wait`);
  assert.equal(peer.inFlight, 0);
  assert.ok(output.writableLength < 1_100_000, 'only what had been handed over is with the stream');
});

test('G12: only so many requests of the other side are handled at a time; more of them wait unread', async () => {
  const release: (() => void)[] = [];
  let running = 0;
  let most = 0;
  const handler: PeerHandler = () => {
    running++;
    most = Math.max(most, running);
    return new Promise<void>((resolve) =>
      release.push(() => {
        running--;
        resolve();
      }),
    );
  };
  const { peer, says, written } = world({ request: () => handler, limits: { asked: 4 } });
  for (let id = 1; id <= 100; id++) says({ id, method: 'kv/get' });
  await settled();
  assert.equal(running, 4);
  assert.equal(peer.isHeldBack, true);
  while (written.length < 100) {
    release.shift()?.();
    await settled();
  }
  assert.equal(most, 4);
  assert.deepEqual(
    written.map(({ id }) => id),
    Array.from({ length: 100 }, (_, index) => index + 1),
    'none was lost, and their order is kept',
  );
  assert.equal(peer.isHeldBack, false);
});

test('answers that nobody reads stop the reading, and it goes on when they are read', async () => {
  let take: (() => void) | undefined;
  const output = new Writable({
    highWaterMark: 1,
    write(_chunk, _encoding, done) {
      take = done;
    },
  });
  const limits = { outbox: { ...peerLimits.outbox, messages: 10 } };
  const { peer, says, input } = world({ output, limits });
  for (let id = 1; id <= 1_000; id++) says({ id, method: 'nothing' });
  await settled();
  assert.equal(peer.isHeldBack, true);
  assert.ok(peer.counts['unknown-method'] < 50, `${peer.counts['unknown-method']} were answered`);
  await until(() => {
    take?.();
    return peer.counts['unknown-method'] === 1_000;
  });
  assert.equal(input.readableLength, 0);
});

test('a request that is aborted is cancelled at the other side, and its late reply is dropped', async () => {
  const { peer, written, says } = world();
  const controller = new AbortController();
  const call = peer.request('tool/execute', {}, { timeoutMs: 1_000, signal: controller.signal });
  await settled();
  controller.abort();
  await assert.rejects(call, rpc(-32800, /cancelled/));
  await until(() => written.length === 2);
  assert.deepEqual(written[1], { jsonrpc: '2.0', method: '$/cancel', params: { id: 1 } });
  says({ id: 1, error: { code: -32800, message: 'cancelled' } });
  await until(() => peer.counts['late-reply'] === 1);
  assert.equal(peer.inFlight, 0);
  await assert.rejects(peer.request('ping', {}, { timeoutMs: 1, signal: AbortSignal.abort() }), rpc(-32800, /cancelled/));
});

test('a request that was not written yet is taken back when it is aborted: the other side never hears of it', async () => {
  const { peer, written } = world();
  const controller = new AbortController();
  const call = peer.request('tool/execute', {}, { timeoutMs: 1_000, signal: controller.signal });
  controller.abort();
  await assert.rejects(call, rpc(-32800, /cancelled/));
  await settled();
  assert.deepEqual(written, []);
});

test('the time of a request stands still while it is held by its signal; that of others goes on', async () => {
  const { peer, clock } = world();
  const { signal } = new AbortController();
  const held = peer.request('tool/execute', {}, { timeoutMs: 5_000, signal });
  const other = peer.request('hook', {}, { timeoutMs: 5_000, signal: new AbortController().signal });
  const release = peer.hold(signal);
  clock.advance(5_000);
  await assert.rejects(other, rpc(-32603, /no answer to hook/));
  release();
  clock.advance(4_999);
  await settled();
  assert.equal(peer.inFlight, 1);
  clock.advance(1);
  await assert.rejects(held, rpc(-32603, /no answer to tool.execute/));
});

test('a request without a reply ends at its deadline', async () => {
  const { peer, clock, written } = world();
  const call = peer.request('hook', {}, { timeoutMs: 5_000 });
  await settled();
  clock.advance(5_000);
  await assert.rejects(call, rpc(-32603, /no answer to hook within 5000 ms/));
  await until(() => written.some(({ method }) => method === '$/cancel'));
});

test('the other side cancels: its request is answered with Cancelled, what comes of it is dropped, and others go on', async () => {
  let signal: AbortSignal | undefined;
  const work = Promise.withResolvers<object>();
  const { says, written } = world({
    request: (method) =>
      method === 'exec/run'
        ? (_params, call) => {
            signal = call.signal;
            return work.promise;
          }
        : () => ({}),
  });
  says({ id: 'x', method: 'exec/run' }, { method: '$/cancel', params: { id: 'x' } }, { method: '$/cancel', params: { id: 99 } });
  await until(() => written.length === 1);
  assert.deepEqual(written[0], { jsonrpc: '2.0', id: 'x', error: { code: -32800, message: 'cancelled' } });
  assert.equal(signal?.aborted, true);
  work.resolve({ exit_code: 0 });
  says({ id: 'y', method: 'ping' });
  await until(() => written.length === 2);
  assert.equal(written[1]?.id, 'y');
});

test('G16: while one request waits for a human, replies and notifications are read', async () => {
  const person = Promise.withResolvers<object>();
  const heard: unknown[] = [];
  const { peer, says, written } = world({
    request: () => () => person.promise,
    notification: () => (params) => heard.push(params),
  });
  const ping = peer.request('ping', {}, { timeoutMs: 1_000 });
  says({ id: 1, method: 'ui/request' }, { method: 'tool/update', params: { call_id: 'c' } }, { id: 1, result: {} });
  assert.deepEqual(await ping, {});
  assert.equal(heard.length, 1);
  person.resolve({ confirmed: true });
  await until(() => written.some(({ result }) => result !== undefined));
});

test('events have numbers from 0; of more than can wait the oldest are shed, and the loss is told before those that are left', async () => {
  let take: (() => void) | undefined;
  const lines: Message[] = [];
  const output = new Writable({
    highWaterMark: 1,
    write(chunk: Buffer, _encoding, done) {
      for (const line of chunk.toString().split('\n').filter(Boolean)) lines.push(JSON.parse(line) as Message);
      take = done;
    },
  });
  const { peer } = world({ output });
  const context = (token: string) => ({ token, tier: 'event' });
  peer.event({ event: 'turn_start', context: context('first') });
  await settled();
  for (let index = 0; index < 1_500; index++) peer.event({ event: 'turn_end', context: context(`t${index}`), payload: { index } });
  const ping = peer.request('ping', {}, { timeoutMs: 1_000 });
  ping.catch(() => {});
  await until(() => {
    take?.();
    return lines.length === 1_024 + 3;
  });
  assert.deepEqual(lines[0]?.params, { event: 'turn_start', context: context('first'), seq: 0 });
  assert.equal(lines[1]?.method, 'ping', 'what somebody waits for goes first');
  assert.deepEqual(lines[2]?.params, { event: 'events_lost', context: context('t1499'), payload: { lost: 476 } });
  assert.deepEqual(lines[3]?.params, { event: 'turn_end', context: context('t476'), payload: { index: 476 }, seq: 477 });
  assert.equal(lines.at(-1)?.params?.seq, 1_500);
  assert.equal(peer.eventsShed, 476);
  peer.close('done');
});

test('events are bounded in bytes as well', async () => {
  const output = new Writable({ highWaterMark: 1, write() {} });
  const { peer } = world({ output });
  for (let index = 0; index < 20; index++) peer.event({ event: 'message_end', context: {}, payload: { content: 'x'.repeat(500_000) } });
  await settled();
  assert.ok(peer.waitingBytes <= 4_194_304, `${peer.waitingBytes} bytes wait`);
  assert.ok(peer.eventsShed >= 11);
});

test('who says too much is held back, and who never stops is cut off', async () => {
  let heard = 0;
  const limits = { throttle: { ...peerLimits.throttle, perSecond: 100, burst: 50, patienceMs: 1_000 } };
  const { peer, clock, says, closedBecause } = world({ limits, notification: () => () => heard++ });
  for (let index = 0; index < 1_000; index++) says({ method: 'log', params: { message: 'x' } });
  await settled();
  assert.ok(heard <= 51 && peer.isHeldBack, `${heard} were heard at once`);
  for (let step = 0; step < 5; step++) {
    clock.advance(10);
    await settled();
  }
  assert.ok(heard > 50 && heard < 70, `${heard} were heard`);
  for (let step = 0; step < 200 && !peer.isClosed; step++) {
    clock.advance(10);
    await settled();
  }
  assert.match(closedBecause() ?? '', /too much for too long/);
  assert.equal(peer.counts.flood, 1);
});

const LONG = 'x'.repeat(60_000);
let requests = 0;
/** A line of each kind, as fast as they are taken. */
const floods: Readonly<Record<string, () => string>> = {
  log: () => JSON.stringify({ method: 'log', params: { level: 'info', message: LONG } }),
  update: () => JSON.stringify({ method: 'tool/update', params: { call_id: 'c1', message: LONG } }),
  request: () => JSON.stringify({ id: `r${++requests}`, method: 'kv/set', params: { key: 'k', value: LONG } }),
  reply: () => JSON.stringify({ id: 99, result: LONG }),
  garbage: () => LONG,
  'half a message': () => `{"method":"log","params":{"message":"${LONG}`,
};

for (const [kind, line] of Object.entries(floods))
  test(`S43: of a flood (${kind}) little is read at once, little over time, and then nothing any more`, async () => {
    verifies('S43');
    let taken = 0;
    const input = new Readable({
      highWaterMark: 1,
      read() {
        const text = `${line()}\n`;
        taken += text.length;
        // By a step of the loop, as a pipe does it. More than this is no question of time.
        setImmediate(() => this.push(taken > 100_000_000 ? null : text));
      },
    });
    const { clock, closedBecause } = world({ input, request: () => () => ({}), notification: () => () => {} });
    await until(() => input.isPaused() || input.readableEnded);
    await settled();
    assert.ok(taken < 4_500_000, `${taken} bytes were read at once`);
    for (let seconds = 0; seconds < 40 && closedBecause() === undefined; seconds++)
      for (let step = 0; step < 20; step++) {
        clock.advance(50);
        await settled();
      }
    assert.match(closedBecause() ?? '', /too much for too long/);
    // A parser that fails keeps its text for longer.
    const most = kind === 'garbage' || kind === 'half a message' ? 4_000_000 : 22_000_000;
    assert.ok(taken < most, `${taken} bytes were read in all`);
  });

test('replies to what it was asked have a larger budget than what it says by itself', async () => {
  const { peer, written, says } = world();
  const all = Promise.all(Array.from({ length: 16 }, () => peer.request('tool/execute', {}, { timeoutMs: 1_000 })));
  await until(() => written.length === 16);
  for (const { id } of written) says({ id, result: 'x'.repeat(1_000_000) });
  assert.equal((await all).length, 16);
});

test('G4: a write to somebody who has gone is an end of the connection, not of the host', async () => {
  const output = new Writable({
    write: (_chunk, _encoding, done) => done(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' })),
  });
  const { peer, closedBecause } = world({ output });
  await assert.rejects(peer.request('ping', {}, { timeoutMs: 1_000 }), rpc(-32603, /connection closed/));
  await until(() => closedBecause() !== undefined);
  assert.equal(peer.notify('event', {}), false);
  await assert.rejects(peer.request('ping', {}, { timeoutMs: 1_000 }), rpc(-32603, /connection closed/));
});

test('the end of the stream fails what waits and aborts what is handled', async () => {
  let signal: AbortSignal | undefined;
  const { peer, says, input, closedBecause } = world({
    request: () => (_params, call) => {
      signal = call.signal;
      return new Promise(() => {});
    },
  });
  const call = peer.request('ping', {}, { timeoutMs: 1_000 });
  says({ id: 5, method: 'ui/request' });
  await until(() => signal !== undefined);
  input.end();
  await assert.rejects(call, rpc(-32603, /connection closed/));
  assert.equal(signal?.aborted, true);
  assert.equal(closedBecause(), 'the extension has closed its output');
});

test('an id that is used twice at the same time is answered once', async () => {
  const work = Promise.withResolvers<object>();
  const { peer, says, written } = world({ request: () => () => work.promise });
  says({ id: 1, method: 'kv/get' }, { id: 1, method: 'kv/get' });
  await until(() => peer.counts['duplicate-id'] === 1);
  work.resolve({ value: 1 });
  await until(() => written.length === 1);
  await settled();
  assert.equal(written.length, 1);
});
