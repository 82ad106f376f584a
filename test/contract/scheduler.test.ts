// The scheduler over both engines, with a clock that is moved by hand: what is due begins once, also if the clock jumps or the
// gateway was down, and what was missed is on record with why.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Schedule } from '@tenon/protocol';
import { nextAfter } from '../../packages/gateway/src/agent/schedule-times.ts';
import { checkLedger, openScheduleWorld, type ScheduleWorld } from '../support/schedule-world.ts';
import { DAY, HOUR, idOf, job, ledger, MINUTE, once } from '../support/stores-jobs.ts';
import { engines } from '../support/stores.ts';
import { key } from '../support/stores-turns.ts';
import { verifies } from '../support/verifies.ts';

type Fields = Parameters<typeof job>[1];

async function add(world: ScheduleWorld, name: string, schedule: Schedule, fields: Fields = {}): Promise<number> {
  const at = world.clock.now();
  const nextAt = nextAfter(schedule, at) ?? assert.fail('it is never due');
  await world.store.write('jobs.add', job(name, { schedule, ...fields }, { nextAt, at }));
  await world.settled();
  return nextAt;
}

const get = async (world: ScheduleWorld, name: string) => (await world.store.read('jobs.get', { id: idOf(name) })).job;
const found = async (world: ScheduleWorld, name: string) =>
  (await ledger(world.store, name)).map(({ state, count }) => (count === undefined ? state : `${count} ${state}`));

for (const engine of engines) {
  test(`${engine}: a job begins when it is due, not before, and again when it is due again`, async () => {
    verifies('R04', 'R12');
    await using world = await openScheduleWorld(engine);
    await world.start();
    await add(world, 'a', { kind: 'every', everyMs: 10 * MINUTE, anchorAt: world.clock.now() });
    await world.advance(10 * MINUTE - 1, MINUTE);
    assert.deepEqual(world.accepted, []);
    await world.advance(1);
    assert.deepEqual(world.accepted, [key]);
    assert.equal((await ledger(world.store, 'a'))[0]!.startedAt, world.clock.now(), 'without a delay');
    assert.equal(await world.endAll(), 1);
    await world.advance(30 * MINUTE, 10 * MINUTE);
    assert.deepEqual(await found(world, 'a'), ['done', 'running', 'skipped', 'skipped']);
  });

  test(`${engine}: it looks at the clock once a minute at least, and a job that is added meanwhile is not waited for too long`, async () => {
    verifies('R12');
    await using world = await openScheduleWorld(engine);
    const waits: number[] = [];
    const { after } = world.clock;
    Object.assign(world.clock, {
      after(delayMs: number, call: () => void) {
        waits.push(delayMs);
        return after(delayMs, call);
      },
    });
    await world.start();
    await world.advance(2 * MINUTE, MINUTE);
    assert.deepEqual(waits, [MINUTE, MINUTE, MINUTE], 'with nothing to wait for');
    await add(world, 'far', { kind: 'at', at: world.clock.now() + DAY });
    await add(world, 'near', { kind: 'at', at: world.clock.now() + 1_500 });
    await world.advance(1_499);
    assert.deepEqual(await found(world, 'near'), []);
    await world.advance(1);
    assert.deepEqual(await found(world, 'near'), ['running']);
    await world.advance(MINUTE);
    assert.ok(waits.length > 5 && waits.every((ms) => ms <= MINUTE), 'with something that is due in a day');
  });

  test(`${engine}: what was due while the gateway was down is run, skipped or missed, as its rule says, and says why`, async () => {
    verifies('R04');
    await using world = await openScheduleWorld(engine);
    await world.start();
    const hourly: Schedule = { kind: 'every', everyMs: HOUR, anchorAt: world.clock.now() };
    const rules = { run: 'run', skip: 'skip', near: { within: 2 * HOUR }, far: { within: 30 * MINUTE } } as const;
    for (const [name, onMiss] of Object.entries(rules)) await add(world, name, hourly, { onMiss, overlap: 'allow' });
    world.kill();
    await world.advance(5 * HOUR + 45 * MINUTE);
    await world.start();
    assert.deepEqual(await found(world, 'run'), ['4 missed', 'running']);
    assert.deepEqual(await found(world, 'near'), ['4 missed', 'running']);
    assert.deepEqual(await found(world, 'skip'), ['5 missed']);
    assert.deepEqual(await found(world, 'far'), ['5 missed']);
    assert.match((await ledger(world.store, 'skip'))[0]!.reason!, /^The gateway was not running, and the job does not make up/);
    await world.advance(15 * MINUTE);
    assert.deepEqual(await found(world, 'skip'), ['5 missed', 'running'], 'it goes on at its next time');
  });

  test(`${engine}: jumps of the clock make nothing begin early, twice or never`, async () => {
    verifies('R12');
    await using world = await openScheduleWorld(engine);
    await world.start();
    const schedule: Schedule = { kind: 'cron', cron: '*/15 * * * *', tz: 'Europe/Berlin' };
    const firstAt = await add(world, 'a', schedule, { overlap: 'allow' });
    const jumps = [HOUR, -HOUR, DAY, -2 * MINUTE, 8 * HOUR, -1_000, 1_000];
    for (const jump of jumps) {
      world.clock.jump(jump);
      const before = (await get(world, 'a')).nextAt!;
      // It is noticed within a minute, though nobody told it.
      await world.advance(MINUTE);
      const now = world.clock.now();
      if (before <= now) assert.ok((await get(world, 'a')).nextAt! > now, `after a jump of ${jump}`);
      else assert.equal((await get(world, 'a')).nextAt, before, 'nothing is early');
      await checkLedger(world.store, await get(world, 'a'), firstAt);
    }
    await world.advance(3 * HOUR, MINUTE);
    const { byState } = await checkLedger(world.store, await get(world, 'a'), firstAt);
    assert.ok((byState.running ?? 0) > 3, 'it goes on');
  });

  test(`${engine}: through the years that are a problem for others, and both changes of the clocks, every time is there once`, async () => {
    verifies('R12');
    await using world = await openScheduleWorld(engine, Date.parse('2026-03-28T22:00:00Z'));
    await world.start();
    for (const start of [
      '2026-03-28T22:00:00Z',
      '2038-01-19T00:00:00Z',
      '1970-01-01T00:00:00Z',
      '2026-10-24T22:00:00Z',
      '2016-12-31T22:00:00Z',
    ]) {
      world.clock.jump(Date.parse(start) - world.clock.now());
      const firsts = new Map<string, number>();
      for (const [name, cron] of [
        ['half', '*/30 * * * *'],
        ['hour', '0 * * * *'],
        ['night', '30 2 * * *'],
      ] as const) {
        const id = `${name}-${start.slice(0, 7)}`;
        firsts.set(id, await add(world, id, { kind: 'cron', cron, tz: 'Europe/Berlin' }, { overlap: 'allow', onMiss: 'skip' }));
      }
      await world.advance(6 * HOUR, 30 * MINUTE);
      for (const [id, firstAt] of firsts) {
        const { times, byState } = await checkLedger(world.store, await get(world, id), firstAt);
        assert.deepEqual(byState, { running: times }, `${id} was never late`);
        assert.equal(times, { half: 12, hour: 6, night: 1 }[id.split('-')[0]!], id);
        await world.store.write('jobs.remove', { id: idOf(id), at: world.clock.now() });
      }
      await world.endAll();
    }
  });

  test(`${engine}: many jobs that are due together all begin, a bounded number at a time`, async () => {
    await using world = await openScheduleWorld(engine);
    const at = world.clock.now() + MINUTE;
    const names = Array.from({ length: 120 }, (_, n) => `n${n}`);
    await Promise.all(
      names.map((name) =>
        world.store.write(
          'jobs.add',
          once(name, { schedule: { kind: 'at', at }, session: { agentId: 'main', fresh: true } }, { nextAt: at, at: world.clock.now() }),
        ),
      ),
    );
    await world.start();
    await world.advance(MINUTE);
    assert.equal(world.accepted.length, names.length);
    assert.equal(new Set(world.accepted).size, names.length, 'each in a session of its own');
    assert.equal(await world.endAll(), names.length);
    assert.deepEqual((await world.store.read('jobs.list', { limit: 5 })).jobs, [], 'all are finished');
    assert.equal(world.clock.pending, 1, 'nothing of them is waited for');
  });

  test(`${engine}: what waits behind another, and what is tried again, begins when its time has come`, async () => {
    verifies('R04');
    await using world = await openScheduleWorld(engine);
    await world.start();
    const schedule: Schedule = { kind: 'every', everyMs: HOUR, anchorAt: world.clock.now() };
    await add(world, 'queue', schedule, { overlap: 'queue' });
    await add(world, 'again', { kind: 'at', at: world.clock.now() + HOUR }, { retry: { attempts: 2, backoffMs: 10 * MINUTE } });
    await world.advance(2 * HOUR, HOUR);
    assert.deepEqual([await found(world, 'queue'), await found(world, 'again')], [['running', 'waiting'], ['running']]);
    await world.endAll({ kind: 'failed', reason: 'no model' });
    assert.deepEqual(await found(world, 'again'), ['waiting']);
    await world.advance(10 * MINUTE, MINUTE);
    assert.deepEqual(await found(world, 'again'), ['running']);
    await world.endAll();
    assert.deepEqual([await found(world, 'queue'), await found(world, 'again')], [['failed', 'done'], ['done']]);
  });

  test(`${engine}: a scheduler that was stopped begins nothing`, async () => {
    await using world = await openScheduleWorld(engine);
    await world.start();
    await add(world, 'a', { kind: 'at', at: world.clock.now() + MINUTE });
    world.kill();
    await world.advance(HOUR, MINUTE);
    assert.deepEqual(world.accepted, []);
  });
}

for (const engine of engines) {
  test(`${engine}: jobs whose time nobody can tell any more are paused, say why, and hold nobody up`, async () => {
    verifies('R12');
    await using world = await openScheduleWorld(engine);
    await world.start();
    const nextAt = world.clock.now() + MINUTE;
    const broken: [string, unknown][] = [
      ['zone', { kind: 'cron', cron: '* * * * *', tz: 'Mars/Base' }],
      ['expression', { kind: 'cron', cron: 'never', tz: 'UTC' }],
      ['shape', { kind: 'every', everyMs: 0 }],
      ['nothing', null],
    ];
    // More than one look takes.
    for (let n = 0; n < 60; n++) broken.push([`many-${n}`, 'gone']);
    for (const [name, schedule] of broken)
      await world.store.write('jobs.add', job(name, { schedule: schedule as Schedule }, { nextAt, at: world.clock.now() }));
    await world.store.write('jobs.add', job('sound', {}, { nextAt: nextAt + 1, at: world.clock.now() }));
    await world.settled();
    const { jobs: listed } = await world.store.read('jobs.list', { limit: 100 });
    assert.equal(listed.length, broken.length + 1, 'they can be listed before anybody has noticed');
    await world.advance(MINUTE + 1);
    assert.deepEqual(await found(world, 'sound'), ['running'], 'at its time');
    for (const [name] of broken) {
      const { state, note = '', nextAt: next } = await get(world, name);
      assert.deepEqual([state, next], ['paused', undefined], name);
      assert.match(note, name === 'zone' ? /worked out any more \(.*Mars\/Base/ : /cannot be (worked out|read)/, name);
      assert.deepEqual(await found(world, name), ['skipped'], name);
    }
    const records = await world.store.read('audit.list', { limit: 200 });
    const paused = records.filter(({ action, actor }) => action === 'cron.pause' && actor === 'gateway');
    assert.deepEqual(new Set(paused.map(({ target }) => target)), new Set(broken.map(([name]) => idOf(name))));
    const at = world.clock.now();
    await assert.rejects(world.store.write('jobs.resume', { id: idOf('nothing'), nextAt: at + 1, at }), /cannot be resumed/);
    const schedule: Schedule = { kind: 'at', at: at + MINUTE };
    await world.store.write('jobs.update', { id: idOf('nothing'), fields: { schedule }, nextAt: at + MINUTE, at });
    const { job: mended } = await world.store.write('jobs.resume', { id: idOf('nothing'), nextAt: at + MINUTE, at });
    assert.deepEqual([mended.state, mended.note, mended.schedule], ['active', undefined, schedule]);
  });
}
