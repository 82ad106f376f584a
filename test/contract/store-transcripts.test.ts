// Transcripts in the store, on both engines: trees, paths, forks and imports, and how they go away.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Entry } from '@tenon/protocol';
import { packEntries } from '../../packages/gateway/src/store/entry-copies.ts';
import type { Store } from '../../packages/gateway/src/store/store.ts';
import { engines, keepAll, onBothEngines, openWorld } from '../support/stores.ts';
import {
  answer,
  at,
  begin,
  call,
  chain,
  completed,
  key,
  label,
  message,
  note,
  question,
  settled,
  spoken,
  summary,
  usage,
} from '../support/stores-turns.ts';

const busy = { code: 'CONFLICT', details: { code: 'SESSION_BUSY', runId: 'r1' } };

async function add(store: Store, text: string): Promise<Entry> {
  return (await store.write('entries.append', { key, draft: note(text), at })).entry;
}

function textsOf(entries: readonly Entry[]): string[] {
  return entries.map((entry) =>
    entry.type === 'custom_message' && entry.content[0]?.type === 'text' ? entry.content[0].text : entry.type,
  );
}

onBothEngines('the leaf moves anywhere in the tree, and what is said next goes on from there', async ({ store, told }) => {
  await store.write('sessions.create', { key, fields: {}, at });
  const a = await add(store, 'a');
  const b = await add(store, 'b');
  await add(store, 'c');
  assert.equal((await store.write('entries.move', { key, leafId: a.id, at })).leafId, a.id);
  await add(store, 'd');
  const moved = await store.write('entries.move', { key, leafId: b.id, drafts: [summary, note('e')], at });
  assert.equal(moved.leafId, moved.entries[1]?.id);
  const { entries } = await store.read('entries.path', { key, limit: 10 });
  assert.deepEqual(textsOf(entries), ['a', 'b', 'branch_summary', 'e']);
  await store.write('entries.append', { key, draft: label(b.id, 'first'), at });
  await store.write('entries.append', { key, draft: label(b.id, 'here'), at });
  await store.write('entries.append', { key, draft: label(a.id, 'gone'), at });
  await store.write('entries.append', { key, draft: label(a.id, null), at });
  const tree = await store.read('entries.tree', { key, limit: 100 });
  assert.deepEqual(
    tree.nodes.slice(0, 6).map((node) => [node.preview, node.current, node.label]),
    [
      ['a', true, undefined],
      ['b', true, 'here'],
      ['c', false, undefined],
      ['d', false, undefined],
      ['what was left behind', true, undefined],
      ['e', true, undefined],
    ],
  );
  const paged = [];
  let after: number | undefined;
  do {
    const page = await store.read('entries.tree', { key, limit: 3, ...(after === undefined ? {} : { after }) });
    paged.push(...page.nodes);
    after = page.next;
  } while (after !== undefined);
  assert.deepEqual(paged, tree.nodes);
  assert.deepEqual(await store.write('entries.move', { key, leafId: null, at }), { leafId: null, entries: [] });
  assert.deepEqual((await store.read('entries.path', { key, limit: 10 })).entries, []);
  assert.deepEqual(textsOf((await store.read('entries.path', { key, from: a.id, limit: 10 })).entries), ['a']);
  await settled(() => spoken(told.events).filter((event) => event === 'chat moved').length === 3);
});

onBothEngines('the leaf stays while a turn runs on it, and a stale writer is told', async ({ store }) => {
  await begin(store, 'r1');
  await assert.rejects(store.write('entries.move', { key, leafId: null, at }), busy);
  await assert.rejects(store.write('sessions.reset', { key, at }), busy);
  await assert.rejects(store.write('sessions.delete', { key, at }), busy);
  const { leafId } = await store.read('entries.path', { key, limit: 1 });
  const { entry } = await store.write('entries.append', { key, draft: note('x'), at, ifLeaf: leafId, runId: 'r1' });
  assert.equal(entry.runId, 'r1');
  const stale = store.write('entries.append', { key, draft: note('x'), at, ifLeaf: leafId });
  await assert.rejects(stale, { code: 'CONFLICT', details: { code: 'STALE_LEAF', leafId: entry.id } });
  for (const draft of [label('none', 'x'), { type: 'context_edit' as const, targetId: 'none', replacement: null }]) {
    const missing = store.write('entries.append', { key, draft, at });
    await assert.rejects(missing, { code: 'NOT_FOUND', details: { code: 'NO_ENTRY', entryId: 'none' } });
  }
});

onBothEngines('a path is read in pages that are bounded by count and by size', async ({ store }) => {
  const entries = chain(1_000, (n) => `${n} `.repeat(20));
  await store.write('entries.import', { key, fields: {}, entries: packEntries(entries), leafId: 'entry-999', at });
  for (const bound of [{ limit: 77 }, { limit: 1_000, maxBytes: 3_000 }]) {
    const read: Entry[] = [];
    let from: string | undefined;
    do {
      const page = await store.read('entries.path', { key, ...bound, ...(from === undefined ? {} : { from }) });
      assert.ok(page.entries.length > 0 && page.entries.length <= bound.limit);
      read.unshift(...page.entries);
      from = page.more;
    } while (from !== undefined);
    assert.deepEqual(read, entries);
  }
  const [only, ...others] = (await store.read('entries.path', { key, limit: 10, maxBytes: 1 })).entries;
  assert.deepEqual([only?.id, others], ['entry-999', []], 'one that is larger than a page is still read');
  const exported: Entry[] = [];
  let after: number | undefined;
  do {
    const page = await store.read('entries.export', { key, limit: 300, maxBytes: 20_000, ...(after === undefined ? {} : { after }) });
    exported.push(...page.entries);
    after = page.next;
  } while (after !== undefined);
  assert.deepEqual(exported, entries);
});

onBothEngines('a fork has the path and the settings, and the two go their own ways', async ({ store, told }) => {
  const chosen = { model: 'demo', thinking: 'high', permissions: 'deny', queue: 'steer' } as const;
  const { session: source } = await store.write('sessions.create', { key, fields: { title: 'First', ...chosen }, at });
  const a = await add(store, 'a');
  const b = await add(store, 'b');
  await store.write('entries.move', { key, leafId: a.id, at });
  await add(store, 'c');
  const forked = await store.write('sessions.fork', { key, newKey: 'agent:main:fork', entryId: b.id, title: 'Second', at });
  assert.deepEqual(forked.entries, 2);
  const { title, model, thinking, permissions, queue, forkedFrom, status } = forked.session;
  assert.deepEqual({ model, thinking, permissions, queue }, chosen);
  assert.deepEqual([title, forkedFrom, status], ['Second', key, 'idle']);
  assert.notEqual(forked.session.sessionId, source.sessionId);
  const copy = await store.read('entries.path', { key: 'agent:main:fork', limit: 10 });
  assert.deepEqual(copy.entries, [a, b]);
  await store.write('sessions.delete', { key, at });
  assert.deepEqual((await store.read('entries.path', { key: 'agent:main:fork', limit: 10 })).entries, [a, b]);
  const again = await store.write('sessions.fork', { key: 'agent:main:fork', newKey: 'agent:main:fork2', at });
  assert.equal(again.entries, 2, 'from the leaf');
  await settled(() => spoken(told.events).filter((event) => event.startsWith('sessions.changed fork')).length === 2);
});

onBothEngines('an import is whole or not at all', async ({ store }) => {
  const entries = chain(1_300);
  const done = await store.write('entries.import', {
    key,
    fields: { title: 'In' },
    entries: packEntries(entries),
    leafId: 'entry-1299',
    at,
  });
  assert.deepEqual([done.entries, done.session.title], [1_300, 'In']);
  const { entries: read } = await store.read('entries.path', { key, limit: 2_000 });
  assert.deepEqual(read, entries);
  const other = 'agent:main:other';
  const refused = [
    [{ entries: [...chain(600), ...chain(1)], leafId: null }, 'DUPLICATE_ENTRY'],
    [{ entries: chain(600).slice(1), leafId: null }, 'NO_PARENT'],
    [{ entries: chain(6), leafId: 'entry-6' }, 'NO_LEAF'],
  ] as const;
  for (const [args, code] of refused) {
    const outcome = await store
      .write('entries.import', { key: other, fields: {}, at, ...args, entries: packEntries(args.entries) })
      .catch((error: unknown) => error);
    const { code: refusal, details } = outcome as { code: string; details: { code: string } };
    assert.deepEqual([refusal, details.code], ['INVALID_REQUEST', code]);
  }
  const tooMany = store.write('entries.import', { key: other, fields: {}, entries: packEntries(chain(100_001)), leafId: null, at });
  await assert.rejects(tooMany, { code: 'TOO_LARGE' });
  await assert.rejects(store.read('sessions.get', { key: other }), { code: 'NOT_FOUND' });
  assert.equal((await store.read('tables.count', {})).entries, 1_300);
});

test('sqlite: an import of more objects than the heap of the writer holds goes through, and others go on', async () => {
  await using world = await openWorld('sqlite');
  const content = Array.from({ length: 40 }, () => ({ type: 'text' as const, text: '' }));
  const entries = chain(60_000).map((entry) => ({ ...entry, message: { role: 'user' as const, content, timestamp: at } }) as Entry);
  const importing = world.store.write('entries.import', { key, fields: {}, entries: packEntries(entries), leafId: null, at });
  assert.equal((await importing).entries, 60_000);
  await world.store.write('sessions.create', { key: 'agent:main:after', fields: {}, at });
  assert.deepEqual(world.told.health, []);
});

onBothEngines('a reset begins an empty transcript, keeps the settings, and carries over what waits', async ({ store }) => {
  await begin(store, 'r1');
  await store.write('sessions.patch', { key, fields: { model: 'demo', queue: 'followup' }, at });
  await store.write('runs.accept', message('r2'));
  await store.write('runs.end', { key, runId: 'r1', end: completed, at });
  const before = await store.read('sessions.get', { key });
  const { session } = await store.write('sessions.reset', { key, at });
  assert.notEqual(session.sessionId, before.session.sessionId);
  assert.deepEqual([session.model, session.queue, session.status], ['demo', 'followup', 'queued']);
  const path = await store.read('entries.path', { key, limit: 10 });
  assert.deepEqual([path.leafId, path.entries], [null, []]);
  assert.deepEqual((await store.read('entries.tree', { key, limit: 10 })).nodes, []);
  const begun = await store.write('runs.begin', { key, leadRunId: 'r2', runIds: ['r2'], at });
  assert.equal(begun.run.sessionId, session.sessionId);
  assert.equal((await store.read('entries.path', { key, limit: 10 })).entries.length, 1);
});

onBothEngines('a deleted session leaves nothing but its events, and what waited is told', async ({ store, told }) => {
  const empty = await store.read('tables.count', {});
  await begin(store, 'r1');
  await store.write('runs.append', {
    key,
    runId: 'r1',
    drafts: [answer('x', ['c1'])],
    calls: [call('c1')],
    usage: { model: 'demo', usage },
    at,
  });
  await store.write('approvals.request', question('r1', 'c1'));
  await store.write('runs.end', { key, runId: 'r1', end: completed, at });
  await store.write('sessions.reset', { key, at });
  await begin(store, 'r2');
  await store.write('runs.end', { key, runId: 'r2', end: completed, at });
  await store.write('runs.accept', message('r3'));
  await store.write('sessions.delete', { key, at });
  const { events: _, ...left } = await store.read('tables.count', {});
  const { events: __, ...none } = empty;
  assert.deepEqual(left, none);
  await settled(() => spoken(told.events).at(-1) === 'sessions.changed delete');
  assert.equal(spoken(told.events).at(-2), 'chat ended r3 aborted');
});

onBothEngines('what is over is kept for its time and then goes, a step at a time; what is under way stays', async ({ store }) => {
  const old = 'agent:main:old';
  await store.write('entries.import', { key: old, fields: {}, entries: packEntries(chain(4_500)), leafId: 'entry-4499', at });
  await store.write('sessions.reset', { key: old, at });
  await begin(store, 'r1');
  await store.write('runs.append', { key, runId: 'r1', drafts: [answer('x')], usage: { model: 'demo', usage }, at });
  const { approval } = await store.write('approvals.request', question('r1', 'c1'));
  await store.write('approvals.request', question('r1', 'c2'));
  await store.write('approvals.resolve', { id: approval.id, decision: 'deny', by: 'token:a', at });
  for (const runId of ['r2', 'r3']) await store.write('runs.accept', message(runId));
  await store.write('runs.end', { key, runId: 'r2', end: { kind: 'aborted' }, at });
  const sweep = (keep: object, later = 100) => store.write('retention.sweep', { at: at + later, keep: { ...keepAll, ...keep } });
  const removed = async (keep: object, later?: number) => {
    const { runs, approvals, entries, usage: sums, more } = await sweep(keep, later);
    return [runs, approvals, entries, sums, more];
  };
  const short = { runMs: 99, approvalMs: 99, transcriptMs: 99 };
  assert.deepEqual(await removed({ runMs: 100, approvalMs: 100, transcriptMs: 100 }), [0, 0, 0, 0, false]);
  assert.deepEqual(await removed(short), [1, 1, 2_000, 0, true]);
  assert.deepEqual(await removed(short), [0, 0, 2_000, 0, true]);
  assert.deepEqual(await removed(short), [0, 0, 500, 0, true]);
  assert.deepEqual(await removed(short), [0, 0, 0, 0, false]);
  const day = 86_400_000;
  assert.deepEqual(await removed({ usageMs: day }, day), [0, 0, 0, 0, false]);
  assert.deepEqual(await removed({ usageMs: day }, 2 * day), [0, 0, 0, 1, false]);
  const { runs, approvals, retired_sessions } = await store.read('tables.count', {});
  assert.deepEqual([runs, approvals, retired_sessions], [2, 1, 0]);
  assert.equal((await store.read('entries.path', { key, limit: 10 })).entries.length, 2);
});

test('a history of 10,000 entries is read at once', async (t) => {
  for (const engine of engines) {
    await using world = await openWorld(engine);
    const entries = chain(10_000, (n) => `message ${n} `.repeat(10));
    const begun = performance.now();
    await world.store.write('entries.import', { key, fields: {}, entries: packEntries(entries), leafId: 'entry-9999', at });
    const imported = performance.now();
    for (let n = 0; n < 3; n++) {
      const start = performance.now();
      const path = await world.store.read('entries.path', { key, limit: 20_000 });
      const end = performance.now();
      assert.deepEqual([path.entries.length, path.entries[0]?.id, path.more], [10_000, 'entry-0', undefined]);
      t.diagnostic(`${engine}: a path of 10,000 entries in ${(end - start).toFixed(1)} ms`);
    }
    const start = performance.now();
    const page = await world.store.read('entries.path', { key, limit: 50 });
    const tree = performance.now();
    await world.store.read('entries.tree', { key, limit: 200 });
    const done = performance.now();
    assert.equal(page.entries.length, 50);
    t.diagnostic(`${engine}: imported in ${(imported - begun).toFixed(0)} ms, a page of 50 in ${(tree - start).toFixed(1)} ms`);
    t.diagnostic(`${engine}: the oldest page of the tree in ${(done - tree).toFixed(1)} ms`);
  }
});
