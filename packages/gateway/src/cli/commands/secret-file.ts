// A secret that the gateway tells once, straight into a new file. The file is made before the gateway is asked: a path that
// cannot be written must not cost a token that nobody has seen.
import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { quoted, usageError } from '../failure.ts';

/** Runs the work with a way to write the secret; a file that nothing was written to is removed. */
export async function intoNewFile(file: string, label: string, work: (write: (secret: string) => void) => Promise<void>): Promise<void> {
  const handle = openNew(file, label);
  let written = false;
  try {
    await work((secret) => {
      writeSync(handle, `${secret}\n`);
      fsyncSync(handle);
      written = true;
    });
  } finally {
    closeSync(handle);
    if (!written) rmSync(file, { force: true });
  }
}

/** For its owner only; refuses one that exists. */
function openNew(file: string, label: string): number {
  try {
    return openSync(file, 'wx', 0o600);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw usageError(`${label} cannot be ${quoted(file)}: ${code === 'EEXIST' ? 'the file exists' : code}`);
  }
}
