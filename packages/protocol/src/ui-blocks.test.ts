import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonValue } from './json.ts';
import { shownBlocks } from './ui-blocks.ts';

type Kind = 'markdown' | 'key-value' | 'list' | 'table' | 'progress' | 'status' | 'diff';
const show = (kind: Kind, value: JsonValue, more: object = {}) =>
  shownBlocks({ pluginId: 'one', view: [{ kind, from: { namespace: 'box' }, ...more }] }, [{ pluginId: 'one', namespace: 'box', value }]);

test('each kind of block reads the values that it is for', () => {
  assert.deepEqual(show('markdown', '**x**', { label: 'L' }), [{ kind: 'markdown', text: '**x**', label: 'L' }]);
  assert.deepEqual(show('status', 'on'), [{ kind: 'status', text: 'on', tone: 'plain' }]);
  assert.deepEqual(show('status', { text: 'on', tone: 'ok' }), [{ kind: 'status', text: 'on', tone: 'ok' }]);
  assert.deepEqual(show('status', { text: 'on', tone: 'onclick' }), [{ kind: 'status', text: 'on', tone: 'plain' }]);
  assert.deepEqual(show('progress', 0.25), [{ kind: 'progress', value: 0.25, max: 1, text: '25 %' }]);
  assert.deepEqual(show('progress', { value: 9, max: 4, text: 'all' }), [{ kind: 'progress', value: 4, max: 4, text: 'all' }]);
  assert.deepEqual(show('key-value', { a: 1, b: null, c: true }), [
    {
      kind: 'key-value',
      rows: [
        ['a', '1'],
        ['b', '–'],
        ['c', 'yes'],
      ],
    },
  ]);
  assert.deepEqual(show('key-value', [{ label: 'a', value: { deep: 1 } }]), [{ kind: 'key-value', rows: [['a', '{"deep":1}']] }]);
  assert.deepEqual(show('table', [{ a: 1 }, { b: 'x' }]), [
    {
      kind: 'table',
      columns: ['a', 'b'],
      rows: [
        ['1', ''],
        ['', 'x'],
      ],
    },
  ]);
  assert.deepEqual(show('table', { columns: ['a'], rows: [[1, 2], []] }), [{ kind: 'table', columns: ['a'], rows: [['1'], ['–']] }]);
  assert.deepEqual(show('diff', '+a\n-b\n'), [{ kind: 'diff', lines: ['+a', '-b'] }]);
  const itemAction = { label: 'Do', actionId: 'do', fields: ['id', 'gone'] };
  assert.deepEqual(show('list', ['x', { id: 7, text: 'y', done: false, secret: 1 }], { itemAction }), [
    { kind: 'list', items: [{ text: 'x' }, { text: 'y', done: false, payload: { id: 7 } }], itemAction },
  ]);
});

test('what does not fit is text, and what is not there is not shown', () => {
  for (const kind of ['markdown', 'list', 'table', 'progress', 'diff'] as const)
    assert.deepEqual(show(kind, { odd: 1 }), [{ kind: 'text', text: '{"odd":1}' }], kind);
  assert.deepEqual(show('list', null), []);
  assert.deepEqual(show('markdown', ''), []);
  assert.deepEqual(show('progress', { value: 1, max: 0 }), [{ kind: 'text', text: '{"value":1,"max":0}' }]);
  assert.deepEqual(shownBlocks({ pluginId: 'two', view: [{ kind: 'markdown', from: { namespace: 'box' } }] }, []), []);
  assert.deepEqual(show('markdown', 'x', { when: { namespace: 'box', equals: 'y' } }), []);
});

test('a value of any size makes a bounded block', () => {
  const [list] = show(
    'list',
    Array.from({ length: 900 }, (_, index) => `${index}`),
  );
  assert.ok(list?.kind === 'list' && list.items.length === 200 && list.more === 700);
  const [table] = show('table', [Object.fromEntries(Array.from({ length: 90 }, (_, index) => [`c${index}`, 'x'.repeat(5_000)]))]);
  assert.ok(table?.kind === 'table' && table.columns.length === 20 && table.rows[0]!.every((cell) => cell.length <= 2_001));
  const [text] = show('markdown', 'x'.repeat(200_000));
  assert.ok(text?.kind === 'markdown' && text.text.length < 66_000);
});
