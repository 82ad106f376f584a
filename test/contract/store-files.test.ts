// The places where stores live: files that are damaged, foreign, cut, older or newer, and places that are in use.
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import pg from 'pg';
import { restoreSqlite } from '../../packages/gateway/src/store/backup.ts';
import { StoreOpenError } from '../../packages/gateway/src/store/failure.ts';
import { lockHome } from '../../packages/gateway/src/store/lock.ts';
import { migrationsAfter, schemaVersion } from '../../packages/gateway/src/store/migrations.ts';
import type { Store } from '../../packages/gateway/src/store/store.ts';
import { openStore, STORE_FILE } from '../../packages/gateway/src/store/open.ts';
import { APPLICATION_ID, openDatabase } from '../../packages/gateway/src/store/sqlite-file.ts';
import { temporaryHome } from '../support/gateway.ts';
import { createDatabase } from '../support/postgres.ts';
import { createRandom } from '../support/random.ts';
import { type Engine, engines, onBothEngines, openWorld } from '../support/stores.ts';
import { answer, begin, completed, usage } from '../support/stores-turns.ts';
import { cutWal, makeStoreWithWal } from '../support/stores-damage.ts';
import { verifies } from '../support/verifies.ts';

const at = 1_000;
const quiet = { events() {}, auditHead() {}, health() {} };

test('sqlite: an older store is copied, then migrated, and has lost nothing', async () => {
  verifies('R15', 'foundation:migrations');
  for (let version = 1; version < schemaVersion; version++) {
    using home = temporaryFolder();
    const file = join(home.path, STORE_FILE);
    makeOlderStore(file, version);
    const before = readFileSync(file);
    const store = await openStore({ home: home.path, engine: 'sqlite', url: '', maxBytes: 0, now: 1 }, quiet);
    const { session } = await store.read('sessions.get', { key: 'agent:main:old' });
    assert.equal(session.title, 'Old title');
    assert.equal((await store.read('sessions.list', { limit: 5, search: 'old tit' })).sessions.length, 1);
    assert.deepEqual(store.stream, { epoch: 'old-epoch', head: 0, floor: 0 });
    await store.write('sessions.patch', { key: session.key, fields: { title: 'New' }, at });
    await takeTurn(store);
    await store.close();
    assert.deepEqual(readFileSync(`${file}.schema-${version}`), before, 'the copy is the store as it was');
    assert.equal(userVersion(file), schemaVersion);
  }
});

test('sqlite: the backup of an older store is restored with the schema of today, and leaves nothing else behind', () => {
  verifies('R15');
  using home = temporaryFolder();
  const backup = join(home.path, 'old.backup');
  makeOlderStore(backup, 1);
  const old = new DatabaseSync(backup);
  old.exec('create table backup_files (name text primary key, content blob not null); pragma journal_mode = delete');
  old.close();
  const restored = join(home.path, 'home');
  mkdirSync(restored);
  restoreSqlite(backup, join(restored, STORE_FILE), at);
  assert.deepEqual(readdirSync(restored), [STORE_FILE]);
  assert.equal(userVersion(join(restored, STORE_FILE)), schemaVersion);
});

test('postgres: an older store is migrated and has lost nothing', async () => {
  for (let version = 1; version < schemaVersion; version++) {
    await using database = await temporaryDatabase();
    for (const migration of migrationsAfter(0, 'postgres').slice(0, version)) {
      for (const statement of migration.statements) await database.query(statement);
    }
    await database.query(`insert into stream values (1, 'old-epoch', 0)`);
    await database.query(insertOldSession);
    await database.query(
      'create table tenon_schema (version integer primary key, name text not null, applied_at timestamptz not null default now())',
    );
    await database.query('insert into tenon_schema (version, name) select n, n::text from generate_series(1, $1::integer) as n', [version]);
    const store = await openStore({ home: '', engine: 'postgres', url: database.url, maxBytes: 0, now: 1 }, quiet);
    const { session } = await store.write('sessions.patch', { key: 'agent:main:old', fields: {}, at });
    assert.equal(session.title, 'Old title');
    assert.equal(store.stream.epoch, 'old-epoch');
    await takeTurn(store);
    await store.close();
    assert.deepEqual(await database.query('select max(version) as version from tenon_schema'), [{ version: schemaVersion }]);
  }
});

test('sqlite: a store of a newer Tenon is refused and stays as it is, its write-ahead log too', async () => {
  verifies('R15');
  for (const withWal of [false, true]) {
    using home = temporaryFolder();
    const file = join(home.path, STORE_FILE);
    openDatabase({ file, maxBytes: 0, now: 1 }).database.close();
    const newer = new DatabaseSync(file);
    newer.exec(`pragma user_version = ${schemaVersion + 1}`);
    if (withWal) keepFiles(home.path, () => newer.close());
    else newer.close();
    await assertRefused(home.path, 'newer', /newer Tenon/);
  }
});

test('postgres: a store of a newer Tenon is refused and stays as it is', async () => {
  await using world = await openWorld('postgres');
  await world.store.close();
  const client = new pg.Client(world.url);
  await client.connect();
  await client.query(`insert into tenon_schema (version, name) values (${schemaVersion + 1}, 'newer')`);
  await assert.rejects(world.openAnother(), (error) => error instanceof StoreOpenError && error.reason === 'newer');
  await client.query(`delete from tenon_schema where version > ${schemaVersion}`);
  await client.end();
  await world.reopen();
});

test('postgres: a database that cannot be reached is named without its password', async () => {
  const url = 'postgres://tenon:secret-word@127.0.0.1:1/none';
  const opening = openStore({ home: '', engine: 'postgres', url, maxBytes: 0, now: 1 }, quiet);
  await assert.rejects(
    opening,
    (error) => error instanceof StoreOpenError && error.reason === 'unreachable' && !error.message.includes('secret'),
  );
});

test('sqlite: a home is used by one gateway at a time, and is free when its owner is gone', () => {
  verifies('R16');
  using home = temporaryFolder();
  const lock = lockHome(home.path);
  assert.throws(() => lockHome(home.path), { reason: 'locked', message: new RegExp(`pid ${process.pid}`) });
  lock.release();
  lockHome(home.path).release();
});

test('postgres: a database is used by one gateway at a time', async () => {
  await using world = await openWorld('postgres');
  await assert.rejects(world.openAnother(), { reason: 'locked' });
  await world.store.write('probe', { at });
  await world.store.close();
  await (await world.openAnother()).close();
});

const strangers: Readonly<Record<string, { content: (store: Buffer) => string | Uint8Array; reason: string }>> = {
  'an empty file': { content: () => '', reason: 'damaged' },
  'a text': { content: () => 'hello, this is not a database at all\n'.repeat(50), reason: 'foreign' },
  zeros: { content: () => new Uint8Array(8192), reason: 'foreign' },
  'a header and nothing more': { content: (store) => store.subarray(0, 16), reason: 'damaged' },
  'half a header': { content: (store) => store.subarray(0, 60), reason: 'damaged' },
  'a first page and nothing more': { content: (store) => store.subarray(0, 4096), reason: 'damaged' },
  'a store without its end': { content: (store) => store.subarray(0, store.length - 4096), reason: 'damaged' },
  'a store cut in a page': { content: (store) => store.subarray(0, store.length - 1000), reason: 'damaged' },
  'a store with zeros in its middle': {
    content: (store) => Buffer.concat([store.subarray(0, 8192), Buffer.alloc(16_384), store.subarray(24_576)]),
    reason: 'damaged',
  },
};

for (const [name, { content, reason }] of Object.entries(strangers)) {
  test(`sqlite: ${name} in place of the store is named and kept`, async () => {
    verifies('R13', 'foundation:foreign-store');
    using home = temporaryFolder();
    const file = join(home.path, STORE_FILE);
    const { database } = openDatabase({ file, maxBytes: 0, now: 1 });
    for (let n = 0; n < 50; n++) database.exec(`insert into answers values ('p', 'k${n}', 'm', 'd', '${'x'.repeat(300)}', 1)`);
    database.close();
    writeFileSync(file, content(readFileSync(file)));
    await assertRefused(home.path, reason, /left as it is/);
  });
}

test('sqlite: the database of another program is named and kept, its write-ahead log too', async () => {
  verifies('foundation:foreign-store');
  using home = temporaryFolder();
  const other = new DatabaseSync(join(home.path, STORE_FILE));
  other.exec('pragma journal_mode = wal; create table theirs (x); insert into theirs values (1)');
  keepFiles(home.path, () => other.close());
  await assertRefused(home.path, 'foreign', /another program/);
});

test('sqlite: a flipped bit anywhere is harmless, or is named and the files are kept', async (t) => {
  verifies('R13');
  const seed = 20_260_301;
  const random = createRandom(seed);
  using home = temporaryFolder();
  const left = makeStoreWithWal(join(home.path, 'left'), 60).folder;
  const closed = join(home.path, 'closed');
  cpSync(left, closed, { recursive: true });
  openDatabase({ file: join(closed, STORE_FILE), maxBytes: 0, now: 1 }).database.close();
  let refused = 0;
  for (let round = 0; round < 240; round++) {
    const place = join(home.path, `${round}`);
    cpSync(round % 4 < 2 ? closed : left, place, { recursive: true });
    const target = join(place, round % 4 === 3 ? `${STORE_FILE}-wal` : STORE_FILE);
    const bytes = readFileSync(target);
    const offset = random.below(round % 4 === 0 ? 100 : bytes.length);
    bytes[offset] = (bytes[offset] as number) ^ (1 << random.below(8));
    writeFileSync(target, bytes);
    const before = snapshot(place);
    try {
      openDatabase({ file: join(place, STORE_FILE), maxBytes: 0, now: 1 }).database.close();
    } catch (error) {
      refused++;
      const where = `seed ${seed}, round ${round}, offset ${offset} of ${target}`;
      assert.ok(error instanceof StoreOpenError, `${where}: ${error}`);
      assert.ok(error.message.includes(join(place, STORE_FILE)), `${where}: ${error.message}`);
      assertKept(place, before, where);
    }
    rmSync(place, { recursive: true });
  }
  t.diagnostic(`seed ${seed}: ${refused} of 240 flips were found at start`);
  assert.ok(refused > 20);
});

test('sqlite: a write-ahead log that was cut anywhere opens with a beginning of the commits', (t) => {
  verifies('R02');
  using home = temporaryFolder();
  const origin = makeStoreWithWal(join(home.path, 'origin'), 40);
  const opened = cutWal(origin, join(home.path, 'cut'), { last: 65_536, every: 64 });
  t.diagnostic(`${opened.cuts} cuts, ${opened.different} different states`);
  assert.ok(opened.different > 1);
});

onBothEngines('a store opens again after it was left without a word', async (world) => {
  verifies('R02');
  await world.store.write('sessions.create', { key: 'agent:main:a', fields: {}, at });
  if (world.engine === 'sqlite') {
    // As kill -9 leaves it: the files while they are in use.
    const left = `${world.home}-left`;
    cpSync(world.home, left, { recursive: true });
    const { database, stream } = openDatabase({ file: join(left, STORE_FILE), maxBytes: 0, now: 1 });
    database.close();
    rmSync(left, { recursive: true });
    assert.equal(stream.head, 1);
  } else {
    const client = new pg.Client(world.url);
    await client.connect();
    await client.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    );
    await client.end();
    await eventually(() => world.store.write('sessions.create', { key: 'agent:main:b', fields: {}, at }));
    assert.equal((await world.store.read('stream.state', {})).head, 2);
  }
});

test('both engines begin a new store with an epoch of its own', async () => {
  const epochs = new Set<string>();
  for (const engine of [...engines, ...engines] as Engine[]) {
    await using world = await openWorld(engine);
    epochs.add(world.store.stream.epoch);
  }
  assert.equal(epochs.size, 4);
});

const insertOldSession = `insert into sessions (key, session_id, agent_id, title, label, pinned, archived, revision, words, created_at, updated_at)
  values ('agent:main:old', 'old-session-id-0', 'main', 'Old title', null, 0, 0, 1, 'old title agent main', 1, 1)`;

/** A session from before there were turns has its first one. */
async function takeTurn(store: Store): Promise<void> {
  const { key, status, model, forkedFrom } = (await store.read('sessions.get', { key: 'agent:main:old' })).session;
  assert.deepEqual([status, model, forkedFrom], ['idle', null, undefined]);
  await begin(store, 'r1', { key });
  await store.write('runs.append', { key, runId: 'r1', drafts: [answer('hello')], usage: { model: 'demo', usage }, at });
  await store.write('runs.end', { key, runId: 'r1', end: completed, at });
  assert.equal((await store.read('entries.path', { key, limit: 10 })).entries.length, 2);
}

function makeOlderStore(file: string, version: number): void {
  const database = new DatabaseSync(file);
  for (const migration of migrationsAfter(0, 'sqlite').slice(0, version)) {
    for (const statement of migration.statements) database.exec(statement);
  }
  database.exec(`pragma application_id = ${APPLICATION_ID}; pragma user_version = ${version}; ${insertOldSession};
    insert into stream values (1, 'old-epoch', 0); pragma journal_mode = wal`);
  database.close();
}

function userVersion(file: string): number {
  const database = new DatabaseSync(file, { readOnly: true });
  const { user_version } = database.prepare('pragma user_version').get() as { user_version: number };
  database.close();
  return user_version;
}

async function assertRefused(home: string, reason: string, message: RegExp): Promise<void> {
  const before = snapshot(home);
  const opening = openStore({ home, engine: 'sqlite', url: '', maxBytes: 0, now: 1 }, quiet);
  await assert.rejects(opening, (error) => {
    assert.ok(error instanceof StoreOpenError, String(error));
    assert.equal(error.reason, reason, error.message);
    assert.match(error.message, message);
    assert.ok(error.message.includes(join(home, STORE_FILE)) && !error.message.includes('\n'), error.message);
    return true;
  });
  assertKept(home, before, home);
}

function snapshot(folder: string): Map<string, Buffer> {
  return new Map(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name))]));
}

/** Every file is there, byte for byte. Only SQLite's index of a log that was there may be new. */
function assertKept(folder: string, before: ReadonlyMap<string, Buffer>, where: string): void {
  const after = snapshot(folder);
  for (const [name, content] of before) assert.ok(after.get(name)?.equals(content), `${where}: ${name} was changed`);
  const added = [...after.keys()].filter((name) => !before.has(name) && name !== `${STORE_FILE}-shm`);
  assert.deepEqual(added, [], where);
}

/** The files as they are now, whatever closing does to them. */
function keepFiles(folder: string, close: () => void): void {
  const aside = `${folder}-aside`;
  cpSync(folder, aside, { recursive: true, filter: (path) => !path.endsWith('-shm') });
  close();
  for (const name of readdirSync(folder)) rmSync(join(folder, name));
  cpSync(aside, folder, { recursive: true });
  rmSync(aside, { recursive: true });
}

function temporaryFolder(): Disposable & { readonly path: string } {
  const path = temporaryHome();
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true, maxRetries: 10 }) };
}

async function temporaryDatabase() {
  const { url, drop } = await createDatabase();
  const client = new pg.Client(url);
  await client.connect();
  return {
    url,
    query: async (text: string, values?: unknown[]) => (await client.query(text, values)).rows as unknown[],
    async [Symbol.asyncDispose]() {
      await client.end();
      await drop();
    },
  };
}

/** Until it is no longer refused; the deadline of the test ends the wait otherwise. */
async function eventually<Result>(attempt: () => Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if ((error as { code?: string }).code !== 'STORAGE') throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}
