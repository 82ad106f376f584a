import assert from 'node:assert/strict';
import { test } from 'node:test';
import { finishedUpTo, spoken } from './sentences.ts';

test('a growing text is finished up to its last whole sentence', () => {
  const text = 'One. Two is v1.2 and more! “Three?” Fou';
  assert.equal(text.slice(0, finishedUpTo(text, 0)), 'One. Two is v1.2 and more! “Three?”');
  assert.equal(finishedUpTo('no end yet', 0), 0);
  assert.equal(finishedUpTo('End.', 0), 0, 'the next letter could belong to it');
  assert.equal(finishedUpTo('A line\n\nnext', 0), 8);
  assert.equal(finishedUpTo('One. Two. ', 4), 9);
});

test('Markdown is spoken without its signs', () => {
  assert.equal(spoken('## A *b* `c` [d](https://e.example)'), 'A b c d');
  assert.equal(spoken('- one\n- two'), 'one two');
  assert.equal(spoken('See:\n```ts\nconst a = 1;\n```\nDone'), 'See: Code block. Done');
});

test('texts made to be slow are read in one go', { timeout: 20_000 }, () => {
  for (const text of ['['.repeat(200_000), '.)'.repeat(100_000), '\n '.repeat(100_000), '```\n'.repeat(50_000), '[a]('.repeat(50_000)]) {
    spoken(text);
    finishedUpTo(text, 0);
  }
});
