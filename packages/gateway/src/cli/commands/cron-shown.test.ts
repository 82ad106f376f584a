import assert from 'node:assert/strict';
import { test } from 'node:test';
import { occurrenceText, whyOf } from './cron-shown.ts';

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
