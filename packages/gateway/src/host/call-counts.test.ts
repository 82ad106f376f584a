import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../kernel/clock.ts';
import { createCallCounts, TIMEOUTS_IN_A_ROW } from './call-counts.ts';

const ok = { ok: true, value: undefined } as const;
const late = { ok: false, kind: 'timed-out', message: '' } as const;
const threw = { ok: false, kind: 'threw', message: '' } as const;
const aborted = { ok: false, kind: 'aborted', message: '' } as const;

test('calls are counted by how they ended, with the middle and the slow end of the latest', () => {
  const counts = createCallCounts({ ...systemClock, now: () => 7 });
  const where = { plugin: 'p', place: 'agent_end', timeoutMs: 1 };
  for (let ms = 1; ms <= 1_000; ms++) counts.ended(where, ok, ms);
  counts.ended(where, late, 5_000);
  counts.ended(where, threw, 1);
  counts.ended(where, aborted, 1);
  counts.failed(where, 'wrong-shape');
  const [shown] = counts.of('p');
  assert.deepEqual([shown?.calls, shown?.timeouts, shown?.errors, shown?.lastAt], [1_003, 1, 2, 7]);
  assert.ok((shown?.p50Ms ?? 0) > 930 && (shown?.p95Ms ?? 0) > 990);
  counts.forget('p');
  assert.deepEqual(counts.of('p'), []);
});

test('only timeouts of the same handler in a row count as slow', () => {
  const counts = createCallCounts(systemClock);
  const told: string[] = [];
  counts.onSlow(({ place }) => told.push(place));
  const one = { plugin: 'p', place: 'one', timeoutMs: 1 };
  const two = { plugin: 'p', place: 'two', timeoutMs: 1 };
  for (let round = 1; round < TIMEOUTS_IN_A_ROW; round++) {
    counts.ended(one, late, 1);
    counts.ended(two, late, 1);
    counts.ended(two, aborted, 1);
  }
  counts.ended(one, threw, 1);
  counts.ended(one, late, 1);
  assert.deepEqual(told, []);
  counts.ended(two, late, 1);
  assert.deepEqual(told, ['two']);
});

test('the number of places of a plugin is bounded', () => {
  const counts = createCallCounts(systemClock);
  for (let index = 0; index < 1_000; index++) counts.ended({ plugin: 'p', place: `place-${index}`, timeoutMs: 1 }, ok, 1);
  assert.equal(counts.of('p').length, 256);
});
