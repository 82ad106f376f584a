// What is left of a plugin when a session is reset or deleted, and when the plugin is switched off, loaded anew, or the
// gateway starts again: one table, every row of it looked at after each of these. Section 7 of the seams.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RegisterApi } from '@tenon/plugin-sdk';
import { withPluginFields } from '../../packages/gateway/src/agent/plugin-sessions.ts';
import type { PluginHost } from '../../packages/gateway/src/host/plugin-host.ts';
import { createManualClock } from '../support/clock.ts';
import { type HostWorld, openHostWorld, SESSION, writePlugin } from '../support/plugins.ts';
import { verifies } from '../support/verifies.ts';

const by = 'token:admin';
const OTHER = 'agent:main:other';
const RUN = 'run-run-run-run-run';
const GRANTS = ['services.run', 'prompt.inject', 'events.follow', 'hooks.observe:gateway_stop', 'ui.descriptors'];

/** One of everything that belongs to a session, a run or a load. */
function source(id: string, slot = `${id}Slot`) {
  return {
    id,
    grants: GRANTS,
    register: `note({ api });
      const tell = (what) => ({ reason, sessionKey }) => note(['${id}', what, reason, sessionKey ?? null]);
      api.registerSessionExtension({ namespace: 'box', description: 'd', sessionEntrySlotKey: '${slot}',
        project: ({ state }) => { if (state.broken) throw new Error('no'); return { shown: state.n }; }, cleanup: tell('extension') });
      api.registerRuntimeLifecycle({ id: 'life', cleanup: tell('lifecycle') });
      api.registerService({ id: 'worker', start: () => note(['${id}', 'start']), stop: () => note(['${id}', 'stop']) });
      api.registerAgentEventSubscription({ id: 'ears', handle() {} });
      api.registerSessionAction({ id: 'press', handler: () => ({}) });
      api.registerControlUiDescriptor({ id: 'card', label: 'Card', surface: 'session' });
      api.on('gateway_stop', () => {});`,
  };
}

async function openBoth(world: HostWorld): Promise<PluginHost> {
  for (const id of ['one', 'two']) writePlugin(world.place, source(id));
  await world.store.write('sessions.create', { key: OTHER, fields: {}, at: 1 });
  const host = await world.open();
  for (const id of ['one', 'two']) {
    await host.enable(id, { by });
    const { session, runContext } = lastApi(world);
    for (const key of [SESSION, OTHER]) {
      await session.state.patch(key, 'box', { n: id });
      await session.workflow.enqueueNextTurnInjection({ sessionKey: key, text: `from ${id}` });
    }
    assert.equal(runContext.setRunContext({ runId: RUN, namespace: 'n', value: id }), true);
  }
  apis.length = 0;
  world.notes.length = 0;
  return host;
}

const apis: RegisterApi[] = [];

/** The apis that were handed out since; the rest of the notes stay. */
function takeApis(world: HostWorld): void {
  const rest = world.notes.filter((note) => {
    const { api } = note as { api?: RegisterApi };
    if (api) apis.push(api);
    return !api;
  });
  world.notes.splice(0, world.notes.length, ...rest);
}

function lastApi(world: HostWorld): RegisterApi {
  takeApis(world);
  return apis.at(-1)!;
}

/** All that there is of a plugin, in few words. */
async function left(id: string, world: HostWorld, host: PluginHost) {
  const { store } = world;
  const rows = async (key: string) => {
    const found = await store.read('sessions.get', { key }).catch(() => undefined);
    if (!found) return 'no session';
    const { states } = await store.read('pluginState.ofSession', { key, pluginId: id });
    const { injections } = await store.read('injections.list', { key, pluginId: id });
    const [row] = await withPluginFields([found.session], { store, clock: world.clock }, host);
    const shown = row?.pluginExtensions?.some(({ pluginId }) => pluginId === id) ?? false;
    const slot = row?.slots?.[`${id}Slot`] !== undefined;
    return [states.length > 0 && 'state', shown && 'shown', slot && 'slot', injections.length > 0 && 'injection'].filter(Boolean).join(' ');
  };
  const { registry } = host;
  const registered = (['sessionAction', 'uiDescriptor', 'eventSubscription', 'service', 'sessionExtension'] as const).filter((kind) =>
    registry.all(kind).some(({ plugin, isLive }) => plugin === id && isLive),
  );
  return {
    here: await rows(SESSION),
    there: await rows(OTHER),
    registered: registered.length,
    hooks: world.hookRegistry.handlers('gateway_stop').filter(({ plugin }) => plugin === id).length,
  };
}

const ALL = { here: 'state shown slot injection', there: 'state shown slot injection', registered: 5, hooks: 1 };
type Row = {
  readonly run: (world: HostWorld, host: PluginHost) => Promise<PluginHost>;
  readonly one: Awaited<ReturnType<typeof left>>;
  readonly two: Awaited<ReturnType<typeof left>>;
  readonly told: readonly unknown[];
  /** What `one` and `two` still know of the run. */
  readonly context: readonly (string | undefined)[];
};

async function ended(world: HostWorld, host: PluginHost, reason: 'reset' | 'delete'): Promise<PluginHost> {
  await world.store.write(`sessions.${reason}`, { key: SESSION, at: 5 });
  host.committed([{ seq: 1, event: 'sessions.changed', payload: JSON.stringify({ key: SESSION, reason }), sessionKey: SESSION }]);
  await host.settled();
  return host;
}

const tellBoth = (reason: string) => ['extension', 'lifecycle'].flatMap((what) => ['one', 'two'].map((id) => [id, what, reason, SESSION]));

const table: Readonly<Record<string, Row>> = {
  'session reset': {
    run: (world, host) => ended(world, host, 'reset'),
    one: { ...ALL, here: '' },
    two: { ...ALL, here: '' },
    told: tellBoth('reset'),
    context: ['one', 'two'],
  },
  'session delete': {
    run: (world, host) => ended(world, host, 'delete'),
    one: { ...ALL, here: 'no session' },
    two: { ...ALL, here: 'no session' },
    told: tellBoth('delete'),
    context: ['one', 'two'],
  },
  'plugin disable': {
    async run(_, host) {
      await host.disable('one', { by });
      return host;
    },
    one: { here: '', there: '', registered: 0, hooks: 0 },
    two: ALL,
    told: [
      ['one', 'stop'],
      ['one', 'extension', 'disable', null],
      ['one', 'lifecycle', 'disable', null],
    ],
    context: [undefined, 'two'],
  },
  'plugin reload': {
    async run(_, host) {
      await host.reload('one', { by });
      return host;
    },
    one: ALL,
    two: ALL,
    told: [
      ['one', 'stop'],
      ['one', 'extension', 'restart', null],
      ['one', 'lifecycle', 'restart', null],
      ['one', 'start'],
    ],
    context: ['one', 'two'],
  },
  'gateway restart': {
    run: (world) => world.open(),
    one: ALL,
    two: ALL,
    told: [
      ['two', 'stop'],
      ['one', 'stop'],
      ['one', 'start'],
      ['two', 'start'],
    ],
    context: [undefined, undefined],
  },
};

for (const [name, row] of Object.entries(table)) {
  // cleans plugin-owned session state and lifecycle resources on reset/disable · removes persistent plugin-owned session state
  // and pending injections during cleanup · preserves durable plugin session state during restart cleanup · preserves plugin
  // run context during restart cleanup · does not clear unrelated run context during session-scoped cleanup
  test(`${name}: what is kept, what is removed, and who is told in which order`, async () => {
    verifies('R06', 'R07', 'seams:W11', 'seams:W15', 'seams:A18');
    await using world = await openHostWorld();
    const host = await row.run(world, await openBoth(world));
    takeApis(world);
    assert.deepEqual(world.notes, row.told);
    assert.deepEqual(await left('one', world, host), row.one, 'one');
    assert.deepEqual(await left('two', world, host), row.two, 'two');
    if (name === 'plugin disable') await host.enable('one', { by });
    const known = await contextsOf(world, host);
    assert.deepEqual(known, row.context);
  });
}

/** What each plugin knows of the run, asked of its load that lives. */
async function contextsOf(world: HostWorld, host: PluginHost): Promise<unknown[]> {
  for (const id of ['one', 'two']) await host.reload(id, { by });
  takeApis(world);
  return ['one', 'two'].map((id) => apis.findLast((api) => api.id === id)?.runContext.getRunContext({ runId: RUN, namespace: 'n' }));
}

test('one that hangs is not waited for longer than five seconds, however many hang, and the others are told', async () => {
  // bounds plugin cleanup callbacks so reset and delete keep moving · hung cleanup bounded (single and mixed)
  verifies('seams:W5');
  const clock = createManualClock();
  await using world = await openHostWorld(clock);
  const hang = "cleanup: () => { note('hangs'); return new Promise(() => {}); }";
  writePlugin(world.place, {
    id: 'one',
    register: `for (let n = 0; n < 20; n++) {
        api.registerSessionExtension({ namespace: 'n' + n, description: 'd', ${hang} });
        api.registerRuntimeLifecycle({ id: 'l' + n, ${hang} });
      }`,
  });
  writePlugin(world.place, source('two'));
  const host = await world.open();
  for (const id of ['one', 'two']) await host.enable(id, { by });
  takeApis(world);
  world.notes.length = 0;
  let isOver = false;
  const over = ended(world, host, 'reset').then(() => {
    isOver = true;
  });
  const hanging = () => world.notes.filter((note) => note === 'hangs').length;
  for (const many of [20, 40]) {
    await until(() => hanging() === many);
    assert.equal(isOver, false);
    clock.advance(5_000);
  }
  await over;
  assert.deepEqual(
    world.notes.filter((note) => note !== 'hangs'),
    [
      ['two', 'extension', 'reset', SESSION],
      ['two', 'lifecycle', 'reset', SESSION],
    ],
  );
  const failures = world.logged.filter(({ message }) => message === 'clean-up of a plugin failed');
  assert.equal(failures.length, 40);
  assert.deepEqual([failures[0]?.pluginId, failures[0]?.hookId], ['one', 'session:n0']);
});

test('a session that ends while a plugin is loaded anew is told to the new load, and never to the old one', async () => {
  verifies('seams:A18', 'seams:W10');
  const clock = createManualClock();
  await using world = await openHostWorld(clock);
  writePlugin(world.place, {
    id: 'one',
    register: `const load = globalThis.loads = (globalThis.loads ?? 0) + 1;
      api.registerRuntimeLifecycle({ id: 'l', cleanup: ({ reason, sessionKey }) => {
        note([load, reason, sessionKey ?? null]);
        return sessionKey === '${SESSION}' && load === 1 ? new Promise(() => {}) : undefined; } });`,
  });
  const host = await world.open();
  await host.enable('one', { by });
  const reset = (key: string) =>
    host.committed([{ seq: 1, event: 'sessions.changed', payload: JSON.stringify({ key, reason: 'reset' }), sessionKey: key }]);
  reset(SESSION);
  await until(() => world.notes.length === 1);
  reset(OTHER);
  await host.reload('one', { by });
  clock.advance(5_000);
  await host.settled();
  assert.deepEqual(world.notes, [
    [1, 'reset', SESSION],
    [1, 'restart', null],
    [2, 'reset', OTHER],
  ]);
});

test('a gateway that died while it switched a plugin off goes on with that when it starts', async () => {
  verifies('R07');
  await using world = await openHostWorld();
  await openBoth(world);
  await world.store.write('plugins.setEnabled', { pluginId: 'one', enabled: false, by, at: 1 });
  const host = await world.open();
  assert.deepEqual(await left('one', world, host), { here: '', there: '', registered: 0, hooks: 0 });
  assert.deepEqual(await left('two', world, host), ALL);
});

test('slots mirror what is projected, and only that: section 12.3 session-entry-projection', async () => {
  await using world = await openHostWorld();
  const host = await openBoth(world);
  const { store } = world;
  const slots = async () => {
    const { session } = await store.read('sessions.get', { key: SESSION });
    return (await withPluginFields([session], { store, clock: world.clock }, host))[0]?.slots;
  };
  const put = (value: object | null) =>
    store.write('pluginState.put', { key: SESSION, pluginId: 'one', namespace: 'box', value: value as never, at: 2 });
  // mirror + clear on unset
  assert.deepEqual(await slots(), { oneSlot: { shown: 'one' }, twoSlot: { shown: 'two' } });
  await put({ n: 2 });
  assert.deepEqual(await slots(), { oneSlot: { shown: 2 }, twoSlot: { shown: 'two' } });
  // failing projector clears slot but keeps state
  await put({ broken: true });
  assert.deepEqual(await slots(), { twoSlot: { shown: 'two' } });
  assert.deepEqual((await store.read('pluginState.get', { key: SESSION, pluginId: 'one', namespace: 'box' })).value, { broken: true });
  await put(null);
  assert.deepEqual(await slots(), { twoSlot: { shown: 'two' } });
  await put({ n: 3 });
  // restart clears only undeclared slots
  writePlugin(world.place, source('one', 'renamed'));
  await host.enable('one', { by });
  assert.deepEqual(await slots(), { renamed: { shown: 3 }, twoSlot: { shown: 'two' } });
  // reserved field names · Object.prototype names · duplicate slots across plugins
  for (const [slot, code] of [
    ['title', 'RESERVED'],
    ['pluginExtensions', 'RESERVED'],
    ['toString', 'RESERVED'],
    ['__proto__', 'INVALID'],
    ['constructor', 'INVALID'],
    ['has.dot', 'INVALID'],
    ['1st', 'INVALID'],
  ] as const) {
    assert.deepEqual(await outcomeOf('one', slot), [false, code], slot);
  }
  assert.deepEqual(await slots(), { twoSlot: { shown: 'two' } });
  assert.deepEqual(await outcomeOf('one', 'mine'), [true, undefined]);
  assert.deepEqual(await outcomeOf('two', 'mine'), [false, 'TAKEN']);
  assert.deepEqual(await slots(), { mine: { shown: 3 } });

  async function outcomeOf(id: 'one' | 'two', slot: string) {
    writePlugin(world.place, source(id, slot));
    const { registrations } = await host.enable(id, { by });
    const taken = registrations.find(({ kind }) => kind === 'sessionExtension');
    return [taken?.accepted, taken?.code];
  }
});

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}
