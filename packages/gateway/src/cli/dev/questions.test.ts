import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createQuestions } from './questions.ts';

test('one question after another, each answered by a line', async () => {
  const said: string[] = [];
  const questions = createQuestions((text) => said.push(text), 60_000);
  assert.equal(questions.take('nobody has asked'), false);
  const answers = Promise.all([
    questions.ask({ kind: 'confirm', prompt: 'Sure?' }),
    questions.ask({ kind: 'select', prompt: 'Which?', options: ['red', 'blue'] }),
    questions.ask({ kind: 'select', prompt: 'Which?', options: ['red', 'blue'] }),
    questions.ask({ kind: 'input', prompt: 'Name?' }),
    questions.ask({ kind: 'confirm', prompt: 'Really?' }),
    questions.ask({ kind: 'notify', message: 'not a question' }),
  ]);
  assert.equal(said.length, 1);
  for (const line of ['yes', '2', 'green', ' Ada ', 'n']) assert.ok(questions.take(line));
  assert.deepEqual(await answers, [{ confirmed: true }, { value: 'blue' }, undefined, { text: 'Ada' }, { confirmed: false }, undefined]);
  assert.match(said[1]!, /Which\? Type one of these, or its number: 1 red, 2 blue/);
  assert.equal(said.length, 5);
});

test('what is dismissed, takes too long or comes when nobody types any more is not answered', async () => {
  const questions = createQuestions(() => {}, 1);
  assert.equal(await questions.ask({ kind: 'input', prompt: 'Late?' }), undefined);
  const dismissed = questions.ask({ kind: 'confirm', prompt: 'Sure?' });
  questions.take('');
  assert.equal(await dismissed, undefined);
  const left = questions.ask({ kind: 'input', prompt: 'Name?' });
  questions.close();
  assert.equal(await left, undefined);
  assert.equal(await questions.ask({ kind: 'input', prompt: 'Name?' }), undefined);
});
