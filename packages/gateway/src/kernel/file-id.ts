// Which file stands under a name, told by `stat` alone: nothing is opened, so that locks on the file stay as they are.
import { statSync } from 'node:fs';

export interface FileId {
  readonly dev: bigint;
  readonly ino: bigint;
}

/** Undefined when nothing can be found there. */
export function fileId(path: string): FileId | undefined {
  try {
    const found = statSync(path, { bigint: true, throwIfNoEntry: false });
    return found && { dev: found.dev, ino: found.ino };
  } catch {
    return undefined;
  }
}

export function isSame(a: FileId | undefined, b: FileId | undefined): boolean {
  return a !== undefined && b !== undefined && a.ino === b.ino && a.dev === b.dev;
}
