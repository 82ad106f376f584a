// The files that an extension runs from: a copy of our own of exactly those that were trusted, which nobody can write. What is
// run is what was looked at, whatever happens to the folder meanwhile.
import { chmod, copyFile, lstat, mkdir, readdir, readlink, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { hashTree } from '../tree-hash.ts';

export interface TreeCopies {
  /** The folder of the copy. Rejects with an error that says why there is none. */
  of(folder: string, hash: string): Promise<string>;
  /** Of all that were made before: nobody runs from them any more. */
  clear(): Promise<void>;
}

export function createTreeCopies(place: string): TreeCopies {
  /** What each copy looked like when it was made, without the right to write. */
  const sealed = new Map<string, string>();

  async function make(folder: string, copy: string, hash: string): Promise<void> {
    await remove(copy);
    await mkdir(place, { recursive: true, mode: 0o700 });
    await copyTree(folder, copy);
    const made = await hashTree(copy);
    if (!made.ok || made.hash !== hash) {
      await remove(copy);
      throw new Error(made.ok ? 'its files changed while they were copied' : made.reason);
    }
    await seal(copy);
    const after = await hashTree(copy);
    if (!after.ok) throw new Error(after.reason);
    sealed.set(copy, after.hash);
  }

  return {
    async of(folder, hash) {
      const copy = join(place, hash);
      const known = sealed.get(copy);
      // It runs as we do, and could have written to it all the same.
      const now = known === undefined ? undefined : await hashTree(copy);
      if (!now?.ok || now.hash !== known) await make(folder, copy, hash);
      return copy;
    },
    async clear() {
      sealed.clear();
      await remove(place);
    },
  };
}

async function copyTree(from: string, to: string): Promise<void> {
  const found = await lstat(from);
  if (found.isSymbolicLink()) return symlink(await readlink(from), to);
  if (found.isDirectory()) {
    await mkdir(to, { mode: 0o700 });
    for (const name of await readdir(from)) await copyTree(join(from, name), join(to, name));
  } else await copyFile(from, to);
  await chmod(to, found.mode & 0o777);
}

async function seal(path: string): Promise<void> {
  const found = await lstat(path);
  if (found.isSymbolicLink()) return;
  if (found.isDirectory()) for (const name of await readdir(path)) await seal(join(path, name));
  await chmod(path, found.mode & 0o555);
}

/** Folders that cannot be written cannot be emptied either. */
async function remove(path: string): Promise<void> {
  await unseal(path);
  await rm(path, { recursive: true, force: true });
}

async function unseal(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (!found?.isDirectory()) return;
  await chmod(path, found.mode | 0o700);
  for (const name of await readdir(path)) await unseal(join(path, name));
}
