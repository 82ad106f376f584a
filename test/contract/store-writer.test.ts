// One gateway writes a store, and into the files that the next start opens: who lost the store, or whose files were moved, is
// refused from the next commit on.
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import pg from 'pg';
import { lockHome } from '../../packages/gateway/src/store/lock.ts';
import { openStore, STORE_FILE } from '../../packages/gateway/src/store/open.ts';
import { openPostgresStore } from '../../packages/gateway/src/store/postgres.ts';
import { WRITER_LOCK } from '../../packages/gateway/src/store/postgres-connect.ts';
import { createCommitter } from '../../packages/gateway/src/store/sqlite-commit.ts';
import { createMemoryDatabase } from '../../packages/gateway/src/store/sqlite-file.ts';
import { createSqliteRunner } from '../../packages/gateway/src/store/sqlite-run.ts';
import { claimWriter } from '../../packages/gateway/src/store/writer.ts';
import { onBothEngines, openWorld, type StoreWorld } from '../support/stores.ts';
import { verifies } from '../support/verifies.ts';

const at = 1_000;
const quiet = { events() {}, auditHead() {}, health() {} };
const create = ({ store }: StoreWorld, name: string) => store.write('sessions.create', { key: `agent:main:${name}`, fields: {}, at });

onBothEngines('a store that another gateway has claimed takes nothing more from the older one', async (world) => {
  verifies('R16:fenced');
  await create(world, 'before');
  assert.equal(await world.store.check(), undefined);
  await query(world, `update writer set boot_id = 'another', pid = 4711`);
  const late = await Promise.allSettled(Array.from({ length: 20 }, (_, n) => create(world, `late${n}`)));
  for (const { reason } of late as PromiseRejectedResult[]) {
    assert.equal(reason?.code, 'STORAGE', String(reason));
    assert.match(reason.message, /Another gateway \(pid 4711, .* has taken over the store/);
    assert.deepEqual(reason.details, { code: 'FENCED' });
  }
  assert.deepEqual(
    world.told.health.filter((state) => !state.ok),
    [{ ok: false, isOver: true, reason: (late[0] as PromiseRejectedResult).reason.message }],
  );
  // It does not come back, whatever the row says later.
  await query(world, `delete from writer`);
  await assert.rejects(create(world, 'later'), { code: 'STORAGE' });
  assert.match((await world.store.check()) ?? '', /taken over/);
  const { sessions } = await world.store.read('sessions.list', { limit: 50 });
  assert.deepEqual(
    sessions.map(({ key }) => key),
    ['agent:main:before'],
  );
});

onBothEngines('a gateway that is idle finds out that another one has claimed its store', async (world) => {
  verifies('R16:fenced');
  await query(world, `update writer set boot_id = 'another'`);
  assert.match((await world.store.check()) ?? '', /taken over/);
  assert.deepEqual(
    world.told.health.map((state) => 'isOver' in state && state.isOver),
    [true],
  );
});

test('postgres: a new gateway waits for the transactions of the one before it, and does not start beside them', async () => {
  verifies('R16:fenced');
  await using world = await openWorld('postgres');
  await world.store.close();
  const older = new pg.Client(world.url);
  await older.connect();
  await older.query(`begin; select pg_advisory_xact_lock_shared(${WRITER_LOCK})`);
  const options = { url: world.url, now: 1, timeouts: { statementMs: 100 } };
  await assert.rejects(openPostgresStore(options, quiet), { reason: 'locked', message: /still writing/ });
  await older.query('rollback');
  await older.end();
  await (await openPostgresStore(options, quiet)).close();
});

test('sqlite: a store that is open is not opened again under another lock, and is when nobody has it', async () => {
  verifies('R16:lock-removed');
  await using world = await openWorld('sqlite');
  await world.store.close();
  const first = lockHome(world.home);
  const settings = { home: world.home, engine: 'sqlite', url: '', maxBytes: 0, now: 1 } as const;
  const store = await openStore({ ...settings, lockId: first.id }, quiet);
  rmSync(join(world.home, 'gateway.lock'));
  const second = lockHome(world.home);
  assert.notEqual(second.id, first.id);
  await assert.rejects(openStore({ ...settings, lockId: second.id }, quiet), {
    reason: 'locked',
    message: new RegExp(`lock file was removed.*pid ${process.pid}`),
  });
  await store.write('probe', { at });
  await store.close();
  await (await openStore({ ...settings, lockId: second.id }, quiet)).close();
  first.release();
  second.release();
});

const ways: Readonly<Record<string, { take(home: string): () => void; named: RegExp }>> = {
  'the store and its log are moved': {
    take: (home) => moved(home, [STORE_FILE, `${STORE_FILE}-wal`]),
    named: /^Cannot write: tenon\.db was moved or deleted/,
  },
  'the log alone is moved': { take: (home) => moved(home, [`${STORE_FILE}-wal`]), named: /tenon\.db-wal was moved or deleted/ },
  'the index of the log is moved': { take: (home) => moved(home, [`${STORE_FILE}-shm`]), named: /tenon\.db-shm was moved or deleted/ },
  'the home is renamed': {
    take(home) {
      renameSync(home, `${home}-away`);
      return () => renameSync(`${home}-away`, home);
    },
    named: /tenon\.db was moved or deleted/,
  },
  'another home takes its place': {
    take(home) {
      renameSync(home, `${home}-away`);
      mkdirSync(home);
      writeFileSync(join(home, STORE_FILE), 'another');
      return () => {
        rmSync(home, { recursive: true });
        renameSync(`${home}-away`, home);
      };
    },
    named: /tenon\.db was replaced by another file/,
  },
  'a copy takes its place': {
    take(home) {
      const file = join(home, STORE_FILE);
      renameSync(file, `${file}.old`);
      cpSync(`${file}.old`, file);
      return () => renameSync(`${file}.old`, file);
    },
    named: /tenon\.db was replaced by another file/,
  },
};

for (const [name, { take, named }] of Object.entries(ways)) {
  test(`sqlite: while ${name} nothing is acknowledged, and it goes on when all is back`, async () => {
    verifies('R13:moved');
    await using world = await openWorld('sqlite');
    await create(world, 'before');
    const putBack = take(world.home);
    await assert.rejects(create(world, 'lost'), { code: 'STORAGE', message: named });
    await assert.rejects(world.store.write('probe', { at }), { code: 'STORAGE' });
    assert.match((await world.store.check()) ?? '', /while the gateway was running/);
    assert.deepEqual(
      world.told.health.map(({ ok }) => ok),
      [false, false],
    );
    putBack();
    assert.equal(await world.store.check(), undefined);
    await create(world, 'after');
    await world.reopen();
    const { sessions } = await world.store.read('sessions.list', { limit: 50 });
    assert.deepEqual(sessions.map(({ key }) => key).sort(), ['agent:main:after', 'agent:main:before']);
  });
}

test('sqlite: what was committed while its file was taken away is not acknowledged, and its events are told once the file is back', () => {
  verifies('R13:moved');
  const database = createMemoryDatabase(at);
  createSqliteRunner(database).run(claimWriter({ bootId: 'mine', pid: 1, lockId: '', at }), { emitted: [], auditHead: undefined });
  // In place before the first commit, gone after it.
  const states = [undefined, 'it was moved', undefined, undefined];
  const commit = createCommitter(database, 0, 0, { bootId: 'mine', misplaced: () => states.shift() });
  const request = (key: string) =>
    ({ name: 'sessions.create', args: { key: `agent:main:${key}`, fields: {}, at }, slot: undefined }) as const;
  const first = commit([request('a'), request('b')]);
  assert.deepEqual(first.events, []);
  for (const outcome of first.outcomes) {
    assert.ok(!outcome.ok);
    assert.deepEqual([outcome.failure.code, outcome.failure.details], ['STORAGE', { code: 'OUTCOME_UNKNOWN' }]);
  }
  const second = commit([request('c')]);
  assert.equal(second.outcomes[0]?.ok, true);
  assert.deepEqual(
    second.events.map(({ seq }) => seq),
    [1, 2, 3],
    'no position is left out',
  );
  database.close();
});

function moved(home: string, names: readonly string[]): () => void {
  const away = `${home}-away`;
  mkdirSync(away);
  for (const name of names) renameSync(join(home, name), join(away, name));
  return () => {
    for (const name of names) renameSync(join(away, name), join(home, name));
    rmSync(away, { recursive: true });
  };
}

/** As another process would. */
async function query({ engine, home, url }: StoreWorld, text: string): Promise<void> {
  if (engine === 'sqlite') {
    const database = new DatabaseSync(join(home, STORE_FILE));
    database.exec(text);
    database.close();
    return;
  }
  const client = new pg.Client(url);
  await client.connect();
  await client.query(text);
  await client.end();
}
