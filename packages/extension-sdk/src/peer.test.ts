import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLineReader } from './lines.ts';
import { type IncomingCall, Peer, type PeerHandlers, type PeerLimits } from './peer.ts';
import { RpcError } from './rpc-error.ts';
import { linkedPair, type Transport } from './transport.ts';
import { errorCode } from './wire.ts';
import { verifies } from '../../../test/support/verifies.ts';

/** A peer, and the other end as bare lines. */
function wired(handlers: PeerHandlers = {}, limits: PeerLimits = {}) {
  const [near, far] = linkedPair();
  const faults: string[] = [];
  const lines: Record<string, unknown>[] = [];
  far.start({ onLine: (line) => void lines.push(JSON.parse(line)), onFault: () => {}, onClose: () => {} });
  const peer = new Peer(near, { onFault: (what) => void faults.push(what), ...handlers }, limits).start();
  const say = (frame: unknown) => far.send(typeof frame === 'string' ? frame : JSON.stringify(frame));
  return { peer, far, faults, lines, say };
}

/** Everything that is on its way has arrived: lines cross in microtasks. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

test('G34: no line ends a peer, whatever it is, and each that cannot be read is said', async () => {
  verifies('sep:G34');
  const { peer, faults, lines, say } = wired({ onRequest: () => ({ fine: true }) });
  const bad = [
    'null',
    '5',
    '"text"',
    'true',
    '[]',
    '[{"jsonrpc":"2.0","id":1,"method":"ping"}]',
    '{',
    '{}',
    '{"id":1}',
    '{"method":5,"id":1}',
  ];
  for (const line of [...bad, '', ' ']) say(line);
  say({ jsonrpc: '2.0', id: { odd: 1 }, method: 'ping' });
  say({ jsonrpc: '2.0', id: 1.5, method: 'ping' });
  say({ jsonrpc: '2.0', id: 7, method: 'ping' });
  await settled();
  assert.deepEqual(lines, [{ jsonrpc: '2.0', id: 7, result: { fine: true } }]);
  assert.equal(faults.length, bad.length + 2);
  assert.equal(peer.isClosed, false);
});

test('a handler that throws is an error of its request and nothing more', async () => {
  const thrown: Record<string, () => unknown> = {
    plain: () => {
      throw new Error('no');
    },
    rpc: () => Promise.reject(new RpcError(errorCode.Blocked, 'blocked', { by: 'x' })),
    odd: () => Promise.reject(null),
    circular: () => {
      const ring: Record<string, unknown> = {};
      ring.ring = ring;
      return ring;
    },
    nothing: () => undefined,
  };
  const { lines, say } = wired({ onRequest: (method) => thrown[method]!() });
  for (const [id, method] of Object.keys(thrown).entries()) say({ jsonrpc: '2.0', id, method, params: null });
  await settled();
  const byId = new Map(lines.map((line) => [line.id, line]));
  assert.deepEqual(byId.get(0)?.error, { code: errorCode.Internal, message: 'no' });
  assert.deepEqual(byId.get(1)?.error, { code: errorCode.Blocked, message: 'blocked', data: { by: 'x' } });
  assert.equal((byId.get(2)!.error as { code: number }).code, errorCode.Internal);
  assert.match((byId.get(3)!.error as { message: string }).message, /cannot be sent/);
  assert.deepEqual(byId.get(4)?.result, {});
});

test('a notification that fails, and one with a null id, are answered by nothing', async () => {
  const seen: string[] = [];
  const { lines, faults, say } = wired({
    onNotification(method) {
      seen.push(method);
      throw new Error('broken');
    },
  });
  say({ jsonrpc: '2.0', method: 'event' });
  say({ jsonrpc: '2.0', id: null, method: 'log', params: {} });
  say({ jsonrpc: '2.0', method: 'event', params: [] });
  await settled();
  assert.deepEqual(seen, ['event', 'log']);
  assert.deepEqual(lines, []);
  assert.equal(faults.length, 3);
});

test('cancel: the request is answered at once, its signal is aborted, and what it says later is dropped', async () => {
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  let call: IncomingCall | undefined;
  const { lines, say } = wired({
    async onRequest(_method, _params, given) {
      call = given;
      await gate;
      return { late: true };
    },
  });
  say({ jsonrpc: '2.0', id: 'a', method: 'slow' });
  say({ jsonrpc: '2.0', method: '$/cancel', params: { id: 'nobody' } });
  await settled();
  assert.equal(call?.signal.aborted, false);
  say({ jsonrpc: '2.0', method: '$/cancel', params: { id: 'a' } });
  say({ jsonrpc: '2.0', method: '$/cancel', params: { id: 'a' } });
  await settled();
  assert.equal(call?.signal.aborted, true);
  open();
  await settled();
  assert.deepEqual(
    lines.map(({ id, error }) => [id, (error as { code: number }).code]),
    [['a', errorCode.Cancelled]],
  );
});

test('a request that is given up is cancelled on the other side and rejected at once; a late answer is dropped', async () => {
  const { peer, lines, say } = wired();
  const abort = new AbortController();
  const given = peer.request('slow', { a: 1 }, { signal: abort.signal });
  const timed = peer.request('slower', {}, { timeoutMs: 1 });
  abort.abort();
  await assert.rejects(given, { code: errorCode.Cancelled });
  await assert.rejects(timed, { code: errorCode.Cancelled, message: /within 1 ms/ });
  await settled();
  assert.deepEqual(
    lines.map(({ method, params }) => [method, params]),
    [
      ['slow', { a: 1 }],
      ['slower', {}],
      ['$/cancel', { id: 1 }],
      ['$/cancel', { id: 2 }],
    ],
  );
  say({ jsonrpc: '2.0', id: 1, result: {} });
  await settled();
  await assert.rejects(peer.request('never', {}, { signal: abort.signal }), { code: errorCode.Cancelled });
});

test('ids of both sides overlap, and an answer finds its request by its own side', async () => {
  const { peer, lines, say } = wired({ onRequest: () => ({ ours: true }) });
  const answer = peer.request('theirs');
  say({ jsonrpc: '2.0', id: 1, method: 'ping' });
  say({ jsonrpc: '2.0', id: 1, result: { theirs: true } });
  assert.deepEqual(await answer, { theirs: true });
  await settled();
  assert.deepEqual(lines.at(-1), { jsonrpc: '2.0', id: 1, result: { ours: true } });
});

test('an error of the other side is an RpcError, also when it is misshapen', async () => {
  const { peer, say } = wired();
  const one = peer.request('a');
  const two = peer.request('b');
  say({ jsonrpc: '2.0', id: 1, error: { code: errorCode.NoUI, message: 'nobody', data: [1] } });
  say({ jsonrpc: '2.0', id: 2, error: 'odd' });
  await assert.rejects(one, (error: RpcError) => error instanceof RpcError && error.code === errorCode.NoUI && Array.isArray(error.data));
  await assert.rejects(two, { code: errorCode.Internal });
});

test('both directions are bounded: requests in flight, and the length of a line', async () => {
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  const { peer, lines, say } = wired({ onRequest: () => gate }, { maxInFlight: 2, maxLineBytes: 200 });
  const first = [peer.request('a'), peer.request('b')];
  await assert.rejects(peer.request('c'), { code: errorCode.Internal, message: /2 requests are waiting/ });
  for (const id of [1, 2, 2, 3]) say({ jsonrpc: '2.0', id, method: 'wait' });
  await settled();
  const refused = lines.filter(({ error }) => error);
  assert.deepEqual(
    refused.map(({ id }) => id),
    [3],
  );
  open();
  await peer.close();
  for (const each of first) await assert.rejects(each, { code: errorCode.Internal, message: /ended/ });
  const long = wired({ onRequest: () => ({ text: 'ü'.repeat(150) }) }, { maxLineBytes: 200 });
  await assert.rejects(long.peer.request('a', { text: 'x'.repeat(200) }), { code: errorCode.InvalidParams, message: /at most 200/ });
  long.say({ jsonrpc: '2.0', id: 1, method: 'big' });
  await settled();
  assert.match((long.lines[0]!.error as { message: string }).message, /cannot be sent: It is \d+ bytes/);
});

test('the end of the connection ends what waits on both sides', async () => {
  let signal: AbortSignal | undefined;
  let closed = 0;
  const { peer, far, say } = wired({
    onRequest(_method, _params, call) {
      signal = call.signal;
      return new Promise(() => {});
    },
    onClose: () => void closed++,
  });
  const waiting = peer.request('a');
  say({ jsonrpc: '2.0', id: 1, method: 'b' });
  await settled();
  await far.close();
  await assert.rejects(waiting, { code: errorCode.Internal });
  assert.equal(signal?.aborted, true);
  assert.equal(closed, 1);
  await assert.rejects(peer.request('late'), /the connection has ended/);
  peer.notify('late');
});

test('lines are read whole across chunks, and one that is too long is dropped without being held', () => {
  const lines: string[] = [];
  const tooLong: number[] = [];
  const reader = createLineReader(
    10,
    (line) => void lines.push(line),
    (bytes) => void tooLong.push(bytes),
  );
  const bytes = Buffer.from(`één\n\nshort\n${'x'.repeat(25)}\nlast\n0123456789\n01234567890\nrest`);
  for (const byte of bytes) reader.push(Uint8Array.of(byte));
  reader.push(Buffer.from('\n'));
  assert.deepEqual(lines, ['één', 'short', 'last', '0123456789', 'rest']);
  assert.deepEqual(tooLong, [25, 11]);
});

test('a transport that is not started yet keeps what comes', async () => {
  const [near, far]: readonly [Transport, Transport] = linkedPair();
  near.send('early');
  await settled();
  const lines: string[] = [];
  far.start({ onLine: (line) => void lines.push(line), onFault: () => {}, onClose: () => void lines.push('closed') });
  near.send('late');
  await near.close();
  await settled();
  assert.deepEqual(lines, ['early', 'late', 'closed']);
});
