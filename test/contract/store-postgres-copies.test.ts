// Before PostgreSQL is migrated or restored, what it held is kept in the home, as a backup that can be restored.
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import pg from 'pg';
import { loadConfig } from '../../packages/gateway/src/config.ts';
import { createBackup, restoreBackup } from '../../packages/gateway/src/maintenance.ts';
import { openBackup, restoreSqlite } from '../../packages/gateway/src/store/backup.ts';
import { migrationsAfter, schemaVersion } from '../../packages/gateway/src/store/migrations.ts';
import { openStore, STORE_FILE } from '../../packages/gateway/src/store/open.ts';
import type { Store } from '../../packages/gateway/src/store/store.ts';
import { temporaryHome } from '../support/gateway.ts';
import { createDatabase } from '../support/postgres.ts';
import { engines, openWorld } from '../support/stores.ts';
import { ofPlugin, plugin, queued } from '../support/stores-plugins.ts';
import { answer, begin, call, completed, key, message, note, question, usage } from '../support/stores-turns.ts';
import { verifies } from '../support/verifies.ts';

const at = 1_000;
const quiet = { events() {}, auditHead() {}, health() {} };

test('an older store is copied with its own schema before it is migrated, over what an earlier try left', async () => {
  verifies('R15', 'foundation:migrations');
  for (let version = 1; version < schemaVersion; version++) {
    const home = temporaryHome();
    const { url, drop } = await createDatabase();
    await makeOlderStore(url, version);
    const copy = join(home, `postgres.schema-${version}.db`);
    for (const leftover of [copy, `${copy}.new`]) writeFileSync(leftover, 'half');
    await (await openStore({ home, engine: 'postgres', url, maxBytes: 0, now: 1 }, quiet)).close();
    assert.deepEqual(readdirSync(home), [`postgres.schema-${version}.db`]);
    assert.equal(statSync(copy).mode & 0o777, 0o600);
    const { database, close } = openBackup(copy, []);
    assert.deepEqual({ ...database.prepare('pragma user_version').get() }, { user_version: version });
    assert.deepEqual(shapeOf(database), shapeOfSchema(version), 'an older Tenon finds the tables that it knows');
    close();
    await (await openStore({ home, engine: 'postgres', url, maxBytes: 0, now: 1 }, quiet)).close();
    assert.deepEqual(readdirSync(home), [`postgres.schema-${version}.db`], 'a store of today is not copied');

    const restored = join(home, 'restored');
    mkdirSync(restored);
    restoreSqlite(copy, join(restored, STORE_FILE), at);
    const store = await openStore({ home: restored, engine: 'sqlite', url: '', maxBytes: 0, now: 1 }, quiet);
    assert.equal((await store.read('sessions.list', { limit: 5, search: 'old tit' })).sessions[0]?.title, 'Old title');
    await store.close();
    await drop();
    rmSync(home, { recursive: true });
  }
});

test('a migration whose copy cannot be written does not begin', async () => {
  verifies('foundation:migrations');
  const { url, drop } = await createDatabase();
  await makeOlderStore(url, schemaVersion - 1);
  const home = temporaryHome();
  rmSync(home, { recursive: true });
  await assert.rejects(openStore({ home, engine: 'postgres', url, maxBytes: 0, now: 1 }, quiet), { reason: 'storage' });
  assert.deepEqual(await ask(url, 'select max(version) as version from tenon_schema'), [{ version: schemaVersion - 1 }]);
  await drop();
});

test('a restore keeps what PostgreSQL held before, and that can be restored in turn', async () => {
  verifies('foundation:backup');
  await using world = await openWorld('postgres');
  const config = loadConfig({ home: world.home, env: {}, flags: { 'store.engine': 'postgres', 'store.url': world.url } });
  const create = (name: string) => world.store.write('sessions.create', { key: `agent:main:${name}`, fields: {}, at });
  const keys = async () => (await world.store.read('sessions.list', { limit: 5 })).sessions.map(({ key }) => key).sort();
  await create('a');
  const backup = join(world.home, 'backup');
  await createBackup({ config, file: backup });
  await create('b');

  await world.store.close();
  await restoreBackup({ config, file: backup });
  const [kept, ...more] = readdirSync(world.home).filter((name) => /^postgres\.before-restore-\d+\.db$/.test(name));
  assert.ok(kept);
  assert.deepEqual(more, []);
  await world.reopen();
  assert.deepEqual(await keys(), ['agent:main:a']);

  await world.store.close();
  await restoreBackup({ config, file: join(world.home, kept) });
  await world.reopen();
  assert.deepEqual(await keys(), ['agent:main:a', 'agent:main:b']);
});

test('a backup carries turns from either engine to either engine', async () => {
  verifies('foundation:backup');
  for (const from of engines) {
    await using source = await openWorld(from);
    await begin(source.store, 'r1');
    const drafts = [answer('x', ['c1'])];
    await source.store.write('runs.append', { key, runId: 'r1', drafts, calls: [call('c1')], usage: { model: 'demo', usage }, at });
    const { approval } = await source.store.write('approvals.request', question('r1', 'c1'));
    await source.store.write('approvals.resolve', { id: approval.id, decision: 'allow-always', by: 'token:a', at });
    await source.store.write('runs.accept', message('r2'));
    await source.store.write('pluginState.put', { ...ofPlugin, namespace: 'mode', value: { text: 'wörld\u0000' }, at });
    for (const id of ['a', 'b']) await source.store.write('injections.enqueue', queued(id, { metadata: [id] }));
    await source.store.write('plugins.grant', { pluginId: plugin, grant: 'tools.register', treeHash: 'h', by: 'token:a', at });
    await source.store.write('plugins.setConfig', { pluginId: plugin, config: { a: 1 }, by: 'token:a', at });
    const configOf = ({ home, url, engine }: { home: string; url: string; engine: string }) =>
      loadConfig({ home, env: {}, flags: { 'store.engine': engine, 'store.url': url } });
    const state = async (store: Store) => [
      await store.read('entries.path', { key, limit: 10 }),
      await store.read('runs.open', { limit: 10 }),
      await store.read('calls.open', { runId: 'r1' }),
      await store.read('approvals.list', { state: 'decided', limit: 10 }),
      await store.read('approvals.rules', { limit: 10 }),
      await store.read('usage.sum', {}),
      await store.read('pluginState.ofSession', { key }),
      await store.read('injections.list', { key }),
      await store.read('plugins.grants', {}),
      await store.read('plugins.settings', {}),
    ];
    const before = await state(source.store);
    const file = join(source.home, 'backup');
    await createBackup({ config: configOf(source), file });
    for (const to of engines) {
      await using target = await openWorld(to);
      await target.store.close();
      await restoreBackup({ config: configOf(target), file });
      await target.reopen();
      assert.deepEqual(await state(target.store), before, `${from} to ${to}`);
      await target.store.write('runs.append', { key, runId: 'r1', drafts: [note('goes on')], at });
      await target.store.write('runs.end', { key, runId: 'r1', end: completed, at });
      await begin(target.store, 'r9', { key: 'agent:main:new' });
      await target.store.write('injections.enqueue', queued('c'));
    }
  }
});

async function makeOlderStore(url: string, version: number): Promise<void> {
  const statements = migrationsAfter(0, 'postgres')
    .slice(0, version)
    .flatMap((migration) => migration.statements);
  await ask(
    url,
    ...statements,
    `insert into stream values (1, 'old-epoch', 0)`,
    `insert into sessions (key, session_id, agent_id, title, pinned, archived, revision, words, created_at, updated_at)
     values ('agent:main:old', 'id', 'main', 'Old title', 0, 0, 1, 'old title', 1, 1)`,
    'create table tenon_schema (version integer primary key, name text not null, applied_at timestamptz not null default now())',
    `insert into tenon_schema (version, name) select n, n::text from generate_series(1, ${version}) as n`,
  );
}

/** The rows of the last statement. */
async function ask(url: string, ...statements: string[]): Promise<unknown[]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    let rows: unknown[] = [];
    for (const statement of statements) ({ rows } = await client.query(statement));
    return rows;
  } finally {
    await client.end();
  }
}

function shapeOf(database: DatabaseSync): unknown[] {
  return database
    .prepare(`select type, name, sql from sqlite_schema where tbl_name not like 'backup!_%' escape '!' order by type, name`)
    .all()
    .map((row) => ({ ...row }));
}

function shapeOfSchema(version: number): unknown[] {
  const database = new DatabaseSync(':memory:');
  for (const { statements } of migrationsAfter(0, 'sqlite').slice(0, version)) {
    for (const statement of statements) database.exec(statement);
  }
  return shapeOf(database);
}
