// What is different between two folders: the files that came, changed or went, by content, mode and target of links.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { TREE_BOUNDS } from '../host/tree-hash.ts';

export interface TreeChanges {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
}

/** Both within the bounds of trees; what is beyond them is not looked at. A folder that is not there is empty. */
export async function compareTrees(before: string, after: string): Promise<TreeChanges> {
  const [was, is] = [await digests(before), await digests(after)];
  const names = [...is.keys()].sort();
  return {
    added: names.filter((name) => !was.has(name)),
    changed: names.filter((name) => was.has(name) && was.get(name) !== is.get(name)),
    removed: [...was.keys()].filter((name) => !is.has(name)).sort(),
  };
}

async function digests(root: string): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  async function visit(path: string, name: string): Promise<void> {
    if (found.size >= TREE_BOUNDS.files) return;
    const at = await lstat(path);
    if (at.isDirectory()) {
      for (const each of await readdir(path)) await visit(join(path, each), name === '' ? each : `${name}/${each}`);
    } else if (at.isSymbolicLink()) found.set(name, `link ${await readlink(path)}`);
    else if (at.isFile()) {
      const digest = createHash('sha256');
      await pipeline(createReadStream(path), digest);
      found.set(name, `${at.mode & 0o777} ${digest.digest('hex')}`);
    }
  }
  if (await lstat(root).catch(() => undefined)) await visit(root, '');
  return found;
}
