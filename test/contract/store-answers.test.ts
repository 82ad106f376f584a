// Answers that are completed after their commit: a crash in between leaves a draft, and whoever completes it first decides.
import assert from 'node:assert/strict';
import { onBothEngines } from '../support/stores.ts';
import { verifies } from '../support/verifies.ts';

const at = 1_000;
const slot = { principal: 'p', key: 'k', method: 'sessions.create', digest: 'd', at };
const complete = (answer: object) => ({ slot, lane: 'p k', answer });

onBothEngines('an answer that lacks something is kept as a draft until it is whole, and then stays as it is', async (world) => {
  verifies('R03:whole-answer');
  const args = { key: 'agent:main:a', fields: {}, at };
  const draft = await world.store.write('sessions.create', args, { ...slot, isDraft: true });
  await world.reopen();
  // After a crash: one effect, and still nothing that anybody has seen.
  assert.deepEqual(await world.store.write('sessions.create', args, slot), draft);
  assert.ok('$draft' in draft);
  const answers = await Promise.all([1, 2].map((n) => world.store.write('answer.complete', complete({ whole: n }))));
  assert.deepEqual(answers, [{ whole: 1 }, { whole: 1 }]);
  await world.reopen();
  assert.deepEqual(await world.store.write('sessions.create', args, { ...slot, isDraft: true }), { whole: 1 });
  assert.equal((await world.store.read('sessions.list', { limit: 5 })).sessions.length, 1);
  await assert.rejects(world.store.write('answer.complete', { ...complete({}), slot: { ...slot, digest: 'other' } }), {
    code: 'IDEMPOTENCY_CONFLICT',
  });
});
