// A secret that the gateway tells once, straight into a file. The file is made before the gateway is asked: a path that
// cannot be written must not cost a token that nobody has seen.
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';
import { usageError } from '../failure.ts';

export const writeSecret = {
  /** Makes the file, for its owner only; refuses one that exists. */
  prepare(file: string, label: string): number {
    try {
      return openSync(file, 'wx', 0o600);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      throw usageError(`${label} cannot be ${JSON.stringify(file)}: ${code === 'EEXIST' ? 'the file exists' : message}`);
    }
  },
  finish(handle: number, secret: string): void {
    writeSync(handle, `${secret}\n`);
    fsyncSync(handle);
    closeSync(handle);
  },
};
