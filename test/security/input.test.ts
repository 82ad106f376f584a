// S25, S26, S27, S29: input that means something else to one reader than to another.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseJson } from '@tenon/protocol';
import { ConfigError, loadConfig } from '../../packages/gateway/src/config.ts';
import { statusPage } from '../../packages/gateway/src/net/status-page.ts';
import { type GatewayProcess, startGatewayProcess } from '../support/gateway.ts';
import { connectParams, connectRaw, type Frame, openRaw, type RawClient } from '../support/raw-client.ts';
import { createRandom } from '../support/random.ts';
import { verifies } from '../support/verifies.ts';
import {
  assertUnharmed,
  bystander,
  connectDevice,
  createDevice,
  eventually,
  exchange,
  frameBytes,
  logFiles,
  newAddress,
  openByHand,
  requestText,
  tenon,
  upgradeHeaders,
} from './harness.ts';

const RESERVED = ['__proto__', 'constructor', 'prototype'];

/** Nothing in this process has a property that nobody gave it. */
function assertNotPolluted(): void {
  const bare: Record<string, unknown> = {};
  assert.equal(bare.polluted, undefined);
  assert.equal(bare.limit, undefined);
  assert.equal((Object as unknown as Record<string, unknown>).polluted, undefined);
}

/** Sends text that may not be JSON, and so may have no id, and resolves with the next response. */
function sendText({ socket }: RawClient, text: string): Promise<Frame> {
  const answer = new Promise<Frame>((resolve) => {
    socket.on('message', function take(data) {
      const frame = JSON.parse(String(data)) as Frame;
      if (frame.type !== 'res') return;
      socket.off('message', take);
      resolve(frame);
    });
  });
  socket.send(text);
  return answer;
}

test('S25 a reserved key is refused at any depth of a frame, however it is spelt', async () => {
  verifies('S25');
  await using gateway = await startGatewayProcess();
  await using client = await connectRaw(gateway.socketUrl, gateway.token, { events: [] });
  for (let count = 0; count < 3; count++) await client.request('sessions.create', {});
  // Were it taken over, the next list would be shorter and the next session pinned.
  const payload = '{"polluted":true,"limit":1,"archived":true,"pinned":true,"title":"polluted"}';
  const spellings = RESERVED.flatMap((name) => [
    name,
    `\\u${name.charCodeAt(0).toString(16).padStart(4, '0')}${name.slice(1)}`,
    [...name].map((letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`).join(''),
  ]);
  let sent = 0;
  // Each socket may send 120 refused requests before it has to wait.
  for (const spelling of spellings) {
    await using attacker = await connectRaw(gateway.socketUrl, gateway.token, { events: [] });
    for (const depth of [0, 1, 2, 5, 30, 60]) {
      const open = '{"a":'.repeat(depth);
      const planted = `${open}{"${spelling}":${payload}}${'}'.repeat(depth)}`;
      const frames = [
        `{"type":"req","id":"i","method":"sessions.list","params":${planted}}`,
        `{"type":"req","id":"i","method":"config.patch","params":{"set":{"x":[${planted}]}}}`,
        `{"type":"req","id":"i","method":"sessions.create","${spelling}":${planted},"params":{}}`,
      ];
      for (const frame of frames) {
        const { error } = await sendText(attacker, frame);
        assert.equal(error?.code, 'PARSE', frame.slice(0, 100));
        sent++;
      }
    }
  }
  assert.equal(sent, 9 * 6 * 3);
  const connect = `{"type":"req","id":"c","method":"connect","params":{"__proto__":{"auth":{"token":"${gateway.token}"}},${JSON.stringify(connectParams()).slice(1)}}`;
  const from = newAddress();
  await using stranger = await openRaw(gateway.socketUrl, { localAddress: from });
  stranger.send(connect);
  assert.equal((await stranger.find((frame) => frame.type === 'res')).error?.code, 'PARSE');
  assert.equal((await stranger.closed).code, 1008);

  const { sessions } = (await client.request('sessions.list', {})).payload;
  assert.equal(sessions.length, 3, 'the list is as long as before');
  const { session } = (await client.request('sessions.create', {})).payload;
  assert.equal(session.pinned, false);
  assert.equal(session.title, '');
  await assertUnharmed(gateway, { from, incidents: ['handshake.not-connect'] });
});

test('S25 a reserved name is no id, no session key and no setting', async () => {
  verifies('S25');
  await using gateway = await startGatewayProcess();
  await using client = await connectRaw(gateway.socketUrl, gateway.token, { events: [] });
  for (const name of RESERVED) {
    for (const params of [{ key: `agent:main:${name}` }, { key: `agent:${name}:main` }, { agentId: name }]) {
      const { error } = await client.request('sessions.create', params);
      assert.equal(error?.code, 'INVALID_REQUEST', JSON.stringify(params));
      const patched = await client.request('sessions.patch', { key: `agent:main:${name}`, title: 'x' });
      assert.equal(patched.error?.code, 'INVALID_REQUEST');
    }
    assert.equal((await client.request('events.subscribe', { events: [name] })).payload.events.includes(name), false);
    assert.equal((await client.request(name, {})).error?.code, 'UNKNOWN_METHOD');
    assert.equal((await client.request(`sessions.${name}`, {})).error?.code, 'UNKNOWN_METHOD');
    for (const setting of [`gateway.${name}`, `x.${name}.y`, `toString`, 'hasOwnProperty'])
      assert.equal((await client.request('config.patch', { set: { [setting]: true } })).error?.code, 'INVALID_REQUEST', setting);
    assert.notEqual((await tenon(gateway.home, 'config', 'set', `${name}.polluted`, 'true')).code, 0);
  }
  for (const path of RESERVED.flatMap((name) => [`/${name}`, `/${name}/polluted`]))
    assert.equal((await exchange(gateway, requestText(gateway, path))).status, 404, path);
  const listed = await tenon(gateway.home, 'session', 'ls', '--json');
  assert.deepEqual(JSON.parse(listed.stdout), { sessions: [] });
  await assertUnharmed(gateway);
});

test('S25 a reserved key in tenon.toml is named, and nothing is started with it', async () => {
  verifies('S25');
  const home = mkdtempSync(join(tmpdir(), 'tenon-reserved-'));
  try {
    const texts = RESERVED.flatMap((name) => [
      `[${name}]\npolluted = true\n`,
      `[gateway]\n${name} = { polluted = true }\n`,
      `[gateway.${name}]\npolluted = true\n`,
      `gateway."${name}".polluted = true\n`,
      `["\\u${name.charCodeAt(0).toString(16).padStart(4, '0')}${name.slice(1)}"]\npolluted = true\n`,
    ]);
    for (const text of texts) {
      writeFileSync(join(home, 'tenon.toml'), text);
      assert.throws(() => loadConfig({ home, env: {} }), ConfigError, text);
      assertNotPolluted();
    }
    const [first = ''] = texts;
    writeFileSync(join(home, 'tenon.toml'), first);
    await assert.rejects(startGatewayProcess({ home }), (error: Error & { exit?: { code: number }; stderr?: string }) => {
      assert.equal(error.exit?.code, 1);
      assert.match(error.stderr ?? '', /tenon\.toml:\d+: /);
      return true;
    });
    for (const name of RESERVED) assert.equal(parseJson(`{"a":[{"${name}":{"polluted":true}}]}`).ok, false);
    assertNotPolluted();
  } finally {
    rmSync(home, { recursive: true, force: true, maxRetries: 10 });
  }
});

test('S26 hostile JSON gets a typed answer or a close, and the next request is served', async () => {
  verifies('S26');
  await using gateway = await startGatewayProcess();
  const wrap = (params: string) => `{"type":"req","id":"i","method":"system.echo","params":${params}}`;
  const text = (value: string) => wrap(`{"text":${value}}`);
  const refused: Record<string, string> = {
    'depth 100,000 of lists': wrap(`${'['.repeat(100_000)}${']'.repeat(100_000)}`),
    'depth 100,000 of objects': wrap(`${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`),
    'depth 100,000 that never closes': '['.repeat(100_000),
    '10,001 keys': wrap(`{${Array.from({ length: 10_001 }, (_, index) => `"k${index}":0`).join()}}`),
    '50,000 objects with a key each': wrap(`[${Array(50_000).fill('{"a":0}').join()}]`),
    'a number too large': wrap('{"text":1e400}'),
    'a number too small': wrap('{"text":-1e999999}'),
    'a number of 100,000 digits': wrap(`{"text":${'9'.repeat(100_000)}}`),
    'a lone surrogate': text('"\\ud800"'),
    'surrogates the wrong way round': text('"\\udc00\\ud800"'),
    'a key twice': '{"type":"req","id":"i","method":"health","method":"gateway.shutdown","params":{}}',
    'a key twice, once escaped': '{"type":"req","id":"i","method":"health","\\u006dethod":"gateway.shutdown","params":{}}',
    'NUL, escaped': text('"a\\u0000b"'),
    'NUL, raw': text('"a\0b"'),
    'a raw newline in a string': text('"a\nb"'),
    'no end': '{"type":"req","id":"i"',
    'two values': '{} {}',
    'a comment': '{"type":"req" /* x */}',
    'a trailing comma': '{"type":"req",}',
    NaN: wrap('{"text":NaN}'),
    'a byte order mark': `\ufeff${text('"x"')}`,
    'single quotes': "{'type':'req'}",
  };
  for (const [name, frame] of Object.entries(refused)) {
    await using client = await connectRaw(gateway.socketUrl, gateway.token, { events: [] });
    const { error } = await sendText(client, frame);
    assert.equal(error?.code, 'PARSE', name);
    assert.ok((error?.message.length ?? 0) < 200, `${name} is not quoted whole`);
    assert.equal((await client.request('health')).ok, true, `after ${name}`);
  }
  const closed: Record<string, string> = {
    'a million keys': wrap(`{${Array.from({ length: 1_000_000 }, (_, index) => `"${index}":0`).join()}}`),
    'a string of 10 MB': text(JSON.stringify('x'.repeat(10_000_000))),
  };
  for (const [name, frame] of Object.entries(closed)) {
    await using client = await connectRaw(gateway.socketUrl, gateway.token, { events: [] }, { localAddress: newAddress() });
    client.send(frame);
    assert.equal((await client.closed).code, 1009, name);
  }
  const from = newAddress();
  await using hand = await openByHand(gateway, from);
  hand.socket.write(frameBytes(JSON.stringify({ type: 'req', id: 'c', method: 'connect', params: connectParams(gateway.token) })));
  await eventually('hello-ok', () => hand.received().includes('hello-ok'));
  // A lone surrogate in UTF-8, which is not UTF-8.
  hand.socket.write(frameBytes(Buffer.concat([Buffer.from('{"type":"'), Buffer.from([0xed, 0xa0, 0x80]), Buffer.from('"}')])));
  assert.equal(await hand.closeCode, 1007);
  await assertUnharmed(gateway, { from, incidents: ['frame.invalid'] });
});

test('S26 any bytes at all, before and after authentication', async (t) => {
  verifies('S26');
  const seed = 20_260_226;
  t.diagnostic(`seed ${seed}`);
  const random = createRandom(seed);
  await using gateway = await startGatewayProcess();
  const good = JSON.stringify({ type: 'req', id: 'i', method: 'sessions.list', params: { limit: 3, search: 'a b', cursor: 'MS4x' } });
  const mangle = (): string => {
    const units = [...good];
    for (let count = 1 + random.below(6); count > 0; count--) {
      const at = random.below(units.length);
      const stranger = random.pick(['{', '}', '[', ']', '"', '\\', ':', ',', '\\u', 'e', '-', '9', ' ', '\u2028', '\u{1f600}', 'é', '']);
      units.splice(at, random.below(3), stranger);
    }
    return units.join('');
  };
  for (let round = 0; round < 12; round++) {
    await using client = await connectRaw(gateway.socketUrl, gateway.token, { events: [] }, { localAddress: newAddress() });
    const frames = Array.from({ length: 100 }, mangle);
    for (const frame of frames) client.send(frame);
    const last = await client.request('health', {}, `end-${round}`);
    assert.equal(last.ok, true);
    const answers = client.frames.filter((frame) => frame.type === 'res' && frame.id !== 'connect' && frame !== last);
    assert.equal(answers.length, frames.length, 'each is answered once');
    const codes = new Set(answers.map((frame) => frame.error?.code ?? 'ok'));
    for (const code of codes) assert.ok(['ok', 'PARSE', 'INVALID_REQUEST', 'UNKNOWN_METHOD'].includes(code), code);
  }
  for (let round = 0; round < 40; round++) {
    await using hand = await openByHand(gateway, newAddress());
    hand.socket.write(Buffer.from(Array.from({ length: 1 + random.below(400) }, () => random.below(256))));
    hand.socket.end();
    await hand.ended;
  }
  await assertUnharmed(gateway);
});

test('S27 games with the encoding of a path never reach another page', async () => {
  verifies('S27');
  // The metrics need a token, so a way around the check would show.
  await using gateway = await startGatewayProcess();
  const targets = [
    '//',
    '//metrics',
    '/metrics/',
    '/metrics//',
    '/./metrics',
    '/../metrics',
    '/healthz/../metrics',
    '/healthz/..%2fmetrics',
    '/healthz/%2e%2e/metrics',
    '/healthz/.%2e/metrics',
    '/%2e/metrics',
    '/%2emetrics',
    '/%6detrics',
    '/%6Detrics',
    '/%256detrics',
    '/metric%73',
    '/metrics%00',
    '/metrics%00.html',
    '/metrics%20',
    '/metrics%2f',
    '/metrics%252f',
    '/metrics.',
    '/metrics;',
    '/metrics;jsessionid=1',
    '/metrics,',
    '/metrics\\',
    '/\\metrics',
    '\\metrics',
    '/healthz\\..\\metrics',
    '/METRICS',
    '/Metrics',
    '/metricſ',
    '/metrics#',
    '/metrics%3f',
    '/%2fmetrics',
    '/%5cmetrics',
    '/metrics%c0%af',
    '/..%c0%af../etc/passwd',
    '/../../../../etc/passwd',
    '/%2e%2e/%2e%2e/%2e%2e/etc/passwd',
    '/..%252f..%252fetc/passwd',
    '/tenon.db',
    '/token',
    '/.env',
    '/index.html',
    '/favicon.ico',
    '/ws',
    '/api/sessions',
    '*',
    'metrics',
    'http://127.0.0.1/metrics',
    `http://127.0.0.1:${gateway.port}/metrics`,
    '@127.0.0.1/metrics',
    '/metrics\t',
    '/\x00metrics',
    '/\x7fmetrics',
  ];
  const attack = async (target: string, headers: Record<string, string> = {}) => {
    const answer = await exchange(gateway, Buffer.from(requestText(gateway, target, { headers }), 'utf8'));
    assert.ok([400, 404].includes(answer.status), `${JSON.stringify(target)} is answered ${answer.status}`);
    assert.doesNotMatch(answer.body, /tenon_|root:|Tenon gateway/, target);
  };
  for (const target of targets) {
    await attack(target);
    // Headers by which proxies rewrite a path must not work here.
    await attack(target, { 'X-Original-URL': '/metrics', 'X-Rewrite-URL': '/metrics', 'X-HTTP-Method-Override': 'GET' });
  }
  // What follows the question mark is not the path: the page is the one that the path names, with its own check.
  for (const target of ['/metrics?', '/metrics?/../healthz', '/metrics?x=%2e%2e/', '/metrics?/healthz'])
    assert.equal((await exchange(gateway, requestText(gateway, target))).status, 401, target);
  assert.equal((await exchange(gateway, requestText(gateway, '/healthz?/../metrics'))).body, '{"ok":true}\n');
  await assertUnharmed(gateway, { incidents: ['auth.missing'] });
});

test('S27 an upgrade is taken at its own path only', async () => {
  verifies('S27');
  await using gateway = await startGatewayProcess();
  const paths = ['/metrics', '/healthz', '//', '/ws/', '/WS', '/%77s', '/?x', '/ws?token=x', '/..', '/ws/../', '/./', '*', '\\ws', 'ws'];
  for (const path of paths) {
    const { status } = await exchange(gateway, requestText(gateway, path, { headers: upgradeHeaders }));
    assert.ok([400, 404].includes(status), `${path} is answered ${status}`);
  }
  await assertUnharmed(gateway);
});

// What would move, hide or reorder other text, one of each kind.
const TRICKS = {
  'right-to-left override': '\u202e',
  'left-to-right isolate': '\u2066',
  'zero-width space': '\u200b',
  'zero-width joiner': '\u200d',
  'word joiner': '\u2060',
  'byte order mark': '\ufeff',
  'soft hyphen': '\u00ad',
  'line separator': '\u2028',
  'tag letter': '\u{e0041}',
  'hangul filler': '\u3164',
  escape: '\u001b[31m',
  'C1 control sequence': '\u009b31m',
  newline: '\n',
  tab: '\t',
  backspace: '\b',
  delete: '\u007f',
};
const HIDDEN = new RegExp(
  `[${Object.values(TRICKS)
    .map((text) => `\\u{${text.codePointAt(0)!.toString(16)}}`)
    .join('')}]`,
  'u',
);

/** Every line of what was shown, without the newlines that end them. */
function assertPlain(shown: string, where: string): void {
  for (const line of shown.split('\n')) assert.doesNotMatch(line, HIDDEN, `${where}: ${JSON.stringify(line)}`);
}

async function hostileTexts(gateway: GatewayProcess, client: RawClient): Promise<string[]> {
  const texts = Object.values(TRICKS).map((trick) => `safe${trick}gpj.exe`);
  for (const [index, title] of texts.entries()) {
    const made = await client.request('sessions.create', { key: `agent:main:s${index}`, title });
    assert.equal(made.payload.session.title, title, 'what is stored is what was sent');
  }
  assert.equal((await client.request('tokens.create', { name: texts.join(' '), scopes: [] })).ok, true);
  const displayName = Object.values(TRICKS).join('x');
  const params = { client: { id: 'i', displayName, version: '1', platform: `p${TRICKS['right-to-left override']}`, mode: 'test' } };
  const waiting = createDevice();
  const paired = createDevice();
  await askToPairAs(gateway, waiting, params);
  await client.request('device.pair.approve', { requestId: await askToPairAs(gateway, paired, params) });
  return texts;
}

async function askToPairAs(
  gateway: GatewayProcess,
  device: ReturnType<typeof createDevice>,
  params: Record<string, unknown>,
): Promise<string> {
  const { client, answer } = await connectDevice(gateway, device, { params: { scopes: ['operator.read'], ...params }, from: newAddress() });
  await client.closed;
  return answer.error?.details?.requestId as string;
}

test('S29 text that hides or reorders is shown as what it is by every command', async () => {
  verifies('S29');
  await using gateway = await startGatewayProcess();
  await using client = await bystander(gateway);
  const texts = await hostileTexts(gateway, client);
  const commands: string[][] = [
    ['session', 'ls'],
    ['session', 'show', 's0'],
    ['session', 'ls', '--json'],
    ['token', 'ls'],
    ['device', 'ls'],
    ['device', 'ls', '--json'],
    ['call', 'sessions.list'],
    ['call', 'device.pair.list'],
    ['status'],
    ['audit'],
    ['logs'],
    ['doctor'],
  ];
  for (const args of commands) {
    const { stdout, stderr } = await tenon(gateway.home, ...args);
    assertPlain(stdout, `tenon ${args.join(' ')}`);
    assertPlain(stderr, `tenon ${args.join(' ')}`);
  }
  const { stdout } = await tenon(gateway.home, 'session', 'ls', '-n', '200');
  for (const text of texts) {
    const marked = `safe\\u{${[...text][4]!.codePointAt(0)!.toString(16)}}`;
    assert.ok(stdout.includes(marked), `${JSON.stringify(text)} is not shown as ${marked}`);
  }
  const failed = await tenon(gateway.home, 'session', 'show', 'a\u202eb');
  assert.notEqual(failed.code, 0);
  assertPlain(failed.stderr, 'an error that quotes what was typed');
  await assertUnharmed(gateway);
});

test('S29 what a stranger sends is written into the log and the audit with its hidden characters shown', async () => {
  verifies('S29');
  await using gateway = await startGatewayProcess();
  const from = newAddress();
  // Header bytes above 127 arrive as characters of Latin-1, which has controls and a soft hyphen of its own.
  const head = Buffer.from(requestText(gateway, '/', { headers: { Origin: 'http://a\u00adb\u009b31mc\u0085d' } }), 'latin1');
  assert.equal((await exchange(gateway, head, from)).status, 403);
  const host = Buffer.from(requestText(gateway, '/', { headers: { Host: 'a\u009b31m' } }), 'latin1');
  assert.equal((await exchange(gateway, host, from)).status, 421);
  await assertUnharmed(gateway, { from, incidents: ['http.origin', 'http.host'] });
  await using client = await bystander(gateway);
  const { records } = (await client.request('audit.list')).payload;
  const { details } = records.find((record: { action: string }) => record.action === 'http.origin');
  assert.equal(details.value, 'http://a\\u{ad}b\\u{9b}31mc\\u{85}d');
  await client.request('gateway.shutdown', { reason: `bye${Object.values(TRICKS).join('')}` });
  assert.equal((await gateway.exited).code, 0);
  for (const [name, text] of logFiles(gateway.home)) assertPlain(text, name);
});

test('S29 the status page shows hidden characters and markup as text', () => {
  verifies('S29');
  const reason = `${Object.values(TRICKS).join('x')}<script>alert(1)</script>&"'`;
  const page = statusPage({
    version: '1.0\u202e',
    nonce: 'n',
    warnings: [reason],
    health: { ok: false, problems: [{ part: '<b>\u200b', reason, since: 0 }] },
  });
  assertPlain(page, 'the page');
  assert.doesNotMatch(page, /<script|<b>/);
  assert.match(page, /\\u\{202e\}/);
});

test('S29 ids are ASCII, so what looks alike is alike', async () => {
  verifies('S29');
  await using gateway = await startGatewayProcess();
  await using client = await connectRaw(gateway.socketUrl, gateway.token, { events: [] });
  const cyrillic = 'm\u0430in';
  const attempts: [method: string, params: unknown][] = [
    ['sessions.create', { key: `agent:${cyrillic}:x` }],
    ['sessions.create', { key: `agent:main:${cyrillic}` }],
    ['sessions.create', { key: 'agent:main:a\u200bb' }],
    ['sessions.create', { key: 'agent:main:a\u202eb' }],
    ['sessions.create', { key: 'agent:main:a b' }],
    ['sessions.create', { key: 'agent:main:a\n' }],
    ['sessions.create', { key: 'agent:main:\uff41' }],
    ['sessions.create', { agentId: cyrillic }],
    ['sessions.create', { label: cyrillic }],
    ['sessions.create', { idempotencyKey: cyrillic }],
    ['sessions.create', { idempotencyKey: 'a\u00a0b' }],
    ['tokens.rotate', { id: `${'a'.repeat(20)}\u0430` }],
    ['device.revoke', { id: `${'f'.repeat(63)}\u0444` }],
    ['config.patch', { set: { 'log.leve\u217c': 'debug' } }],
  ];
  for (const [method, params] of attempts)
    assert.equal((await client.request(method, params)).error?.code, 'INVALID_REQUEST', JSON.stringify(params));
  assert.equal((await client.request(`he\u0430lth`)).error?.code, 'UNKNOWN_METHOD');
  assert.deepEqual((await client.request('sessions.list')).payload.sessions, []);
  await assertUnharmed(gateway);
});
