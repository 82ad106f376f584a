// The SQLite file: found sound and ours, or named and left alone. A new store is made beside its place and moved there
// when it is whole, so an empty file under its name is never ours.
import { closeSync, copyFileSync, existsSync, openSync, readSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { DatabaseSync } from 'node:sqlite';
import { syncFile, syncFolder } from '../kernel/durable-file.ts';
import { faultpoint } from '../kernel/fault.ts';
import { randomId } from '../kernel/ids.ts';
import { migrationsAfter, schemaVersion } from './migrations.ts';
import { createSqliteRunner, storageReason } from './sqlite-run.ts';
import { missingText } from './earlier-store.ts';
import { StoreOpenError } from './failure.ts';
import { beginStream, streamState, type StreamState } from './stream.ts';
import { lackOf, type StreamHead } from './stream-head.ts';
import { scanWal } from './wal-scan.ts';
import { claimWriter, currentWriter, type Writer } from './writer.ts';

/** "TNON", so that `file` and we can tell our stores from other databases. */
export const APPLICATION_ID = 0x544e4f4e;

/** Up to this size the whole file is checked at every start; a larger one by `tenon doctor`. */
const CHECKED_AT_START_BYTES = 16 * 1024 * 1024;

/** What the write-ahead log shrinks back to. */
export const WAL_BOUND_BYTES = 16 * 1024 * 1024;

const HEADER = 'SQLite format 3\0';
const SMALLEST_PAGE = 512;

/** Busy, read-only, input/output error, full, cannot be opened. */
const PASSING_CODES: ReadonlySet<number> = new Set([5, 8, 10, 13, 14]);

export interface OpenOptions {
  readonly file: string;
  readonly maxBytes: number;
  readonly now: number;
  /** The file is a copy itself: no other is made before it is migrated. */
  readonly isCopy?: true;
  /** What is known to have been in it. */
  readonly kept?: StreamHead;
  /** Commits that are lost were given up: it is opened with the rest. */
  readonly lossAccepted?: true;
  /** Who is going to write it; not for copies, which nobody else knows. */
  readonly writer?: Writer;
  /** What tells that there was a store here: then none is made. */
  readonly trace?: string;
}

export function openDatabase(options: OpenOptions): { database: DatabaseSync; stream: StreamState } {
  const { file } = options;
  try {
    if (!existsSync(file)) {
      if (options.trace !== undefined) throw new StoreOpenError('missing', missingText(`at ${file}`, options.trace));
      createStore(options);
    }
    checkHeader(file);
    if (!options.lossAccepted) checkWal(file);
    const { version, writer } = checkWithoutTouching(file, options.kept);
    // Where the last writer held the lock that is held now, it is gone. Otherwise it may still be there.
    if (writer && options.writer?.lockId && writer.lockId !== options.writer.lockId) refuseWhileOpen(file, writer);
    if (version < schemaVersion) upgrade(options);
  } catch (error) {
    throw toOpenError(error, file);
  }
  const database = new DatabaseSync(file, { timeout: 5000 });
  try {
    configure(database, options.maxBytes);
    // Before anything is read that is relied on later: from here on nobody else writes.
    if (options.writer) claim(database, options.writer);
    const stream = createSqliteRunner(database).run(streamState({}), { emitted: [], auditHead: undefined });
    return { database, stream };
  } catch (error) {
    database.close();
    throw toOpenError(error, file);
  }
}

/** A new store that is kept in memory and gone when it is closed. */
export function createMemoryDatabase(now: number): DatabaseSync {
  const database = new DatabaseSync(':memory:');
  database.exec(`pragma application_id = ${APPLICATION_ID}; pragma foreign_keys = on`);
  migrate(database, { file: ':memory:', maxBytes: 0, now });
  createSqliteRunner(database).run(beginStream(randomId()), { emitted: [], auditHead: undefined });
  return database;
}

export function openReader(file: string): DatabaseSync {
  const database = new DatabaseSync(file, { readOnly: true, timeout: 5000 });
  database.exec('pragma mmap_size = 268435456; pragma cache_size = -16384');
  return database;
}

/** What SQLite itself finds wrong with the file; undefined when nothing. */
export function integrityFault(database: DatabaseSync): string | undefined {
  try {
    const [row] = database.prepare('pragma quick_check(1)').all() as { quick_check: string }[];
    return row?.quick_check === 'ok' ? undefined : (row?.quick_check ?? 'no answer');
  } catch (error) {
    return storageReason(error) ?? (error as Error).message;
  }
}

/** The version of a store that is open; 0 when it has none. */
export function versionOf(database: DatabaseSync): number {
  return (database.prepare('pragma user_version').get() as { user_version: number }).user_version;
}

export function checkOwner(database: DatabaseSync, file: string): void {
  const { application_id } = database.prepare('pragma application_id').get() as { application_id: number };
  if (application_id !== APPLICATION_ID) {
    throw new StoreOpenError(
      'foreign',
      `${file} is a database of another program; it was left as it is. Move it away or choose another home`,
    );
  }
  const version = versionOf(database);
  if (version > schemaVersion) {
    throw new StoreOpenError(
      'newer',
      `${file} was written by a newer Tenon (schema ${version}, this one knows ${schemaVersion}); it was left as it is. Update Tenon, or restore the copy from before the update`,
    );
  }
}

function createStore(options: OpenOptions): void {
  const draft = `${options.file}.new`;
  for (const leftover of [draft, `${draft}-wal`, `${draft}-shm`, `${draft}-journal`]) rmSync(leftover, { force: true });
  const database = new DatabaseSync(draft);
  database.exec(`pragma application_id = ${APPLICATION_ID}; pragma synchronous = full`);
  migrate(database, options);
  createSqliteRunner(database).run(beginStream(randomId()), { emitted: [], auditHead: undefined });
  database.close();
  faultpoint('store.before-create');
  renameSync(draft, options.file);
  syncFolder(dirname(options.file));
  faultpoint('store.after-create');
}

function checkHeader(file: string): void {
  const bytes = Buffer.alloc(HEADER.length);
  const handle = openSync(file, 'r');
  const length = readSync(handle, bytes, 0, HEADER.length, 0);
  closeSync(handle);
  if (length === 0) throw damaged(file, 'it is empty');
  if (bytes.toString('latin1', 0, length) !== HEADER.slice(0, length)) {
    throw new StoreOpenError(
      'foreign',
      `${file} is not a Tenon store; it was left as it is. Move it away, or restore a backup: tenon restore <backup>`,
    );
  }
  // SQLite would take so short a file for a new database.
  if (statSync(file).size < SMALLEST_PAGE) throw damaged(file, 'it is cut off');
}

/** Asked before SQLite opens the store: it would cut the log off where it is damaged, and take in the rest. */
export function checkWal(file: string): void {
  const loss = walLoss(file);
  if (loss !== undefined) throw lost(file, loss);
}

/** Which acknowledged commits cannot be read any more, in words; undefined when none. */
export function walLoss(file: string): string | undefined {
  const log = `${file}-wal`;
  const verdict = existsSync(log) ? scanWal(log) : undefined;
  if (verdict?.kind !== 'damaged') return undefined;
  return `${log} is broken at byte ${verdict.offset}, and up to ${verdict.lostCommits} commits behind it were acknowledged`;
}

/** The same, going by what was kept outside the store. */
export function streamLoss(database: DatabaseSync, kept: StreamHead | undefined): string | undefined {
  const stream = createSqliteRunner(database).run(streamState({}), { emitted: [], auditHead: undefined });
  return lackOf(kept, stream, versionOf(database));
}

export function checkStream(database: DatabaseSync, file: string, kept: StreamHead | undefined): void {
  const loss = kept && streamLoss(database, kept);
  if (loss !== undefined) throw lost(file, loss);
}

/** What is refused stays as it is, byte for byte: a connection that could write would take in the write-ahead log when it closes. */
function checkWithoutTouching(file: string, kept: StreamHead | undefined): { version: number; writer: Writer | undefined } {
  // Without a log there is nothing to read beside the file, and nothing needs to be made beside it.
  const place = pathToFileURL(file);
  if (!existsSync(`${file}-wal`)) place.searchParams.set('immutable', '1');
  const database = new DatabaseSync(place, { readOnly: true, timeout: 5000 });
  try {
    checkOwner(database, file);
    const fault = statSync(file).size <= CHECKED_AT_START_BYTES ? integrityFault(database) : undefined;
    if (fault) throw damaged(file, fault);
    checkStream(database, file, kept);
    const version = versionOf(database);
    const hasWriter = database.prepare(`select 1 from sqlite_schema where type = 'table' and name = 'writer'`).get() !== undefined;
    const writer = hasWriter ? createSqliteRunner(database).run(currentWriter({}), { emitted: [], auditHead: undefined }) : undefined;
    return { version, writer };
  } finally {
    database.close();
  }
}

/** It need not outlast a power failure, which ends every writer: the sync is left to the first commit. */
function claim(database: DatabaseSync, writer: Writer): void {
  database.exec('pragma synchronous = normal');
  createSqliteRunner(database).run(claimWriter(writer), { emitted: [], auditHead: undefined });
  database.exec('pragma synchronous = full');
}

/** The lock file of the last writer is not the one that is held now: if anybody has the store open, it is not ours to write. */
function refuseWhileOpen(file: string, { pid }: Writer): void {
  const database = new DatabaseSync(file, { timeout: 1000 });
  try {
    database.exec('pragma locking_mode = exclusive; begin exclusive; rollback');
  } catch (error) {
    if (((error as { errcode?: number }).errcode ?? 0) % 256 !== 5) throw error;
    throw new StoreOpenError(
      'locked',
      `${file} is in use: its lock file was removed, but the gateway that wrote it last (pid ${pid}) or another program still has it open; stop that first`,
      error,
    );
  } finally {
    database.close();
  }
}

function configure(database: DatabaseSync, maxBytes: number): void {
  database.exec(`
    pragma journal_mode = wal;
    pragma synchronous = full;
    pragma foreign_keys = on;
    pragma cache_size = -16384;
    pragma journal_size_limit = ${WAL_BOUND_BYTES};
    pragma wal_autocheckpoint = 1000`);
  if (maxBytes > 0) limitSize(database, maxBytes);
}

/** From now on the file grows no further than this; one that is larger already does not grow. */
export function limitSize(database: DatabaseSync, maxBytes: number): void {
  const { page_size } = database.prepare('pragma page_size').get() as { page_size: number };
  database.exec(`pragma max_page_count = ${Math.max(1, Math.floor(maxBytes / page_size))}`);
}

/** On a connection of its own: the copy opens the file beside SQLite, and closing it there ends the locks that SQLite holds. */
function upgrade(options: OpenOptions): void {
  const database = new DatabaseSync(options.file, { timeout: 5000 });
  try {
    configure(database, options.maxBytes);
    migrate(database, options);
  } finally {
    database.close();
  }
}

function migrate(database: DatabaseSync, options: OpenOptions): void {
  const version = versionOf(database);
  const pending = migrationsAfter(version, 'sqlite');
  if (pending.length === 0) return;
  if (version > 0 && !options.isCopy) copyBefore(database, options.file, version);
  database.exec('begin immediate');
  for (const migration of pending) {
    for (const statement of migration.statements) database.exec(statement);
    faultpoint('store.migrating');
  }
  database.exec(`pragma user_version = ${schemaVersion}`);
  database.exec('commit');
}

// The way back: an older Tenon opens the copy.
function copyBefore(database: DatabaseSync, file: string, version: number): void {
  database.exec('pragma wal_checkpoint(truncate)');
  const copy = `${file}.schema-${version}`;
  copyFileSync(file, `${copy}.new`);
  syncFile(`${copy}.new`);
  renameSync(`${copy}.new`, copy);
  syncFolder(dirname(file));
  faultpoint('store.after-copy');
}

/** A file that cannot be read or grow now is not damaged: trying again may be all it takes. */
function toOpenError(error: unknown, file: string): StoreOpenError {
  if (error instanceof StoreOpenError) return error;
  const { errcode, code, message } = error as { errcode?: number; code?: string; message: string };
  const reason = storageReason(error) ?? message;
  const isOfSystem = code !== undefined && /^E[A-Z]+$/.test(code);
  if (isOfSystem || (errcode !== undefined && PASSING_CODES.has(errcode & 0xff)))
    return new StoreOpenError('storage', `Cannot open ${file}: ${reason}`, error);
  return damaged(file, reason, error);
}

function damaged(file: string, reason: string, cause?: unknown, more = ''): StoreOpenError {
  return new StoreOpenError(
    'damaged',
    `${file} is damaged: ${reason.replaceAll('\n', ' ')}. It was left as it is; restore a backup with: tenon restore <backup>${more}`,
    cause,
  );
}

function lost(file: string, reason: string): StoreOpenError {
  return damaged(file, reason, undefined, ', or give up what is lost and keep the rest with: tenon salvage');
}
