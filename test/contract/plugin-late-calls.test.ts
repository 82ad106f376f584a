// What a plugin can call for as long as it is loaded: with its grant and no longer, within limits, and never with a throw.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RuntimeApi } from '@tenon/plugin-sdk';
import { type GrantedCall, lateCallNames, lateCallRow } from '@tenon/protocol';
import { groupOf } from '../../packages/gateway/src/host/api-groups.ts';
import { registerMethods } from '../../packages/gateway/src/host/register-api.ts';
import { RUN_CONTEXT_GRACE_MS } from '../../packages/gateway/src/host/run-context.ts';
import { createManualClock } from '../support/clock.ts';
import { EXTENSION, type HostWorld, KEEP, lastApi, openHostWorld, SESSION, writePlugin } from '../support/plugins.ts';
import { idOf, job } from '../support/stores-jobs.ts';
import { verifies } from '../support/verifies.ts';

const by = 'tester';

const EVENT = `api.registerGatewayEvent({ name: 'news' });`;
const CHANNEL = `api.registerChannel({ id: 'line', label: 'Line', send: () => ({ id: 'x' }) });`;

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
const goodArguments: Record<GrantedCall, unknown[] | ((api: RuntimeApi, world: HostWorld) => Promise<unknown[]>)> = {
  'session.state.list': ['box'],
  'session.workflow.enqueueNextTurnInjection': [{ sessionKey: SESSION, text: 'x' }],
  'session.workflow.continueAgent': [{ sessionKey: SESSION, force: true }],
  'session.workflow.notifyActionRequired': [{ sessionKey: SESSION, title: 'x' }],
  'session.workflow.requestApproval': [{ sessionKey: SESSION, title: 'x', description: 'y' }],
  'session.workflow.scheduleSessionTurn': [{ sessionKey: SESSION, message: 'x', delayMs: 1 }],
  'session.workflow.unscheduleSessionTurnsByTag': [{ sessionKey: SESSION, tag: 'x' }],
  'session.workflow.sendSessionAttachment': [{ sessionKey: SESSION, text: 'x' }],
  'session.workflow.updateSessionAttachment': async ({ session: { workflow } }) => {
    const sent = await workflow.sendSessionAttachment({ sessionKey: SESSION, text: 'x' });
    return [{ sessionKey: SESSION, deliveryId: sent.ok ? sent.deliveryId : 'none-none-none-none-none', text: 'y' }];
  },
  'channels.receive': [{ channel: 'line', from: 'ada', text: 'x' }],
  'channels.pressButton': async ({ session: { workflow } }, { store }) => {
    const key = 'agent:main:line:ada';
    const route = { channel: 'line', to: 'ada' };
    const runId = `run-${crypto.randomUUID()}`;
    await store.write('runs.accept', { ...{ key, runId, route }, content: [], trigger: 'user', principal: by, options: {}, at: 1 });
    const sent = await workflow.sendSessionAttachment({ sessionKey: key, text: 'x' });
    const deliveryId = sent.ok ? sent.deliveryId : 'none-none-none-none-none';
    return [{ deliveryId, buttonId: 'yes', from: 'ada', isAuthorizedSender: true }];
  },
  'session.workflow.withdrawActionRequired': [{ sessionKey: SESSION }],
  'gateway.emit': [{ name: 'news', data: {} }],
  'agent.events.emitAgentEvent': [{ runId: 'run-run-run-run-run', sessionKey: SESSION, stream: 'one', data: {} }],
};

async function argumentsOf(place: GrantedCall, api: RuntimeApi, world: HostWorld): Promise<unknown[]> {
  const good = goodArguments[place];
  return typeof good === 'function' ? good(api, world) : good;
}

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

test('every late call without its grant is refused, naming it and the command that gives it, with it done, and refused again at once when it is revoked', async () => {
  verifies('S41', 'seams:W7');
  for (const { call: place, grant } of grantedCalls) {
    await using world = await openHostWorld();
    const others = lateGrants.filter((each) => each !== grant);
    writePlugin(world.place, { id: 'one', grants: lateGrants, register: `${EXTENSION} ${EVENT} ${CHANNEL} ${KEEP}` });
    const host = await world.open();
    const call = async () => {
      const found = lateCalls(lastApi(world)).find(([each]) => each === place);
      return (await found?.[1](...(await argumentsOf(place, lastApi(world), world)))) as { reason?: string; message?: string } | undefined;
    };
    await host.enable('one', { by, grants: others });
    const refused = await call();
    assert.ok(isRefused(refused), place);
    assert.match(refused?.reason ?? '', /^not-granted/, place);
    const said = `${refused?.reason} ${refused?.message}`;
    assert.ok(said.includes(`needs the grant ${grant}; the operator gives it with: tenon plugin grant one ${grant}`), `${place}: ${said}`);
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
  for (const place of Object.keys(goodArguments) as GrantedCall[]) {
    const input = await argumentsOf(place, api, world);
    const outcome = (await lateCalls(api).find(([each]) => each === place)?.[1](...input)) as { reason: string };
    assert.match(outcome.reason, /^not-loaded/, place);
  }
  assert.equal(api.runContext.setRunContext({ runId: 'r', namespace: 'n', value: 1 }), false);
  assert.equal(await api.session.state.get(SESSION, 'box'), undefined);
  const read = await api.session.state.read(SESSION, 'box');
  assert.equal(!read.ok && read.reason, 'not-loaded');
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
    (await world.store.read('audit.list', { limit: 100 })).filter(
      ({ action }) => !['deliveries.send', 'deliveries.update'].includes(action),
    ),
    host.get('one')?.granted,
    host.get('one')?.config,
    await world.store.read('jobs.get', { id: idOf('theirs') }),
  ];
  await world.store.write('jobs.add', job('theirs', { session: { key: SESSION }, tag: 'x' }));
  const before = await kept();
  for (const [place, call] of lateCalls(api)) {
    const isGranted = Object.hasOwn(goodArguments, place);
    const input = isGranted
      ? await argumentsOf(place as GrantedCall, api, world)
      : [SESSION, 'box', { config: {}, grants: ['policy.tools'] }];
    await call(...input);
  }
  const names = lateCalls(api).map(([place]) => place);
  assert.deepEqual(
    names.filter((name) => /config|grant|trust|audit|setting|enable|approvals?\.resolve/i.test(name)),
    [],
  );
  assert.deepEqual(await kept(), before);
});
