import assert from 'node:assert/strict';
import { createHash, createPublicKey, verify } from 'node:crypto';
import { test } from 'node:test';
import { deviceSigningText } from '@tenon/protocol';
import { WebSocket } from 'ws';
import { meet, openClient } from '../test-support/open-client.ts';
import { openScriptedGateway } from '../test-support/scripted-gateway.ts';
import { createDeviceIdentity } from './index.ts';

const options = { timeout: 20_000 };

test('a device signs the challenge, and the gateway can verify it with the key alone', options, async (t) => {
  const gateway = await openScriptedGateway(t);
  const device = await createDeviceIdentity();
  const client = openClient(t, { url: gateway.url, WebSocket, device, token: 'secret', scopes: ['operator.read', 'operator.write'] });
  const opening = client.connect();
  const peer = await gateway.next();
  const params = await peer.welcome();
  await opening;

  assert.ok(params.device);
  const { signature, publicKey, ...proof } = params.device;
  const der = Buffer.from(publicKey, 'base64url');
  const key = createPublicKey({ key: der, format: 'der', type: 'spki' });
  assert.equal(key.asymmetricKeyType, 'ed25519');
  assert.equal(proof.id, createHash('sha256').update(der).digest('hex'));
  assert.equal(proof.nonce, peer.nonce);
  const text = deviceSigningText(proof, params);
  assert.ok(verify(null, Buffer.from(text), key, Buffer.from(signature, 'base64url')));
  assert.ok(text.includes('|operator.read,operator.write|'), 'the scopes that are asked for are under the signature');
  assert.ok(!verify(null, Buffer.from(`${text}x`), key, Buffer.from(signature, 'base64url')));
});

test('a stored device is the same device, and each connection signs its own challenge', options, async (t) => {
  const gateway = await openScriptedGateway(t);
  const first = await createDeviceIdentity();
  const again = await createDeviceIdentity(JSON.parse(JSON.stringify(first.exportJwk())));
  assert.equal(again.id, first.id);
  assert.equal(again.publicKey, first.publicKey);
  assert.equal(await again.sign('text'), await first.sign('text'));

  const client = openClient(t, { url: gateway.url, WebSocket, device: again, reconnect: { minMs: 0, maxMs: 0 } });
  (await meet(client, gateway)).close(1012);
  const peer = await gateway.next();
  assert.equal((await peer.welcome()).device?.nonce, peer.nonce);
});

test('a device that cannot sign ends the attempt with its own error', options, async (t) => {
  const gateway = await openScriptedGateway(t);
  const sign = () => Promise.reject(new Error('the key store is locked'));
  const client = openClient(t, { url: gateway.url, WebSocket, device: { id: '0'.repeat(64), publicKey: 'x', sign } });
  await assert.rejects(client.connect(), /the key store is locked/);
  assert.equal(client.state.kind, 'closed');
});
