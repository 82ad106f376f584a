// Turns that a plugin has scheduled, taken by the plugin itself: without the agent, only its own, once for each time that it is due,
// and never lost where it fails.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { definePluginEntry, type DueTurn, type RegisterApi, type ScheduledTurnHandler } from '@tenon/plugin-sdk';
import type { Entry } from '@tenon/protocol';
import { createTestHost } from '../../packages/gateway/src/testing/test-host.ts';
import { verifies } from '../support/verifies.ts';

const MINUTE = 60_000;
const sessionKey = 'agent:main:test';

type Handler = ScheduledTurnHandler['handler'];

async function opened(...handlers: readonly Handler[]) {
  const offered: DueTurn[] = [];
  let api: RegisterApi | undefined;
  const plugin = definePluginEntry({
    id: 'one',
    register(given) {
      api = given;
      for (const [at, handler] of handlers.entries())
        given.registerScheduledTurnHandler({
          id: `h${at}`,
          handler(turn) {
            offered.push(turn);
            return handler(turn);
          },
        });
    },
  });
  const host = await createTestHost(plugin, { grants: ['schedule.turns'] });
  const entries = async () => (await host.call<{ entries: Entry[] }>('chat.history', { sessionKey })).entries;
  const states = async () =>
    (await host.call<{ occurrences: { state: string }[] }>('cron.history', {})).occurrences.map(({ state }) => state);
  const schedule = (more: object = {}) =>
    api!.session.workflow.scheduleSessionTurn({ sessionKey, message: 'look', delayMs: MINUTE, tag: 't', ...more });
  return { host, offered, entries, states, schedule, now: () => api!.now(), [Symbol.asyncDispose]: () => host.close() };
}

test('one that is handled leaves no turn behind, asks no model, and is done', async () => {
  verifies('seed1:scheduled-turns', 'seams:A5');
  await using world = await opened(() => ({ handled: true }));
  const planned = await world.schedule({ name: 'Look' });
  assert.ok(planned.ok);
  await world.host.advance(MINUTE);
  const [turn] = world.offered;
  assert.deepEqual(
    [turn?.jobId, turn?.name, turn?.tag, turn?.message, turn?.dueAt, turn?.sessionKey, turn?.agentId],
    [planned.id, 'Look', 't', 'look', planned.nextAt, sessionKey, 'main'],
  );
  assert.deepEqual([world.host.requests.length, await world.entries(), await world.states()], [0, [], ['done']]);
  assert.equal(world.now(), world.host.now(), 'the clock is that of the host');
  const called = (await world.host.trace()).find(({ place }) => place === 'scheduled_turn');
  assert.equal(called?.outcome, 'claimed');
});

test('a reply stands in the transcript with what it replies to', async () => {
  await using world = await opened(() => ({ handled: true, reply: 'looked' }));
  await world.schedule();
  await world.host.advance(MINUTE);
  const [said, reply] = await world.entries();
  assert.ok(said?.type === 'message' && said.message.role === 'user' && said.message.via === 'schedule');
  assert.ok(reply?.type === 'custom' && reply.customType === 'reply');
  assert.deepEqual(reply.data, { plugin: 'one', text: 'looked' });
  assert.equal(world.host.requests.length, 0);
});

test('one that nobody handles, and one whose handlers fail, is told to the agent', async () => {
  const throws: Handler = () => {
    throw new Error('no');
  };
  const nonsense = (() => ({ handled: 'yes' })) as unknown as Handler;
  for (const handlers of [[], [() => undefined], [() => ({ handled: false })], [throws], [nonsense]]) {
    await using world = await opened(...(handlers as Handler[]));
    await world.schedule();
    await world.host.advance(MINUTE);
    assert.equal(world.offered.length, handlers.length);
    assert.equal(world.host.requests.length, 1);
    assert.deepEqual(await world.states(), ['done']);
  }
  await using world = await opened(throws, () => ({ handled: true }), throws);
  await world.schedule();
  await world.host.advance(MINUTE);
  assert.deepEqual([world.offered.length, world.host.requests.length], [2, 0], 'the first that handles it ends it');
});

test('jobs of others are not offered, nor is anything without the grant', async () => {
  await using world = await opened(() => ({ handled: true }));
  const job = { message: 'x', schedule: { kind: 'in', delayMs: MINUTE }, session: { key: sessionKey }, tag: 't' };
  await world.host.call('cron.add', job);
  await world.host.advance(MINUTE);
  assert.deepEqual([world.offered.length, world.host.requests.length], [0, 1]);
  await world.host.revoke('schedule.turns');
  assert.equal(world.host.registrations().find(({ kind }) => kind === 'scheduledTurn')?.accepted, false);
});
