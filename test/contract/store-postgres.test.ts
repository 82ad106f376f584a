// A PostgreSQL that refuses to begin, or that stops answering: each request ends in bounded time, and nothing of it is
// left behind once PostgreSQL is well again.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { openPostgresStore } from '../../packages/gateway/src/store/postgres.ts';
import type { Store } from '../../packages/gateway/src/store/store.ts';
import { createDatabase, type Postgres, startPostgres } from '../support/postgres.ts';
import { verifies } from '../support/verifies.ts';

const at = 1_000;
const quiet = { events() {}, auditHead() {}, health() {} };
let postgres: Postgres;

before(async () => {
  postgres = await startPostgres();
});
after(() => postgres.remove());

test('a write that cannot begin is STORAGE, and its connection is as good as new afterwards', async () => {
  verifies('foundation:postgres-faults');
  const { url } = await createDatabase(postgres.url);
  const store = await openPostgresStore({ url, now: 1 }, quiet);
  try {
    await create(store, 'agent:main:a');
    await ask('alter system set default_transaction_read_only = on', 'select pg_reload_conf()');
    await becomes('on');
    await Promise.all(
      ['b', 'c', 'd'].map((name) => assert.rejects(create(store, `agent:main:${name}`), { code: 'STORAGE' }, `${name} is refused`)),
    );
    await ask('set default_transaction_read_only = off', 'alter system reset default_transaction_read_only', 'select pg_reload_conf()');
    await becomes('off');
    for (const name of ['b', 'c', 'd', 'e']) await create(store, `agent:main:${name}`);
    assert.deepEqual(await ask("select pid from pg_stat_activity where state like 'idle in transaction%'"), []);
  } finally {
    await store.close();
  }
});

function create(store: Store, key: string) {
  return store.write('sessions.create', { key, fields: {}, at });
}

/** The rows of the last statement, on a connection past the store. */
async function ask(...statements: string[]): Promise<unknown[]> {
  const client = new pg.Client(postgres.url);
  await client.connect();
  try {
    let rows: unknown[] = [];
    for (const statement of statements) ({ rows } = await client.query(statement));
    return rows;
  } finally {
    await client.end();
  }
}

/** Until new connections begin read-only or no longer do; those of the store follow at their next statement. */
async function becomes(readOnly: 'on' | 'off'): Promise<void> {
  const show = 'show default_transaction_read_only';
  while ((await ask(show))[0]?.['default_transaction_read_only' as never] !== readOnly)
    await new Promise((resolve) => setTimeout(resolve, 20));
}
