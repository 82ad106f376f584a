// S13-S17: what a peer may cost before and after it has said who it is.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { suite, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { deflateRawSync } from 'node:zlib';
import { limits } from '@tenon/protocol';
import { type GatewayProcess, startGatewayProcess } from '../support/gateway.ts';
import { connectParams, connectRaw, type Frame, openRaw, type RawClient } from '../support/raw-client.ts';
import { verifies } from '../support/verifies.ts';
import {
  assertStrictHeaders,
  assertUnharmed,
  type BareSocket,
  bystander,
  eventually,
  exchange,
  frameBytes,
  mintToken,
  newAddress,
  openBare,
  openByHand,
  parseAnswer,
  requestText,
  tryConnect,
  upgradeHeaders,
} from './harness.ts';

/** The deadline itself, the second between two looks at it, the second until the socket is cut, and room for a busy machine. */
const CLOSED_WITHIN_MS = limits.handshakeTimeoutMs.value + 7_000;

function connectText(token: string): string {
  return JSON.stringify({ type: 'req', id: 'connect', method: 'connect', params: connectParams(token) });
}

/** Sends one byte after another, as slowly as an attacker who wants to keep the socket. */
function drip({ socket }: BareSocket, bytes: string | Buffer): void {
  const all = Buffer.from(bytes as string);
  let next = 0;
  const timer = setInterval(() => {
    if (socket.destroyed || next === all.length) return clearInterval(timer);
    return void socket.write(all.subarray(next, ++next));
  }, 500);
  socket.once('close', () => clearInterval(timer));
}

async function metric(gateway: GatewayProcess, series: string): Promise<number> {
  const { body } = await exchange(
    gateway,
    requestText(gateway, '/metrics', { headers: { Authorization: `Bearer ${gateway.token}` } }),
    '127.0.0.200',
  );
  const line = body.split('\n').find((each) => each.startsWith(`${series} `));
  return Number(line?.slice(series.length + 1) ?? 0);
}

// These two wait for deadlines, so they wait together.
suite('real deadlines', { concurrency: true }, () => {
  test('S13 whoever sends slowly or falls silent is closed by the deadline', async (t) => {
    verifies('S13', 'S67');
    await using gateway = await startGatewayProcess();
    await using watcher = await bystander(gateway);
    const slowHeader = newAddress();
    const silentSocket = newAddress();
    const half = frameBytes(connectText(gateway.token));

    const variants: Record<string, () => Promise<BareSocket>> = {
      'nothing at all': () => openBare(gateway),
      'a header byte by byte': async () => {
        const bare = await openBare(gateway, slowHeader);
        drip(bare, requestText(gateway, '/', { headers: { 'X-Slow': 'x'.repeat(500) } }));
        return bare;
      },
      'a request line and no more': async () => {
        const bare = await openBare(gateway, newAddress());
        bare.socket.write('GET / HTTP/1.1\r\n');
        return bare;
      },
      'a body that does not come': async () => {
        const bare = await openBare(gateway);
        bare.socket.write(`POST / HTTP/1.1\r\nHost: 127.0.0.1:${gateway.port}\r\nContent-Length: 100\r\n\r\n`);
        return bare;
      },
      'one request, then nothing': async () => {
        const bare = await openBare(gateway);
        bare.socket.write(`GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:${gateway.port}\r\n\r\n`);
        return bare;
      },
      'one request, then another byte by byte': async () => {
        const bare = await openBare(gateway, newAddress());
        bare.socket.write(`GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:${gateway.port}\r\n\r\n`);
        drip(bare, requestText(gateway, '/'));
        return bare;
      },
      'an upgrade, then silence': () => openByHand(gateway, silentSocket),
      'an upgrade, then half a frame': async () => {
        const hand = await openByHand(gateway, newAddress());
        hand.socket.write(half.subarray(0, half.length / 2));
        return hand;
      },
      'an upgrade, then a frame byte by byte': async () => {
        const hand = await openByHand(gateway, newAddress());
        drip(hand, half);
        return hand;
      },
      'an upgrade, then pings only': async () => {
        const hand = await openByHand(gateway, newAddress());
        drip(hand, Buffer.concat(Array.from({ length: 20 }, () => frameBytes('', { opcode: 9 }))));
        return hand;
      },
      'an upgrade, then empty fragments': async () => {
        const hand = await openByHand(gateway, newAddress());
        hand.socket.write(frameBytes('', { fin: false }));
        drip(hand, Buffer.concat(Array.from({ length: 20 }, () => frameBytes('', { fin: false, opcode: 0 }))));
        return hand;
      },
    };

    let over = false;
    const served = (async () => {
      let count = 0;
      for (; !over; count++) {
        assert.equal((await watcher.request('health')).ok, true);
        await pause(50);
      }
      return count;
    })();
    await Promise.all(
      Object.entries(variants).map(async ([name, open]) => {
        const startedAt = performance.now();
        await using bare = await open();
        const ended = await Promise.race([bare.ended, pause(CLOSED_WITHIN_MS, undefined, { ref: false })]);
        const tookMs = Math.round(performance.now() - startedAt);
        assert.ok(ended !== undefined, `still open after ${tookMs} ms: ${name}`);
        t.diagnostic(`${name}: closed after ${tookMs} ms`);
        const answer = parseAnswer(ended);
        if (name.endsWith('a header byte by byte')) assert.equal(answer.status, 408);
        if (answer.status >= 400) assertStrictHeaders(answer, name);
      }),
    );
    over = true;
    assert.ok((await served) > 10, 'others were served meanwhile');
    await assertUnharmed(gateway, { from: slowHeader, incidents: ['http.timeout'] });
    await assertUnharmed(gateway, { from: silentSocket, incidents: ['handshake.timeout'] });
  });

  test('S17 a flood of refused requests is throttled, for a while and for its sender only', async () => {
    verifies('S17');
    await using gateway = await startGatewayProcess();
    await using admin = await bystander(gateway);
    const { token } = await mintToken(admin, ['operator.read']);
    const limit = limits.refusedPerWindow.value;
    const from = newAddress();

    await using flooder = await connectRaw(gateway.socketUrl, gateway.token, { events: [] }, { localAddress: from });
    for (let index = 0; index < 1_000; index++) flooder.send({ type: 'req', id: `f${index}`, method: 'no.such.method' });
    await flooder.find((frame) => frame.id === `f${limit - 1}`);
    await assertUnharmed(gateway, { from, incidents: ['requests.throttled'] });
    assert.equal(await metric(gateway, 'tenon_requests_total{method="unknown",outcome="UNKNOWN_METHOD"}'), limit);
    assert.equal(flooder.frames.filter((frame) => frame.type === 'res').length, limit + 1, 'nothing after that');

    const second = newAddress();
    await using clumsy = await connectRaw(gateway.socketUrl, token, { events: [] }, { localAddress: second });
    const startedAt = performance.now();
    const kinds = [
      { method: 'no.such.method' },
      { method: 'system.echo', params: { wrong: true } },
      { method: 'sessions.create', params: {} },
      { method: 'connect', params: {} },
    ];
    for (let index = 0; index < limit + 4; index++) clumsy.send({ type: 'req', id: `k${index}`, ...kinds[index % kinds.length] });
    clumsy.send({ type: 'req', id: 'good', method: 'health' });
    await assertUnharmed(gateway, { from: second, incidents: ['requests.throttled'] });
    // It waits for the window to end, and then goes on where it was.
    assert.equal((await clumsy.find((frame) => frame.id === 'good')).ok, true);
    assert.ok(performance.now() - startedAt > limits.refusedWindowMs.value * 0.9, 'it was not made to wait');
    assert.equal(clumsy.frames.filter((frame) => frame.error !== undefined).length, limit + 4, 'every request is answered');
  });
});

async function upgradeSilently(gateway: GatewayProcess, from: string): Promise<{ bare: BareSocket; status: number }> {
  const bare = await openBare(gateway, from);
  bare.socket.write(requestText(gateway, '/', { headers: upgradeHeaders }));
  await eventually(
    'an answer, or the end',
    () => bare.received().includes('\r\n\r\n') || bare.socket.readableEnded || bare.socket.destroyed,
  );
  return { bare, status: parseAnswer(bare.received()).status };
}

test('S14 hundreds of sockets that do not authenticate: 32 of an account and 64 in all are kept, and nobody notices, inside or coming in', async (t) => {
  verifies('S14');
  await using gateway = await startGatewayProcess();
  await using inside = await bystander(gateway);
  const memory = async () => (await inside.request('status')).payload.memory.residentBytes as number;
  const before = await memory();
  const isOpen = ({ bare }: { bare: BareSocket }) => !bare.socket.destroyed && !bare.socket.readableEnded;
  const isIn = async () => (await tryConnect(gateway, { token: gateway.token })).ok === true;

  const one = newAddress();
  const first = await Promise.all(Array.from({ length: 100 }, () => upgradeSilently(gateway, one)));
  assert.ok(
    first.every(({ status }) => status === 101 || status === 0),
    'nobody is refused: those that came first are closed',
  );
  await eventually('few of one address are left', () => first.filter(isOpen).length <= limits.preAuthSocketsPerAccount.value);
  const many = await Promise.all(
    Array.from({ length: 20 }, newAddress).flatMap((from) => Array.from({ length: 10 }, () => upgradeSilently(gateway, from))),
  );
  await eventually('few are left', () => [...first, ...many].filter(isOpen).length <= limits.preAuthSockets.value);
  assert.equal(await isIn(), true, 'a valid token from the same machine');

  // `npm run chaos` sends ten times as many.
  let left = 1_500 - first.length - many.length;
  const flood = async () => {
    for (; left > 0; left--) {
      const { bare, status } = await upgradeSilently(gateway, one);
      bare.socket.destroy();
      assert.ok(status === 101 || status === 0, `answered ${status}`);
    }
  };
  const startedAt = performance.now();
  const flooding = Promise.all(Array.from({ length: 16 }, flood));
  let came = 0;
  for (; left > 0 && came < 20; came++) assert.equal(await isIn(), true, 'who comes during the flood is let in');
  await flooding;
  assert.equal((await inside.request('health')).ok, true, 'who is inside is answered during the flood');
  t.diagnostic(`1,200 further upgrades and ${came} valid ones in ${Math.round(performance.now() - startedAt)} ms`);
  const grown = (await memory()) - before;
  t.diagnostic(`resident memory grew by ${Math.round(grown / 1e6)} MB`);
  assert.ok(grown < 50e6, `resident memory grew by ${grown} bytes`);

  for (const { bare } of [...first, ...many]) bare.socket.destroy();
  await assertUnharmed(gateway, { from: one, incidents: ['ws.full'] });
});

test('S14 a socket that never finishes its upgrade holds no place', async () => {
  verifies('S14');
  await using gateway = await startGatewayProcess();
  const from = newAddress();
  const broken = requestText(gateway, '/', { headers: { ...upgradeHeaders, 'Sec-WebSocket-Key': 'short' } });
  for (let count = 0; count < 20; count++) assert.equal((await exchange(gateway, broken, from)).status, 400);
  assert.equal((await tryConnect(gateway, { token: gateway.token, from })).ok, true);
  await assertUnharmed(gateway, { from, incidents: ['ws.malformed'] });
});

/** The same JSON, as long as wanted: spaces between two fields change nothing. */
function padded(json: string, length: number): string {
  assert.ok(json.length <= length);
  return `{${' '.repeat(length - json.length)}${json.slice(1)}`;
}

test('S15 before authentication 16 KiB and not a byte more, in one frame or in many', async () => {
  verifies('S15');
  await using gateway = await startGatewayProcess();
  const bound = limits.preAuthFrameBytes.value;
  const valid = connectText(gateway.token);

  await using atBound = await openRaw(gateway.socketUrl);
  atBound.send(padded(valid, bound));
  assert.equal((await atBound.find((frame) => frame.id === 'connect')).ok, true, 'exactly the bound');

  const cut = (text: string, pieces: number) => {
    const size = Math.ceil(text.length / pieces);
    return Array.from({ length: pieces }, (_, index) =>
      frameBytes(text.slice(index * size, (index + 1) * size), { opcode: index === 0 ? 1 : 0, fin: index === pieces - 1 }),
    );
  };
  const over = padded(valid, bound + 1);
  const attacks: Record<string, readonly Buffer[]> = {
    'one frame': [frameBytes(over)],
    'two fragments': cut(padded(valid, bound + 2_000), 2),
    'a thousand fragments': cut(padded(valid, bound * 2), 1_000),
    'a frame that is announced and never ends': [frameBytes('x'.repeat(bound + 100), { announced: 1_000_000 })],
    'a frame that announces more than any may have': [frameBytes('', { announced: 2 ** 40 })],
    'a thousand pings': Array.from({ length: 1_000 }, () => frameBytes('x'.repeat(100), { opcode: 9 })),
  };
  for (const [name, frames] of Object.entries(attacks)) {
    const from = newAddress();
    await using hand = await openByHand(gateway, from);
    for (const frame of frames) hand.socket.write(frame);
    assert.equal(await hand.closeCode, 1009, name);
    const kind = name.startsWith('a frame that announces') ? 'frame.invalid' : 'handshake.too-large';
    await assertUnharmed(gateway, { from, incidents: [kind] });
  }
});

test('S15 after authentication 1 MiB and not a byte more, whole, in pieces or packed', async () => {
  verifies('S15');
  await using gateway = await startGatewayProcess();
  const bound = limits.maxPayload.value;
  const echo = JSON.stringify({ type: 'req', id: 'echo', method: 'system.echo', params: { text: 'x' } });

  await using atBound = await connectRaw(gateway.socketUrl, gateway.token);
  atBound.send(padded(echo, bound));
  assert.deepEqual((await atBound.find((frame) => frame.id === 'echo')).payload, { ok: true, text: 'x' }, 'exactly the bound');

  const over = padded(echo, bound + 1);
  const piece = Math.ceil(over.length / 8);
  const bomb = deflateRawSync(Buffer.alloc(64 * 1024 * 1024, 32));
  const attacks: Record<string, { frames: readonly Buffer[]; code: number }> = {
    'one frame': { frames: [frameBytes(over)], code: 1009 },
    'only its announcement': { frames: [frameBytes('', { announced: bound + 1 })], code: 1009 },
    'eight fragments': {
      frames: Array.from({ length: 8 }, (_, index) =>
        frameBytes(over.slice(index * piece, (index + 1) * piece), { opcode: index === 0 ? 1 : 0, fin: index === 7 }),
      ),
      code: 1009,
    },
    'a compressed bomb': { frames: [frameBytes(bomb.subarray(0, 60_000), { rsv1: true })], code: 1002 },
    'a binary frame': { frames: [frameBytes(echo, { opcode: 2 })], code: 1003 },
    'text that is not UTF-8': { frames: [frameBytes(Buffer.from([0x22, 0xc3, 0x28, 0x22]))], code: 1007 },
    'an unknown opcode': { frames: [frameBytes(echo, { opcode: 3 })], code: 1002 },
    'a ping that is too long': { frames: [frameBytes('x'.repeat(126), { opcode: 9 })], code: 1002 },
    'a continuation of nothing': { frames: [frameBytes(echo, { opcode: 0 })], code: 1002 },
  };
  for (const [name, { frames, code }] of Object.entries(attacks)) {
    const from = newAddress();
    await using hand = await openByHand(gateway, from);
    hand.socket.write(frameBytes(connectText(gateway.token)));
    await eventually('hello-ok', () => hand.received().includes('hello-ok'));
    for (const frame of frames) hand.socket.write(frame);
    assert.equal(await hand.closeCode, code, name);
    await assertUnharmed(gateway, { from, incidents: [code === 1003 ? 'frame.binary' : 'frame.invalid'] });
  }
});

test('S15 compression is never agreed on', async () => {
  verifies('S15');
  await using gateway = await startGatewayProcess();
  await using client = await openRaw(gateway.socketUrl, { perMessageDeflate: true });
  assert.equal(client.socket.extensions, '');
  await assertUnharmed(gateway);
});

test('S16 too many or too large headers are refused, and the process lives', async () => {
  verifies('S16');
  await using gateway = await startGatewayProcess();
  const lines = (count: number) => Array.from({ length: count }, (_, index) => `x${index}: y\r\n`).join('');
  const host = `Host: 127.0.0.1:${gateway.port}\r\nConnection: close\r\n`;
  const upgrade = Object.entries(upgradeHeaders)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');
  const attacks: Record<string, string> = {
    '2,500 headers': `GET / HTTP/1.1\r\n${host}${lines(2_500)}\r\n`,
    '2,500 headers of an upgrade': `GET / HTTP/1.1\r\nHost: 127.0.0.1:${gateway.port}\r\n${upgrade}${'a:\r\n'.repeat(2_500)}\r\n`,
    'one header more than the bound': `GET / HTTP/1.1\r\n${host}${lines(limits.httpHeaderCount.value - 1)}\r\n`,
    '2,500 headers without names to speak of': `GET / HTTP/1.1\r\n${host}${'a:\r\n'.repeat(2_500)}\r\n`,
    '64 KiB of Sec-WebSocket-Protocol': requestText(gateway, '/', {
      headers: { ...upgradeHeaders, 'Sec-WebSocket-Protocol': 'a, '.repeat(21_845) },
    }),
    '64 KiB of Sec-WebSocket-Extensions': requestText(gateway, '/', {
      headers: { ...upgradeHeaders, 'Sec-WebSocket-Extensions': `permessage-deflate${'; a'.repeat(21_000)}` },
    }),
    'a cookie of 64 KiB': requestText(gateway, '/', { headers: { Cookie: 'x'.repeat(65_536) } }),
    'a target of 64 KiB': requestText(gateway, `/${'x'.repeat(65_536)}`),
  };
  for (const [name, text] of Object.entries(attacks)) {
    const { status } = await exchange(gateway, text);
    assert.equal(status, 431, name);
  }
  const malformed: Record<string, string> = {
    '12 KiB of Sec-WebSocket-Protocol, the same word again': requestText(gateway, '/', {
      headers: { ...upgradeHeaders, 'Sec-WebSocket-Protocol': 'a, '.repeat(4_000) },
    }),
    'a header without a colon': 'GET / HTTP/1.1\r\nnonsense\r\n\r\n',
    'a folded header': `GET / HTTP/1.1\r\n${host}X: a\r\n b\r\n\r\n`,
    'NUL in a header': `GET / HTTP/1.1\r\n${host}X: a\0b\r\n\r\n`,
    'a length and chunks': `POST / HTTP/1.1\r\n${host}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    'two lengths': `POST / HTTP/1.1\r\n${host}Content-Length: 0\r\nContent-Length: 5\r\n\r\n`,
    'a length that is no number': `POST / HTTP/1.1\r\n${host}Content-Length: 0x10\r\n\r\n`,
  };
  for (const [name, text] of Object.entries(malformed)) assert.equal((await exchange(gateway, text)).status, 400, name);
  const fine = `GET /healthz HTTP/1.1\r\n${host}${lines(limits.httpHeaderCount.value - 2)}\r\n`;
  assert.equal((await exchange(gateway, fine)).status, 200, 'as many headers as the bound');
  await assertUnharmed(gateway, { incidents: ['http.headers', 'http.malformed', 'ws.malformed'] });
});

test('S17 a first frame that is not a good connect is answered with its reason, and closed', async () => {
  verifies('S17');
  await using gateway = await startGatewayProcess();
  const good = connectParams(gateway.token);
  const request = (params: unknown, more: object = {}) => JSON.stringify({ type: 'req', id: 'x', method: 'connect', params, ...more });
  const attacks: Record<string, { text: string; code: string; incident?: string }> = {
    'not JSON': { text: 'hello', code: 'PARSE' },
    nothing: { text: '', code: 'PARSE' },
    'an empty object': { text: '{}', code: 'INVALID_REQUEST' },
    'a list': { text: '[]', code: 'INVALID_REQUEST' },
    'another method': { text: request({}, { method: 'health' }), code: 'INVALID_REQUEST' },
    'an unknown method': { text: request({}, { method: 'x' }), code: 'INVALID_REQUEST' },
    'a response': { text: request(good, { type: 'res' }), code: 'INVALID_REQUEST' },
    'an event': { text: '{"type":"event","event":"tick"}', code: 'INVALID_REQUEST' },
    'an unknown field of the frame': { text: request(good, { admin: true }), code: 'INVALID_REQUEST' },
    'no params': { text: request(undefined), code: 'INVALID_REQUEST', incident: 'handshake.malformed' },
    'an unknown field of the params': { text: request({ ...good, admin: true }), code: 'INVALID_REQUEST', incident: 'handshake.malformed' },
    'an old protocol': {
      text: request({ ...good, minProtocol: 1, maxProtocol: 2 }),
      code: 'PROTOCOL_MISMATCH',
      incident: 'handshake.malformed',
    },
    'a future protocol': {
      text: request({ ...good, minProtocol: 4, maxProtocol: 9 }),
      code: 'PROTOCOL_MISMATCH',
      incident: 'handshake.malformed',
    },
  };
  for (const [name, { text, code, incident = 'handshake.not-connect' }] of Object.entries(attacks)) {
    const from = newAddress();
    await using client = await openRaw(gateway.socketUrl, { localAddress: from });
    client.send(text);
    const answer = await client.find((frame) => frame.type === 'res');
    assert.equal(answer.ok, false, name);
    assert.equal(answer.error?.code, code, name);
    assert.equal((await client.closed).code, 1008, name);
    await assertUnharmed(gateway, { from, incidents: [incident] });
  }
});

test('S17 a second connect is refused, also when it comes in one breath with the first', async () => {
  verifies('S17');
  await using gateway = await startGatewayProcess();
  await using watcher = await bystander(gateway);
  const connections = async () => (await watcher.request('status')).payload.connections as number;
  assert.equal(await connections(), 1);

  await using client = await connectRaw(gateway.socketUrl, gateway.token);
  const again = await client.request('connect', connectParams(gateway.token));
  assert.equal(again.error?.code, 'INVALID_REQUEST');
  assert.equal((await client.request('health')).ok, true, 'the connection goes on');
  await client.close();

  // One write, so one read on the other side: what follows `connect` was read before it was answered.
  await using hand = await openByHand(gateway);
  const connects = Array.from({ length: 20 }, (_, index) => ({
    type: 'req',
    id: `c${index}`,
    method: 'connect',
    params: connectParams(gateway.token),
  }));
  const all = [...connects, { type: 'req', id: 'last', method: 'health' }];
  hand.socket.write(Buffer.concat(all.map((frame) => frameBytes(JSON.stringify(frame)))));
  await eventually('all are answered', () => hand.received().includes('"id":"last"'));
  const text = hand.received().toString();
  assert.equal(text.split('"hello-ok"').length - 1, 1, 'one of them is a handshake');
  assert.equal(text.split('This connection is connected already').length - 1, 19, 'the others are requests out of turn');
  assert.equal(await connections(), 2);
  hand.socket.destroy();
  await eventually('no connection is left behind', async () => (await connections()) === 1);

  const from = newAddress();
  await using guesser = await openByHand(gateway, from);
  const guesses = connects.map((frame, index) => frameBytes(JSON.stringify({ ...frame, params: connectParams(`wrong-token-${index}`) })));
  guesser.socket.write(Buffer.concat(guesses));
  assert.equal(await guesser.closeCode, 1008);
  assert.equal(guesser.received().toString().split('"ok":false').length - 1, 1, 'one guess for a socket');
  await assertUnharmed(gateway, { from, incidents: ['auth.failed'] });
});

/** Writes wait for as long as this is held, so that requests stay under way for as long as a test needs. */
function holdStore(gateway: GatewayProcess): Disposable {
  const database = new DatabaseSync(join(gateway.home, 'tenon.db'), { timeout: 5_000 });
  database.exec('begin immediate');
  return { [Symbol.dispose]: () => database.close() };
}

async function answersOf(client: RawClient, ids: readonly string[]): Promise<Frame[]> {
  return Promise.all(ids.map((id) => client.find((frame) => frame.type === 'res' && frame.id === id)));
}

test('S17 an id that is under way cannot be used again, and afterwards it can', async () => {
  verifies('S17');
  await using gateway = await startGatewayProcess();
  await using client = await connectRaw(gateway.socketUrl, gateway.token);
  const create = { type: 'req', id: 'same', method: 'sessions.create', params: { key: 'agent:main:one' } };
  let second: Frame;
  {
    using _ = holdStore(gateway);
    client.send(create);
    client.send({ ...create, params: { key: 'agent:main:two' } });
    second = await client.find((frame) => frame.id === 'same');
  }
  assert.equal(second.error?.code, 'INVALID_REQUEST');
  assert.equal(second.error?.details?.code, 'DUPLICATE_ID');
  const first = await client.find((frame) => frame.id === 'same' && frame.ok === true);
  assert.equal(first.payload.session.key, 'agent:main:one');
  client.send({ ...create, method: 'sessions.get', params: { key: 'agent:main:two' } });
  const third = await client.find((frame) => frame.id === 'same' && frame.error?.code === 'NOT_FOUND');
  assert.equal(third.ok, false, 'the refused request had no effect');
  await assertUnharmed(gateway);
});

test('S17 requests under way are bounded by their number and by their bytes', async () => {
  verifies('S17');
  await using gateway = await startGatewayProcess();
  const most = limits.maxInFlight.value;
  const request = (id: string) => JSON.stringify({ type: 'req', id, method: 'sessions.create', params: { key: `agent:main:${id}` } });

  await using counted = await connectRaw(gateway.socketUrl, gateway.token, { events: [] });
  const ids = Array.from({ length: most + 50 }, (_, index) => `n${index}`);
  {
    using _ = holdStore(gateway);
    for (const id of ids) counted.send(request(id));
    const refused = await answersOf(counted, ids.slice(most));
    for (const { error } of refused) {
      assert.equal(error?.code, 'UNAVAILABLE');
      assert.equal(error?.details?.code, 'TOO_MANY_IN_FLIGHT');
      assert.ok((error?.retryAfterMs ?? 0) > 0);
    }
    assert.equal(counted.frames.filter((frame) => frame.type === 'res').length, 50 + 1, 'the others wait');
  }
  for (const { ok } of await answersOf(counted, ids.slice(0, most))) assert.equal(ok, true);

  await using weighed = await connectRaw(gateway.socketUrl, gateway.token, { events: [] });
  const heavy = 1_000_000;
  const fitting = Math.floor(limits.maxInFlightBytes.value / heavy);
  const heavyIds = Array.from({ length: fitting + 2 }, (_, index) => `b${index}`);
  {
    using _ = holdStore(gateway);
    for (const id of heavyIds) weighed.send(padded(request(id), heavy));
    for (const { error } of await answersOf(weighed, heavyIds.slice(fitting))) assert.equal(error?.details?.code, 'TOO_MANY_IN_FLIGHT');
  }
  for (const { ok } of await answersOf(weighed, heavyIds.slice(0, fitting))) assert.equal(ok, true);
  await assertUnharmed(gateway);
});

test('S17 who does not read the answers is not asked for more requests', async (t) => {
  verifies('S17');
  await using gateway = await startGatewayProcess();
  await using deaf = await connectRaw(gateway.socketUrl, gateway.token, { events: [] });
  const { _socket: socket } = deaf.socket as unknown as { _socket: import('node:net').Socket };
  socket.pause();
  const count = 10_000;
  const params = { text: 'x'.repeat(4_000) };
  for (let index = 0; index < count; index++) deaf.send({ type: 'req', id: `e${index}`, method: 'system.echo', params });

  const answered = () => metric(gateway, 'tenon_requests_total{method="system.echo",outcome="ok"}');
  let before = -1;
  let same = 0;
  await eventually('the gateway takes no more', async () => {
    const now = await answered();
    same = now === before && now > 0 ? same + 1 : 0;
    before = now;
    await pause(20);
    return same >= 20;
  });
  t.diagnostic(`${before} of ${count} were answered before it was read`);
  assert.ok(before < count / 2, `${before} of ${count} were answered although nothing was read`);
  await assertUnharmed(gateway);
  socket.resume();
  await deaf.find((frame) => frame.id === `e${count - 1}`);
  assert.equal(deaf.frames.filter((frame) => frame.ok === true).length, count + 1, 'nothing is lost');
});
