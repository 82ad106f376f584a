import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createProgress, stepLine } from './ext-deps.ts';

function screen(isTTY: boolean, json = false) {
  const written: string[] = [];
  const time = { now: 1_000 };
  const stderr = { write: (text: string) => written.push(text), isTTY, columns: 80 };
  const talk = (text: string) => written.push(`${text}\n`);
  return { written, time, progress: createProgress({ stderr, now: () => time.now }, { json, plain: false, talk }) };
}

test('stepLine is a bar where it is known how much there is', () => {
  const bar = stepLine({ doing: 'Downloading', done: 1_200_000, total: 4_800_000, unit: 'bytes' });
  assert.equal(bar, 'Downloading [######------------------] 25%, 1.2 MB of 4.8 MB');
  assert.equal(stepLine({ doing: 'Unpacking', done: 12, unit: 'files' }), 'Unpacking: 12 files');
  assert.equal(stepLine({ doing: 'Downloading', done: 9, total: 3, unit: 'bytes' }), `Downloading [${'#'.repeat(24)}] 100%, 9 B of 3 B`);
  assert.equal(stepLine({ doing: 'Checking' }), 'Checking …');
});

test('on a terminal it is one line, not drawn more often than somebody sees, that is gone at the end', () => {
  const { written, time, progress } = screen(true);
  for (const [done, now] of [
    [1, 1_000],
    [2, 1_010],
    [3, 1_060],
  ] as const) {
    time.now = now;
    progress.report({ doing: 'Unpacking', done, unit: 'files' });
  }
  progress.report({ doing: 'Checking' });
  progress.clear();
  progress.clear();
  assert.deepEqual(written, [
    '\rUnpacking: 1 files\rUnpacking: 1 files',
    '\rUnpacking: 3 files\rUnpacking: 3 files',
    '\rChecking …        \rChecking …',
    '\r          \r',
  ]);
});

test('elsewhere it is a line for each thing that is begun, and nothing with --json', () => {
  const plain = screen(false);
  for (const done of [1, 2, 3]) plain.progress.report({ doing: 'Unpacking', done, unit: 'files' });
  plain.progress.report({ doing: 'Checking' });
  plain.progress.clear();
  assert.deepEqual(plain.written, ['Unpacking …\n', 'Checking …\n']);
  const silent = screen(false, true);
  silent.progress.report({ doing: 'Checking' });
  assert.deepEqual(silent.written, []);
});
