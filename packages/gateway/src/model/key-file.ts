// Reads a file that holds a key. Where it is meant to be one, a device or a pipe would hold the gateway for ever.
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

/** A key is one line; more than this is some other file. */
export const MAX_KEY_BYTES = 8_192;

/** `~/` is the home of the user; other relative paths begin at the home of Tenon. Contract: throws an error with a `code`. */
export function readKeyFile(file: string, home: string): string {
  const path = file.startsWith('~/') ? join(homedir(), file.slice(2)) : resolve(home, file);
  // Asked before opening: to open a pipe would wait for a writer.
  if (!statSync(path).isFile()) throw Object.assign(new Error('not a regular file'), { code: 'not a regular file' });
  const bytes = Buffer.alloc(MAX_KEY_BYTES + 1);
  const handle = openSync(path, 'r');
  try {
    const length = readSync(handle, bytes, 0, bytes.length, 0);
    if (length > MAX_KEY_BYTES) throw Object.assign(new Error('too large'), { code: 'larger than a key can be' });
    return bytes.toString('utf8', 0, length);
  } finally {
    closeSync(handle);
  }
}
