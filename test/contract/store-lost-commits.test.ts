// Stores that lost commits which were acknowledged: they are refused and kept as they are, whichever way it is noticed, until an operator
// gives up what is lost. A torn end, an older copy that was put back on purpose and a restored store are no such thing.
import assert from 'node:assert/strict';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { loadConfig } from '../../packages/gateway/src/config.ts';
import { runOfflineDoctor, salvageStore } from '../../packages/gateway/src/maintenance.ts';
import { AUDIT_HEAD_FILE, initialiseAuditHead } from '../../packages/gateway/src/store/audit-head.ts';
import { backupSqlite, restoreSqlite } from '../../packages/gateway/src/store/backup.ts';
import { StoreOpenError } from '../../packages/gateway/src/store/failure.ts';
import { schemaVersion } from '../../packages/gateway/src/store/migrations.ts';
import { openStore, STORE_FILE } from '../../packages/gateway/src/store/open.ts';
import { openDatabase } from '../../packages/gateway/src/store/sqlite-file.ts';
import { openStreamKeeper, readStreamHead, STREAM_HEAD_FILE, type StreamHead } from '../../packages/gateway/src/store/stream-head.ts';
import { createManualClock } from '../support/clock.ts';
import { temporaryHome } from '../support/gateway.ts';
import { createRandom } from '../support/random.ts';
import { flipWalBytes, makeStoreWithWal } from '../support/stores-damage.ts';
import { onBothEngines } from '../support/stores.ts';
import { verifies } from '../support/verifies.ts';

const at = 1_000;
const quiet = { events() {}, auditHead() {}, health() {} };
const SESSIONS = 40;

test('sqlite: a flipped byte of the write-ahead log loses no acknowledged commit silently', (t) => {
  verifies('R13:wal', 'R02');
  using place = temporaryFolder();
  const origin = makeStoreWithWal(join(place.path, 'origin'), SESSIONS);
  const { refused, whole } = flipWalBytes(origin, join(place.path, 'flipped'), { flips: 60, random: createRandom(20_260_601) });
  t.diagnostic(`${refused} refused, ${whole} opened with every commit`);
  assert.equal(refused + whole, 60);
  assert.ok(refused > 50);
});

test('sqlite: without a kept head, damage is found by the commits behind it, and the message says where and what to do', () => {
  verifies('R13:wal');
  using place = temporaryFolder();
  const { folder } = makeStoreWithWal(join(place.path, 'store'), SESSIONS);
  const file = join(folder, STORE_FILE);
  const log = readFileSync(`${file}-wal`);
  const frame = 32 + 12 * (24 + 4096);
  log[frame + 2_000] = (log[frame + 2_000] as number) ^ 1;
  writeFileSync(`${file}-wal`, log);
  const before = snapshot(folder);
  const message = new RegExp(
    `^${file} is damaged: ${file}-wal is broken at byte ${frame}, and up to \\d+ commits behind it were acknowledged\\. It was left as it is; restore a backup with: tenon restore <backup>, or give up what is lost and keep the rest with: tenon salvage$`,
  );
  assert.throws(() => openDatabase({ file, maxBytes: 0, now: 1 }), { reason: 'damaged', message });
  assert.deepEqual(snapshot(folder), before);
});

test('sqlite: a backup of a store whose log is damaged is refused, and a restore keeps that log as it is', async () => {
  verifies('R13:wal');
  using place = temporaryFolder();
  const { folder } = makeStoreWithWal(join(place.path, 'store'), SESSIONS);
  const file = join(folder, STORE_FILE);
  const backup = join(place.path, 'backup');
  await backupSqlite({ home: folder, homeFiles: [], storeFile: file, file: backup });
  const log = damageLog(file);
  await assert.rejects(
    backupSqlite({ home: folder, homeFiles: [], storeFile: file, file: join(place.path, 'other') }),
    /is broken at byte/,
  );
  const { kept } = restoreSqlite(backup, file, at);
  assert.deepEqual(readFileSync(`${kept}-wal`), log);
  openDatabase({ file, maxBytes: 0, now: 1 }).database.close();
});

test('sqlite: a store that ends before the kept head is refused, unless it has a new epoch or an older schema', async () => {
  verifies('R13:wal', 'R15');
  using place = temporaryFolder();
  const { folder: home, kept } = makeStoreWithWal(join(place.path, 'store'), SESSIONS);
  const { epoch } = kept;
  const open = async () => (await openStore({ home, engine: 'sqlite', url: '', maxBytes: 0, now: 1 }, quiet)).close();
  await keep(home, { epoch, head: SESSIONS + 3, schema: schemaVersion });
  const before = snapshot(home);
  await assert.rejects(open(), (error) => {
    assert.ok(error instanceof StoreOpenError && error.reason === 'damaged');
    assert.match(
      error.message,
      new RegExp(`ends at position ${SESSIONS}, but events up to ${SESSIONS + 3} were acknowledged.*tenon salvage$`),
    );
    return true;
  });
  for (const [name, content] of before) assert.ok(readFileSync(join(home, name)).equals(content), `${name} was changed`);
  const { findings, ok } = await runOfflineDoctor({ config: loadConfig({ home, env: {} }), fix: false });
  assert.equal(ok, false);
  assert.match(findings.find(({ check }) => check === 'store')?.message ?? '', /were acknowledged/);

  // The digit of a head that was flipped is no reason to refuse a store.
  writeFileSync(join(home, STREAM_HEAD_FILE), readFileSync(join(home, STREAM_HEAD_FILE), 'utf8').replace(/"head":\d+/, '"head":99'));
  assert.equal(readStreamHead(home), 'unreadable');
  await open();
  for (const head of [kept, { epoch: 'another life', head: 999, schema: schemaVersion }, { epoch, head: 999, schema: schemaVersion + 1 }]) {
    await keep(home, head);
    await open();
  }
});

test('the head of the stream is kept at most every 200 ms, never before its commit, and when the gateway stops', async () => {
  verifies('R13:wal');
  using place = temporaryFolder();
  const home = place.path;
  const clock = createManualClock();
  const failures: { code?: string }[] = [];
  const keeper = openStreamKeeper(home, clock, (error) => void failures.push(error as { code?: string }));
  const kept = () => (readStreamHead(home) as StreamHead | undefined)?.head;
  const keptIs = async (head: number) => {
    while (kept() !== head) await new Promise((resolve) => setImmediate(resolve));
  };
  keeper.begin({ epoch: 'e', head: 7, floor: 0 });
  keeper.moved(8);
  clock.advance(199);
  assert.equal(kept(), undefined);
  keeper.moved(9);
  clock.advance(1);
  await keptIs(9);
  keeper.moved(10);
  keeper.moved(4);
  assert.equal(kept(), 9);
  await keeper.close();
  assert.equal(kept(), 10);
  assert.equal(failures.length, 0);

  // What cannot be written is said, and tried again when there is more to say.
  const full = openStreamKeeper(join(home, 'none'), clock, (error) => void failures.push(error as { code?: string }));
  full.begin({ epoch: 'e', head: 1, floor: 0 });
  clock.advance(200);
  while (failures.length === 0) await new Promise((resolve) => setImmediate(resolve));
  await full.close();
  assert.equal(failures.length, 2);
  assert.ok(failures.every(({ code }) => code === 'ENOENT'));
});

test('sqlite: salvage gives up what is lost, keeps the files as they were found and says so in the audit log', async () => {
  verifies('R13:salvage');
  using place = temporaryFolder();
  const { folder: home, kept } = makeStoreWithWal(join(place.path, 'store'), SESSIONS);
  initialiseAuditHead(home);
  const config = loadConfig({ home, env: {} });
  assert.equal(await salvageStore({ config }), undefined, 'a sound store has nothing to give up');
  await keep(home, kept);
  const file = join(home, STORE_FILE);
  const database = readFileSync(file);
  const log = damageLog(file);

  const given = await salvageStore({ config });
  assert.match(given?.reason ?? '', /is broken at byte/);
  const [keptFile, keptLog, keptHead] = given?.kept ?? [];
  assert.match(keptFile ?? '', /tenon\.db\.corrupt-\d+$/);
  assert.deepEqual([readFileSync(keptFile!), readFileSync(keptLog!), keptHead?.includes(AUDIT_HEAD_FILE)], [database, log, true]);

  const store = await openStore({ home, engine: 'sqlite', url: '', maxBytes: 0, now: 1 }, quiet);
  const { sessions } = await store.read('sessions.list', { limit: 200 });
  assert.ok(sessions.length > SESSIONS / 2 && sessions.length < SESSIONS, `${sessions.length}`);
  assert.deepEqual([store.stream.head, given?.position], [sessions.length, sessions.length]);
  assert.notEqual(store.stream.epoch, kept.epoch);
  const [record] = await store.read('audit.list', { limit: 1 });
  assert.deepEqual([record?.action, record?.actor], ['store.salvage', 'operator']);
  await store.close();
  assert.equal((await runOfflineDoctor({ config, fix: false })).ok, true);
  assert.equal(await salvageStore({ config }), undefined);
});

test('sqlite: salvage takes the database without its log where the log had been taken in already', async () => {
  verifies('R13:salvage');
  using place = temporaryFolder();
  const from = join(place.path, 'in-use');
  const home = makeStoreWithWal(from, SESSIONS).folder;
  const copy = join(place.path, 'copy');
  const database = new DatabaseSync(join(home, STORE_FILE));
  // Taken in, but not restarted: the log still holds every frame.
  database.exec('pragma wal_checkpoint(full)');
  cpSync(home, copy, { recursive: true, filter: (path) => !path.endsWith('-shm') });
  database.close();
  initialiseAuditHead(copy);
  damageLog(join(copy, STORE_FILE));
  const given = await salvageStore({ config: loadConfig({ home: copy, env: {} }) });
  assert.equal(given?.position, SESSIONS, 'nothing had to be given up');
});

test('sqlite: salvage refuses a store of which nothing is sound, and leaves it as it is', async () => {
  verifies('R13:salvage');
  using place = temporaryFolder();
  const home = makeStoreWithWal(join(place.path, 'store'), SESSIONS).folder;
  const file = join(home, STORE_FILE);
  damageLog(file);
  const bytes = readFileSync(file);
  writeFileSync(file, bytes.fill(0, 4_096, bytes.length - 4_096));
  const before = snapshot(home);
  await assert.rejects(salvageStore({ config: loadConfig({ home, env: {} }) }), /cannot be salvaged.*use: tenon restore <backup>$/);
  for (const [name, content] of before) assert.ok(readFileSync(join(home, name)).equals(content), `${name} was changed`);
  assert.ok(!readdirSync(home).some((name) => name.includes('salvage')), 'a draft was left');
});

onBothEngines('a store that was put back to an earlier moment is refused until that is accepted', async (world) => {
  verifies('R13:wal', 'R13:salvage');
  const { home, engine, url } = world;
  for (const key of ['agent:main:a', 'agent:main:b']) await world.store.write('sessions.create', { key, fields: {}, at });
  const { epoch } = world.store.stream;
  const { head } = await world.store.read('stream.state', {});
  await world.store.close();
  initialiseAuditHead(home);
  await keep(home, { epoch, head, schema: schemaVersion });
  await (await world.openAnother()).close();
  await keep(home, { epoch, head: head + 5, schema: schemaVersion });
  await assert.rejects(world.openAnother(), { reason: 'damaged', message: /were acknowledged.*tenon salvage/ });
  const config = loadConfig({ home, env: {}, flags: { 'store.engine': engine, ...(engine === 'postgres' ? { 'store.url': url } : {}) } });
  assert.equal((await salvageStore({ config }))?.position, head);
  await world.reopen();
  assert.notEqual(world.store.stream.epoch, epoch);
  assert.equal((await world.store.read('audit.list', { limit: 1 }))[0]?.action, 'store.salvage');
});

/** As the gateway keeps it. */
async function keep(home: string, { epoch, head, schema }: StreamHead): Promise<void> {
  rmSync(join(home, STREAM_HEAD_FILE), { force: true });
  const keeper = openStreamKeeper(home, createManualClock(), assert.ifError, schema);
  keeper.begin({ epoch, head, floor: 0 });
  await keeper.close();
  assert.deepEqual(readStreamHead(home), { epoch, head, schema });
}

/** One byte in the middle of it; the log as it is then. */
function damageLog(file: string): Buffer {
  const log = readFileSync(`${file}-wal`);
  const middle = log.length >> 1;
  log[middle] = (log[middle] as number) ^ 0x40;
  writeFileSync(`${file}-wal`, log);
  return log;
}

function snapshot(folder: string): Map<string, Buffer> {
  return new Map(
    readdirSync(folder)
      .filter((name) => !name.endsWith('-shm'))
      .map((name) => [name, readFileSync(join(folder, name))]),
  );
}

function temporaryFolder(): Disposable & { readonly path: string } {
  const path = temporaryHome();
  return { path, [Symbol.dispose]: () => existsSync(path) && rmSync(path, { recursive: true, force: true, maxRetries: 10 }) };
}
