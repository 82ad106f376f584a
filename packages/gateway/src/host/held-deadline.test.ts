import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createManualClock } from '../../../../test/support/clock.ts';
import { createDeadlines } from './deadlines.ts';
import { HeldDeadline } from './held-deadline.ts';

test('the time stands still while anybody holds it, and runs on from where it stood', () => {
  const clock = createManualClock();
  let expired = 0;
  const deadline = new HeldDeadline(1_000, () => expired++, createDeadlines(clock), clock);
  clock.advance(600);
  const [one, two] = [deadline.hold(), deadline.hold()];
  clock.advance(10_000);
  one();
  one();
  clock.advance(10_000);
  assert.equal(expired, 0);
  two();
  clock.advance(399);
  assert.equal(expired, 0);
  clock.advance(2);
  assert.equal(expired, 1);
});

test('one that has ended does not begin again when it is let go', () => {
  const clock = createManualClock();
  let expired = 0;
  const deadline = new HeldDeadline(1_000, () => expired++, createDeadlines(clock), clock);
  const release = deadline.hold();
  deadline.end();
  release();
  clock.advance(5_000);
  assert.equal(expired, 0);
});
