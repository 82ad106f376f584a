// Installs, updates, rolls back and removes extensions: what is fetched is prepared beside the store, looked at, agreed to, and
// moved; then the lock file is replaced, which is the one step that counts. Nothing of an extension is run here.
import { lstat } from 'node:fs/promises';
import type { FoundExtension } from '../host/sep/find/find-extensions.ts';
import { readExtension } from '../host/sep/find/find-extensions.ts';
import {
  type ExtensionLock,
  type InstalledVersion,
  installedFolder,
  type LockedExtension,
  readExtensionLock,
  writeExtensionLock,
} from '../host/sep/find/extension-lock.ts';
import { type FileChange, filesBetween } from '../host/plugin-changes.ts';
import { hashTree, type TreeEntry } from '../host/tree-hash.ts';
import { faultpoint } from '../kernel/fault.ts';
import { fetchSource } from './fetch-source.ts';
import { holdStore } from './hold-store.ts';
import type { InstallDeps, Origin } from './install-deps.ts';
import { InstallError } from './install-error.ts';
import { handMadeFolder, parseSource, type Source } from './source.ts';
import { moveIntoStore, openStaging, sweepStore } from './staging.ts';

/** What is about to be in use. */
export interface Prepared {
  readonly name: string;
  readonly version: string;
  readonly extension: FoundExtension;
  readonly origin: Origin;
  readonly treeHash: string;
  /** These files are there already. */
  readonly isSame?: true;
  /** What it takes the place of. */
  readonly replaces?: { readonly version: InstalledVersion; readonly grants: readonly string[]; readonly files: readonly FileChange[] };
}

/** Throws if it is not to be. */
export type Agree = (prepared: Prepared) => Promise<void>;

export interface Installed {
  readonly name: string;
  readonly version: InstalledVersion;
  readonly replaced?: InstalledVersion;
  /** These files were there already, and nothing was done. */
  readonly isSame: boolean;
}

export interface InstallRequest {
  readonly source: string;
  /** What the manifest must be called; without it, what the name of the package suggests. */
  readonly name?: string | undefined;
  readonly agree: Agree;
}

export async function installExtension({ source: text, name, agree }: InstallRequest, deps: InstallDeps): Promise<Installed> {
  const source = parseSource(text, deps.cwd);
  using _held = await openStore(deps.home);
  return prepareAndCommit(source, { name, agree }, deps);
}

/** Fetches what its source has now. */
export async function updateExtension(name: string, agree: Agree, deps: InstallDeps): Promise<Installed> {
  using _held = await openStore(deps.home);
  const { current } = lockedOf(readLock(deps.home), name);
  return prepareAndCommit(parseSource(current.source, deps.cwd), { name, agree }, deps);
}

/** Puts the version before in use again. */
export async function rollBackExtension(name: string, agree: Agree, deps: Pick<InstallDeps, 'home' | 'uid' | 'clock'>): Promise<Installed> {
  const { home, uid } = deps;
  using _held = await openStore(home);
  const lock = readLock(home);
  const { current, previous } = lockedOf(lock, name);
  if (!previous) throw new InstallError('NOT_FOUND', `There is no version of "${name}" before ${current.version}`);
  const folder = installedFolder(home, name, previous);
  const tree = await hashTree(folder, { uid });
  if (!tree.ok || tree.hash !== previous.treeHash) {
    const found = tree.ok ? `has the hash ${tree.hash}` : `cannot be used: ${tree.reason}`;
    throw new InstallError('REFUSED', `${name} ${previous.version} ${found}; it was installed with the hash ${previous.treeHash}`);
  }
  const extension = await readFit(folder, uid);
  await agree({
    name,
    version: previous.version,
    extension,
    origin: previous,
    treeHash: previous.treeHash,
    replaces: await replacedBy(name, current, folder, deps),
  });
  putInUse(home, withExtension(lock, name, { current: { ...previous, at: deps.clock.now() }, previous: current }));
  return { name, version: previous, replaced: current, isSame: false };
}

/** It is installed no longer; its files go after that. */
export async function removeExtension(
  name: string,
  agree: (version: InstalledVersion) => Promise<void>,
  home: string,
): Promise<InstalledVersion> {
  using _held = await openStore(home);
  const lock = readLock(home);
  const { current } = lockedOf(lock, name);
  await agree(current);
  const { [name]: _gone, ...extensions } = lock.extensions;
  putInUse(home, { ...lock, extensions });
  await sweepStore(home);
  return current;
}

/** The names of what is installed, in order. */
export function installedNames(home: string): string[] {
  return Object.keys(readLock(home).extensions).sort();
}

async function openStore(home: string): Promise<Disposable> {
  const held = holdStore(home);
  try {
    readLock(home);
    await sweepStore(home);
    return held;
  } catch (error) {
    held[Symbol.dispose]();
    throw error;
  }
}

async function prepareAndCommit(
  source: Source,
  { name: wanted, agree }: Omit<InstallRequest, 'source'>,
  deps: InstallDeps,
): Promise<Installed> {
  const { home, uid, clock } = deps;
  const lock = readLock(home);
  const staging = await openStaging(home);
  try {
    const origin = await fetchSource(source, staging, { ...deps, known: Object.values(lock.extensions) });
    deps.report({ doing: 'Checking' });
    const extension = await readFit(staging.files, uid);
    const { name, version } = extension.manifest;
    checkName(source, name, wanted);
    const before = Object.hasOwn(lock.extensions, name) ? lock.extensions[name] : undefined;
    await checkPlace(home, name, source, before, deps.cwd);
    const tree = await hashTree(staging.files, { uid });
    if (!tree.ok) throw new InstallError('REFUSED', `${name} ${version} cannot be installed: ${tree.reason}`);
    const { hash: treeHash } = tree;
    if (before && before.current.treeHash === treeHash && (await isWhole(name, before.current, deps))) {
      await agree({ name, version, extension, origin, treeHash, isSame: true });
      return { name, version: before.current, isSame: true };
    }
    const replaces = before && (await replacedBy(name, before.current, staging.files, deps));
    await agree({ name, version, extension, origin, treeHash, ...(replaces ? { replaces } : {}) });
    const folder = await moveIntoStore(home, name, treeHash, staging);
    const current: InstalledVersion = { ...origin, version, treeHash, folder, at: clock.now() };
    const previous = before && ((await isWhole(name, before.current, deps)) ? before.current : before.previous);
    putInUse(home, withExtension(lock, name, { current, ...(previous ? { previous } : {}) }));
    await sweepStore(home);
    return { name, version: current, ...(before ? { replaced: before.current } : {}), isSame: false };
  } finally {
    await staging.remove();
  }
}

/** The one step that counts. */
function putInUse(home: string, lock: ExtensionLock): void {
  writeExtensionLock(home, lock);
  faultpoint('install.after-lock');
}

async function readFit(folder: string, uid: number | undefined): Promise<FoundExtension> {
  try {
    return await readExtension(folder, { uid });
  } catch (error) {
    throw new InstallError('REFUSED', `It cannot be installed: ${(error as Error).message}`);
  }
}

const AFFIXES = /^(?:tenon|smooth)-(?:extension-|ext-)?|-(?:tenon|smooth)-extension$|-extension$/g;

/** A package must not take a name that nobody who reads its own would expect. */
function checkName(source: Source, name: string, wanted: string | undefined): void {
  if (wanted !== undefined) {
    if (name === wanted) return;
    throw new InstallError('REFUSED', `Its manifest calls it "${name}", not "${wanted}"`);
  }
  if (source.kind !== 'npm') return;
  const bare = source.name.slice(source.name.indexOf('/') + 1);
  if (name === bare || name === bare.replace(AFFIXES, '')) return;
  throw new InstallError(
    'REFUSED',
    `The package ${source.name} holds an extension that is called "${name}"`,
    `if that is the one that you mean, say so with --name ${name}`,
  );
}

async function checkPlace(home: string, name: string, source: Source, before: LockedExtension | undefined, cwd: string): Promise<void> {
  const byHand = handMadeFolder(home, name);
  if (await lstat(byHand).catch(() => undefined))
    throw new InstallError(
      'CONFLICT',
      `There is an extension "${name}" that nobody installed, in ${byHand}`,
      'move that folder away first',
    );
  if (!before || isSameSource(source, parseSource(before.current.source, cwd))) return;
  throw new InstallError(
    'CONFLICT',
    `An extension "${name}" is installed from ${before.current.source}`,
    `remove that one first with: tenon ext rm ${name}`,
  );
}

/** Whatever version of it. */
function isSameSource(a: Source, b: Source): boolean {
  if (a.kind === 'npm') return b.kind === 'npm' && a.name === b.name;
  if (a.kind === 'git') return b.kind === 'git' && a.url === b.url;
  return b.kind === 'folder' && a.folder === b.folder;
}

async function isWhole(name: string, version: InstalledVersion, { home, uid }: Pick<InstallDeps, 'home' | 'uid'>): Promise<boolean> {
  const tree = await hashTree(installedFolder(home, name, version), { uid });
  return tree.ok && tree.hash === version.treeHash;
}

async function replacedBy(
  name: string,
  version: InstalledVersion,
  files: string,
  { home, uid }: Pick<InstallDeps, 'home' | 'uid'>,
): Promise<NonNullable<Prepared['replaces']>> {
  const folder = installedFolder(home, name, version);
  const was = await readExtension(folder, { uid }).catch(() => undefined);
  const [before, after]: [TreeEntry[], TreeEntry[]] = [[], []];
  // One that is damaged is compared as far as it can be read.
  await hashTree(folder, {}, before);
  await hashTree(files, {}, after);
  return { version, grants: was?.asPlugin.grants ?? [], files: filesBetween(before, after) };
}

function readLock(home: string): ExtensionLock {
  try {
    return readExtensionLock(home);
  } catch (error) {
    throw new InstallError('REFUSED', (error as Error).message, 'mend it, or move it away and install your extensions again');
  }
}

function lockedOf({ extensions }: ExtensionLock, name: string): LockedExtension {
  const locked = Object.hasOwn(extensions, name) ? extensions[name] : undefined;
  if (locked) return locked;
  throw new InstallError('NOT_FOUND', `No extension "${name}" was installed`, 'list them with: tenon ext ls');
}

function withExtension(lock: ExtensionLock, name: string, locked: LockedExtension): ExtensionLock {
  return { ...lock, extensions: { ...lock.extensions, [name]: locked } };
}
