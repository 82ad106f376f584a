// Heartbeats: agents that look around by themselves, in a session of their own, and say nothing where there is nothing to say.
import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createHeartbeat, HEARTBEAT_FILE, heartbeatKey, isWithin } from '../../packages/gateway/src/agent/heartbeat.ts';
import { QUIET_ANSWER } from '../../packages/gateway/src/store/run-origin.ts';
import { createManualClock } from '../support/clock.ts';
import { openTurns } from '../support/turns.ts';

const HOUR = 3_600_000;
const key = heartbeatKey('main');

async function beating(answers: readonly string[], settings: { everyMs?: number; hours?: string } = {}) {
  const clock = createManualClock(Date.parse('2026-11-15T12:00:00Z'));
  const world = await openTurns({ clock, steps: answers.map((text) => ({ text })) });
  const { store, deps, turns, home } = world;
  const agents = deps.agents as Parameters<typeof createHeartbeat>[0]['agents'];
  const heartbeat = createHeartbeat({
    ...{ store, clock, log: deps.log, agents, turns, home },
    settings: { 'heartbeat.everyMs': settings.everyMs ?? HOUR, 'heartbeat.hours': settings.hours ?? '', 'heartbeat.tz': 'UTC' },
  });
  const workspace = agents.get('main')!.workspace;
  mkdirSync(workspace, { recursive: true });
  const file = join(workspace, HEARTBEAT_FILE);
  writeFileSync(file, 'Is there anything to do?');
  /** Until nothing runs, as the gateway tells it. */
  const ended = async (runId: string) => {
    await turns.wait(runId, 60_000);
    heartbeat.committed([{ event: 'chat', payload: JSON.stringify({ kind: 'ended', runId }) } as never]);
    await heartbeat.settled();
  };
  const path = async () => (await store.read('entries.path', { key, limit: 50 })).entries;
  const dispose = async () => {
    heartbeat.stop();
    await world[Symbol.asyncDispose]();
  };
  return { ...world, clock, heartbeat, file, ended, path, [Symbol.asyncDispose]: dispose };
}

test('a quiet answer leaves nothing behind, and what is said stays', async () => {
  await using world = await beating([QUIET_ANSWER, 'The oven is on.', ` ${QUIET_ANSWER}\n`]);
  const first = await world.heartbeat.wake('main');
  assert.ok(first.begun);
  await world.ended(first.runId);
  assert.deepEqual(await world.path(), [], 'the session is where it was');
  const second = await world.heartbeat.wake('main');
  assert.ok(second.begun);
  await world.ended(second.runId);
  const said = await world.path();
  assert.equal(said.length, 2);
  assert.equal((await world.store.read('runs.get', { runId: second.runId })).run.trigger, 'heartbeat');
  const third = await world.heartbeat.wake('main');
  assert.ok(third.begun);
  await world.ended(third.runId);
  assert.deepEqual(await world.path(), said);
  const { deliveries } = await world.store.read('deliveries.list', { limit: 10 });
  assert.deepEqual(
    deliveries.map(({ channel, entryId }) => [channel, entryId]),
    [['webchat', said.at(-1)?.id]],
    'what is said is delivered, and a quiet answer is not',
  );
  const [told] = said;
  assert.ok(told?.type === 'message' && told.message.role === 'user');
  assert.deepEqual([told.message.from, told.message.via], ['Heartbeat', 'heartbeat'], 'no person wrote it');
});

test('without a prompt file, or with an empty one, nothing begins, and the reason is said', async () => {
  await using world = await beating([]);
  for (const change of [() => writeFileSync(world.file, ' \n'), () => rmSync(world.file)]) {
    change();
    const beat = await world.heartbeat.wake('main');
    assert.ok(!beat.begun);
    assert.match(beat.reason, /^there is no HEARTBEAT\.md in /);
  }
  await assert.rejects(world.heartbeat.wake('nobody'), /Cannot find agent "nobody"/);
});

test('it comes by itself every so often', async () => {
  await using world = await beating([QUIET_ANSWER]);
  world.heartbeat.start();
  world.clock.advance(HOUR - 1);
  await new Promise((resolve) => setImmediate(resolve));
  await assert.rejects(world.store.read('sessions.get', { key }), { code: 'NOT_FOUND' });
  world.clock.advance(1);
  // The store says when it has begun: the first thing that is written there is its session.
  while (!(await world.store.read('sessions.get', { key }).catch(() => undefined))) await new Promise((resolve) => setImmediate(resolve));
  world.heartbeat.stop();
});

test('never beside the one before', async () => {
  await using world = await beating([QUIET_ANSWER]);
  const [one, other] = await Promise.all([world.heartbeat.wake('main'), world.heartbeat.wake('main')]);
  assert.ok(one.begun);
  assert.deepEqual(other, { begun: false, reason: 'the one before has not ended' });
  await world.ended(one.runId);
});

test('outside of the active hours only whoever wakes it makes it look', async () => {
  await using world = await beating([QUIET_ANSWER], { hours: '02:00-03:00' });
  world.heartbeat.start();
  world.clock.advance(3 * HOUR);
  for (let n = 0; n < 20; n++) await new Promise((resolve) => setImmediate(resolve));
  await assert.rejects(world.store.read('sessions.get', { key }), { code: 'NOT_FOUND' });
  const woken = await world.heartbeat.wake('main');
  assert.ok(woken.begun);
  await world.ended(woken.runId);
});

test('active hours are those of the time zone, also over midnight', () => {
  const at = (time: string) => Date.parse(`2026-11-15T${time}:00Z`);
  assert.ok(isWithin('', 'UTC', at('03:00')));
  assert.ok(isWithin('08:00-22:00', 'UTC', at('08:00')) && !isWithin('08:00-22:00', 'UTC', at('22:00')));
  assert.ok(isWithin('08:00-22:00', 'Asia/Tokyo', at('00:00')) && !isWithin('08:00-22:00', 'Asia/Tokyo', at('14:00')));
  assert.ok(
    isWithin('22:00-06:00', 'UTC', at('23:30')) &&
      isWithin('22:00-06:00', 'UTC', at('05:59')) &&
      !isWithin('22:00-06:00', 'UTC', at('12:00')),
  );
});
