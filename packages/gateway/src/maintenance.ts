// Work on a home folder that does not need a running gateway: backup, restore and a look at the store.
import { existsSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Finding, settingNames } from '@tenon/protocol';
import type { Config } from './config.ts';
import { patchConfigText } from './config-file.ts';
import { StartError, toStartError } from './gateway.ts';
import { prepareHome } from './home.ts';
import { systemClock } from './kernel/clock.ts';
import { openLogBook } from './kernel/log.ts';
import { createDoctor } from './rpc/doctor.ts';
import { openAuditKeeper } from './store/audit-head.ts';
import { type BackupSummary, backupRows, backupSqlite, draftFromBackup, openBackup, restoreFiles, restoreSqlite } from './store/backup.ts';
import { lockHome } from './store/lock.ts';
import { openStore, STORE_FILE } from './store/open.ts';
import { openDatabase } from './store/sqlite-file.ts';

const CONFIG_FILE = 'tenon.toml';

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
  return saying(config, async () => {
    const { home, settings } = config;
    const target = resolve(file);
    if (settings['store.engine'] === 'sqlite') {
      const storeFile = join(home, STORE_FILE);
      if (!existsSync(storeFile)) throw new StartError(`There is no store in ${home} yet: start the gateway first`, 1);
      return backupSqlite({ home, storeFile, file: target });
    }
    const { copyFromPostgres } = await import('./store/backup-postgres.ts');
    return backupRows({ home, file: target, now: systemClock.now() }, (database) =>
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
}): Promise<{ kept?: string }> {
  return saying(config, async () => {
    const { home, settings } = config;
    const source = resolve(file);
    prepareHome(home);
    const lock = lockHome(home);
    try {
      const backup = openBackup(source);
      backup.close();
      if (dryRun) return {};
      if (settings['store.engine'] === 'sqlite') {
        const { kept } = restoreSqlite(source, join(home, STORE_FILE), systemClock.now());
        restoreFiles(home, withStoreOf(config, backup.files));
        return kept === undefined ? {} : { kept };
      }
      await restorePostgres(config, source, onProgress);
      restoreFiles(home, withStoreOf(config, backup.files));
      return {};
    } finally {
      lock.release();
    }
  });
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
  return saying(config, async () => {
    const lock = lockHome(home);
    const logBook = openLogBook({
      folder: join(home, 'logs'),
      level: 'silent',
      maxBytes: settings['log.maxBytes'],
      files: settings['log.files'],
    });
    const keeper = openAuditKeeper(home, systemClock, () => {});
    try {
      const store = await openConfigured(config);
      try {
        return await createDoctor({ home, store, logBook, warnings: [], auditChain: () => keeper.verify(store) }).run(fix);
      } finally {
        await store.close();
      }
    } catch (error) {
      const { message } = toStartError(error, config);
      return { ok: false, findings: [{ check: 'store', severity: 'error', message }] };
    } finally {
      logBook.close();
      lock.release();
    }
  });
}

async function restorePostgres(config: Config, source: string, onProgress: Progress): Promise<void> {
  const draft = join(config.home, `${STORE_FILE}.restore`);
  const { copyToPostgres } = await import('./store/backup-postgres.ts');
  // Opening it once makes the tables where there are none yet.
  await (await openConfigured(config)).close();
  draftFromBackup(source, draft, systemClock.now());
  const { database } = openDatabase({ file: draft, maxBytes: 0, now: 0 });
  try {
    await copyToPostgres(config.settings['store.url'], database, onProgress);
  } finally {
    database.close();
    for (const suffix of ['', '-wal', '-shm']) rmSync(draft + suffix, { force: true });
  }
}

function openConfigured({ home, settings }: Config) {
  return openStore(
    { home, engine: settings['store.engine'], url: settings['store.url'], maxBytes: settings['store.maxBytes'], now: systemClock.now() },
    { events() {}, auditHead() {}, health() {} },
  );
}

async function saying<Result>(config: Config, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw toStartError(error, config);
  }
}
