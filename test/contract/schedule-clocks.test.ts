// Clocks that change, jump and stand still: when a schedule is due is held against every minute of the calendar, and what waits
// for so long waits for so long.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Schedule } from '@tenon/protocol';
import { dueTimes, nextAfter } from '../../packages/gateway/src/agent/schedule-times.ts';
import { createPluginCaller } from '../../packages/gateway/src/host/call-plugin.ts';
import { createMetrics } from '../../packages/gateway/src/kernel/metrics.ts';
import { createManualClock } from '../support/clock.ts';
import { createRandom } from '../support/random.ts';
import { dueBetween } from '../support/schedule-oracle.ts';
import { DAY, HOUR, MINUTE } from '../support/stores-jobs.ts';
import { verifies } from '../support/verifies.ts';

/** Around changes: of an hour, half an hour, two hours and a day; at midnight; where clocks are set otherwise, or never. */
const CHANGES: readonly (readonly [zone: string, from: string])[] = [
  ['Europe/Berlin', '2026-03-28T12:00:00Z'],
  ['Europe/Berlin', '2026-10-24T12:00:00Z'],
  ['America/New_York', '2026-03-07T18:00:00Z'],
  ['America/New_York', '2026-10-31T18:00:00Z'],
  ['Australia/Lord_Howe', '2026-04-04T03:00:00Z'],
  ['Australia/Lord_Howe', '2026-10-03T03:00:00Z'],
  ['America/St_Johns', '2026-03-07T18:00:00Z'],
  ['America/St_Johns', '2026-10-31T18:00:00Z'],
  ['Antarctica/Troll', '2026-03-28T12:00:00Z'],
  ['Antarctica/Troll', '2026-10-24T12:00:00Z'],
  ['America/Sao_Paulo', '2018-11-03T18:00:00Z'],
  ['America/Sao_Paulo', '2018-02-17T18:00:00Z'],
  ['Africa/Cairo', '2026-04-23T12:00:00Z'],
  ['Pacific/Apia', '2011-12-29T12:00:00Z'],
  ['Asia/Kathmandu', '2026-10-24T12:00:00Z'],
  ['UTC', '2016-12-31T12:00:00Z'],
  ['UTC', '2038-01-18T12:00:00Z'],
  ['UTC', '1970-01-01T00:00:00Z'],
];
const MINUTES = ['0', '30', '*/15', '*/7', '15,45', '0-10/5'];
const HOURS = ['*', '2', '*/2', '1-3', '0', '0-23', '1,2,3', '*/4'];
const DAYS = ['* * *', '* * *', '* * 0', '* * 1-5', '30 * *', '24 * 1'];

function timesOf(schedule: Schedule, from: number, to: number): number[] {
  const found: number[] = [];
  for (let at = nextAfter(schedule, from); at !== undefined && at <= to; at = nextAfter(schedule, at)) found.push(at);
  return found;
}

test('through every change of the clocks, an expression is due when the calendar says so: none is left out, none comes twice', () => {
  verifies('R12', 'R04');
  const { pick, below } = createRandom(12);
  let times = 0;
  for (const [tz, start] of CHANGES) {
    for (let n = 0; n < 4; n++) {
      const schedule: Schedule = { kind: 'cron', cron: `${pick(MINUTES)} ${n === 0 ? '*' : pick(HOURS)} ${pick(DAYS)}`, tz };
      const from = Date.parse(start) + below(6 * HOUR);
      const expected = dueBetween(schedule, from, from + 1.5 * DAY);
      assert.deepEqual(timesOf(schedule, from, from + 1.5 * DAY), expected, `${schedule.cron} in ${tz} from ${start}`);
      times += expected.length;
    }
  }
  assert.ok(times > 1_000, `${times} times are many`);
});

test('in spring and in autumn: what is left out, what comes twice, in whole and half hours', () => {
  verifies('R12');
  const at = (cron: string, tz: string, from: string) =>
    timesOf({ kind: 'cron', cron, tz }, Date.parse(from), Date.parse(from) + DAY).map((time) => new Date(time).toISOString().slice(11, 16));
  assert.deepEqual(at('*/30 2 * * *', 'Europe/Berlin', '2026-03-28T23:00:00Z'), ['01:00', '01:30'], 'as much later');
  assert.deepEqual(at('*/30 2 * * *', 'Europe/Berlin', '2026-10-24T22:00:00Z'), ['00:00', '00:30'], 'the first time');
  assert.deepEqual(at('15 2 * * *', 'Australia/Lord_Howe', '2026-10-03T12:00:00Z'), ['15:45'], 'half an hour later');
  assert.deepEqual(at('45 1 * * *', 'Australia/Lord_Howe', '2026-04-04T12:00:00Z'), ['14:45'], 'the first of two, half an hour apart');
  assert.deepEqual(at('0 0 * * *', 'America/Sao_Paulo', '2018-11-03T12:00:00Z'), ['03:00'], 'midnight is left out');
});

test('after an absence over a change of the clocks, those that were due are counted as the calendar does', () => {
  verifies('R12', 'R04');
  for (const [tz, start] of CHANGES.slice(0, 6)) {
    const schedule: Schedule = { kind: 'cron', cron: '*/20 * * * *', tz };
    const [first, ...others] = dueBetween(schedule, Date.parse(start), Date.parse(start) + DAY);
    const found = dueTimes(schedule, first!, Date.parse(start) + DAY, 100);
    assert.deepEqual([found.count, found.before, found.last], [others.length + 1, others.at(-2), others.at(-1)], tz);
  }
});

test('a timeout keeps its length when the wall clock jumps', async () => {
  verifies('R12');
  for (const jump of [HOUR, -HOUR, DAY, 8 * HOUR]) {
    const clock = createManualClock();
    const caller = createPluginCaller({ clock, metrics: createMetrics(), reportFailure: () => {} });
    const never = new Promise<undefined>(() => {});
    let isOver = false;
    const where = { plugin: 'one', place: 'agent_end', timeoutMs: 5_000 } as const;
    const call = Promise.resolve(
      caller.call(
        where,
        () => never,
        undefined,
        (value: unknown) => ({ value }),
      ),
    );
    void call.then(() => {
      isOver = true;
    });
    clock.jump(jump);
    clock.advance(4_999);
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(isOver, false, `a jump of ${jump / MINUTE} minutes`);
    clock.advance(1);
    const answer = await call;
    assert.equal(!answer.ok && answer.kind, 'timed-out');
  }
});
