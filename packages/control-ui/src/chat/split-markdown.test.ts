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
  assert.deepEqual(texts('- a\n- b\n\n```\nx\n```'), ['- a\n- b', '|x']);
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

test('what would take long to read is shown as it is', () => {
  const kinds = (text: string) => splitMarkdown(text).map((piece) => piece.kind);
  for (const text of ['>'.repeat(5_000), '- '.repeat(3_000), '**a*b'.repeat(10_000), '|a'.repeat(5_000), 'word\n'.repeat(20_000)]) {
    assert.deepEqual(kinds(`fine\n\n${text}`).at(-1), 'plain', text.slice(0, 10));
  }
  assert.deepEqual(kinds('> > > quoted\n\n- a\n  - b\n    - c'), ['markdown']);
  assert.deepEqual(kinds('a '.repeat(300_000)), ['plain']);
});

test('texts made to be slow are cut in one go', { timeout: 20_000 }, () => {
  for (const text of [
    `\`\`\`${' '.repeat(200_000)}x`,
    ' '.repeat(200_000),
    '- '.repeat(100_000),
    '> \n\n'.repeat(50_000),
    '[a'.repeat(100_000),
    '- ```\n\n'.repeat(20_000),
  ]) {
    splitMarkdown(text);
  }
});
