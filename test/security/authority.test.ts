// S18-S20, S22-S24: what a credential may do, and for how long.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { expandScopes, methodNames, methodRow, missingScopes, type Scope, scopeNames } from '@tenon/protocol';
import { NO_SCOPE } from '../../scripts/protocol/scope-matrix.ts';
import { digestOf } from '../../packages/gateway/src/rpc/token-mint.ts';
import { cleanUp, removeFolder } from '../support/clean-up.ts';
import { startGatewayProcess, temporaryHome } from '../support/gateway.ts';
import { examples } from '../support/method-examples.ts';
import { connectParams, connectRaw, type Frame, openRaw, type RawClient } from '../support/raw-client.ts';
import { verifies } from '../support/verifies.ts';
import {
  assertUnharmed,
  askToPair,
  behindProxy,
  bystander,
  connectDevice,
  createDevice,
  mintToken,
  newAddress,
  newRemote,
  tryConnect,
} from './harness.ts';

test('S18 scopes, roles and modes that a client declares for itself count for nothing', async () => {
  verifies('S18');
  await using gateway = await startGatewayProcess();
  await using admin = await bystander(gateway);
  const { token, id } = await mintToken(admin, ['operator.read']);
  const claims: Record<string, unknown>[] = [
    { scopes: ['operator.admin'] },
    { scopes: ['admin', '*', 'operator.*'] },
    { scopes: scopeNames, role: 'operator' },
    { client: { id: 'tenon-control-ui', version: '1', platform: 'web', mode: 'control-ui' } },
    { scopes: [], client: { id: 'tenon', version: '1', platform: 'cli', mode: 'admin', displayName: 'root' } },
  ];
  for (const claim of claims) {
    await using client = await connectRaw(gateway.socketUrl, token, claim);
    assert.deepEqual(client.hello.payload.auth, { method: 'token', principal: `token:${id}`, scopes: ['operator.read'] });
    for (const method of ['sessions.create', 'tokens.list', 'config.patch', 'gateway.shutdown', 'audit.list'])
      assert.equal((await client.request(method, {})).error?.code, 'SCOPE', `${method} with ${JSON.stringify(claim)}`);
    assert.equal((await client.request('sessions.list')).ok, true);
  }
  await assertUnharmed(gateway);
});

test('S18 a role other than operator is refused by name, with and without a credential', async () => {
  verifies('S18:role');
  await using gateway = await startGatewayProcess();
  await using open = await startGatewayProcess({ args: ['--auth', 'none'] });
  for (const role of ['node', 'admin', 'operator.admin', 'Operator', 'operator ', '']) {
    for (const [where, token] of [
      [gateway, gateway.token],
      [gateway, 'wrong'],
      [gateway, undefined],
      [open, undefined],
    ] as const) {
      const answer = await tryConnect(where, { ...(token === undefined ? {} : { token }), more: { role } });
      assert.deepEqual(
        [answer.error?.code, answer.error?.details, answer.closeCode],
        ['INVALID_REQUEST', { code: 'UNKNOWN_ROLE', role, roles: ['operator'] }, 1008],
        JSON.stringify(role),
      );
      assert.ok(answer.error?.message.includes(`"${role}"`), answer.error?.message);
    }
  }
  const hidden = await tryConnect(gateway, { token: gateway.token, more: { role: 'no\u202ede' } });
  assert.doesNotMatch(JSON.stringify(hidden.error), /\u202e/, 'hidden characters are shown');
  await using named = await connectRaw(gateway.socketUrl, gateway.token, { role: 'operator' });
  assert.deepEqual(named.hello.payload.auth.scopes, ['operator.admin']);
  await assertUnharmed(gateway, { incidents: ['handshake.malformed'] });
});

test('S19 a credential that is merely present is no credential, in whichever place it stands', async () => {
  verifies('S19');
  await using gateway = await startGatewayProcess({ args: behindProxy });
  await using admin = await bystander(gateway);
  const { token } = gateway;
  const revoked = await mintToken(admin, ['operator.read']);
  await admin.request('tokens.revoke', { id: revoked.id });
  const rotated = await mintToken(admin, ['operator.read']);
  await admin.request('tokens.rotate', { id: rotated.id });
  const garbage = [
    'x',
    'null',
    'undefined',
    'true',
    '0',
    'none',
    '*',
    'Bearer',
    ' ',
    `${token} `,
    ` ${token}`,
    `${token}\n`,
    `Bearer ${token}`,
    token.slice(0, -1),
    token.slice(6),
    token.toUpperCase(),
    `${token}${token}`,
    digestOf(token),
    rotated.id,
    'shared-token-file',
    revoked.token,
    rotated.token,
    "' or 1=1 --",
    'x'.repeat(512),
  ];
  for (const each of garbage) {
    const answer = await tryConnect(gateway, { token: each, from: newRemote() });
    assert.equal(answer.error?.code, 'UNAUTHORIZED', JSON.stringify(each));
    assert.equal(answer.error?.details?.code, 'AUTH_TOKEN_MISMATCH', JSON.stringify(each));
    assert.equal(answer.closeCode, 1008);
  }
  for (const auth of [
    {},
    { token: '' },
    { token: null },
    { token: [token] },
    { token: { $ne: '' } },
    { password: token },
    token,
    [token],
    1,
  ]) {
    const answer = await tryConnect(gateway, { more: { auth }, from: newRemote() });
    const isEmpty = JSON.stringify(auth) === '{}';
    assert.equal(answer.error?.code, isEmpty ? 'UNAUTHORIZED' : 'INVALID_REQUEST', JSON.stringify(auth));
  }

  // The right token in every place where it does not belong.
  const elsewhere: Record<string, string>[] = [
    { authorization: `Bearer ${token}` },
    { authorization: `Basic ${Buffer.from(`admin:${token}`).toString('base64')}` },
    { cookie: `token=${token}; auth=${token}` },
    { 'x-tenon-token': token, 'x-forwarded-user': 'admin', 'x-real-ip': '127.0.0.1', 'x-forwarded-for': '127.0.0.1' },
  ];
  for (const headers of elsewhere) {
    await using client = await openRaw(gateway.socketUrl, { headers, localAddress: newAddress() });
    assert.equal((await client.request('connect', connectParams())).error?.code, 'UNAUTHORIZED', JSON.stringify(Object.keys(headers)));
  }
  await assert.rejects(openRaw(`${gateway.socketUrl}/?token=${token}`), /refused with HTTP 404/, 'in the address');

  // A device proof beside a wrong token does not save it, whoever signed it.
  const device = createDevice();
  const requestId = await askToPair(gateway, device, ['operator.read'], newAddress());
  assert.equal((await admin.request('device.pair.approve', { requestId })).ok, true);
  const { client, answer } = await connectDevice(gateway, device, { params: { auth: { token: 'wrong' } }, from: newRemote() });
  assert.equal(answer.error?.details?.code, 'AUTH_TOKEN_MISMATCH');
  await client.close();

  const last = newRemote();
  assert.equal((await tryConnect(gateway, { token: 'x', from: last })).error?.code, 'UNAUTHORIZED');
  await assertUnharmed(gateway, { from: last, incidents: ['auth.failed'] });
});

test('S19 a token that has expired is no credential, and its socket is closed', async (t) => {
  verifies('S19', 'S22');
  await using gateway = await startGatewayProcess();
  await using admin = await bystander(gateway);
  const past = await admin.request('tokens.create', { name: 'n', scopes: [], expiresAt: Date.now() - 1 });
  assert.equal(past.error?.code, 'INVALID_REQUEST');
  const expiresAt = Date.now() + 2_000;
  const { token } = await mintToken(admin, ['operator.read'], { expiresAt });
  await using client = await connectRaw(gateway.socketUrl, token);
  assert.deepEqual(await client.closed, { code: 4001, reason: 'credential expired' });
  const closedAfterMs = Date.now() - expiresAt;
  t.diagnostic(`closed ${closedAfterMs} ms after it expired`);
  assert.ok(closedAfterMs >= -50, 'not before');
  assert.equal((await tryConnect(gateway, { token })).error?.code, 'UNAUTHORIZED');
  await assertUnharmed(gateway, { incidents: ['auth.failed'] });
});

test('S20 a token can be made with the scopes of its maker or fewer, for every set of both', async () => {
  verifies('S20');
  await using gateway = await startGatewayProcess();
  await using admin = await bystander(gateway);
  const others = scopeNames.filter((scope) => scope !== 'operator.pairing' && scope !== 'operator.admin');
  const makers: Scope[][] = [
    ...Array.from({ length: 2 ** others.length }, (_, bits) => [
      'operator.pairing' as Scope,
      ...others.filter((__, at) => bits & (1 << at)),
    ]),
    ['operator.admin'],
  ];
  const wanted: Scope[][] = Array.from({ length: 2 ** scopeNames.length }, (_, bits) => scopeNames.filter((__, at) => bits & (1 << at)));
  for (const maker of makers) {
    const { token } = await mintToken(admin, maker);
    await using client = await connectRaw(gateway.socketUrl, token, { events: [] });
    for (const scopes of wanted) {
      const answer = await client.request('tokens.create', { name: 'n', scopes });
      const missing = missingScopes(expandScopes(maker), scopes);
      const label = `${maker.join()} makes ${scopes.join()}`;
      if (missing.length === 0) assert.deepEqual(answer.payload?.record.scopes, scopes, label);
      else assert.equal(answer.error?.code, 'SCOPE', label);
    }
  }
  await assertUnharmed(gateway);
});

test('S20 a pairing credential cannot renew, revoke, approve or remove what is wider than itself', async () => {
  verifies('S20');
  await using gateway = await startGatewayProcess();
  await using admin = await bystander(gateway);
  const wide = await mintToken(admin, ['operator.admin']);
  const writer = await mintToken(admin, ['operator.write']);
  const peer = await mintToken(admin, ['operator.pairing']);
  await using pairer = await connectRaw(gateway.socketUrl, (await mintToken(admin, ['operator.pairing', 'operator.read'])).token);

  for (const { id } of [wide, writer, { id: 'shared-token-file' }]) {
    const rotate = await pairer.request('tokens.rotate', { id });
    assert.ok(rotate.error?.code === 'SCOPE' || id === 'shared-token-file', `rotate ${id}: ${rotate.error?.code}`);
    assert.equal(rotate.ok, false, `rotate ${id}`);
    assert.equal((await pairer.request('tokens.revoke', { id })).error?.code, 'SCOPE', `revoke ${id}`);
  }
  for (const { token } of [wide, writer, gateway]) assert.equal((await tryConnect(gateway, { token })).ok, true, 'it still works');
  const renewed = await pairer.request('tokens.rotate', { id: peer.id });
  assert.equal((await tryConnect(gateway, { token: renewed.payload.token })).ok, true, 'one as narrow can be renewed');
  assert.equal((await pairer.request('tokens.revoke', { id: peer.id })).ok, true, 'and revoked');

  const device = createDevice();
  const requestId = await askToPair(gateway, device, ['operator.admin']);
  const approve = await pairer.request('device.pair.approve', { requestId });
  assert.equal(approve.error?.code, 'SCOPE');
  assert.deepEqual((await admin.request('device.list')).payload.devices, [], 'no device came of it');
  assert.equal((await pairer.request('device.pair.list')).payload.requests.length, 1, 'the request still waits');
  assert.equal((await admin.request('device.pair.approve', { requestId })).ok, true);
  assert.equal((await pairer.request('device.revoke', { id: device.id })).error?.code, 'SCOPE');
  const { client, answer } = await connectDevice(gateway, device);
  assert.deepEqual(answer.payload.auth.scopes, ['operator.admin'], 'the device still works');
  await client.close();

  const narrow = createDevice();
  const narrowId = await askToPair(gateway, narrow, ['operator.read']);
  const wider = await admin.request('device.pair.approve', { requestId: narrowId, scopes: ['operator.write'] });
  assert.equal(wider.error?.code, 'INVALID_REQUEST', 'nobody can give what was not asked for');
  assert.equal((await pairer.request('device.pair.approve', { requestId: narrowId })).ok, true);
  assert.equal((await pairer.request('device.pair.approve', { requestId: narrowId })).error?.code, 'NOT_FOUND', 'once');
  assert.equal((await pairer.request('device.revoke', { id: narrow.id })).ok, true);

  const greedy = await askToPair(gateway, createDevice(), ['operator.admin']);
  const given = await pairer.request('device.pair.approve', { requestId: greedy, scopes: ['operator.read'] });
  assert.deepEqual(given.payload.device.scopes, ['operator.read'], 'less than was asked for can be given, by whom it is within reach');
  await assertUnharmed(gateway);
});

test('S20 what a credential hands on does not outlive it', async () => {
  verifies('S20');
  await using gateway = await startGatewayProcess();
  await using admin = await bystander(gateway);
  const expiresAt = Date.now() + 3_600_000;
  const made = await admin.request('tokens.create', { name: 'for an hour', scopes: ['operator.pairing'], expiresAt });
  await using brief = await connectRaw(gateway.socketUrl, made.payload.token);
  const handed = await brief.request('tokens.create', { name: 'child', scopes: ['operator.pairing'] });
  assert.equal(handed.payload.record.expiresAt, expiresAt);
  const longer = { name: 'child', scopes: ['operator.pairing'], expiresAt: expiresAt + 1 };
  assert.equal((await brief.request('tokens.create', longer)).error?.details?.code, 'OUTLIVES_CREDENTIAL');
  const requestId = await askToPair(gateway, createDevice(), []);
  assert.equal((await brief.request('device.pair.approve', { requestId })).error?.details?.code, 'OUTLIVES_CREDENTIAL');
  await assertUnharmed(gateway);
});

test('S22 the token of the token file stays revoked: the next start makes another; who revokes its own still hears the answer', async (t) => {
  verifies('S22');
  const home = temporaryHome();
  cleanUp(t, () => removeFolder(home));
  await using first = await startGatewayProcess({ home });
  await using own = await connectRaw(first.socketUrl, first.token);
  assert.equal((await own.request('tokens.revoke', { id: 'shared-token-file' })).ok, true);
  assert.equal((await own.closed).code, 4001);
  await first.stop();
  await using second = await startGatewayProcess({ home });
  assert.notEqual(second.token, first.token);
  assert.equal((await tryConnect(second, { token: first.token })).ok, false);
  assert.equal((await tryConnect(second, { token: second.token })).ok, true);
});

test('S20 the answer to an idempotency key is for the credential that used it', async () => {
  verifies('S20');
  await using gateway = await startGatewayProcess();
  await using admin = await bystander(gateway);
  const params = { name: 'n', scopes: ['operator.admin'], idempotencyKey: 'same' };
  const made = await admin.request('tokens.create', params);
  assert.equal(made.ok, true);
  await using pairer = await connectRaw(gateway.socketUrl, (await mintToken(admin, ['operator.pairing'])).token);
  assert.equal((await pairer.request('tokens.create', params)).error?.code, 'SCOPE');
  await assertUnharmed(gateway);
});

/** Closed with 4001 because of the answer that revoked it. */
async function assertRevoked(client: RawClient, revoke: () => Promise<Frame>): Promise<void> {
  assert.equal((await revoke()).ok, true);
  assert.deepEqual(await client.closed, { code: 4001, reason: 'credential revoked' });
}

test('S22 revoking, renewing and removing close every socket of the credential', async () => {
  verifies('S22');
  await using gateway = await startGatewayProcess();
  await using admin = await bystander(gateway);
  const { token, id } = await mintToken(admin, ['operator.write']);
  const sockets = await Promise.all(Array.from({ length: 5 }, () => connectRaw(gateway.socketUrl, token)));
  await using neighbour = await connectRaw(gateway.socketUrl, (await mintToken(admin, ['operator.write'])).token);
  await assertRevoked(sockets[0]!, () => admin.request('tokens.revoke', { id }));
  for (const socket of sockets) assert.equal((await socket.closed).code, 4001);
  assert.equal((await tryConnect(gateway, { token })).error?.code, 'UNAUTHORIZED', 'it opens no new socket');
  assert.equal((await neighbour.request('health')).ok, true, 'another credential is not touched');

  const renewed = await mintToken(admin, ['operator.read']);
  await using old = await connectRaw(gateway.socketUrl, renewed.token);
  await assertRevoked(old, () => admin.request('tokens.rotate', { id: renewed.id }));

  const device = createDevice();
  await admin.request('device.pair.approve', { requestId: await askToPair(gateway, device, ['operator.read']) });
  const { client, answer } = await connectDevice(gateway, device);
  assert.equal(answer.ok, true);
  await assertRevoked(client, () => admin.request('device.revoke', { id: device.id }));
  await assertUnharmed(gateway, { incidents: ['auth.failed'] });
});

test('S22 what a revoked socket had queued is denied, and it hears nothing more', async () => {
  verifies('S22');
  await using gateway = await startGatewayProcess();
  await using admin = await bystander(gateway);
  const { token, id } = await mintToken(admin, ['operator.write']);
  await using victim = await connectRaw(gateway.socketUrl, token);
  // Refused ones until it is throttled: what it sends from now on waits at the gateway.
  for (let index = 0; index < 120; index++) victim.send({ type: 'req', id: `r${index}`, method: 'no.such.method' });
  for (let index = 0; index < 50; index++)
    victim.send({ type: 'req', id: `w${index}`, method: 'sessions.create', params: { key: `agent:main:queued${index}` } });
  await victim.find((frame) => frame.id === 'r119');
  // Another socket of the same credential sends after the revocation was answered, before it has heard of it.
  await using late = await connectRaw(gateway.socketUrl, token);
  const revoked = admin.request('tokens.revoke', { id });
  const sent = revoked.then(() => late.send({ type: 'req', id: 'late', method: 'sessions.create', params: { key: 'agent:main:late' } }));
  await sent;
  await admin.request('sessions.create', { key: 'agent:main:after' });
  assert.equal((await late.closed).code, 4001);
  assert.equal((await victim.closed).code, 4001);
  const { sessions } = (await admin.request('sessions.list', { limit: 200 })).payload;
  assert.deepEqual(
    sessions.map((session: { key: string }) => session.key),
    ['agent:main:after'],
    'no queued request had an effect',
  );
  for (const socket of [victim, late])
    assert.ok(!socket.frames.some((frame) => frame.event === 'sessions.changed' && frame.payload.key === 'agent:main:after'));
  await assertUnharmed(gateway, { incidents: ['requests.throttled'] });
});

test('S23 every method with every scope answers as the checked-in table says', async () => {
  verifies('S23');
  await using gateway = await startGatewayProcess();
  await using admin = await bystander(gateway);
  const allowed = Object.fromEntries(methodNames.map((name): [string, string[]] => [name, []]));
  for (const holder of [NO_SCOPE, ...scopeNames]) {
    const { token } = await mintToken(admin, holder === NO_SCOPE ? [] : [holder]);
    await using client = await connectRaw(gateway.socketUrl, token);
    assert.deepEqual(client.hello.payload.features.methods, ['connect', ...methodNames], 'what is advertised is what is tested');
    for (const name of methodNames) {
      // Who has the scope is told that the params are wrong; so nothing is done, not even by `gateway.shutdown`.
      const { error } = await client.request(name, { nonsense: true });
      if (error?.code === 'INVALID_REQUEST') allowed[name]?.push(holder);
      else assert.equal(error?.code, 'SCOPE', `${name} with ${holder}`);
    }
  }
  const table = JSON.parse(readFileSync(join(import.meta.dirname, 'scope-matrix.json'), 'utf8')) as unknown;
  assert.deepEqual(allowed, table);
  await assertUnharmed(gateway);
});

test('S23 a method without a scope, or with one that does not exist, does not compile', () => {
  verifies('S23');
  const folder = mkdtempSync(join(tmpdir(), 'tenon-scope-'));
  const root = join(import.meta.dirname, '../..');
  const planted = (scope: string) => `
    import { Health } from '${root}/packages/protocol/src/status.ts';
    import { type MethodSpec, read, write } from '${root}/packages/protocol/src/methods/row.ts';
    export const planted = {
      'planted.read': read({ summary: 'A planted row.', ${scope} params: {}, result: Health }),
      'planted.write': write({ summary: 'A planted row.', ${scope} params: {}, result: Health }),
    } satisfies Record<string, MethodSpec>;
  `;
  const files = {
    'package.json': '{ "type": "module" }',
    'tsconfig.json': JSON.stringify({
      extends: join(root, 'tsconfig.json'),
      compilerOptions: { typeRoots: [join(root, 'node_modules/@types')], incremental: false, tsBuildInfoFile: null },
      include: ['*.ts'],
    }),
    'good.ts': planted("scope: 'operator.read',"),
    'without.ts': planted(''),
    'unknown.ts': planted("scope: 'operator.root',"),
  };
  try {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    const { status, stdout } = spawnSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', folder], {
      encoding: 'utf8',
    });
    const complaints = (file: string) => stdout.split('\n').filter((line) => line.includes(`/${file}(`));
    assert.notEqual(status, 0);
    assert.deepEqual(complaints('good.ts'), [], 'the same rows with a scope compile');
    assert.equal(complaints('without.ts').length, 2, stdout);
    assert.equal(stdout.match(/Property 'scope' is missing/g)?.length, 2, stdout);
    assert.ok(complaints('unknown.ts').length >= 2, stdout);
    assert.equal(stdout.match(/'"operator\.root"' is not assignable/g)?.length, 2, stdout);
  } finally {
    removeFolder(folder);
  }
});

const own = 'agent:main:own';
const other = 'agent:main:other';
const missing = 'agent:main:missing';

test('S24 for a bound credential another session looks like one that does not exist', async () => {
  verifies('S24');
  await using gateway = await startGatewayProcess();
  await using admin = await bystander(gateway);
  for (const key of [own, other]) assert.equal((await admin.request('sessions.create', { key, title: 'secret plan' })).ok, true);
  const { token } = await mintToken(admin, ['operator.admin'], { sessionKey: own });
  await using bound = await connectRaw(gateway.socketUrl, token);
  assert.equal(bound.hello.payload.auth.sessionKey, own);
  assert.deepEqual(bound.hello.payload.snapshot.presence, []);

  const attempts: [method: string, more: object][] = [
    ['sessions.get', {}],
    ['sessions.patch', { title: 'mine now' }],
    ['sessions.patch', { ifRevision: 1 }],
    ['sessions.reset', {}],
    ['sessions.delete', {}],
    ['sessions.create', {}],
  ];
  for (const [method, more] of attempts) {
    const [there, gone] = await Promise.all([other, missing].map((key) => bound.request(method, { key, ...more }, `${method}-${key}`)));
    assert.equal(there!.ok, false, method);
    const plain = (frame: Frame, key: string) => JSON.stringify(frame.error).replaceAll(key, 'KEY');
    assert.equal(plain(there!, other), plain(gone!, missing), method);
    assert.equal(there!.error?.code, ['sessions.delete', 'sessions.create'].includes(method) ? 'SCOPE' : 'NOT_FOUND', method);
  }
  for (const filter of [{}, { search: 'secret' }, { search: 'other' }, { agentId: 'main' }, { limit: 1 }]) {
    const { sessions, nextCursor } = (await bound.request('sessions.list', filter)).payload;
    const expected = 'search' in filter && filter.search === 'other' ? [] : [own];
    assert.deepEqual(
      sessions.map((session: { key: string }) => session.key),
      expected,
      JSON.stringify(filter),
    );
    assert.equal(nextCursor, undefined, 'no cursor tells that there is more');
  }
  const untouched = (await admin.request('sessions.get', { key: other })).payload.session;
  assert.equal(untouched.revision, 1);
  assert.equal((await bound.request('sessions.patch', { key: own, title: 'x' })).ok, true, 'its own it may change');
  await assertUnharmed(gateway);
});

/** Methods whose example names an entry, a run, a file or a question of the session that the example made. */
const aboutAnEntry: ReadonlySet<string> = new Set([
  'sessions.branch',
  'sessions.rewind',
  'sessions.label',
  'sessions.contextEdit',
  'agent.wait',
  'attachments.chunk',
  'attachments.commit',
  'attachments.remove',
  'deliveries.press',
  'ui.answer',
]);

test('S24 a bound credential with every scope can do nothing that is not about its session', async () => {
  verifies('S24');
  await using gateway = await startGatewayProcess({ plugins: true });
  await using admin = await bystander(gateway);
  await admin.request('sessions.create', { key: own });
  const { token } = await mintToken(admin, ['operator.admin'], { sessionKey: own });
  await using bound = await connectRaw(gateway.socketUrl, token);
  let count = 0;
  const world = { gateway, admin, next: () => ++count };
  for (const name of methodNames) {
    const row = methodRow(name);
    const ownKey = typeof row.bound === 'object' ? { [row.bound.param]: own } : {};
    await admin.request('sessions.create', { key: own });
    const { ok, error } = await bound.request(name, { ...(await examples[name](world)), ...ownKey });
    // Its own session is let through; an entry or a run of another one is not there.
    const isElsewhere = aboutAnEntry.has(name) && error?.code === 'NOT_FOUND' && !error.message.includes('find session');
    if (row.bound !== undefined || row.scope === 'any') assert.ok(ok || isElsewhere, `${name}: ${JSON.stringify(error)}`);
    else assert.equal(error?.details?.code, 'SESSION_BOUND', name);
  }
  const { events } = (
    await bound.request('events.subscribe', { events: ['tick', 'presence', 'device.pair.requested', 'sessions.changed'] })
  ).payload;
  const aboutSessions = [
    'sessions.changed',
    'agent',
    'chat',
    'approval.requested',
    'approval.resolved',
    'action.required',
    'action.resolved',
    'ui.requested',
    'ui.resolved',
    'ui.shown',
    'ui.notified',
  ];
  // Of what plugins send, it hears what names its session.
  assert.deepEqual(events, ['tick', 'health', 'shutdown', ...aboutSessions, 'plugin.*']);
  await assertUnharmed(gateway);
});

test('S24 events of other sessions are not delivered, neither live nor on resume', async () => {
  verifies('S24');
  await using gateway = await startGatewayProcess();
  await using admin = await bystander(gateway);
  const { token } = await mintToken(admin, ['operator.admin'], { sessionKey: own });
  await using bound = await connectRaw(gateway.socketUrl, token, { caps: ['resume'] });
  for (const key of [own, other]) await admin.request('sessions.create', { key });
  await askToPair(gateway, createDevice(), ['operator.read']);
  for (let round = 0; round < 3; round++)
    for (const key of [other, own]) await admin.request('sessions.patch', { key, title: `round ${round}` });
  const isLast = (frame: Frame) => frame.event === 'sessions.changed' && frame.payload.session.title === 'round 2';
  await bound.find(isLast);
  const seen = (client: RawClient) => client.frames.filter((frame) => frame.type === 'event' && frame.seq !== undefined);
  for (const frame of seen(bound)) assert.equal(frame.payload.key, own);
  assert.equal(seen(bound).length, 4);
  assert.ok(!bound.frames.some((frame) => frame.event === 'presence' || frame.event?.startsWith('device.')));

  await using resumed = await connectRaw(gateway.socketUrl, token, { caps: ['resume'], resume: { seq: 0 } });
  await resumed.find((frame) => frame.event === 'resumed');
  assert.deepEqual(
    seen(resumed).map((frame) => frame.seq),
    seen(bound).map((frame) => frame.seq),
  );
  for (const frame of seen(resumed)) assert.equal(frame.payload.key, own);
  await assertUnharmed(gateway);
});

test('S24 ids have 128 random bits or more', async () => {
  verifies('S24');
  await using gateway = await startGatewayProcess({ args: behindProxy });
  await using admin = await bystander(gateway);
  const found: Record<string, string[]> = { session: [], key: [], token: [], tokenId: [], request: [], connection: [], nonce: [] };
  for (let count = 0; count < 48; count++) {
    const { session } = (await admin.request('sessions.create', {})).payload;
    found.session!.push(session.sessionId);
    found.key!.push(session.key.replace(/^agent:main:s/, ''));
    const minted = await mintToken(admin, []);
    found.token!.push(minted.token.replace(/^tenon_/, ''));
    found.tokenId!.push(minted.id);
    const from = newRemote();
    found.request!.push(count < 24 ? await askToPair(gateway, createDevice(), ['operator.read'], from) : minted.id);
    await using client = await connectRaw(gateway.socketUrl, minted.token);
    found.connection!.push(client.hello.payload.server.connId);
    found.nonce!.push(client.frames.find((frame) => frame.event === 'connect.challenge')!.payload.nonce);
  }
  for (const [what, ids] of Object.entries(found)) {
    const decoded = ids.map((id) => Buffer.from(id, 'base64url'));
    for (const [at, bytes] of decoded.entries()) {
      assert.equal(bytes.toString('base64url'), ids[at], `${what} is not base64url: ${ids[at]}`);
      assert.ok(bytes.length >= 16, `${what} is too short: ${ids[at]}`);
    }
    assert.equal(new Set(ids).size, ids.length, `${what} repeats`);
    // Every bit is sometimes set and sometimes not: none of them is fixed or counts up.
    for (let byte = 0; byte < 16; byte++) {
      const and = decoded.reduce((all, bytes) => all & bytes[byte]!, 255);
      const or = decoded.reduce((all, bytes) => all | bytes[byte]!, 0);
      assert.deepEqual({ and, or }, { and: 0, or: 255 }, `byte ${byte} of ${what} is not random`);
    }
  }
  await assertUnharmed(gateway);
});
