// Whether the gateway could use the extension in a folder, and if not, everything that is in the way: found by looking, as
// discovery does, before anybody trusts or starts it.
import { constants } from 'node:fs';
import { access, lstat, realpath, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type ExtensionManifest, manifestFaults, readManifest } from '@tenon/protocol/sep';
import { EXTENSION_MANIFEST_FILE, eventNames, furtherEventNames, groupNames } from '@tenon/protocol/sep/wire';
import { didYouMean, nearest } from '../../../kernel/nearest.ts';
import { exists } from '../../discover.ts';
import { Unfit } from '../../manifest-text.ts';
import { hashTree, isInside, unfitFor } from '../../tree-hash.ts';
import { extensionEnvironment } from '../process/environment.ts';
import { faultOf, grantsOf, PACKAGE_FILE, rawManifest } from './find-extensions.ts';

export interface FolderFault {
  /** In the folder, or the folder itself. */
  readonly path: string;
  /** The place in the manifest: `run.command`. */
  readonly key?: string;
  readonly message: string;
  /** What to do about it. */
  readonly hint?: string;
}

export interface CheckedFolder {
  /** The real one. */
  readonly folder: string;
  /** Where it can be read. */
  readonly manifest?: ExtensionManifest;
  /** With any of these it is not used. */
  readonly problems: readonly FolderFault[];
  /** These change nothing, and are probably not meant. */
  readonly notes: readonly FolderFault[];
  /** The grants that it asks for. */
  readonly asked: readonly string[];
  /** What trust would be bound to. */
  readonly treeHash?: string;
}

export interface CheckOptions {
  readonly uid: number | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Contract: does not throw for what it finds. */
export async function checkFolder(given: string, { uid, env }: CheckOptions): Promise<CheckedFolder> {
  const folder = await realpath(given).catch(() => resolve(given));
  const problems: FolderFault[] = [];
  const notes: FolderFault[] = [];
  const result = (more: Partial<CheckedFolder> = {}): CheckedFolder => ({ folder, problems, notes, asked: [], ...more });
  const at = await lstat(folder).catch(() => undefined);
  if (!at?.isDirectory()) {
    problems.push({
      path: folder,
      message: at ? 'is not a folder' : 'is not there',
      hint: 'name the folder of an extension, or make one with: tenon ext new <name>',
    });
    return result();
  }
  const unfit = unfitFor(at, 'the folder', { uid });
  if (unfit !== undefined) problems.push({ path: '.', message: unfit });
  const file = (await exists(join(folder, EXTENSION_MANIFEST_FILE))) ? EXTENSION_MANIFEST_FILE : PACKAGE_FILE;
  if (file === PACKAGE_FILE && !(await exists(join(folder, PACKAGE_FILE)))) {
    problems.push({ path: EXTENSION_MANIFEST_FILE, message: 'is not there', hint: 'see docs/guide/extensions.md for what it says' });
    return result();
  }
  const tree = await hashTree(folder, { uid });
  if (!tree.ok && unfit === undefined) problems.push({ path: '.', message: tree.reason });
  const hashed = tree.ok ? { treeHash: tree.hash } : {};
  let raw: unknown;
  try {
    raw = await rawManifest(folder, { uid });
  } catch (error) {
    problems.push({
      path: file,
      message: error instanceof Unfit ? error.message.replace(`${file} `, '') : `cannot be read (${(error as Error).message})`,
    });
    return result(hashed);
  }
  for (const { place, message } of manifestFaults(raw)) {
    const key = place.slice(1).replaceAll('/', '.');
    problems.push({ path: file, ...(key === '' ? {} : { key }), message, ...hintFor(key) });
  }
  const read = readManifest(raw);
  if (!read.ok) return result(hashed);
  const { manifest, unknown } = read;
  for (const key of unknown) notes.push({ path: file, key, message: 'is not known, and changes nothing', ...hintForUnknown(key) });
  const wrong = faultOf(manifest);
  if (wrong !== undefined) problems.push({ path: file, message: wrong });
  problems.push(...(await programFaults(folder, file, manifest, env)));
  problems.push(...(await resourceFaults(folder, file, manifest)));
  notes.push(...notesOn(file, manifest));
  return result({ manifest, asked: grantsOf(manifest), ...hashed });
}

/** What would keep its process from starting. */
async function programFaults(folder: string, file: string, manifest: ExtensionManifest, env: CheckOptions['env']): Promise<FolderFault[]> {
  const { command, args = [] } = manifest.run;
  const faults: FolderFault[] = [];
  if (command.includes('/')) {
    const program = resolve(folder, command);
    if (!(await canRun(program)))
      faults.push({
        path: file,
        key: 'run.command',
        message: `names ${command}, which is not a program that can be run`,
        hint: `put it there, or make it one with: chmod +x ${command}`,
      });
  } else if (command !== 'node' && !(await isInPath(command, extensionEnvironment(manifest, env, () => false).PATH ?? ''))) {
    faults.push({ path: file, key: 'run.command', message: `names ${command}, which is not in PATH`, hint: `install ${command}` });
  }
  for (const [index, word] of args.entries()) {
    if (!SOURCE_FILE.test(word) || !isInside(folder, resolve(folder, word)) || (await exists(resolve(folder, word)))) continue;
    faults.push({ path: file, key: `run.args.${index}`, message: `names ${word}, which is not in the folder` });
  }
  return faults;
}

/** A word of a command line that is a file with code: nobody means anything else by it. */
const SOURCE_FILE = /^[\w./-]+\.(?:[cm]?[jt]s|py|rb|pl|sh|jar|wasm)$/;

async function canRun(program: string): Promise<boolean> {
  const found = await stat(program).catch(() => undefined);
  if (!found?.isFile()) return false;
  return access(program, constants.X_OK).then(
    () => true,
    () => false,
  );
}

async function isInPath(command: string, path: string): Promise<boolean> {
  for (const place of path.split(':')) if (await canRun(join(place, command))) return true;
  return false;
}

async function resourceFaults(folder: string, file: string, { resources = {} }: ExtensionManifest): Promise<FolderFault[]> {
  const faults: FolderFault[] = [];
  for (const [kind, path] of Object.entries(resources)) {
    if (typeof path !== 'string' || (await stat(join(folder, path)).catch(() => undefined))?.isDirectory()) continue;
    faults.push({ path: file, key: `resources.${kind}`, message: `names ${path}, which is not a folder of the extension` });
  }
  return faults;
}

const EVENTS: readonly string[] = [...eventNames, ...furtherEventNames];

function notesOn(path: string, { capabilities = {} }: ExtensionManifest): FolderFault[] {
  const strange = (capabilities.events ?? []).filter((event) => !EVENTS.includes(event));
  return strange.map((event) => ({
    path,
    key: 'capabilities.events',
    message: `names ${event}, and there is no such event${didYouMean(event, EVENTS)}`,
  }));
}

function hintFor(key: string): { hint?: string } {
  if (key === 'run' || key === 'run.command') return { hint: 'say how it is started: [run], command = "node", args = ["index.ts"]' };
  if (key === 'name') return { hint: 'name = "notes"' };
  if (key === 'version') return { hint: 'version = "0.1.0"' };
  const [, group] = /^capabilities\.(\w+)$/.exec(key) ?? [];
  return group !== undefined && (groupNames as readonly string[]).includes(group) ? { hint: `${group} = true` } : {};
}

function hintForUnknown(key: string): { hint?: string } {
  const [part = '', name] = key.split('.');
  if (part !== 'capabilities' || name === undefined) return {};
  const meant = nearest(name, [...groupNames, 'hooks', 'events', 'net', 'fs']);
  return meant === undefined ? {} : { hint: `did you mean ${meant}?` };
}
