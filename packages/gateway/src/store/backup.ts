// A backup is one file: a SQLite store of its own with all rows of one moment, the few files of the home folder that belong to
// it in a table, and the files of attachments in pieces, sealed with digests. It holds no paths, so none can lead anywhere. Either
// engine writes and reads it.
import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { readIfThere, syncFile, syncFolder, writeFileDurably } from '../kernel/durable-file.ts';
import { faultpoint } from '../kernel/fault.ts';
import { randomId } from '../kernel/ids.ts';
import { checkFiles, type FileProgress, type FileSummary, keepFiles, placeFiles, takeFiles } from './backup-attachments.ts';
import { announceSeal, announcesSeal, checkSeal, damaged, sealBackup } from './backup-seal.ts';
import { StoreOpenError } from './failure.ts';
import { migrationsAfter, storedTables } from './migrations.ts';
import { beginNewLife } from './new-life.ts';
import { APPLICATION_ID, checkOwner, checkWal, integrityFault, openDatabase, versionOf } from './sqlite-file.ts';

const MAX_HOME_FILE_BYTES = 1_048_576;

export interface BackupSummary {
  readonly file: string;
  readonly bytes: number;
  readonly sessions: number;
  /** Not there where only rows were asked for. */
  readonly files?: FileSummary;
}

interface BackupOptions {
  readonly home: string;
  /** The files of the home folder that go with the rows. */
  readonly homeFiles: readonly string[];
  readonly file: string;
  /** With it, the files of attachments too; it is told how far they are. */
  readonly onFile?: FileProgress;
}

/** From a SQLite store that may be in use: SQLite itself copies one consistent moment. */
export function backupSqlite(options: BackupOptions & { storeFile: string }): Promise<BackupSummary> {
  return intoBackup(options, (draft) => {
    checkWal(options.storeFile);
    const source = new DatabaseSync(options.storeFile, { readOnly: true, timeout: 5000 });
    try {
      source.prepare('vacuum into ?').run(draft);
    } finally {
      source.close();
    }
  });
}

/** From any other engine: a new store, filled with its rows. */
export async function backupRows(
  options: BackupOptions & { now: number },
  fill: (database: DatabaseSync) => Promise<void>,
): Promise<BackupSummary> {
  return intoBackup(options, async (draft) => {
    const { database } = openDatabase({ file: draft, maxBytes: 0, now: options.now });
    try {
      database.exec('begin');
      for (const table of storedTables) database.exec(`delete from ${table}`);
      await fill(database);
      database.exec('commit');
    } finally {
      database.close();
    }
  });
}

async function intoBackup(options: BackupOptions, fill: (draft: string) => void | Promise<void>): Promise<BackupSummary> {
  const { home, homeFiles, file } = options;
  checkPlace(file);
  // A name that nobody else has.
  const draft = join(dirname(file), `.${basename(file).slice(0, 40)}.${randomId(9)}.draft`);
  // Before the rows: the head of the audit log that is kept apart may lag behind them, but never run ahead.
  const files = homeFiles
    .map((name) => [name, join(home, name)] as const)
    .filter(([, path]) => existsSync(path))
    .map(([name, path]) => [name, readFileSync(path)] as const);
  // For the owner only, from its first byte on.
  const umask = process.umask(0o077);
  try {
    await fill(draft);
    return finish(options, draft, files);
  } finally {
    clear(draft);
    process.umask(umask);
  }
}

function checkPlace(file: string): void {
  const folder = dirname(file);
  const refuse = (reason: string) => new StoreOpenError('storage', `Cannot back up to ${file}: ${reason}`);
  const kind = statSync(folder, { throwIfNoEntry: false });
  if (kind === undefined) throw refuse(`the folder ${folder} does not exist`);
  if (!kind.isDirectory()) throw refuse(`${folder} is not a folder`);
  if (existsSync(file)) throw existsAlready(file);
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
  } catch {
    throw refuse(`there is no permission to write in ${folder}`);
  }
}

function existsAlready(file: string): StoreOpenError {
  return new StoreOpenError('storage', `${file} exists already; choose another name`);
}

function finish({ home, file, onFile }: BackupOptions, draft: string, files: readonly (readonly [string, Buffer])[]): BackupSummary {
  chmodSync(draft, 0o600);
  const database = new DatabaseSync(draft);
  let sessions: number;
  let taken: FileSummary | undefined;
  try {
    // In WAL mode the copy would leave files beside itself. It is synced whole below.
    database.exec(
      'pragma journal_mode = delete; pragma synchronous = off; create table backup_files (name text primary key, content blob not null)',
    );
    const insert = database.prepare('insert into backup_files (name, content) values (?, ?)');
    for (const [name, content] of files) insert.run(name, content);
    if (onFile) taken = takeFiles(database, home, onFile);
    announceSeal(database);
    sessions = (database.prepare('select count(*) as n from sessions').get() as { n: number }).n;
  } finally {
    database.close();
  }
  sealBackup(draft);
  syncFile(draft);
  faultpoint('backup.before-rename');
  putInPlace(draft, file);
  syncFolder(dirname(file));
  return { file, bytes: statSync(file).size, sessions, ...(taken ? { files: taken } : {}) };
}

/** Never over a file that somebody made meanwhile. */
function putInPlace(draft: string, file: string): void {
  try {
    linkSync(draft, file);
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === 'EEXIST') throw existsAlready(file);
    if (!WITHOUT_LINKS.has(code ?? '')) throw error;
    claim(file);
    renameSync(draft, file);
  }
}

/** How a file system says that it has no links, as on many a USB disk. */
const WITHOUT_LINKS: ReadonlySet<string> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

function claim(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    throw (error as { code?: string }).code === 'EEXIST' ? existsAlready(file) : error;
  }
}

export interface OpenBackup {
  readonly database: DatabaseSync;
  readonly files: ReadonlyMap<string, Buffer>;
  /** Whether every byte was held against its digest. Backups from before they had digests cannot be. */
  readonly sealed: boolean;
  close(): void;
}

/** Checks the backup whole before anything is touched. A file in it that is none of `homeFiles` refuses it whole. */
export function openBackup(file: string, homeFiles: readonly string[], onFile: FileProgress = () => {}): OpenBackup {
  if (!existsSync(file)) throw new StoreOpenError('storage', `There is no backup ${file}`);
  if (!statSync(file).isFile()) throw new StoreOpenError('foreign', `${file} is not a file`);
  const sealed = checkSeal(file) !== undefined;
  let database: DatabaseSync;
  try {
    database = new DatabaseSync(file, { readOnly: true });
    checkOwner(database, file);
  } catch (error) {
    if (error instanceof StoreOpenError) throw error;
    throw new StoreOpenError('damaged', `${file} is not a backup that can be read: ${(error as Error).message}`, error);
  }
  try {
    const fault = integrityFault(database);
    if (fault) throw damaged(file, fault);
    if (!sealed && announcesSeal(database)) throw damaged(file, 'its digests are gone');
    const files = readFiles(database, file, homeFiles);
    checkFiles(database, file, onFile);
    return { database, files, sealed, close: () => database.close() };
  } catch (error) {
    database.close();
    if (error instanceof StoreOpenError) throw error;
    throw new StoreOpenError('foreign', `${file} is a store but not a backup: ${(error as Error).message}`, error);
  }
}

function readFiles(database: DatabaseSync, file: string, homeFiles: readonly string[]): Map<string, Buffer> {
  const files = new Map<string, Buffer>();
  for (const row of database.prepare('select name, length(content) as bytes from backup_files').all() as {
    name: string;
    bytes: number;
  }[]) {
    if (!homeFiles.includes(row.name))
      throw new StoreOpenError('foreign', `${file} carries a file "${row.name}" that no backup carries; nothing was restored`);
    if (row.bytes > MAX_HOME_FILE_BYTES)
      throw new StoreOpenError('foreign', `${file} carries "${row.name}" with ${row.bytes} bytes; nothing was restored`);
    const { content } = database.prepare('select content from backup_files where name = ?').get(row.name) as { content: Uint8Array };
    files.set(row.name, Buffer.from(content));
  }
  return files;
}

export interface Restored {
  readonly kept: string | undefined;
  /** Where the files of the old store are kept. */
  readonly keptFiles: string | undefined;
  readonly files: FileSummary;
}

/**
 * Puts a backup in place of a SQLite store: its files, then its rows, these in one step; the old store is kept beside it.
 * Clients that remember positions of the old stream are told, by a new epoch, that these no longer hold.
 */
export function restoreSqlite(backup: string, storeFile: string, at: number, onFile: FileProgress = () => {}): Restored {
  const home = dirname(storeFile);
  const draft = `${storeFile}.restore`;
  const kept = existsSync(storeFile) ? `${storeFile}.before-restore-${at}` : undefined;
  const keptFiles = kept === undefined ? undefined : keepFiles(home, at);
  const files = draftFromBackup(backup, home, draft, at, onFile);
  if (kept) {
    setWalAside(storeFile, kept);
    linkSync(storeFile, kept);
  }
  faultpoint('restore.before-swap');
  renameSync(draft, storeFile);
  syncFolder(dirname(storeFile));
  faultpoint('restore.after-swap');
  return { kept, keptFiles, files };
}

/**
 * The files of the backup in their places, and a store with its rows, of the schema that this Tenon knows and with a stream of
 * a new life. The tables are made here and not taken over: nothing but rows comes out of a backup.
 */
export function draftFromBackup(backup: string, home: string, draft: string, at: number, onFile: FileProgress): FileSummary {
  clear(draft);
  const source = new DatabaseSync(backup, { readOnly: true });
  let files: FileSummary;
  try {
    files = placeFiles(source, home, onFile);
    copyRows(backup, versionOf(source), draft);
  } finally {
    source.close();
  }
  chmodSync(draft, 0o600);
  const { database } = openDatabase({ file: draft, maxBytes: 0, now: 0, isCopy: true });
  try {
    const { inBackup, count, missingCount } = files;
    const details = { filesInBackup: inBackup, files: count, filesMissing: missingCount };
    beginNewLife(database, { actor: 'operator', action: 'store.restore', target: 'store', details, at });
    database.exec('pragma journal_mode = delete');
  } finally {
    database.close();
  }
  syncFile(draft);
  return files;
}

/** Into a new store of the schema that the backup has. */
function copyRows(backup: string, version: number, draft: string): void {
  const database = new DatabaseSync(draft, { enableForeignKeyConstraints: false });
  try {
    database.exec(`pragma application_id = ${APPLICATION_ID}; pragma synchronous = off`);
    for (const { statements } of migrationsAfter(0, 'sqlite').slice(0, version)) for (const each of statements) database.exec(each);
    database.exec(`pragma user_version = ${version}`);
    database.prepare('attach database ? as backup').run(backup);
    database.exec('begin');
    for (const table of storedTables) {
      const columns = columnsOf(database, 'main', table);
      const given = new Set(columnsOf(database, 'backup', table));
      const lacking = columns.find((column) => !given.has(column));
      if (lacking !== undefined)
        throw new StoreOpenError('foreign', `${backup} is not a backup: its table ${table} has no column ${lacking}; nothing was restored`);
      if (columns.length === 0) continue;
      const list = columns.map((column) => `"${column}"`).join(', ');
      database.exec(`delete from main.${table}; insert into main.${table} (${list}) select ${list} from backup.${table}`);
    }
    database.exec('commit; detach database backup');
  } finally {
    database.close();
  }
}

function columnsOf(database: DatabaseSync, schema: 'main' | 'backup', table: string): string[] {
  return database
    .prepare(`select name from pragma_table_info(?, ?)`)
    .all(table, schema)
    .map(({ name }) => String(name));
}

// A write-ahead log left behind would be read into the restored store. A sound store takes its log in when it is closed;
// beside a damaged one, or damaged itself, the log is kept with it.
function setWalAside(storeFile: string, kept: string): void {
  try {
    checkWal(storeFile);
    const database = new DatabaseSync(storeFile);
    try {
      database.exec('pragma wal_checkpoint(truncate); pragma journal_mode = delete');
    } finally {
      database.close();
    }
  } catch {
    // Damaged: that is why somebody restores.
  }
  if (existsSync(`${storeFile}-wal`)) renameSync(`${storeFile}-wal`, `${kept}-wal`);
  rmSync(`${storeFile}-shm`, { force: true });
}

/** The files of the home folder, each replaced in one step. */
export function restoreFiles(home: string, files: ReadonlyMap<string, Buffer>): void {
  for (const [name, content] of files) {
    if (readIfThere(join(home, name)) !== content.toString()) writeFileDurably(join(home, name), content);
  }
}

function clear(draft: string): void {
  for (const suffix of ['', '-wal', '-shm', '-journal', '.new']) rmSync(draft + suffix, { force: true });
}
