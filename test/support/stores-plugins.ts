// What plugins write, in few words, for the tests of the store; and a script that has every operation of theirs in it.
import type { NewInjection } from '../../packages/gateway/src/store/injections.ts';
import type { Store } from '../../packages/gateway/src/store/store.ts';
import type { WriteArgs } from '../../packages/gateway/src/store/operations.ts';
import { keepAll } from './stores.ts';
import { answer, at, completed, key, message, note, type Step, usage } from './stores-turns.ts';

export const plugin = 'plan';
export const ofPlugin = { key, pluginId: plugin };

export function injection(id: string, more: Partial<NewInjection> = {}): NewInjection {
  return { id, text: `remember ${id}`, placement: 'prepend_context', priority: 0, ...more };
}

/** An injection on its way into the session. */
export function queued(id: string, more: Partial<WriteArgs<'injections.enqueue'>> = {}): WriteArgs<'injections.enqueue'> {
  return { ...ofPlugin, ...injection(id), at, ...more };
}

export function beginning(runId: string, pluginIds: readonly string[] = [plugin], when = at): WriteArgs<'runs.begin'> {
  return { key, leadRunId: runId, runIds: [runId], drain: { pluginIds }, at: when };
}

/** Accepts and begins a run, and says what it has taken. */
export async function take(store: Store, runId: string, pluginIds: readonly string[] = [plugin], when = at): Promise<string[]> {
  await store.write('runs.accept', message(runId));
  const { injections } = await store.write('runs.begin', beginning(runId, pluginIds, when));
  return injections.map(({ id }) => id);
}

export function answered(runId: string, text = 'done'): WriteArgs<'runs.append'> {
  return { key, runId, drafts: [answer(text)], usage: { model: 'demo', usage }, at };
}

const state = { ...ofPlugin, namespace: 'mode' };
const granted = { pluginId: plugin, grant: 'tools.register', treeHash: 'hash-1', by: 'token:admin', at };
const accepted = {
  pluginId: plugin,
  grants: ['plugin.load', 'tools.register'],
  treeHash: 'hash-3',
  files: '[["main.mjs","644","x"]]',
  asked: ['tools.register'],
  acceptsTools: true,
  by: 'token:admin',
  at,
};
const says = (description: string) => ({ digest: description, description, parameters: '{}', risk: 'network' });

const wishes = (runId: string) => ({ runId, pluginId: plugin, pluginName: 'Plan' });
const acted = { ...ofPlugin, drafts: [note('a plugin says')], at };

const asked = {
  ...ofPlugin,
  askId: 'ask\u0000',
  agentId: 'main',
  title: 'May I?',
  reason: 'because',
  digest: 'of the question',
  allowed: ['allow-once' as const, 'deny' as const],
  expiresAt: at + 1_000,
  at,
};

/** A value of an extension. */
const kept = (name: string, pluginId = plugin) => ({ pluginId, name });
const odd = 'n\u0000 \ud800 wörld';

export const pluginScript: readonly Step[] = [
  ['read', 'extensionValues.get', kept('a')],
  ['write', 'extensionValues.put', { ...kept('a/2'), value: { n: [1, null] }, at }],
  ['write', 'extensionValues.put', { ...kept('a/1'), value: null, at, lane: 'mine' }],
  ['write', 'extensionValues.put', { ...kept(odd), value: odd, at }],
  ['write', 'extensionValues.put', { ...kept('x'.repeat(257)), value: 1, at }],
  ['write', 'extensionValues.put', { ...kept('large'), value: 'x'.repeat(262_144), at }],
  ['write', 'extensionValues.put', { ...kept('a', 'other'), value: 'of another', at }],
  ['read', 'extensionValues.get', kept(odd)],
  ['read', 'extensionValues.list', { pluginId: plugin }],
  ['read', 'extensionValues.list', { pluginId: plugin, prefix: 'a/' }],
  ['read', 'extensionValues.list', { pluginId: plugin, prefix: 'n\u0000 \ud800' }],
  ['write', 'extensionValues.swap', { ...kept('a/2'), expected: null, value: 1, at }],
  ['write', 'extensionValues.swap', { ...kept('a/2'), expected: { n: [1, null] }, value: { b: 1, a: 2 }, at }],
  ['write', 'extensionValues.swap', { ...kept('a/2'), expected: { a: 2, b: 1 }, value: null, at }],
  ['write', 'extensionValues.swap', { ...kept('a/1'), expected: null, value: 'x'.repeat(262_144), at }],
  ['write', 'extensionValues.remove', kept('a/1')],
  ['write', 'extensionValues.remove', kept('a/1')],
  ['read', 'extensionValues.list', { pluginId: plugin }],
  ['write', 'pluginState.put', { ...state, value: { on: true }, at }],
  ['write', 'injections.enqueue', queued('too-soon')],
  ['write', 'sessions.create', { key, fields: {}, at }],
  ['write', 'pluginState.put', { ...state, value: { on: true, text: 'wörld\u0000\ud800' }, ifRevision: 0, at }],
  ['write', 'pluginState.put', { ...state, value: { on: false }, ifRevision: 0, at }],
  ['write', 'pluginState.put', { ...state, value: 'x'.repeat(262_144), at }],
  ['write', 'pluginState.put', { ...state, namespace: 'other', value: [1, null, 'two'], at }],
  ['read', 'pluginState.get', state],
  ['read', 'pluginState.get', { ...state, pluginId: 'none' }],
  ['read', 'pluginState.ofSession', { key }],
  ['read', 'pluginState.ofSession', { key, pluginId: plugin }],
  ['read', 'pluginState.ofSession', { key, pluginId: 'none' }],
  ['write', 'approvals.askForPlugin', asked],
  ['write', 'approvals.askForPlugin', asked],
  ['write', 'approvals.askForPlugin', { ...asked, digest: 'another' }],
  ['write', 'approvals.voidFor', { ofPlugin: plugin, at }],
  ['write', 'pluginState.remove', { ...state, ifRevision: 9, at }],
  ['write', 'pluginState.remove', { ...state, ifRevision: 1, at }],
  ['write', 'pluginState.remove', { ...state, at }],
  ['read', 'pluginState.get', state],
  ['write', 'pluginState.remove', { ...ofPlugin, at }],
  ['write', 'pluginState.remove', { ...ofPlugin, key: 'agent:main:none', at }],
  [
    'write',
    'pluginState.commit',
    {
      ...ofPlugin,
      puts: [
        { namespace: 'mode', value: 'ready', ifRevision: 2 },
        { namespace: 'log', value: [] },
      ],
      injections: [injection('a')],
      at,
    },
  ],
  [
    'write',
    'pluginState.commit',
    {
      ...ofPlugin,
      puts: [
        { namespace: 'log', value: [1] },
        { namespace: 'mode', value: 'x', ifRevision: 2 },
      ],
      injections: [injection('b')],
      at,
    },
  ],
  ['write', 'pluginState.commit', { ...ofPlugin, puts: [], injections: [injection('a')], at }],
  ['read', 'pluginState.ofSession', { key }],
  ['read', 'pluginState.list', { pluginId: plugin, namespace: 'mode', limit: 1 }],
  ['read', 'pluginState.list', { pluginId: plugin, namespace: 'mode', limit: 1, after: key }],
  [
    'write',
    'sessions.patch',
    { key, fields: { title: 'T' }, plugin: { pluginId: plugin, puts: [{ namespace: 'mode', value: 'patched' }] }, at },
  ],
  [
    'write',
    'sessions.patch',
    { key, fields: { title: 'U' }, plugin: { pluginId: plugin, puts: [{ namespace: 'mode', value: 'x', ifRevision: 1 }] }, at },
  ],
  ['write', 'injections.enqueue', queued('a', { text: 'another' })],
  [
    'write',
    'injections.enqueue',
    queued('late\u0000\ud800', { text: 'odd \u0000\ud800', placement: 'append_context', metadata: { n: [1] } }),
  ],
  ['write', 'injections.enqueue', queued('first', { priority: 10, at: at + 1 })],
  ['write', 'injections.enqueue', queued('short', { ttlMs: 5 })],
  ['write', 'injections.enqueue', queued('b', { pluginId: 'other' })],
  ['read', 'injections.list', { key }],
  ['read', 'injections.list', { key, pluginId: plugin, at: at + 6 }],
  ['read', 'injections.counts', { keys: [key, 'agent:main:none'], at }],
  ['read', 'injections.counts', { keys: [], at }],
  ['write', 'runs.accept', message('r1')],
  ['write', 'runs.begin', beginning('r1', [plugin, 'none'], at + 6)],
  ['write', 'runs.begin', beginning('r1', [plugin], at + 6)],
  ['read', 'injections.ofRun', { runId: 'r1' }],
  ['write', 'injections.remove', { ...ofPlugin, at }],
  ['write', 'injections.remove', { ...ofPlugin, at }],
  ['write', 'injections.remove', { ...ofPlugin, key: 'agent:main:none', at }],
  ['write', 'runs.end', { key, runId: 'r1', end: { kind: 'failed' }, at: at + 7 }],
  ['read', 'injections.ofRun', { runId: 'r1' }],
  ['write', 'runs.accept', message('r2')],
  ['write', 'runs.begin', beginning('r2', [plugin], at + 8)],
  ['write', 'runs.append', answered('r2')],
  ['write', 'runs.end', { key, runId: 'r2', end: completed, at: at + 9 }],
  ['read', 'injections.ofRun', { runId: 'r2' }],
  ['read', 'injections.list', { key }],
  ['read', 'pluginState.snapshot', ofPlugin],
  ['read', 'injections.sessions', { pluginIds: [plugin, 'other'], limit: 5, at }],
  ['read', 'injections.sessions', { pluginIds: [], limit: 5, at }],
  ['write', 'runs.continue', { key, wish: wishes('c1'), force: false, at: at + 9 }],
  ['write', 'runs.continue', { key, wish: wishes('c2'), force: true, at: at + 9 }],
  ['write', 'runs.continue', { key, wish: wishes('c3'), force: true, at: at + 9 }],
  ['write', 'runs.sayFor', { key, wish: wishes('c4'), text: 'odd \u0000\ud800', mode: 'steer', at: at + 9 }],
  ['write', 'runs.sayFor', { key: 'agent:main:none', wish: wishes('c5'), text: 'nowhere', mode: 'followup', at: at + 9 }],
  ['write', 'runs.cancelQueued', { key, at: at + 9 }],
  ['write', 'injections.enqueue', queued('wakes', { at: at + 9 })],
  ['write', 'runs.wake', { key, wake: { runId: 'w1', wakers: [], depth: 3 }, at: at + 9 }],
  ['write', 'runs.wake', { key, wake: { runId: 'w2', wakers: [wishes('w2')], depth: 0 }, at: at + 9 }],
  ['write', 'runs.wake', { key, wake: { runId: 'w3', wakers: [wishes('w3')], depth: 3 }, at: at + 9 }],
  ['write', 'runs.wake', { key, wake: { runId: 'w4', wakers: [wishes('w4')] }, at: at + 9 }],
  ['write', 'runs.cancelQueuedOf', { principal: `plugin:${plugin}`, at: at + 9 }],
  ['write', 'runs.cancelQueued', { key, at: at + 9 }],
  ['write', 'injections.remove', { ...ofPlugin, at: at + 9 }],
  ['write', 'plugins.act', { ...acted, puts: [{ namespace: 'mode', value: 'acted' }], answer: { ok: true } }],
  ['write', 'plugins.act', { ...acted, puts: [{ namespace: 'mode', value: 'x', ifRevision: 1 }], answer: { ok: true } }],
  ['write', 'plugins.act', { ...acted, puts: [], drafts: [], answer: { ok: false } }],
  ['write', 'plugins.act', { ...acted, puts: [], key: 'agent:main:none', answer: {} }],
  ['write', 'plugins.grant', granted],
  ['write', 'plugins.grant', granted],
  ['write', 'plugins.grant', { ...granted, treeHash: 'hash-2', at: at + 1 }],
  ['write', 'plugins.grant', { ...granted, grant: 'hooks.observe:agent_end' }],
  ['read', 'plugins.grants', {}],
  ['read', 'plugins.grants', { pluginId: 'none' }],
  ['write', 'plugins.revokeGrant', { pluginId: plugin, grant: 'tools.register', by: 'token:admin', at }],
  ['write', 'plugins.revokeGrant', { pluginId: plugin, grant: 'tools.register', by: 'token:admin', at }],
  ['write', 'plugins.setConfig', { pluginId: plugin, config: { path: 'secret' }, by: 'token:admin', at }],
  ['write', 'plugins.setConfig', { pluginId: plugin, config: { path: 'x'.repeat(262_144) }, by: 'token:admin', at }],
  ['read', 'plugins.settings', {}],
  ['write', 'plugins.setEnabled', { pluginId: plugin, enabled: true, by: 'token:admin', at }],
  ['write', 'plugins.setEnabled', { pluginId: 'other', enabled: false, by: 'token:admin', at }],
  ['write', 'plugins.setConfig', { pluginId: plugin, config: null, by: 'token:admin', at }],
  ['read', 'plugins.settings', {}],
  ['read', 'plugins.consent', { pluginId: plugin }],
  ['write', 'plugins.accept', accepted],
  ['write', 'plugins.accept', { ...accepted, files: 'x'.repeat(4_194_305) }],
  ['write', 'plugins.recordTools', { pluginId: plugin, treeHash: 'hash-2', asked: [], tools: { plan: says('Plans.') }, at }],
  ['write', 'plugins.recordTools', { pluginId: plugin, treeHash: 'hash-3', asked: [], tools: { plan: says('Plans.') }, at }],
  [
    'write',
    'plugins.recordTools',
    { pluginId: plugin, treeHash: 'hash-3', asked: [], tools: { plan: says('x'), more: says('More.') }, at },
  ],
  ['write', 'plugins.recordTools', { pluginId: 'old', treeHash: 'h', asked: ['tools.register'], tools: { a: says('A.') }, at }],
  ['write', 'plugins.requestGrants', { pluginId: plugin, treeHash: 'hash-3', asked: [], requested: ['hooks.observe:agent_end'], at }],
  ['write', 'plugins.requestGrants', { pluginId: plugin, treeHash: 'hash-2', asked: [], requested: [], at }],
  ['write', 'plugins.requestGrants', { pluginId: 'new', treeHash: 'hash-1', asked: [], requested: ['hooks.observe:agent_end'], at }],
  ['write', 'plugins.holdTools', { pluginId: plugin, treeHash: 'hash-3', pending: { plan: says('Plans, and pays.') }, at }],
  ['read', 'plugins.consent', { pluginId: plugin, files: true }],
  ['write', 'plugins.accept', { ...accepted, acceptsTools: false, at: at + 1 }],
  ['read', 'plugins.consent', { pluginId: plugin }],
  ['write', 'plugins.accept', { ...accepted, at: at + 2 }],
  ['read', 'plugins.consent', { pluginId: plugin }],
  ['write', 'plugins.accept', { ...accepted, treeHash: 'hash-4', at: at + 3 }],
  ['read', 'plugins.consent', { pluginId: plugin, files: true }],
  ['write', 'sessions.fork', { key, newKey: 'agent:main:fork', at }],
  ['read', 'pluginState.ofSession', { key: 'agent:main:fork' }],
  ['write', 'plugins.keepNames', { pluginId: plugin, names: ['tool plan', 'command plan'] }],
  ['write', 'plugins.keepNames', { pluginId: 'nobody', names: [] }],
  ['write', 'plugins.keepCrashes', { pluginId: plugin, memory: { crashes: [{ at, reason: 'it ended' }], restarts: 1 }, at }],
  ['read', 'plugins.crashes', { pluginId: plugin }],
  [
    'write',
    'plugins.keepCrashes',
    { pluginId: plugin, memory: { crashes: [], restarts: 3, down: { state: 'quarantined', reason: 'it crashed' } }, at },
  ],
  ['read', 'plugins.crashes', { pluginId: plugin }],
  ['write', 'plugins.keepCrashes', { pluginId: plugin, memory: { crashes: [{ at, reason: 'x'.repeat(20_000) }], restarts: 1 }, at }],
  ['write', 'plugins.keepCrashes', { pluginId: plugin, at }],
  ['read', 'plugins.crashes', { pluginId: 'nobody' }],
  ['write', 'plugins.hold', { pluginId: plugin, reason: 'it blocked the start', by: 'host', at }],
  ['read', 'plugins.settings', {}],
  ['write', 'plugins.hold', { pluginId: plugin, by: 'token:admin', at }],
  ['read', 'sessions.expect', { key }],
  ['read', 'sessions.expect', { key: 'agent:main:nowhere' }],
  ['write', 'plugins.forget', { pluginId: 'other', keepDecisions: true, by: 'token:admin', at }],
  ['write', 'sessions.reset', { key, at }],
  ['read', 'pluginState.ofSession', { key }],
  ['read', 'pluginState.get', state],
  ['write', 'injections.enqueue', queued('again', { ttlMs: 1 })],
  ['write', 'plugins.forget', { pluginId: plugin, by: 'token:admin', at }],
  ['write', 'plugins.forget', { pluginId: plugin, by: 'token:admin', at }],
  ['read', 'plugins.settings', {}],
  ['write', 'injections.enqueue', queued('again', { ttlMs: 1 })],
  ['write', 'pluginState.put', { ...state, value: 1, at }],
  ['read', 'stream.read', { after: 0, limit: 1_000 }],
  ['read', 'audit.list', { limit: 100 }],
  ['write', 'retention.sweep', { at: at + 100, keep: { ...keepAll, runMs: 50 } }],
  ['write', 'sessions.delete', { key, at }],
  ['read', 'tables.count', {}],
];
