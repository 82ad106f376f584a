// The plugin host with real plugin folders, the real loader and a real store: what is enabled, loaded, registered, reloaded, revoked
// and switched off.
import assert from 'node:assert/strict';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { RegisterApi } from '@tenon/plugin-sdk';
import type { JsonValue } from '@tenon/protocol';
import { createManualClock } from '../support/clock.ts';
import { EXTENSION, isGatewayError, KEEP, lastApi, openHostWorld, put, SESSION, writePlugin } from '../support/plugins.ts';
import { verifies } from '../support/verifies.ts';

const by = 'tester';

test('a plugin is off until it is enabled, and then holds what its manifest asks for', async () => {
  await using world = await openHostWorld();
  writePlugin(world.place, { id: 'one', grants: ['sessions.list'], register: KEEP });
  const host = await world.open();
  assert.equal(host.get('one')?.state, 'off');
  assert.deepEqual(world.notes, []);

  const enabled = await host.enable('one', { by });
  assert.equal(enabled.state, 'loaded', enabled.reason);
  assert.deepEqual(enabled.granted, ['sessions.list']);
  assert.equal(host.holds('one', 'sessions.list'), true);
  assert.equal(host.holds('one', 'turns.start'), false);
  assert.equal(world.notes.length, 1);
  assert.equal(world.changed.at(-1)?.generation, host.generation);

  const again = await world.open();
  assert.equal(again.get('one')?.state, 'loaded');
  const records = await world.store.read('audit.list', { limit: 100 });
  const actions = records.map(({ action }) => action);
  assert.ok(actions.includes('plugins.enable') && actions.includes('plugins.grant'), actions.join());
});

test('bundled plugins need to be enabled and granted like all others', async () => {
  verifies('seams:W2');
  await using world = await openHostWorld();
  const bundledFolder = join(world.home, 'bundled');
  mkdirSync(bundledFolder);
  writePlugin(bundledFolder, { id: 'ours', grants: ['tools.register'], register: KEEP });
  const host = await world.open({ bundledFolder });
  assert.equal(host.get('ours')?.state, 'off');
  assert.equal(host.get('ours')?.origin, 'bundled');
  assert.deepEqual(host.get('ours')?.granted, []);
  const { granted, state } = await host.enable('ours', { by, grants: [] });
  assert.deepEqual([state, granted], ['loaded', []]);
});

test('files that are swapped after they were shown are not trusted, nor by a grant', async () => {
  verifies('S58:swap');
  await using world = await openHostWorld();
  const folder = writePlugin(world.place, { id: 'one', grants: ['sessions.list'], register: KEEP });
  const host = await world.open();
  const treeHash = await host.treeHash('one');
  assert.match(treeHash ?? '', /^[0-9a-f]{64}$/);
  put(join(folder, 'more.js'), 'export {};');
  const changed = isGatewayError('CONFLICT', /files of plugin "one" have changed since they were shown.*tenon plugin enable one/);
  await assert.rejects(host.enable('one', { by, treeHash: treeHash! }), changed);
  assert.deepEqual([host.get('one')?.state, host.get('one')?.enabled, world.notes], ['off', false, []]);
  assert.deepEqual((await world.store.read('plugins.grants', {})).grants, []);

  const now = await host.treeHash('one');
  assert.equal((await host.enable('one', { by, treeHash: now!, grants: [] })).state, 'loaded');
  put(join(folder, 'more.js'), 'export const other = 1;');
  await assert.rejects(host.grant('one', ['sessions.list'], { by }), isGatewayError('CONFLICT', /have changed since they were trusted/));
  assert.deepEqual(
    (await host.reload('one', { by })).map(({ state }) => state),
    ['changed'],
  );
  put(join(folder, 'more.js'), 'export {};');
  assert.deepEqual((await host.grant('one', ['sessions.list'], { by })).granted, ['sessions.list']);
});

test('names of a plugin whose files have changed pass to nobody, also not over a restart', async () => {
  verifies('S58');
  await using world = await openHostWorld();
  const command = (name: string, alias: string) =>
    `api.registerCommand({ name: '${name}', aliases: ['${alias}'], description: 'Does it', handler: () => ({}) });`;
  const folder = writePlugin(world.place, { id: 'owner', grants: ['commands.register'], register: command('deploy', 'ship') });
  writePlugin(world.place, { id: 'rival', grants: ['commands.register'], register: command('launch', 'ship') });
  writePlugin(world.place, { id: 'a-late', grants: ['commands.register'], register: command('deploy', 'go') });
  let host = await world.open();
  await host.enable('owner', { by });
  await host.enable('rival', { by });
  const refused = (id: string) =>
    host.get(id)?.registrations.flatMap(({ accepted, code, message }) => (accepted ? [] : [{ code, message }]));
  const holder = () => host.registry.findAny('command', 'deploy')?.plugin;
  assert.equal(holder(), 'owner');

  put(join(folder, 'more.js'), 'export {};');
  host = await world.open();
  assert.equal(host.get('owner')?.state, 'changed');
  const taken = (name: string) => [
    {
      code: 'TAKEN',
      message: `"${name}" belongs to plugin owner, which is switched on and not loaded; to free it: tenon plugin disable owner`,
    },
  ];
  assert.deepEqual(refused('rival'), taken('ship'), 'the one that wanted it all the time');
  await host.enable('a-late', { by });
  assert.deepEqual(refused('a-late'), taken('deploy'), 'one that comes now, whatever its id');
  host = await world.open();
  assert.deepEqual([holder(), refused('rival'), refused('a-late')], [undefined, taken('ship'), taken('deploy')]);

  rmSync(join(folder, 'tenon.plugin.json'));
  host = await world.open();
  assert.deepEqual(refused('a-late'), taken('deploy'), 'one that is not even fit');
  await host.disable('owner', { by });
  assert.deepEqual([holder(), refused('rival'), refused('a-late')], ['a-late', [], []], 'who is switched off keeps nothing');
  host = await world.open();
  assert.deepEqual([holder(), refused('rival')], ['a-late', []]);
});

test('a plugin that the gateway could not get past when it loaded it is left out until somebody says so, and its gate stays shut', async () => {
  verifies('S49');
  await using world = await openHostWorld();
  const register = `${KEEP} api.registerTrustedToolPolicy({ id: 'all', description: 'All', evaluate: () => ({}) });`;
  writePlugin(world.place, { id: 'one', grants: ['policy.tools'], register });
  const markFile = join(world.home, 'blocked.json');
  const watch = { blockedAfterMs: 1_000, logFile: join(world.home, 'log'), markFile };
  let host = await world.open();
  assert.equal((await host.enable('one', { by })).state, 'loaded');
  put(markFile, JSON.stringify({ pid: 1, plugin: 'one', place: 'load', at: 5, forMs: 2_500 }));
  const { length } = world.notes;

  host = await world.open({ watch });
  const left = () => [host.get('one')?.state, host.get('one')?.enabled, world.notes.length - length];
  assert.deepEqual(left(), ['failed', true, 0], 'none of its code ran');
  assert.match(host.get('one')?.reason ?? '', /blocked the gateway when it was loaded: .*2\.5 s.*to try again: tenon plugin reload one/);
  assert.equal(host.missingGuard('tool_policy')?.plugin, 'one');
  rmSync(markFile);
  host = await world.open({ watch });
  await host.reload(undefined, { by });
  await host.grant('one', ['policy.tools'], { by });
  assert.deepEqual(left(), ['failed', true, 0], 'also when the mark is gone, and with all the others');
  const actions = (await world.store.read('audit.list', { limit: 100 })).map(({ action }) => action);
  assert.ok(actions.includes('plugins.hold'), actions.join());

  assert.deepEqual(
    (await host.reload('one', { by })).map(({ state }) => state),
    ['loaded'],
  );
  assert.equal(host.missingGuard('tool_policy'), undefined);
  host = await world.open({ watch });
  assert.equal(host.get('one')?.state, 'loaded');
});

test('a plugin that blocked the gateway at work is loaded again: it keeps nobody from starting', async () => {
  await using world = await openHostWorld();
  writePlugin(world.place, { id: 'one', register: KEEP });
  await (await world.open()).enable('one', { by });
  const markFile = join(world.home, 'blocked.json');
  put(markFile, JSON.stringify({ pid: 1, plugin: 'one', place: 'tool', at: 5, forMs: 2_500 }));
  const host = await world.open({ watch: { blockedAfterMs: 1_000, logFile: join(world.home, 'log'), markFile } });
  assert.deepEqual([host.get('one')?.state, host.get('one')?.incidents[0]?.kind], ['loaded', 'blocked']);
});

test('who enables a plugin with less than before takes the rest back', async () => {
  verifies('seams:W2');
  await using world = await openHostWorld();
  writePlugin(world.place, { id: 'one', grants: ['sessions.list', 'turns.start'], register: KEEP });
  const host = await world.open();
  await host.enable('one', { by });
  await host.disable('one', { by });
  assert.deepEqual((await host.enable('one', { by, grants: ['sessions.list'] })).granted, ['sessions.list']);
  const again = await world.open();
  assert.deepEqual(again.get('one')?.granted, ['sessions.list']);
  assert.equal(again.holds('one', 'turns.start'), false);
});

test('every registration is taken or refused with a code, and the log says so', async () => {
  verifies('seams:W3', 'seams:W19', 'seams:A7', 'seams:A13', 'seams:A3', 'S60');
  await using world = await openHostWorld();
  const tool = (name: string, more = '') =>
    `api.registerTool({ name: '${name}', description: 'd', parameters: { type: 'object' }, risk: 'read', execute: () => ({ content: '' }) ${more} });`;
  writePlugin(world.place, { id: 'aaa', grants: ['tools.register'], register: tool('shared') });
  writePlugin(world.place, {
    id: 'bbb',
    grants: ['tools.register', 'commands.register', 'ui.descriptors', 'hooks.observe:agent_end'],
    register: `
      api.registerToolMetadata({ toolName: 'mine', displayName: 'Mine' });
      api.registerToolMetadata({ toolName: 'shared', displayName: 'Not mine' });
      ${tool('mine')}
      ${tool('mine')}
      ${tool('Shared')}
      ${tool('exec')}
      api.registerTool({ name: 'evil', description: 'd', parameters: { $ref: 'https://example.com/s.json' }, risk: 'read', execute() {} });
      api.registerTool({ name: 'slow', description: 'd', parameters: { properties: { a: { pattern: '(a+)+(?=b)' } } }, risk: 'read', execute() {} });
      api.registerTool({ name: 'none', description: 'd', parameters: {}, risk: 'read' });
      api.registerTool(null);
      api.registerTool({ get name() { throw new Error('no'); } });
      api.registerSessionExtension({ namespace: '../aaa', description: 'd' });
      api.registerSessionExtension({ namespace: 'box', description: 'd', async project() {} });
      api.registerSessionExtension({ namespace: 'slot', description: 'd', sessionEntrySlotKey: 'title', project: () => 1 });
      api.registerSessionAction({ id: 'act', schema: { type: 'strange' }, handler() {} });
      api.registerCommand({ name: 'go', description: 'd', aliases: ['stop'], handler() {} });
      api.registerGatewayMethod({ name: 'call', handler() {} });
      api.registerControlUiDescriptor({ id: 'chip', label: 'Chip', surface: 'session' });
      api.on('agent_end', () => {});
      api.on('message_received', () => {});
      api.on('no_such_hook', () => {});
      api.on('__proto__', () => {});
      note(api);`,
  });
  const host = await world.open({ reservedTools: ['exec'] });
  await host.enable('aaa', { by });
  const { registrations, state, reason } = await host.enable('bbb', {
    by,
    grants: ['tools.register', 'commands.register', 'hooks.observe:agent_end'],
  });
  assert.equal(state, 'loaded', reason);
  const shown = registrations.map(({ kind, key, accepted, code }) => [kind, key, accepted ? 'taken' : code].join(' '));
  assert.deepEqual(shown, [
    'tool mine taken',
    'tool mine DUPLICATE',
    'tool Shared TAKEN',
    'tool exec RESERVED',
    'tool evil BAD_SCHEMA',
    'tool slow BAD_SCHEMA',
    'tool none INVALID',
    'tool  INVALID',
    'tool  INVALID',
    'sessionExtension ../aaa INVALID',
    'sessionExtension box INVALID',
    'sessionExtension slot RESERVED',
    'sessionAction act BAD_SCHEMA',
    'command go RESERVED',
    'gatewayMethod call NOT_DECLARED',
    'uiDescriptor chip NOT_GRANTED',
    'hook agent_end NOT_DECLARED',
    'hook message_received NOT_DECLARED',
    'hook no_such_hook UNKNOWN_HOOK',
    'hook __proto__ UNKNOWN_HOOK',
    'toolMetadata mine taken',
    'toolMetadata shared NOT_OWN',
  ]);
  assert.match(registrations.find(({ key }) => key === 'agent_end')?.message ?? '', /conversation\.read/);
  assert.ok(world.logged.some(({ plugin, code, key }) => plugin === 'bbb' && code === 'TAKEN' && key === 'Shared'));
  assert.equal(host.registry.findAny('tool', 'shared')?.plugin, 'aaa');

  lastApi(world).registerTool({} as never);
  lastApi(world).on('agent_end', () => undefined);
  const late = host
    .get('bbb')
    ?.registrations.slice(-2)
    .map(({ code }) => code);
  assert.deepEqual(late, ['CLOSED', 'CLOSED']);
});

test('a plugin that registers ten thousand things keeps 512 of them and a bounded record', async () => {
  await using world = await openHostWorld();
  writePlugin(world.place, {
    id: 'many',
    register: `for (let i = 0; i < 10000; i++) api.registerSessionAction({ id: 'a' + i, handler() {} });`,
  });
  const host = await world.open();
  const { registrations, state } = await host.enable('many', { by });
  assert.equal(state, 'loaded');
  assert.equal(registrations.filter(({ accepted }) => accepted).length, 512);
  assert.equal(host.registry.all('sessionAction').length, 512);
  assert.ok(registrations.length < 1_000);
  assert.equal(registrations.at(-1)?.code, 'TOO_MANY');
});

for (const [name, source, reason] of [
  ['throws in register', { register: `${EXTENSION} throw new Error('boom');` }, /register threw: boom/],
  ['has an asynchronous register', { register: `${EXTENSION} return Promise.reject(new Error('later'));` }, /asynchronous/],
  ['throws in its module', { module: `throw new Error('at once');` }, /module threw: at once/],
  ['exports nothing', { module: `export const x = 1;` }, /no default export/],
  ['says another id', { module: `export default { id: 'other', register() {} };` }, /"other"/],
  ['is not JavaScript', { module: `this is not code` }, /module threw/],
] as const) {
  test(`a plugin that ${name} is not loaded and leaves nothing`, async () => {
    await using world = await openHostWorld();
    writePlugin(world.place, { id: 'bad', ...source });
    writePlugin(world.place, { id: 'good', register: EXTENSION });
    const host = await world.open();
    const bad = await host.enable('bad', { by });
    assert.equal(bad.state, 'failed');
    assert.match(bad.reason ?? '', reason);
    assert.deepEqual(host.registry.all('sessionExtension'), []);
    assert.equal((await host.enable('good', { by })).state, 'loaded');
    assert.equal(host.get('bad')?.state, 'failed');
  });
}

test('after a reload the old generation receives nothing and can do nothing', async () => {
  verifies('seams:A18', 'seams:W9', 'seams:W10');
  await using world = await openHostWorld();
  const grants = ['hooks.observe:gateway_stop', 'hooks.observe:model_call_started'];
  const source = (word: string) => ({
    id: 'one',
    grants,
    register: `${EXTENSION} note(api); api.on('gateway_stop', () => note('${word}')); api.lifecycle.onDispose(() => note('${word} ends'));
      api.registerRuntimeLifecycle({ id: 'l', cleanup: ({ reason }) => note('${word} ' + reason) });`,
  });
  writePlugin(world.place, source('old'));
  put(join(world.place, 'one', 'part.js'), `export const word = 'old';`);
  const host = await world.open();
  const first = await host.enable('one', { by });
  const old = world.notes[0] as RegisterApi;
  const [handler] = world.hookRegistry.handlers('gateway_stop');
  world.hooks.run('gateway_stop', { reason: 'test' });
  await world.hooks.drain(1_000);
  assert.deepEqual(world.notes.slice(1), ['old']);

  writePlugin(world.place, source('new'));
  await host.enable('one', { by });
  const second = host.get('one');
  assert.ok((second?.generation ?? 0) > (first.generation ?? 0));
  assert.deepEqual(world.notes.filter((note) => typeof note === 'string').slice(1), ['old ends', 'old restart']);
  world.notes.length = 0;
  world.hooks.run('gateway_stop', { reason: 'test' });
  await world.hooks.drain(1_000);
  assert.deepEqual(world.notes, ['new']);
  assert.equal(handler?.isLive, false);
  assert.equal(old.lifecycle.signal.aborted, true);
  assert.deepEqual(await old.session.state.patch(SESSION, 'box', 1), {
    ok: false,
    reason: 'not-loaded',
    message: 'this load of plugin one has ended',
  });
});

test('a reload gets the new code of every module of the folder, TypeScript included', async () => {
  await using world = await openHostWorld();
  const module = `import { word } from './part.ts'; import { basename } from 'node:path';
    export default { id: 'one', register(api: object) { globalThis[Symbol.for('tenon.test.notes')].push(basename(word)); } };`;
  const folder = writePlugin(world.place, { id: 'one', module, entry: 'index.ts' });
  put(join(folder, 'part.ts'), `export const word: string = 'a/first';`);
  const host = await world.open();
  const { state, reason } = await host.enable('one', { by });
  assert.equal(state, 'loaded', reason);
  put(join(folder, 'part.ts'), `export const word: string = 'a/second';`);
  assert.equal((await host.reload('one', { by }))[0]?.state, 'changed');
  await host.enable('one', { by });
  assert.deepEqual(world.notes, ['first', 'second']);
});

test('what was registered by a right is gone as soon as it is revoked', async () => {
  await using world = await openHostWorld();
  const grants = ['tools.register', 'hooks.observe:gateway_stop', 'services.run'];
  writePlugin(world.place, {
    id: 'one',
    grants,
    register: `api.registerTool({ name: 't', description: 'd', parameters: {}, risk: 'read', execute: () => ({ content: '' }) });
      api.on('gateway_stop', () => note('told'));
      api.registerService({ id: 's', start: () => note('start'), stop: () => note('stop') });`,
  });
  const host = await world.open();
  const enabled = await host.enable('one', { by });
  assert.deepEqual(enabled.services, [{ id: 's', state: 'running' }]);
  const revoking = host.revoke('one', ['tools.register', 'services.run'], { by });
  assert.equal(host.registry.findAny('tool', 't'), undefined);
  const { registrations, generation, services } = await revoking;
  assert.equal(generation, enabled.generation);
  assert.deepEqual(
    registrations.map(({ key, accepted, code }) => [key, accepted, code]),
    [
      ['t', false, 'NOT_GRANTED'],
      ['gateway_stop', true, undefined],
      ['s', false, 'NOT_GRANTED'],
    ],
  );
  assert.deepEqual(services, [{ id: 's', state: 'stopped' }]);
  assert.deepEqual(world.notes, ['start', 'stop']);
  await host.revoke('one', ['hooks.observe:gateway_stop'], { by });
  assert.deepEqual(world.hookRegistry.handlers('gateway_stop'), []);
  await assert.rejects(host.grant('one', ['turns.start'], { by }), isGatewayError('INVALID_REQUEST', /manifest does not ask/));
});

test('a turn that a plugin has asked for and that waits is not begun after its right, or the plugin, was taken away', async () => {
  await using world = await openHostWorld();
  for (const id of ['one', 'two']) writePlugin(world.place, { id, grants: ['turns.start'] });
  const host = await world.open();
  for (const id of ['one', 'two']) await host.enable(id, { by });
  const ask = async (pluginId: string) => {
    const wish = { runId: `r-${pluginId}-${Math.random()}`, pluginId, pluginName: pluginId };
    await world.store.write('runs.continue', { key: SESSION, wish, force: true, at: 1 });
  };
  const waiting = async () => (await world.store.read('runs.queued', { key: SESSION })).runs.map(({ principal }) => principal);
  await ask('one');
  await ask('two');
  await host.revoke('one', ['turns.start'], { by });
  assert.deepEqual(await waiting(), ['plugin:two']);
  await host.disable('two', { by });
  assert.deepEqual(await waiting(), []);
});

test('disabling removes what the plugin keeps, in the order of clean-up, whatever fails on the way', async () => {
  await using world = await openHostWorld();
  writePlugin(world.place, {
    id: 'one',
    grants: ['services.run', 'prompt.inject'],
    register: `note(api);
      api.registerSessionExtension({ namespace: 'box', description: 'd', async cleanup({ reason, sessionKey }) {
        note(['extension', reason, sessionKey]); throw new Error('no'); } });
      api.registerRuntimeLifecycle({ id: 'life', cleanup({ reason, sessionKey }) { note(['lifecycle', reason, sessionKey]); } });
      api.registerService({ id: 'a', start() {}, stop: () => note('stop a') });
      api.registerService({ id: 'b', start() {}, stop: () => { note('stop b'); throw new Error('no'); } });`,
  });
  const host = await world.open();
  await host.enable('one', { by });
  const api = lastApi(world);
  await api.session.state.patch(SESSION, 'box', 1);
  await api.session.workflow.enqueueNextTurnInjection({ sessionKey: SESSION, text: 'x' });
  world.notes.length = 0;
  const { state } = await host.disable('one', { by });
  assert.equal(state, 'off');
  assert.deepEqual(world.notes, ['stop b', 'stop a', ['extension', 'disable', undefined], ['lifecycle', 'disable', undefined]]);
  assert.equal((await host.stateOf('one', SESSION))?.('box'), undefined);
  assert.deepEqual((await world.store.read('injections.list', { key: SESSION })).injections, []);
  assert.ok(world.logged.some(({ pluginId, hookId }) => pluginId === 'one' && hookId === 'session:box'));
  assert.equal((await world.open()).get('one')?.state, 'off');
});

test('plugins are told of sessions that are reset or deleted, and keep their state over a restart', async () => {
  await using world = await openHostWorld();
  writePlugin(world.place, {
    id: 'one',
    register: `note(api);
      api.registerSessionExtension({ namespace: 'box', description: 'd', cleanup: ({ reason, sessionKey }) => note(['extension', reason, sessionKey]) });
      api.registerRuntimeLifecycle({ id: 'life', cleanup: ({ reason, sessionKey }) => note(['lifecycle', reason, sessionKey]) });`,
  });
  const host = await world.open();
  await host.enable('one', { by });
  await lastApi(world).session.state.patch(SESSION, 'box', 'kept');
  await host.reload('one', { by });
  assert.equal((await lastApi(world).session.state.get(SESSION, 'box'))?.value, 'kept');
  world.notes.length = 0;
  for (const reason of ['reset', 'delete', 'patch']) {
    host.committed([{ seq: 1, event: 'sessions.changed', payload: JSON.stringify({ key: SESSION, reason }), sessionKey: SESSION }]);
  }
  await host.settled();
  assert.deepEqual(world.notes, [
    ['extension', 'reset', SESSION],
    ['lifecycle', 'reset', SESSION],
    ['extension', 'delete', SESSION],
    ['lifecycle', 'delete', SESSION],
  ]);
});

test('a handler that is too slow five times in a row is switched off, if its hook can do without', async () => {
  verifies('seams:W5');
  const clock = createManualClock();
  await using world = await openHostWorld(clock);
  writePlugin(world.place, {
    id: 'slow',
    grants: ['hooks.intercept:resolve_exec_env', 'hooks.intercept:before_tool_call'],
    register: `api.on('resolve_exec_env', () => new Promise(() => {}), { timeoutMs: 10 });
      api.on('before_tool_call', () => new Promise(() => {}), { timeoutMs: 10 });`,
  });
  const host = await world.open();
  const { state, reason } = await host.enable('slow', { by });
  assert.equal(state, 'loaded', reason);
  for (let round = 0; round < 6; round++) {
    const open = world.hooks.run('resolve_exec_env', { toolName: 'exec', host: 'gateway', env: {} } as never);
    const closed = world.hooks.run('before_tool_call', { toolName: 'exec', toolCallId: 'call-1', params: {}, risk: 'run' } as never);
    clock.advance(10);
    assert.equal((await open).kind, 'done');
    assert.equal((await closed).kind, 'refused');
  }
  assert.deepEqual(world.hookRegistry.handlers('resolve_exec_env'), []);
  assert.equal(world.hookRegistry.handlers('before_tool_call').length, 1);
  const info = host.get('slow');
  assert.deepEqual(
    info?.switchedOff.map(({ place }) => place),
    ['resolve_exec_env'],
  );
  const counts = info?.counts.find(({ place }) => place === 'before_tool_call');
  assert.deepEqual([counts?.calls, counts?.timeouts, counts?.errors, counts?.p50Ms], [6, 6, 0, 10]);
});

test('the configuration is held against the schema of the manifest', async () => {
  await using world = await openHostWorld();
  const configSchema = { type: 'object', properties: { size: { type: 'integer', minimum: 1 } }, additionalProperties: false };
  writePlugin(world.place, { id: 'one', register: `note(api.pluginConfig);`, manifest: { configSchema } });
  writePlugin(world.place, { id: 'plain', register: KEEP });
  const host = await world.open();
  await host.enable('one', { by });
  await assert.rejects(host.setConfig('one', { size: 0 }, { by }), isGatewayError('INVALID_REQUEST', /config\/size must be at least 1/));
  await assert.rejects(host.setConfig('one', { more: 0 }, { by }), isGatewayError('INVALID_REQUEST', /unknown field "more"/));
  await assert.rejects(host.setConfig('plain', { size: 1 }, { by }), isGatewayError('INVALID_REQUEST', /nothing to configure/));
  const { config } = await host.setConfig('one', { size: 3 }, { by });
  assert.deepEqual(config, { size: 3 });
  assert.deepEqual(world.notes, [{}, { size: 3 }]);
  assert.ok(Object.isFrozen(world.notes[1]));
});

test('without plugins, none is loaded and all are listed', async () => {
  await using world = await openHostWorld();
  writePlugin(world.place, { id: 'one', register: KEEP });
  await (await world.open()).enable('one', { by });
  world.notes.length = 0;
  const host = await world.open({ safe: true });
  assert.equal(host.get('one')?.state, 'off');
  assert.match(host.get('one')?.reason ?? '', /started without plugins/);
  assert.deepEqual(world.notes, []);
});

test('start-up checks are asked, and one that fails says so', async () => {
  verifies('compat:C18');
  await using world = await openHostWorld();
  writePlugin(world.place, {
    id: 'one',
    register: `api.registerStartupCheck({ id: 'fine', check: () => ({ ok: true, message: 'all well' }) });
      api.registerStartupCheck({ id: 'throws', check() { throw new Error('no'); } });
      api.registerStartupCheck({ id: 'odd', check: () => 'yes' });`,
  });
  const host = await world.open();
  await host.enable('one', { by });
  assert.deepEqual(
    (await host.check()).map(({ id, ok }) => [id, ok]),
    [
      ['fine', true],
      ['throws', false],
      ['odd', false],
    ],
  );
});

test('a reload that fails leaves neither the old load nor half of the new one', async () => {
  await using world = await openHostWorld();
  const grants = ['hooks.observe:gateway_stop'];
  const life = `api.registerRuntimeLifecycle({ id: 'l', cleanup: ({ reason }) => note(reason) }); api.on('gateway_stop', () => {});`;
  writePlugin(world.place, { id: 'one', grants, register: life });
  const host = await world.open();
  await host.enable('one', { by });
  writePlugin(world.place, { id: 'one', grants, register: `${life} throw new Error('broken');` });
  const broken = await host.enable('one', { by });
  assert.equal(broken.state, 'failed');
  assert.match(broken.reason ?? '', /broken/);
  assert.deepEqual(world.notes, ['restart']);
  assert.deepEqual([world.hookRegistry.handlers('gateway_stop'), host.registry.all('lifecycle')], [[], []]);
  assert.equal(host.holds('one', 'hooks.observe:gateway_stop'), false);

  writePlugin(world.place, { id: 'one', grants, register: life });
  assert.equal((await host.enable('one', { by })).state, 'loaded');
});

test('a folder that is gone takes its plugin with it at the next reload, and says so until it is switched off', async () => {
  await using world = await openHostWorld();
  const folder = writePlugin(world.place, { id: 'one', register: EXTENSION });
  const host = await world.open();
  await host.enable('one', { by });
  rmSync(folder, { recursive: true });
  await host.reload(undefined, { by });
  const { state, enabled, reason } = host.get('one')!;
  assert.deepEqual([state, enabled], ['rejected', true]);
  assert.match(reason ?? '', /its folder is not there/);
  assert.deepEqual(host.registry.all('sessionExtension'), []);
  assert.equal((await host.disable('one', { by })).enabled, false);
  assert.equal(host.get('one'), undefined);
});

test('a configuration that would take its schema for ever is refused in time', async () => {
  verifies('S61');
  await using world = await openHostWorld();
  const configSchema = {
    $ref: '#/$defs/a',
    $defs: {
      a: { anyOf: [{ $ref: '#/$defs/b' }, { $ref: '#/$defs/b' }] },
      b: { additionalProperties: { $ref: '#/$defs/a' }, maxProperties: 1 },
    },
  };
  writePlugin(world.place, { id: 'one', manifest: { configSchema } });
  const host = await world.open();
  let config: Record<string, JsonValue> = { a: 1, b: 1 };
  for (let depth = 0; depth < 50; depth++) config = { a: config };
  await assert.rejects(host.setConfig('one', config, { by }), isGatewayError('INVALID_REQUEST', /takes too long/));
});

test('services start in order within their time, and one that hangs does not keep the plugin from being loaded', async () => {
  const clock = createManualClock();
  await using world = await openHostWorld(clock);
  writePlugin(world.place, {
    id: 'one',
    grants: ['services.run'],
    register: `api.registerService({ id: 'hangs', start: () => { note('hangs'); return new Promise(() => {}); } });
      api.registerService({ id: 'fine', start: ({ signal, logger }) => { note('fine'); logger.info('started', { a: 1 }); } });`,
  });
  const host = await world.open();
  const enabling = host.enable('one', { by });
  while (!world.notes.includes('hangs')) await new Promise((resolve) => setImmediate(resolve));
  clock.advance(5_000);
  const { state, services } = await enabling;
  assert.equal(state, 'loaded');
  assert.deepEqual(
    services.map((each) => `${each.id} ${each.state}`),
    ['hangs failed', 'fine running'],
  );
  assert.ok(
    world.logged.some(({ plugin, message, fields }) => plugin === 'one' && message === 'started' && (fields as { a: number }).a === 1),
  );
});

test('a name that two plugins want belongs to the first id, whoever was switched on first, and passes on when that one goes', async () => {
  verifies('R18', 'seams:W19');
  await using world = await openHostWorld();
  const grants = ['commands.register'];
  const register = `api.registerCommand({ name: 'both', description: api.id, handler: () => ({ text: api.id }) });`;
  for (const id of ['alpha', 'beta']) writePlugin(world.place, { id, grants, register });
  let host = await world.open();
  const holder = () => host.registry.findAny('command', 'both')?.plugin;
  const refusedOf = (id: string) => host.get(id)?.registrations.find(({ accepted }) => !accepted)?.code;
  await host.enable('beta', { by: 'token:test' });
  assert.equal(holder(), 'beta');
  await host.enable('alpha', { by: 'token:test' });
  assert.deepEqual([holder(), refusedOf('alpha'), refusedOf('beta')], ['alpha', undefined, 'TAKEN']);
  host = await world.open();
  assert.deepEqual([holder(), refusedOf('alpha'), refusedOf('beta')], ['alpha', undefined, 'TAKEN'], 'as after a start');
  await host.revoke('alpha', grants, { by: 'token:test' });
  assert.deepEqual([holder(), refusedOf('beta')], ['beta', undefined]);
  await host.grant('alpha', grants, { by: 'token:test' });
  assert.deepEqual([holder(), refusedOf('beta')], ['alpha', 'TAKEN']);
  await host.disable('alpha', { by: 'token:test' });
  assert.deepEqual([holder(), refusedOf('beta')], ['beta', undefined]);
});
