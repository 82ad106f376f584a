import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createInOrder } from './in-order.ts';

const numbered = (...seqs: number[]) => seqs.map((seq) => ({ seq }));

test('what arrives out of order is handed on in order, once', () => {
  const delivered: number[] = [];
  const inOrder = createInOrder<{ seq: number }>({
    next: 5,
    deliver: (items) => delivered.push(...items.map((item) => item.seq)),
    read: async () => [],
  });
  inOrder.add(numbered(7));
  inOrder.add(numbered(6, 8));
  assert.deepEqual(delivered, []);
  inOrder.add(numbered(5));
  inOrder.add(numbered(5, 6));
  assert.deepEqual(delivered, [5, 6, 7, 8]);
  inOrder.close();
});

test('a number that nobody reports is read from where it was stored', async () => {
  const delivered: number[] = [];
  const complete = Promise.withResolvers<void>();
  const inOrder = createInOrder({
    next: 1,
    deliver(items) {
      delivered.push(...items.map((item) => item.seq));
      if (delivered.length === 4) complete.resolve();
    },
    read: async (after) => numbered(1, 2, 3, 4).filter((item) => item.seq > after),
  });
  inOrder.add(numbered(1));
  inOrder.add(numbered(3));
  await complete.promise;
  assert.deepEqual(delivered, [1, 2, 3, 4]);
  inOrder.close();
});

test('a store that is away is asked again', async () => {
  const complete = Promise.withResolvers<void>();
  let asked = 0;
  const inOrder = createInOrder({
    next: 1,
    deliver: () => complete.resolve(),
    read: async () => {
      asked++;
      if (asked < 3) throw new Error('away');
      return numbered(1);
    },
  });
  inOrder.check();
  await complete.promise;
  assert.equal(asked, 3);
  inOrder.close();
});
