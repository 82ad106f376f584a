// Stopping under load, and who may start where: SIGTERM finishes what runs, a second one does not wait, two gateways never
// share a home, and a killed one leaves nothing in the way.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { openChaosWorld, seed } from '../support/chaos.ts';
import { type Link, openLink } from '../support/chaos-link.ts';
import { type GatewayProcess, startGatewayProcess } from '../support/gateway.ts';
import { Ledger } from '../support/ledger.ts';
import { createRandom } from '../support/random.ts';
import { engines } from '../support/stores.ts';
import { verifies } from '../support/verifies.ts';

const STOPS = { sqlite: 5, postgres: 2 } as const;

for (const engine of engines) {
  test(`${engine}: SIGTERM under load loses nothing, closes every client with 1012 and exits 0`, async (t) => {
    verifies('R14', 'R01');
    t.diagnostic(`seed ${seed}`);
    const random = createRandom(seed);
    const ledger = new Ledger({ seed, observers: 2 });
    await using world = await openChaosWorld(engine);
    for (let stop = 0; stop < STOPS[engine]; stop++) {
      const gateway = await world.start();
      if (stop > 0) await ledger.compare(gateway);
      await ledger.observe(gateway);
      const load = await ledger.load(gateway);
      const target = ledger.stats.answered + 20 + random.below(200);
      await ledger.until(() => ledger.stats.answered >= target);
      const unknownBefore = ledger.stats.unknown;
      assert.equal(await gateway.stop(), 0, gateway.stderr());
      for (const link of load.links) assert.equal((await link.closed).code, 1012);
      await load.stop();
      // What was read was answered, and what came after is refused: only what was on the wire when the socket closed is open.
      t.diagnostic(`stop ${stop + 1}: ${ledger.stats.answered} answered, ${ledger.stats.unknown - unknownBefore} without an answer`);
    }
    const gateway = await world.start();
    await ledger.observe(gateway);
    await ledger.compareEvents(await ledger.compare(gateway));
  });
}

test('while it drains it finishes what runs, takes nothing new, and a second SIGTERM ends the wait', async () => {
  verifies('R14');
  await using world = await openChaosWorld('postgres', { settings: '[gateway]\nshutdownBudgetMs = 60000\n' });
  const gateway = await world.start();
  const blocker = await lockSessions(world.databaseUrl!);
  const { link, shutdown } = await watch(gateway);
  const running = link.request('sessions.create', { key: 'agent:main:a', idempotencyKey: 'a' });
  await blocker.isWaitedFor();
  gateway.child.kill('SIGTERM');
  await shutdown;
  const late = await link.request('sessions.create', { key: 'agent:main:b', idempotencyKey: 'b' });
  assert.equal(late.kind === 'refused' && late.error.code, 'UNAVAILABLE');
  const ready = await fetch(`${gateway.url}/readyz`).then(
    (response) => response.status,
    () => 503,
  );
  assert.equal(ready, 503);
  assert.equal(gateway.child.exitCode, null, 'it waits for the one that runs');
  await blocker.release();
  assert.equal((await running).kind, 'answered', 'what ran was finished');
  assert.deepEqual(await gateway.exited, { code: 0, signal: null });
  assert.equal((await link.closed).code, 1012);

  const again = await world.start();
  const second = await lockSessions(world.databaseUrl!);
  const { link: stuck, shutdown: stopping } = await watch(again);
  const pending = stuck.request('sessions.create', { key: 'agent:main:c', idempotencyKey: 'c' });
  await second.isWaitedFor();
  again.child.kill('SIGTERM');
  await stopping;
  const startedAt = performance.now();
  again.child.kill('SIGTERM');
  assert.equal((await stuck.closed).code, 1012);
  assert.equal((await pending).kind, 'unknown');
  await second.release();
  assert.deepEqual(await again.exited, { code: 0, signal: null });
  assert.ok(performance.now() - startedAt < 60_000, 'the budget of 60 s was not waited for');
});

test('a second gateway on the same home exits 3 and names the process that owns it', async () => {
  verifies('R16');
  await using world = await openChaosWorld('sqlite');
  const owner = await world.start();
  await assert.rejects(startGatewayProcess({ home: world.home }), (error: Error & { exit: { code: number } }) => {
    assert.equal(error.exit.code, 3);
    assert.match(error.message, new RegExp(`\\b${owner.pid}\\b`));
    return true;
  });
  assert.equal(owner.child.exitCode, null);
});

for (const engine of engines) {
  test(`${engine}: after kill -9 the next start has the home at once`, async () => {
    verifies('R16');
    await using world = await openChaosWorld(engine);
    let gateway = await world.start();
    for (let round = 0; round < 5; round++) {
      const link = await openLink(gateway);
      await link.request('sessions.create', { idempotencyKey: `r${round}` });
      // Not waited for: the next one starts while the system still buries this one.
      gateway.child.kill('SIGKILL');
      gateway = await world.start();
    }
    await gateway.kill();
  });
}

async function watch(gateway: GatewayProcess): Promise<{ link: Link; shutdown: Promise<void> }> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const link = await openLink(gateway, { onEvent: ({ event }) => event === 'shutdown' && resolve() });
  return { link, shutdown: promise };
}

/** Holds the table of sessions, so that a write takes as long as the test wants. */
async function lockSessions(url: string): Promise<{ isWaitedFor(): Promise<void>; release(): Promise<void> }> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('begin; lock table sessions in access exclusive mode');
  return {
    async isWaitedFor() {
      const waiting = `select from pg_locks where not granted and relation = 'sessions'::regclass`;
      while ((await client.query(waiting)).rowCount === 0) await pause(5);
    },
    async release() {
      await client.query('rollback');
      await client.end();
    },
  };
}
