// What extensions keep for themselves, on both engines: whose it is, how much it may be, and that nothing of it is half there.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError, type JsonValue } from '@tenon/protocol';
import { limits } from '@tenon/protocol/sep/wire';
import { KV_KEY_CHARS, KV_KEYS, KV_TOTAL_BYTES, KV_VALUE_BYTES } from '../../packages/gateway/src/store/extension-values.ts';
import type { Store } from '../../packages/gateway/src/store/store.ts';
import { onBothEngines } from '../support/stores.ts';
import { at } from '../support/stores-turns.ts';
import { verifies } from '../support/verifies.ts';

const pluginId = 'notes';
const by = 'token:admin';

test('the bounds of the store are those of the extension protocol', () => {
  assert.equal(KV_VALUE_BYTES, limits.kvValueBytes.value);
  assert.equal(KV_TOTAL_BYTES, limits.kvTotalBytes.value);
  assert.equal(KV_KEYS, limits.kvKeys.value);
  assert.equal(KV_KEY_CHARS, limits.kvKeyChars.value);
});

onBothEngines('values are kept by extension and key, over a restart, also under keys that no file could have', async (world) => {
  verifies('sep:kv', 'sep:G13', 'S37');
  const values: Record<string, JsonValue> = {
    count: 3,
    'a/b': { deep: [1, null, 'wörld'] },
    '../../escape': true,
    __proto__x: 'x',
    'nul \u0000 half \ud800': 'odd \u0000\ud800',
    '': 'of no name',
    nothing: null,
  };
  for (const [name, value] of Object.entries(values)) await put(world.store, name, value);
  await world.store.write('extensionValues.put', { pluginId: 'a', name: 'count', value: 'of a', at });
  await world.store.write('extensionValues.put', { pluginId: 'a-b', name: 'count', value: 'of a-b', at });
  await world.reopen();
  const { store } = world;
  for (const [name, value] of Object.entries(values)) assert.deepEqual(await get(store, name), value);
  assert.deepEqual(await list(store), Object.keys(values).sort());
  assert.deepEqual(await list(store, 'a'), ['a/b']);
  assert.deepEqual(await list(store, 'nul \u0000 half \ud800'), ['nul \u0000 half \ud800']);
  assert.deepEqual(await list(store, 'none'), []);
  assert.equal(await get(store, 'never'), null);
  assert.deepEqual(await store.read('extensionValues.list', { pluginId: 'a' }), { names: ['count'] });
  assert.deepEqual(await store.read('extensionValues.get', { pluginId: 'a-b', name: 'count' }), { value: 'of a-b' });
  assert.deepEqual(await store.read('extensionValues.get', { pluginId: 'A', name: 'count' }), { value: null });
});

onBothEngines('20 who swap at once leave what they would have left one after another', async ({ store }) => {
  verifies('sep:kv', 'sep:G13');
  let lost = 0;
  await Promise.all(
    Array.from({ length: 20 }, async () => {
      for (;;) {
        const seen = await get(store, 'n');
        const value = { by: 'somebody', n: ((seen as { n: number } | null)?.n ?? 0) + 1 };
        const { swapped } = await store.write('extensionValues.swap', { pluginId, name: 'n', expected: seen, value, at });
        if (swapped) return;
        lost++;
      }
    }),
  );
  assert.deepEqual(await get(store, 'n'), { by: 'somebody', n: 20 });
  assert.ok(lost > 0, 'somebody was faster at least once');
});

onBothEngines('a swap compares values and not their text, and null is nothing', async ({ store }) => {
  const swap = (expected: JsonValue, value: JsonValue) => store.write('extensionValues.swap', { pluginId, name: 'x', expected, value, at });
  assert.deepEqual(await swap('no', 1), { swapped: false, value: null });
  assert.deepEqual(await swap(null, { a: 1, b: [2] }), { swapped: true, value: { a: 1, b: [2] } });
  assert.deepEqual(await swap({ b: [2], a: 1 }, 2), { swapped: true, value: 2 });
  assert.deepEqual(await swap('2', 3), { swapped: false, value: 2 });
  assert.deepEqual(await swap(2, null), { swapped: true, value: null });
  assert.deepEqual(await list(store), []);
  await put(store, 'x', null);
  assert.deepEqual(await swap(null, 4), { swapped: true, value: 4 });
});

onBothEngines(
  'what an extension keeps is bounded in keys, in one value, and in all of them, and the refusal names the bound',
  async (world) => {
    verifies('sep:kv', 'sep:G13');
    const { store } = world;
    const full = (limit: string, allowed: number) => (error: unknown) => {
      assert.ok(error instanceof GatewayError && error.code === 'TOO_LARGE', String(error));
      assert.deepEqual(error.details, { code: 'KV_LIMIT', limit, allowed });
      return true;
    };
    await assert.rejects(put(store, 'k'.repeat(KV_KEY_CHARS + 1), 1), full('kvKeyChars', KV_KEY_CHARS));
    // With its quotes exactly as large as is possible.
    const largest = 'x'.repeat(KV_VALUE_BYTES - 2);
    await assert.rejects(put(store, 'big', `${largest}x`), full('kvValueBytes', KV_VALUE_BYTES));
    const room = KV_TOTAL_BYTES / KV_VALUE_BYTES;
    for (let n = 0; n < room; n++) await put(store, `b${n}`, largest);
    // All at once: none of them sees the room that another one takes.
    const more = await Promise.allSettled(Array.from({ length: 8 }, (_, n) => put(store, `m${n}`, 1)));
    for (const each of more) full('kvTotalBytes', KV_TOTAL_BYTES)((each as PromiseRejectedResult).reason);
    const swap = { pluginId, name: 'm', expected: null, value: 1, at };
    await assert.rejects(store.write('extensionValues.swap', swap), full('kvTotalBytes', KV_TOTAL_BYTES));
    await put(store, 'b0', 'smaller now');
    await put(store, 'm', 1);
    await store.write('extensionValues.put', { pluginId: 'other', name: 'm', value: largest, at });
    // Ten thousand transactions take PostgreSQL a while, and count the same there.
    if (world.engine === 'postgres') return;
    for (const name of await list(store)) await store.write('extensionValues.remove', { pluginId, name });
    await Promise.all(Array.from({ length: KV_KEYS }, (_, n) => put(store, `k${n}`, n)));
    await assert.rejects(put(store, 'one more', 1), full('kvKeys', KV_KEYS));
    await put(store, 'k1', 'another value of a key that is there');
    await store.write('extensionValues.remove', { pluginId, name: 'k2' });
    await put(store, 'one more', 1);
    assert.equal((await list(store)).length, KV_KEYS);
  },
);

onBothEngines('values stay when an extension is switched off, are not written meanwhile, and go when it is removed', async ({ store }) => {
  verifies('sep:kv');
  await put(store, 'x', 1);
  await store.write('extensionValues.put', { pluginId: 'other', name: 'x', value: 2, at });
  await store.write('plugins.setEnabled', { pluginId, enabled: false, by, at });
  await assert.rejects(put(store, 'x', 2), (error) => error instanceof GatewayError && error.code === 'UNAVAILABLE');
  await store.write('plugins.forget', { pluginId, keepDecisions: true, by, at });
  assert.equal(await get(store, 'x'), 1);
  await store.write('plugins.forget', { pluginId, by, at });
  assert.deepEqual(await list(store), []);
  assert.deepEqual(await store.read('extensionValues.get', { pluginId: 'other', name: 'x' }), { value: 2 });
  const [newest] = await store.read('audit.list', { limit: 1 });
  assert.deepEqual([newest?.action, (newest?.details as { values?: number } | undefined)?.values], ['plugins.forget', 1]);
  const rows = await store.read('tables.count', {});
  assert.deepEqual([rows.extension_values, rows.extension_use], [1, 1], 'its quota begins anew');
});

function put(store: Store, name: string, value: JsonValue): Promise<unknown> {
  return store.write('extensionValues.put', { pluginId, name, value, at });
}

async function get(store: Store, name: string): Promise<JsonValue> {
  return (await store.read('extensionValues.get', { pluginId, name })).value;
}

async function list(store: Store, prefix?: string): Promise<string[]> {
  return (await store.read('extensionValues.list', { pluginId, ...(prefix === undefined ? {} : { prefix }) })).names;
}
