import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blockText, fillTemplate, readBlock } from './render.ts';

test('old spellings of blocks are read all the way down, and the name of today wins', () => {
  assert.deepEqual(
    readBlock({
      kind: 'widget',
      widget_id: 'w',
      keybindings: [],
      body: { kind: 'stack', items: [{ kind: 'markdown', markdown: 'a' }, { kind: 'table', headers: ['x'], rows: [] }, { kind: 'new' }] },
    }),
    {
      kind: 'widget',
      widget_id: 'w',
      keybindings: [],
      body: { kind: 'stack', children: [{ kind: 'markdown', text: 'a' }, { kind: 'table', columns: ['x'], rows: [] }, { kind: 'new' }] },
    },
  );
  assert.deepEqual(readBlock({ kind: 'diff', diff: 'old', patch: 'new' }), { kind: 'diff', patch: 'new' });
  assert.deepEqual(readBlock({ kind: 'progress', value: 7 }), { kind: 'progress', value: 1 });
  const named = readBlock(JSON.parse('{"kind":"diff","__proto__":{"patch":"x"}}')) as { patch?: string };
  assert.equal(named.patch, undefined, 'a key is a key, whatever it is called');
  for (const odd of [null, 5, 'x', [], { kind: 5 }, {}]) assert.deepEqual(readBlock(odd), odd);
});

test('every block has a text: its own, one that is made, or its JSON', () => {
  assert.equal(blockText({ kind: 'table', columns: ['a'], rows: [], text: 'mine' }), 'mine');
  assert.equal(blockText({ kind: 'markdown', markdown: '# Hi' }), '# Hi');
  assert.equal(
    blockText({
      kind: 'keyvalue',
      title: 'Now',
      rows: [
        { key: 'a', value: '1' },
        { key: 'long', value: '2' },
      ],
    }),
    'Now\na     1\nlong  2',
  );
  assert.equal(blockText({ kind: 'table', columns: ['name', 'n'], rows: [['a', '10'], ['longer']] }), 'name    n\na       10\nlonger');
  assert.equal(blockText({ kind: 'diff', patch: '-a\n+b' }), '-a\n+b');
  assert.equal(blockText({ kind: 'progress', value: 0.4, label: 'speed' }), 'speed [########------------] 40%');
  assert.equal(
    blockText({
      kind: 'stack',
      children: [
        { kind: 'markdown', text: 'a' },
        { kind: 'progress', value: 0 },
      ],
    }),
    `a\n[${'-'.repeat(20)}] 0%`,
  );
  assert.equal(blockText({ kind: 'widget', widget_id: 'w', body: { kind: 'markdown', text: 'in' }, keybindings: [] }), 'in');
  assert.equal(blockText({ kind: 'hologram', depth: 3 }), '{\n  "kind": "hologram",\n  "depth": 3\n}');
  assert.equal(blockText(undefined), '');
});

test('a block that contains itself many times over ends', () => {
  let block: unknown = { kind: 'markdown', text: 'x' };
  for (let depth = 0; depth < 1_000; depth++) block = { kind: 'stack', children: [block] };
  assert.match(blockText(block), /"kind": "stack"/);
});

test('a template is filled from data, never run', () => {
  const template = { kind: 'stack', children: [{ kind: 'markdown', text: 'score: {{ game.score }} of {{game.of}}{{nothing}}' }] };
  assert.deepEqual(fillTemplate(template, { game: { score: 3, of: [1, 2] } }), {
    kind: 'stack',
    children: [{ kind: 'markdown', text: 'score: 3 of [1,2]' }],
  });
  assert.equal(fillTemplate('{{constructor.name}}{{__proto__}}', {}), '');
  assert.equal(fillTemplate('{{a}}', { a: '{{b}}', b: 'x' }), '{{b}}', 'what was filled in is not filled again');
});
