// PostgreSQL itself fails: killed in the middle of commits, restarted, out of connections. How a commit ended is looked up,
// never guessed, and the gateway goes on by itself when the database is back.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { after, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { type ChaosWorld, openChaosWorld, readyBecomes, seed } from '../support/chaos.ts';
import { openLink } from '../support/chaos-link.ts';
import { freezePostgres } from '../support/chaos-store.ts';
import { startGatewayProcess } from '../support/gateway.ts';
import { Ledger } from '../support/ledger.ts';
import { type Postgres, startPostgres } from '../support/postgres.ts';
import { createRandom } from '../support/random.ts';
import { verifies } from '../support/verifies.ts';

const server = await startPostgres();
after(() => server.remove());

const ways = [
  { name: 'killed during commits', end: () => server.kill(), rounds: 4 },
  { name: 'restarted', end: () => server.stop(), rounds: 2 },
];
for (const { name, end, rounds } of ways) {
  test(`PostgreSQL ${name}: every request ends, answers are true, and writing goes on`, async (t) => {
    verifies('foundation:postgres-faults', 'R01', 'R03', 'R05');
    t.diagnostic(`seed ${seed}`);
    const random = createRandom(seed);
    const ledger = new Ledger({ seed, observers: 2, writers: 6 });
    await using world = await openChaosWorld('postgres', { postgres: server.url });
    const gateway = await world.start();
    await ledger.observe(gateway);
    for (let round = 0; round < rounds; round++) {
      const load = await ledger.load(gateway);
      const target = ledger.stats.answered + 50 + random.below(200);
      await ledger.until(() => ledger.stats.answered >= target);
      for (let turns = random.below(12); turns > 0; turns--) await new Promise((resolve) => setImmediate(resolve));
      await end();
      await startAgain(server);
      const recovered = ledger.stats.answered + 30;
      await ledger.until(() => ledger.stats.answered >= recovered);
      await load.stop();
      await ledger.compare(gateway);
    }
    await ledger.compareEvents(await ledger.compare(gateway));
    assert.equal(gateway.child.exitCode, null);
    t.diagnostic(JSON.stringify(ledger.stats));
    await readyBecomes(gateway, 200, 10_000);
  });
}

test('PostgreSQL and the gateway killed together: both start again and nothing that was answered is missing', async (t) => {
  verifies('foundation:postgres-faults', 'R01');
  t.diagnostic(`seed ${seed}`);
  const ledger = new Ledger({ seed, observers: 1, writers: 6 });
  await using world = await openChaosWorld('postgres', { postgres: server.url });
  const gateway = await world.start();
  await ledger.observe(gateway);
  const load = await ledger.load(gateway);
  await ledger.until(() => ledger.stats.answered >= 150);
  await Promise.all([server.kill(), gateway.kill()]);
  await load.stop();
  await assert.rejects(world.start(), (error: Error & { exit: { code: number }; stderr: string }) => {
    assert.equal(error.exit.code, 1);
    assert.match(error.stderr, /Cannot reach PostgreSQL/);
    return true;
  });
  await startAgain(server);
  const again = await world.start();
  await ledger.observe(again);
  await ledger.compareEvents(await ledger.compare(again));
});

test('a PostgreSQL that hangs shows in readyz before a write gives up, and all goes on when it does', async (t) => {
  verifies('R11:frozen-database', 'R01', 'R03');
  t.diagnostic(`seed ${seed}`);
  const ledger = new Ledger({ seed, observers: 1, writers: 4 });
  await using world = await openChaosWorld('postgres', { postgres: server.url });
  const gateway = await world.start();
  const noticedMs = await freezePostgres({ world, ledger, random: createRandom(seed) }, gateway, server);
  t.diagnostic(`noticed after ${Math.round(noticedMs)} ms; ${JSON.stringify(ledger.stats)}`);
  // Nobody writes: it is noticed all the same.
  server.freeze();
  try {
    await readyBecomes(gateway, 503, 10_000);
  } finally {
    server.thaw();
  }
  await readyBecomes(gateway, 200, 20_000);
  await ledger.compareEvents(await ledger.compare(gateway));
});

test('PostgreSQL without a free connection: writes are refused with STORAGE, and taken again when there is one', async (t) => {
  verifies('foundation:postgres-faults');
  await server.stop();
  await startAgain(server, ['max_connections=24']);
  const ledger = new Ledger({ seed, observers: 1 });
  await using world = await openChaosWorld('postgres', { postgres: server.url });
  const gateway = await world.start();
  await ledger.observe(gateway);
  const load = await ledger.load(gateway);
  await ledger.until(() => ledger.stats.answered >= 50);

  const release = await hogConnections(world);
  const refused = ledger.stats.refused;
  await ledger.until(() => ledger.stats.refused >= refused + 10);
  await readyBecomes(gateway, 503, 10_000);
  const link = await openLink(gateway).catch((error: Error) => error.message);
  if (typeof link === 'string') assert.match(link, /STORAGE/, 'who connects is told why');
  await release();

  const answered = ledger.stats.answered + 50;
  await ledger.until(() => ledger.stats.answered >= answered);
  await readyBecomes(gateway, 200, 10_000);
  await load.stop();
  await ledger.compareEvents(await ledger.compare(gateway));
  t.diagnostic(JSON.stringify(ledger.stats));
});

test('a connection that PostgreSQL ends in the same breath as it greets does not end the gateway', async () => {
  verifies('foundation:postgres-faults');
  const message = (type: string, body: Buffer) => {
    const head = Buffer.from(`${type}    `);
    head.writeInt32BE(body.length + 4, 1);
    return Buffer.concat([head, body]);
  };
  const welcome = message('R', Buffer.alloc(4));
  const ready = message('Z', Buffer.from('I'));
  const goodbye = message('E', Buffer.from('SFATAL\0C57P01\0Mterminating connection due to administrator command\0\0'));
  const fickle = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.end(Buffer.concat([welcome, ready, goodbye])));
  });
  fickle.listen(0, '127.0.0.1');
  await once(fickle, 'listening');
  const { port } = fickle.address() as AddressInfo;
  try {
    const start = startGatewayProcess({ config: `[store]\nengine = "postgres"\nurl = "postgres://tenon@127.0.0.1:${port}/x"\n` });
    await assert.rejects(start, (error: Error & { exit: { code: number }; stderr: string }) => {
      assert.equal(error.exit.code, 1);
      assert.match(error.stderr, /^\{"code":.+\}\n$/, 'one line for the operator');
      return true;
    });
  } finally {
    fickle.close();
  }
});

/** Right after kill -9 the old backends may still be there for a moment. */
async function startAgain(postgres: Postgres, settings: readonly string[] = []): Promise<void> {
  for (;;) {
    try {
      return await postgres.start(settings);
    } catch (error) {
      if (!/shared memory|lock file|still running|in use/.test((error as Error).message)) throw error;
      await pause(50);
    }
  }
}

/** Takes every connection there is, those of the gateway included. */
async function hogConnections({ databaseUrl }: ChaosWorld): Promise<() => Promise<void>> {
  const hogs: pg.Client[] = [];
  async function takeAll(): Promise<void> {
    for (;;) {
      const client = new pg.Client({ connectionString: databaseUrl!, application_name: 'hog' });
      client.on('error', () => {});
      try {
        await client.connect();
      } catch (error) {
        assert.equal((error as { code?: string }).code, '53300', String(error));
        return;
      }
      hogs.push(client);
    }
  }
  await takeAll();
  for (;;) {
    const ended = await hogs[0]!.query("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'tenon'");
    await takeAll();
    if (ended.rowCount === 0) break;
  }
  return async () => void (await Promise.all(hogs.map((client) => client.end())));
}
