// Whether something failed because a disk has no room. Whatever failed first says so in its own words: a file, a folder, SQLite; where
// the words leave it open, the disk is asked.
import { statfsSync } from 'node:fs';

/** With less than this, a store and a few files beside it cannot be written. */
const NEEDED_BYTES = 1_048_576;

const SQLITE_FULL = 13;
const SQLITE_CANNOT_OPEN = 14;

/** Contract: must not throw. `folder`: where it was written. */
export function isFullDisk(error: unknown, folder: string): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code, errcode } = cause as { code?: unknown; errcode?: unknown };
    if (code === 'ENOSPC' || code === 'EDQUOT' || /\b(ENOSPC|EDQUOT)\b/.test(cause.message)) return true;
    const said = typeof errcode === 'number' ? [SQLITE_FULL, SQLITE_CANNOT_OPEN].includes(errcode % 256) : OPEN_WORDS.test(cause.message);
    if (said && !hasRoom(folder)) return true;
  }
  return false;
}

/** As the store says it: its bound may be meant, or a file that cannot be made. */
const OPEN_WORDS = /the disk or the database is full|cannot be opened/;

function hasRoom(folder: string): boolean {
  try {
    const { bavail, bsize, files, ffree } = statfsSync(folder);
    return bavail * bsize >= NEEDED_BYTES && (files === 0 || ffree > 0);
  } catch {
    return true;
  }
}
