import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSafeStream, oneLine, safeLines, spellShort } from './text.ts';
import { createWrapper } from './wrap.ts';

test('lines stay lines, and nothing that a terminal acts upon gets through', () => {
  assert.deepEqual(safeLines('a\tb\r\n\u001b[31mc'), ['a    b', '\\u{1b}[31mc']);
  assert.equal(oneLine('  first\nsecond  ', 9), 'first se…');
});

test('a sign that was cut in two by the stream is shown whole', () => {
  const safe = createSafeStream();
  const [high, low] = ['\ud83d', '\ude00'];
  assert.equal(safe(`a${high}`), 'a');
  assert.equal(safe(`${low}b`), '😀b');
  assert.equal(safe('x\r'), 'x');
  assert.equal(safe('\ny'), '\ny');
});

test('durations are short', () => {
  assert.deepEqual([3.4, 999, 1_500, 61_000].map(spellShort), ['3ms', '999ms', '1.5s', '1m 1s']);
});

test('text that comes in pieces is broken behind words, whatever the pieces', () => {
  const text = 'the quick brown fox\n\n  jumps over thelazydogthatisverylong end';
  const whole = createWrapper();
  const expected = [...whole.add(text, 10), ...whole.end()];
  assert.deepEqual(expected, ['the quick', 'brown fox', '', '  jumps', 'over', 'thelazydog', 'thatisvery', 'long end']);
  for (const size of [1, 2, 3, 7]) {
    const wrapper = createWrapper();
    const rows: string[] = [];
    for (let at = 0; at < text.length; at += size) rows.push(...wrapper.add(text.slice(at, at + size), 10));
    rows.push(...wrapper.end());
    assert.deepEqual(rows.join(' ').replace(/\s+/g, ' '), expected.join(' ').replace(/\s+/g, ' '), String(size));
    assert.ok(rows.every((row) => row.length <= 10));
  }
  assert.deepEqual(createWrapper().end(), []);
});

test('wide signs count two columns, and one that is wider than the terminal still goes somewhere', () => {
  const wrapper = createWrapper();
  assert.deepEqual([...wrapper.add('日本語', 4), ...wrapper.end()], ['日本', '語']);
  assert.deepEqual([...wrapper.add('日本', 1), ...wrapper.end()].filter(Boolean), ['日', '本']);
});
