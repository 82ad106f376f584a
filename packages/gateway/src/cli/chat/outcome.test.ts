import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runEnds, type RunEnd } from '@tenon/protocol';
import { exitOfEnd } from './outcome.ts';
import { endText } from './view.ts';

test('every end of a turn has its exit code', () => {
  const codes = Object.keys(runEnds).map((kind) => [kind, exitOfEnd({ kind: kind as RunEnd['kind'] }, false)]);
  assert.deepEqual(Object.fromEntries(codes), {
    completed: 0,
    handled: 0,
    aborted: 1,
    refused: 4,
    failed: 1,
    step_limit: 1,
    cost_limit: 1,
    internal_error: 1,
  });
  assert.equal(exitOfEnd({ kind: 'aborted' }, true), 130);
  // It was over before Ctrl-C arrived.
  assert.equal(exitOfEnd({ kind: 'completed' }, true), 0);
  assert.equal(exitOfEnd(undefined, false), 1);
});

test('an end that is no answer is said in words', () => {
  assert.equal(endText({ kind: 'completed' }), undefined);
  assert.equal(endText({ kind: 'aborted' }), 'stopped');
  assert.equal(endText({ kind: 'refused', reason: 'not today' }), 'refused: not today');
  assert.equal(endText({ kind: 'failed', code: 'overloaded', reason: 'try\nlater' }), 'The model could not answer. try later (overloaded)');
});
