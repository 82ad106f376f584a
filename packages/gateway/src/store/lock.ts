// One gateway per home. The lock is the operating system's, held through SQLite for as long as the process lives, so a
// killed gateway leaves nothing stale behind. The pid beside it is only for the message.
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileId, isSame } from '../kernel/file-id.ts';
import { StoreOpenError } from './failure.ts';

export interface HomeLock {
  /** Which file is locked: another one of the same name has another id. Empty where the system does not tell. */
  readonly id: string;
  release(): void;
}

export function lockHome(home: string): HomeLock {
  const file = join(home, 'gateway.lock');
  const pidFile = join(home, 'gateway.pid');
  let database: DatabaseSync;
  try {
    database = new DatabaseSync(file, { timeout: 0 });
  } catch (error) {
    throw new StoreOpenError('storage', `Cannot lock ${file}: ${(error as Error).message}`, error);
  }
  try {
    // Nothing is ever written to it, so nothing needs a journal.
    database.exec('pragma journal_mode = off; begin exclusive');
  } catch (error) {
    database.close();
    if ((error as { errcode?: number }).errcode === 5) {
      throw new StoreOpenError('locked', `Another gateway${ownerOf(pidFile)} is running on ${home}; stop it with: tenon stop`);
    }
    throw new StoreOpenError('storage', `Cannot lock ${file}: ${(error as Error).message}`, error);
  }
  const locked = fileId(file);
  try {
    // Moved over the last one, so that it is another file: what is removed later is our own.
    writeFileSync(`${pidFile}.new`, `${process.pid}\n`, { mode: 0o600 });
    renameSync(`${pidFile}.new`, pidFile);
  } catch (error) {
    database.close();
    throw error;
  }
  const pid = fileId(pidFile);
  return {
    id: locked ? `${locked.dev}:${locked.ino}` : '',
    release() {
      // While it is still locked, so that it is not the pid of the next gateway; nor is it where somebody removed the lock.
      if (isSame(fileId(pidFile), pid)) rmSync(pidFile, { force: true });
      database.close();
    },
  };
}

/** Who holds the lock of a home, if anybody does. Only looks: the lock is left as it is. */
export function lockHolder(home: string): { readonly pid: number | undefined } | undefined {
  const file = join(home, 'gateway.lock');
  if (!existsSync(file)) return undefined;
  const database = new DatabaseSync(file, { readOnly: true, timeout: 0 });
  try {
    database.prepare('select count(*) from sqlite_schema').get();
    return undefined;
  } catch (error) {
    if ((error as { errcode?: number }).errcode !== 5) throw error;
    return { pid: Number(/\d+/.exec(ownerOf(join(home, 'gateway.pid')))?.[0]) || undefined };
  } finally {
    database.close();
  }
}

function ownerOf(pidFile: string): string {
  try {
    return ` (pid ${Number(readFileSync(pidFile, 'utf8'))})`;
  } catch {
    return '';
  }
}
