// Finds plugins by their manifests. Nothing of a plugin is executed here. A folder that is not fit to be loaded is listed
// with the reason, so that nobody wonders where it went.
import { lstat, readdir, realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative } from 'node:path';
import {
  explain,
  grantNames,
  grantRow,
  hookNames,
  parseJson,
  placeInText,
  PLUGIN_API_LEVEL,
  PLUGIN_MANIFEST_FILE,
  PluginManifest,
} from '@tenon/protocol';
import { didYouMean } from '../kernel/nearest.ts';
import { compileSchema } from './json-schema.ts';
import { readManifestText, Unfit } from './manifest-text.ts';
import { loadPatterns } from './patterns.ts';
import type { ExtensionRun } from './sep/extension-run.ts';
import { isInside, type TreeRules, unfitFor } from './tree-hash.ts';

export interface Found {
  readonly origin: 'bundled' | 'path';
  readonly folder: string;
  readonly manifest: PluginManifest;
  /** The real path of the module. */
  readonly entry: string;
  /** What the module exports, where whoever opened the host has loaded it. */
  readonly exported?: unknown;
  /** Where its code runs in a process of its own. */
  readonly extension?: ExtensionRun;
  /** The workspace that it belongs to: what is trusted there is trusted nowhere else. */
  readonly workspace?: string;
}

/** Code of others in this process: the program and what comes with it are not looked after by a thread of their own. */
export function isWatched({ origin, extension }: Found): boolean {
  return origin !== 'bundled' && extension === undefined;
}

export interface NotFit {
  readonly origin: 'bundled' | 'path';
  readonly folder: string;
  /** As far as it can be told. */
  readonly id: string;
  readonly manifest?: PluginManifest;
  readonly reason: string;
  /** Its code would run in a process of its own. */
  readonly isExtension?: true;
}

export interface Discovered {
  readonly found: readonly Found[];
  readonly rejected: readonly NotFit[];
}

export interface DiscoverOptions {
  readonly home: string;
  readonly paths: readonly string[];
  readonly bundledFolder?: string | undefined;
  /** The user that the gateway runs as, where the system has users. */
  readonly uid?: number | undefined;
}

/** Over all folders together. */
const MAX_PLUGINS = 512;
const DEFAULT_ENTRIES = ['index.js', 'index.mjs', 'index.ts'];
/** They stand for the gateway itself, in the audit log and elsewhere. */
export const RESERVED_IDS = new Set(['gateway', 'core', 'host', 'operator', 'plugin', 'tenon']);

/** Contract: does not throw for what it finds in the folders. The first of two plugins with one id wins; bundled ones come first. */
export async function discoverPlugins({ home, paths, bundledFolder, uid }: DiscoverOptions): Promise<Discovered> {
  const found: Found[] = [];
  const rejected: NotFit[] = [];
  const owners = new Map<string, string>();

  async function look(origin: Found['origin'], folder: string): Promise<void> {
    if (found.length + rejected.length > MAX_PLUGINS) return;
    const reject = (reason: string, manifest?: PluginManifest) =>
      rejected.push({ origin, folder, id: manifest?.id ?? idFrom(folder), reason, ...(manifest ? { manifest } : {}) });
    if (found.length + rejected.length === MAX_PLUGINS) {
      return void reject(`there are more than ${MAX_PLUGINS} plugins; this one and those after it are not looked at`);
    }
    try {
      const plugin = await readPlugin(origin, folder, origin === 'bundled' ? {} : { uid });
      const first = owners.get(plugin.manifest.id);
      if (first !== undefined) return void reject(`its id "${plugin.manifest.id}" belongs to the plugin in ${first}`, plugin.manifest);
      owners.set(plugin.manifest.id, plugin.folder);
      found.push(plugin);
    } catch (error) {
      if (error instanceof Unfit) reject(error.message, error.manifest);
      else reject(`it cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown error'})`);
    }
  }

  if (bundledFolder !== undefined) {
    for (const folder of await foldersIn(bundledFolder)) await look('bundled', folder);
  }
  for (const path of paths) {
    const place = isAbsolute(path) ? path : join(home, path);
    if (await exists(join(place, PLUGIN_MANIFEST_FILE))) {
      await look('path', place);
      continue;
    }
    const inside = await foldersIn(place);
    for (const folder of inside) await look('path', folder);
    if (inside.length === 0) {
      rejected.push({
        origin: 'path',
        folder: place,
        id: idFrom(place),
        reason: `there is no ${PLUGIN_MANIFEST_FILE} in it or in a folder of it`,
      });
    }
  }
  return { found, rejected };
}

async function readPlugin(origin: Found['origin'], folder: string, rules: TreeRules): Promise<Found> {
  const isForeign = origin === 'path';
  const at = await lstat(folder);
  if (at.isSymbolicLink()) throw new Unfit('the folder is a link; name the folder that it leads to');
  const unfit = isForeign ? unfitFor(at, 'the folder', rules) : undefined;
  if (unfit !== undefined) throw new Unfit(unfit);
  const root = await realpath(folder);
  const manifest = await readManifest(join(root, PLUGIN_MANIFEST_FILE), isForeign ? rules : undefined);
  const entry = await findEntry(root, manifest);
  if (isForeign) {
    const wrong = unfitFor(await lstat(entry), relative(root, entry), rules);
    if (wrong !== undefined) throw new Unfit(wrong, manifest);
  }
  return { origin, folder: root, manifest, entry };
}

async function readManifest(file: string, rules: TreeRules | undefined): Promise<PluginManifest> {
  const text = await readManifestText(file, rules);
  if (/pattern/i.test(text)) await loadPatterns();
  return checkManifest(text);
}

/** The manifest that is in the text. Throws an error that says why it cannot be used. */
export function checkManifest(text: string): PluginManifest {
  const parsed = parseJson(text);
  if (!parsed.ok) {
    const { reason, offset } = parsed.fault;
    throw new Unfit(`${PLUGIN_MANIFEST_FILE} is not JSON that can be read: ${reason} at ${placeInText(text, offset)}`);
  }
  // Before the schema: a plugin of a later level may well have fields that are not known here, and this says why.
  const level = (parsed.value as { api?: unknown } | null)?.api;
  if (typeof level === 'number' && level !== PLUGIN_API_LEVEL) {
    throw new Unfit(`it wants level ${level} of the plugin API; this gateway has level ${PLUGIN_API_LEVEL}`);
  }
  const wrong = explain(PluginManifest, parsed.value, 'manifest');
  if (wrong !== undefined) throw new Unfit(`${PLUGIN_MANIFEST_FILE} does not fit: ${wrong}`);
  const manifest = parsed.value as PluginManifest;
  if (RESERVED_IDS.has(manifest.id)) throw new Unfit(`the id "${manifest.id}" is kept for the gateway`, manifest);
  for (const grant of manifest.grants) {
    const row = grantRow(grant);
    if (!row) throw new Unfit(`it asks for the grant "${grant}", which does not exist${didYouMean(grant, grantNames)}`, manifest);
    const hook = grant.slice(grant.indexOf(':') + 1);
    if (row.of !== 'hook' || (hookNames as readonly string[]).includes(hook)) continue;
    throw new Unfit(`it asks for the grant "${grant}", and there is no hook "${hook}"${didYouMean(hook, hookNames)}`, manifest);
  }
  if (manifest.configSchema !== undefined) {
    const compiled = compileSchema(manifest.configSchema);
    if (!compiled.ok) throw new Unfit(`its configSchema cannot be used: ${compiled.message}`, manifest);
  }
  return manifest;
}

async function findEntry(root: string, manifest: PluginManifest): Promise<string> {
  const names = manifest.entry === undefined ? DEFAULT_ENTRIES : [manifest.entry];
  for (const name of names) {
    const file = join(root, name);
    const real = await realpath(file).catch(() => undefined);
    if (real === undefined) continue;
    if (!isInside(root, real)) throw new Unfit(`its entry ${name} leads out of the folder`, manifest);
    if (!(await lstat(real)).isFile()) throw new Unfit(`its entry ${name} is not a file`, manifest);
    return real;
  }
  throw new Unfit(`its entry is missing: there is no ${names.join(', ')}`, manifest);
}

/** Folders, and links that look like one, that have a manifest in them; in the order of their names. */
async function foldersIn(place: string): Promise<string[]> {
  const entries = await readdir(place, { withFileTypes: true }).catch(() => []);
  const folders: string[] = [];
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const folder = join(place, entry.name);
    if ((entry.isDirectory() || entry.isSymbolicLink()) && (await exists(join(folder, PLUGIN_MANIFEST_FILE)))) folders.push(folder);
  }
  return folders;
}

export async function exists(file: string): Promise<boolean> {
  return lstat(file).then(
    () => true,
    () => false,
  );
}

/** An id for something that has none that can be used: what a list can show. */
export function idFrom(folder: string): string {
  const name = (basename(folder) || basename(dirname(folder)))
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, '-')
    .replace(/^[^a-z0-9]+/, '');
  return name.slice(0, 64) || 'unnamed';
}
