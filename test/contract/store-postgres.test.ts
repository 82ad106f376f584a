// A PostgreSQL that refuses to begin, or that stops answering: each request ends in bounded time, and nothing of it is
// left behind once PostgreSQL is well again.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
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

/** Small enough to wait for. */
const timeouts = { connectMs: 400, statementMs: 400, answerMs: 600, outcomeMs: 1_000, closeMs: 300, goodbyeMs: 300 };

test('a PostgreSQL that hangs is STORAGE in bounded time, also for those who wait in line, and works again when it goes on', async () => {
  verifies('foundation:postgres-faults');
  const { url } = await createDatabase(postgres.url);
  const store = await openPostgresStore({ url, now: 1, timeouts }, quiet);
  try {
    await create(store, 'agent:main:a');
    const goOn = hang();
    try {
      const patches = Array.from({ length: 50 }, () => store.write('sessions.patch', { key: 'agent:main:a', fields: {}, at }));
      const others = Array.from({ length: 30 }, (_, n) => create(store, `agent:main:n${n}`));
      const read = store.read('sessions.get', { key: 'agent:main:a' });
      await Promise.all([...patches, ...others, read].map((work) => assert.rejects(work, { code: 'STORAGE' })));
    } finally {
      goOn();
    }
    const { session } = await store.write('sessions.patch', { key: 'agent:main:a', fields: {}, at });
    assert.equal(session.revision, 2, 'nothing of what was refused has happened');
    await create(store, 'agent:main:n0');
  } finally {
    await store.close();
  }
});

test('a commit that PostgreSQL makes after we gave up waiting for its answer is looked up and acknowledged', async () => {
  verifies('foundation:postgres-faults', 'R01');
  const { url } = await createDatabase(postgres.url);
  const store = await openPostgresStore({ url, now: 1, timeouts: { ...timeouts, statementMs: 20_000, outcomeMs: 20_000 } }, quiet);
  const blocker = new pg.Client(url);
  await blocker.connect();
  try {
    await blocker.query('begin; select from stream for update');
    const created = create(store, 'agent:main:a');
    await new Promise((resolve) => setTimeout(resolve, timeouts.answerMs * 2));
    await blocker.query('rollback');
    assert.equal((await created).session.revision, 1);
    assert.equal((await store.read('sessions.get', { key: 'agent:main:a' })).session.revision, 1);
  } finally {
    await blocker.end();
    await store.close();
  }
});

test('closing does not wait for a PostgreSQL that hangs: what is under way is refused, and no socket is left', async () => {
  verifies('foundation:postgres-faults');
  const { url } = await createDatabase(postgres.url);
  const isSocket = (resource: string) => resource === 'TCPSocketWrap';
  const socketsBefore = process.getActiveResourcesInfo().filter(isSocket).length;
  const patient = { ...timeouts, connectMs: 60_000, answerMs: 60_000, statementMs: 60_000, outcomeMs: 60_000 };
  const store = await openPostgresStore({ url, now: 1, timeouts: patient }, quiet);
  await Promise.all(['a', 'b', 'c'].map((name) => create(store, `agent:main:${name}`)));
  const blocker = new pg.Client(url);
  await blocker.connect();
  await blocker.query('begin; select from stream for update');
  const committing = create(store, 'agent:main:d');
  await until(async () => (await ask("select from pg_stat_activity where wait_event_type = 'Lock'")).length > 0);
  const goOn = hang();
  try {
    const beginning = ['e', 'f', 'g', 'h', 'i'].map((name) => create(store, `agent:main:${name}`));
    const inLine = store.write('sessions.patch', { key: 'agent:main:d', fields: {}, at });
    const refused = [
      assert.rejects(committing, { code: 'STORAGE', details: { code: 'OUTCOME_UNKNOWN' } }),
      ...[...beginning, inLine].map((work) => assert.rejects(work, { code: 'STORAGE' })),
    ];
    await store.close();
    await Promise.all(refused);
  } finally {
    goOn();
  }
  await blocker.end();
  await until(async () => process.getActiveResourcesInfo().filter(isSocket).length <= socketsBefore);
  // The lock went with the connections.
  await (await openPostgresStore({ url, now: 1 }, quiet)).close();
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

/** Stops every process of PostgreSQL where it is; what is returned lets them go on. */
function hang(): () => void {
  process.kill(postgres.pid, 'SIGSTOP');
  const others = execFileSync('pgrep', ['-P', String(postgres.pid)], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map(Number);
  for (const pid of others) process.kill(pid, 'SIGSTOP');
  return () => {
    for (const pid of [...others, postgres.pid]) process.kill(pid, 'SIGCONT');
  };
}

/** Until new connections begin read-only or no longer do; those of the store follow at their next statement. */
async function becomes(readOnly: 'on' | 'off'): Promise<void> {
  await until(async () => {
    const [shown] = (await ask('show default_transaction_read_only')) as { default_transaction_read_only: string }[];
    return shown?.default_transaction_read_only === readOnly;
  });
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 20));
}
