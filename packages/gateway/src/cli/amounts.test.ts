import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bytes, relative, spell } from './amounts.ts';

test('spell says the largest unit, and the next one where it matters', () => {
  const cases: readonly [number, string][] = [
    [-5, '0s'],
    [999, '0s'],
    [41_000, '41s'],
    [125_000, '2m 5s'],
    [660_000, '11m'],
    [7_500_000, '2h 5m'],
    [86_400_000 * 3, '3d'],
    [86_400_000 * 40, '40d'],
  ];
  for (const [ms, said] of cases) assert.equal(spell(ms), said);
});

test('relative tells past, future and never apart', () => {
  assert.equal(relative(1_000, 61_000), '1m ago');
  assert.equal(relative(61_000, 1_000), 'in 1m');
  assert.equal(relative(500, 1_000), 'now');
  assert.equal(relative(null, 1_000), '-');
});

test('bytes counts in thousands', () => {
  assert.deepEqual([999, 1_500, 2_500_000, 3_210_000_000].map(bytes), ['999 B', '1.5 kB', '2.5 MB', '3.21 GB']);
});
