// Work on a home folder that does not need a running gateway: backup, restore, salvage and a look at the store.
import { existsSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { type Finding, settingNames } from '@tenon/protocol';
import type { Config } from './config.ts';
import { patchConfigText } from './config-file.ts';
import { StartError, toStartError } from './gateway.ts';
import { CONFIG_FILE, homeFiles, LOG_FOLDER, prepareHome, weaknessesOf } from './home.ts';
import { systemClock } from './kernel/clock.ts';
import { accountWarnings } from './rpc/account-warnings.ts';
import { createDoctor, type DoctorStore, weaknessFinding } from './rpc/doctor.ts';
import { writeFileDurably } from './kernel/durable-file.ts';
import { randomId } from './kernel/ids.ts';
import { AUDIT_HEAD_FILE, openAuditKeeper } from './store/audit-head.ts';
import {
  type BackupSummary,
  backupRows,
  backupSqlite,
  draftFromBackup,
  openBackup,
  type Restored,
  restoreFiles,
  restoreSqlite,
} from './store/backup.ts';
import type { FileSummary } from './store/backup-attachments.ts';
import { missingText, setTracesAside, traceOfStore } from './store/earlier-store.ts';
import { StoreOpenError } from './store/failure.ts';
import { lockHome } from './store/lock.ts';
import { schemaVersion } from './store/migrations.ts';
import { openStore, STORE_FILE, type StoreSettings } from './store/open.ts';
import { reads } from './store/operations.ts';
import type { Dialect, Operation } from './store/sql.ts';
import { checkOwner, checkStream, checkWal, integrityFault, openDatabase, versionOf } from './store/sqlite-file.ts';
import { createSqliteRunner, storageReason } from './store/sqlite-run.ts';
import type { Store } from './store/store.ts';
import { lackOf, readStreamHead, type StreamHead } from './store/stream-head.ts';

const BACKED_UP = homeFiles.filter(({ inBackup }) => inBackup).map(({ name }) => name);

export type { FileSummary };
export { lockHolder } from './store/lock.ts';

export type Progress = (done: { table: string; rows: number }) => void;

/** Works beside a running gateway. */
export async function createBackup({
  config,
  file,
  onProgress = () => {},
}: {
  config: Config;
  file: string;
  onProgress?: Progress;
}): Promise<BackupSummary> {
  const target = resolve(file);
  return saying(`Cannot back up to ${target}`, config, async () => {
    const { home, settings } = config;
    if (settings['store.engine'] === 'sqlite') {
      const storeFile = join(home, STORE_FILE);
      if (!existsSync(storeFile)) throw new StartError(`There is no store in ${home} yet: start the gateway first`, 1);
      return backupSqlite({ home, homeFiles: BACKED_UP, storeFile, file: target, onFile: onProgress });
    }
    const { copyFromPostgres } = await import('./store/backup-postgres.ts');
    return backupRows({ home, homeFiles: BACKED_UP, file: target, now: systemClock.now(), onFile: onProgress }, (database) =>
      copyFromPostgres(settings['store.url'], database, onProgress),
    );
  });
}

/** Needs the gateway to be stopped. The backup is checked whole before anything is touched. */
export async function restoreBackup({
  config,
  file,
  dryRun = false,
  onProgress = () => {},
}: {
  config: Config;
  file: string;
  /** Only checks the backup and that nothing stands in the way. */
  dryRun?: boolean;
  onProgress?: Progress;
}): Promise<{ sealed: boolean; kept?: string; keptFiles?: string; files?: FileSummary }> {
  const source = resolve(file);
  return saying(`Cannot restore ${source}`, config, async () => {
    const { home, settings } = config;
    prepareHome(home);
    const lock = lockHome(home);
    try {
      const backup = openBackup(source, BACKED_UP, onProgress);
      backup.close();
      const { sealed } = backup;
      if (dryRun) return { sealed };
      const { kept, keptFiles, files } =
        settings['store.engine'] === 'sqlite'
          ? restoreSqlite(source, join(home, STORE_FILE), systemClock.now(), onProgress)
          : await restorePostgres(config, source, onProgress);
      restoreFiles(home, withStoreOf(config, backup.files));
      return { sealed, ...(kept === undefined ? {} : { kept }), ...(keptFiles === undefined ? {} : { keptFiles }), files };
    } finally {
      lock.release();
    }
  });
}

export interface Given {
  readonly reason: string;
  readonly kept: readonly string[];
  readonly position: number;
}

/** Needs the gateway to be stopped. Undefined where nothing was lost; then nothing is changed. */
export async function salvageStore({ config }: { config: Config }): Promise<Given | undefined> {
  const { home, settings } = config;
  return saying(`Cannot salvage the store of ${home}`, config, async () => {
    prepareHome(home);
    const lock = lockHome(home);
    try {
      if (settings['store.engine'] === 'postgres') return await salvagePostgres(config);
      const file = join(home, STORE_FILE);
      if (!existsSync(file)) throw new StartError(`There is no store in ${home}`, 1);
      const { salvageSqlite } = await import('./store/salvage.ts');
      return salvageSqlite(file, knownHead(home), systemClock.now());
    } finally {
      lock.release();
    }
  });
}

/** Needs the gateway to be stopped. Only where there is none: what was kept of an earlier one is set aside, and the audit log says so. */
export async function createNewStore({ config }: { config: Config }): Promise<{ store: string; kept: string[] }> {
  const { home, settings } = config;
  return saying(`Cannot make a new store in ${home}`, config, async () => {
    prepareHome(home);
    const lock = lockHome(home);
    try {
      const isThere =
        settings['store.engine'] === 'sqlite'
          ? existsSync(join(home, STORE_FILE))
          : (await postgresVersion(settings['store.url'])) !== undefined;
      if (isThere) throw new StartError('There is a store already; nothing was changed. Start the gateway with: tenon start', 1);
      const trace = traceOfStore(home);
      const kept = setTracesAside(home, systemClock.now());
      const store = await openConfigured(config);
      try {
        const details = { kept, ...(trace === undefined ? {} : { earlier: trace }) };
        const record = { actor: 'operator', action: 'store.new', target: 'store', details, at: systemClock.now() };
        const head = await store.write('audit.append', record);
        writeFileDurably(join(home, AUDIT_HEAD_FILE), `${JSON.stringify(head)}\n`);
        return { store: store.location, kept: kept.map((name) => join(home, name)) };
      } finally {
        await store.close();
      }
    } finally {
      lock.release();
    }
  });
}

/** PostgreSQL keeps its own files sound; what can be missing is its newest part, after it was put back to an earlier moment. */
async function salvagePostgres(config: Config): Promise<Given | undefined> {
  const known = knownHead(config.home);
  const store = await openConfigured(config, { lossAccepted: true });
  try {
    const reason = lackOf(known, store.stream, store.schemaVersion);
    if (reason === undefined) return undefined;
    const position = store.stream.head;
    const details = { reason, position, ...(known ? { acknowledged: known.head } : {}) };
    const record = { actor: 'operator', action: 'store.salvage', target: 'store', details, at: systemClock.now() };
    const head = await store.write('audit.append', record);
    const { withOwnClient } = await import('./store/postgres-connect.ts');
    await withOwnClient(config.settings['store.url'], (client) => client.query('update stream set epoch = $1', [randomId()]));
    writeFileDurably(join(config.home, AUDIT_HEAD_FILE), `${JSON.stringify(head)}\n`);
    return { reason, kept: [], position };
  } finally {
    await store.close();
  }
}

function knownHead(home: string): StreamHead | undefined {
  const known = readStreamHead(home);
  return known === 'unreadable' ? undefined : known;
}

/** The settings of the backup, but for where the store is: the rows went into the one that is configured here. */
function withStoreOf({ settings, sources }: Config, files: ReadonlyMap<string, Buffer>): Map<string, Buffer> {
  const patched = new Map(files);
  const text = patched.get(CONFIG_FILE)?.toString();
  if (text === undefined) return patched;
  const storeSettings = settingNames.filter((name) => name.startsWith('store.'));
  const changes = storeSettings.map((name) => [name, sources[name] === 'file' ? settings[name] : undefined] as const);
  return patched.set(CONFIG_FILE, Buffer.from(patchConfigText(text, new Map(changes))));
}

/** The same checks as `doctor.run`, for a gateway that is stopped or does not start. */
export async function runOfflineDoctor({ config, fix }: { config: Config; fix: boolean }): Promise<{ ok: boolean; findings: Finding[] }> {
  const { home, settings } = config;
  if (!existsSync(home))
    return { ok: true, findings: [{ check: 'home', severity: 'info', message: `${home} does not exist yet`, remedy: 'tenon start' }] };
  return saying(`Cannot look ${home} over`, config, async () => {
    const { store, findings, close } = await look(config);
    const logBook = {
      file: join(home, LOG_FOLDER, 'gateway.log'),
      bound: { maxBytes: settings['log.maxBytes'], files: settings['log.files'] },
      lost: 0,
    };
    const keeper = openAuditKeeper(home, systemClock, () => {});
    // It only reads, which is all that a store that is looked at can do.
    const auditChain = () => keeper.verify(store as Store);
    try {
      return await createDoctor({
        home,
        ...(store ? { store } : {}),
        storeFindings: findings,
        logBook,
        warnings: accountWarnings(),
        auditChain,
      }).run(fix);
    } finally {
      await close();
    }
  });
}

/** What others could change in the home, before anything in it is used; with `fix`, those that a mode mends are mended. */
export function findWeaknesses(home: string, fix: boolean): Finding[] {
  return weaknessesOf(home).map((weakness) => weaknessFinding(weakness, fix));
}

interface Look {
  /** Not there when nothing more can be asked of it. */
  readonly store?: DoctorStore;
  readonly findings: Finding[];
  close(): unknown;
}

/** The store as it is found: nothing is made, migrated or taken in. Contract: must not throw. */
async function look(config: Config): Promise<Look> {
  try {
    return config.settings['store.engine'] === 'sqlite' ? lookAtSqlite(config.home) : await lookAtPostgres(config);
  } catch (error) {
    const message = error instanceof StoreOpenError ? error.message : `The store cannot be read: ${reasonOf(error)}`;
    return found({ check: 'store', severity: 'error', message, remedy: 'If it stays, restore the last backup: tenon restore <backup>' });
  }
}

function found(finding: Finding): Look {
  return { findings: [finding], close() {} };
}

function notYet(home: string, where: string): Look {
  const trace = traceOfStore(home);
  if (trace !== undefined) throw new StoreOpenError('missing', missingText(where, trace));
  return found({ check: 'store', severity: 'info', message: `There is no store ${where} yet`, remedy: 'tenon start' });
}

function older(location: string, version: number): Look {
  const message = `${location} has schema ${version}; it will be migrated to ${schemaVersion} at the next start`;
  return found({ check: 'store', severity: 'info', message });
}

function lookAtSqlite(home: string): Look {
  const file = join(home, STORE_FILE);
  if (!existsSync(file)) return notYet(home, `at ${file}`);
  if (statSync(file).size === 0) throw new StoreOpenError('damaged', `${file} is damaged: it is empty`);
  checkWal(file);
  const wal = `${file}-wal`;
  // Without a log there is nothing to read beside the file, and nothing needs to be made beside it.
  const place = pathToFileURL(file);
  if (!existsSync(wal)) place.searchParams.set('immutable', '1');
  const database = new DatabaseSync(place, { readOnly: true, timeout: 5000 });
  try {
    checkOwner(database, file);
    const version = versionOf(database);
    const fault = integrityFault(database);
    if (version < schemaVersion && fault === undefined) {
      database.close();
      return older(file, version);
    }
    if (fault === undefined) checkStream(database, file, knownHead(home));
    const runner = createSqliteRunner(database);
    const store: DoctorStore = {
      engine: 'sqlite',
      location: file,
      schemaVersion: version,
      async read(name, args) {
        const operation = reads[name] as (args: unknown, dialect: Dialect) => Operation<never>;
        return runner.run(operation(args, 'sqlite'), { emitted: [], auditHead: undefined });
      },
      async inspect() {
        return {
          integrity: fault === undefined ? { ok: true } : { ok: false, reason: fault },
          bytes: statSync(file).size,
          walBytes: existsSync(wal) ? statSync(wal).size : 0,
        };
      },
    };
    return { store, findings: [], close: () => database.close() };
  } catch (error) {
    database.close();
    throw error;
  }
}

async function lookAtPostgres(config: Config): Promise<Look> {
  const version = await postgresVersion(config.settings['store.url']);
  if (version === undefined) return notYet(config.home, 'in the PostgreSQL database');
  if (version < schemaVersion) return older('The PostgreSQL database', version);
  const store = await openConfigured(config);
  return { store, findings: [], close: () => store.close() };
}

async function postgresVersion(url: string): Promise<number | undefined> {
  const { withOwnClient } = await import('./store/postgres-connect.ts');
  return withOwnClient(url, async (client) => {
    const { rows: tables } = await client.query<{ name: string | null }>(`select to_regclass('tenon_schema')::text as name`);
    if (!tables[0]?.name) return undefined;
    const { rows } = await client.query<{ version: number }>('select coalesce(max(version), 0) as version from tenon_schema');
    return rows[0]?.version || undefined;
  });
}

async function restorePostgres(config: Config, source: string, onProgress: Progress): Promise<Restored> {
  const { home, settings } = config;
  const url = settings['store.url'];
  const now = systemClock.now();
  const draft = join(home, `${STORE_FILE}.restore`);
  const kept = join(home, `postgres.before-restore-${now}.db`);
  const { copyFromPostgres, copyToPostgres } = await import('./store/backup-postgres.ts');
  // Opening it once makes the tables where there are none yet.
  await (await openConfigured(config, { lossAccepted: true })).close();
  const files = draftFromBackup(source, home, draft, now, onProgress);
  const { database } = openDatabase({ file: draft, maxBytes: 0, now: 0 });
  try {
    await copyToPostgres(url, database, onProgress, () =>
      backupRows({ home, homeFiles: BACKED_UP, file: kept, now, onFile: onProgress }, (old) => copyFromPostgres(url, old, () => {})),
    );
    // What is kept is a backup, with its files.
    return { kept, keptFiles: undefined, files };
  } finally {
    database.close();
    for (const suffix of ['', '-wal', '-shm']) rmSync(draft + suffix, { force: true });
  }
}

function openConfigured(config: Config, more: { lossAccepted?: true } = {}) {
  return openStore({ ...storeSettings(config), ...more }, { events() {}, auditHead() {}, health() {} });
}

function storeSettings({ home, settings }: Config): StoreSettings {
  const { 'store.engine': engine, 'store.url': url, 'store.maxBytes': maxBytes } = settings;
  return { home, engine, url, maxBytes, now: systemClock.now() };
}

/** Whatever goes wrong is one line; where it does not say itself what was tried, `failure` does. */
async function saying<Result>(failure: string, config: Config, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof StartError || error instanceof StoreOpenError) throw toStartError(error, config);
    throw new StartError(`${failure}: ${reasonOf(error)}`, 1, error);
  }
}

function reasonOf(error: unknown): string {
  const { code } = error as { code?: string };
  if (code === 'ENOSPC' || code === 'EDQUOT') return 'there is no room left on the disk; free some space and try again';
  return storageReason(error) ?? (error as Error).message;
}
