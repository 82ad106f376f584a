import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createManualClock } from '../../../../test/support/clock.ts';
import { createDeadlines } from './deadlines.ts';

test('a wait expires once, at its time, and not after it ended', () => {
  const clock = createManualClock();
  const deadlines = createDeadlines(clock);
  const expired: string[] = [];
  deadlines.begin(100, () => expired.push('a'));
  const ended = deadlines.begin(100, () => expired.push('b'));
  clock.advance(50);
  deadlines.begin(100, () => expired.push('c'));
  deadlines.begin(20, () => expired.push('short'));
  ended.end();
  ended.end();
  clock.advance(49);
  assert.deepEqual(expired, ['short']);
  clock.advance(1);
  assert.deepEqual(expired, ['short', 'a']);
  clock.advance(50);
  assert.deepEqual(expired, ['short', 'a', 'c']);
  clock.advance(1_000);
  assert.deepEqual(expired, ['short', 'a', 'c']);
  assert.equal(deadlines.size, 0);
  assert.equal(clock.pending, 0, 'no timer is left');
});

test('any number of waits with one timeout share one timer', () => {
  const clock = createManualClock();
  const deadlines = createDeadlines(clock);
  const waits = Array.from({ length: 1_000 }, () => deadlines.begin(100, () => assert.fail('ended in time')));
  assert.equal(clock.pending, 1);
  for (const wait of waits.reverse()) wait.end();
  assert.equal(deadlines.size, 0);
  clock.advance(100);
  assert.equal(clock.pending, 0);
});

test('a timeout that was used before expires again', () => {
  const clock = createManualClock();
  const deadlines = createDeadlines(clock);
  let expired = 0;
  for (let round = 1; round <= 3; round++) {
    deadlines.begin(100, () => expired++);
    clock.advance(100);
    assert.equal(expired, round);
  }
});

test('a wait that begins while another expires is kept', () => {
  const clock = createManualClock();
  const deadlines = createDeadlines(clock);
  const expired: string[] = [];
  deadlines.begin(100, () => deadlines.begin(100, () => expired.push('second')));
  clock.advance(199);
  assert.deepEqual(expired, []);
  clock.advance(1);
  assert.deepEqual(expired, ['second']);
});
