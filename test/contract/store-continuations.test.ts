// Turns that begin without a message, on both engines: whether one does is decided in the commit that gives the reason for
// it, so that a gateway that dies in between has both or neither; and they begin by themselves only so often.
import assert from 'node:assert/strict';
import { GatewayError, limits } from '@tenon/protocol';
import type { WakeWish } from '../../packages/gateway/src/store/continuations.ts';
import type { WriteArgs } from '../../packages/gateway/src/store/operations.ts';
import type { Store } from '../../packages/gateway/src/store/store.ts';
import { onBothEngines } from '../support/stores.ts';
import { answered, beginning, injection, ofPlugin, plugin, queued, take } from '../support/stores-plugins.ts';
import { at, completed, key, message } from '../support/stores-turns.ts';
import { verifies } from '../support/verifies.ts';

const DEPTH = 3;
const wakers = [{ pluginId: plugin, pluginName: 'Plan' }];
const wish = (runId: string, more: Partial<WakeWish> = {}): WakeWish => ({ runId, wakers, depth: DEPTH, ...more });
const asked = (runId: string) => ({ runId, pluginId: plugin, pluginName: 'Plan' });

function create(store: Store): Promise<unknown> {
  return store.write('sessions.create', { key, fields: {}, at });
}

async function waiting(store: Store): Promise<string[]> {
  return (await store.read('runs.queued', { key })).runs.map(({ run }) => run.runId);
}

/** A turn that is answered, during which something is queued. */
async function turn(store: Store, runId: string, how: { isQueued?: boolean; end?: WriteArgs<'runs.end'>['end'] } = {}) {
  await store.write('runs.begin', beginning(runId));
  await store.write('runs.append', answered(runId));
  if (how.isQueued !== false) await store.write('injections.enqueue', queued(`by-${runId}`));
  return store.write('runs.end', { key, runId, end: how.end ?? completed, wake: wish(`after-${runId}`), at });
}

onBothEngines('the end of a turn wakes the session in the same commit, if something waits that may begin a turn', async ({ store }) => {
  verifies('compat:C5', 'R06');
  await create(store);
  await store.write('runs.accept', message('r1'));
  assert.equal((await turn(store, 'r1', { isQueued: false })).woken, undefined, 'nothing is queued');
  await store.write('runs.accept', message('r2'));
  await store.write('injections.enqueue', queued('theirs', { pluginId: 'other' }));
  assert.equal((await turn(store, 'r2', { isQueued: false })).woken, undefined, 'what is queued is of a plugin that may not start turns');
  for (const kind of ['aborted', 'failed', 'internal_error', 'refused', 'step_limit', 'cost_limit'] as const) {
    await store.write('runs.accept', message(`r-${kind}`));
    assert.equal((await turn(store, `r-${kind}`, { end: { kind } })).woken, undefined, kind);
  }
  await store.write('runs.accept', message('r3'));
  await store.write('runs.begin', beginning('r3'));
  await store.write('injections.enqueue', queued('late'));
  await store.write('runs.accept', message('r4'));
  const behind = await store.write('runs.end', { key, runId: 'r3', end: completed, wake: wish('w'), at });
  assert.equal(behind.woken, undefined, 'a message waits, and is told it');
  assert.deepEqual(await waiting(store), ['r4']);
  const last = await turn(store, 'r4');
  assert.equal(last.woken, 'after-r4');
  assert.deepEqual(await waiting(store), ['after-r4']);
  const { run, principal } = (await store.read('runs.queued', { key })).runs[0]!;
  assert.deepEqual([run.trigger, principal], ['plugin', `plugin:${plugin}`]);
  const { entries } = await store.write('runs.begin', beginning('after-r4'));
  const [told] = entries.flatMap((entry) => (entry.type === 'message' && entry.message.role === 'user' ? [entry.message] : []));
  assert.equal(told?.from, 'Plan', 'no person wrote it');
  assert.match(JSON.stringify(told?.content), /No person wrote this: the plugin Plan asks/);
  const again = await store.write('runs.end', { key, runId: 'r4', end: completed, wake: wish('twice'), at });
  assert.deepEqual([again.ended, again.woken], [false, undefined], 'a run ends once, and wakes once');
});

onBothEngines('turns begin by themselves three times after one that a person asked for', async ({ store }) => {
  verifies('compat:C5');
  await create(store);
  await store.write('runs.accept', message('r1'));
  const row = async (first: string) => {
    let runId = first;
    const woken: string[] = [];
    for (let n = 0; n < DEPTH + 2; n++) {
      const ended = await turn(store, runId);
      if (ended.woken === undefined) return { woken, held: ended.held };
      woken.push(ended.woken);
      runId = ended.woken;
    }
    return { woken, held: 'never' };
  };
  const first = await row('r1');
  assert.deepEqual([first.woken.length, first.held], [DEPTH, plugin]);
  await store.write('runs.continue', { key, wish: asked('self'), force: true, at });
  assert.equal((await turn(store, 'self')).held, plugin, 'a turn that the plugin asked for does not begin the count anew');
  await store.write('runs.continue', { key, wish: { ...asked('pressed'), asked: true }, force: true, at });
  assert.equal((await row('pressed')).woken.length, DEPTH, 'one that a person asked for does');
  await store.write('runs.accept', message('r2'));
  assert.equal((await row('r2')).woken.length, DEPTH);
});

onBothEngines('after a call the session is woken if it is idle; after a restart, if its last turn still owed it', async ({ store }) => {
  verifies('compat:C5');
  await create(store);
  assert.deepEqual(await store.write('runs.wake', { key, wake: { runId: 'w0', wakers }, at }), {});
  await store.write('injections.enqueue', queued('a', { at: at + 5 }));
  assert.deepEqual(await store.write('runs.wake', { key, wake: wish('w1'), afterTurn: true, at: at + 5 }), {}, 'there was no turn');
  assert.deepEqual(await store.write('runs.wake', { key, wake: { runId: 'w2', wakers }, at: at + 5 }), { woken: 'w2' });
  assert.deepEqual(await store.write('runs.wake', { key, wake: { runId: 'w3', wakers }, at: at + 5 }), {}, 'it is not idle any more');
  await store.write('runs.begin', { key, leadRunId: 'w2', runIds: ['w2'], drain: { pluginIds: [plugin] }, at: at + 5 });
  await store.write('runs.append', answered('w2'));
  await store.write('injections.enqueue', queued('b', { at: at + 6 }));
  // As a gateway without this would have left it, or one where the plugin was not loaded.
  await store.write('runs.end', { key, runId: 'w2', end: completed, at: at + 7 });
  assert.deepEqual((await store.read('injections.sessions', { pluginIds: [plugin], limit: 1, at })).keys, [key]);
  assert.deepEqual((await store.read('injections.sessions', { pluginIds: [plugin], limit: 1, after: key, at })).keys, []);
  assert.deepEqual((await store.read('injections.sessions', { pluginIds: [], limit: 1, at })).keys, []);
  assert.deepEqual(await store.write('runs.wake', { key, wake: wish('w4'), afterTurn: true, at: at + 8 }), { woken: 'w4' });
  await assert.rejects(store.write('runs.wake', { key: 'agent:main:none', wake: wish('w5'), at }), { code: 'NOT_FOUND' });
});

onBothEngines('what was queued after the last turn is not what a restart goes on with', async ({ store }) => {
  await create(store);
  await take(store, 'r1');
  await store.write('runs.end', { key, runId: 'r1', end: completed, at });
  await store.write('injections.enqueue', queued('later', { at: at + 1 }));
  assert.deepEqual(await store.write('runs.wake', { key, wake: wish('w'), afterTurn: true, at: at + 2 }), {});
});

onBothEngines('a plugin goes on once: with what waits, or forced, and with the turn that waits already', async ({ store }) => {
  verifies('compat:C4');
  await create(store);
  const go = (runId: string, force = false) => store.write('runs.continue', { key, wish: asked(runId), force, at });
  assert.deepEqual(await go('c1'), {}, 'nothing is queued');
  assert.deepEqual(await waiting(store), []);
  await store.write('injections.enqueue', queued('a'));
  assert.deepEqual(await go('c2'), { runId: 'c2' });
  const all = await Promise.all([go('c3'), go('c4', true), go('c5')]);
  assert.deepEqual(
    all.map(({ runId }) => runId),
    ['c2', 'c2', 'c2'],
  );
  assert.deepEqual(await waiting(store), ['c2']);
  await store.write('runs.begin', beginning('c2'));
  assert.deepEqual(await go('c6', true), { runId: 'c6' }, 'one that runs is not the one that was asked for');
  await assert.rejects(store.write('runs.continue', { key: 'agent:main:none', wish: asked('x'), force: true, at }), { code: 'NOT_FOUND' });
});

onBothEngines(
  'a plugin that goes on at the end of each turn is refused in the end, until a person or a schedule asks',
  async ({ store }) => {
    verifies('compat:C4');
    await create(store);
    const most = limits.pluginTurns.value;
    const go = (runId: string, more: { asked?: boolean } = {}) =>
      store.write('runs.continue', { key, wish: { ...asked(runId), ...more }, force: true, at });
    const answer = async (runId: string) => {
      await store.write('runs.begin', beginning(runId));
      await store.write('runs.append', answered(runId));
      await store.write('runs.end', { key, runId, end: completed, at });
    };
    const alone = async (name: string) => {
      for (let n = 0; n < most; n++) {
        const { runId } = await go(`${name}-${n}`);
        await answer(runId!);
      }
      await assert.rejects(go(`${name}-more`), { code: 'CONFLICT', details: { code: 'PLUGIN_TURNS' } });
      assert.deepEqual(await waiting(store), [], 'nothing of it is left');
    };
    await alone('first');
    await store.write('runs.continue', { key, wish: { ...asked('other'), pluginId: 'other' }, force: true, at }).then(
      () => assert.fail('the limit is one of the session, not of each plugin'),
      (error: unknown) => assert.ok(error instanceof GatewayError && error.code === 'CONFLICT'),
    );
    await store.write('runs.accept', message('r1'));
    await answer('r1');
    await alone('after-a-message');
    await go('pressed', { asked: true });
    await answer('pressed');
    await alone('after-a-button');
    await store.write('runs.accept', { ...message('due'), trigger: 'schedule' });
    await answer('due');
    await alone('after-a-schedule');
  },
);

onBothEngines('what an action has looked at binds all of it: state, word, injections, turn and answer', async ({ store }) => {
  verifies('R07', 'seams:W1', 'seams:W14');
  await create(store);
  await store.write('pluginState.put', { ...ofPlugin, namespace: 'seen', value: 1, at });
  const act = (seen: number) =>
    store.write(
      'plugins.act',
      {
        ...ofPlugin,
        puts: [{ namespace: 'own', value: seen, ifRevision: 0 }],
        seen: [{ namespace: 'seen', ifRevision: seen }],
        drafts: [],
        injections: [injection(`i-${seen}`)],
        run: { ...asked(`run-${seen}`), asked: true },
        answer: { ok: true },
        at,
      },
      { principal: 'p', key: `k-${seen}`, method: 'm', digest: 'd', at },
    );
  await store.write('pluginState.put', { ...ofPlugin, namespace: 'seen', value: 2, at });
  await assert.rejects(act(1), (error) => error instanceof GatewayError && error.code === 'CONFLICT');
  assert.deepEqual((await store.read('injections.list', { key })).injections, []);
  assert.deepEqual(await waiting(store), []);
  assert.deepEqual(await store.read('pluginState.get', { ...ofPlugin, namespace: 'own' }), { value: null, revision: 0 });
  assert.deepEqual(await act(2), { ok: true, runId: 'run-2' });
  assert.deepEqual(await act(2), { ok: true, runId: 'run-2' });
  assert.deepEqual(await waiting(store), ['run-2']);
  assert.equal((await store.read('injections.list', { key })).injections.length, 1);
  const states = (await store.read('pluginState.snapshot', ofPlugin)).states;
  assert.deepEqual(states, [
    { namespace: 'own', value: 2, revision: 1 },
    { namespace: 'seen', value: 2, revision: 2 },
  ]);
  await store.write('pluginState.remove', { ...ofPlugin, namespace: 'own', at });
  const removed = (await store.read('pluginState.snapshot', ofPlugin)).states[0];
  assert.deepEqual(removed, { namespace: 'own', value: null, revision: 2 }, 'a removal has a revision too');
});

onBothEngines('a patch of a session and what a plugin does with it are one commit, the turn included', async ({ store }) => {
  verifies('compat:C15');
  await create(store);
  const patch = (title: string, ifRevision: number) =>
    store.write('sessions.patch', {
      key,
      fields: { title },
      plugin: {
        pluginId: plugin,
        puts: [{ namespace: 'mode', value: title, ifRevision }],
        injections: [injection(title)],
        run: asked(`run-${title}`),
      },
      at,
    });
  const first = await patch('one', 0);
  assert.deepEqual([first.session.title, first.session.status, first.runId], ['one', 'queued', 'run-one']);
  await assert.rejects(patch('two', 0), { code: 'CONFLICT' });
  assert.equal((await store.read('sessions.get', { key })).session.title, 'one');
  assert.deepEqual(
    (await store.read('injections.list', { key })).injections.map(({ id }) => id),
    ['one'],
  );
});

onBothEngines('a plugin that was switched off writes nothing more, whatever was still on its way', async ({ store }) => {
  await create(store);
  const off = { pluginId: plugin, by: 'admin', at };
  await store.write('plugins.setEnabled', { ...off, enabled: false });
  const ways = [
    store.write('pluginState.put', { ...ofPlugin, namespace: 'n', value: 1, at }),
    store.write('pluginState.commit', { ...ofPlugin, puts: [], at }),
    store.write('injections.enqueue', queued('a')),
    store.write('plugins.act', { ...ofPlugin, puts: [], drafts: [], answer: {}, at }),
    store.write('sessions.patch', { key, fields: { title: 'x' }, plugin: { pluginId: plugin, puts: [] }, at }),
  ];
  for (const way of ways) await assert.rejects(way, { code: 'UNAVAILABLE' });
  assert.equal((await store.read('sessions.get', { key })).session.title, '');
  await store.write('injections.enqueue', queued('b', { pluginId: 'other' }));
  await store.write('plugins.setEnabled', { ...off, enabled: true });
  await store.write('pluginState.put', { ...ofPlugin, namespace: 'n', value: 1, at });
});
