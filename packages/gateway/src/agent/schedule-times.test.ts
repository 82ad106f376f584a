import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LAST_TIME, type Schedule } from '@tenon/protocol';
import { planDue } from './due-plan.ts';
import { dueTimes, nextAfter, takeSchedule } from './schedule-times.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const at = (text: string) => Date.parse(text);
const now = at('2026-11-15T12:00:00Z');

function times(schedule: Schedule, from: string, count: number): string[] {
  const found: string[] = [];
  for (let last = at(from); found.length < count; ) {
    last = nextAfter(schedule, last) ?? assert.fail('no more');
    found.push(new Date(last).toISOString().slice(0, 16));
  }
  return found;
}

test('in spring, a time that the clocks leave out is due right after it, once', () => {
  const berlin = (cron: string): Schedule => ({ kind: 'cron', cron, tz: 'Europe/Berlin' });
  assert.deepEqual(times(berlin('30 2 * * *'), '2026-03-28T00:00:00Z', 3), ['2026-03-28T01:30', '2026-03-29T01:30', '2026-03-30T00:30']);
  assert.deepEqual(times(berlin('*/30 * * * *'), '2026-03-29T00:00:00Z', 3), ['2026-03-29T00:30', '2026-03-29T01:00', '2026-03-29T01:30']);
});

test('in autumn, a time that comes twice is due the first time, and what is due in every hour is due in both', () => {
  const berlin = (cron: string): Schedule => ({ kind: 'cron', cron, tz: 'Europe/Berlin' });
  assert.deepEqual(times(berlin('30 2 * * *'), '2026-10-24T01:00:00Z', 2), ['2026-10-25T00:30', '2026-10-26T01:30']);
  assert.deepEqual(times(berlin('30 * * * *'), '2026-10-24T23:45:00Z', 4), [
    '2026-10-25T00:30',
    '2026-10-25T01:30',
    '2026-10-25T02:30',
    '2026-10-25T03:30',
  ]);
  assert.deepEqual(times({ kind: 'cron', cron: '0 * * * *', tz: 'Australia/Lord_Howe' }, '2026-04-04T13:45:00Z', 3), [
    '2026-04-04T14:00',
    '2026-04-04T15:30',
    '2026-04-04T16:30',
  ]);
});

test('years that are a problem for others are none', () => {
  const utc = (cron: string): Schedule => ({ kind: 'cron', cron, tz: 'UTC' });
  assert.deepEqual(times(utc('14 3 * * *'), '2038-01-19T03:13:30Z', 2), ['2038-01-19T03:14', '2038-01-20T03:14']);
  assert.deepEqual(times(utc('* * * * *'), '1970-01-01T00:00:00Z', 1), ['1970-01-01T00:01']);
  assert.deepEqual(times(utc('0 0 29 2 *'), '2026-11-15T00:00:00Z', 2), ['2028-02-29T00:00', '2032-02-29T00:00']);
  assert.deepEqual(times(utc('59 23 31 12 *'), '2016-12-31T23:58:00Z', 2), ['2016-12-31T23:59', '2017-12-31T23:59']);
});

test('what is due every so often keeps to its anchor, whenever it is looked at', () => {
  const every: Schedule = { kind: 'every', everyMs: HOUR, anchorAt: now };
  assert.equal(nextAfter(every, now - 1), now);
  assert.equal(nextAfter(every, now), now + HOUR);
  assert.equal(nextAfter(every, now + 25 * HOUR + 1), now + 26 * HOUR);
  assert.equal(nextAfter(every, now - 3 * HOUR - 1), now - 3 * HOUR);
});

test('a time that cannot be is a value that says why', () => {
  const wrong = [
    [{ kind: 'at', at: now - 2 * MINUTE }, /^at has passed: 2026-11-15T11:58:00.000Z$/],
    [{ kind: 'at', at: LAST_TIME + 1 }, /^at leads beyond the year 9999$/],
    [{ kind: 'at', at: Number.NaN }, /^at leads beyond/],
    [{ kind: 'in', delayMs: Number.MAX_VALUE }, /^delayMs leads beyond/],
    [{ kind: 'in', delayMs: Number.POSITIVE_INFINITY }, /^delayMs leads beyond/],
    [{ kind: 'cron', cron: '61 * * * *' }, /^cron "61 \* \* \* \*" cannot be read: Invalid value for minute: 61$/],
    [{ kind: 'cron', cron: 'every day at noon ok' }, /^cron "every day at noon ok" cannot be read/],
    [{ kind: 'cron', cron: '* * * * * *' }, /^cron needs five fields/],
    [{ kind: 'cron', cron: '@daily' }, /^cron needs five fields/],
    [{ kind: 'cron', cron: '0 0 30 2 *' }, /^cron: no such time ever comes$/],
    [{ kind: 'cron', cron: '* * * * *', tz: 'Mars/Olympus' }, /^tz "Mars\/Olympus" is not a time zone/],
  ] as const;
  for (const [wish, expected] of wrong) {
    const taken = takeSchedule(wish, now);
    assert.match('wrong' in taken ? taken.wrong : 'it was taken', expected);
  }
  assert.deepEqual(takeSchedule({ kind: 'in', delayMs: 0 }, now), { schedule: { kind: 'at', at: now + 1 }, nextAt: now + 1 });
  assert.deepEqual(takeSchedule({ kind: 'cron', cron: ' 0  8 * * 1 ' }, now, 'Asia/Tokyo'), {
    schedule: { kind: 'cron', cron: '0 8 * * 1', tz: 'Asia/Tokyo' },
    nextAt: at('2026-11-15T23:00:00Z'),
  });
});

test('of many times that were due, the last is run or not, as the rule says, and the others are missed, counted', () => {
  const schedule: Schedule = { kind: 'every', everyMs: MINUTE, anchorAt: now };
  const job = { schedule, nextAt: now };
  const late = now + 10 * MINUTE + 30_000;
  const up = now + 10 * MINUTE;
  const nextAt = now + 11 * MINUTE;
  const missed = { dueAt: now, until: now + 9 * MINUTE, count: 10 };
  const run = planDue({ ...job, onMiss: 'run' }, late, up);
  assert.deepEqual([run.due, run.nextAt, run.missed?.count, run.missed?.until], [{ dueAt: now + 10 * MINUTE }, nextAt, 10, missed.until]);
  assert.match(run.missed!.reason, /^The gateway was not running; the time of 2026-11-15T12:10:00.000Z makes up for it$/);
  const once: Schedule = { kind: 'at', at: now };
  const plan = (onMiss: Parameters<typeof planDue>[0]['onMiss'], lateMs: number) =>
    planDue({ schedule: once, nextAt: now, onMiss }, now + lateMs, now - HOUR);
  for (const onMiss of ['run', 'skip', { within: HOUR }] as const)
    assert.deepEqual(plan(onMiss, MINUTE), { due: { dueAt: now }, nextAt: null });
  assert.ok(plan('run', 48 * HOUR).due);
  assert.ok(plan({ within: HOUR }, HOUR).due);
  assert.match(plan({ within: HOUR }, HOUR + 1).missed!.reason, /clock moved, or the machine slept, and it was later than the 3600 s/);
  assert.match(plan('skip', MINUTE + 1).missed!.reason, /does not make up for what it misses/);
});

test('a long absence of a cron expression is worked off in steps, none of which runs before the last', () => {
  const schedule: Schedule = { kind: 'cron', cron: '* * * * *', tz: 'UTC' };
  const first = dueTimes(schedule, now, now + 250 * MINUTE, 100);
  assert.deepEqual([first.count, first.last, first.next], [100, now + 99 * MINUTE, now + 100 * MINUTE]);
  let [nextAt, steps, counted] = [now as number | null, 0, 0];
  for (; nextAt !== null && nextAt <= now + 250 * MINUTE; steps++) {
    const plan = planDue({ schedule, nextAt, onMiss: 'run' }, now + 250 * MINUTE, now);
    counted += (plan.missed?.count ?? 0) + (plan.due ? 1 : 0);
    assert.equal(plan.due !== undefined, steps === 2);
    nextAt = plan.nextAt;
  }
  assert.deepEqual([steps, counted], [3, 251]);
});
