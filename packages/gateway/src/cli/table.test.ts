import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renderPairs, renderTable, textWidth, type Column } from './table.ts';

const columns: readonly Column<readonly [string, string]>[] = [
  { title: 'KEY', cell: ([key]) => key },
  { title: 'TITLE', cell: ([, title]) => title, flexible: true },
  { title: 'END', cell: () => 'x' },
];
const style = { width: undefined, header: (text: string) => text };

test('renderTable aligns columns by what the terminal shows', () => {
  const rows = [
    ['a', 'short'],
    ['longer', '漢字'],
    ['b', 'e\u0301'],
  ] as const;
  assert.deepEqual(renderTable(columns, rows, style), [
    'KEY     TITLE  END',
    'a       short  x',
    'longer  漢字   x',
    'b       e\u0301      x',
  ]);
});

test('renderTable cuts only flexible columns, only for a terminal, and never below a word', () => {
  const rows = [['key', 'a title that is much too long for this']] as const;
  assert.equal(renderTable(columns, rows, style)[1], 'key  a title that is much too long for this  x');
  const cut = renderTable(columns, rows, { ...style, width: 24 })[1]!;
  assert.ok(textWidth(cut) <= 24, cut);
  assert.match(cut, /^key {2}a title .*… {1,3}x$/);
  assert.match(renderTable(columns, rows, { ...style, width: 5 })[1]!, /^key {2}a title… {2}x$/);
});

test('renderTable of nothing is nothing, without a header', () => {
  assert.deepEqual(renderTable(columns, [], style), []);
});

test('renderTable draws no lines', () => {
  assert.doesNotMatch(renderTable(columns, [['a', 'b']], style).join('\n'), /[\u2500-\u257f|+]/);
});

test('renderPairs aligns the values', () => {
  assert.deepEqual(
    renderPairs(
      [
        ['a', '1'],
        ['long', '2'],
        ['c', ''],
      ],
      (name) => name,
    ),
    ['a     1', 'long  2', 'c'],
  );
});
