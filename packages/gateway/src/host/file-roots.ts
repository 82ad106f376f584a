// Files that a plugin wants to send: only from folders that it may send from, never through a link, and what is read is what
// was looked at. Nothing of it throws; a file that cannot be sent says why.
import { constants } from 'node:fs';
import { lstat, open, realpath } from 'node:fs/promises';
import { basename, isAbsolute, join, normalize, relative, sep } from 'node:path';

export interface FileRoots {
  /** Where relative paths begin. */
  readonly workspace: string;
  /** The others. */
  readonly others: readonly string[];
  /** The home folder of the gateway: no file in it leaves, but for those of the workspace. */
  readonly home: string;
}

export type ReadFile = { readonly name: string; readonly content: Buffer } | { readonly wrong: string };

/** The whole file, if it lies in one of the roots and has no more than these bytes. Contract: does not throw. */
export async function readFromRoots(path: string, roots: FileRoots, maxBytes: number): Promise<ReadFile> {
  try {
    if (path.includes('\0')) return { wrong: 'is not a path' };
    const asked = isAbsolute(path) ? normalize(path) : join(roots.workspace, path);
    const found = await inRoot(asked, roots);
    if (found === undefined) return { wrong: 'lies outside of the folders that this plugin may send from' };
    const { root, inside } = found;
    let place = root;
    for (const part of inside.split(sep)) {
      place = join(place, part);
      if ((await lstat(place)).isSymbolicLink()) return { wrong: 'is a link, or lies behind one' };
    }
    const looked = await lstat(place);
    if (!looked.isFile()) return { wrong: 'is not a regular file' };
    // Without waiting for a writer, should it have become a pipe meanwhile.
    const handle = await open(place, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const opened = await handle.stat();
      const isSame = opened.isFile() && opened.ino === looked.ino && opened.dev === looked.dev && (await realpath(place)) === place;
      if (!isSame) return { wrong: 'was exchanged while it was read' };
      if (opened.size > maxBytes) return { wrong: `has ${opened.size} bytes; ${maxBytes} can be sent` };
      // One more than there should be: a file that grows is noticed.
      const buffer = Buffer.alloc(opened.size + 1);
      let length = 0;
      for (;;) {
        const { bytesRead } = await handle.read(buffer, length, buffer.length - length, length);
        if (bytesRead === 0) break;
        length += bytesRead;
        if (length > opened.size) return { wrong: 'was changed while it was read' };
      }
      if (length === 0) return { wrong: 'is empty' };
      return { name: basename(place), content: buffer.subarray(0, length) };
    } finally {
      await handle.close();
    }
  } catch (error) {
    const { code } = error as { code?: string };
    return { wrong: code === 'ENOENT' || code === 'ENOTDIR' ? 'is not there' : `cannot be read (${code ?? 'unknown'})` };
  }
}

/** The real folder of the first root that has it, and the path from there. */
async function inRoot(asked: string, { workspace, others, home }: FileRoots): Promise<{ root: string; inside: string } | undefined> {
  const realHome = await realpath(home).catch(() => home);
  for (const folder of [workspace, ...others]) {
    const root = await realpath(folder).catch(() => undefined);
    if (root === undefined) continue;
    for (const base of new Set([normalize(folder), root])) {
      const inside = relative(base, asked);
      if (inside === '' || inside === '..' || inside.startsWith(`..${sep}`) || isAbsolute(inside)) continue;
      const fromHome = relative(realHome, join(root, inside));
      const isOfHome = fromHome !== '..' && !fromHome.startsWith(`..${sep}`) && !isAbsolute(fromHome);
      if (isOfHome && folder !== workspace) continue;
      return { root, inside };
    }
  }
  return undefined;
}
