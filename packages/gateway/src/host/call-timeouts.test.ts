import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCallTimeouts } from './call-timeouts.ts';

test('the row that says most holds, and the last of two that say the same', () => {
  const timeouts = createCallTimeouts([
    { timeoutMs: 1 },
    { plugin: 'a', timeoutMs: 2 },
    { place: 'tool', timeoutMs: 3 },
    { plugin: 'a', place: 'tool', timeoutMs: 9 },
    { plugin: 'a', place: 'tool', timeoutMs: 4 },
  ]);
  for (const _ of [1, 2]) {
    assert.equal(timeouts('a', 'tool'), 4);
    assert.equal(timeouts('b', 'tool'), 3);
    assert.equal(timeouts('a', 'command'), 2);
    assert.equal(timeouts('b', 'command'), 1);
  }
  assert.equal(createCallTimeouts([])('a', 'tool'), undefined);
});
