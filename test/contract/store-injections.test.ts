// What plugins queue for the next turn, on both engines: taken once, in order, by the turn that begins; told when the model
// has answered in it; waiting again when it has not.
import assert from 'node:assert/strict';
import { PLUGIN_INJECTIONS } from '../../packages/gateway/src/store/injections.ts';
import type { Store } from '../../packages/gateway/src/store/store.ts';
import { keepAll, onBothEngines } from '../support/stores.ts';
import { answered, beginning, ofPlugin, plugin, queued, take } from '../support/stores-plugins.ts';
import { answer, at, completed, key, message, note, usage } from '../support/stores-turns.ts';
import { verifies } from '../support/verifies.ts';

onBothEngines('an id is queued once while it waits, and is free when it was told', async ({ store }) => {
  await create(store);
  assert.deepEqual(await store.write('injections.enqueue', queued('a')), { enqueued: true, id: 'a' });
  const again = queued('a', { text: 'another' });
  assert.deepEqual(await store.write('injections.enqueue', again), { enqueued: false, id: 'a', reason: 'duplicate' });
  assert.deepEqual(await store.write('injections.enqueue', queued('a', { pluginId: 'other' })), { enqueued: true, id: 'a' });
  assert.deepEqual(await store.write('injections.enqueue', queued('a', { key: 'agent:main:none' })), {
    enqueued: false,
    id: 'a',
    reason: 'no-session',
  });
  const { injections } = await store.read('injections.list', { key, pluginId: plugin });
  assert.deepEqual(injections, [
    { id: 'a', pluginId: plugin, text: 'remember a', placement: 'prepend_context', priority: 0, createdAt: at },
  ]);
  assert.deepEqual(await take(store, 'r1'), ['a']);
  assert.equal((await store.write('injections.enqueue', again)).reason, 'duplicate', 'it may come back');
  await store.write('runs.append', answered('r1'));
  assert.deepEqual(await store.write('injections.enqueue', again), { enqueued: true, id: 'a' });
  await store.write('runs.end', { key, runId: 'r1', end: completed, at });
  assert.deepEqual(await take(store, 'r2'), ['a']);
  assert.deepEqual((await store.read('injections.ofRun', { runId: 'r2' })).injections[0]?.text, 'another');
});

onBothEngines('32 of a plugin wait in a session at most, those that may come back among them', async ({ store }) => {
  await create(store);
  const fill = (prefix: string) =>
    Promise.all(Array.from({ length: PLUGIN_INJECTIONS + 3 }, (_, n) => store.write('injections.enqueue', queued(`${prefix}${n}`))));
  const reasons = (outcomes: Awaited<ReturnType<typeof fill>>) => outcomes.map(({ reason }) => reason);
  const full = [...Array(PLUGIN_INJECTIONS).fill(undefined), 'full', 'full', 'full'];
  assert.deepEqual(reasons(await fill('a')), full);
  assert.equal((await store.write('injections.enqueue', queued('x', { pluginId: 'other' }))).enqueued, true);
  assert.equal((await take(store, 'r1')).length, PLUGIN_INJECTIONS);
  assert.equal((await store.write('injections.enqueue', queued('b'))).reason, 'full');
  await store.write('runs.end', { key, runId: 'r1', end: { kind: 'failed' }, at });
  assert.equal((await store.read('injections.list', { key, pluginId: plugin })).injections.length, PLUGIN_INJECTIONS);
  await take(store, 'r2');
  await store.write('runs.append', answered('r2'));
  assert.deepEqual(reasons(await fill('b')), full);
});

onBothEngines('the order is by priority, then by time, then as they came', async ({ store }) => {
  verifies('R06', 'seed1:injection-priority');
  await create(store);
  const order: [id: string, pluginId: string, priority: number, when: number][] = [
    ['late', plugin, 0, at + 5],
    ['low', plugin, -10, at],
    ['early-1', plugin, 0, at],
    ['early-2', 'other', 0, at],
    ['early-3', plugin, 0, at],
    ['urgent', 'other', 1000, at + 9],
  ];
  for (const [id, pluginId, priority, when] of order) await store.write('injections.enqueue', queued(id, { pluginId, priority, at: when }));
  const expected = ['urgent', 'early-1', 'early-2', 'early-3', 'late', 'low'];
  const listed = await store.read('injections.list', { key });
  assert.deepEqual(
    listed.injections.map(({ id }) => id),
    expected,
  );
  assert.deepEqual(await take(store, 'r1', [plugin, 'other'], at + 10), expected);
});

onBothEngines('what has expired is told to nobody and makes room', async ({ store }) => {
  verifies('R06');
  await create(store);
  await store.write('injections.enqueue', queued('now', { ttlMs: 0 }));
  await store.write('injections.enqueue', queued('soon', { ttlMs: 10.5 }));
  await store.write('injections.enqueue', queued('ever', { ttlMs: 1e300 }));
  const counted = async (when: number) => (await store.read('injections.counts', { keys: [key], at: when })).counts;
  assert.deepEqual(await counted(at), { [key]: 3 });
  assert.deepEqual(await counted(at + 1), { [key]: 2 });
  assert.deepEqual(await counted(at + 11), { [key]: 1 });
  const { injections } = await store.read('injections.list', { key, at: at + 11 });
  assert.deepEqual(
    injections.map(({ id }) => id),
    ['ever'],
  );
  // Its id is free again, and the others that have expired are gone with it.
  assert.equal((await store.write('injections.enqueue', queued('now', { at: at + 1, ttlMs: 1 }))).enqueued, true);
  assert.equal((await store.read('tables.count', {})).injections, 3);
  assert.deepEqual(await take(store, 'r1', [plugin], at + 10), ['soon', 'ever']);
  const { injections: swept } = await store.write('retention.sweep', { at: at + 11, keep: keepAll });
  assert.equal(swept, 1);
  assert.equal((await store.read('tables.count', {})).injections, 2, 'what a run has taken does not expire');
});

onBothEngines('a turn takes what waits in the commit that begins it; asked again it gets the same, and nobody else does', async (world) => {
  verifies('seams:A16', 'seams:W14');
  await create(world.store);
  await world.store.write('injections.enqueue', queued('a', { metadata: { n: 1 } }));
  await world.store.write('injections.enqueue', queued('b', { placement: 'append_context' }));
  await world.store.write('injections.enqueue', queued('c', { pluginId: 'not-loaded' }));
  for (const runId of ['r1', 'r2', 'r3']) await world.store.write('runs.accept', message(runId));
  const begun = await world.store.write('runs.begin', beginning('r1'));
  const taken = [
    { id: 'a', pluginId: plugin, text: 'remember a', placement: 'prepend_context', metadata: { n: 1 } },
    { id: 'b', pluginId: plugin, text: 'remember b', placement: 'append_context' },
  ];
  assert.deepEqual(begun.injections, taken);
  await world.store.write('injections.enqueue', queued('later'));
  assert.deepEqual((await world.store.write('runs.begin', beginning('r1'))).injections, taken);
  // A message that joins the turn is no turn of its own.
  await world.store.write('runs.begin', { key, leadRunId: 'r1', runIds: ['r2'], at });
  await world.reopen();
  assert.deepEqual((await world.store.read('injections.ofRun', { runId: 'r1' })).injections, taken);
  await world.store.write('runs.append', answered('r1'));
  assert.deepEqual((await world.store.read('injections.ofRun', { runId: 'r1' })).injections, taken);
  await world.store.write('runs.end', { key, runId: 'r1', end: completed, at });
  assert.deepEqual(
    (await world.store.write('runs.begin', beginning('r3', [plugin, 'none']))).injections.map(({ id }) => id),
    ['later'],
  );
  const { injections } = await world.store.read('injections.list', { key, pluginId: 'not-loaded' });
  assert.equal(injections.length, 1);
});

onBothEngines('a turn that could not begin takes nothing', async ({ store }) => {
  await create(store);
  await store.write('injections.enqueue', queued('a'));
  for (let n = 0; n < 6; n++) await store.write('runs.accept', message(`r${n}`));
  const begun = await Promise.allSettled(Array.from({ length: 6 }, (_, n) => store.write('runs.begin', beginning(`r${n}`))));
  const taken = begun.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value.injections.map(({ id }) => id)] : []));
  assert.deepEqual(taken, [['a']]);
  const lead = begun.findIndex(({ status }) => status === 'fulfilled');
  assert.equal((await store.read('injections.list', { key })).injections[0]?.runId, `r${lead}`);
});

onBothEngines('a turn that ends before the model has answered in it gives back what it took', async ({ store }) => {
  verifies('R06', 'compat:C6');
  await create(store);
  await store.write('injections.enqueue', queued('first'));
  await store.write('injections.enqueue', queued('second'));
  const withoutCost = { key, drafts: [answer('said by a plugin')], at };
  const spent = { model: 'demo', usage };
  const unanswered: Record<string, (runId: string) => Promise<unknown>> = {
    'the model failed': async () => {},
    'a plugin answered': (runId) => store.write('runs.append', { ...withoutCost, runId }),
    'it was summed up and withheld': (runId) => store.write('runs.append', { key, runId, drafts: [note('x')], usage: spent, at }),
  };
  for (const [why, before] of Object.entries(unanswered)) {
    for (const kind of ['failed', 'aborted', 'refused', 'internal_error', 'handled', 'completed'] as const) {
      const runId = `${why} ${kind}`;
      assert.deepEqual(await take(store, runId), ['first', 'second'], runId);
      await before(runId);
      await store.write('runs.end', { key, runId, end: { kind }, at });
      assert.deepEqual((await store.read('injections.ofRun', { runId })).injections, []);
    }
  }
  await take(store, 'answered');
  await store.write('runs.append', answered('answered', 'half an ans'));
  await store.write('runs.end', { key, runId: 'answered', end: { kind: 'failed' }, at });
  assert.deepEqual(await take(store, 'after'), []);
});

onBothEngines('what was told is kept as long as its run', async ({ store }) => {
  await create(store);
  await store.write('injections.enqueue', queued('a'));
  await take(store, 'r1');
  await store.write('runs.append', answered('r1'));
  await store.write('runs.end', { key, runId: 'r1', end: completed, at });
  await store.write('injections.enqueue', queued('waits'));
  const keep = { ...keepAll, runMs: 10 };
  assert.equal((await store.write('retention.sweep', { at: at + 10, keep })).injections, 0);
  assert.equal((await store.read('injections.ofRun', { runId: 'r1' })).injections.length, 1);
  const swept = await store.write('retention.sweep', { at: at + 11, keep });
  assert.deepEqual([swept.runs, swept.injections], [1, 1]);
  assert.equal((await store.read('tables.count', {})).injections, 1);
});

onBothEngines('those of a plugin that wait can be removed; what a run has taken stays with it', async ({ store }) => {
  await create(store);
  await store.write('injections.enqueue', queued('a'));
  await take(store, 'r1');
  await store.write('injections.enqueue', queued('b'));
  await store.write('injections.enqueue', queued('c', { pluginId: 'other' }));
  assert.deepEqual(await store.write('injections.remove', { ...ofPlugin, at }), { removed: 1 });
  const { injections } = await store.read('injections.list', { key });
  assert.deepEqual(
    injections.map(({ id, runId }) => [id, runId]),
    [
      ['a', 'r1'],
      ['c', undefined],
    ],
  );
});

function create(store: Store): Promise<unknown> {
  return store.write('sessions.create', { key, fields: {}, at });
}
