// Backup, restore and doctor on a home folder: what they leave alone, and what they say when they cannot.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import pg from 'pg';
import { homeFiles } from '../../packages/gateway/src/home.ts';
import { AUDIT_HEAD_FILE } from '../../packages/gateway/src/store/audit-head.ts';
import { backupRows } from '../../packages/gateway/src/store/backup.ts';
import { migrationsAfter } from '../../packages/gateway/src/store/migrations.ts';
import { STORE_FILE } from '../../packages/gateway/src/store/open.ts';
import { APPLICATION_ID } from '../../packages/gateway/src/store/sqlite-file.ts';
import { openChaosWorld } from '../support/chaos.ts';
import { cleanUp, removeFolder } from '../support/clean-up.ts';
import { cleanEnv, startGatewayProcess, temporaryHome, tenonBin } from '../support/gateway.ts';
import { verifies } from '../support/verifies.ts';

interface Run {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function tenon(words: readonly string[], env: Record<string, string> = {}): Promise<Run> {
  return new Promise((resolve) => {
    const options = { env: cleanEnv(env), encoding: 'utf8', timeout: 20_000 } as const;
    const child = execFile(process.execPath, [tenonBin, ...words], options, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, stdout, stderr });
    });
    child.stdin?.end();
  });
}

function makeFolder(t: TestContext): string {
  const folder = temporaryHome();
  cleanUp(t, () => {
    chmodSync(folder, 0o700);
    removeFolder(folder);
  });
  return folder;
}

/** A home where a gateway has been. */
async function usedHome(t: TestContext): Promise<string> {
  const home = makeFolder(t);
  const gateway = await startGatewayProcess({ home });
  await gateway.stop();
  return home;
}

interface Finding {
  readonly check: string;
  readonly severity: string;
  readonly message: string;
  readonly remedy?: string;
  readonly fixed?: boolean;
}

async function doctor(home: string, ...words: string[]): Promise<{ code: number; of(check: string): Finding[] }> {
  const { code, stdout, stderr } = await tenon(['doctor', '--json', '--home', home, ...words]);
  assert.match(stdout, /^\{.*\}\n$/, stderr);
  const { findings } = JSON.parse(stdout) as { findings: Finding[] };
  return { code, of: (check) => findings.filter((finding) => finding.check === check) };
}

/** Every file with its mode and content. */
function contentsOf(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => statSync(join(folder, name)).isFile());
  return Object.fromEntries(
    names.map((name) => {
      const path = join(folder, name);
      return [name, `${(statSync(path).mode & 0o777).toString(8)} ${readFileSync(path, 'base64')}`];
    }),
  );
}

test('a backup touches no other file of its folder, and leaves none behind', async (t) => {
  verifies('foundation:backup');
  const home = await usedHome(t);
  const folder = makeFolder(t);
  const names = ['x.db.new', 'x.db-wal', 'x.db-shm', 'x.db-journal', '.x.db'];
  for (const name of names) writeFileSync(join(folder, name), `mine: ${name}`);
  const file = join(folder, 'x.db');
  assert.equal((await tenon(['backup', file, '--home', home])).code, 0);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(folder).sort(), [...names, 'x.db'].sort());
  for (const name of names) assert.equal(readFileSync(join(folder, name), 'utf8'), `mine: ${name}`);

  const before = contentsOf(folder);
  const again = await tenon(['backup', file, '--home', home]);
  assert.deepEqual([again.code, again.stderr], [1, `tenon: ${file} exists already; choose another name\n`]);
  writeFileSync(join(home, STORE_FILE), 'not a store');
  const failed = await tenon(['backup', join(folder, 'y.db'), '--home', home]);
  assert.equal(failed.code, 1);
  assert.match(failed.stderr, /^tenon: Cannot back up to .*y\.db: [^\n]+\n$/);
  assert.deepEqual(contentsOf(folder), before);
});

test('a backup does not replace a file that somebody made meanwhile', async (t) => {
  verifies('foundation:backup');
  const folder = makeFolder(t);
  const file = join(folder, 'x.db');
  const made = backupRows({ home: folder, homeFiles: [], file, now: 0 }, async () => writeFileSync(file, 'theirs'));
  await assert.rejects(made, { message: `${file} exists already; choose another name` });
  assert.deepEqual([readdirSync(folder), readFileSync(file, 'utf8')], [['x.db'], 'theirs']);
});

test('a backup that cannot be written says what is in the way', async (t) => {
  verifies('foundation:backup', 'foundation:cli-errors');
  const home = await usedHome(t);
  const folder = makeFolder(t);
  const nowhere = await tenon(['backup', join(folder, 'none', 'x.db'), '--home', home]);
  assert.deepEqual(
    [nowhere.code, nowhere.stderr],
    [1, `tenon: Cannot back up to ${folder}/none/x.db: the folder ${folder}/none does not exist\n`],
  );
  writeFileSync(join(folder, 'file'), '');
  const inFile = await tenon(['backup', join(folder, 'file', 'x.db'), '--home', home]);
  assert.equal(inFile.stderr, `tenon: Cannot back up to ${folder}/file/x.db: ${folder}/file is not a folder\n`);
});

test('a backup is refused where the settings name another store than the running gateway uses', async (t) => {
  verifies('foundation:backup');
  const home = makeFolder(t);
  await using gateway = await startGatewayProcess({ home });
  writeFileSync(join(home, 'tenon.toml'), '[store]\nengine = "postgres"\nurl = "postgres://me:hunter2@db.example/x"\n');
  const { code, stderr } = await tenon(['backup', join(home, 'x.db'), '--home', home]);
  assert.equal(code, 1);
  assert.match(
    stderr,
    /^tenon: The gateway that runs in .* uses sqlite at .*tenon\.db, but .* engine postgres \(give it the same .*TENON_STORE_URL.*\)\n$/,
  );
  assert.ok(!stderr.includes('hunter2'));

  const note = JSON.parse(readFileSync(join(home, 'gateway.json'), 'utf8')) as object;
  const elsewhere = { ...note, engine: 'postgres', store: 'postgres://db.example:5432/y' };
  writeFileSync(join(home, 'gateway.json'), JSON.stringify(elsewhere));
  const other = await tenon(['backup', join(home, 'x.db'), '--home', home]);
  assert.match(other.stderr, /uses postgres at postgres:\/\/db\.example:5432\/y, but .* another postgres database/);
  assert.equal(await gateway.stop(), 0);
});

test('doctor without a gateway writes nothing', async (t) => {
  verifies('foundation:doctor');
  const empty = makeFolder(t);
  const nothing = await doctor(empty);
  assert.deepEqual([nothing.code, readdirSync(empty)], [0, []]);
  assert.deepEqual([nothing.of('store')[0]?.severity, /no store/.test(nothing.of('store')[0]?.message ?? '')], ['info', true]);
  assert.equal(nothing.of('disk').length, 1);

  const used = await usedHome(t);
  const before = contentsOf(used);
  const sound = await doctor(used);
  assert.equal(sound.code, 0);
  assert.equal(sound.of('store')[0]?.severity, 'ok');
  assert.equal(sound.of('audit chain')[0]?.severity, 'ok');
  assert.match(sound.of('write-ahead log')[0]?.message ?? '', /bound 16\.0 MB/);
  assert.deepEqual(contentsOf(used), before);

  const killed = makeFolder(t);
  const gateway = await startGatewayProcess({ home: killed });
  await gateway.kill();
  const left = contentsOf(killed);
  assert.ok(left['tenon.db-wal'] !== undefined);
  assert.equal((await doctor(killed)).of('store')[0]?.severity, 'ok');
  // The index of the log is SQLite's own scratch.
  assert.deepEqual({ ...contentsOf(killed), 'tenon.db-shm': '' }, { ...left, 'tenon.db-shm': '' });
});

test('doctor leaves a store of an older schema as it is, and says what will happen to it', async (t) => {
  verifies('foundation:doctor');
  const home = makeFolder(t);
  const database = new DatabaseSync(join(home, STORE_FILE));
  const [first] = migrationsAfter(0, 'sqlite');
  database.exec(`pragma application_id = ${APPLICATION_ID}; ${first!.statements.join(';\n')}; pragma user_version = 1`);
  database.close();
  const before = contentsOf(home);
  const { code, of } = await doctor(home);
  assert.equal(code, 0);
  assert.match(of('store')[0]?.message ?? '', /has schema 1; it will be migrated to \d+ at the next start/);
  assert.deepEqual(contentsOf(home), before);
});

test('doctor checks the rest of a home whose store cannot be read', async (t) => {
  verifies('foundation:doctor');
  for (const content of ['', 'not a store at all', Buffer.alloc(8192, 7)]) {
    const home = makeFolder(t);
    writeFileSync(join(home, STORE_FILE), content, { mode: 0o644 });
    const { code, of } = await doctor(home);
    assert.equal(code, 1);
    assert.equal(of('store')[0]?.severity, 'error');
    assert.equal(of('permissions').length, 1);
    assert.equal(of('disk').length, 1);
    assert.equal(of('logs').length, 1);
  }
});

test('doctor counts kept copies, and makes every file with secrets private', async (t) => {
  verifies('foundation:doctor');
  const home = await usedHome(t);
  assert.equal((await doctor(home)).of('kept copies')[0]?.severity, 'ok');
  const copies = ['tenon.db.schema-1', 'tenon.db.before-restore-7', 'postgres.schema-1.db', 'postgres.before-restore-7.db'];
  for (const name of copies) writeFileSync(join(home, name), Buffer.alloc(1_048_576), { mode: 0o600 });
  const kept = (await doctor(home)).of('kept copies')[0];
  assert.deepEqual([kept?.severity, kept?.remedy], ['info', 'Remove what you no longer need']);
  assert.match(kept?.message ?? '', /^4 .* 4\.0 MB/);

  const open = [copies[0]!, 'logs/gateway.log', 'token', 'audit-head.json'].map((name) => join(home, name));
  for (const path of open) chmodSync(path, 0o644);
  const mended = (await doctor(home, '--fix')).of('permissions');
  assert.equal(mended.length, open.length);
  for (const path of open) assert.equal(statSync(path).mode & 0o777, 0o600, path);
});

test('the table of home files names the files of the store', () => {
  const names: string[] = homeFiles.map(({ name }) => name);
  for (const name of [STORE_FILE, AUDIT_HEAD_FILE]) assert.ok(names.includes(name), name);
});

test('a home that cannot be made is refused in one line', async (t) => {
  verifies('foundation:cli-errors');
  const folder = makeFolder(t);
  const { code, stderr } = await tenon(['start', '--port', '0', '--home', '/proc/x/y']);
  assert.equal(code, 1);
  assert.match(stderr, /^tenon: Cannot start: the folder \/proc\/x cannot be made in \/proc; choose another with --home\n$/);
  mkdirSync(join(folder, 'a'));
  await using gateway = await startGatewayProcess({ home: join(folder, 'a', 'b', 'c') });
  assert.equal(basename(gateway.home), 'c');
  assert.equal(await gateway.stop(), 0);
});

test('doctor and restore on PostgreSQL: nothing is made by looking, and the old rows are kept', async () => {
  verifies('foundation:doctor', 'foundation:backup');
  await using world = await openChaosWorld('postgres');
  world.writeConfig();
  const nothing = await doctor(world.home);
  assert.deepEqual([nothing.code, nothing.of('store')[0]?.severity], [0, 'info']);
  const client = new pg.Client({ connectionString: world.databaseUrl });
  await client.connect();
  const { rows } = await client.query(`select 1 from pg_tables where schemaname = 'public'`);
  await client.end();
  assert.deepEqual([rows, readdirSync(world.home)], [[], ['tenon.toml']]);

  const gateway = await world.start();
  const file = join(world.home, 'x.db');
  assert.equal((await tenon(['backup', file, '--home', world.home])).code, 0);
  assert.equal(await gateway.stop(), 0);
  const sound = await doctor(world.home);
  assert.deepEqual([sound.code, sound.of('store')[0]?.severity], [0, 'ok']);
  const restored = await tenon(['restore', file, '--yes', '--home', world.home]);
  assert.equal(restored.code, 0, restored.stderr);
  const [, kept] = /^The old store is kept as (.*)$/m.exec(restored.stderr) ?? [];
  assert.match(kept ?? '', /postgres\.before-restore-\d+\.db$/);
  assert.match((await doctor(world.home)).of('kept copies')[0]?.message ?? '', /^1 /);
});
