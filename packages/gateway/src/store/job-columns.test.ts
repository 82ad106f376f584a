import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readColumns } from './job-columns.ts';

const sound = { schedule: '{"kind":"at","at":5}', on_miss: '{"within":1000}', retry: null, next_at: 7, created_at: 1 };

test('what a job keeps is read as it was written', () => {
  assert.deepEqual(readColumns(sound), { schedule: { kind: 'at', at: 5 }, onMiss: { within: 1_000 } });
});

test('what cannot be read is named, and what stands in its place begins nothing by itself', () => {
  const { schedule, onMiss, retry, damage } = readColumns({ ...sound, schedule: '{"kind":"ev', on_miss: '', retry: '[]' });
  assert.deepEqual([schedule, onMiss, retry], [{ kind: 'at', at: 7 }, 'skip', undefined]);
  assert.match(damage ?? '', /^Its schedule and its rule for missed times and its rule for retries cannot be read/);
});
