// A folder of this machine, copied as it is but for `.git`: files, folders and links that stay inside. Modes become those of the
// store: for the owner only, and executable where they were.
import { chmod, copyFile, lstat, mkdir, readdir, readlink, symlink } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { isInside, TREE_BOUNDS } from '../host/tree-hash.ts';
import { faultpoint } from '../kernel/fault.ts';
import { InstallError, throwIfAborted } from './install-error.ts';

const LEFT_OUT = new Set(['.git']);

export interface CopyProgress {
  readonly signal: AbortSignal;
  readonly copied: (files: number) => void;
}

/** `to` is there and empty. */
export async function copyFolder(from: string, to: string, { signal, copied }: CopyProgress): Promise<void> {
  const root = resolve(from);
  const at = await lstat(root).catch(() => undefined);
  if (!at) throw new InstallError('NOT_FOUND', `There is no folder ${root}`);
  if (!at.isDirectory()) throw new InstallError('REFUSED', `${root} is not a folder`);
  let [files, bytes] = [0, 0];

  async function visit(source: string, target: string, name: string, depth: number): Promise<void> {
    throwIfAborted(signal);
    const found = await lstat(source);
    if (++files > TREE_BOUNDS.files) throw new InstallError('REFUSED', `The folder has more than ${TREE_BOUNDS.files} files`);
    if (depth > TREE_BOUNDS.depth) throw new InstallError('REFUSED', `${name} is nested deeper than ${TREE_BOUNDS.depth} folders`);
    if (found.isSymbolicLink()) {
      const link = await readlink(source);
      if (link.startsWith('/') || !isInside(root, resolve(dirname(source), link)))
        throw new InstallError('REFUSED', `${name} is a link that leaves the folder`);
      await symlink(link, target);
    } else if (found.isDirectory()) {
      if (depth > 0) await mkdir(target, { mode: 0o700 });
      for (const each of await readdir(source)) {
        if (!LEFT_OUT.has(each)) await visit(join(source, each), join(target, each), depth === 0 ? each : `${name}/${each}`, depth + 1);
      }
    } else if (found.isFile()) {
      bytes += found.size;
      if (bytes > TREE_BOUNDS.bytes) throw new InstallError('REFUSED', `The folder has more than ${TREE_BOUNDS.bytes} bytes`);
      await copyFile(source, target);
      await chmod(target, (found.mode & 0o100) === 0 ? 0o600 : 0o700);
      copied(files);
      faultpoint('install.file-copied');
    } else throw new InstallError('REFUSED', `${name} is neither a file nor a folder`);
  }

  await visit(root, to, '.', 0);
}
