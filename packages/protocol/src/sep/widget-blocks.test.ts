import assert from 'node:assert/strict';
import { test } from 'node:test';
import { widgetBlocks } from './widget-blocks.ts';

test('every render block becomes parts that can be drawn, and one that is not known its text', () => {
  const widget = {
    kind: 'stack',
    items: [
      { kind: 'markdown', markdown: '**x**' },
      { kind: 'keyvalue', title: 'Facts', rows: [{ key: 'a', value: '1' }] },
      { kind: 'table', headers: ['n'], rows: [['1'], ['2']] },
      { kind: 'diff', diff: '-a\n+b' },
      { kind: 'progress', value: 2, label: 'Done' },
      { kind: 'widget', widget_id: 'w', body: { kind: 'markdown', text: 'in it' }, keybindings: [{ key: 'a', description: 'Add' }] },
      { kind: 'hologram', text: 'flat' },
      { kind: 'hologram', depth: 3 },
    ],
  };
  assert.deepEqual(widgetBlocks(widget), [
    { kind: 'markdown', text: '**x**' },
    { kind: 'key-value', rows: [['a', '1']], label: 'Facts' },
    { kind: 'table', columns: ['n'], rows: [['1'], ['2']] },
    { kind: 'diff', lines: ['-a', '+b'] },
    { kind: 'progress', value: 1, max: 1, text: '100 %', label: 'Done' },
    { kind: 'markdown', text: 'in it' },
    { kind: 'key-value', rows: [['a', 'Add']] },
    { kind: 'text', text: 'flat' },
    { kind: 'text', text: '{\n  "kind": "hologram",\n  "depth": 3\n}' },
  ]);
});

test('what is no block, nests without end or has no end is bounded', () => {
  assert.deepEqual(widgetBlocks({}), [{ kind: 'text', text: '{}' }]);
  assert.deepEqual(widgetBlocks({ kind: 'markdown', text: '' }), []);
  let deep: object = { kind: 'markdown', text: 'bottom' };
  for (let n = 0; n < 40; n++) deep = { kind: 'stack', children: [deep] };
  assert.equal(widgetBlocks(deep).length, 1);
  const many = { kind: 'stack', children: Array.from({ length: 500 }, () => ({ kind: 'markdown', text: 'x' })) };
  assert.equal(widgetBlocks(many).length, 64);
});
