import assert from 'node:assert/strict';
import { test } from 'node:test';
import { composerOf, inOrder, isActive, shownValue } from './ui-state.ts';

const extensions = [
  { pluginId: 'one', namespace: 'box', value: { mode: 'waiting', items: ['a', { 'x/y~z': 0 }], off: false, none: null } },
  { pluginId: 'two', namespace: 'box', value: 'theirs' },
];

test('shownValue follows a JSON pointer, and finds nothing where there is nothing', () => {
  const at = (path?: string) => shownValue('one', { namespace: 'box', ...(path === undefined ? {} : { path }) }, extensions);
  assert.deepEqual(at(), extensions[0]!.value);
  assert.equal(at('/mode'), 'waiting');
  assert.equal(at('/items/0'), 'a');
  assert.equal(at('/items/1/x~1y~0z'), 0);
  for (const path of ['/items/2', '/items/length', '/items/-', '/items/00', '/mode/0', '/__proto__', '/constructor', '/toString', 'mode'])
    assert.equal(at(path), undefined, path);
  assert.equal(shownValue('three', { namespace: 'box' }, extensions), undefined);
});

test('isActive looks at the state of its own plugin, and a value that is null or false is none', () => {
  const holds = (when: object, plugin = 'one') => isActive(plugin, { namespace: 'box', ...when }, extensions);
  assert.equal(isActive('one', undefined, []), true);
  assert.equal(holds({}), true);
  assert.equal(holds({ path: '/mode', equals: 'waiting' }), true);
  assert.equal(holds({ path: '/mode', equals: 'waiting' }, 'two'), false);
  assert.equal(holds({ path: '/mode', equals: 'off' }), false);
  assert.equal(holds({ path: '/off' }), false);
  assert.equal(holds({ path: '/off', equals: false }), true);
  assert.equal(holds({ path: '/none' }), false);
  assert.equal(holds({ path: '/none', equals: null }), true);
  assert.equal(holds({ path: '/missing', equals: null }), false);
  assert.equal(holds({ path: '/items', equals: ['a', { 'x/y~z': 0 }] }), true);
  assert.equal(holds({ path: '/items', equals: { 0: 'a' } }), false);
});

test('inOrder sorts by priority, plugin and name', () => {
  const of = (pluginId: string, id: string, priority?: number) => ({ pluginId, id, ...(priority === undefined ? {} : { priority }) });
  const given = [of('b', 'a'), of('a', 'b'), of('z', 'z', 5), of('a', 'a'), of('a', 'low', -1)];
  assert.deepEqual(
    inOrder(given).map(({ pluginId, id }) => `${pluginId}.${id}`),
    ['z.z', 'a.a', 'a.b', 'b.a', 'a.low'],
  );
});

test('composerOf gives the strictest of what is active', () => {
  const active = { namespace: 'box', path: '/mode', equals: 'waiting' };
  const confirm = {
    pluginId: 'one',
    id: 'soft',
    priority: 10,
    activeWhen: active,
    composer: { mode: 'confirm' as const, reason: 'Sure?' },
  };
  const disabled = { pluginId: 'one', id: 'hard', activeWhen: active, composer: { mode: 'disabled' as const, reason: 'No' } };
  const normal = { pluginId: 'one', id: 'open', priority: 20, composer: { mode: 'normal' as const, reason: 'Yes' } };
  assert.deepEqual(composerOf([normal, confirm, disabled], extensions), {
    pluginId: 'one',
    descriptorId: 'hard',
    mode: 'disabled',
    reason: 'No',
  });
  assert.equal(composerOf([normal, confirm], extensions)?.mode, 'confirm');
  assert.equal(composerOf([normal, confirm, disabled], []), undefined);
});
