import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLanes } from './lane.ts';

test('one lane keeps the order of asking, also after a failure; lanes run side by side; nothing is left behind', async () => {
  const lanes = createLanes();
  const done: string[] = [];
  const gate = Promise.withResolvers<void>();
  const first = lanes.run('a', async () => {
    await gate.promise;
    done.push('a1');
    throw new Error('a1 fails');
  });
  const second = lanes.run('a', async () => void done.push('a2'));
  const other = lanes.run('b', async () => void done.push('b1'));
  await other;
  assert.deepEqual(done, ['b1']);
  gate.resolve();
  await assert.rejects(first, /a1 fails/);
  await second;
  assert.deepEqual(done, ['b1', 'a1', 'a2']);
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(lanes.size, 0);
});
