// What a plugin keeps in sessions, through its own api: revisions, locks, limits, and nobody else's.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonValue } from '@tenon/protocol';
import { EXTENSION, KEEP, lastApi, openHostWorld, SESSION, writePlugin } from '../support/plugins.ts';
import { verifies } from '../support/verifies.ts';

const by = 'tester';

test('state is read, written, removed and listed, with a revision that only grows', async () => {
  verifies('seams:W1', 'compat:C17', 'compat:C18');
  await using world = await openHostWorld();
  writePlugin(world.place, { id: 'one', grants: ['sessions.list'], register: `${EXTENSION} ${KEEP}` });
  const host = await world.open();
  await host.enable('one', { by });
  const { state } = lastApi(world).session;
  assert.equal(await state.get(SESSION, 'box'), undefined);
  assert.deepEqual(await state.read(SESSION, 'box'), { ok: true, value: null, revision: 0 });
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
  // What was removed has a revision, by which it can be begun anew.
  assert.deepEqual(await state.read(SESSION, 'box'), { ok: true, value: null, revision: 53 });
  assert.deepEqual(await state.patch(SESSION, 'box', 'anew', { ifRevision: 53 }), { ok: true, revision: 54 });
  const nowhere = await state.read(SESSION, 'never');
  assert.equal(!nowhere.ok && nowhere.reason, 'invalid');
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
