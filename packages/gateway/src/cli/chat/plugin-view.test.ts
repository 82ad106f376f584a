import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonValue, UiDescriptor } from '@tenon/protocol';
import { createFormAsker } from './plugin-form.ts';
import { closedText, panelText, readPress } from './plugin-press.ts';
import { createPluginReader } from './plugin-view.ts';

const schema = {
  type: 'object',
  properties: { why: { type: 'string' }, loud: { type: 'boolean' }, size: { enum: ['small', 'large'] } },
  required: ['why'],
};
const descriptors: UiDescriptor[] = [
  {
    pluginId: 'one',
    pluginName: 'One',
    id: 'card',
    label: 'A card',
    surface: 'chat-message',
    activeWhen: { namespace: 'box', path: '/waits' },
    view: [{ kind: 'list', from: { namespace: 'box', path: '/items' }, itemAction: { label: 'Tick', actionId: 'tick', fields: ['id'] } }],
    actions: [
      { label: 'Go\u001b[2J', actionId: 'go' },
      { label: 'Say why', actionId: 'why', schema },
      { label: 'Gone', actionId: 'gone', unavailable: 'one has no action "gone"' },
    ],
    composer: { mode: 'disabled', reason: 'It waits' },
  },
  { pluginId: 'one', pluginName: 'One', id: 'line', label: 'Line', surface: 'status', view: [{ kind: 'status', text: 'all is well' }] },
];
const extensions = (value: JsonValue) => [{ pluginId: 'one', namespace: 'box', value }];
const waits = { waits: true, items: [{ id: 1, text: 'first', done: true }, 'second'] };

test('cards are text with numbered controls, and nothing in them moves the cursor', () => {
  const read = createPluginReader();
  const shown = read({ descriptors, extensions: extensions(waits), needs: [] });
  assert.deepEqual(shown.cards[0]!.lines, [
    '  A card (one)',
    '  [x] first',
    '      /press 3  Tick: first',
    '  · second',
    '      /press 4  Tick: second',
    '    /press 1  Go\\u{1b}[2J',
    '    /press 2  Say why',
    '    (Gone: one has no action "gone")',
  ]);
  assert.deepEqual(shown.status, ['one: all is well']);
  assert.match(panelText(shown), /No message is taken: It waits \(one\)\. \/panel shows it, \/press decides; commands work/);
  assert.equal(closedText({ ...shown.closed!, mode: 'confirm' }), 'It waits (one): you are asked before a message is sent');
  assert.equal(read({ descriptors, extensions: [], needs: [] }).cards.length, 0);
});

test('a control keeps its number, and a number never becomes another control', () => {
  const read = createPluginReader();
  const numbers = (value: JsonValue) =>
    read({ descriptors, extensions: extensions(value), needs: [] }).controls.map(({ number, label }) => `${number} ${label}`);
  assert.deepEqual(numbers(waits).slice(2), ['3 Tick: first', '4 Tick: second']);
  assert.deepEqual(numbers({ ...waits, items: [{ id: 9, text: 'third' }, ...waits.items] }).slice(2), [
    '5 Tick: third',
    '3 Tick: first',
    '4 Tick: second',
  ]);
});

test('a control that sends a command shows the command, whatever its label says', () => {
  const actions = [{ label: 'Be safe', command: '/permissions bypass\u001b[2J' }];
  const shown = createPluginReader()({
    descriptors: [{ pluginId: 'one', pluginName: 'One', id: 'card', label: 'A card', surface: 'session', actions }],
    extensions: [],
    needs: [],
  });
  assert.equal(shown.cards[0]?.lines.at(-1), '    /press 1  Be safe  (sends /permissions bypass\\u{1b}[2J)');
});

test('/press takes a number, and a payload as JSON; what is missing is asked', () => {
  const shown = createPluginReader()({ descriptors, extensions: extensions(waits), needs: [] });
  const press = (rest: string) => readPress(rest, shown);
  assert.deepEqual(press('9'), { kind: 'wrong', reason: 'There is no /press 9; there are: 1, 2, 3, 4; /panel shows them' });
  assert.match((press('') as { reason: string }).reason, /^Say which/);
  assert.match((press('2 {') as { reason: string }).reason, /this is none: \{$/);
  const given = press('2 {"why":"x"}');
  assert.deepEqual(given.kind === 'send' && [given.control.actionId, given.payload], ['why', { why: 'x' }]);
  const item = press('3');
  assert.deepEqual(item.kind === 'send' && [item.control.actionId, item.payload], ['tick', { id: 1 }]);
  const asked = press('2');
  assert.ok(asked.kind === 'ask');
  const asker = createFormAsker(asked.form);
  assert.deepEqual(asker.question(), ['? Why (a backslash at the end of a line goes on with the next)']);
  assert.deepEqual(asker.take(''), { wrong: 'This is needed' });
  assert.equal(asker.take('because'), undefined);
  assert.deepEqual(asker.question(), ['? Loud (yes or no)', '    Enter: no']);
  assert.equal(asker.take('yes'), undefined);
  assert.deepEqual(asker.question(), ['? Size (its number)', '    1  small', '    2  large', '    Enter leaves it out']);
  assert.deepEqual(asker.take('3'), { wrong: 'Choose one' });
  assert.deepEqual(asker.take('Large'), { payload: { why: 'because', loud: true, size: 'large' } });
});

test('what a plugin needs a person for is a card of its own, unless one offers the same', () => {
  const read = createPluginReader();
  const need = { id: 'need-need-need-need', createdAt: 1, sessionKey: 'agent:main:x', pluginId: 'one', pluginName: 'One', title: 'Look' };
  const cards = (actions: { label: string; actionId: string }[]) =>
    read({ descriptors, extensions: extensions(waits), needs: [{ ...need, actions }] }).cards.map(({ name }) => name);
  assert.deepEqual(cards([{ label: 'Go', actionId: 'go' }]), ['one/card']);
  assert.deepEqual(cards([{ label: 'Else', actionId: 'else' }]), ['one/card', 'one needs: Look']);
});
