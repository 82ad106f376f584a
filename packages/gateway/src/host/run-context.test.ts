import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Clock, systemClock } from '../kernel/clock.ts';
import { createRunContexts } from './run-context.ts';

function world() {
  const due: (() => void)[] = [];
  const after: Clock['after'] = (_, call) => {
    due.push(call);
    return { cancel: () => {} };
  };
  const pass = () => {
    for (const call of due.splice(0)) call();
  };
  return { contexts: createRunContexts({ ...systemClock, after }), pass };
}

test('what a plugin remembers of a run is its own, and goes with it', () => {
  const { contexts, pass } = world();
  assert.equal(contexts.set('a', 'run', 'n', { x: 1 }), true);
  assert.equal(contexts.get('b', 'run', 'n'), undefined);
  contexts.clear('b', 'run');
  contexts.ended('run');
  assert.equal(contexts.set('a', 'run', 'n', 2), false);
  assert.deepEqual(contexts.get('a', 'run', 'n'), { x: 1 });
  pass();
  assert.equal(contexts.size, 0);
});

test('clearing the last of it leaves nothing', () => {
  const { contexts } = world();
  contexts.set('a', 'run', 'n', 1);
  contexts.set('b', 'run', 'n', 1);
  contexts.clear('a', 'run', 'n');
  contexts.forget('b');
  assert.equal(contexts.size, 0);
});

test('runs, namespaces and bytes are bounded', () => {
  const { contexts } = world();
  for (let index = 0; index < 2_000; index++) contexts.set('a', `run-${index}`, 'n', index);
  assert.equal(contexts.size, 1_024);
  for (let index = 0; index < 64; index++) assert.equal(contexts.set('b', 'run', `n${index}`, 1), true);
  assert.equal(contexts.set('b', 'run', 'one-more', 1), false);
  assert.equal(contexts.set('b', 'run', 'n0', 2), true);
  const big = Array.from({ length: 3 }, () => 'x'.repeat(60_000));
  assert.equal(contexts.set('c', 'run', 'a', big), true);
  assert.equal(contexts.set('c', 'run', 'b', big), false);
});
