import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Entry } from '@tenon/protocol';
import { createOpenDeliveries, deliveryText, editIn } from './delivery.ts';

const custom = (id: string, customType: string, data: object) =>
  ({ id, parentId: null, at: 1, type: 'custom', customType, data }) as unknown as Entry;
const button = (id: string) => ({ id, label: id, action: { data: `one:${id}` } });
const given = (title: string, ...ids: string[]) => ({ by: 'one', byName: 'One', presentation: { title, buttons: ids.map(button) } });
const sent = custom('dddddddd', 'delivery', { channel: 'webchat', attachments: [], ...given('Which?', 'a', 'b') });
const edited = (revision: number, data: object) => custom(`e${revision}`, 'delivery_edited', { entryId: 'dddddddd', revision, ...data });

test('buttons are those of the newest state, and there are none once one was pressed', () => {
  const open = createOpenDeliveries();
  const shown = () => open.all.map(({ entryId, title, buttons }) => [entryId, title, ...buttons.map(({ id }) => id)]);
  assert.equal(open.take(sent), true);
  assert.equal(open.take(sent), false, 'read again, it is the same');
  assert.equal(open.take(edited(1, given('Now?', 'c'))), true);
  assert.deepEqual(shown(), [['dddddddd', 'Now?', 'c']]);
  assert.equal(open.take(edited(2, { by: 'one', byName: 'One', text: 'Nothing to press' })), true);
  assert.deepEqual(shown(), []);
  open.take(edited(3, given('Again?', 'd')));
  open.take(custom('pppppppp', 'delivery_pressed', { entryId: 'dddddddd', buttonId: 'd', label: 'd', pluginId: 'one' }));
  assert.equal(open.take(edited(5, given('Too late', 'e'))), false);
  assert.deepEqual(shown(), []);
});

test('what it says now is read in words, and what is no edit is none', () => {
  const entry = edited(1, { ...given('Ready', 'a'), text: 'It went out.' });
  assert.equal(deliveryText(editIn(entry)!), 'Ready\nIt went out.');
  assert.equal(editIn(edited(1, { text: 7 })), undefined, 'an import may have brought anything');
  assert.equal(editIn(sent), undefined);
});
