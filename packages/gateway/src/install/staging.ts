// The store of extensions: a folder for what is being prepared, which is gone if nothing comes of it, and one for each version
// that the lock file names. Whatever else is there was left by somebody who was killed, and is swept away.
import { randomBytes } from 'node:crypto';
import { chmod, lstat, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { EXTENSION_STORE_FOLDER, readExtensionLock } from '../host/sep/find/extension-lock.ts';
import { syncFolder } from '../kernel/durable-file.ts';
import { faultpoint } from '../kernel/fault.ts';

const STAGING = '.staging-';

export interface Staging {
  readonly root: string;
  /** What is to be installed. */
  readonly files: string;
  /** For what is needed on the way: archives, caches. */
  readonly aside: string;
  remove(): Promise<void>;
}

export async function openStaging(home: string): Promise<Staging> {
  const root = join(home, EXTENSION_STORE_FOLDER, `${STAGING}${randomBytes(8).toString('hex')}`);
  const [files, aside] = [join(root, 'files'), join(root, 'aside')];
  await mkdir(files, { recursive: true, mode: 0o700 });
  await mkdir(aside, { mode: 0o700 });
  return { root, files, aside, remove: () => removeTree(root) };
}

/** Everything is on the disk, and then in its place, in one step. Resolves with the name of the new folder. */
export async function moveIntoStore(home: string, name: string, treeHash: string, staging: Staging): Promise<string> {
  const place = join(home, EXTENSION_STORE_FOLDER, name);
  const folder = `${treeHash.slice(0, 16)}-${randomBytes(6).toString('hex')}`;
  await mkdir(place, { recursive: true, mode: 0o700 });
  await syncTree(staging.files);
  faultpoint('install.before-move');
  await rename(staging.files, join(place, folder));
  syncFolder(place);
  syncFolder(join(home, EXTENSION_STORE_FOLDER));
  faultpoint('install.after-move');
  return folder;
}

/** Removes what the lock file does not name. Whoever calls holds the store. */
export async function sweepStore(home: string): Promise<void> {
  const store = join(home, EXTENSION_STORE_FOLDER);
  const { extensions } = readExtensionLock(home);
  for (const entry of await readdir(store, { withFileTypes: true }).catch(() => [])) {
    if (!entry.isDirectory()) continue;
    const locked = Object.hasOwn(extensions, entry.name) ? extensions[entry.name] : undefined;
    const kept = new Set(locked ? [locked.current.folder, ...(locked.previous ? [locked.previous.folder] : [])] : []);
    const place = join(store, entry.name);
    if (kept.size === 0) {
      await removeTree(place);
      continue;
    }
    for (const folder of await readdir(place)) {
      if (!kept.has(folder)) await removeTree(join(place, folder));
    }
  }
}

/** Modes as the store has them: for the owner only, and executable where they were. They are part of the digest of the files. */
export async function makePrivate(path: string): Promise<void> {
  for (const entry of await readdir(path, { withFileTypes: true })) {
    const inside = join(path, entry.name);
    if (entry.isDirectory()) await makePrivate(inside);
    else if (entry.isFile()) await chmod(inside, ((await lstat(inside)).mode & 0o100) === 0 ? 0o600 : 0o700);
  }
  await chmod(path, 0o700);
}

/** Also where a package has a folder that cannot be written. */
export async function removeTree(path: string): Promise<void> {
  await makeWritable(path);
  await rm(path, { recursive: true, force: true });
}

async function makeWritable(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (!found?.isDirectory()) return;
  if ((found.mode & 0o700) !== 0o700) await chmod(path, found.mode | 0o700);
  for (const entry of await readdir(path, { withFileTypes: true })) {
    if (entry.isDirectory()) await makeWritable(join(path, entry.name));
  }
}

async function syncTree(path: string): Promise<void> {
  for (const entry of await readdir(path, { withFileTypes: true })) {
    const inside = join(path, entry.name);
    if (entry.isDirectory()) await syncTree(inside);
    else if (entry.isFile()) await sync(inside);
  }
  await sync(path);
}

async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
