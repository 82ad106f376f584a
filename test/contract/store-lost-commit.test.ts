// PostgreSQL goes away while it commits. How the commit ended is looked up: what was stored is acknowledged, what was not
// is refused, and neither is guessed.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { openStore } from '../../packages/gateway/src/store/open.ts';
import type { Store } from '../../packages/gateway/src/store/store.ts';
import type { StoredEvent } from '../../packages/gateway/src/store/stream.ts';
import { createDatabase, type Postgres, startPostgres } from '../support/postgres.ts';
import { openPostgresLink, type PostgresLink } from '../support/stores-link.ts';
import { verifies } from '../support/verifies.ts';

const at = 1_000;
const slot = { principal: 'p', key: 'k', method: 'm', digest: 'd', at };
let postgres: Postgres;

before(async () => {
  postgres = await startPostgres();
});
after(() => postgres.remove());

interface World extends AsyncDisposable {
  readonly store: Store;
  readonly events: StoredEvent[];
  readonly link: PostgresLink;
  /** Past the link. */
  readonly url: string;
}

async function openWorld(): Promise<World> {
  const { url } = await createDatabase(postgres.url);
  const link = await openPostgresLink(url);
  const events: StoredEvent[] = [];
  const listener = { events: (batch: readonly StoredEvent[]) => events.push(...batch), auditHead() {}, health() {} };
  const store = await openStore({ home: '', engine: 'postgres', url: link.url, maxBytes: 0, now: 1 }, listener);
  return {
    store,
    events,
    link,
    url,
    async [Symbol.asyncDispose]() {
      await store.close();
      await link[Symbol.asyncDispose]();
    },
  };
}

test('a commit that PostgreSQL made and whose answer was lost is acknowledged, and its event is told', async () => {
  verifies('foundation:postgres-faults', 'R01');
  await using world = await openWorld();
  world.link.atCommit = 'cut-after';
  const answer = await world.store.write('sessions.create', { key: 'agent:main:a', fields: {}, at }, slot);
  assert.equal(answer.session.revision, 1);
  assert.deepEqual(await world.store.write('sessions.create', { key: 'agent:main:a', fields: {}, at }, slot), answer);
  await until(() => world.events.length === 1);
  assert.equal(world.events[0]?.seq, 1);
});

test('a commit that PostgreSQL never saw is refused, leaves nothing, and can be asked for again', async () => {
  verifies('foundation:postgres-faults', 'R03');
  await using world = await openWorld();
  world.link.atCommit = 'cut-before';
  await assert.rejects(world.store.write('sessions.create', { key: 'agent:main:a', fields: {}, at }, slot), { code: 'STORAGE' });
  assert.equal((await world.store.read('stream.state', {})).head, 0);
  const { session } = await world.store.write('sessions.create', { key: 'agent:main:a', fields: {}, at }, slot);
  assert.equal(session.revision, 1);
  await until(() => world.events.length === 1);
});

test('lost commits of every writer at once are looked up without waiting for each other', async () => {
  verifies('foundation:postgres-faults');
  await using world = await openWorld();
  const writes = Array.from({ length: 40 }, (_, n) => world.store.write('sessions.create', { key: `agent:main:s${n}`, fields: {}, at }));
  const outcomes = Promise.allSettled(writes);
  await until(() => world.events.length > 3);
  world.link.cut();
  world.link.open();
  const acknowledged = (await outcomes).flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value.session.key] : []));
  for (const key of acknowledged) await world.store.read('sessions.get', { key });
  const { sessions } = await world.store.read('sessions.list', { limit: 100 });
  assert.equal(sessions.length, acknowledged.length, 'what was refused is not there');
  await until(() => world.events.length === acknowledged.length);
});

test('a transaction number that PostgreSQL gives again after a crash is not taken for the lost commit', async () => {
  verifies('foundation:postgres-faults', 'R01');
  // Nothing is written out by the way: what has no commit leaves no trace of its number.
  await postgres.stop();
  await postgres.start(['wal_writer_delay=10s', 'bgwriter_delay=10s', 'autovacuum=off']);
  await using world = await openWorld();
  await world.store.write('sessions.create', { key: 'agent:main:first', fields: {}, at });
  world.link.atCommit = 'hold';
  const lost = world.store.write('sessions.create', { key: 'agent:main:lost', fields: {}, at });
  const refused = assert.rejects(lost, { code: 'STORAGE' });
  await world.link.caught();
  const number = await inDatabase(world.url, async (client) => {
    const { rows } = await client.query<{ n: string }>(
      'select backend_xid::text as n from pg_stat_activity where datname = current_database() and backend_xid is not null',
    );
    return Number(rows[0]?.n);
  });
  await postgres.kill();
  world.link.cut();
  await restart();
  await inDatabase(world.url, async (client) => {
    await client.query('create table others (n bigint)');
    for (let given = 0; given < number; ) {
      const { rows } = await client.query<{ n: string }>('insert into others values (1) returning pg_current_xact_id()::text as n');
      given = Number(rows[0]?.n);
    }
    const { rows } = await client.query('select pg_xact_status($1::text::xid8) as status', [String(number)]);
    assert.deepEqual(rows, [{ status: 'committed' }], 'another transaction has the number now');
  });
  world.link.open();
  await refused;
  await assert.rejects(
    asked(() => world.store.read('sessions.get', { key: 'agent:main:lost' })),
    { code: 'NOT_FOUND' },
  );
  await asked(() => world.store.write('sessions.patch', { key: 'agent:main:first', fields: { title: 'goes on' }, at }));
});

test('a PostgreSQL without free connections is STORAGE for reads and writes, until there are some', async () => {
  verifies('foundation:postgres-faults');
  await postgres.stop();
  await postgres.start(['max_connections=12', 'superuser_reserved_connections=0']);
  await using world = await openWorld();
  const hogs: pg.Client[] = [];
  // The one connection that holds the lock is enough to stay; no other is to be had.
  await world.store.write('sessions.create', { key: 'agent:main:a', fields: {}, at });
  await inDatabase(world.url, (client) =>
    client.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'tenon' and state = 'idle' and query not like '%advisory%'",
    ),
  );
  for (;;) {
    const client = new pg.Client(postgres.url);
    client.on('error', () => {});
    try {
      await client.connect();
      hogs.push(client);
    } catch (error) {
      assert.equal((error as { code?: string }).code, '53300');
      break;
    }
  }
  await assert.rejects(world.store.write('sessions.patch', { key: 'agent:main:a', fields: {}, at }), { code: 'STORAGE' });
  await assert.rejects(world.store.read('sessions.get', { key: 'agent:main:a' }), { code: 'STORAGE' });
  await Promise.all(hogs.map((client) => client.end()));
  const { session } = await asked(() => world.store.write('sessions.patch', { key: 'agent:main:a', fields: {}, at }));
  assert.equal(session.revision, 2);
});

async function inDatabase<Result>(url: string, work: (client: pg.Client) => Promise<Result>): Promise<Result> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** A killed PostgreSQL starts again as soon as the last of its processes has noticed. */
async function restart(): Promise<void> {
  for (;;) {
    try {
      return await postgres.start();
    } catch (error) {
      if (!/in use|lock file/.test((error as Error).message)) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

/** Again while the database is away; the deadline of the test ends it otherwise. */
async function asked<Result>(attempt: () => Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if ((error as { code?: string }).code !== 'STORAGE') throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve));
}
