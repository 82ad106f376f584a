// What becomes of the answer of a turn that a schedule began: announced where the session came from, or kept in the transcript only;
// and who is said to have begun it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { definePluginEntry, type OutgoingDelivery, type RuntimeApi } from '@tenon/plugin-sdk';
import type { DeliveryRecord, Entry, EventPayload } from '@tenon/protocol';
import { createTestHost } from '../../packages/gateway/src/testing/test-host.ts';
import { verifies } from '../support/verifies.ts';

const MINUTE = 60_000;
const sessionKey = 'agent:main:test';

/** A channel `line`, and what it was asked to carry. */
function lineOf() {
  const sent: Pick<OutgoingDelivery, 'to' | 'text'>[] = [];
  let api: RuntimeApi | undefined;
  const plugin = definePluginEntry({
    id: 'one',
    register(given) {
      api = given;
      given.registerChannel({
        id: 'line',
        label: 'Line',
        send({ id, to, text }) {
          sent.push({ to, ...(text === undefined ? {} : { text }) });
          return { id };
        },
      });
    },
  });
  return { plugin, sent, api: () => api! };
}

test('announce carries the answer to where the session came from, none leaves it in the transcript', async () => {
  verifies('seed1:scheduled-turns', 'seams:A5');
  const line = lineOf();
  await using host = await createTestHost(line.plugin, {
    grants: ['channels.serve', 'schedule.turns'],
    model: ['Hello Ada', 'For Ada', 'For nobody'],
  });
  const received = await line.api().channels.receive({ channel: 'line', from: 'ada', text: 'Hello' });
  assert.ok(received.ok);
  await host.settled();
  const { scheduleSessionTurn } = line.api().session.workflow;
  for (const [deliveryMode, delayMs] of [
    ['announce', MINUTE],
    ['none', 2 * MINUTE],
  ] as const)
    assert.ok((await scheduleSessionTurn({ sessionKey: received.sessionKey, message: deliveryMode, deliveryMode, delayMs })).ok);
  await host.advance(2 * MINUTE);
  assert.deepEqual(line.sent, [
    { to: 'ada', text: 'Hello Ada' },
    { to: 'ada', text: 'For Ada' },
  ]);
  const { entries } = await host.call<{ entries: Entry[] }>('chat.history', { sessionKey: received.sessionKey });
  assert.match(JSON.stringify(entries.at(-1)), /For nobody/, 'it stands in the transcript');
});

test('to clients, what is announced is a delivery on record, and what is not is none', async () => {
  await using host = await createTestHost(lineOf().plugin, { grants: ['channels.serve'], model: ['Said', 'Announced', 'Kept'] });
  await host.send('a person asks');
  const schedule = (delayMs: number) => ({ schedule: { kind: 'in', delayMs }, session: { key: sessionKey } });
  await host.call('cron.add', { ...schedule(MINUTE), message: 'x' });
  await host.call('cron.add', { ...schedule(2 * MINUTE), message: 'y', delivery: 'none' });
  await host.advance(2 * MINUTE);
  const { deliveries } = await host.call<{ deliveries: DeliveryRecord[] }>('deliveries.list', { sessionKey });
  assert.deepEqual(
    deliveries.map(({ channel, by, state }) => [channel, by, state]),
    [['webchat', 'agent', 'sent']],
  );
  const { entries } = await host.call<{ entries: Entry[] }>('chat.history', { sessionKey });
  assert.match(JSON.stringify(entries.find(({ id }) => id === deliveries[0]?.entryId)), /Announced/);
  assert.match(JSON.stringify(entries), /Kept/);
});

test('a turn that a schedule began says so: while it waits, in the transcript and in an export', async () => {
  await using host = await createTestHost(lineOf().plugin, { grants: ['channels.serve'] });
  const job = { name: 'Morning', message: 'Sum up', schedule: { kind: 'in', delayMs: MINUTE }, session: { key: sessionKey } };
  await host.call('cron.add', job);
  await host.advance(MINUTE);
  const { entries } = await host.call<{ entries: Entry[] }>('chat.history', { sessionKey });
  const [first] = entries;
  assert.ok(first?.type === 'message' && first.message.role === 'user');
  assert.deepEqual([first.message.from, first.message.via], ['Morning', 'schedule']);
  const queued = host.events
    .filter(({ event }) => event === 'chat')
    .map(({ payload }) => payload as unknown as EventPayload<'chat'>)
    .find(({ kind }) => kind === 'queued');
  assert.deepEqual([queued?.from, queued?.via], ['Morning', 'schedule']);
  const { lines } = await host.call<{ lines: string[] }>('sessions.export', { key: sessionKey });
  assert.match(lines.find((line) => line.includes('Sum up')) ?? '', /"from":"Morning","via":"schedule"/);
});
