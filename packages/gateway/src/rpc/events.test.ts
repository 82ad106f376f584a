import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits, type Scope } from '@tenon/protocol';
import { pino } from 'pino';
import { createManualClock } from '../../../../test/support/clock.ts';
import { createMetrics } from '../kernel/metrics.ts';
import type { StoredEvent } from '../store/stream.ts';
import { createEventHub, type EventSink } from './events.ts';
import { createPrincipal } from './principal.ts';

interface Sent {
  event: string;
  seq?: number;
  prev?: number;
  epoch?: string;
  payload: Record<string, unknown>;
}

function world(stored: StoredEvent[] = []) {
  const clock = createManualClock();
  const metrics = createMetrics();
  const hub = createEventHub({
    stream: { epoch: 'epoch-one', head: stored.at(-1)?.seq ?? 0, floor: 0 },
    readStream: async (after, limit) => stored.filter((event) => event.seq > after).slice(0, limit),
    clock,
    log: pino({ level: 'silent' }),
    metrics,
  });
  const publish = (...events: StoredEvent[]) => {
    stored.push(...events);
    hub.committed(events);
  };
  return { clock, hub, metrics, publish };
}

function sinkOf(scopes: Scope[] = ['operator.read'], more: { sessionKey?: string; resumes?: boolean } = {}) {
  const sent: Sent[] = [];
  const state = { buffered: 0, closed: undefined as number | undefined };
  const { sessionKey, resumes = true } = more;
  const sink: EventSink = {
    principal: createPrincipal({ id: 'token:x', method: 'token', scopes, ...(sessionKey === undefined ? {} : { sessionKey }) }),
    resumes,
    send: (frame) => sent.push(JSON.parse(frame.toString()) as Sent),
    bufferedBytes: () => state.buffered,
    close: (code) => {
      state.closed = code;
    },
  };
  return { sink, sent, state, seqs: () => sent.flatMap((frame) => frame.seq ?? []) };
}

const changed = (seq: number, key = 'agent:main:a'): StoredEvent => ({
  seq,
  event: 'sessions.changed',
  payload: JSON.stringify({ key, reason: 'patch' }),
  sessionKey: key,
});
const pairing = (seq: number): StoredEvent => ({ seq, event: 'device.pair.resolved', payload: '{}', sessionKey: null });
const live = { names: undefined, resume: undefined };
const settle = () => new Promise((resolve) => setImmediate(resolve));

test('each client sees what its scopes allow, and prev is the last position that it was sent itself', () => {
  const { hub, publish } = world();
  const reader = sinkOf();
  const admin = sinkOf(['operator.admin']);
  const plain = sinkOf(['operator.read'], { resumes: false });
  for (const { sink } of [reader, admin, plain]) hub.join(sink, live);
  publish(changed(1), pairing(2), changed(3));
  assert.deepEqual(
    reader.sent.map(({ seq, prev }) => [seq, prev]),
    [
      [1, 0],
      [3, 1],
    ],
  );
  assert.deepEqual(
    admin.sent.map(({ seq, prev }) => [seq, prev]),
    [
      [1, 0],
      [2, 1],
      [3, 2],
    ],
  );
  assert.deepEqual(Object.keys(plain.sent[0] as object), ['type', 'event', 'payload', 'seq']);
});

test('a client bound to one session gets its own events and those for everybody', () => {
  const { hub, publish } = world();
  const bound = sinkOf(['operator.admin'], { sessionKey: 'agent:main:a' });
  hub.join(bound.sink, live);
  publish(changed(1), changed(2, 'agent:main:b'), pairing(3));
  hub.publish('tick', { ts: 1 });
  hub.publish('presence', { presence: [] });
  assert.deepEqual(
    bound.sent.map((frame) => frame.event),
    ['sessions.changed', 'tick'],
  );
});

test('resume replays in order, then says so; events committed meanwhile come once', async () => {
  const { hub, publish } = world([changed(1), changed(2), changed(3)]);
  const back = sinkOf();
  hub.join(back.sink, { names: undefined, resume: { epoch: 'epoch-one', seq: 1 } });
  publish(changed(4));
  await settle();
  publish(changed(5));
  assert.deepEqual(
    back.sent.map((frame) => frame.seq ?? frame.event),
    [2, 3, 4, 'resumed', 5],
  );
  assert.equal(back.sent.at(-1)?.prev, 4);
  assert.deepEqual(back.sent.at(-2)?.payload, { epoch: 'epoch-one', from: 1, to: 4 });
});

test('what cannot be replayed is said, with the reason', async () => {
  const { hub, publish } = world([changed(8), changed(9)]);
  const cases = [
    [{ epoch: 'other-epoch', seq: 9 }, 'epoch-changed'],
    [{ epoch: 'epoch-one', seq: 10 }, 'from-the-future'],
    [{ epoch: 'epoch-one', seq: 3 }, 'too-old'],
  ] as const;
  for (const [resume, reason] of cases) {
    const client = sinkOf();
    hub.join(client.sink, { names: undefined, resume });
    await settle();
    assert.deepEqual(client.sent[0], { type: 'event', event: 'snapshot-required', payload: { reason, epoch: 'epoch-one', seq: 9 } });
    assert.equal(client.sent.length, 1);
  }
  const after = sinkOf();
  hub.join(after.sink, { names: undefined, resume: { seq: 3 } });
  await settle();
  publish(changed(10));
  assert.deepEqual([after.sent.at(-1)?.seq, after.sent.at(-1)?.prev], [10, 9], 'after the snapshot it goes on from there');
});

test('a slow client is sent nothing more, catches up when it drains, and others do not notice', async () => {
  const { hub, publish, clock, metrics } = world();
  const slow = sinkOf();
  const quick = sinkOf();
  hub.join(slow.sink, live);
  hub.join(quick.sink, live);
  slow.state.buffered = limits.maxBufferedBytes.value + 1;
  publish(changed(1), changed(2));
  hub.publish('tick', { ts: 1 });
  assert.deepEqual(slow.sent, []);
  assert.deepEqual(quick.seqs(), [1, 2]);
  assert.equal(metrics.value('tenon_events_dropped_total', { event: 'tick' }), 1);
  slow.state.buffered = 0;
  clock.advance(250);
  await settle();
  publish(changed(3));
  assert.deepEqual(slow.seqs(), [1, 2, 3]);
  assert.equal(slow.state.closed, undefined);
});

test('a client that takes nothing at all is closed with 1008 after the grace', () => {
  const { hub, publish, clock } = world();
  const stuck = sinkOf();
  hub.join(stuck.sink, live);
  stuck.state.buffered = limits.maxBufferedBytes.value + 1;
  publish(changed(1));
  clock.advance(limits.slowConsumerGraceMs.value - 250);
  assert.equal(stuck.state.closed, undefined);
  clock.advance(500);
  assert.equal(stuck.state.closed, 1008);
});

test('a client chooses its events; nothing beyond its scopes can be chosen', () => {
  const { hub, publish } = world();
  const reader = sinkOf();
  const subscription = hub.join(reader.sink, { names: ['tick', 'device.pair.resolved'], resume: undefined });
  publish(changed(1), pairing(2));
  assert.deepEqual(reader.sent, []);
  assert.deepEqual(subscription.subscribe(['sessions.changed', 'device.pair.resolved', 'nonsense']), ['tick', 'sessions.changed']);
  publish(changed(3));
  assert.deepEqual(reader.seqs(), [3]);
  assert.deepEqual(subscription.unsubscribe(['sessions.changed']), ['tick']);
  publish(changed(4));
  assert.deepEqual(reader.seqs(), [3]);
});

test('a client that lags while a page is read for it is not told that events are gone', async () => {
  const stored = [changed(1), changed(2), changed(3)];
  const clock = createManualClock();
  const reads: (() => void)[] = [];
  const hub = createEventHub({
    stream: { epoch: 'epoch-one', head: 3, floor: 0 },
    readStream: (after, limit) =>
      new Promise((resolve) => reads.push(() => resolve(stored.filter((event) => event.seq > after).slice(0, limit)))),
    clock,
    log: pino({ level: 'silent' }),
    metrics: createMetrics(),
  });
  const client = sinkOf();
  hub.join(client.sink, { names: undefined, resume: { epoch: 'epoch-one', seq: 0 } });
  client.state.buffered = limits.maxBufferedBytes.value + 1;
  hub.publish('tick', { ts: 1 });
  client.state.buffered = 0;
  clock.advance(250);
  assert.equal(reads.length, 2, 'it catches up a second time before the first page has come');
  for (const read of reads) {
    read();
    await settle();
  }
  assert.deepEqual(
    client.sent.map((frame) => frame.seq ?? frame.event),
    [1, 2, 3, 'resumed'],
  );
});

test('what a plugin says reaches those who hold its scope, want it, and may see its session', () => {
  const { hub } = world();
  const say = (name: string, scope: Scope, sessionKey?: string) =>
    hub.publishOwn({ name, scope, payload: { pluginId: 'one', data: 1, ...(sessionKey === undefined ? {} : { sessionKey }) } });
  const heard = ({ sent }: { sent: Sent[] }) => sent.splice(0).map(({ event }) => event);
  const admin = sinkOf(['operator.admin']);
  const reader = sinkOf();
  const guest = sinkOf(['operator.read'], { sessionKey: 'agent:main:a' });
  const picky = sinkOf(['operator.admin']);
  const deaf = sinkOf(['operator.admin']);
  const [adminSubscription] = [admin, reader, guest].map(({ sink }) => hub.join(sink, live));
  hub.join(picky.sink, { names: ['tick', 'plugin.one.*', 'plugin.nonsense'], resume: undefined });
  const late = hub.join(deaf.sink, { names: ['tick'], resume: undefined });
  say('plugin.one.news', 'operator.read');
  say('plugin.two.news', 'operator.admin');
  say('plugin.one.news', 'operator.read', 'agent:main:a');
  say('plugin.one.news', 'operator.read', 'agent:main:b');
  const one = 'plugin.one.news';
  assert.deepEqual(heard(admin), [one, 'plugin.two.news', one, one]);
  assert.deepEqual(heard(reader), [one, one, one]);
  assert.deepEqual(heard(guest), [one], 'only what names its session');
  assert.deepEqual(heard(picky), [one, one, one]);
  assert.deepEqual(heard(deaf), []);

  assert.ok(late.subscribe(['plugin.two.news']).includes('plugin.two.news'));
  assert.ok(!adminSubscription?.unsubscribe(['plugin.two.*']).includes('plugin.two.*'));
  say('plugin.two.news', 'operator.read');
  say('plugin.two.other', 'operator.read');
  say('plugin.one.other', 'operator.read');
  assert.deepEqual(heard(deaf), ['plugin.two.news']);
  assert.deepEqual(heard(admin), ['plugin.one.other']);
  adminSubscription?.unsubscribe(['plugin.*']);
  adminSubscription?.subscribe(['plugin.two.*']);
  say('plugin.two.other', 'operator.read');
  say('plugin.one.other', 'operator.read');
  assert.deepEqual(heard(admin), ['plugin.two.other']);
});

test('a client that does not read loses what plugins say, and that is counted', () => {
  const { hub, metrics } = world();
  const slow = sinkOf();
  hub.join(slow.sink, live);
  slow.state.buffered = limits.maxBufferedBytes.value + 1;
  hub.publishOwn({ name: 'plugin.one.news', scope: 'operator.read', payload: { pluginId: 'one', data: 1 } });
  assert.deepEqual(slow.sent, []);
  assert.match(metrics.render(), /tenon_events_dropped_total\{event="plugin"\} 1/);
});
