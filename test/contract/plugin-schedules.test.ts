// Turns at a later time, as plugins ask for them: titles of the scheduled-turns contract, in the words of this host.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { definePluginEntry, type RuntimeApi, type ScheduledTurn } from '@tenon/plugin-sdk';
import { createTestHost } from '@tenon/plugin-sdk/testing';
import { GatewayError, limits } from '@tenon/protocol';
import { createManualClock } from '../support/clock.ts';
import { type HostWorld, openHostWorld, SESSION, writePlugin } from '../support/plugins.ts';
import { idOf, job } from '../support/stores-jobs.ts';
import { verifies } from '../support/verifies.ts';

const by = 'token:test';
const GRANTS = ['schedule.turns'];
const MINUTE = 60_000;
const turn = { sessionKey: SESSION, message: 'wake up' };

async function scheduling(grants: readonly string[] = GRANTS, register = 'note(api);') {
  const clock = createManualClock();
  const world = await openHostWorld(clock);
  writePlugin(world.place, { id: 'one', grants: GRANTS, register });
  writePlugin(world.place, { id: 'two', grants: GRANTS, register });
  const host = await world.open();
  await host.enable('one', { by, grants });
  const workflow = () => lastApi(world).session.workflow;
  const jobs = async () => (await world.store.read('jobs.list', { limit: 200 })).jobs;
  return { world, host, clock, workflow, jobs, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() };
}

/** What the last load noted. */
function lastApi({ notes }: HostWorld): RuntimeApi {
  return notes.findLast((note) => typeof note === 'object' && note !== null && 'session' in note) as RuntimeApi;
}

/** A plugin in a test host whose api the test holds. */
function plannerOf(id = 'planner') {
  let api: RuntimeApi | undefined;
  const plugin = definePluginEntry({
    id,
    name: 'Planner',
    register(given) {
      api = given;
    },
  });
  return {
    plugin,
    get workflow() {
      return api!.session.workflow;
    },
  };
}

test('job names, tagged metadata, top-level job id: a turn that is scheduled is a job of the plugin in that session', async () => {
  verifies('seed1:scheduled-turns', 'seams:A20');
  await using plans = await scheduling();
  const { workflow, jobs, clock } = plans;
  const outcome = await workflow().scheduleSessionTurn({ ...turn, delayMs: 10 * MINUTE, tag: 'daily', name: 'Wake', deliveryMode: 'none' });
  assert.ok(outcome.ok);
  assert.deepEqual([outcome.sessionKey, outcome.nextAt], [SESSION, clock.now() + 10 * MINUTE]);
  const [only, ...others] = await jobs();
  assert.deepEqual(
    [only?.id, only?.name, only?.owner, only?.tag, only?.session, only?.message, only?.delivery, only?.nextAt, others],
    [outcome.id, 'Wake', 'plugin:one', 'daily', { key: SESSION }, 'wake up', 'none', outcome.nextAt, []],
  );
});

test('invalid schedules rejected before cron: each is a value that says why, and nothing is kept', async () => {
  verifies('seams:A2', 'seams:A19', 'S62:time');
  await using plans = await scheduling();
  const { workflow, jobs } = plans;
  const hostile = {
    get at(): string {
      throw new Error('no');
    },
  };
  const bad: readonly (readonly [object, RegExp])[] = [
    [{}, /exactly one of them says when/],
    [{ at: 'not-a-date' }, /at is not a date and time/],
    [{ at: new Date(Number.NaN) }, /at is not a date/],
    [{ at: Number.NaN }, /./],
    [{ at: '+275761-01-01T00:00:00Z' }, /at is not a date/],
    [{ at: 8_640_000_000_000_001 }, /at is not a date/],
    [{ at: -1 }, /at is not a date/],
    [{ at: '1999-01-01T00:00:00Z' }, /at has passed/],
    [{ at: '2030-01-01T00:00:00Z', delayMs: 1 }, /exactly one/],
    ...[Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.MAX_VALUE, Number.MAX_SAFE_INTEGER, -1].map(
      (delayMs) => [{ delayMs }, /delayMs|plain data/] as const,
    ),
    [{ delayMs: '5' }, /delayMs/],
    [{ cron: '* *' }, /cron/],
    [{ cron: '99 * * * *' }, /cannot be read/],
    [{ cron: '0 0 31 2 *' }, /no such time ever comes/],
    [{ cron: '* * * * *', tz: 'Nowhere/Atall' }, /is not a time zone/],
    [{ cron: '* * * * *', deleteAfterRun: true }, /runs once/],
    [{ delayMs: 1, tz: 'Europe/Berlin' }, /tz goes with cron/],
    [{ delayMs: 1, tag: 'a:b' }, /tag/],
    [{ delayMs: 1, tag: ' ' }, /tag/],
    [{ delayMs: 1, deliveryMode: 'loud' }, /deliveryMode/],
    [{ delayMs: 1, message: ' ' }, /message/],
    [{ delayMs: 1, message: 'x'.repeat(limits.jobMessageChars.value + 1) }, /message/],
    [{ delayMs: 1, sessionKey: 'nowhere' }, /sessionKey/],
    [{ delayMs: 1, unknown: true }, /unknown/],
    [hostile, /./],
  ];
  for (const [wish, why] of bad) {
    const given = wish === hostile ? hostile : { ...turn, ...wish };
    const outcome = await workflow().scheduleSessionTurn(given as ScheduledTurn);
    assert.equal(outcome.ok, false, String(why));
    if (outcome.ok) continue;
    assert.equal(outcome.reason, 'invalid', outcome.message);
    assert.match(outcome.message, why);
  }
  for (const none of [undefined, null, 5, 'x', [], () => 1]) {
    const outcome = await workflow().scheduleSessionTurn(none as never);
    assert.equal(!outcome.ok && outcome.reason, 'invalid');
    const removed = await workflow().unscheduleSessionTurnsByTag(none as never);
    assert.equal(!removed.ok && removed.reason, 'invalid');
  }
  const nowhere = await workflow().scheduleSessionTurn({ ...turn, sessionKey: 'agent:main:nowhere', delayMs: 1 });
  assert.equal(!nowhere.ok && nowhere.reason, 'no-session');
  assert.deepEqual(await jobs(), []);
});

test('times as text, as a number and as a Date are the same time', async () => {
  await using plans = await scheduling();
  const at = '2030-01-31T08:00:00Z';
  for (const time of [at, Date.parse(at), new Date(at), '2030-01-31T09:00:00+01:00']) {
    const outcome = await plans.workflow().scheduleSessionTurn({ ...turn, at: time });
    assert.equal(outcome.ok && outcome.nextAt, Date.parse(at));
  }
});

test('refused without the grant, with that reason, and when it was revoked its jobs are gone', async () => {
  verifies('seams:A20');
  await using plans = await scheduling([]);
  const { workflow, host, jobs } = plans;
  for (const outcome of [
    await workflow().scheduleSessionTurn({ ...turn, delayMs: 1 }),
    await workflow().unscheduleSessionTurnsByTag({ sessionKey: SESSION, tag: 'x' }),
  ]) {
    assert.ok(!outcome.ok);
    assert.equal(outcome.reason, 'not-granted');
    assert.match(outcome.message, /needs the grant schedule\.turns; .*tenon plugin grant one schedule\.turns$/);
  }
  await host.grant('one', GRANTS, { by });
  assert.ok((await workflow().scheduleSessionTurn({ ...turn, delayMs: 1 })).ok);
  assert.equal((await jobs()).length, 1);
  await host.revoke('one', GRANTS, { by });
  assert.deepEqual(await jobs(), []);
});

test('only matching plugin+tag+session removed', async () => {
  await using plans = await scheduling();
  const { world, host, workflow, jobs } = plans;
  await world.store.write('sessions.create', { key: 'agent:main:other', fields: {}, at: 1 });
  for (const [tag, sessionKey] of [
    ['a', SESSION],
    ['a', SESSION],
    ['b', SESSION],
    ['a', 'agent:main:other'],
  ] as const) {
    assert.ok((await workflow().scheduleSessionTurn({ ...turn, sessionKey, delayMs: MINUTE, tag, name: `${tag} ${sessionKey}` })).ok);
  }
  await world.store.write('jobs.add', job('operators', { session: { key: SESSION }, tag: 'a', name: 'operators' }));
  await host.enable('two', { by });
  assert.ok((await workflow().scheduleSessionTurn({ ...turn, delayMs: MINUTE, tag: 'a', name: 'of two' })).ok);
  assert.deepEqual(await workflow().unscheduleSessionTurnsByTag({ sessionKey: SESSION, tag: 'a' }), { ok: true, removed: 1 });
  assert.deepEqual(await workflow().unscheduleSessionTurnsByTag({ sessionKey: SESSION, tag: 'a' }), { ok: true, removed: 0 });
  assert.deepEqual((await jobs()).map(({ name }) => name).toSorted(), [
    'a agent:main:one',
    'a agent:main:one',
    'a agent:main:other',
    'b agent:main:one',
    'operators',
  ]);
  assert.ok((await jobs()).some(({ id }) => id === idOf('operators')));
});

test('paging on unschedule: also many of them are removed, and their number is said', async () => {
  await using plans = await scheduling();
  await Promise.all(Array.from({ length: 250 }, () => plans.workflow().scheduleSessionTurn({ ...turn, delayMs: MINUTE, tag: 'many' })));
  assert.deepEqual(await plans.workflow().unscheduleSessionTurnsByTag({ sessionKey: SESSION, tag: 'many' }), { ok: true, removed: 250 });
});

test('a plugin that schedules without end meets a quota', async () => {
  verifies('S62:time');
  await using plans = await scheduling();
  const outcomes = await Promise.all(
    Array.from({ length: limits.jobsPerPlugin.value + 5 }, () => plans.workflow().scheduleSessionTurn({ ...turn, delayMs: MINUTE })),
  );
  const refused = outcomes.filter((outcome) => !outcome.ok);
  assert.deepEqual(
    refused.map(({ reason }) => reason),
    Array.from({ length: 5 }, () => 'limit'),
  );
  assert.match(refused[0]!.message, /1000 that are not finished; remove some first/);
});

test('rollback when plugin unloads mid-add, and non-throwing if rollback fails', async () => {
  for (const fails of [false, true]) {
    const clock = createManualClock();
    await using world = await openHostWorld(clock);
    writePlugin(world.place, { id: 'one', grants: GRANTS, register: 'note(api);' });
    const gate = Promise.withResolvers<void>();
    const removed: string[] = [];
    const host = await world.open({
      schedules: {
        async add() {
          await gate.promise;
          return { ok: true, id: 'job-1', nextAt: 1 };
        },
        async remove(id) {
          removed.push(id);
          if (fails) throw new Error('no');
        },
        removeTagged: () => Promise.resolve(0),
      },
    });
    await host.enable('one', { by });
    const pending = lastApi(world).session.workflow.scheduleSessionTurn({ ...turn, delayMs: 1 });
    await host.disable('one', { by });
    gate.resolve();
    const outcome = await pending;
    assert.equal(!outcome.ok && outcome.reason, 'not-loaded');
    assert.deepEqual(removed, ['job-1']);
  }
});

test('failures counted: jobs that cannot be removed are a refusal with its reason, and never a throw', async () => {
  await using world = await openHostWorld(createManualClock());
  writePlugin(world.place, { id: 'one', grants: GRANTS, register: 'note(api);' });
  const fails = () => Promise.reject(new GatewayError('UNAVAILABLE', 'The store is full'));
  const host = await world.open({ schedules: { add: fails, remove: fails, removeTagged: fails } });
  await host.enable('one', { by });
  const { workflow } = lastApi(world).session;
  for (const outcome of [
    await workflow.unscheduleSessionTurnsByTag({ sessionKey: SESSION, tag: 'x' }),
    await workflow.scheduleSessionTurn({ ...turn, delayMs: 1 }),
  ]) {
    assert.ok(!outcome.ok);
    assert.match(outcome.message, /The store is full/);
  }
});

test('stale-registry protection: an old load schedules nothing, and what it had planned is kept over a reload', async () => {
  await using plans = await scheduling();
  const { world, host, workflow, jobs } = plans;
  const old = workflow();
  assert.ok((await old.scheduleSessionTurn({ ...turn, delayMs: MINUTE, tag: 'x' })).ok);
  await host.reload('one', { by });
  assert.equal((await jobs()).length, 1, 'the next generation goes on with it');
  const stale = await old.scheduleSessionTurn({ ...turn, delayMs: MINUTE });
  assert.equal(!stale.ok && stale.reason, 'not-loaded');
  assert.deepEqual(await workflow().unscheduleSessionTurnsByTag({ sessionKey: SESSION, tag: 'x' }), { ok: true, removed: 1 });
  assert.ok((await workflow().scheduleSessionTurn({ ...turn, delayMs: MINUTE })).ok);
  await world.store.write('sessions.reset', { key: SESSION, at: 1 });
  assert.deepEqual(await jobs(), [], 'a reset takes them');
  assert.ok((await workflow().scheduleSessionTurn({ ...turn, delayMs: MINUTE })).ok);
  await host.disable('one', { by });
  assert.deepEqual(await jobs(), [], 'so does switching the plugin off');
});

test('scheduling during register is as good as later', async () => {
  await using plans = await scheduling(
    GRANTS,
    `note(api.session.workflow.scheduleSessionTurn({ sessionKey: '${SESSION}', message: 'x', delayMs: 60000 }));`,
  );
  const outcome = (await plans.world.notes.at(-1)) as { ok: boolean };
  assert.equal(outcome.ok, true);
  assert.equal((await plans.jobs()).length, 1);
});

test('the agent is told at the time, also after a restart, and a finished turn leaves nothing behind', async () => {
  verifies('seed1:scheduled-turns', 'seams:A5', 'R04');
  const planner = plannerOf();
  await using host = await createTestHost(planner.plugin, { grants: GRANTS });
  const sessionKey = 'agent:main:test';
  const once = await planner.workflow.scheduleSessionTurn({ sessionKey, message: 'Look at the oven', delayMs: 10 * MINUTE });
  assert.ok(once.ok);
  await host.advance(10 * MINUTE - 1);
  assert.equal(host.requests.length, 0);
  await host.restart();
  await host.advance(1);
  assert.equal(host.requests.length, 1, 'the model was asked once');
  assert.match(JSON.stringify(host.requests[0]), /Look at the oven/);
  const { jobs } = await host.call<{ jobs: unknown[] }>('cron.list', {});
  assert.deepEqual(jobs, []);
  const { occurrences } = await host.call<{ occurrences: { state: string }[] }>('cron.history', { id: once.id });
  assert.deepEqual(
    occurrences.map(({ state }) => state),
    ['done'],
  );
  await host.advance(60 * MINUTE);
  assert.equal(host.requests.length, 1);
});

test('a cron expression of a plugin goes on until it is taken back', async () => {
  const planner = plannerOf();
  await using host = await createTestHost(planner.plugin, { grants: GRANTS });
  const sessionKey = 'agent:main:test';
  assert.ok((await planner.workflow.scheduleSessionTurn({ sessionKey, message: 'Tick', cron: '*/10 * * * *', tz: 'UTC', tag: 'tick' })).ok);
  for (let n = 0; n < 3; n++) await host.advance(10 * MINUTE);
  assert.equal(host.requests.length, 3);
  assert.deepEqual(await planner.workflow.unscheduleSessionTurnsByTag({ sessionKey, tag: 'tick' }), { ok: true, removed: 1 });
  await host.advance(60 * MINUTE);
  assert.equal(host.requests.length, 3);
});
