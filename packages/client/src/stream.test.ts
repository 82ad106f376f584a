import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EventPayload } from '@tenon/protocol';
import { WebSocket } from 'ws';
import { meet, nextOf, nextState, openClient } from '../test-support/open-client.ts';
import { verifies } from '../../../test/support/verifies.ts';
import { EPOCH, hello, openScriptedGateway, type Peer } from '../test-support/scripted-gateway.ts';
import type { Client, Gap } from './index.ts';

const options = { timeout: 20_000 };
const soon = { minMs: 0, maxMs: 0 };

function change(peer: Peer, seq: number, prev: number, epoch = EPOCH): void {
  peer.event('sessions.changed', { key: 'agent:main:one', reason: 'patch' }, { seq, prev, epoch });
}

function record(client: Client): { readonly seen: (number | undefined)[]; readonly gaps: Gap[] } {
  const seen: (number | undefined)[] = [];
  const gaps: Gap[] = [];
  client.on('sessions.changed', (_, { seq }) => seen.push(seq));
  client.onGap((gap) => gaps.push(gap));
  return { seen, gaps };
}

/** Everything that was sent before has arrived. */
async function settled(client: Client, peer: Peer): Promise<void> {
  const heard = nextOf((listener) => client.on('tick', listener));
  peer.event('tick', { ts: 1 });
  await heard;
}

test('after a break the client asks for what came after the last event, sees it once, and then `resumed`', options, async (t) => {
  verifies('foundation:client-reconnect');
  const gateway = await openScriptedGateway(t);
  const client = openClient(t, { url: gateway.url, WebSocket, reconnect: soon });
  const { seen, gaps } = record(client);
  const resumed: EventPayload<'resumed'>[] = [];
  client.on('resumed', (payload) => resumed.push(payload));

  const peer = await meet(client, gateway);
  change(peer, 12, 10);
  change(peer, 15, 12);
  await settled(client, peer);
  peer.kill();

  const second = await gateway.next();
  const params = await second.welcome({ events: { epoch: EPOCH, seq: 30 } });
  assert.deepEqual(params.resume, { epoch: EPOCH, seq: 15 });
  change(second, 15, 12);
  change(second, 20, 15);
  change(second, 22, 20);
  second.event('resumed', { epoch: EPOCH, from: 15, to: 30 });
  change(second, 31, 22);
  change(second, 33, 31);
  await settled(client, second);
  assert.deepEqual(seen, [12, 15, 20, 22, 31, 33]);
  assert.deepEqual(resumed, [{ epoch: EPOCH, from: 15, to: 30 }]);
  assert.deepEqual(gaps, []);
  assert.deepEqual(client.position, { epoch: EPOCH, seq: 33 });
});

test('`resumed` moves the position over events that this client may not see', options, async (t) => {
  const gateway = await openScriptedGateway(t);
  const client = openClient(t, { url: gateway.url, WebSocket, resume: { seq: 5 } });
  const { seen, gaps } = record(client);
  const opening = client.connect();
  const peer = await gateway.next();
  assert.deepEqual((await peer.welcome()).resume, { seq: 5 });
  await opening;
  assert.deepEqual(client.position, { seq: 5 }, 'hello does not move it: what lies between is still to come');
  change(peer, 7, 5);
  peer.event('resumed', { epoch: EPOCH, from: 5, to: 10 });
  await settled(client, peer);
  assert.deepEqual(client.position, { epoch: EPOCH, seq: 10 });
  change(peer, 11, 10);
  await settled(client, peer);
  assert.deepEqual([seen, gaps], [[7, 11], []]);
});

test('duplicates are dropped', options, async (t) => {
  const gateway = await openScriptedGateway(t);
  const client = openClient(t, { url: gateway.url, WebSocket });
  const { seen, gaps } = record(client);
  const peer = await meet(client, gateway);
  for (const [seq, prev] of [
    [9, 8],
    [10, 9],
    [11, 10],
    [11, 10],
    [12, 11],
    [11, 10],
  ] as const) {
    change(peer, seq, prev);
  }
  await settled(client, peer);
  assert.deepEqual([seen, gaps], [[11, 12], []]);
});

test('a missing event is noticed by `prev`, and fetched by resuming', options, async (t) => {
  const gateway = await openScriptedGateway(t);
  const client = openClient(t, { url: gateway.url, WebSocket, reconnect: soon });
  const { seen, gaps } = record(client);
  const peer = await meet(client, gateway);
  change(peer, 11, 10);
  change(peer, 15, 13);
  change(peer, 16, 15);

  const second = await gateway.next();
  assert.equal((await peer.closed).code, 4000);
  assert.deepEqual((await second.welcome()).resume, { epoch: EPOCH, seq: 11 });
  for (const [seq, prev] of [
    [13, 11],
    [15, 13],
    [16, 15],
  ] as const) {
    change(second, seq, prev);
  }
  await settled(client, second);
  assert.deepEqual(seen, [11, 13, 15, 16]);
  assert.deepEqual(
    gaps.map(({ at, frame, action }) => [at, frame.seq, action]),
    [[{ epoch: EPOCH, seq: 11 }, 15, 'resume']],
  );
});

test('a gap that resuming does not fill is told as lost, once, and life goes on', options, async (t) => {
  const gateway = await openScriptedGateway(t);
  const client = openClient(t, { url: gateway.url, WebSocket, reconnect: soon });
  const { seen, gaps } = record(client);
  const peer = await meet(client, gateway);
  change(peer, 15, 13);
  const second = await gateway.next();
  await second.welcome();
  change(second, 15, 13);
  change(second, 16, 15);
  await settled(client, second);
  assert.deepEqual(seen, [15, 16]);
  assert.deepEqual(
    gaps.map(({ action }) => action),
    ['resume', 'lost'],
  );
});

test('without reconnect a gap is lost at once, and the event is delivered', options, async (t) => {
  const gateway = await openScriptedGateway(t);
  const client = openClient(t, { url: gateway.url, WebSocket, reconnect: false });
  const { seen, gaps } = record(client);
  const peer = await meet(client, gateway);
  change(peer, 15, 13);
  await settled(client, peer);
  assert.deepEqual(seen, [15]);
  assert.deepEqual(
    gaps.map(({ action }) => action),
    ['lost'],
  );
});

test('`snapshot-required` is delivered and sets the position, also into another epoch', options, async (t) => {
  const gateway = await openScriptedGateway(t);
  const client = openClient(t, { url: gateway.url, WebSocket, reconnect: soon });
  const { seen, gaps } = record(client);
  const snapshots: EventPayload<'snapshot-required'>[] = [];
  client.on('snapshot-required', (payload) => snapshots.push(payload));
  const peer = await meet(client, gateway);
  change(peer, 11, 10);
  await settled(client, peer);
  const connected = nextState(client, 'connected');
  peer.kill();

  const second = await gateway.next();
  await second.welcome({ events: { epoch: 'epoch-two', seq: 3 } });
  await connected;
  second.event('snapshot-required', { reason: 'epoch-changed', epoch: 'epoch-two', seq: 3 });
  change(second, 4, 3, 'epoch-two');
  await settled(client, second);
  assert.deepEqual(snapshots, [{ reason: 'epoch-changed', epoch: 'epoch-two', seq: 3 }]);
  assert.deepEqual(seen, [11, 4]);
  assert.deepEqual(gaps, []);
  assert.deepEqual(client.position, { epoch: 'epoch-two', seq: 4 });
});

test('an event of another epoch is a gap, whatever its number', options, async (t) => {
  const gateway = await openScriptedGateway(t);
  const client = openClient(t, { url: gateway.url, WebSocket, reconnect: soon });
  const { seen, gaps } = record(client);
  const peer = await meet(client, gateway);
  change(peer, 4, 3, 'epoch-two');
  const second = await gateway.next();
  assert.deepEqual((await second.welcome()).resume, { epoch: EPOCH, seq: 10 });
  assert.equal(gaps[0]?.action, 'resume');
  assert.deepEqual(seen, []);
});

test('events without position leave it alone; a gateway without resume is followed by seq', options, async (t) => {
  const gateway = await openScriptedGateway(t);
  const client = openClient(t, { url: gateway.url, WebSocket });
  const { seen, gaps } = record(client);
  const opening = client.connect();
  const peer = await gateway.next();
  const { id } = await peer.next();
  const { events: _, ...old } = hello();
  peer.send({ type: 'res', id, ok: true, payload: old });
  await opening;
  await settled(client, peer);
  assert.equal(client.position, undefined);
  for (const seq of [20, 25, 25]) peer.event('sessions.changed', { key: 'agent:main:one', reason: 'patch' }, { seq });
  await settled(client, peer);
  assert.deepEqual([seen, gaps, client.position], [[20, 25], [], { seq: 25 }]);
});
