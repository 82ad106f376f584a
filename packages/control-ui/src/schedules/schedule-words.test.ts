import assert from 'node:assert/strict';
import { test } from 'node:test';
import { emptyFields, fieldsOf, localTime, readFields, readSchedule } from './schedule-fields.ts';
import { causeWords, cronWords, fromNow, inOrder, lengthWords, missWords, ownerWords, stripWords, whenWords } from './schedule-words.ts';
import type { Job } from './schedule-types.ts';

const job = (more: Partial<Job> = {}): Job => ({
  id: 'j1',
  name: 'Backups',
  session: { key: 'agent:main:a' },
  schedule: { kind: 'cron', cron: '0 2 * * *', tz: 'Europe/Berlin' },
  message: 'Check',
  state: 'active',
  onMiss: 'run',
  overlap: 'skip',
  delivery: 'announce',
  owner: 'token:1',
  createdAt: 1,
  updatedAt: 1,
  ...more,
});

test('plain schedules are said in words, others as they were written', () => {
  const said = {
    '* * * * *': 'Every minute',
    '*/15 * * * *': 'Every 15 minutes',
    '0 * * * *': 'Every hour',
    '5 * * * *': 'Every hour, 5 minutes past',
    '0 2 * * *': 'Every day at 02:00',
    '30 7 * * 1-5': 'Mondays to Fridays at 07:30',
    '0 16 * * 6': 'Saturdays at 16:00',
    '0 16 * * SAT,sun': 'Saturdays and Sundays at 16:00',
    '0 0 1 * *': 'On day 1 of every month at 00:00',
    '0 0 1 1 *': 'At 0 0 1 1 *',
    '0 0 * * 1#2': 'At 0 0 * * 1#2',
    '\u202e': 'At \\u{202e}',
  };
  for (const [cron, words] of Object.entries(said)) assert.equal(cronWords(cron), words, cron);
});

test('the zone of a job is named where it is not the one of the person', () => {
  const schedule = { kind: 'cron', cron: '0 2 * * *', tz: 'Europe/Berlin' } as const;
  assert.equal(whenWords(schedule, 'Europe/Berlin'), 'Every day at 02:00');
  assert.equal(whenWords(schedule, 'Asia/Tokyo'), 'Every day at 02:00, Europe/Berlin time');
  assert.equal(whenWords({ kind: 'every', everyMs: 5_400_000 }), 'Every 90 minutes');
});

test('lengths and distances are said in the unit that fits', () => {
  assert.deepEqual([3_600_000, 900_000, 172_800_000, 1_500].map(lengthWords), ['hour', '15 minutes', '2 days', '1\u202f500 milliseconds']);
  assert.deepEqual(
    [44_220_000, 9_000_000, 240_000, -30_000, 500].map((away) => fromNow(1e12 + away, 1e12)),
    ['in 12 h', 'in 2 h 30 min', 'in 4 min', '30 s ago', 'in a moment'],
  );
});

test('an occurrence says its cause first where it did not run, and how long and how late where it did', () => {
  const at = { jobId: 'j', dueAt: 1_000, attempt: 1 };
  assert.equal(causeWords({ ...at, state: 'done', startedAt: 1_500, endedAt: 53_500 }), 'Took 52 s, on time.');
  assert.equal(
    causeWords({ ...at, state: 'failed', reason: 'the model did not answer', startedAt: 5_000, endedAt: 6_000, attempt: 2 }),
    'The model did not answer. Took 1 s, started 4 s late, attempt 2.',
  );
  assert.equal(causeWords({ ...at, state: 'missed', reason: 'the gateway was stopped' }), 'The gateway was stopped.');
  assert.match(stripWords({ ...at, state: 'missed', reason: 'the gateway was stopped' }), /^Missed .*: The gateway was stopped\.$/);
  assert.equal(missWords({ within: 3_600_000 }), 'runs if it is at most 1 hour late, else it is told as missed');
});

test('what failed or was missed comes first, then what is next', () => {
  const last = { jobId: 'm', dueAt: 1, attempt: 1, state: 'missed' } as const;
  const jobs = [
    job({ id: 'later', nextAt: 9 }),
    job({ id: 'over', state: 'finished' }),
    job({ id: 'soon', nextAt: 3 }),
    job({ id: 'm', last, nextAt: 20 }),
  ];
  assert.deepEqual(
    inOrder(jobs).map(({ id }) => id),
    ['m', 'soon', 'later', 'over'],
  );
});

test('an owner is you, a plugin, or a credential by its name', () => {
  const names = new Map([['token:2', 'laptop']]);
  const said = ['token:1', 'plugin:reminders', 'token:2', 'token:3'].map((owner) => ownerWords(owner, 'token:1', names));
  assert.deepEqual(said, ['you', 'reminders', 'laptop', 'token:3']);
});

test('what the form shows of a job, and reads back, is the job', () => {
  const zone = 'Europe/Berlin';
  for (const each of [
    job({ onMiss: { within: 600_000 }, retry: { attempts: 2, backoffMs: 5_000 } }),
    job({ schedule: { kind: 'every', everyMs: 7_200_000, anchorAt: 5 }, session: { agentId: 'main', fresh: true }, delivery: 'none' }),
    job({ schedule: { kind: 'at', at: new Date('2026-11-20T09:30').getTime() }, onMiss: 'skip' }),
  ]) {
    const read = readFields(fieldsOf(each, zone, 0), each);
    assert.ok('job' in read, JSON.stringify(read));
    for (const [name, value] of Object.entries(read.job)) assert.deepEqual(value, each[name as keyof Job], name);
  }
});

test('what is missing or no number is said at its field', () => {
  const empty = emptyFields('', 'UTC', 0);
  assert.deepEqual(
    Object.keys((readFields({ ...empty, onMiss: 'within', within: 'x', attempts: '-1' }) as { wrong: object }).wrong).sort(),
    ['attempts', 'message', 'name', 'target', 'within'],
  );
  assert.ok('wrong' in readSchedule({ ...empty, at: '' }));
  assert.ok('wrong' in readSchedule({ ...empty, kind: 'every', every: '0' }));
  assert.ok('wrong' in readSchedule({ ...empty, kind: 'cron', cron: ' ' }));
  assert.equal(localTime(new Date(2026, 0, 2, 3, 4).getTime()), '2026-01-02T03:04');
});
