// What a plugin registers, kind by kind: taken only with the grant of its row, once, and never by a throw. Titles in comments
// are those of the contract tests that each test stands for (host-seams section 12.1).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { groupNames as sepGroupNames } from '@tenon/protocol/sep/wire';
import { grantsOfGroup } from '../../packages/gateway/src/host/sep/serve/group-grants.ts';
import { definePluginEntry, type RegisterApi } from '@tenon/plugin-sdk';
import type { TestHost } from '@tenon/plugin-sdk/testing';
import {
  commandNames,
  type ContributionKind,
  contributionKinds,
  contributionRow,
  grantNames,
  hookNames,
  hookNeeds,
  lateCallNames,
  lateCallRow,
} from '@tenon/protocol';
import { registerMethods } from '../../packages/gateway/src/host/register-api.ts';
import { createTestHost } from '../../packages/gateway/src/testing/test-host.ts';
import { verifies } from '../support/verifies.ts';

const tool = { name: 'thing', description: 'd', parameters: { type: 'object' }, risk: 'read', execute: () => ({ content: '' }) } as const;

/** One good item of each kind, all of the name `thing` where a kind has names. */
const samples: Readonly<Record<ContributionKind, (api: RegisterApi) => void>> = {
  sessionExtension: (api) => api.registerSessionExtension({ namespace: 'thing', description: 'd' }),
  sessionAction: (api) => api.registerSessionAction({ id: 'thing', handler: () => undefined }),
  // Declared beside `register`, see `open`.
  sessionsPatchAction: () => {},
  tool: (api) => api.registerTool(tool),
  toolFactory: (api) => api.registerTool(() => tool, { name: 'thing' }),
  toolMetadata(api) {
    api.registerToolMetadata({ toolName: 'thing', displayName: 'Thing' });
  },
  toolPolicy: (api) => api.registerTrustedToolPolicy({ id: 'thing', description: 'd', evaluate: () => undefined }),
  toolResultMiddleware: (api) => api.registerToolResultMiddleware({ id: 'thing', handler: () => undefined }),
  command: (api) => api.registerCommand({ name: 'thing', description: 'd', handler: () => ({ text: '' }) }),
  uiDescriptor: (api) => api.registerControlUiDescriptor({ id: 'thing', label: 'Thing', surface: 'session' }),
  eventSubscription: (api) => api.registerAgentEventSubscription({ id: 'thing', handle: () => {} }),
  lifecycle: (api) => api.registerRuntimeLifecycle({ id: 'thing' }),
  schedulerJob: (api) => void api.registerSessionSchedulerJob({ id: 'thing', sessionKey: 'agent:main:test', kind: 'timer' }),
  scheduledTurn: (api) => api.registerScheduledTurnHandler({ id: 'thing', handler: () => undefined }),
  gatewayMethod: (api) => api.registerGatewayMethod({ name: 'thing', handler: () => null }),
  gatewayEvent: (api) => api.registerGatewayEvent({ name: 'thing' }),
  interactiveHandler: (api) => api.registerInteractiveHandler({ channel: '*', namespace: 'thing', handler: () => undefined }),
  channel: (api) => api.registerChannel({ id: 'thing', label: 'Thing', send: () => ({ id: 'x' }) }),
  httpRoute: (api) => api.registerHttpRoute({ path: '/thing', auth: 'plugin', handler: () => ({ status: 200 }) }),
  modelProvider: (api) => api.registerModelProvider({ name: 'thing', models: [{ id: 'm' }], complete: () => ({}) }),
  service: (api) => api.registerService({ id: 'thing', start: () => {} }),
  startupCheck: (api) => api.registerStartupCheck({ id: 'thing', check: () => ({ ok: true, message: '' }) }),
};
const kinds = contributionKinds.filter((kind) => kind !== 'sessionsPatchAction');
const grantOf = (kind: ContributionKind | 'hook') => (kind === 'hook' ? undefined : contributionRow(kind).grant);
const bareGrants = grantNames.filter((name) => !['hooks.observe', 'hooks.intercept', 'secrets.use', 'extension.use'].includes(name));

interface Rights {
  readonly asked: readonly string[];
  readonly granted?: readonly string[];
}

function open(register: (api: RegisterApi) => void, { asked, granted = asked }: Rights): Promise<TestHost> {
  const manifest = { id: 'one', name: 'One', version: '1.0.0', api: 1, grants: [...asked] };
  return createTestHost(definePluginEntry({ id: 'one', register }), { manifest, grants: [...granted] });
}

/** Of what was not granted: it names the grant, and the command that gives it. */
function assertHowToGrant(host: TestHost, grant: string): void {
  const { message = '' } = host.registrations().find(({ code }) => code === 'NOT_GRANTED') ?? {};
  assert.ok(message.endsWith(`needs the grant ${grant}; the operator gives it with: tenon plugin grant one ${grant}`), message);
}

const codes = (host: TestHost) => host.registrations().map(({ kind, code }) => [kind, code ?? 'taken']);

for (const kind of kinds) {
  // rejects external plugins from trusted policy … · rejects declared external trusted policy registration without explicit opt-in ·
  // rejects declared external tool-result middleware registration without explicit opt-in: here it is the grant, for everybody
  test(`${kind}: taken with the grant of its row and no other, declared and given`, async () => {
    verifies('S41', 'seams:W2', 'seams:W19');
    const grant = grantOf(kind);
    const needed = kind === 'toolMetadata' ? ['tools.register'] : [];
    const register = (api: RegisterApi) => {
      if (kind === 'toolMetadata') samples.tool(api);
      samples[kind](api);
    };
    const others = bareGrants.filter((each) => each !== grant);
    const outcomes = async (rights: Rights) => {
      await using host = await open(register, rights);
      if (grant !== undefined && rights.granted) assertHowToGrant(host, grant);
      return codes(host).find(([each]) => each === kind)?.[1];
    };
    assert.equal(await outcomes({ asked: grant === undefined ? needed : [grant] }), 'taken');
    if (grant === undefined) return;
    assert.equal(await outcomes({ asked: others }), 'NOT_DECLARED');
    assert.equal(await outcomes({ asked: bareGrants, granted: others }), 'NOT_GRANTED', 'to ask for it is not enough');
  });
}

test('every hook: taken with all that it needs, and refused without any one of it', async () => {
  verifies('S41', 'seams:W3');
  for (const name of hookNames) {
    const needs = hookNeeds(name);
    assert.ok(needs.length > 0, name);
    const code = async (granted: readonly string[]) => {
      await using host = await open((api) => api.on(name, () => undefined as never), { asked: needs, granted });
      const missing = needs.find((need) => !granted.includes(need));
      if (missing !== undefined) assertHowToGrant(host, missing);
      return codes(host)[0]?.[1];
    };
    assert.equal(await code(needs), 'taken', name);
    for (const missing of needs)
      assert.equal(await code(needs.filter((need) => need !== missing)), 'NOT_GRANTED', `${name} without ${missing}`);
  }
});

test('every grant of the table is needed by something: a kind, a hook, or a call', () => {
  verifies('S41');
  const needed = new Set([
    ...contributionKinds.flatMap((kind) => grantOf(kind) ?? []),
    ...lateCallNames.flatMap((call) => [lateCallRow(call).grant ?? [], lateCallRow(call).grantFor ?? []].flat()),
    ...hookNames.flatMap((name) => hookNeeds(name).map((need) => need.split(':')[0]!)),
    ...sepGroupNames.flatMap((group) => (grantsOfGroup(group) ?? []).map((need) => need.split(':')[0]!)),
  ]);
  assert.deepEqual([...needed].sort(), [...grantNames].sort());
});

// rejects duplicate trusted policy ids from the same plugin · rejects duplicate runtime lifecycle and agent event subscription ids
test('of two with one name in one plugin the first is taken, whatever kind they are of', async () => {
  verifies('seams:W9', 'seams:W19');
  for (const kind of kinds) {
    const register = (api: RegisterApi) => {
      if (kind === 'toolMetadata') samples.tool(api);
      samples[kind](api);
      samples[kind](api);
    };
    await using host = await open(register, { asked: bareGrants });
    assert.deepEqual(
      codes(host).filter(([each]) => each === kind),
      [
        [kind, 'taken'],
        [kind, 'DUPLICATE'],
      ],
      kind,
    );
  }
});

const trap = new Proxy(
  {},
  {
    get() {
      throw new Error('no');
    },
    ownKeys() {
      throw new Error('no');
    },
  },
);

// diagnoses malformed trusted policy registrations · fails closed when … registration unreadable
test('what is no registration is refused on record, never with a throw, and the rest of the plugin is loaded', async () => {
  verifies('seams:W19', 'seams:W3');
  const bad: unknown[] = [undefined, null, 0, 'x', [], {}, 1n, Symbol('x'), trap];
  const register = (api: RegisterApi) => {
    const methods = api as unknown as Record<string, (given: unknown) => unknown>;
    for (const method of Object.keys(registerMethods)) for (const each of bad) assert.equal(methods[method]?.(each), undefined, method);
    samples.lifecycle(api);
  };
  await using host = await open(register, { asked: bareGrants });
  const refused = host.registrations().filter(({ accepted }) => !accepted);
  assert.equal(refused.length, Object.keys(registerMethods).length * bad.length);
  for (const { kind, code, message } of refused) {
    assert.equal(code, 'INVALID', kind);
    assert.ok((message ?? '').length > 0, kind);
  }
  assert.deepEqual(
    host.registrations().flatMap(({ kind, key, accepted }) => (accepted ? [[kind, key]] : [])),
    [['lifecycle', 'thing']],
  );
  assert.equal((await host.plugin()).state, 'loaded');
});

test('a hook that is none, has no handler, or has options that cannot be read is refused on record', async () => {
  verifies('seams:W3', 'seams:W19');
  const given: [unknown, unknown, unknown?][] = [
    [undefined, () => {}],
    [{}, () => {}],
    ['gateway_stop', undefined],
    ['gateway_stop', 'x'],
    ['gateway_stop', () => {}, trap],
    ['gateway_stop', () => {}, { priority: 1_001 }],
    ['gateway_stop', () => {}, { priority: 0.5 }],
    ['gateway_stop', () => {}, { timeoutMs: 0 }],
    ['gateway_stop', () => {}, { timeoutMs: Number.POSITIVE_INFINITY }],
    ['gateway_stop', () => {}, { matcher: ['exec'] }],
  ];
  const register = (api: RegisterApi) => {
    for (const [name, handler, options] of given) api.on(name as 'gateway_stop', handler as () => undefined, options as object);
  };
  await using host = await open(register, { asked: ['hooks.observe:gateway_stop'] });
  assert.deepEqual(
    codes(host).map(([, code]) => code),
    ['UNKNOWN_HOOK', 'UNKNOWN_HOOK', ...Array.from({ length: given.length - 2 }, () => 'INVALID')],
  );
});

// reports specific diagnostics for malformed session extension callbacks · rejects async session extension projectors …
test('each fault of a session extension, a subscription and a lifecycle is told in words of its own', async () => {
  verifies('seams:W19');
  const faults: [register: (api: RegisterApi) => void, told: RegExp][] = [];
  const fault = (method: keyof typeof registerMethods, item: object, told: RegExp) =>
    faults.push([(api) => void (api[method] as (given: unknown) => unknown)(item), told]);
  const extension = { namespace: 'box', description: 'd' };
  fault('registerSessionExtension', { description: 'd' }, /namespace/);
  fault('registerSessionExtension', { namespace: 'box' }, /description/);
  fault('registerSessionExtension', { ...extension, description: '' }, /description/);
  fault('registerSessionExtension', { ...extension, project: 5 }, /project is not a function/);
  fault('registerSessionExtension', { ...extension, project: async () => 1 }, /project is asynchronous/);
  fault('registerSessionExtension', { ...extension, cleanup: {} }, /cleanup is not a function/);
  fault('registerSessionExtension', { ...extension, sessionEntrySlotKey: 'mine' }, /there is no project/);
  fault('registerSessionExtension', { ...extension, more: 1 }, /more/);
  fault('registerAgentEventSubscription', { handle() {} }, /id/);
  fault('registerAgentEventSubscription', { id: 'ears' }, /handle is not a function/);
  fault('registerAgentEventSubscription', { id: 'ears', handle() {}, streams: { length: 1, 0: 'tool' } }, /streams/);
  fault('registerAgentEventSubscription', { id: 'ears', handle() {}, streams: [''] }, /streams/);
  fault('registerRuntimeLifecycle', {}, /id/);
  fault('registerRuntimeLifecycle', { id: 'life', cleanup: 'x' }, /cleanup is not a function/);
  fault('registerTrustedToolPolicy', { id: 'p', description: 'd' }, /evaluate is not a function/);
  fault('registerTrustedToolPolicy', { id: 'p', evaluate() {} }, /description/);
  fault('registerCommand', { name: 'go', description: 'd', handler() {}, requiredScopes: ['operator.everything'] }, /requiredScopes/);
  fault('registerCommand', { name: 'Go Now', description: 'd', handler() {} }, /name/);
  fault('registerToolMetadata', { toolName: 'thing', risk: 'enormous' }, /risk/);
  fault('registerToolMetadata', { toolName: 'thing', tags: [''] }, /tags/);
  const register = (api: RegisterApi) => {
    samples.tool(api);
    for (const [each] of faults) each(api);
  };
  await using host = await open(register, { asked: bareGrants });
  const refused = host.registrations().filter(({ accepted }) => !accepted);
  // Those about tools are looked at when all tools are known: they stand last, as they do here.
  assert.equal(refused.length, faults.length);
  for (const [index, { message, code }] of refused.entries()) {
    assert.equal(code, 'INVALID');
    assert.match(message ?? '', faults[index]![1]);
  }
});

// rejects non-JSON descriptor schemas before projecting Control UI descriptors · validates plugin-owned JSON values …
test('a descriptor that is more than plain data is refused, and is in no list', async () => {
  verifies('seams:W19');
  const descriptor = { label: 'Card', surface: 'session', actions: [{ label: 'Go', actionId: 'go' }] };
  const bad: Readonly<Record<string, object>> = {
    date: { actions: [{ label: 'Go', actionId: 'go', payload: new Date(0) }] },
    map: { view: [{ kind: 'markdown', text: new Map() }] },
    code: { view: [{ kind: 'markdown', text: () => 'x' }] },
    number: { priority: Number.NaN },
    surface: { surface: 'somewhere' },
    unknown: { renderer: 'approval-card' },
    scope: { requiredScopes: ['operator.everything'] },
    nothing: { actions: [{ label: 'Go' }] },
  };
  const register = (api: RegisterApi) => {
    api.registerSessionAction({ id: 'go', handler: () => undefined });
    for (const [id, more] of Object.entries(bad)) api.registerControlUiDescriptor({ ...descriptor, ...more, id } as never);
    api.registerControlUiDescriptor({ ...descriptor, id: 'good' } as never);
  };
  await using host = await open(register, { asked: ['ui.descriptors'] });
  const told = host.registrations().filter(({ kind }) => kind === 'uiDescriptor');
  assert.deepEqual(
    told.map(({ key, code }) => [key, code]),
    [...Object.keys(bad).map((id) => [id, 'INVALID']), ['good', undefined]],
  );
  assert.deepEqual(
    (await host.descriptors()).map(({ id }) => id),
    ['good'],
  );
});

// checks reserved /codex ownership … · rejects reserved command ownership for non-reserved bundled command names: no plugin has one
test('words of the gateway are nobody’s command, by name or by alias; a bundled plugin is no exception', async () => {
  verifies('seams:A13');
  const kept =
    'help commands status diagnostics whoami context btw stop restart reset new compact config debug allowlist activation skill learn loop subagents kill steer tell model models queue send bash exec think verbose reasoning elevated usage';
  const words = [...new Set([...kept.split(' '), ...commandNames])];
  const command = { description: 'd', handler: () => ({ text: '' }) };
  const register = (api: RegisterApi) => {
    for (const [index, word] of words.entries()) {
      api.registerCommand({ ...command, name: word });
      api.registerCommand({ ...command, name: `mine-${index}`, aliases: [word] });
    }
  };
  await using host = await open(register, { asked: ['commands.register'] });
  assert.equal((await host.plugin()).origin, 'bundled');
  assert.equal(host.registrations().length, words.length * 2);
  for (const { key, code } of host.registrations()) assert.equal(code, 'RESERVED', key);
});
