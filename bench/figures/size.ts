// What an installation takes on the disk: the files that the package ships, and the dependencies that npm puts beside them.
import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { measured } from '../rounds.ts';
import type { Group } from '../world.ts';

const gateway = join(import.meta.dirname, '..', '..', 'packages', 'gateway');

export const size: Group = {
  name: 'size',
  what: 'install size',
  async run(world) {
    const own = megabytes(shippedFiles(gateway));
    world.record('size.package', measured([own]));
    world.record('size.install', measured([own + megabytes(dependencyFolders(gateway).flatMap(installedFiles))]));
  },
};

interface Manifest {
  readonly files?: readonly string[];
  readonly dependencies?: Readonly<Record<string, string>>;
}

function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
}

/** As `npm pack` chooses them. */
function shippedFiles(folder: string): string[] {
  const { files = ['**'] } = manifestOf(folder);
  const patterns = ['package.json', 'README*', 'LICENSE*', ...files.flatMap((each) => [each, `${each}/**`])];
  return filesOf(folder, patterns);
}

/** A package of this repository is a link here and would be unpacked there. */
function installedFiles(folder: string): string[] {
  return folder.includes('node_modules') ? filesOf(folder, ['**']).filter((file) => !isNested(folder, file)) : shippedFiles(folder);
}

function filesOf(folder: string, patterns: readonly string[]): string[] {
  const found = patterns.flatMap((pattern) => globSync(pattern, { cwd: folder }));
  return [...new Set(found)].map((file) => join(folder, file)).filter((file) => statSync(file).isFile());
}

/** Counted with the package that it belongs to. */
function isNested(folder: string, file: string): boolean {
  return file.slice(folder.length).includes('/node_modules/');
}

/** Every package that `npm install tenon` brings along, found as Node finds it. */
function dependencyFolders(folder: string, seen = new Set<string>()): string[] {
  for (const name of Object.keys(manifestOf(folder).dependencies ?? {})) {
    const found = lookUp(folder, name);
    if (!found) throw new Error(`${name}, a dependency of ${folder}, is not installed`);
    if (seen.has(found)) continue;
    seen.add(found);
    dependencyFolders(found, seen);
  }
  return [...seen];
}

function lookUp(from: string, name: string): string | undefined {
  for (let at = from; at !== dirname(at); at = dirname(at)) {
    const own = join(at, 'packages', name.replace('@tenon/', ''));
    if (name.startsWith('@tenon/') && existsSync(join(own, 'package.json'))) return own;
    const installed = join(at, 'node_modules', name);
    if (existsSync(join(installed, 'package.json'))) return installed;
  }
  return undefined;
}

/** In blocks of 4 kB, as `du` counts. */
function megabytes(files: readonly string[]): number {
  return files.reduce((total, file) => total + Math.ceil(statSync(file).size / 4096) * 4096, 0) / 1e6;
}
