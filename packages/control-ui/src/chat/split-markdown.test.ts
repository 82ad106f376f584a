import assert from 'node:assert/strict';
import { test } from 'node:test';
import { splitMarkdown } from './split-markdown.ts';

const texts = (markdown: string) =>
  splitMarkdown(markdown).map((piece) => (piece.kind === 'code' ? `${piece.language}|${piece.text}` : piece.text.trim()));

test('paragraphs are pieces of their own, and only the last one changes when the text grows', () => {
  const before = splitMarkdown('one\n\ntwo\n\nthr');
  const after = splitMarkdown('one\n\ntwo\n\nthree');
  assert.deepEqual(before.slice(0, 2), after.slice(0, 2));
  assert.deepEqual(texts('one\n\ntwo\n\nthree'), ['one', 'two', 'three']);
});

test('a list stays one, over blank lines and indented text', () => {
  assert.deepEqual(texts('- a\n\n- b\n\n  more of b\n\n1. c\n\nafter'), ['- a\n\n- b\n\n  more of b\n\n1. c', 'after']);
});

test('a fence is cut out with its language, open or closed', () => {
  assert.deepEqual(texts('see\n```ts\nconst a = 1;\n\nconst b = 2;\n```\nand'), ['see', 'ts|const a = 1;\n\nconst b = 2;', 'and']);
  assert.deepEqual(texts('see\n\n```\nnot over'), ['see', '|not over']);
  assert.deepEqual(texts('````\n```\n````'), ['|```']);
  assert.deepEqual(texts('~~~ py x\na\n~~~'), ['py|a']);
});

test('a fence inside a list or a quote stays with it', () => {
  assert.deepEqual(texts('- a\n  ```\n  x\n\n  y\n  ```\n\nafter'), ['- a\n  ```\n  x\n\n  y\n  ```', 'after']);
  assert.equal(splitMarkdown('> ```\n> x\n> ```').length, 1);
});

test('what holds for the whole text keeps it whole', () => {
  assert.equal(splitMarkdown('[a]\n\n[a]: https://example.com').length, 1);
  assert.equal(splitMarkdown('a[^1]\n\n[^1]: note').length, 1);
  assert.equal(splitMarkdown('<!--\n\nhidden?\n\n-->').length, 1);
});

test('nothing is lost', () => {
  for (const text of ['a\n\nb\n', '', '\n\n', 'a\n```\nb\n```\n\n\nc', '# h\n\n| a |\n|---|\n| b |\n\nc']) {
    const letters = (value: string) => value.replace(/[\s`]/g, '');
    assert.equal(
      letters(
        splitMarkdown(text)
          .map((piece) => piece.text)
          .join(''),
      ),
      letters(text),
      JSON.stringify(text),
    );
  }
});
