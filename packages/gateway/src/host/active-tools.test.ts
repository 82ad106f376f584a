import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits } from '@tenon/protocol/sep/wire';
import { createActiveTools } from './active-tools.ts';

const set = (...names: string[]) => new Set(names);

test('what everybody leaves is active, and what is said of one session stands in place of what is said of all', () => {
  const active = createActiveTools(limits.narrowedSessions.value);
  const seen = (session: string) => ['a', 'b', 'c'].filter((tool) => active.isActive(tool, session)).join('');
  assert.equal(seen('one'), 'abc');
  active.narrow('x', 'one', set('a', 'b'));
  active.narrow('y', undefined, set('b', 'c'));
  assert.deepEqual([seen('one'), seen('two')], ['b', 'bc']);
  active.narrow('y', 'one', set('a'));
  assert.equal(seen('one'), 'a');
  active.narrow('y', 'one', set());
  assert.equal(seen('one'), '');
  active.forgetSession('one');
  assert.equal(seen('one'), 'bc');
  active.forget('y');
  assert.equal(seen('two'), 'abc');
});

test('of so many sessions an extension can say something, and of all besides', () => {
  const active = createActiveTools(2);
  assert.deepEqual(
    ['one', 'two', 'three', 'one', undefined].map((session) => active.narrow('x', session, set('a'))),
    [true, true, false, true, true],
  );
  assert.equal(active.narrow('y', 'three', set('a')), true);
  active.forgetSession('one');
  assert.equal(active.narrow('x', 'three', set('a')), true);
});
