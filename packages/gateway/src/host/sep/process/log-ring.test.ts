import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { systemClock } from '../../../kernel/clock.ts';
import { createLogRing } from './log-ring.ts';

const clock = { ...systemClock, now: () => 7 };

test('lines have numbers, are read from one on, and nothing that is hidden gets into them', () => {
  const ring = createLogRing({ clock });
  assert.deepEqual(ring.page(0, 10), { lines: [], cursor: 0, dropped: 0 });
  ring.add('stderr', 'info', 'one\u202e');
  ring.add('log', 'warn', 'two');
  ring.add('gateway', 'info', 'ready, process 3');
  assert.deepEqual(ring.page(1, 10), {
    lines: [
      { seq: 2, at: 7, from: 'log', level: 'warn', text: 'two' },
      { seq: 3, at: 7, from: 'gateway', level: 'info', text: 'ready, process 3' },
    ],
    cursor: 3,
    dropped: 0,
  });
  assert.doesNotMatch(ring.page(0, 10).lines[0]!.text, /\u202e/);
  assert.deepEqual([ring.page(3, 10).lines, ring.page(99, 1).lines.map(({ seq }) => seq)], [[], [3]]);
});

test('the oldest lines fall out, of long ones and of many short ones, and whoever missed some is told how many', () => {
  const ring = createLogRing({ clock, maxBytes: 640 });
  for (let index = 0; index < 100; index++) ring.add('stderr', 'info', 'x');
  const { lines, cursor, dropped } = ring.page(0, 1_000);
  assert.deepEqual([lines.length, cursor, dropped, ring.dropped], [20, 100, 80, 80]);
  assert.deepEqual(ring.page(90, 4), { lines: lines.slice(-4), cursor: 100, dropped: 6 });
  ring.add('stderr', 'info', 'y'.repeat(10_000));
  assert.deepEqual(ring.lines, []);
});

test('S43: what is kept of a long line does not keep the whole line in memory', () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const alive = () => {
    collect();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  const ring = createLogRing({ clock });
  const before = alive();
  // As they come from the parser: each a text of its own.
  for (let index = 0; index < 64; index++) ring.add('log', 'info', JSON.parse(`"${String(index % 10).repeat(1_000_000)}"`) as string);
  assert.ok(ring.lines.length >= 63);
  assert.ok(alive() - before < 8_000_000, `${alive() - before} bytes are kept for ${ring.lines.length} lines of 4 kB`);
});
