import assert from 'node:assert/strict';
import { test } from 'node:test';
import { splitText } from './split-text.ts';

test('text is cut at paragraphs, lines and words, and nothing but white space at the cuts is lost', () => {
  assert.deepEqual(splitText('short', 10), ['short']);
  assert.deepEqual(splitText('', 10), ['']);
  assert.deepEqual(splitText('one two three', 8), ['one two', 'three']);
  assert.deepEqual(splitText('first\n\nsecond part', 10), ['first', 'second', 'part']);
  assert.deepEqual(splitText('abcdefghij', 4), ['abcd', 'efgh', 'ij']);
  assert.deepEqual(splitText('a b c d e f', 1), ['a', 'b', 'c', 'd', 'e', 'f']);
});

test('no character is torn, and no part is longer than what is taken', () => {
  for (const most of [1, 2, 3, 5, 8, 13]) {
    const text = 'plain 👩‍🚀👍 and\nmore 👍👍👍👍 of it'.repeat(5);
    const parts = splitText(text, most);
    assert.equal(parts.join('').replaceAll(/\s/g, ''), text.replaceAll(/\s/g, ''));
    for (const part of parts) {
      assert.ok(part.length <= most, part);
      if (most > 1) assert.ok(part.isWellFormed(), JSON.stringify(part));
    }
  }
});
