import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { contributionKinds } from '@tenon/protocol';
import { createContributionRegistry } from './contribution-registry.ts';
import { loadPatterns } from './patterns.ts';

before(loadPatterns);

const owner = (plugin: string, generation = 1) => ({ plugin, pluginName: plugin, generation });
const nothing = () => undefined;

test('items stand by plugin, then in the order of registration, however they came', () => {
  const registry = createContributionRegistry();
  for (const [plugin, id] of [
    ['b', 'one'],
    ['a', 'two'],
    ['b', 'three'],
    ['a', 'one'],
  ] as const) {
    assert.ok(registry.add(owner(plugin), 'sessionAction', { id, handler: nothing }).ok);
  }
  const order = registry.all('sessionAction').map(({ plugin, key }) => `${plugin} ${key}`);
  assert.deepEqual(order, ['a two', 'a one', 'b one', 'b three']);
});

test('an item is a frozen copy: what the plugin does to its own object later changes nothing', () => {
  const registry = createContributionRegistry();
  const given = { id: 'act', schema: { type: 'object', required: ['a'] }, requiredScopes: ['operator.read'], handler: nothing };
  registry.add(owner('a'), 'sessionAction', given);
  given.requiredScopes.length = 0;
  given.schema.required.push('b');
  const { item } = registry.find('sessionAction', 'a', 'act')!;
  assert.deepEqual([item.requiredScopes, item.schema], [['operator.read'], { type: 'object', required: ['a'] }]);
  assert.ok(Object.isFrozen(item) && Object.isFrozen(item.requiredScopes));
});

test('disposing takes it back once, and says so to whoever still holds it', () => {
  const registry = createContributionRegistry();
  const added = registry.add(owner('a'), 'lifecycle', { id: 'x' });
  const held = registry.find('lifecycle', 'a', 'x');
  const list = registry.all('lifecycle');
  assert.ok(added.ok && held?.isLive);
  added.dispose();
  const { version } = registry;
  added.dispose();
  assert.equal(registry.version, version);
  assert.equal(held.isLive, false);
  assert.equal(list.length, 1, 'a list that somebody reads is never changed');
  assert.deepEqual(registry.all('lifecycle'), []);
  assert.ok(registry.add(owner('a', 2), 'lifecycle', { id: 'x' }).ok);
});

test('commands are one name space: names, aliases and words of the gateway', () => {
  const registry = createContributionRegistry();
  const add = (plugin: string, name: string, aliases: string[] = []) => {
    const added = registry.add(owner(plugin), 'command', { name, description: 'd', aliases, handler: nothing });
    return added.ok ? 'taken' : added.code;
  };
  assert.equal(add('a', 'plan', ['pl']), 'taken');
  assert.equal(add('b', 'pl'), 'TAKEN');
  assert.equal(add('b', 'other', ['plan']), 'TAKEN');
  assert.equal(add('a', 'pl'), 'DUPLICATE');
  assert.equal(add('b', 'twice', ['twice']), 'DUPLICATE');
  assert.equal(add('b', 'reset'), 'RESERVED');
  assert.equal(add('b', 'fine', ['model']), 'RESERVED');
  assert.equal(registry.findAny('command', 'pl')?.key, 'plan');
  assert.equal(registry.findAny('command', 'other'), undefined);
});

test('a slot of the session belongs to the first plugin that asks for it', () => {
  const registry = createContributionRegistry();
  const add = (plugin: string, slot: string) => {
    const extension = { namespace: slot, description: 'd', sessionEntrySlotKey: slot, project: () => null };
    const added = registry.add(owner(plugin), 'sessionExtension', extension);
    return added.ok ? 'taken' : added.code;
  };
  assert.deepEqual(
    [add('a', 'plan'), add('b', 'plan'), add('b', 'revision'), add('b', 'toString')],
    ['taken', 'TAKEN', 'RESERVED', 'RESERVED'],
  );
});

test('no kind takes something that is no item, and none throws', () => {
  const registry = createContributionRegistry();
  const trap = new Proxy(
    {},
    { ownKeys: () => ['id'], getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true, get: () => assert.fail() }) },
  );
  for (const kind of contributionKinds) {
    for (const given of [undefined, null, 1, 'x', [], {}, () => 0, new Date(), trap, { id: 'x', name: 'x', unknown: 1 }]) {
      const added = registry.add(owner('a'), kind, given);
      assert.equal(added.ok ? 'taken' : added.code, 'INVALID', kind);
    }
    assert.deepEqual(registry.all(kind), []);
  }
});

test('a descriptor does one thing with each control, and has nothing where it could not be drawn', () => {
  const registry = createContributionRegistry();
  let count = 0;
  const add = (fields: object) => {
    const added = registry.add(owner('a'), 'uiDescriptor', { id: `d${++count}`, label: 'x', surface: 'session', ...fields });
    return added.ok ? 'taken' : added.message;
  };
  const from = { namespace: 'box' };
  assert.equal(add({ actions: [{ label: 'x', actionId: 'a' }], view: [{ kind: 'list', from }] }), 'taken');
  assert.equal(add({ actions: [{ label: 'x' }] }), 'uiDescriptor/actions/0 needs either actionId or command');
  assert.equal(add({ actions: [{ label: 'x', actionId: 'a', command: '/b' }] }), 'uiDescriptor/actions/0 needs either actionId or command');
  assert.match(
    add({ actions: [{ label: 'x', actionId: 'a', payload: 1, payloadFrom: from }] }),
    /payload and .*payloadFrom cannot both be given/,
  );
  assert.match(add({ actions: [{ label: 'x', command: '/b', payload: 1 }] }), /a command has no payload/);
  for (const command of ['/approve', '/approve allow', '/approve always abc', '/approve\tallow'])
    assert.match(add({ actions: [{ label: 'Show details', command }] }), /would answer an approval/, command);
  assert.equal(add({ actions: [{ label: 'x', command: '/approved' }] }), 'taken');
  assert.equal(add({ view: [{ kind: 'list' }] }), 'uiDescriptor/view/0 needs either text or from');
  const itemAction = { label: 'x', actionId: 'a', fields: ['id'] };
  assert.match(add({ view: [{ kind: 'table', from, itemAction }] }), /itemAction is for a list/);
  const options = [
    { label: 'x', action: { actionId: 'a' } },
    { label: 'y', action: { command: '/b' } },
  ];
  assert.match(add({ options }), /options are for the surface chat-input-toolbar-chip/);
  const surface = 'chat-input-toolbar-chip';
  assert.equal(add({ surface, options }), 'taken');
  assert.match(add({ surface, options, actions: [{ label: 'x', actionId: 'a' }] }), /cannot both be given/);
  assert.equal(
    add({ surface, options: [options[0], { label: 'y', action: {} }] }),
    'uiDescriptor/options/1/action needs either actionId or command',
  );
});
