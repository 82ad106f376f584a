// kill -9 at random times, on both engines: what was answered is there, what was not is whole or absent, one key has one
// effect and one answer, and who watches misses nothing.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Session } from '@tenon/protocol';
import { killAtRandom, openChaosWorld, seed } from '../support/chaos.ts';
import { openLink } from '../support/chaos-link.ts';
import { countReplies, watchSyncs } from '../support/chaos-strace.ts';
import { SessionHistory } from '../support/ledger-model.ts';
import { Chronicle, Observer } from '../support/ledger-observer.ts';
import { createRandom } from '../support/random.ts';
import { engines } from '../support/stores.ts';
import { verifies } from '../support/verifies.ts';

const KILLS = { sqlite: 12, postgres: 4 } as const;

for (const engine of engines) {
  test(`${engine}: ${KILLS[engine]} kills at random times lose nothing that was answered`, async (t) => {
    verifies('R01', 'R02', 'R03', 'R05', 'R17', 'foundation:two-engines');
    t.diagnostic(`seed ${seed}`);
    const ledger = await killAtRandom({ engine, random: createRandom(seed), kills: KILLS[engine], ledger: { seed, observers: 4 } });
    t.diagnostic(`${JSON.stringify(ledger.stats)} ${ledger.answered.length} acknowledged, ${ledger.chronicle.size} events`);
    assert.ok(ledger.stats.unknown > 0, 'no kill hit a request that was under way');
    for (const observer of ledger.observers) assert.equal(observer.snapshots, 0, 'nothing was too old to be replayed');
  });
}

for (const engine of engines) {
  test(`${engine}: 1,000 changes of one session by 4 clients at once have one order, the same for every client`, async () => {
    verifies('R17');
    const key = 'agent:main:one';
    await using world = await openChaosWorld(engine);
    const gateway = await world.start();
    const chronicle = new Chronicle();
    const observers = Array.from({ length: 4 }, (_, n) => new Observer(chronicle, `127.0.2.${n + 1}`));
    await Promise.all(observers.map((observer) => observer.connect(gateway)));
    const links = await Promise.all(observers.map((_, n) => openLink(gateway, { from: `127.0.3.${n + 1}` })));
    await links[0]!.request('sessions.create', { key, idempotencyKey: 'create' });
    const revisions = await Promise.all(
      links.map((link, client) =>
        Promise.all(
          Array.from({ length: 250 }, async (_, n) => {
            const outcome = await link.request('sessions.patch', { key, idempotencyKey: `${client}-${n}`, title: `${client}-${n}` });
            assert.ok(outcome.kind === 'answered', JSON.stringify(outcome));
            return (outcome.payload.session as Session).revision;
          }),
        ),
      ),
    );
    for (const own of revisions)
      assert.deepEqual(
        own,
        own.toSorted((a, b) => a - b),
        'a client overtook itself',
      );
    assert.deepEqual(
      revisions.flat().sort((a, b) => a - b),
      Array.from({ length: 1_000 }, (_, n) => n + 2),
    );
    await Promise.all(observers.map((observer) => observer.reach(1_001)));
    assert.deepEqual(
      chronicle.changesOf(key).map(({ session }) => session?.revision),
      Array.from({ length: 1_001 }, (_, n) => n + 1),
    );
  });
}

test('the ledger notices what is lost, half done, done twice or out of order', () => {
  verifies('R01', 'R03');
  const create = { key: 'k1', sessionKey: 's', method: 'sessions.create', fields: { title: 'a' } } as const;
  const patch = { key: 'k2', sessionKey: 's', method: 'sessions.patch', fields: { title: 'b', pinned: true } } as const;
  const later = { key: 'k3', sessionKey: 's', method: 'sessions.patch', fields: { title: 'c' } } as const;
  const session = (fields: Partial<Session>): Session => ({
    ...{ key: 's', sessionId: 'id', agentId: 'main', title: 'a', label: null, pinned: false, archived: false },
    ...{ model: null, thinking: null, permissions: null, queue: null, status: 'idle' },
    ...{ revision: 1, createdAt: 1, updatedAt: 1 },
    ...fields,
  });
  const answered = (fields: Partial<Session>) => ({ kind: 'answered', payload: { session: session(fields) } }) as const;
  const told = (
    ...attempts: (readonly [typeof create | typeof patch | typeof later, ReturnType<typeof answered> | { kind: 'unknown' }])[]
  ) => {
    const history = new SessionHistory('s');
    const lostWith = {};
    for (const [request, outcome] of attempts) Object.assign(history.add(request), { outcome, lostWith });
    return history;
  };
  const unknown = { kind: 'unknown' } as const;
  const patched = { title: 'b', pinned: true, revision: 2 };

  const cut = () => told([create, answered({})], [patch, unknown], [later, unknown]);
  cut().observe(session({}));
  cut().observe(session(patched));
  cut().observe(session({ title: 'c', pinned: true, revision: 3 }));
  assert.throws(() => cut().observe(undefined), /cannot be undefined/, 'an answered create is missing');
  assert.throws(() => cut().observe(session({ title: 'b', revision: 2 })), /cannot be/, 'half of a change');
  assert.throws(() => cut().observe(session({ title: 'c', revision: 2 })), /cannot be/, 'the later one only');
  assert.throws(() => cut().observe(session({ sessionId: 'other' })), /cannot be/, 'another session');

  told([create, answered({})], [patch, unknown], [patch, answered(patched)]).observe(session(patched));
  const twice = told([create, answered({})], [patch, unknown], [patch, answered({ ...patched, revision: 3 })]);
  assert.throws(() => twice.settle(), /cannot have answered/, 'a repeat that happened again');
  assert.throws(() =>
    told([create, answered({})], [patch, answered(patched)], [patch, answered(patched)]).observe(session({ ...patched, revision: 3 })),
  );
});

test('no byte of a reply leaves before the sync that covers it', async (t) => {
  verifies('R01');
  const sync = '7 fsync(29) = 0\n';
  const reply = (n: number) =>
    `5 writev(35, [{iov_base="\\201~"}, {iov_base="{\\"type\\":\\"res\\",\\"id\\":\\"r${n}\\",\\"ok\\":true"}], 2) = 9\n`;
  assert.equal(countReplies(reply(1) + sync + reply(2) + sync + reply(3)), 2);
  assert.throws(() => countReplies(reply(1) + sync + reply(2) + reply(3) + sync), /r3 left before/);

  await using world = await openChaosWorld('sqlite');
  const replies = await watchSyncs(await world.start(), 20);
  if (replies === undefined) t.diagnostic('no process may be watched here: the order is proved by the kills alone');
  else assert.equal(replies, 21);
});
