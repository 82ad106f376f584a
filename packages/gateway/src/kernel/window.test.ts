import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createManualClock } from '../../../../test/support/clock.ts';
import { createWindow } from './window.ts';

test('a name waits after its limit until the window ends, whatever the wall clock does', () => {
  const clock = createManualClock();
  const window = createWindow({ limit: 3, windowMs: 60_000, clock });
  for (let index = 0; index < 3; index++) {
    assert.equal(window.waitMs('a'), 0);
    window.hit('a');
  }
  assert.equal(window.waitMs('a'), 60_000);
  assert.equal(window.waitMs('b'), 0, 'another name is not affected');
  clock.jump(3_600_000);
  clock.advance(59_999);
  assert.equal(window.waitMs('a'), 1);
  clock.advance(1);
  assert.equal(window.waitMs('a'), 0);
});

test('the number of names is bounded: the oldest makes room', () => {
  const clock = createManualClock();
  const window = createWindow({ limit: 1, windowMs: 1_000, clock, maxNames: 2 });
  for (const name of ['a', 'b', 'c']) window.hit(name);
  assert.equal(window.waitMs('a'), 0);
  assert.equal(window.waitMs('b'), 1_000);
  assert.equal(window.waitMs('c'), 1_000);
});
