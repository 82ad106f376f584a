// S01, S02, S03, S07, S09-S12: who may knock, and how often they may guess.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { DatabaseSync } from 'node:sqlite';
import { sameDigest } from '../../packages/gateway/src/kernel/ids.ts';
import { bucketOf, isLoopback } from '../../packages/gateway/src/net/address.ts';
import { accountWarnings } from '../../packages/gateway/src/rpc/account-warnings.ts';
import { digestOf } from '../../packages/gateway/src/rpc/token-mint.ts';
import { readTree } from '../../scripts/layers.ts';
import { tokensOf } from '../../scripts/source/tokens.ts';
import { startGatewayProcess } from '../support/gateway.ts';
import { connectParams, connectRaw, openRaw } from '../support/raw-client.ts';
import { verifies } from '../support/verifies.ts';
import {
  assertUnharmed,
  bystander,
  eventually,
  exchange,
  newAddress,
  openBare,
  requestText,
  tryConnect,
  upgradeHeaders,
} from './harness.ts';

async function upgradeStatus(url: string, headers: Record<string, string>, localAddress?: string): Promise<number> {
  try {
    const client = await openRaw(url, { headers, ...(localAddress === undefined ? {} : { localAddress }) });
    await client.close();
    return 101;
  } catch (error) {
    return (error as { status?: number }).status ?? 0;
  }
}

test('S01 a socket from a foreign web origin is refused before the upgrade', async () => {
  verifies('S01');
  await using gateway = await startGatewayProcess();
  const { port } = gateway;
  const foreign = [
    'https://evil.example',
    'null',
    '',
    'http://localhost.evil.example',
    `http://localhost.evil.example:${port}`,
    `http://127.0.0.1:${port + 1}`,
    'http://127.0.0.1',
    `https://127.0.0.1:${port}`,
    `http://127.0.0.1:${port}.evil.example`,
    `http://127.0.0.1:${port}@evil.example`,
    `http://evil.example#http://127.0.0.1:${port}`,
    `http://127.0.0.1:${port}, http://evil.example`,
    `http://0.0.0.0:${port}`,
    'file://',
    'chrome-extension://abcdefghijklmnopabcdefghijklmnop',
  ];
  for (const origin of foreign) {
    assert.equal(await upgradeStatus(gateway.socketUrl, { origin }), 403, `Origin: ${origin}`);
    assert.equal(
      (await exchange(gateway, requestText(gateway, '/', { headers: { Origin: origin } }))).status,
      403,
      `GET, Origin: ${origin}`,
    );
  }
  for (const origin of [`http://127.0.0.1:${port}`, `http://localhost:${port}`])
    assert.equal(await upgradeStatus(gateway.socketUrl, { origin }), 101, `own Origin ${origin}`);

  // The bytes after the refused upgrade hold a valid connect: nobody reads it.
  await using bare = await openBare(gateway);
  const connect = JSON.stringify({ type: 'req', id: '1', method: 'connect', params: connectParams(gateway.token) });
  bare.socket.write(requestText(gateway, '/', { headers: { ...upgradeHeaders, Origin: 'https://evil.example' } }));
  bare.socket.write(connect);
  const answer = (await bare.ended).toString();
  assert.match(answer, /^HTTP\/1\.1 403 Forbidden\r\n/);
  assert.doesNotMatch(answer, /hello-ok|challenge|sec-websocket-accept/i);
  await assertUnharmed(gateway, { incidents: ['ws.origin', 'http.origin'] });
});

test('S01 a page of another site that hides its origin is known by Sec-Fetch-Site', async () => {
  verifies('S01');
  await using gateway = await startGatewayProcess();
  for (const site of ['cross-site', 'same-site']) {
    assert.equal(await upgradeStatus(gateway.socketUrl, { 'sec-fetch-site': site, 'sec-fetch-mode': 'websocket' }), 403, site);
    const loaded = requestText(gateway, '/metrics', { headers: { 'Sec-Fetch-Site': site, 'Sec-Fetch-Mode': 'no-cors' } });
    assert.equal((await exchange(gateway, loaded)).status, 403, site);
  }
  const link = requestText(gateway, '/', { headers: { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'navigate' } });
  assert.equal((await exchange(gateway, link)).status, 200, 'following a link is a navigation');
  await assertUnharmed(gateway, { incidents: ['ws.cross-site', 'http.cross-site'] });
});

test('S02 a Host that is not on the list is refused over HTTP and WebSocket', async () => {
  verifies('S02');
  await using gateway = await startGatewayProcess({
    config: '[gateway]\nallowedHosts = ["tenon.example:8443"]\nallowedOrigins = ["https://app.example"]\n',
  });
  const { port } = gateway;
  const rebound = [
    `evil.example:${port}`,
    'evil.example',
    '127.0.0.1',
    `127.0.0.1:${port + 1}`,
    `localhost.:${port}`,
    `127.0.0.1:${port}.evil.example`,
    `evil.example@127.0.0.1:${port}`,
    `0x7f.1:${port}`,
    `2130706433:${port}`,
    `[::ffff:127.0.0.1]:${port}`,
    'tenon.example',
    '',
  ];
  for (const host of rebound) {
    const headers = { Host: host, Origin: `http://${host}` };
    assert.equal((await exchange(gateway, requestText(gateway, '/', { headers }))).status, 421, `Host: ${host}`);
    const upgrade = requestText(gateway, '/', { headers: { ...headers, ...upgradeHeaders } });
    assert.equal((await exchange(gateway, upgrade)).status, 421, `upgrade, Host: ${host}`);
  }
  const twice = `GET / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nHost: evil.example\r\nConnection: close\r\n\r\n`;
  assert.equal((await exchange(gateway, twice)).status, 421, 'two Host headers');
  assert.equal((await exchange(gateway, 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n')).status, 421, 'no Host header');
  assert.equal((await exchange(gateway, 'GET / HTTP/1.0\r\n\r\n')).status, 421, 'HTTP/1.0 without Host');
  const absolute = await exchange(gateway, requestText(gateway, `http://evil.example:${port}/`));
  assert.equal(absolute.status, 404, 'a whole address as the target is no page of ours');

  const good = [
    { Host: `127.0.0.1:${port}`, Origin: `http://127.0.0.1:${port}` },
    { Host: `LOCALHOST:${port}`, Origin: `http://localhost:${port}` },
    { Host: 'tenon.example:8443', Origin: 'https://tenon.example:8443' },
    { Host: 'tenon.example:8443', Origin: 'https://app.example' },
  ];
  for (const headers of good)
    assert.equal((await exchange(gateway, requestText(gateway, '/healthz', { headers }))).status, 200, JSON.stringify(headers));
  await assertUnharmed(gateway, { incidents: ['http.host', 'ws.host'] });
});

test('S03 without an Origin a valid credential is still needed', async () => {
  verifies('S03');
  await using gateway = await startGatewayProcess();
  const without = await tryConnect(gateway, {});
  assert.equal(without.error?.code, 'UNAUTHORIZED');
  assert.equal(without.error?.details?.code, 'AUTH_REQUIRED');
  assert.equal(without.closeCode, 1008);
  const wrong = await tryConnect(gateway, { token: `${gateway.token}x` });
  assert.equal(wrong.error?.code, 'UNAUTHORIZED');
  assert.equal(wrong.error?.details?.code, 'AUTH_TOKEN_MISMATCH');
  assert.equal(wrong.closeCode, 1008);

  await using silent = await openRaw(gateway.socketUrl);
  const refused = await silent.request('health');
  assert.equal(refused.error?.code, 'INVALID_REQUEST');
  assert.equal((await silent.closed).code, 1008);
  assert.deepEqual(
    silent.frames.filter((frame) => frame.type === 'event').map((frame) => frame.event),
    ['connect.challenge'],
    'nothing but the challenge is told to a stranger',
  );
  await assertUnharmed(gateway, { incidents: ['auth.missing', 'auth.failed', 'handshake.not-connect'] });
});

test('S07 the gateway does not listen off loopback without a token, nor in plain http unless told so', async () => {
  verifies('S07');
  const refusals: [args: string[], reason: RegExp][] = [
    [['--bind', '0.0.0.0'], /0\.0\.0\.0 would send tokens over plain http.*--insecure/],
    [['--bind', '::'], /:: would send tokens over plain http/],
    [['--bind', '10.0.0.1'], /10\.0\.0\.1 would send tokens over plain http/],
    [['--bind', '::ffff:10.0.0.1'], /would send tokens over plain http/],
    [['--bind', '::1.2.3.4'], /would send tokens over plain http/],
    [['--bind', '0.0.0.0', '--auth', 'none'], /"none" is for loopback only/],
    [['--bind', '0.0.0.0', '--auth', 'none', '--insecure', 'true'], /"none" is for loopback only/],
  ];
  for (const [args, reason] of refusals) {
    await assert.rejects(
      startGatewayProcess({ args }),
      (error: Error & { exit?: { code: number }; stderr?: string }) => {
        assert.equal(error.exit?.code, 2, error.message);
        assert.equal(error.stderr?.trim().split('\n').length, 1, 'one line');
        assert.match((JSON.parse(error.stderr ?? '') as { message: string }).message, reason);
        return true;
      },
      args.join(' '),
    );
  }
  await assert.rejects(
    startGatewayProcess({ config: '[gateway]\nbind = "0.0.0.0"\n' }),
    /would send tokens over plain http/,
    'said in the file',
  );
  await assert.rejects(startGatewayProcess({ env: { TENON_BIND: '0.0.0.0' } }), /would send tokens over plain http/, 'said by a variable');
});

test('S07 what is less safe than the default is shown where people look', async () => {
  verifies('S07');
  await using open = await startGatewayProcess({ args: ['--bind', '0.0.0.0', '--insecure', 'true'] });
  const reachable = { ...open, socketUrl: `ws://127.0.0.1:${open.port}` };
  await using client = await bystander(reachable);
  const warning = 'Listening on 0.0.0.0 over plain http: tokens can be read on the way';
  assert.deepEqual((await client.request('status')).payload.warnings, [warning, ...accountWarnings()]);
  const page = await exchange(open, requestText(open, '/'));
  assert.ok(page.body.includes(warning), page.body);
  assert.equal((await tryConnect(reachable, {})).error?.code, 'UNAUTHORIZED', 'a token is still needed');
  await assertUnharmed(reachable, { incidents: ['auth.missing'] });

  await using trusting = await startGatewayProcess({ args: ['--auth', 'none'] });
  assert.equal(await upgradeStatus(trusting.socketUrl, { origin: 'https://evil.example' }), 403, 'the Origin still counts');
  assert.equal((await exchange(trusting, requestText(trusting, '/', { headers: { Host: 'evil.example' } }))).status, 421);
  await using local = await connectRaw(trusting.socketUrl);
  assert.deepEqual((await local.request('status')).payload.warnings, [
    'Authentication is off: everybody on this machine is admin',
    ...accountWarnings(),
  ]);
  await assertUnharmed(trusting, { incidents: ['ws.origin', 'http.host'] });
});

test('S09 hundreds of wrong tokens from loopback: ten are told so, and a right one gets in all the same', async () => {
  verifies('S09');
  await using gateway = await startGatewayProcess();
  await using before = await connectRaw(gateway.socketUrl, gateway.token);
  let guess = 0;
  const codes: (string | undefined)[] = [];
  const waits: (number | undefined)[] = [];
  const guesser = async () => {
    while (guess < 300) {
      // Alike up to the last characters, so that a prefix earns nothing.
      const token = `${gateway.token.slice(0, -4)}${String(guess++).padStart(4, '0')}`;
      const { error } = await tryConnect(gateway, { token });
      codes.push(error?.code);
      waits.push(error?.retryAfterMs);
    }
  };
  await Promise.all(Array.from({ length: 20 }, guesser));
  assert.ok(codes.length >= 300);
  const tried = codes.filter((code) => code === 'UNAUTHORIZED').length;
  assert.equal(tried, 10);
  assert.equal(codes.filter((code) => code === 'RATE_LIMITED').length, codes.length - 10);
  for (const wait of waits.filter((each) => each !== undefined)) assert.ok(wait > 0 && wait <= 60_000, `retry after ${wait}`);

  assert.equal((await tryConnect(gateway, { token: gateway.token })).ok, true, 'the right token from the same address');
  assert.equal((await before.request('health')).ok, true, 'who was in stays in');
  await assertUnharmed(gateway, { incidents: ['auth.failed', 'auth.rate-limited'] });
});

test('S09 guesses that are sent side by side count as if they came one after another', async () => {
  verifies('S09');
  await using gateway = await startGatewayProcess();
  const from = newAddress();
  const codes = await Promise.all(
    Array.from({ length: 24 }, async (_, index) => {
      const client = await openRaw(gateway.socketUrl, { localAddress: from });
      const params = connectParams(index === 23 ? gateway.token : `tenon_${'x'.repeat(40)}${index}`);
      const answer = await client.request('connect', params, 'connect');
      await client.close();
      return answer.ok ? 'ok' : answer.error?.code;
    }),
  );
  assert.equal(codes.filter((code) => code === 'UNAUTHORIZED').length, 10, codes.join());
  assert.equal(codes.filter((code) => code === 'RATE_LIMITED').length, 13, codes.join());
  assert.equal(codes.filter((code) => code === 'ok').length, 1, 'the right one among them gets in');
  await assertUnharmed(gateway, { from, incidents: ['auth.failed', 'auth.rate-limited'] });
});

test('S10 one peer is one bucket, however it writes its address', () => {
  verifies('S10');
  const same: Record<string, string[]> = {
    '1.2.3.4': [
      '1.2.3.4',
      '::ffff:1.2.3.4',
      '::FFFF:1.2.3.4',
      '::ffff:102:304',
      '0:0:0:0:0:ffff:0102:0304',
      '0::ffff:1.2.3.4',
      '::ffff:1.2.3.4%eth0',
    ],
    '127.0.0.1': ['127.0.0.1', '::1', '0:0:0:0:0:0:0:1', '::ffff:127.0.0.1', '::1%lo', '::0001'],
    'fe80:0:0:0::/64': ['fe80::1', 'fe80::1%eth0', 'fe80::1%en1', 'FE80::dead:beef', 'fe80:0000::2', 'fe80:0:0:0:1:2:3:4'],
    '2001:db8:1:2::/64': ['2001:db8:1:2::1', '2001:DB8:1:2:ffff:ffff:ffff:ffff', '2001:0db8:0001:0002::', '2001:db8:1:2::1.2.3.4'],
    '0:0:0:0::/64': ['::1.2.3.4', '::102:304', '::', '::2'],
    unknown: ['', 'localhost', '1.2.3', '1.2.3.4.5', '::ffff:1.2.3.456', ':::', '127.0.0.1.evil.example'],
  };
  for (const [bucket, addresses] of Object.entries(same)) for (const address of addresses) assert.equal(bucketOf(address), bucket, address);
  assert.equal(bucketOf(undefined), 'unknown');
  assert.notEqual(bucketOf('2001:db8:1:2::1'), bucketOf('2001:db8:1:3::1'));
  for (const address of ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1']) assert.ok(isLoopback(address), address);
  for (const address of ['0.0.0.0', '::', '128.0.0.1', '::127.0.0.1', '::1.2.3.4', '::ffff:128.0.0.1', '127.evil', ''])
    assert.ok(!isLoopback(address), address);
});

test('S10 changing between the spellings of an address, or adding other credentials, wins no further guesses', async () => {
  verifies('S10');
  const hasIPv6 = Object.values(networkInterfaces()).some((each) => each?.some(({ address }) => address === '::1'));
  // On `::` a client of 127.0.0.1 appears as ::ffff:127.0.0.1, and one of ::1 as itself.
  await using gateway = await startGatewayProcess(hasIPv6 ? { args: ['--bind', '::', '--insecure', 'true'] } : {});
  const spellings = hasIPv6 ? [`ws://127.0.0.1:${gateway.port}`, `ws://[::1]:${gateway.port}`] : [gateway.socketUrl];
  const codes: (string | undefined)[] = [];
  for (let index = 0; index < 24; index++) {
    const { error } = await tryConnect({ ...gateway, socketUrl: spellings[index % spellings.length]! }, { token: `wrong-token-${index}` });
    codes.push(error?.code);
  }
  assert.deepEqual(codes, [...Array(10).fill('UNAUTHORIZED'), ...Array(14).fill('RATE_LIMITED')]);

  const reachable = { ...gateway, socketUrl: `ws://127.0.0.1:${gateway.port}` };
  for (const auth of [{ token: gateway.token, deviceToken: 'x' }, { deviceToken: gateway.token }]) {
    const odd = await tryConnect(reachable, { more: { auth } });
    assert.equal(odd.error?.code, 'INVALID_REQUEST', 'an unknown kind of credential is no credential');
  }
  const limited = await tryConnect(reachable, { token: 'wrong', more: { scopes: ['operator.read'] } });
  assert.equal(limited.error?.code, 'RATE_LIMITED');
  await assertUnharmed(reachable, { incidents: ['auth.failed', 'auth.rate-limited', 'handshake.malformed'] });
});

test('S11 noise from an address does not lock its valid credential out', async () => {
  verifies('S11');
  await using gateway = await startGatewayProcess();
  const noise = [
    requestText(gateway, '/metrics'),
    requestText(gateway, '/nothing'),
    requestText(gateway, '/', { method: 'DELETE' }),
    requestText(gateway, '/', { method: 'POST', headers: { 'Content-Length': '5' } }),
    requestText(gateway, '/', { headers: { Authorization: 'Bearer wrong' } }),
    requestText(gateway, '/', { headers: { Host: 'evil.example' } }),
    requestText(gateway, '/', { headers: { ...upgradeHeaders, Origin: 'null' } }),
    requestText(gateway, '/', { headers: { ...upgradeHeaders, 'Sec-WebSocket-Version': '99' } }),
    'NONSENSE\r\n\r\n',
    '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  ];
  for (let round = 0; round < 30; round++) await Promise.all(noise.map((text) => exchange(gateway, text)));
  for (let round = 0; round < 30; round++) assert.equal((await tryConnect(gateway, {})).error?.code, 'UNAUTHORIZED');
  assert.equal((await tryConnect(gateway, { token: gateway.token })).ok, true, 'the right token, from the same address');
  await assertUnharmed(gateway, { incidents: ['http.host', 'http.body', 'http.malformed', 'ws.origin', 'ws.malformed', 'auth.missing'] });
});

test('S11 refused sockets do not stay, even if their peer keeps its half open and goes on sending', async () => {
  verifies('S11', 'S14');
  await using gateway = await startGatewayProcess();
  const refusedHalves = await Promise.all(
    Array.from({ length: 200 }, async () => {
      const bare = await openBare(gateway, undefined, true);
      bare.socket.write(requestText(gateway, '/', { headers: { ...upgradeHeaders, Origin: 'https://evil.example' } }));
      bare.socket.write('unread');
      return bare;
    }),
  );
  const answers = await Promise.all(refusedHalves.map(({ ended }) => ended));
  for (const answer of answers) assert.match(answer.toString(), /^HTTP\/1\.1 403/);
  // Whoever writes to a connection that is gone is told so.
  await eventually('every half-open socket is cut off', () => {
    for (const { socket } of refusedHalves) if (!socket.destroyed) socket.write('.');
    return refusedHalves.every(({ socket }) => socket.destroyed);
  });
  await assertUnharmed(gateway, { incidents: ['ws.origin'] });
});

test('S12 secrets are compared by digest, whatever their length, and only digests are stored', async () => {
  verifies('S12');
  assert.equal(sameDigest('secret', 'secret'), true);
  for (const other of ['', 's', 'secre', 'Secret', 'secret ', 'secretsecret', 'x'.repeat(100_000)])
    assert.equal(sameDigest('secret', other), false, other.slice(0, 20));
  assert.match(digestOf('a'), /^[0-9a-f]{64}$/);
  assert.equal(digestOf('a').length, digestOf('a'.repeat(512)).length);

  await using gateway = await startGatewayProcess();
  assert.equal((await tryConnect(gateway, { token: gateway.token })).ok, true);
  await using admin = await bystander(gateway);
  const minted = (await admin.request('tokens.create', { name: 'n', scopes: ['operator.read'], idempotencyKey: 'k' })).payload.token;
  assert.equal(
    (await admin.request('tokens.create', { name: 'n', scopes: ['operator.read'], idempotencyKey: 'k' })).payload.token,
    minted,
    'a repeat gets the same token although it is stored nowhere',
  );
  await assertUnharmed(gateway);
  await gateway.stop();
  const file = join(gateway.home, 'tenon.db');
  const bytes = readFileSync(file);
  for (const secret of [gateway.token, minted as string]) {
    assert.ok(!bytes.includes(secret), 'a token is in the store');
    assert.ok(bytes.includes(digestOf(secret)), 'its digest is not in the store');
  }
  using database = new DatabaseSync(file, { readOnly: true });
  const digests = database.prepare('select digest from tokens').all() as { digest: string }[];
  assert.deepEqual(digests.map(({ digest }) => digest).sort(), [gateway.token, minted as string].map(digestOf).sort());
});

// The last word of an operand says what it is: `auth.token`, `storedSecret`, `proof.signature`.
const SECRET = /(^|[a-z])(token|secret|password|passphrase|signature|nonce|credential|homekey|privatekey)$/i;
const HARMLESS = new Set(['undefined', 'null', 'true', 'false', '']);

/** Comparisons of something secret with `===` or `!==`; to ask whether there is one, or for an empty one, is no comparison. */
function secretComparisons(source: string): string[] {
  const tokens = tokensOf(source);
  return tokens.flatMap((token, at) => {
    const isComparison =
      (token.text === '=' || token.text === '!') &&
      tokens[at - 1]?.text !== '=' &&
      tokens[at + 1]?.text === '=' &&
      tokens[at + 2]?.text === '=';
    if (!isComparison || token.kind !== 'sign') return [];
    const left = tokens[at - 1];
    let end = at + 3;
    while (tokens[end + 1]?.text === '.' || (tokens[end + 1]?.text === '?' && tokens[end + 2]?.text === '.'))
      end += tokens[end + 1]?.text === '?' ? 3 : 2;
    const right = tokens[end];
    if (tokens[at - 2]?.text === 'typeof' || HARMLESS.has(left?.text ?? '') || HARMLESS.has(right?.text ?? '')) return [];
    // A fixed word is no secret: `kind === 'token'`, `given === '-'`.
    if (left?.kind === 'string' || right?.kind === 'string') return [];
    const isSecret = [left, right].some((operand) => operand?.kind === 'word' && SECRET.test(operand.text));
    return isSecret ? [`${left?.text} === ${right?.text}`] : [];
  });
}

test('S12 no source compares a secret with ===', () => {
  verifies('S12');
  for (const planted of [
    'if (given === token) ok()',
    'if (params.auth?.token !== stored) no()',
    'return record.secret === params.auth.token;',
    'if (device.nonce !== challenge.nonce) no()',
    'const same = a === this.adminPassword;',
  ])
    assert.equal(secretComparisons(planted).length, 1, planted);
  for (const fine of [
    'if (token === undefined) ask()',
    "if (given === '-') read()",
    "if (token.kind === 'token') next()",
    "if (token !== '') go()",
    '// if (given === token)',
    'if (typeof token === name) x()',
    'if (digest === other) x()',
  ])
    assert.deepEqual(secretComparisons(fine), [], fine);

  const sources = [...readTree(join(import.meta.dirname, '../..'))].filter(
    ([path]) => /^packages\/(gateway|protocol|client)\/src\//.test(path) && !path.endsWith('.test.ts'),
  );
  assert.ok(sources.length > 50, 'the sources were not found');
  assert.deepEqual(
    sources.flatMap(([path, source]) => secretComparisons(source).map((found) => `${path}: ${found}`)),
    [],
  );
});
