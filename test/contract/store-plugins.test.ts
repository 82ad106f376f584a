// What plugins keep in sessions and what the operator has decided about them, on both engines.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError, type JsonValue, limits } from '@tenon/protocol';
import { PLUGIN_INJECTIONS } from '../../packages/gateway/src/store/injections.ts';
import { packEntries } from '../../packages/gateway/src/store/entry-copies.ts';
import { PLUGIN_STATE_BYTES, PLUGIN_STATE_TOTAL_BYTES } from '../../packages/gateway/src/store/plugin-state.ts';
import { PLUGIN_CONFIG_BYTES, PLUGIN_GRANTS } from '../../packages/gateway/src/store/plugins.ts';
import type { Store } from '../../packages/gateway/src/store/store.ts';
import { onBothEngines } from '../support/stores.ts';
import { answered, injection, ofPlugin, plugin, queued, take } from '../support/stores-plugins.ts';
import { at, chain, completed, key, note, settled, spoken } from '../support/stores-turns.ts';
import { verifies } from '../support/verifies.ts';

const mode = { ...ofPlugin, namespace: 'mode' };
const by = 'token:admin';

test('the bounds of the store are those that the protocol states', () => {
  assert.equal(PLUGIN_STATE_BYTES, limits.pluginStateBytes.value);
  assert.equal(PLUGIN_STATE_TOTAL_BYTES, limits.pluginStateTotalBytes.value);
  assert.equal(PLUGIN_INJECTIONS, limits.pluginInjections.value);
  assert.equal(PLUGIN_GRANTS, limits.pluginGrants.value);
  assert.equal(PLUGIN_CONFIG_BYTES, limits.pluginConfigBytes.value);
});

onBothEngines('state has a revision of its own, and one who saw an older one is told the newer', async ({ store, told }) => {
  await create(store);
  assert.deepEqual(await store.read('pluginState.get', mode), { value: null, revision: 0 });
  assert.deepEqual(await store.write('pluginState.put', { ...mode, value: { plan: ['a'] }, ifRevision: 0, at }), { revision: 1 });
  assert.deepEqual(await store.write('pluginState.put', { ...mode, value: 'b', ifRevision: 1, at }), { revision: 2 });
  await assert.rejects(
    store.write('pluginState.put', { ...mode, value: 'stale', ifRevision: 1, at }),
    refusal('CONFLICT', { code: 'STALE_REVISION', revision: 2, namespace: 'mode' }),
  );
  assert.deepEqual(await store.read('pluginState.get', mode), { value: 'b', revision: 2 });
  await assert.rejects(store.write('pluginState.put', { ...mode, key: 'agent:main:none', value: 1, at }), refusal('NOT_FOUND'));
  await settled(() => told.events.length === 3);
  assert.deepEqual(spoken(told.events).slice(1), Array(2).fill('sessions.changed plugin-patch idle'));
});

onBothEngines('a revision never comes again: not after a removal, not after a reset', async ({ store }) => {
  await create(store);
  await store.write('pluginState.put', { ...mode, value: 'a', at });
  assert.deepEqual(await store.write('pluginState.remove', { ...mode, at }), { removed: 1 });
  assert.deepEqual(await store.write('pluginState.remove', { ...mode, at }), { removed: 0 });
  assert.deepEqual(await store.read('pluginState.get', mode), { value: null, revision: 2 });
  assert.deepEqual(await store.write('pluginState.put', { ...mode, value: 'b', ifRevision: 2, at }), { revision: 3 });
  await store.write('sessions.reset', { key, at });
  assert.deepEqual(await store.read('pluginState.get', mode), { value: null, revision: 4 });
  await assert.rejects(store.write('pluginState.put', { ...mode, value: 'stale', ifRevision: 3, at }), refusal('CONFLICT'));
  assert.deepEqual(await store.write('pluginState.put', { ...mode, value: null, ifRevision: 4, at }), { revision: 5 });
  assert.deepEqual((await store.read('pluginState.ofSession', { key })).states, []);
});

onBothEngines('no other writer drops state: not a patch of the session, another plugin, another namespace or a turn', async ({ store }) => {
  verifies('seams:W11');
  await create(store);
  await store.write('pluginState.put', { ...mode, value: { kept: true }, at });
  // Everything a session has is written anew, by one who never saw the state.
  const fields = {
    title: 'T',
    label: 'l',
    pinned: true,
    archived: true,
    model: 'm',
    thinking: 'low',
    permissions: 'ask',
    queue: 'steer',
  } as const;
  await store.write('sessions.patch', { key, fields, at });
  await store.write('pluginState.put', { ...mode, pluginId: 'other', value: 1, at });
  await store.write('pluginState.put', { ...mode, namespace: 'log', value: 2, at });
  await store.write('pluginState.remove', { ...mode, pluginId: 'other', at });
  await store.write('pluginState.remove', { ...mode, namespace: 'log', at });
  await take(store, 'r1');
  await store.write('runs.append', answered('r1'));
  await store.write('runs.end', { key, runId: 'r1', end: completed, at });
  assert.deepEqual(await store.read('pluginState.get', mode), { value: { kept: true }, revision: 1 });
  assert.deepEqual((await store.read('pluginState.ofSession', { key })).states, [
    { pluginId: plugin, namespace: 'mode', value: { kept: true }, revision: 1, updatedAt: at },
  ]);
});

onBothEngines('20 writers at once leave what they would have left one after another', async ({ store }) => {
  verifies('R07');
  await create(store);
  const writers = 20;
  const each = 5;
  let stale = 0;
  /** Reads, adds its own line, and writes; whoever was faster makes it read anew. */
  async function add(line: string): Promise<void> {
    for (;;) {
      const { value, revision } = await store.read('pluginState.get', mode);
      const lines = [...((value as string[] | null) ?? []), line];
      try {
        await store.write('pluginState.put', { ...mode, value: lines, ifRevision: revision, at });
        return;
      } catch (error) {
        assert.ok(error instanceof GatewayError && (error.details as { code: string }).code === 'STALE_REVISION', String(error));
        stale++;
      }
    }
  }
  async function neighbour(): Promise<void> {
    for (let n = 0; n < writers; n++) {
      await store.write('pluginState.put', { ...mode, pluginId: 'other', value: n, at });
      await store.write('sessions.patch', { key, fields: { title: `t${n}` }, at });
    }
  }
  await Promise.all([
    neighbour(),
    ...Array.from({ length: writers }, async (_, writer) => {
      for (let n = 0; n < each; n++) await add(`${writer}-${n}`);
    }),
  ]);
  const { value, revision } = await store.read('pluginState.get', mode);
  const lines = value as string[];
  assert.equal(revision, writers * each);
  assert.equal(new Set(lines).size, writers * each, 'no line is lost or there twice');
  for (let writer = 0; writer < writers; writer++) {
    assert.deepEqual(
      lines.filter((line) => line.startsWith(`${writer}-`)),
      Array.from({ length: each }, (_, n) => `${writer}-${n}`),
      'each writer finds its own lines in its own order',
    );
  }
  assert.ok(stale > 0, 'they did meet');
});

onBothEngines('a commit of several values and injections happens whole or not at all', async ({ store }) => {
  verifies('R07');
  await create(store);
  const puts = (first: JsonValue, ifRevision: number) => [
    { namespace: 'a', value: first },
    { namespace: 'b', value: 'b', ifRevision },
  ];
  const commit = (args: { puts: ReturnType<typeof puts>; injections?: ReturnType<typeof injection>[] }) =>
    store.write('pluginState.commit', { ...ofPlugin, ...args, at });
  assert.deepEqual(await commit({ puts: puts(1, 0), injections: [injection('x')] }), {
    revisions: { a: 1, b: 1 },
    injections: [{ enqueued: true, id: 'x' }],
  });
  await assert.rejects(commit({ puts: puts(2, 0), injections: [injection('y')] }), refusal('CONFLICT'));
  const many = Array.from({ length: PLUGIN_INJECTIONS }, (_, n) => injection(`many-${n}`));
  await assert.rejects(commit({ puts: puts(3, 1), injections: many }), refusal('CONFLICT', { code: 'INJECTIONS_FULL' }));
  await assert.rejects(commit({ puts: puts('x'.repeat(PLUGIN_STATE_BYTES), 1) }), refusal('TOO_LARGE'));
  assert.deepEqual(await states(store), { a: 1, b: 'b' });
  assert.deepEqual(
    (await store.read('injections.list', { key })).injections.map(({ id }) => id),
    ['x'],
  );
});

onBothEngines('a patch of a session and the state of a plugin are one commit', async ({ store }) => {
  await create(store);
  const patch = (title: string, ifRevision: number) =>
    store.write('sessions.patch', {
      key,
      fields: { title },
      plugin: { pluginId: plugin, puts: [{ namespace: 'mode', value: title, ifRevision }] },
      at,
    });
  const { session } = await patch('one', 0);
  assert.deepEqual([session.title, session.revision], ['one', 2]);
  await assert.rejects(patch('two', 0), refusal('CONFLICT', { code: 'STALE_REVISION', revision: 1, namespace: 'mode' }));
  const { session: after } = await store.read('sessions.get', { key });
  assert.deepEqual([after.title, after.revision], ['one', 2]);
  assert.deepEqual(await store.read('pluginState.get', mode), { value: 'one', revision: 1 });
});

onBothEngines('an action commits its state, its word, what it queues, its turn and its answer together, once', async ({ store }) => {
  verifies('R07', 'seams:W6', 'seams:W14');
  await create(store);
  const act = (args: { ifRevision: number; runId: string }, slotKey: string) =>
    store.write(
      'plugins.act',
      {
        ...ofPlugin,
        puts: [{ namespace: 'mode', value: args.runId, ifRevision: args.ifRevision }],
        drafts: [note(`acted for ${args.runId}`)],
        injections: [{ id: args.runId, text: args.runId, placement: 'prepend_context' as const, priority: 0 }],
        run: { runId: args.runId, pluginId: ofPlugin.pluginId, pluginName: 'One' },
        answer: { ok: true },
        at,
      },
      { principal: 'p', key: slotKey, method: 'plugins.sessionAction', digest: 'd', at },
    );
  const left = async () => [
    await store.read('pluginState.get', mode),
    (await store.read('entries.path', { key, limit: 10 })).entries.length,
    (await store.read('runs.queued', { key })).runs.map(({ run }) => run.runId),
    (await store.read('injections.list', { key })).injections.map(({ id }) => id),
  ];
  assert.deepEqual(await act({ ifRevision: 0, runId: 'r1' }, 'k1'), { ok: true, runId: 'r1' });
  assert.deepEqual(await act({ ifRevision: 0, runId: 'r1' }, 'k1'), { ok: true, runId: 'r1' }, 'a repeat gets the first answer');
  const after = [{ value: 'r1', revision: 1 }, 1, ['r1'], ['r1']];
  assert.deepEqual(await left(), after);
  await assert.rejects(
    act({ ifRevision: 0, runId: 'r2' }, 'k2'),
    refusal('CONFLICT', { code: 'STALE_REVISION', revision: 1, namespace: 'mode' }),
  );
  assert.deepEqual(await left(), after, 'what is refused leaves nothing');
  assert.deepEqual(await act({ ifRevision: 1, runId: 'r3' }, 'k3'), { ok: true, runId: 'r1' }, 'the turn that waits already is the one');
});

onBothEngines('what a plugin keeps in a session is bounded, one value and all together', async ({ store }) => {
  await create(store);
  // With its quotes exactly as large as is possible.
  const largest = 'x'.repeat(PLUGIN_STATE_BYTES - 2);
  await assert.rejects(store.write('pluginState.put', { ...mode, value: `${largest}x`, at }), refusal('TOO_LARGE'));
  const room = PLUGIN_STATE_TOTAL_BYTES / PLUGIN_STATE_BYTES;
  for (let n = 0; n < room; n++) await store.write('pluginState.put', { ...mode, namespace: `n${n}`, value: largest, at });
  await assert.rejects(store.write('pluginState.put', { ...mode, value: 1, at }), refusal('TOO_LARGE', { code: 'STATE_TOO_LARGE' }));
  assert.deepEqual(await store.read('pluginState.get', mode), { value: null, revision: 0 });
  await store.write('pluginState.put', { ...mode, pluginId: 'other', value: 1, at });
  await store.write('pluginState.remove', { ...mode, namespace: 'n0', at });
  await store.write('pluginState.put', { ...mode, value: 1, at });
});

onBothEngines('state ends with its session and goes into no copy of it', async ({ store }) => {
  await create(store);
  await store.write('pluginState.put', { ...mode, value: 'here', at });
  await store.write('injections.enqueue', queued('x'));
  await store.write('sessions.fork', { key, newKey: 'agent:main:fork', at });
  await store.write('entries.import', { key: 'agent:main:in', fields: {}, entries: packEntries(chain(2)), leafId: 'entry-1', at });
  for (const other of ['agent:main:fork', 'agent:main:in']) {
    assert.deepEqual((await store.read('pluginState.ofSession', { key: other })).states, []);
    assert.deepEqual((await store.read('injections.list', { key: other })).injections, []);
  }
  await store.write('sessions.reset', { key, at });
  assert.deepEqual((await store.read('pluginState.ofSession', { key })).states, []);
  assert.deepEqual((await store.read('injections.list', { key })).injections, []);
  await store.write('pluginState.put', { ...mode, value: 'again', at });
  await store.write('injections.enqueue', queued('x'));
  await store.write('sessions.delete', { key, at });
  const rows = await store.read('tables.count', {});
  assert.deepEqual([rows.plugin_state, rows.injections], [0, 0]);
});

onBothEngines('the sessions in which a plugin has state are listed page by page', async ({ store }) => {
  const keys = Array.from({ length: 7 }, (_, n) => `agent:main:s${n}`);
  for (const each of keys) {
    await store.write('sessions.create', { key: each, fields: {}, at });
    await store.write('pluginState.put', { ...mode, key: each, value: each, at });
    await store.write('pluginState.put', { ...mode, key: each, pluginId: 'other', value: 1, at });
  }
  await store.write('pluginState.remove', { ...mode, key: keys[3] ?? '', at });
  const found: string[] = [];
  for (let after: string | undefined; ; ) {
    const page = await store.read('pluginState.list', {
      pluginId: plugin,
      namespace: 'mode',
      limit: 2,
      ...(after === undefined ? {} : { after }),
    });
    for (const state of page.states) {
      assert.equal(state.value, state.key);
      found.push(state.key);
    }
    if (page.next === undefined) break;
    after = page.next;
  }
  assert.deepEqual(
    found,
    keys.filter((each) => each !== keys[3]),
  );
});

onBothEngines('grants and settings are kept, and every change of them is in the audit log without what is configured', async (world) => {
  const { store } = world;
  const grant = { pluginId: plugin, grant: 'tools.register', treeHash: 'h1', by, at };
  await store.write('plugins.grant', grant);
  await store.write('plugins.grant', { ...grant, at: at + 1 });
  await store.write('plugins.grant', { ...grant, treeHash: 'h2', at: at + 2 });
  await store.write('plugins.setEnabled', { pluginId: plugin, enabled: true, by, at });
  await store.write('plugins.setConfig', { pluginId: plugin, config: { token: 'secret-word' }, by, at: at + 3 });
  await store.write('plugins.setConfig', { pluginId: 'other', config: {}, by, at });
  await world.reopen();
  assert.deepEqual((await world.store.read('plugins.grants', { pluginId: plugin })).grants, [
    { pluginId: plugin, grant: 'tools.register', treeHash: 'h2', grantedBy: by, grantedAt: at + 2 },
  ]);
  assert.deepEqual((await world.store.read('plugins.settings', {})).settings, [
    { pluginId: 'other', config: {}, changedAt: at, changedBy: by },
    { pluginId: plugin, enabled: true, config: { token: 'secret-word' }, changedAt: at + 3, changedBy: by },
  ]);
  assert.deepEqual(await world.store.write('plugins.revokeGrant', { pluginId: plugin, grant: 'tools.register', by, at }), {
    revoked: true,
  });
  assert.deepEqual(await world.store.write('plugins.revokeGrant', { pluginId: plugin, grant: 'tools.register', by, at }), {
    revoked: false,
  });
  const audit = await world.store.read('audit.list', { limit: 20 });
  assert.deepEqual(audit.map(({ action }) => action).reverse(), [
    'plugins.grant',
    'plugins.grant',
    'plugins.enable',
    'plugins.config',
    'plugins.config',
    'plugins.revokeGrant',
  ]);
  assert.ok(audit.every(({ actor }) => actor === by));
  assert.ok(!JSON.stringify(audit).includes('secret-word'));
});

onBothEngines('the grants of one plugin are bounded', async ({ store }) => {
  const grant = { pluginId: plugin, treeHash: 'h', by, at };
  for (let n = 0; n < PLUGIN_GRANTS; n++) await store.write('plugins.grant', { ...grant, grant: `secrets.use:s${n}` });
  await assert.rejects(store.write('plugins.grant', { ...grant, grant: 'secrets.use:more' }), refusal('CONFLICT'));
  await store.write('plugins.grant', { ...grant, grant: 'secrets.use:s1', treeHash: 'h2' });
});

onBothEngines('a plugin is forgotten in every session, and its decisions only when they are asked for', async ({ store }) => {
  const sessions = 1_001;
  const keys = Array.from({ length: sessions }, (_, n) => `agent:main:s${n}`);
  await Promise.all(
    keys.map(async (each) => {
      await store.write('sessions.create', { key: each, fields: {}, at });
      await store.write('pluginState.put', { ...mode, key: each, value: 1, at });
      await store.write('injections.enqueue', queued('x', { key: each }));
    }),
  );
  await store.write('pluginState.put', { ...mode, key: keys[0] ?? '', pluginId: 'other', value: 1, at });
  await store.write('plugins.grant', { pluginId: plugin, grant: 'tools.register', treeHash: 'h', by, at });
  await store.write('plugins.setEnabled', { pluginId: plugin, enabled: false, by, at });
  const removed = { states: 0, injections: 0, calls: 0 };
  for (let more = true; more; removed.calls++) {
    // Somebody writes while it is forgotten; nobody waits for the other for ever.
    const [step] = await Promise.all([
      store.write('plugins.forget', { pluginId: plugin, keepDecisions: true, by, at }),
      ...keys.slice(0, 20).map((each) => store.write('pluginState.put', { ...mode, key: each, pluginId: 'other', value: 2, at })),
    ]);
    removed.states += step.states;
    removed.injections += step.injections;
    more = step.more;
  }
  assert.deepEqual(removed, { states: sessions, injections: sessions, calls: 3 });
  assert.equal((await store.read('plugins.grants', {})).grants.length, 1);
  await store.write('plugins.forget', { pluginId: plugin, by, at });
  assert.deepEqual((await store.read('plugins.grants', {})).grants, []);
  assert.deepEqual((await store.read('plugins.settings', {})).settings, []);
  const rows = await store.read('tables.count', {});
  assert.deepEqual([rows.plugin_state, rows.injections], [20, 0]);
});

function create(store: Store): Promise<unknown> {
  return store.write('sessions.create', { key, fields: {}, at });
}

async function states(store: Store): Promise<Record<string, JsonValue>> {
  const { states: found } = await store.read('pluginState.ofSession', { key });
  return Object.fromEntries(found.map(({ namespace, value }) => [namespace, value]));
}

function refusal(code: string, details?: JsonValue): (error: unknown) => true {
  return (error) => {
    assert.ok(error instanceof GatewayError, String(error));
    assert.equal(error.code, code);
    if (details !== undefined) assert.deepEqual(error.details, details);
    return true;
  };
}
