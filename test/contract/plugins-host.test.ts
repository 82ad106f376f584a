// The plugin host with real plugin folders, the real loader and a real store.
import assert from 'node:assert/strict';
import { chmodSync, lchownSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { RegisterApi, RuntimeApi } from '@tenon/plugin-sdk';
import { GatewayError, type GrantedCall, type JsonValue, lateCallNames, lateCallRow } from '@tenon/protocol';
import { groupOf } from '../../packages/gateway/src/host/api-groups.ts';
import { registerMethods } from '../../packages/gateway/src/host/register-api.ts';
import { RUN_CONTEXT_GRACE_MS } from '../../packages/gateway/src/host/run-context.ts';
import { createManualClock } from '../support/clock.ts';
import { type HostWorld, openHostWorld, put, SESSION, writePlugin } from '../support/plugins.ts';
import { idOf, job } from '../support/stores-jobs.ts';
import { verifies } from '../support/verifies.ts';

const by = 'tester';
const EXTENSION = `api.registerSessionExtension({ namespace: 'box', description: 'A box' });`;
const EVENT = `api.registerGatewayEvent({ name: 'news' });`;
const CHANNEL = `api.registerChannel({ id: 'line', label: 'Line', send: () => ({ id: 'x' }) });`;
const KEEP = `note(api);`;

/** The api that the plugin of the test noted last. */
function lastApi({ notes }: HostWorld): RegisterApi {
  return notes.findLast((note) => typeof note === 'object' && note !== null && 'lifecycle' in note) as RegisterApi;
}

function chownAll(folder: string, uid: number): void {
  for (const name of readdirSync(folder)) lchownSync(join(folder, name), uid, uid);
  lchownSync(folder, uid, uid);
}

function isGatewayError(code: string, text: RegExp) {
  return (error: unknown) => error instanceof GatewayError && error.code === code && text.test(error.message);
}

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
    'hook message_received UNKNOWN_HOOK',
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

test('a level of the api that is not there is refused in words', async () => {
  verifies('seams:W12');
  await using world = await openHostWorld();
  writePlugin(world.place, { id: 'later', manifest: { api: 2, fancy: true } });
  const host = await world.open();
  assert.equal(host.get('later')?.state, 'rejected');
  assert.match(host.get('later')?.reason ?? '', /level 2 of the plugin API; this gateway has level 1/);
  await assert.rejects(host.enable('later', { by }), isGatewayError('INVALID_REQUEST', /level 2/));
  await assert.rejects(host.enable('nobody', { by }), isGatewayError('NOT_FOUND', /nobody/));
});

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
  await host.grant('one', grants, { by });
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
  await host.grant('one', [], { by });
  assert.deepEqual(world.notes, ['first', 'second']);
});

test('a plugin whose files changed in any way is not loaded until it is granted anew', async () => {
  verifies('S49');
  await using world = await openHostWorld();
  const folder = writePlugin(world.place, { id: 'one', grants: ['sessions.list'], register: KEEP });
  put(join(folder, 'data.txt'), 'a');
  mkdirSync(join(folder, 'empty'), { mode: 0o755 });
  let host = await world.open();
  await host.enable('one', { by });
  const changes: Record<string, () => void> = {
    'a byte': () => put(join(folder, 'data.txt'), 'b'),
    'a mode': () => chmodSync(join(folder, 'data.txt'), 0o600),
    'a name': () => renameSync(join(folder, 'data.txt'), join(folder, 'other.txt')),
    'a new file': () => put(join(folder, 'new.txt'), ''),
    'a folder that is gone': () => rmSync(join(folder, 'empty'), { recursive: true }),
    'a link inside': () => symlinkSync('new.txt', join(folder, 'link.txt')),
  };
  for (const [name, change] of Object.entries(changes)) {
    change();
    const runs = world.notes.length;
    host = await world.open();
    assert.equal(host.get('one')?.state, 'changed', name);
    assert.deepEqual(host.get('one')?.granted, [], name);
    assert.equal(host.holds('one', 'sessions.list'), false, name);
    assert.equal(world.notes.length, runs, `${name}: its code ran`);
    assert.equal((await host.grant('one', ['sessions.list'], { by })).state, 'loaded', name);
  }
});

test('what is not fit to be loaded is listed with the reason, and none of its code runs', async () => {
  verifies('S51');
  await using world = await openHostWorld();
  const { place, home } = world;
  const canary = `globalThis[Symbol.for('tenon.test.notes')].push('the canary ran');`;
  const bad = (id: string, manifest: Record<string, unknown> = {}, module = canary) => writePlugin(place, { id, module, manifest });
  const outside = join(home, 'outside');
  mkdirSync(outside);
  writePlugin(outside, { id: 'linked', module: canary });
  symlinkSync(join(outside, 'linked'), join(place, 'linked'));
  rmSync(join(bad('entry-out'), 'index.js'));
  symlinkSync(join(outside, 'linked', 'index.js'), join(place, 'entry-out', 'index.js'));
  rmSync(join(bad('manifest-link'), 'tenon.plugin.json'));
  symlinkSync(join(outside, 'linked', 'tenon.plugin.json'), join(place, 'manifest-link', 'tenon.plugin.json'));
  symlinkSync(outside, join(bad('tree-out'), 'elsewhere'));
  chmodSync(bad('open-folder'), 0o777);
  chmodSync(join(bad('open-entry'), 'index.js'), 0o666);
  put(join(bad('open-inside'), 'x.txt'), '');
  chmodSync(join(place, 'open-inside', 'x.txt'), 0o666);
  rmSync(join(bad('no-entry'), 'index.js'));
  bad('dots', { entry: '../outside/linked/index.js' });
  bad('big', { description: 'x'.repeat(300_000) });
  bad('trusts-itself', { enabled: true, trusted: true });
  bad('wrong-grant', { grants: ['everything.all'] });
  bad('bad-config', { configSchema: { $ref: 'file:///etc/passwd' } });
  bad('name', { id: 'Not An Id' });
  bad('kept', { id: 'gateway' });
  writePlugin(place, { id: 'twice-a', manifest: { id: 'twice' }, register: '' });
  bad('twice-b', { id: 'twice' });
  const host = await world.open();
  const reasons = Object.fromEntries(
    host
      .list()
      .filter(({ state }) => state === 'rejected')
      .map(({ folder, reason }) => [folder.split('/').at(-1), reason]),
  );
  const expected: Record<string, RegExp> = {
    linked: /is a link/,
    'entry-out': /leads out of the folder/,
    'manifest-link': /is a link/,
    'open-folder': /everybody can write to the folder/,
    'open-entry': /everybody can write to index\.js/,
    'no-entry': /entry is missing/,
    dots: /manifest\/entry must be/,
    big: /bytes/,
    'trusts-itself': /unknown field/,
    'wrong-grant': /"everything\.all", which does not exist/,
    'bad-config': /configSchema cannot be used/,
    name: /manifest\/id must be/,
    kept: /kept for the gateway/,
    'twice-b': /belongs to the plugin in .*twice-a/,
  };
  for (const [name, pattern] of Object.entries(expected)) assert.match(reasons[name] ?? 'not there', pattern, name);
  assert.deepEqual(Object.keys(reasons).sort(), Object.keys(expected).sort());
  for (const id of ['tree-out', 'open-inside']) {
    await assert.rejects(host.enable(id, { by }), isGatewayError('INVALID_REQUEST', /leaves the folder|everybody can write/), id);
  }
  assert.equal(host.get('twice')?.state, 'off');
  assert.deepEqual(world.notes, []);
});

test('a folder of somebody else is refused', async () => {
  verifies('S51');
  await using world = await openHostWorld();
  writePlugin(world.place, { id: 'theirs' });
  // Files of root are everybody's to trust; where the tests run as root, nobody else owns any.
  if (process.getuid?.() === 0) chownAll(join(world.place, 'theirs'), 12_345);
  const host = await world.open({ uid: (process.getuid?.() ?? 0) + 1 });
  assert.match(host.get('theirs')?.reason ?? '', /belongs to another user/);
});

test('plugins that are named twice, by folder and by the folder of folders, are there once', async () => {
  await using world = await openHostWorld();
  writePlugin(world.place, { id: 'one' });
  const host = await world.open({ paths: ['plugins/one', 'plugins', join(world.home, 'nowhere')] });
  assert.deepEqual(
    host.list().map(({ id, state }) => `${id} ${state}`),
    ['one off', 'one rejected', 'nowhere rejected'],
  );
});

test('state is read, written, removed and listed, with a revision that only grows', async () => {
  verifies('seams:W1', 'compat:C17', 'compat:C18');
  await using world = await openHostWorld();
  writePlugin(world.place, { id: 'one', grants: ['sessions.list'], register: `${EXTENSION} ${KEEP}` });
  const host = await world.open();
  await host.enable('one', { by });
  const { state } = lastApi(world).session;
  assert.equal(await state.get(SESSION, 'box'), undefined);
  assert.deepEqual(await state.patch(SESSION, 'box', { n: 1 }, { ifRevision: 0 }), { ok: true, revision: 1 });
  assert.deepEqual(await state.get(SESSION, 'box'), { value: { n: 1 }, revision: 1 });
  const stale = await state.patch(SESSION, 'box', { n: 9 }, { ifRevision: 0 });
  assert.equal(!stale.ok && stale.reason, 'conflict');
  assert.deepEqual((await host.stateOf('one', SESSION))?.('box'), { n: 1 });
  assert.deepEqual(await state.list('box'), [{ sessionKey: SESSION, value: { n: 1 }, revision: 1 }]);

  await Promise.all(
    Array.from({ length: 50 }, () =>
      state.update(SESSION, 'box', async (current) => {
        await Promise.resolve();
        return { n: (current as { n: number }).n + 1 };
      }),
    ),
  );
  assert.deepEqual(await state.get(SESSION, 'box'), { value: { n: 51 }, revision: 51 });
  const inner = await state.update(SESSION, 'box', async (current) => {
    const nested = await state.update(SESSION, 'box', () => 0);
    return { n: (current as { n: number }).n, nested: nested.ok ? 'done' : nested.reason };
  });
  assert.equal(inner.ok, true);
  assert.deepEqual((await state.get(SESSION, 'box'))?.value, { n: 51, nested: 'conflict' });
  assert.deepEqual(await state.update(SESSION, 'box', () => null), { ok: true, revision: 53 });
  assert.equal(await state.get(SESSION, 'box'), undefined);
});

test('an update sees what another writer did meanwhile, and loses nothing', async () => {
  verifies('seams:W11');
  await using world = await openHostWorld();
  writePlugin(world.place, { id: 'one', register: `${EXTENSION} ${KEEP}` });
  const host = await world.open();
  await host.enable('one', { by });
  const { state } = lastApi(world).session;
  const seen: JsonValue[] = [];
  const outcome = await state.update(SESSION, 'box', async (current) => {
    seen.push(current ?? null);
    if (seen.length === 1) {
      await world.store.write('pluginState.put', { key: SESSION, pluginId: 'one', namespace: 'box', value: ['theirs'], at: 2 });
    }
    return [...((current as JsonValue[] | undefined) ?? []), 'mine'];
  });
  assert.deepEqual(outcome, { ok: true, revision: 2 });
  assert.deepEqual(seen, [null, ['theirs']]);
  assert.deepEqual((await state.get(SESSION, 'box'))?.value, ['theirs', 'mine']);
});

test('no plugin reaches the namespace of another by any spelling', async () => {
  verifies('S37');
  await using world = await openHostWorld();
  for (const id of ['one', 'one-a', 'two']) writePlugin(world.place, { id, grants: ['sessions.list'], register: `${EXTENSION} ${KEEP}` });
  const host = await world.open();
  await host.enable('one', { by });
  assert.equal((await lastApi(world).session.state.patch(SESSION, 'box', 'secret of one')).ok, true);
  for (const id of ['two', 'one-a']) {
    await host.enable(id, { by });
    const { state } = lastApi(world).session;
    const spellings = [
      'box',
      'one.box',
      'one/box',
      '../one/box',
      'one:box',
      'one\0box',
      'box ',
      ' box',
      'BOX',
      '',
      '*',
      '%',
      '__proto__',
      'constructor',
    ];
    for (const namespace of [...spellings, null, undefined, 7, ['box'], { toString: () => 'box' }] as string[]) {
      assert.equal(await state.get(SESSION, namespace), undefined);
      if (namespace !== 'box') assert.equal((await state.patch(SESSION, namespace, 'taken')).ok, false);
      const listed = await state.list(namespace);
      assert.deepEqual(Array.isArray(listed) ? listed : [], []);
    }
    assert.equal((await state.patch(SESSION, 'box', `own of ${id}`)).ok, true);
    assert.throws(() => Object.assign(lastApi(world), { id: 'one' }));
    assert.throws(() => Object.assign(lastApi(world).session.state, { get: () => undefined }));
  }
  assert.equal((await host.stateOf('one', SESSION))?.('box'), 'secret of one');
});

test('values of absurd sizes and kinds meet a refusal, never a throw', async () => {
  verifies('S62', 'seams:A19');
  await using world = await openHostWorld();
  writePlugin(world.place, { id: 'one', register: `${EXTENSION} ${KEEP}` });
  const host = await world.open();
  await host.enable('one', { by });
  const { state } = lastApi(world).session;
  let deep: JsonValue = 0;
  for (let depth = 0; depth < 40; depth++) deep = [deep];
  const circular: Record<string, unknown> = {};
  circular.self = circular;
  const trap = new Proxy(
    {},
    {
      ownKeys: () => {
        throw new Error('no');
      },
    },
  );
  const values: Record<string, unknown> = {
    deep,
    circular,
    trap,
    'a date': new Date(),
    'a function': () => 1,
    'not a number': Number.NaN,
    'a bigint': 1n,
    'many values': Array.from({ length: 5_000 }, () => 0),
    'many keys': Object.fromEntries(Array.from({ length: 600 }, (_, index) => [index, 0])),
    'a long text': 'x'.repeat(70_000),
    'many bytes': Array.from({ length: 10 }, () => 'x'.repeat(60_000)),
    'a reserved key': JSON.parse('{"__proto__":1}'),
    nothing: undefined,
  };
  for (const [name, value] of Object.entries(values)) {
    const patched = await state.patch(SESSION, 'box', value as JsonValue);
    assert.equal(!patched.ok && patched.reason, 'invalid', name);
    const updated = await state.update(SESSION, 'box', () => value as JsonValue);
    assert.equal(!updated.ok && updated.reason, 'invalid', name);
  }
  const thrown = await state.update(SESSION, 'box', () => {
    throw new Error('mine');
  });
  assert.equal(!thrown.ok && thrown.reason, 'invalid');
  const nowhere = await state.patch('agent:main:nowhere', 'box', 1);
  assert.equal(!nowhere.ok && nowhere.reason, 'no-session');
});

test('injections are queued within their limits, and a key names one while it waits', async () => {
  verifies('S62', 'seams:A19', 'seams:W7');
  await using world = await openHostWorld();
  writePlugin(world.place, { id: 'one', grants: ['prompt.inject'], register: KEEP });
  const host = await world.open();
  await host.enable('one', { by });
  const { enqueueNextTurnInjection: enqueue } = lastApi(world).session.workflow;
  assert.deepEqual(await enqueue({ sessionKey: ` ${SESSION} `, text: ' hello ', idempotencyKey: ' k ' }), {
    enqueued: true,
    id: 'k',
    sessionKey: SESSION,
  });
  const repeat = await enqueue({ sessionKey: SESSION, text: 'other', idempotencyKey: 'k' });
  assert.match(repeat.enqueued ? '' : repeat.reason, /^duplicate: /);
  assert.equal(repeat.id, 'k');
  const bad = [
    null,
    {},
    { sessionKey: SESSION, text: ' ' },
    { sessionKey: SESSION, text: 'x'.repeat(32_769) },
    { sessionKey: SESSION, text: 'x', idempotencyKey: '' },
    { sessionKey: SESSION, text: 'x', placement: 'middle' },
    { sessionKey: SESSION, text: 'x', ttlMs: -1 },
    { sessionKey: SESSION, text: 'x', ttlMs: Number.POSITIVE_INFINITY },
    { sessionKey: SESSION, text: 'x', priority: 1_001 },
    { sessionKey: SESSION, text: 'x', metadata: () => 1 },
    { sessionKey: SESSION, text: 'x\ud800' },
    { sessionKey: SESSION, text: 'x', more: 1 },
    { sessionKey: 'main', text: 'x' },
  ];
  for (const each of bad) {
    const outcome = await enqueue(each as never);
    assert.match(outcome.enqueued ? '' : outcome.reason, /^invalid: /, JSON.stringify(each));
  }
  const nowhere = await enqueue({ sessionKey: 'agent:main:nowhere', text: 'x' });
  assert.match(nowhere.enqueued ? '' : nowhere.reason, /^no-session: /);
  for (let index = 1; index < 32; index++) assert.equal((await enqueue({ sessionKey: SESSION, text: `${index}` })).enqueued, true);
  const full = await enqueue({ sessionKey: SESSION, text: 'one too many' });
  assert.match(full.enqueued ? '' : full.reason, /^full: /);
  const { injections } = await world.store.read('injections.list', { key: SESSION });
  assert.equal(injections.length, 32);
  assert.equal(injections[0]?.text, 'hello');
});

/** Every function of an api, by its place; registering ones are another matter. */
function functionsOf(api: object, prefix = ''): [string, (...given: unknown[]) => unknown][] {
  return Object.entries(api).flatMap(([name, part]: [string, unknown]) => {
    if (typeof part === 'function') return [[`${prefix}${name}`, part as (...given: unknown[]) => unknown]];
    const isFacade = typeof part === 'object' && part !== null && !(part instanceof AbortSignal) && name !== 'pluginConfig';
    return isFacade ? functionsOf(part, `${prefix}${name}.`) : [];
  }) as [string, (...given: unknown[]) => unknown][];
}

function lateCalls(api: RuntimeApi) {
  const isRegistering = (place: string) => place === 'on' || Object.hasOwn(registerMethods, place.split('.').at(-1)!);
  return functionsOf(api).filter(([place]) => !isRegistering(place) && !Object.hasOwn(groupOf, place));
}

const grantedCalls = lateCallNames.flatMap((call) => {
  const { grant } = lateCallRow(call);
  return grant === undefined ? [] : [{ call: call as GrantedCall, grant }];
});
const lateGrants = [...new Set(grantedCalls.map(({ grant }) => grant))];

/** Arguments with which each call that needs a grant would be done. */
const goodArguments: Record<GrantedCall, unknown[]> = {
  'session.state.list': ['box'],
  'session.workflow.enqueueNextTurnInjection': [{ sessionKey: SESSION, text: 'x' }],
  'session.workflow.continueAgent': [{ sessionKey: SESSION, force: true }],
  'session.workflow.notifyActionRequired': [{ sessionKey: SESSION, title: 'x' }],
  'session.workflow.requestApproval': [{ sessionKey: SESSION, title: 'x', description: 'y' }],
  'session.workflow.scheduleSessionTurn': [{ sessionKey: SESSION, message: 'x', delayMs: 1 }],
  'session.workflow.unscheduleSessionTurnsByTag': [{ sessionKey: SESSION, tag: 'x' }],
  'session.workflow.sendSessionAttachment': [{ sessionKey: SESSION, text: 'x' }],
  'channels.receive': [{ channel: 'line', from: 'ada', text: 'x' }],
  'session.workflow.withdrawActionRequired': [{ sessionKey: SESSION }],
  'gateway.emit': [{ name: 'news', data: {} }],
  'agent.events.emitAgentEvent': [{ runId: 'run-run-run-run-run', sessionKey: SESSION, stream: 'one', data: {} }],
};

function isRefused(outcome: unknown): boolean {
  const { ok, enqueued, emitted } = (outcome ?? {}) as { ok?: boolean; enqueued?: boolean; emitted?: boolean };
  return ok === false || enqueued === false || emitted === false;
}

test('every late call has a row: it needs a grant, or says why it needs none', async () => {
  verifies('S41');
  await using world = await openHostWorld();
  writePlugin(world.place, { id: 'one', register: KEEP });
  await (await world.open()).enable('one', { by });
  const places = lateCalls(lastApi(world)).map(([place]) => place);
  assert.deepEqual(places.sort(), [...lateCallNames].sort());
});

test('every late call without its grant is refused, with it done, and refused again at once when it is revoked', async () => {
  verifies('S41', 'seams:W7');
  for (const { call: place, grant } of grantedCalls) {
    await using world = await openHostWorld();
    const others = lateGrants.filter((each) => each !== grant);
    writePlugin(world.place, { id: 'one', grants: lateGrants, register: `${EXTENSION} ${EVENT} ${CHANNEL} ${KEEP}` });
    const host = await world.open();
    const call = async () => {
      const found = lateCalls(lastApi(world)).find(([each]) => each === place);
      return (await found?.[1](...goodArguments[place])) as { reason?: string } | undefined;
    };
    await host.enable('one', { by, grants: others });
    const refused = await call();
    assert.ok(isRefused(refused), place);
    assert.match(refused?.reason ?? '', /^not-granted/, place);
    assert.deepEqual([world.said, world.required, world.continued, world.emitted, world.questions], [[], [], [], [], []], place);

    await host.grant('one', [grant], { by });
    const granted = await call();
    assert.equal(isRefused(granted), false, `${place}: ${JSON.stringify(granted)}`);

    const api = lastApi(world);
    const revoking = host.revoke('one', [grant], { by });
    const after = await call();
    assert.ok(isRefused(after), `${place} after it was revoked`);
    await revoking;
    assert.equal(lastApi(world), api, 'revoking loads nothing anew');
    assert.equal(host.holds('one', grant), false);
    await world.open();
    assert.ok(isRefused(await call()), `${place} after a restart`);
  }
});

test('every late call with bad input, and of a load that has ended, gives a value', async () => {
  verifies('seams:A19');
  await using world = await openHostWorld();
  writePlugin(world.place, { id: 'one', grants: lateGrants, register: `${EXTENSION} ${EVENT} ${KEEP}` });
  const host = await world.open();
  await host.enable('one', { by });
  const api = lastApi(world);
  const trap = new Proxy(
    {},
    {
      get: () => {
        throw new Error('no');
      },
      ownKeys: () => {
        throw new Error('no');
      },
    },
  );
  const inputs = [[], [undefined], [null], [0], ['x'], [[]], [{}], [trap], [trap, trap, trap], [Symbol('x')], [() => 0], [1n]];
  const calls = async () => {
    for (const [place, call] of lateCalls(api)) {
      for (const input of inputs) {
        const outcome = await call(...input);
        if (Object.hasOwn(goodArguments, place)) assert.ok(isRefused(outcome), `${place} took ${input.map((each) => typeof each)}`);
      }
    }
  };
  await calls();
  await host.disable('one', { by });
  await calls();
  for (const [place, input] of Object.entries(goodArguments)) {
    const outcome = (await lateCalls(api).find(([each]) => each === place)?.[1](...input)) as { reason: string };
    assert.match(outcome.reason, /^not-loaded/, place);
  }
  assert.equal(api.runContext.setRunContext({ runId: 'r', namespace: 'n', value: 1 }), false);
  assert.equal(await api.session.state.get(SESSION, 'box'), undefined);
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

test('the context of a run ends with the run', async () => {
  verifies('seams:W15');
  const clock = createManualClock();
  await using world = await openHostWorld(clock);
  writePlugin(world.place, { id: 'one', register: KEEP });
  const host = await world.open();
  await host.enable('one', { by });
  const { runContext } = lastApi(world);
  const place = { runId: 'run-run-run-run-run', namespace: 'n' };
  assert.equal(runContext.setRunContext({ ...place, value: { a: 1 } }), true);
  assert.equal(runContext.setRunContext({ ...place }), false, 'a value that was left out removes nothing');
  assert.equal(runContext.setRunContext({ ...place, value: 1, unset: true }), false);
  assert.deepEqual(runContext.getRunContext(place), { a: 1 });
  const payload = JSON.stringify({ sessionKey: SESSION, kind: 'ended', runId: place.runId });
  host.committed([{ seq: 1, event: 'chat', payload, sessionKey: SESSION }]);
  assert.equal(runContext.setRunContext({ ...place, value: 2 }), false);
  assert.deepEqual(runContext.getRunContext(place), { a: 1 });
  clock.advance(RUN_CONTEXT_GRACE_MS);
  assert.equal(runContext.getRunContext(place), undefined);
});

test('a plugin speaks in streams of its own only, and its name cannot be put on another', async () => {
  await using world = await openHostWorld();
  writePlugin(world.place, { id: 'one', grants: ['events.emit'], register: KEEP });
  const host = await world.open();
  await host.enable('one', { by });
  const { emitAgentEvent } = lastApi(world).agent.events;
  const event = { runId: 'run-run-run-run-run', sessionKey: SESSION, data: { plugin: 'other' } };
  for (const stream of ['lifecycle', 'assistant', 'one-a', 'onex', 'two.one', '']) {
    assert.equal(emitAgentEvent({ ...event, stream }).emitted, false, stream);
  }
  assert.deepEqual(emitAgentEvent({ ...event, stream: 'one.progress' }), { emitted: true, stream: 'one.progress' });
  assert.equal(world.said.length, 1);
  const [said] = world.said as { stream: string; plugin?: string; name?: string }[];
  assert.deepEqual([said?.stream, said?.plugin, said?.name], ['plugin', 'one', 'one.progress']);
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

test('a change that is under way when the plugin is unloaded is not committed', async () => {
  verifies('seams:A18');
  await using world = await openHostWorld();
  writePlugin(world.place, { id: 'one', register: `${EXTENSION} ${KEEP}` });
  const host = await world.open();
  await host.enable('one', { by });
  const { state } = lastApi(world).session;
  const begun = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<JsonValue>();
  const updating = state.update(SESSION, 'box', () => {
    begun.resolve();
    return answer.promise;
  });
  const waiting = state.patch(SESSION, 'box', 'after it');
  await begun.promise;
  await host.reload('one', { by });
  answer.resolve('too late');
  for (const outcome of [await updating, await waiting]) assert.equal(!outcome.ok && outcome.reason, 'not-loaded');
  assert.equal((await host.stateOf('one', SESSION))?.('box'), undefined);
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

test('a folder that is gone takes its plugin with it at the next reload', async () => {
  await using world = await openHostWorld();
  const folder = writePlugin(world.place, { id: 'one', register: EXTENSION });
  const host = await world.open();
  await host.enable('one', { by });
  rmSync(folder, { recursive: true });
  await host.reload(undefined, { by });
  assert.equal(host.get('one'), undefined);
  assert.deepEqual(host.registry.all('sessionExtension'), []);
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

test('a person is called for, by the plugin itself and about its own actions only', async () => {
  await using world = await openHostWorld();
  writePlugin(world.place, {
    id: 'one',
    grants: ['people.notify'],
    register: `api.registerSessionAction({ id: 'yes', handler() {} }); ${KEEP}`,
  });
  const host = await world.open();
  await host.enable('one', { by });
  const { notifyActionRequired: notify } = lastApi(world).session.workflow;
  const request = { sessionKey: SESSION, title: 'Shall it?\u202e', actions: [{ label: 'Yes', actionId: 'yes' }] };
  assert.equal((await notify(request)).ok, true);
  const foreign = await notify({ ...request, actions: [{ label: 'No', actionId: 'no' }] });
  assert.equal(!foreign.ok && foreign.reason, 'invalid');
  assert.equal(world.required.length, 1);
  assert.deepEqual([world.required[0]?.pluginId, world.required[0]?.pluginName], ['one', 'The one']);
  assert.doesNotMatch(world.required[0]?.title ?? '', /\u202e/);
});

test('an event of its own carries what was registered: its name, its scope, and nothing without a registration', async () => {
  await using world = await openHostWorld();
  writePlugin(world.place, {
    id: 'one',
    grants: ['events.emit'],
    register: `
      api.registerGatewayEvent({ name: 'news', scope: 'operator.read', description: 'What is new' });
      api.registerGatewayEvent({ name: 'inside' });
      api.registerGatewayEvent({ name: 'news' });
      api.registerGatewayEvent({ name: 'bad', scope: 'root' });
      api.registerGatewayEvent({ name: 'a'.repeat(49) });
      ${KEEP}`,
  });
  const host = await world.open();
  const { registrations } = await host.enable('one', { by });
  assert.deepEqual(
    registrations.map(({ code }) => code ?? 'taken'),
    ['taken', 'taken', 'DUPLICATE', 'INVALID', 'INVALID'],
  );
  const { emit } = lastApi(world).gateway;
  assert.deepEqual(emit({ name: 'news', data: { n: 1 }, sessionKey: SESSION }), { ok: true });
  assert.deepEqual(emit({ name: 'inside', data: null }), { ok: true });
  assert.deepEqual(world.emitted, [
    { name: 'plugin.one.news', scope: 'operator.read', payload: { pluginId: 'one', sessionKey: SESSION, data: { n: 1 } } },
    { name: 'plugin.one.inside', scope: 'operator.admin', payload: { pluginId: 'one', data: null } },
  ]);
  const wrong = [
    { name: 'other', data: 1 },
    { name: 'news' },
    { name: 'news', data: 'x'.repeat(70_000) },
    { name: 'news', data: 1, scope: 'any' },
  ];
  for (const event of wrong) {
    const outcome = emit(event as Parameters<typeof emit>[0]);
    assert.equal(!outcome.ok && outcome.reason, 'invalid', JSON.stringify(event).slice(0, 80));
  }
  let outcome = emit({ name: 'news', data: 1 });
  for (let count = 0; outcome.ok && count < 10_000; count++) outcome = emit({ name: 'news', data: 1 });
  assert.equal(!outcome.ok && outcome.reason, 'limit');
});

test('nothing that a tool of a plugin can call changes settings, grants, trust, schedules of others or the audit log', async () => {
  verifies('S57:plugins');
  await using world = await openHostWorld();
  writePlugin(world.place, {
    id: 'one',
    grants: lateGrants,
    register: `${EXTENSION} ${EVENT} ${KEEP}`,
  });
  const host = await world.open();
  await host.enable('one', { by });
  const api = lastApi(world);
  const kept = async () => [
    await world.store.read('plugins.settings', {}),
    await world.store.read('plugins.grants', { pluginId: 'one' }),
    // What it sends is on record: that it did, and nothing else.
    (await world.store.read('audit.list', { limit: 100 })).filter(({ action }) => action !== 'deliveries.send'),
    host.get('one')?.granted,
    host.get('one')?.config,
    await world.store.read('jobs.get', { id: idOf('theirs') }),
  ];
  await world.store.write('jobs.add', job('theirs', { session: { key: SESSION }, tag: 'x' }));
  const before = await kept();
  for (const [place, call] of lateCalls(api)) {
    await call(...(goodArguments[place as GrantedCall] ?? [SESSION, 'box', { config: {}, grants: ['policy.tools'] }]));
  }
  const names = lateCalls(api).map(([place]) => place);
  assert.deepEqual(
    names.filter((name) => /config|grant|trust|audit|setting|enable|approvals?\.resolve/i.test(name)),
    [],
  );
  assert.deepEqual(await kept(), before);
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
