// Whether the files of an open SQLite store are still in their places. SQLite goes on with files that were moved or deleted,
// and what it commits there is gone with them. Only `stat` may be used: a file that is opened and closed beside SQLite
// takes the locks with it that SQLite holds on it.
import { basename } from 'node:path';
import { fileId, isSame } from '../kernel/file-id.ts';

/** What is wrong with the places; undefined when nothing. */
export type PlaceCheck = () => string | undefined;

/** Of the files that are in use now: the store, its write-ahead log and the index of that. */
export function watchPlaces(file: string): PlaceCheck {
  const opened = ['', '-wal', '-shm'].map((suffix) => ({ path: file + suffix, id: fileId(file + suffix) }));
  return () => {
    for (const { path, id } of opened) {
      const found = fileId(path);
      if (isSame(found, id)) continue;
      const name = basename(path);
      return found
        ? `${name} was replaced by another file while the gateway was running; stop the gateway, then put the right one in its place`
        : `${name} was moved or deleted while the gateway was running; put it back, or stop the gateway and restore a backup`;
    }
    return undefined;
  };
}
