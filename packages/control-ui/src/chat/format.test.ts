import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bytes, count, duration, plural, stopwatch, timeLeft } from './format.ts';

test('lengths of time read as short as they can', () => {
  const words = [2, 420, 1_800, 3_000, 18_400, 59_499, 102_000, 3_723_000].map(duration);
  assert.deepEqual(words, ['2 ms', '0.42 s', '1.8 s', '3 s', '18 s', '59 s', '1:42', '1:02:03']);
  assert.equal(stopwatch(42_900), '0:42');
});

test('what is left counts to the last second', () => {
  assert.deepEqual([102_000, 101_001, 1, 0, -5].map(timeLeft), ['1:42 left', '1:42 left', '0:01 left', 'Time is up', 'Time is up']);
  assert.deepEqual([10_800_000, 259_200_000].map(timeLeft), ['3 h left', '3 days left']);
});

test('sizes and counts', () => {
  assert.deepEqual([72, 1_500, 24_400_000].map(bytes), ['72 B', '1.5 kB', '24 MB']);
  assert.equal(count(1_204), '1\u202f204');
  assert.deepEqual([plural(1, 'line'), plural(2, 'line')], ['1 line', '2 lines']);
});
