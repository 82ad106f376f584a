// What an author of a plugin holds in hand: groups and plain names, the api of registration and the api of run time, and
// the calls that have their types before they have their effect.
import assert from 'node:assert/strict';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { definePluginEntry, type RuntimeApi } from '@tenon/plugin-sdk';
import { lateCalls } from '@tenon/protocol';
import { groupOf } from '../../packages/gateway/src/host/api-groups.ts';
import { registerMethods } from '../../packages/gateway/src/host/register-api.ts';
import { lastApi, openHostWorld, SESSION, writePlugin } from '../support/plugins.ts';
import { verifies } from '../support/verifies.ts';

const by = 'tester';

function at(api: object, path: string): unknown {
  return path.split('.').reduce<unknown>((part, name) => (part as Record<string, unknown> | undefined)?.[name], api);
}

/** Places of the functions of an api. */
function placesOf(api: object, prefix = ''): string[] {
  return Object.entries(api).flatMap(([name, part]: [string, unknown]) => {
    if (typeof part === 'function') return [`${prefix}${name}`];
    const isGroup = typeof part === 'object' && part !== null && !(part instanceof AbortSignal) && name !== 'pluginConfig';
    return isGroup ? placesOf(part, `${prefix}${name}.`) : [];
  });
}

test('every grouped function has one plain name, and both are the same function', async () => {
  await using world = await openHostWorld();
  writePlugin(world.place, { id: 'one', register: 'note(api);' });
  await (await world.open()).enable('one', { by });
  const api = lastApi(world);
  for (const [name, group] of Object.entries(groupOf)) {
    const grouped = at(api, `${group}.${name}`);
    assert.equal(typeof grouped, 'function', `${group}.${name}`);
    assert.equal(at(api, name), grouped, name);
  }
  const known = new Set([...Object.keys(lateCalls), ...Object.keys(registerMethods), ...Object.keys(groupOf), 'on']);
  for (const [name, group] of Object.entries(groupOf)) known.add(`${group}.${name}`);
  assert.deepEqual(
    placesOf(api).filter((place) => !known.has(place)),
    [],
    'a function of the api that no table knows',
  );
  for (const part of [api, api.session, api.session.state, api.session.workflow, api.session.controls, api.agent.events, api.lifecycle]) {
    assert.ok(Object.isFrozen(part));
  }
});

test('a plugin knows what it is and where it is', async () => {
  await using world = await openHostWorld();
  const folder = writePlugin(world.place, { id: 'one', register: 'note(api);', manifest: { description: 'The first' } });
  await (await world.open()).enable('one', { by });
  const { id, name, version, description, source, rootDir, resolvePath } = lastApi(world);
  assert.deepEqual(
    { id, name, version, description, source },
    { id: 'one', name: 'The one', version: '1.0.0', description: 'The first', source: 'path' },
  );
  assert.equal(rootDir, folder);
  assert.equal(resolvePath('data/x.json'), join(folder, 'data/x.json'));
  assert.equal(resolvePath('/etc/x'), '/etc/x');
  assert.equal(resolvePath('~/x'), join(homedir(), 'x'));
});

test('registering is over when register has returned: what comes later is refused on record, under every name', async () => {
  verifies('seams:W13', 'seams:W9');
  await using world = await openHostWorld();
  writePlugin(world.place, {
    id: 'one',
    grants: ['prompt.inject'],
    register: 'note(api);',
  });
  const host = await world.open();
  await host.enable('one', { by });
  const api = lastApi(world);
  const runtime: RuntimeApi = api;
  api.session.state.registerSessionExtension({ namespace: 'box', description: 'A box' });
  api.registerSessionExtension({ namespace: 'crate', description: 'A crate' });
  api.session.controls.registerSessionAction({ id: 'press', handler: () => undefined });
  api.lifecycle.registerRuntimeLifecycle({ id: 'end' });
  api.on('gateway_stop', () => {});
  assert.deepEqual(
    host.get('one')?.registrations.map(({ kind, key, accepted, code }) => [kind, key, accepted, code]),
    [
      ['sessionExtension', 'box', false, 'CLOSED'],
      ['sessionExtension', 'crate', false, 'CLOSED'],
      ['sessionAction', 'press', false, 'CLOSED'],
      ['lifecycle', 'end', false, 'CLOSED'],
      ['hook', 'gateway_stop', false, 'CLOSED'],
    ],
  );
  // The other api goes on.
  assert.equal((await runtime.session.workflow.enqueueNextTurnInjection({ sessionKey: SESSION, text: 'x' })).enqueued, true);
  // @ts-expect-error: nothing is registered with the api of run time
  void runtime.registerTool;
  // @ts-expect-error: nor in a group of it
  void runtime.session.controls;
});

test('what is to be undone at the end of a load is undone once, unless it was taken back', async () => {
  await using world = await openHostWorld();
  writePlugin(world.place, {
    id: 'one',
    register: `note(api); api.lifecycle.onDispose(() => note('kept')); const takeBack = api.lifecycle.onDispose(() => note('taken back')); takeBack();`,
  });
  const host = await world.open();
  await host.enable('one', { by });
  await host.disable('one', { by });
  assert.deepEqual(
    world.notes.filter((note) => typeof note === 'string'),
    ['kept'],
  );
});

test('turns at a later time and files are checked whole, and what cannot be is a value', async () => {
  verifies('seams:A2', 'seams:A19', 'seams:W7');
  await using world = await openHostWorld();
  writePlugin(world.place, { id: 'one', grants: ['schedule.turns', 'attachments.send'], register: 'note(api);' });
  await (await world.open()).enable('one', { by });
  const { scheduleSessionTurn, unscheduleSessionTurnsByTag, sendSessionAttachment } = lastApi(world).session.workflow;
  const turn = { sessionKey: SESSION, message: 'wake up' };
  for (const when of [{ at: '2030-01-31T08:00:00Z' }, { delayMs: 0 }, { cron: '0 8 * * *', tz: 'Europe/Berlin' }]) {
    const outcome = await scheduleSessionTurn({ ...turn, ...when, tag: 'daily' });
    assert.deepEqual([outcome.ok, outcome.ok && outcome.sessionKey], [true, SESSION]);
  }
  const badTimes = [
    {},
    { at: 'not-a-date' },
    { at: 'x', delayMs: 1 },
    { delayMs: Number.NaN },
    { delayMs: Number.POSITIVE_INFINITY },
    { delayMs: Number.MAX_VALUE },
    { delayMs: 8_640_000_000_000_000 },
    { delayMs: -1 },
    { cron: '* *' },
    { cron: '0 8 * * *', tz: 'Nowhere/Atall' },
    { delayMs: 1, tz: 'Europe/Berlin' },
    { delayMs: 1, tag: 'a:b' },
    { delayMs: 1, deliveryMode: 'loud' },
    { delayMs: 1, message: ' ' },
  ];
  for (const bad of badTimes) {
    const outcome = await scheduleSessionTurn({ ...turn, ...bad } as never);
    assert.deepEqual([outcome.ok, !outcome.ok && outcome.reason], [false, 'invalid'], JSON.stringify(bad));
  }
  const nowhere = await scheduleSessionTurn({ ...turn, sessionKey: 'agent:main:nowhere', delayMs: 1 });
  assert.equal(!nowhere.ok && nowhere.reason, 'no-session');
  const byTag = await unscheduleSessionTurnsByTag({ sessionKey: SESSION, tag: ' ' });
  assert.equal(!byTag.ok && byTag.reason, 'invalid');
  for (const files of [[], [{ path: '' }], Array.from({ length: 11 }, () => ({ path: 'x' })), 'x']) {
    const outcome = await sendSessionAttachment({ sessionKey: SESSION, files } as never);
    assert.equal(!outcome.ok && outcome.reason, 'invalid');
  }
  const sent = await sendSessionAttachment({ sessionKey: SESSION, files: [{ path: 'report.pdf' }] });
  assert.equal(!sent.ok && sent.reason, 'invalid');
  assert.match(sent.ok ? '' : sent.message, /"report\.pdf"\) is not there/);
});

test('an entry says what it is, and the compiler knows the event of every hook', () => {
  const entry = definePluginEntry({
    id: 'one',
    register(api) {
      api.on('before_tool_call', ({ toolName }) => ({ block: toolName.length > 0 }));
      // @ts-expect-error: there is no such hook
      api.on('before_breakfast', () => {});
      // @ts-expect-error: an action has a handler
      api.session.controls.registerSessionAction({ id: 'x' });
      api.on('gateway_start', ({ port }) => {
        const number: number | undefined = port;
        void number;
      });
    },
  });
  assert.equal(entry.id, 'one');
});

test('a record of a job is cleaned up once, with its session or with the plugin, and not while a new load has it too', async () => {
  // keeps scheduler job records when cleanup fails so cleanup can retry
  // does not invoke old scheduler cleanup for a preserved newer generation
  const other = `${SESSION}-other`;
  await using world = await openHostWorld();
  await world.store.write('sessions.create', { key: other, fields: {}, at: 1 });
  const job = (id: string, sessionKey: string, cleanup = `({ reason }) => note('${id} ' + reason)`) =>
    `note(api.session.workflow.registerSessionSchedulerJob({ id: '${id}', sessionKey: '${sessionKey}', kind: 'timer', cleanup: ${cleanup} }));`;
  const flaky = `() => { note('flaky'); if (!globalThis[Symbol.for('tenon.test.calm')]) throw new Error('not now'); }`;
  const jobs = `${job('a', SESSION)} ${job('b', other)} ${job('flaky', SESSION, flaky)} ${job('a', SESSION)}`;
  writePlugin(world.place, {
    id: 'one',
    grants: ['schedule.turns'],
    register: `${jobs} note(api.registerSessionSchedulerJob({ id: 'bad' }));`,
  });
  const host = await world.open();
  const { registrations } = await host.enable('one', { by });
  assert.deepEqual(
    registrations.map(({ key, code }) => [key, code]),
    [
      ['a', undefined],
      ['b', undefined],
      ['flaky', undefined],
      ['a', 'DUPLICATE'],
      ['bad', 'INVALID'],
    ],
  );
  assert.deepEqual(world.notes, [
    { id: 'a', pluginId: 'one', sessionKey: SESSION, kind: 'timer' },
    { id: 'b', pluginId: 'one', sessionKey: other, kind: 'timer' },
    { id: 'flaky', pluginId: 'one', sessionKey: SESSION, kind: 'timer' },
    undefined,
    undefined,
  ]);
  const told = () => world.notes.splice(0).filter((note) => typeof note === 'string');
  const reset = async () => {
    const event = { seq: 1, event: 'sessions.changed', payload: JSON.stringify({ reason: 'reset' }), sessionKey: SESSION };
    host.committed([event as never]);
    await host.settled();
    return told();
  };
  told();
  assert.deepEqual(await reset(), ['a reset', 'flaky']);
  Object.defineProperty(globalThis, Symbol.for('tenon.test.calm'), { value: true, configurable: true });
  assert.deepEqual(await reset(), ['flaky'], 'what was cleaned up is not asked again, what failed is');
  assert.deepEqual(await reset(), []);
  writePlugin(world.place, { id: 'one', grants: ['schedule.turns'], register: job('b', other) });
  await host.enable('one', { by });
  assert.deepEqual(told(), [], 'the new load has it, too');
  await host.disable('one', { by });
  assert.deepEqual(told(), ['b disable']);
});
