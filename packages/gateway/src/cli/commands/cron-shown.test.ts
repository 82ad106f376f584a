import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError } from '@tenon/protocol';
import { inFlags, occurrenceText, parseInterval, parseTime, whyOf } from './cron-shown.ts';
import { rulesOf } from './cron-rules.ts';

test('of a time that was run late it is said by how much, of others why they were not', () => {
  const at = { jobId: 'j'.repeat(22), dueAt: 1_000_000, attempt: 1 };
  assert.equal(whyOf({ ...at, state: 'done', startedAt: at.dueAt + 60_000 }), undefined);
  assert.equal(whyOf({ ...at, state: 'done', startedAt: at.dueAt + 74_000 }), 'begun 1m 14s late');
  assert.equal(whyOf({ ...at, state: 'missed', attempt: 0, reason: 'The gateway was not running' }), 'The gateway was not running');
  assert.match(
    occurrenceText({ ...at, state: 'done', startedAt: at.dueAt + 74_000 }, at.dueAt + 80_000),
    /^done, due .*: begun 1m 14s late$/,
  );
});

test('a time is a day that there is, in the zone of the person where none is named', () => {
  assert.equal(parseTime('2030-01-31T08:00'), new Date(2030, 0, 31, 8).getTime());
  assert.equal(parseTime('2030-01-31 08:00:30'), new Date(2030, 0, 31, 8, 0, 30).getTime());
  assert.equal(parseTime('2030-01-31'), new Date(2030, 0, 31).getTime());
  assert.equal(parseTime('2028-02-29T08:00Z'), Date.UTC(2028, 1, 29, 8));
  assert.equal(parseTime('2030-01-31T08:00+01:00'), Date.UTC(2030, 0, 31, 7));
  for (const given of ['2030-02-31T08:00', '2030-02-29', '2030-13-01', '2030-00-10', '2030-01-31T25:00', '18:00', 'tomorrow', '1', ''])
    assert.throws(() => parseTime(given), /^CliError: --at cannot be .*; it must be a date and time such as 2030-01-31T08:00$/, given);
});

test('an interval and a lateness have the bounds of the protocol, and a wrong one is told what there is', () => {
  assert.equal(parseInterval('1s'), 1_000);
  assert.throws(() => parseInterval('100ms'), /from 1s to 366d/);
  assert.throws(() => parseInterval('367d'), /from 1s to 366d/);
  for (const onMiss of ['maybe', '500ms'])
    assert.throws(
      () => rulesOf({ onMiss, retry: undefined }),
      /--on-miss cannot be .*; it must be run, skip, or a duration from 1s to 366d/,
    );
  for (const retry of ['3:1ms', '3:25h'])
    assert.throws(
      () => rulesOf({ onMiss: undefined, retry }),
      /--retry cannot be .*; it must be attempts, and a first wait from 1s to 24h/,
    );
  assert.deepEqual(rulesOf({ onMiss: undefined, retry: '3:24h' }), { retry: { attempts: 3, backoffMs: 86_400_000 } });
  assert.deepEqual(rulesOf({ onMiss: '2h', retry: undefined }), { onMiss: { within: 7_200_000 } });
});

test('what the gateway finds wrong with a schedule is said of the flag', async () => {
  const refused = (message: string) => inFlags(Promise.reject(new GatewayError('INVALID_REQUEST', message)));
  await assert.rejects(refused('params/schedule/at has passed: 2020'), { code: 'USAGE', message: '--at has passed: 2020', exitCode: 2 });
  await assert.rejects(refused('params/schedule/cron: no such time ever comes'), { message: '--cron: no such time ever comes' });
  await assert.rejects(refused('params/other is wrong'), { code: 'INVALID_REQUEST', message: 'params/other is wrong' });
});
