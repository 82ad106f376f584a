// Heartbeats: agents that look around by themselves, in a session of their own, and say nothing where there is nothing to say.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { JsonObject } from '@tenon/protocol';
import { createHeartbeat, heartbeatKey, isWithin } from '../../packages/gateway/src/agent/heartbeat.ts';
import { HEARTBEAT_FILE } from '../../packages/gateway/src/agent/heartbeat-files.ts';
import { QUIET_ANSWER } from '../../packages/gateway/src/store/run-origin.ts';
import { createManualClock } from '../support/clock.ts';
import { openTurns } from '../support/turns.ts';
import { verifies } from '../support/verifies.ts';

const HOUR = 3_600_000;
const key = heartbeatKey('main');

/** What is written without being waited for. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setImmediate(resolve));
}

async function beating(answers: readonly string[], settings: { everyMs?: number; hours?: string; tz?: string } = {}) {
  const clock = createManualClock(Date.parse('2026-11-15T12:00:00Z'));
  const world = await openTurns({ clock, steps: answers.map((text) => ({ text })) });
  const { store, deps, turns, home } = world;
  const agents = deps.agents as Parameters<typeof createHeartbeat>[0]['agents'];
  const open = () =>
    createHeartbeat({
      ...{ store, clock, log: deps.log, agents, turns, home },
      settings: {
        'heartbeat.everyMs': settings.everyMs ?? HOUR,
        'heartbeat.hours': settings.hours ?? '',
        'heartbeat.tz': settings.tz ?? 'UTC',
      },
    });
  let heartbeat = open();
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
  /** It is killed, and comes back after so long. */
  const comeBack = async (downMs = 0) => {
    heartbeat.stop();
    clock.advance(downMs);
    heartbeat = open();
    await heartbeat.resume();
  };
  const records = async () =>
    (await store.read('audit.list', { limit: 50 }))
      .filter(({ action }) => action.startsWith('heartbeat.'))
      .map(({ action, target, details }): JsonObject => ({ action, target, ...(details as JsonObject) }));
  return {
    ...world,
    clock,
    file,
    ended,
    path,
    comeBack,
    records,
    get heartbeat() {
      return heartbeat;
    },
    [Symbol.asyncDispose]: dispose,
  };
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

test('the quiet answer of a run that went on after a kill is taken back too, also where it died right after the end', async () => {
  await using world = await beating([QUIET_ANSWER, QUIET_ANSWER, 'The oven is on.']);
  const first = await world.heartbeat.wake('main');
  assert.ok(first.begun);
  await world.comeBack();
  await world.ended(first.runId);
  await world.heartbeat.resume();
  assert.deepEqual(await world.path(), [], 'it was under way when the gateway died');
  const second = await world.heartbeat.wake('main');
  assert.ok(second.begun);
  await world.turns.wait(second.runId, 60_000);
  await world.comeBack();
  assert.deepEqual(await world.path(), [], 'it had ended when the gateway died');
  const third = await world.heartbeat.wake('main');
  assert.ok(third.begun);
  await world.turns.wait(third.runId, 60_000);
  await world.comeBack();
  assert.equal((await world.path()).length, 2, 'what was said stays');
});

test('heartbeats that were due while the gateway was down are on record, and the rhythm goes on', async () => {
  verifies('R04');
  await using world = await beating([QUIET_ANSWER], { hours: '08:00-16:00' });
  const startedAt = world.clock.now();
  world.heartbeat.start();
  await world.comeBack(30 * 60_000);
  world.heartbeat.start();
  assert.deepEqual(await world.records(), [], 'none was due');
  await world.comeBack(5 * HOUR);
  world.heartbeat.start();
  await until(async () => (await world.records()).length > 0);
  assert.deepEqual(await world.records(), [
    {
      action: 'heartbeat.missed',
      target: 'main',
      ...{ count: 3, first: startedAt + HOUR, until: startedAt + 3 * HOUR, reason: 'The gateway was not running' },
    },
  ]);
  await world.comeBack(18 * HOUR);
  rmSync(world.file);
  world.heartbeat.start();
  await world.comeBack(HOUR);
  assert.equal((await world.records()).length, 1, 'an agent that has no file misses none');
});

test('a time zone that there is not is on record; after a very long absence the rhythm goes on at once', async () => {
  await using world = await beating([], { everyMs: 60_000, hours: '08:00-08:01', tz: 'Mars/Phobos' });
  const startedAt = world.clock.now();
  world.heartbeat.start();
  await until(async () => (await world.records()).length > 0);
  const [first, ...others] = await world.records();
  assert.deepEqual([first?.action, first?.target, others], ['heartbeat.refused', 'heartbeat.tz', []]);
  assert.match(String(first?.reason), /"Mars\/Phobos" is not a time zone/);
  // As if the clock had stood at 1970 before: 29 million of them.
  writeFileSync(join(world.home, 'heartbeat.json'), JSON.stringify({ nextAt: 0, everyMs: 60_000 }));
  await world.comeBack(1);
  world.heartbeat.start();
  await until(async () => (await world.records()).some(({ action }) => action === 'heartbeat.missed'));
  const kept = JSON.parse(readFileSync(join(world.home, 'heartbeat.json'), 'utf8')) as { nextAt: number };
  assert.equal(kept.nextAt, startedAt + 60_000);
});

test('a file that is a link, too long or no file is not read, and that is on record once', async () => {
  await using world = await beating([]);
  const outside = join(world.home, 'secret.txt');
  writeFileSync(outside, 'a secret');
  const unusable: readonly (readonly [() => void, RegExp])[] = [
    [() => symlinkSync(outside, world.file), /HEARTBEAT\.md is a link/],
    [() => writeFileSync(world.file, 'x'.repeat(32_769)), /has 32769 characters; at most 32768 are told/],
    [() => writeFileSync(world.file, 'x'.repeat(200_000)), /has 200000 bytes/],
    [() => mkdirSync(world.file), /is not a file/],
  ];
  for (const [index, [change, why]] of unusable.entries()) {
    rmSync(world.file, { recursive: true, force: true, maxRetries: 10 });
    change();
    for (let n = 0; n < 2; n++) {
      const beat = await world.heartbeat.wake('main');
      assert.match(beat.begun ? 'it began' : beat.reason, why);
    }
    await until(async () => (await world.records()).length > index);
    const [latest, ...others] = await world.records();
    assert.equal(latest?.action, 'heartbeat.refused');
    assert.match(String(latest?.reason), why);
    assert.equal(others.length, index, 'once');
  }
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
  // Clocks in Berlin go from 02:00 to 03:00 at 01:00 UTC in spring, and from 03:00 to 02:00 in autumn.
  const within = (hours: string, time: string) => isWithin(hours, 'Europe/Berlin', Date.parse(time));
  assert.ok(within('23:00-03:00', '2026-03-29T00:59:00Z') && !within('23:00-03:00', '2026-03-29T01:00:00Z'));
  assert.ok(!within('02:00-03:00', '2026-03-29T00:59:00Z') && !within('02:00-03:00', '2026-03-29T01:00:00Z'), 'an hour that is left out');
  assert.ok(within('02:00-03:00', '2026-10-25T00:30:00Z') && within('02:00-03:00', '2026-10-25T01:30:00Z'), 'an hour that comes twice');
  assert.ok(!within('02:00-03:00', '2026-10-25T02:00:00Z'));
});
