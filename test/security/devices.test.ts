// S75: a device proves who it is with a signature that is good for one socket, once.
import assert from 'node:assert/strict';
import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { test } from 'node:test';
import { limits } from '@tenon/protocol';
import { startGatewayProcess } from '../support/gateway.ts';
import { connectParams, openRaw, type RawClient } from '../support/raw-client.ts';
import { verifies } from '../support/verifies.ts';
import {
  assertUnharmed,
  askToPair,
  type AuditRecord,
  behindProxy,
  bystander,
  comingFrom,
  connectDevice,
  createDevice,
  newAddress,
  newRemote,
  proveDevice,
  type TestDevice,
} from './harness.ts';

async function pair(admin: RawClient, gateway: Parameters<typeof askToPair>[0], device: TestDevice, scopes: string[]): Promise<void> {
  const requestId = await askToPair(gateway, device, scopes, newAddress());
  assert.equal((await admin.request('device.pair.approve', { requestId })).ok, true);
}

async function auditOf(admin: RawClient): Promise<AuditRecord[]> {
  const { records, chain } = (await admin.request('audit.list', { limit: 200 })).payload;
  assert.equal(chain.ok, true);
  return records;
}

test('S75 a device pairs with a real key, and then has the scopes of its record', async () => {
  verifies('S75');
  await using gateway = await startGatewayProcess();
  await using admin = await bystander(gateway);
  const device = createDevice();
  const requestId = await askToPair(gateway, device, ['operator.read', 'operator.nonsense']);
  assert.equal(await askToPair(gateway, device, ['operator.read', 'operator.nonsense']), requestId, 'asking again is the same request');
  const { payload } = await admin.find((frame) => frame.event === 'device.pair.requested');
  assert.deepEqual([payload.deviceId, payload.scopes, payload.address], [device.id, ['operator.read'], '127.0.0.1']);
  assert.equal((await admin.request('device.pair.approve', { requestId })).ok, true);

  const { client, answer } = await connectDevice(gateway, device, { params: { scopes: ['operator.admin'] } });
  assert.deepEqual(answer.payload.auth, { method: 'device', principal: `device:${device.id}`, scopes: ['operator.read'] });
  assert.equal((await client.request('sessions.create', {})).error?.code, 'SCOPE', 'to ask for more is not to have it');
  await client.close();
  const actions = (await auditOf(admin)).map(({ action, actor }) => `${action} ${actor}`);
  assert.ok(actions.includes(`device.pair.request device:${device.id}`));
  assert.ok(actions.some((action) => action.startsWith('device.pair.approve token:')));
  await assertUnharmed(gateway);
});

test('S75 a captured connect is worth nothing on any other socket, nor twice on its own', async () => {
  verifies('S75');
  await using gateway = await startGatewayProcess();
  await using admin = await bystander(gateway);
  const device = createDevice();
  await pair(admin, gateway, device, ['operator.read']);

  const first = await connectDevice(gateway, device);
  assert.equal(first.answer.ok, true);
  const again = await first.client.request('connect', first.sent);
  assert.equal(again.error?.code, 'INVALID_REQUEST', 'on its own socket');

  const from = newAddress();
  const replay = async (when: string) => {
    await using thief = await openRaw(gateway.socketUrl, { localAddress: from });
    const answer = await thief.request('connect', first.sent);
    assert.equal(answer.error?.code, 'UNAUTHORIZED', when);
    assert.equal(answer.error?.details?.code, 'DEVICE_AUTH_NONCE_MISMATCH', when);
    assert.equal((await thief.closed).code, 1008, when);
  };
  await replay('while the device is connected');
  await first.client.close();
  await replay('after it has left');

  // The nonce of a socket that is still waiting is of no use on another one.
  await using waiting = await openRaw(gateway.socketUrl);
  const { nonce } = (await waiting.find((frame) => frame.event === 'connect.challenge')).payload;
  await using other = await openRaw(gateway.socketUrl, { localAddress: from });
  const borrowed = await other.request('connect', proveDevice(device, nonce, connectParams()));
  assert.equal(borrowed.error?.details?.code, 'DEVICE_AUTH_NONCE_MISMATCH');
  assert.equal((await waiting.request('connect', proveDevice(device, nonce, connectParams()))).ok, true, 'on its own it is');

  // A socket has one try: its nonce dies with the first answer.
  await using oneTry = await openRaw(gateway.socketUrl, { localAddress: from });
  const challenge = (await oneTry.find((frame) => frame.event === 'connect.challenge')).payload;
  oneTry.send({
    type: 'req',
    id: 'bad',
    method: 'connect',
    params: proveDevice(device, challenge.nonce, connectParams(), { forge: { signature: 'AAAA' } }),
  });
  oneTry.send({ type: 'req', id: 'good', method: 'connect', params: proveDevice(device, challenge.nonce, connectParams()) });
  assert.equal((await oneTry.find((frame) => frame.id === 'bad')).error?.details?.code, 'DEVICE_AUTH_SIGNATURE_INVALID');
  assert.equal((await oneTry.closed).code, 1008);
  assert.ok(!oneTry.frames.some((frame) => frame.id === 'good'));
  await assertUnharmed(gateway, { from, incidents: ['auth.failed'] });
});

test('S75 a clock that is too far off, either way, makes the signature worthless', async () => {
  verifies('S75');
  await using gateway = await startGatewayProcess();
  await using admin = await bystander(gateway);
  const device = createDevice();
  await pair(admin, gateway, device, ['operator.read']);
  const skewMs = limits.deviceSkewMs.value;
  const slack = 20_000;
  for (const offset of [-skewMs - slack, skewMs + slack, -86_400_000, 86_400_000, -Date.now()]) {
    const { client, answer } = await connectDevice(gateway, device, { before: { signedAt: Date.now() + offset }, from: newAddress() });
    assert.equal(answer.error?.details?.code, 'DEVICE_AUTH_SIGNATURE_EXPIRED', `off by ${offset} ms`);
    assert.equal((await client.closed).code, 1008);
  }
  for (const offset of [-skewMs + slack, skewMs - slack]) {
    const { client, answer } = await connectDevice(gateway, device, { before: { signedAt: Date.now() + offset } });
    assert.equal(answer.ok, true, `off by ${offset} ms`);
    await client.close();
  }
  const from = newAddress();
  const old = await connectDevice(gateway, device, { before: { signedAt: 0 }, from });
  await old.client.close();
  await assertUnharmed(gateway, { from, incidents: ['auth.failed'] });
});

test('S75 everything that the signature covers is covered', async () => {
  verifies('S75');
  await using gateway = await startGatewayProcess({ args: behindProxy });
  await using admin = await bystander(gateway);
  const device = createDevice();
  await pair(admin, gateway, device, ['operator.read']);
  const other = createDevice();
  const base = connectParams(undefined, { scopes: ['operator.read'], role: 'operator' });
  const client = base.client as Record<string, unknown>;

  // What is sent differs from what was signed.
  const changes: Record<string, Record<string, unknown>> = {
    'another client': { client: { ...client, id: 'someone-else' } },
    'another mode': { client: { ...client, mode: 'admin' } },
    'another platform': { client: { ...client, platform: 'ios' } },
    'another family': { client: { ...client, deviceFamily: 'watch' } },
    'other scopes': { scopes: ['operator.admin'] },
  };
  const forgeries: Record<string, [forge: Record<string, unknown>, code: string]> = {
    'a later time': [{ signedAt: Date.now() + 1_000 }, 'DEVICE_AUTH_SIGNATURE_INVALID'],
    'no signature to speak of': [{ signature: 'x' }, 'DEVICE_AUTH_SIGNATURE_INVALID'],
    'a signature of zeros': [{ signature: Buffer.alloc(64).toString('base64url') }, 'DEVICE_AUTH_SIGNATURE_INVALID'],
    'the id of another device': [{ id: other.id }, 'DEVICE_AUTH_ID_MISMATCH'],
    'the key of another device': [{ publicKey: other.publicKey }, 'DEVICE_AUTH_ID_MISMATCH'],
    'the key and id of another device': [{ id: other.id, publicKey: other.publicKey }, 'DEVICE_AUTH_SIGNATURE_INVALID'],
    'a key that is none': [{ publicKey: 'AAAA' }, 'DEVICE_AUTH_ID_MISMATCH'],
    'a key that is none, and its fingerprint': [
      { publicKey: 'AAAA', id: createHash('sha256').update(Buffer.from('AAAA', 'base64url')).digest('hex') },
      'DEVICE_AUTH_SIGNATURE_INVALID',
    ],
    'the same key in another spelling': [{ publicKey: `${device.publicKey}==` }, 'DEVICE_AUTH_PUBLIC_KEY'],
    'another nonce': [{ nonce: 'x'.repeat(32) }, 'DEVICE_AUTH_NONCE_MISMATCH'],
    'an empty-looking nonce': [{ nonce: ' ' }, 'DEVICE_AUTH_NONCE_MISMATCH'],
  };
  const attack = async (name: string, change: Record<string, unknown>, forge: Record<string, unknown>, code: string) => {
    await using socket = await openRaw(gateway.socketUrl, comingFrom(newRemote()));
    const { nonce } = (await socket.find((frame) => frame.event === 'connect.challenge')).payload;
    const answer = await socket.request('connect', { ...proveDevice(device, nonce, base, { forge }), ...change });
    assert.equal(answer.error?.details?.code, code, name);
    assert.equal((await socket.closed).code, 1008, name);
  };
  for (const [name, change] of Object.entries(changes)) await attack(name, change, {}, 'DEVICE_AUTH_SIGNATURE_INVALID');
  for (const [name, [forge, code]] of Object.entries(forgeries)) await attack(name, {}, forge, code);

  // Keys of other kinds sign well, but are not what a device has.
  const kinds: [kind: string, keys: { publicKey: KeyObject; privateKey: KeyObject }, digest: string | null][] = [
    ['RSA', generateKeyPairSync('rsa', { modulusLength: 1024 }), 'sha256'],
    ['EC', generateKeyPairSync('ec', { namedCurve: 'P-256' }), 'sha256'],
    ['ed448', generateKeyPairSync('ed448'), null],
  ];
  for (const [kind, { publicKey, privateKey }, digest] of kinds) {
    const der = publicKey.export({ format: 'der', type: 'spki' });
    const odd: TestDevice = {
      id: createHash('sha256').update(der).digest('hex'),
      publicKey: der.toString('base64url'),
      sign: (text) => sign(digest, Buffer.from(text), privateKey).toString('base64url').slice(0, 256),
    };
    const { client: socket, answer } = await connectDevice(gateway, odd, { from: newRemote() });
    assert.ok(
      ['DEVICE_AUTH_SIGNATURE_INVALID', 'INVALID_PARAMS'].includes(String(answer.error?.details?.code)),
      `${kind}: ${JSON.stringify(answer)}`,
    );
    await socket.close();
  }
  assert.deepEqual(
    (await admin.request('device.list')).payload.devices.map((each: { id: string }) => each.id),
    [device.id],
  );
  assert.deepEqual((await admin.request('device.pair.list')).payload.requests, []);
  const from = newAddress();
  const last = await connectDevice(gateway, device, { forge: { signature: 'x' }, from });
  await last.client.close();
  await assertUnharmed(gateway, { from, incidents: ['auth.failed'] });
});

test('S75 a device that was revoked or turned down is a stranger again', async () => {
  verifies('S75');
  await using gateway = await startGatewayProcess();
  await using admin = await bystander(gateway);
  const device = createDevice();
  await pair(admin, gateway, device, ['operator.read']);
  const { client, answer, sent } = await connectDevice(gateway, device);
  assert.equal(answer.ok, true);
  await admin.request('device.revoke', { id: device.id });
  assert.equal((await client.closed).code, 4001);
  await using thief = await openRaw(gateway.socketUrl);
  assert.equal((await thief.request('connect', sent)).error?.details?.code, 'DEVICE_AUTH_NONCE_MISMATCH');

  const requestId = await askToPair(gateway, device, ['operator.read']);
  assert.equal((await admin.request('device.pair.reject', { requestId })).ok, true);
  assert.equal((await admin.request('device.pair.approve', { requestId })).error?.code, 'NOT_FOUND', 'what was turned down is gone');
  assert.notEqual(await askToPair(gateway, device, ['operator.read']), requestId);
  await assertUnharmed(gateway);
});

test('S75 strangers who ask to pair cannot flood the audit log, the events or the list', async (t) => {
  verifies('S75', 'S69');
  await using gateway = await startGatewayProcess({ args: behindProxy });
  await using admin = await bystander(gateway);
  const from = newAddress();
  const device = createDevice();
  const codes: (string | undefined)[] = [];
  // Each time with other scopes, so that each would be a new request.
  for (let index = 0; index < 60; index++) {
    const { client, answer } = await connectDevice(gateway, device, {
      params: { scopes: [index % 2 ? 'operator.read' : 'operator.write'] },
      from,
    });
    codes.push(answer.error?.code);
    await client.closed;
  }
  const asked = codes.filter((code) => code === 'NOT_PAIRED').length;
  t.diagnostic(`${asked} of ${codes.length} requests were taken`);
  assert.equal(asked, 10);
  assert.equal(codes.filter((code) => code === 'RATE_LIMITED').length, 50);
  const records = await auditOf(admin);
  assert.equal(records.filter(({ action }) => action === 'device.pair.request').length, asked);
  await admin.request('sessions.create', { key: 'agent:main:after' });
  await admin.find((frame) => frame.event === 'sessions.changed');
  assert.equal(admin.frames.filter((frame) => frame.event === 'device.pair.requested').length, asked);

  // From many addresses: the list stays short, and an operator still sees who was there first.
  for (let index = 0; index < limits.pendingPairings.value + 5; index++) {
    const { client, answer } = await connectDevice(gateway, createDevice(), { from: newRemote() });
    assert.equal(answer.error?.code, index < limits.pendingPairings.value - 1 ? 'NOT_PAIRED' : 'RATE_LIMITED', `request ${index}`);
    await client.closed;
  }
  assert.equal((await admin.request('device.pair.list')).payload.requests.length, limits.pendingPairings.value);
  await assertUnharmed(gateway, { from, incidents: ['device.pair.rate-limited'] });
});
