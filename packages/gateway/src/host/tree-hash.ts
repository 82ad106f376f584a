// One digest for a folder with everything in it: sorted paths, kinds, modes and contents. Trust is bound to it, so whatever
// could change what a plugin does changes the digest, or the folder is refused.
import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, readdir, readlink } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';

export const TREE_BOUNDS = { files: 20_000, bytes: 209_715_200, depth: 64 } as const;

export interface TreeRules {
  /** The only one, beside root, who may own a file; undefined where owners are not looked at. */
  readonly uid?: number | undefined;
}

/** Its path, its mode and what it holds: a digest of a file or of the target of a link; nothing of a folder, whose path ends with a slash. */
export type TreeEntry = readonly [path: string, mode: string, content: string];

export type TreeHash = { readonly ok: true; readonly hash: string } | { readonly ok: false; readonly reason: string };

class Unfit extends Error {}

/** With `list`, every entry is put there too: what it takes to say later what has changed. */
export async function hashTree(root: string, rules: TreeRules = {}, list?: TreeEntry[]): Promise<TreeHash> {
  const digest = createHash('sha256');
  let files = 0;
  let bytes = 0;

  async function visit(path: string, depth: number): Promise<void> {
    const name = relative(root, path).split(sep).join('/') || '.';
    if (++files > TREE_BOUNDS.files) throw new Unfit(`the folder has more than ${TREE_BOUNDS.files} files`);
    if (depth > TREE_BOUNDS.depth) throw new Unfit(`${name} is nested deeper than ${TREE_BOUNDS.depth} folders`);
    const found = await lstat(path);
    const unfit = unfitFor(found, name, rules);
    if (unfit !== undefined) throw new Unfit(unfit);
    const mode = (found.mode & 0o777).toString(8);
    if (found.isSymbolicLink()) {
      const target = await readlink(path);
      if (!isInside(root, resolve(dirname(path), target))) throw new Unfit(`${name} is a link that leaves the folder`);
      put('link', mode, name, Buffer.byteLength(target));
      digest.update(target);
      list?.push([name, mode, `link ${createHash('sha256').update(target).digest('base64url')}`]);
    } else if (found.isDirectory()) {
      put('folder', mode, name, 0);
      list?.push([`${name}/`, mode, '']);
      const inside = (await readdir(path)).sort();
      for (const each of inside) await visit(join(path, each), depth + 1);
    } else if (found.isFile()) {
      bytes += found.size;
      if (bytes > TREE_BOUNDS.bytes) throw new Unfit(`the folder has more than ${TREE_BOUNDS.bytes} bytes`);
      put('file', mode, name, found.size);
      const own = list && createHash('sha256');
      await addContent(path, found.size, name, own);
      list?.push([name, mode, own!.digest('base64url')]);
    } else {
      throw new Unfit(`${name} is neither a file nor a folder`);
    }
  }

  function put(kind: string, mode: string, name: string, size: number): void {
    digest.update(`${JSON.stringify([kind, mode, name, size])}\n`);
  }

  async function addContent(path: string, size: number, name: string, own: Hash | undefined): Promise<void> {
    let seen = 0;
    for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
      seen += chunk.length;
      // Its length stands in front of it: a file that grows meanwhile must not run into the next one.
      if (seen > size) break;
      digest.update(chunk);
      own?.update(chunk);
    }
    if (seen !== size) throw new Unfit(`${name} changed while it was read`);
  }

  try {
    await visit(root, 0);
    return { ok: true, hash: digest.digest('hex') };
  } catch (error) {
    if (error instanceof Unfit) return { ok: false, reason: error.message };
    const { code } = error as NodeJS.ErrnoException;
    return { ok: false, reason: `the folder cannot be read (${code ?? 'unknown error'})` };
  }
}

/** Whether somebody else could have put it there, or could change it. */
export function unfitFor(
  found: { readonly mode: number; readonly uid: number; isSymbolicLink(): boolean },
  name: string,
  { uid }: TreeRules,
): string | undefined {
  if (!found.isSymbolicLink() && (found.mode & 0o002) !== 0) return `everybody can write to ${name}; run chmod o-w on it`;
  if (uid !== undefined && found.uid !== uid && found.uid !== 0) return `${name} belongs to another user (${found.uid})`;
  return undefined;
}

export function isInside(root: string, path: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : `${root}${sep}`);
}
