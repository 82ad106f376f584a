// A store that may grow no further: reads go on, what does not fit is refused, what makes room is let through.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Store } from '../../packages/gateway/src/store/store.ts';
import { keepAll, openWorld } from '../support/stores.ts';
import { answer, begin, key, message, question } from '../support/stores-turns.ts';
import { verifies } from '../support/verifies.ts';

const at = 1_000;
const slot = (key: string) => ({ principal: 'p', key, method: 'm', digest: 'd', at });

test('sqlite: a full store reads, refuses what does not fit, and is cured by room alone', async () => {
  verifies('R11');
  await using world = await openWorld('sqlite', { maxBytes: 600_000 });
  const { store, told } = world;
  const written = await fill(store);
  assert.ok(written > 20);
  assert.deepEqual(told.health.at(-1), { ok: false, reason: 'Cannot write: the disk or the database is full' });

  const { session } = await store.read('sessions.get', { key: `agent:main:s${written - 1}` });
  assert.equal(session.revision, 1);
  await assert.rejects(store.read('sessions.get', { key: `agent:main:s${written}` }), { code: 'NOT_FOUND' }, 'nothing half');
  assert.equal((await store.read('stream.state', {})).head, written);
  await assert.rejects(store.write('probe', { at }), { code: 'STORAGE' }, 'the probe needs what a write needs');
  const reported = told.health.length;

  for (let n = 0; n < written; n += 2) await store.write('sessions.delete', { key: `agent:main:s${n}`, at }, slot(`d${n}`));
  assert.equal(told.health.length, reported, 'what makes room does not yet mean that all is well');
  const keep = { ...keepAll, answerMs: 0, eventCount: 5, auditCount: 5 };
  await store.write('retention.sweep', { at: at + 1, keep });
  await store.write('probe', { at });
  assert.deepEqual(told.health.at(-1), { ok: true });
  await store.write('sessions.create', { key: 'agent:main:again', fields: { title: 'x'.repeat(500) }, at });
  await world.reopen();
  assert.deepEqual((await world.store.inspect()).integrity, { ok: true });
  await world.store.read('sessions.get', { key: 'agent:main:again' });
});

test('sqlite: on a full store a request that does not fit takes no other with it', async () => {
  await using world = await openWorld('sqlite', { maxBytes: 600_000 });
  const written = await fill(world.store);
  const large = { key: `agent:main:s1`, fields: { title: '' }, at };
  const outcomes = await Promise.allSettled([
    ...Array.from({ length: 5 }, (_, n) => world.store.write('answer.record', { answer: 'x'.repeat(40_000) }, slot(`large${n}`))),
    world.store.write('tokens.touch', { id: 'none', at }),
    world.store.write('sessions.delete', { key: `agent:main:s0`, at }),
    world.store.write('answer.record', { answer: 'x'.repeat(40_000) }, slot('large')),
    world.store.write('sessions.patch', { ...large, ifRevision: 99 }),
  ]);
  assert.deepEqual(
    outcomes.map((outcome) => (outcome.status === 'fulfilled' ? 'ok' : outcome.reason.code)),
    ['STORAGE', 'STORAGE', 'STORAGE', 'STORAGE', 'STORAGE', 'ok', 'ok', 'STORAGE', 'CONFLICT'],
  );
  assert.equal((await world.store.read('stream.state', {})).head, written + 1);
});

test('sqlite: on a full store a turn can still end, and what it asked for can be taken back', async () => {
  await using world = await openWorld('sqlite', { maxBytes: 600_000 });
  const { store } = world;
  await begin(store, 'r1');
  await store.write('runs.accept', message('r2'));
  await store.write('approvals.request', question('r1', 'c1'));
  await fill(store);
  const large = store.write('runs.append', { key, runId: 'r1', drafts: [answer('x'.repeat(200_000))], at });
  await assert.rejects(large, { code: 'STORAGE' });
  const { approvals } = await store.write('approvals.voidFor', { principal: 'token:asker', at });
  assert.equal(approvals.length, 1);
  const end = { kind: 'internal_error' as const };
  assert.equal((await store.write('runs.end', { key, runId: 'r1', end, at })).ended, true);
  assert.equal((await store.write('runs.cancelQueued', { key, at })).runs.length, 1);
  assert.equal((await store.read('sessions.get', { key })).session.status, 'idle');
  assert.equal((await store.read('entries.path', { key, limit: 10 })).entries.length, 1);
});

/** Sessions until no further one fits. */
async function fill(store: Store): Promise<number> {
  for (let n = 0; ; n++) {
    try {
      await store.write('sessions.create', { key: `agent:main:s${n}`, fields: { title: `${n} ${'x'.repeat(500)}` }, at }, slot(`k${n}`));
    } catch (error) {
      assert.equal((error as { code?: string }).code, 'STORAGE');
      return n;
    }
  }
}
