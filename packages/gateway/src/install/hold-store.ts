// One at a time works on the store of extensions. The lock is the operating system's, held through SQLite for as long as the
// process lives: one that was killed leaves nothing stale behind.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { EXTENSION_STORE_FOLDER } from '../host/sep/find/extension-lock.ts';
import { InstallError } from './install-error.ts';

const BUSY_FILE = '.busy';

/** Throws `LOCKED` while somebody else holds it. */
export function holdStore(home: string): Disposable {
  const store = join(home, EXTENSION_STORE_FOLDER);
  mkdirSync(store, { recursive: true, mode: 0o700 });
  const database = new DatabaseSync(join(store, BUSY_FILE), { timeout: 0 });
  try {
    // Nothing is ever written to it, so nothing needs a journal.
    database.exec('pragma journal_mode = off; begin exclusive');
  } catch (error) {
    database.close();
    if ((error as { errcode?: number }).errcode !== 5) throw error;
    throw new InstallError('LOCKED', `Another tenon is installing or removing extensions in ${home}`, 'wait until it has finished');
  }
  return { [Symbol.dispose]: () => database.close() };
}
