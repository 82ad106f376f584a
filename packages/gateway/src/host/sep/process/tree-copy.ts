// The files that an extension runs from: a copy of our own of exactly those that were trusted, none of which can be written.
// What is run is what was looked at, whatever happens to the folder meanwhile.
import { chmod, copyFile, lstat, mkdir, readdir, readlink, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { hashTree } from '../../tree-hash.ts';

export interface TreeCopies {
  /** The folder of the copy. Rejects with an error that says why there is none. */
  of(folder: string, hash: string): Promise<string>;
  /** Nobody runs from it any more. */
  drop(copy: string): Promise<void>;
  /** Of all that were made before: nobody runs from them any more. */
  clear(): Promise<void>;
}

export function createTreeCopies(place: string): TreeCopies {
  /** By the digest of the trusted files: the latest copy of them, and what it looked like when it was made. */
  const sealed = new Map<string, { readonly copy: string; readonly hash: string }>();
  let made = 0;
  /** One after another, and before anything is put in their place. */
  let removed: Promise<void> = Promise.resolve();

  function removeNext(path: string): Promise<void> {
    const mine = removed.then(() => remove(path));
    removed = mine.catch(() => {});
    return mine;
  }

  async function make(folder: string, hash: string): Promise<string> {
    await removed;
    // Never in place of another one: somebody may run from that.
    const copy = join(place, sealed.has(hash) ? `${hash}.${++made}` : hash);
    await remove(copy);
    await mkdir(place, { recursive: true, mode: 0o700 });
    await copyTree(folder, copy);
    const copied = await hashTree(copy);
    if (!copied.ok || copied.hash !== hash) {
      await remove(copy);
      throw new Error(copied.ok ? 'its files changed while they were copied' : copied.reason);
    }
    await seal(copy);
    const after = await hashTree(copy);
    if (!after.ok) throw new Error(after.reason);
    sealed.set(hash, { copy, hash: after.hash });
    return copy;
  }

  return {
    async of(folder, hash) {
      const known = sealed.get(hash);
      // It runs as we do, and could have written to it all the same.
      const now = known && (await hashTree(known.copy));
      return known && now?.ok && now.hash === known.hash ? known.copy : make(folder, hash);
    },
    async drop(copy) {
      for (const [hash, known] of sealed) if (known.copy === copy) sealed.delete(hash);
      await removeNext(copy);
    },
    async clear() {
      sealed.clear();
      await removeNext(place);
    },
  };
}

async function copyTree(from: string, to: string): Promise<void> {
  const found = await lstat(from);
  if (found.isSymbolicLink()) return symlink(await readlink(from), to);
  if (found.isDirectory()) {
    await mkdir(to, { mode: 0o700 });
    for (const name of await readdir(from)) await copyTree(join(from, name), join(to, name));
  } else if (found.isFile()) await copyFile(from, to);
  else throw new Error('it has something that is neither a file nor a folder');
  await chmod(to, found.mode & 0o777);
}

async function seal(path: string): Promise<void> {
  const found = await lstat(path);
  if (found.isSymbolicLink()) return;
  // Folders stay as they are: one that cannot be written cannot be removed by whoever clears the home.
  if (found.isDirectory()) for (const name of await readdir(path)) await seal(join(path, name));
  else await chmod(path, found.mode & 0o555);
}

/** Also where the author of the extension made a folder that cannot be written. */
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
