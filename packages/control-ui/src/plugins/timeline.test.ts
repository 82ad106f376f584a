import assert from 'node:assert/strict';
import { test } from 'node:test';
import { traceOutcomes, type TraceRecord } from '@tenon/protocol';
import { axisOf, dispatchesOf, outcomeNames, turnsOf } from './timeline.ts';

let seq = 0;
const record = (dispatch: number, at: number, durationMs: number, more: Partial<TraceRecord> = {}): TraceRecord => ({
  seq: ++seq,
  at,
  sessionKey: 'agent:main:a',
  runId: 'run-1-run-1-run-1',
  dispatch,
  place: 'agent_end',
  plugin: 'one',
  order: 1,
  durationMs,
  outcome: 'unchanged',
  ...more,
});

test('records become dispatches in the order in which they began, each with its handlers in order', () => {
  const dispatches = dispatchesOf([
    record(2, 50, 5, { place: 'before_tool_call', order: 2, outcome: 'changed' }),
    record(1, 10, 2),
    record(2, 48, 1, { place: 'before_tool_call', order: 1, outcome: 'refused' }),
  ]);
  assert.deepEqual(
    dispatches.map(({ id, place, from, to, outcome, records }) => [id, place, from, to, outcome, records.map(({ order }) => order)]),
    [
      [1, 'agent_end', 10, 12, 'unchanged', [1]],
      [2, 'before_tool_call', 48, 55, 'refused', [1, 2]],
    ],
  );
  assert.deepEqual(outcomeNames.toSorted(), Object.keys(traceOutcomes).toSorted());
});

test('long waits are folded, so that handlers stay visible; the true scale has them as they were', () => {
  const times = [
    { from: 0, to: 10 },
    { from: 10_000, to: 10_010 },
  ];
  const folded = axisOf(times, true);
  assert.equal(folded.waits.length, 1);
  assert.equal(folded.waits[0]!.ms, 9_990);
  assert.ok(folded.waits[0]!.width <= 6);
  const [first, second] = times.map(({ from, to }) => folded.span(from, to));
  assert.ok(first!.width > 40 && second!.width > 40, 'both are wide enough to see');
  assert.ok(second!.left > first!.left + first!.width);
  const last = second!.left + second!.width;
  assert.ok(Math.abs(last - 100) < 1e-9, `the axis is used to its end: ${last}`);
  const plain = axisOf(times, false);
  assert.ok(plain.span(0, 10).width < 0.2);
  assert.ok(Math.abs(plain.waits[0]!.width - 99.8) < 0.1);
});

test('labels of the axis do not lie over one another, however much happened', () => {
  const times = Array.from({ length: 200 }, (_, n) => ({ from: n * 100, to: n * 100 + (n % 7) }));
  const { ticks, waits } = axisOf(times, true);
  assert.equal(ticks[0]!.words, '0');
  for (const [at, tick] of ticks.entries()) if (at > 0) assert.ok(tick.left - ticks[at - 1]!.left >= 10);
  assert.ok(waits.reduce((sum, { width }) => sum + width, 0) <= 30.001);
  assert.deepEqual(axisOf([], true).ticks, []);
});

test('turns are told apart, and what happened outside of them is one of its own', () => {
  const { runId: _, ...outside } = record(3, 30, 1);
  const turns = turnsOf(dispatchesOf([record(1, 10, 1), record(2, 20, 1, { runId: 'run-2-run-2-run-2' }), outside]));
  assert.deepEqual(
    turns.map(({ runId, at }) => [runId, at]),
    [
      ['run-1-run-1-run-1', 10],
      ['run-2-run-2-run-2', 20],
      [undefined, 30],
    ],
  );
});
