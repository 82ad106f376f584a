// What a plugin keeps in a session, read by its own handlers: at once, fresh, nobody else's, and free of charge for plugins that
// keep nothing.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openHostWorld, SESSION, writePlugin } from '../support/plugins.ts';
import { verifies } from '../support/verifies.ts';

const extension = "api.registerSessionExtension({ namespace: 'box', description: 'A box' });";
const reader = `${extension}
  api.on('session_end', (event, { getSessionExtension }) => void note([api.id, getSessionExtension('box') ?? null]));
  api.on('gateway_start', (event, context) => void note([api.id, 'start', context.getSessionExtension('box') ?? null]));
  api.on('before_tool_call', (event, { getSessionExtension }) => {
    const box = getSessionExtension('box');
    return box?.closed ? { block: true, blockReason: 'The box is closed' } : undefined;
  });
  api.on('before_tool_call_persist', async (event, { getSessionExtension }) => {
    const before = getSessionExtension('box') ?? null;
    const written = await api.session.state.update(event.sessionKey, 'box', () => ({ by: 'update' }));
    note([api.id, before, written.ok, getSessionExtension('box')]);
    await api.session.state.patch(event.sessionKey, 'box', null);
    note([api.id, 'gone', getSessionExtension('box') ?? null]);
  });`;
const grants = [
  'hooks.observe:session_end',
  'hooks.observe:gateway_start',
  'hooks.intercept:before_tool_call',
  'hooks.observe:before_tool_call_persist',
];
const ended = { sessionKey: SESSION, sessionId: 'x'.repeat(22), reason: 'reset' as const, messageCount: 0 };
const call = { sessionKey: SESSION, toolName: 'read', toolCallId: 'c', params: {} };
const stored = { sessionKey: SESSION, agentId: 'main', toolName: 'read', toolCallId: 'c', toolInput: {}, messageId: 'a'.repeat(8) };

test('every kind of hook reads the state of its own plugin in the session of its event, and nothing elsewhere', async () => {
  verifies('compat:C12');
  await using world = await openHostWorld();
  for (const id of ['one', 'two']) writePlugin(world.place, { id, grants, register: reader });
  const host = await world.open();
  for (const id of ['one', 'two']) assert.equal((await host.enable(id, { by: 'test' })).state, 'loaded');
  await world.store.write('pluginState.put', { key: SESSION, pluginId: 'one', namespace: 'box', value: { n: 1 }, at: 1 });

  world.hooks.run('session_end', ended);
  world.hooks.run('gateway_start', { port: 1 });
  await world.hooks.drain(10_000);
  assert.deepEqual(world.notes.splice(0), [
    ['one', 'start', null],
    ['two', 'start', null],
    ['one', { n: 1 }],
    ['two', null],
  ]);

  assert.equal((await world.hooks.run('before_tool_call', call)).kind, 'done');
  await world.store.write('pluginState.put', { key: SESSION, pluginId: 'one', namespace: 'box', value: { closed: true }, at: 2 });
  const gate = await world.hooks.run('before_tool_call', call);
  assert.deepEqual([gate.kind, 'plugin' in gate && gate.plugin], ['refused', 'one'], 'fresh at each call');
});

test('a handler sees what its own plugin has written meanwhile', async () => {
  verifies('compat:C12', 'compat:C17');
  await using world = await openHostWorld();
  writePlugin(world.place, { id: 'one', grants, register: reader });
  const host = await world.open();
  await host.enable('one', { by: 'test' });
  await world.hooks.run('before_tool_call_persist', stored);
  assert.deepEqual(world.notes, [
    ['one', null, true, { by: 'update' }],
    ['one', 'gone', null],
  ]);
});

test('a gate whose state cannot be read stays shut; others are passed over, on record', async () => {
  verifies('compat:C12', 'seams:W5');
  await using world = await openHostWorld();
  writePlugin(world.place, { id: 'one', grants, register: reader });
  const { read } = world.store;
  const broken = { ...world.store, write: world.store.write.bind(world.store), read: failingRead } as typeof world.store;
  function failingRead(...args: Parameters<typeof read>) {
    if (args[0] === 'pluginState.snapshot') return Promise.reject(new Error('the disk is gone'));
    return read.apply(world.store, args);
  }
  const host = await world.open({ store: broken });
  await host.enable('one', { by: 'test' });
  assert.equal((await world.hooks.run('before_tool_call', call)).kind, 'refused');
  assert.equal((await world.hooks.run('before_tool_call_persist', stored)).kind, 'done');
  assert.deepEqual(world.notes, []);
  assert.deepEqual(
    world.failures.map(({ plugin, kind }) => [plugin, kind]),
    [
      ['one', 'dropped'],
      ['one', 'dropped'],
    ],
  );
});

test('hooks of plugins that keep nothing are answered at once, without a look into the store', async () => {
  verifies('compat:C12');
  await using world = await openHostWorld();
  const register = "api.on('before_tool_call', (event, context) => void note(context.getSessionExtension('box') ?? null));";
  writePlugin(world.place, { id: 'one', grants, register });
  const host = await world.open();
  await host.enable('one', { by: 'test' });
  const outcome = world.hooks.run('before_tool_call', call);
  assert.ok(!(outcome instanceof Promise));
  assert.deepEqual(world.notes, [null]);
});
