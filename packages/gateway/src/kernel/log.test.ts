import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLogBook } from './log.ts';

function book() {
  const options = { file: 'nowhere', level: 'info', maxBytes: 1_000, files: 1 };
  return createLogBook(options, { write: () => {}, lost: 0, close: () => {} });
}

test('the latest lines are in memory: 2,000 of them, and fewer of long ones', () => {
  const short = book();
  for (let index = 0; index < 2_500; index++) short.log.info('a line');
  assert.deepEqual([short.after(0, 10_000).lines.length, short.after(0, 10).dropped], [2_000, 500]);

  const long = book();
  for (let index = 0; index < 2_500; index++) long.log.info('x'.repeat(20_000));
  const { lines, cursor } = long.after(0, 10_000);
  const chars = lines.reduce((sum, { text }) => sum + text.length, 0);
  assert.ok(chars > 1_000_000 && chars <= 2_097_152, `${chars} characters are kept`);
  assert.equal(cursor, 2_500);
});
