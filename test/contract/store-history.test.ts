// What the store remembers of what happened, on both engines: events without gaps and in order, the audit chain, and how
// much of either is kept.
import assert from 'node:assert/strict';
import type { Store } from '../../packages/gateway/src/store/store.ts';
import type { StoredEvent } from '../../packages/gateway/src/store/stream.ts';
import { keepAll, onBothEngines } from '../support/stores.ts';
import { verifies } from '../support/verifies.ts';

const at = 1_000;

onBothEngines('readers of events see every position exactly once while 16 writers write', async ({ store, told }) => {
  verifies('foundation:postgres-order', 'foundation:event-positions');
  const writers = 16;
  const each = 40;
  const total = writers * each * 3;
  async function write(writer: number): Promise<void> {
    for (let n = 0; n < each; n++) {
      const key = `agent:main:w${writer}-${n}`;
      // The first two go together: whichever commits first, its position comes first.
      await Promise.all([
        store.write('sessions.create', { key, fields: {}, at }),
        store.write('sessions.create', { key: `${key}b`, fields: {}, at }),
      ]);
      await store.write('sessions.delete', { key, at });
    }
  }
  async function read(limit: number): Promise<StoredEvent[]> {
    const seen: StoredEvent[] = [];
    while (seen.length < total) {
      const page = await store.read('stream.read', { after: seen.at(-1)?.seq ?? 0, limit });
      for (const event of page) {
        assert.equal(event.seq, seen.length + 1, 'a reader skipped a position');
        seen.push(event);
      }
      await turn();
    }
    return seen;
  }
  const [reader, other] = await Promise.all([
    read(7),
    read(500),
    read(1),
    ...Array.from({ length: writers }, (_, writer) => write(writer)),
  ]);
  assert.deepEqual(reader, other);
  while (told.events.length < total) await turn();
  assert.deepEqual(told.events.map(plain), (reader as StoredEvent[]).map(plain), 'the listener is told the same, in the same order');
});

onBothEngines('1,000 concurrent changes of one session apply in the order they came, and so do their events', async ({ store, told }) => {
  verifies('R17');
  await store.write('sessions.create', { key: 'agent:main:a', fields: {}, at });
  await store.write('sessions.create', { key: 'agent:main:b', fields: {}, at });
  const answers = await Promise.all(
    Array.from({ length: 1_000 }, (_, n) =>
      store.write('sessions.patch', { key: n % 10 === 9 ? 'agent:main:b' : 'agent:main:a', fields: { title: `t${n}` }, at }),
    ),
  );
  const byKey = Object.groupBy(answers, ({ session }) => session.key);
  for (const [key, ofKey = []] of Object.entries(byKey)) {
    assert.deepEqual(
      ofKey.map(({ session }) => session.revision),
      ofKey.map((_, n) => n + 2),
      key,
    );
    const stored = (await events(store)).filter((event) => event.sessionKey === key).slice(1);
    assert.deepEqual(
      stored.map(titleOf),
      ofKey.map(({ session }) => session.title),
      `events of ${key}`,
    );
  }
  while (told.events.length < 1_002) await turn();
  assert.deepEqual(
    told.events.map(({ seq }) => seq),
    told.events.map((_, n) => n + 1),
  );
});

onBothEngines('the stream goes on where it was after a restart, under the same epoch', async (world) => {
  const before = world.store.stream;
  await world.store.write('sessions.create', { key: 'agent:main:a', fields: {}, at });
  await world.reopen();
  assert.deepEqual(world.store.stream, { epoch: before.epoch, head: 1, floor: 0 });
  await world.store.write('sessions.create', { key: 'agent:main:b', fields: {}, at });
  assert.deepEqual(
    (await events(world.store)).map(({ seq }) => seq),
    [1, 2],
  );
});

onBothEngines('the audit chain is whole whenever it is looked at, while it grows and is cut', async ({ store, told }) => {
  verifies('foundation:audit');
  let growing = true;
  let looks = 0;
  async function look(): Promise<void> {
    while (growing) {
      assert.equal(await faultOf(store), undefined);
      looks++;
      await turn();
    }
  }
  const looking = look();
  const append = async (writer: number) => {
    for (let n = 0; n < 30; n++) await store.write('audit.append', { actor: `a${writer}`, action: 'x', target: 'y', details: { n }, at });
  };
  const cut = async () => {
    for (let n = 0; n < 15; n++) await store.write('retention.sweep', { at, keep: { ...keepAll, auditCount: 20 } });
  };
  try {
    await Promise.all([...Array.from({ length: 16 }, (_, writer) => append(writer)), cut()]);
  } finally {
    growing = false;
    await looking;
  }
  assert.ok(looks > 0);
  await store.write('retention.sweep', { at, keep: { ...keepAll, auditCount: 20 } });
  const records = await store.read('audit.list', { limit: 200 });
  assert.deepEqual(
    records.map(({ seq }) => seq),
    Array.from({ length: 20 }, (_, n) => 480 - n),
  );
  assert.equal(told.auditHeads.at(-1)?.hash, records[0]?.hash);
  assert.equal(Math.max(...told.auditHeads.map(({ seq }) => seq)), 480);
});

onBothEngines('retention removes in bounded steps what is too old or too much, and nothing else', async ({ store }) => {
  verifies('foundation:retention');
  const count = 2_100;
  await inParallel(count, (n) =>
    store.write(
      'sessions.create',
      { key: `agent:main:s${n}`, fields: {}, at },
      { principal: 'p', key: `k${n}`, method: 'm', digest: 'd', at: n < 2_050 ? at : at + 500 },
    ),
  );
  const pairing = { publicKey: 'k', name: 'n', platform: 'p', scopes: [], address: 'a', requestedAt: at, limit: 9 };
  await store.write('pairing.request', { ...pairing, requestId: 'old', deviceId: 'old', expiresAt: at + 10 });
  await store.write('pairing.request', { ...pairing, requestId: 'new', deviceId: 'new', expiresAt: at + 5_000 });
  const noTurns = { runs: 0, approvals: 0, entries: 0, usage: 0, injections: 0, jobs: 0, occurrences: 0, deliveries: 0, questions: 0 };
  const sweep = (keep: Partial<typeof keepAll>) => store.write('retention.sweep', { at: at + 1_000, keep: { ...keepAll, ...keep } });

  const first = await sweep({ answerMs: 600, eventCount: 50 });
  assert.deepEqual(first, { answers: 2_000, events: 2_000, pairings: 1, audit: 0, ...noTurns, more: true });
  const second = await sweep({ answerMs: 600, eventCount: 50 });
  assert.deepEqual(second, { answers: 50, events: 53, pairings: 0, audit: 0, ...noTurns, more: false });
  const head = count + 3;
  const { epoch } = store.stream;
  assert.deepEqual(await store.read('stream.state', {}), { epoch, head, floor: head - 50 });
  const kept = await events(store);
  assert.equal(kept.length, 50);
  assert.deepEqual(JSON.parse(kept.at(-1)?.payload ?? ''), { requestId: 'old', deviceId: 'old', decision: 'expired' });
  const again = store.write(
    'sessions.delete',
    { key: 'agent:main:s2099', at },
    { principal: 'p', key: 'k2099', method: 'm', digest: 'x', at },
  );
  await assert.rejects(again, { code: 'IDEMPOTENCY_CONFLICT' }, 'the answer is young enough to be there');
  assert.equal((await store.read('pairing.list', { at })).length, 1);

  assert.deepEqual(await sweep({ eventMs: -1 }), { answers: 0, events: 50, pairings: 0, audit: 0, ...noTurns, more: false });
  assert.deepEqual(await store.read('stream.state', {}), { epoch, head, floor: head });
  await store.write('sessions.create', { key: 'agent:main:after', fields: {}, at });
  assert.deepEqual(
    (await events(store)).map(({ seq }) => seq),
    [head + 1],
    'a position is never given twice',
  );
});

onBothEngines('credentials that ended long ago are forgotten', async ({ store }) => {
  const actor = { actor: 'a', at, held: [] };
  const token = (n: number, expiresAt: number | null) =>
    store.write('tokens.create', {
      ...actor,
      id: `t${n}`,
      name: '',
      digest: `d${n}`,
      salt: '',
      scopes: [],
      sessionKey: null,
      expiresAt,
      limit: 9,
    });
  await token(1, null);
  await token(2, at + 10);
  await token(3, null);
  await store.write('tokens.revoke', { ...actor, id: 't3' });
  const sweepAt = (now: number) => store.write('retention.sweep', { at: now, keep: { ...keepAll, credentialMs: 100 } });
  await sweepAt(at + 100);
  assert.equal((await store.read('tokens.list', {})).length, 3);
  await sweepAt(at + 200);
  assert.deepEqual(
    (await store.read('tokens.list', {})).map(({ id }) => id),
    ['t1'],
  );
});

/** Lets others have their turn: a read of SQLite answers at once. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

async function events(store: Store): Promise<StoredEvent[]> {
  return store.read('stream.read', { after: 0, limit: 10_000 });
}

function plain({ seq, event, payload, sessionKey }: StoredEvent): object {
  return { seq, event, payload, sessionKey };
}

function titleOf({ payload }: StoredEvent): string {
  return (JSON.parse(payload) as { session: { title: string } }).session.title;
}

async function faultOf(store: Store): Promise<string | undefined> {
  let after: { seq: number; hash: string } | undefined;
  do {
    const page = await store.read('audit.verifyPage', { limit: 16, ...(after ? { after } : {}) });
    if (page.fault) return page.fault;
    after = page.next;
  } while (after);
  return undefined;
}

async function inParallel(count: number, work: (n: number) => Promise<unknown>): Promise<void> {
  for (let from = 0; from < count; from += 200) {
    await Promise.all(Array.from({ length: Math.min(200, count - from) }, (_, n) => work(from + n)));
  }
}
