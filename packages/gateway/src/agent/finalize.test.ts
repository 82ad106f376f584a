import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFinalizeBudget, revisionOf } from './finalize.ts';

test('a wish is granted as often as it allows, then the answer stands', () => {
  const budget = createFinalizeBudget();
  const answer = { action: 'revise', candidates: [{ instruction: 'Add a test', maxAttempts: 2 }] } as const;
  assert.equal(revisionOf(answer, budget), 'Add a test');
  assert.equal(revisionOf(answer, budget), 'Add a test');
  assert.equal(revisionOf(answer, budget), undefined);
});

test('the next wish takes its turn when the first is spent', () => {
  const budget = createFinalizeBudget();
  const answer = { action: 'revise', reason: 'Not yet', candidates: [{ instruction: 'A' }, { instruction: 'B' }] } as const;
  assert.equal(revisionOf(answer, budget), 'Not yet\n\nA');
  assert.equal(revisionOf(answer, budget), 'Not yet\n\nB');
  assert.equal(revisionOf(answer, budget), undefined);
});

test('a turn is revised three times at most, whoever asks', () => {
  const budget = createFinalizeBudget();
  const granted = Array.from({ length: 10 }, (_, n) =>
    revisionOf({ action: 'revise', candidates: [{ instruction: `wish ${n}` }] }, budget),
  );
  assert.equal(granted.filter((text) => text !== undefined).length, 3);
});

test('revise without a reason or a wish, blank wishes, continue and finalize change nothing', () => {
  const budget = createFinalizeBudget();
  assert.equal(revisionOf({ action: 'revise' }, budget), undefined);
  assert.equal(revisionOf({ action: 'revise', candidates: [{ instruction: '  ' }] }, budget), undefined);
  assert.equal(revisionOf({ action: 'continue', reason: 'x' }, budget), undefined);
  assert.equal(revisionOf({ action: 'finalize', reason: 'x' }, budget), undefined);
});

test('an instruction that the reason already holds is not said twice', () => {
  assert.equal(
    revisionOf({ action: 'revise', reason: 'Please: Add a test', candidates: [{ instruction: 'Add a test' }] }, createFinalizeBudget()),
    'Please: Add a test',
  );
});

test('two wishes with one key share their attempts', () => {
  const budget = createFinalizeBudget();
  assert.ok(revisionOf({ action: 'revise', candidates: [{ instruction: 'A', idempotencyKey: 'k' }] }, budget));
  assert.equal(revisionOf({ action: 'revise', candidates: [{ instruction: 'B', idempotencyKey: 'k' }] }, budget), undefined);
});
