// Our own supply chain: what is installed is what the lock file says, from whatever registry the user has; a runtime
// dependency exists because a decision names it; a package runs code at install time only if package.json allows it.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface DependencyFiles {
  /** The text of package-lock.json. */
  readonly lock: string;
  /** The text of the root's package.json. */
  readonly rootManifest: string;
  /** Path → text of each package's package.json. */
  readonly manifests: ReadonlyMap<string, string>;
  /** Path → text of docs/decisions/*.md. */
  readonly decisions: ReadonlyMap<string, string>;
}

interface LockedPackage {
  readonly resolved?: string;
  readonly version?: string;
  readonly integrity?: string;
  readonly link?: boolean;
  readonly hasInstallScript?: boolean;
}

export function findDependencyFaults(files: DependencyFiles): string[] {
  const locked = (JSON.parse(files.lock) as { packages: Record<string, LockedPackage> }).packages;
  return [...undecided(files), ...unpinned(files, locked), ...faultsOfLock(locked), ...scriptsNotAllowed(files, locked)];
}

function undecided({ manifests, decisions }: DependencyFiles): string[] {
  const words = new Set([...decisions.values()].flatMap((text) => [...text.matchAll(/`([^`\s]+)`/g)].map(([, word]) => word)));
  return runtimeDependencies(manifests)
    .filter(({ name }) => !words.has(name))
    .map(({ path, name }) => `${path}: no file in docs/decisions names the runtime dependency \`${name}\``);
}

// A range would let the same commit mean different code on another day.
function unpinned({ manifests }: DependencyFiles, locked: Record<string, LockedPackage>): string[] {
  return runtimeDependencies(manifests).flatMap(({ path, name, range }) => {
    if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(range)) return [`${path}: "${name}" is not pinned to one version: ${range}`];
    const home = path.replace(/\/package\.json$/, '');
    const entry = locked[`${home}/node_modules/${name}`] ?? locked[`node_modules/${name}`];
    return entry?.version === range ? [] : [`${path}: package-lock.json does not have ${name} ${range}`];
  });
}

function faultsOfLock(locked: Record<string, LockedPackage>): string[] {
  return Object.entries(locked).flatMap(([path, { resolved, link, integrity }]) => {
    if (!path.includes('node_modules/') || link) return [];
    const faults: string[] = [];
    if (resolved !== undefined) faults.push(`package-lock.json: ${path} is bound to one place: ${resolved}`);
    if (integrity === undefined) faults.push(`package-lock.json: ${path} has no integrity hash`);
    return faults;
  });
}

function scriptsNotAllowed({ rootManifest }: DependencyFiles, locked: Record<string, LockedPackage>): string[] {
  const allowed = (JSON.parse(rootManifest) as { allowScripts?: Record<string, boolean> }).allowScripts ?? {};
  return Object.entries(locked)
    .filter(([, { hasInstallScript }]) => hasInstallScript)
    .map(([path]) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length))
    .filter((name) => allowed[name] === undefined)
    .map((name) => `package.json: allowScripts does not say whether "${name}" may run its install script`);
}

function runtimeDependencies(manifests: ReadonlyMap<string, string>): { path: string; name: string; range: string }[] {
  return [...manifests].flatMap(([path, text]) => {
    const { dependencies = {}, optionalDependencies = {} } = JSON.parse(text) as Record<string, Record<string, string> | undefined>;
    return Object.entries({ ...dependencies, ...optionalDependencies })
      .filter(([name]) => !name.startsWith('@tenon/'))
      .map(([name, range]) => ({ path, name, range }));
  });
}

export function readDependencyFiles(root: string): DependencyFiles {
  const read = (path: string) => readFileSync(join(root, path), 'utf8');
  const readAll = (pattern: string) => new Map(globSync(pattern, { cwd: root }).map((path) => [path.replaceAll('\\', '/'), read(path)]));
  return {
    lock: read('package-lock.json'),
    rootManifest: read('package.json'),
    manifests: readAll('{packages,plugins}/*/package.json'),
    decisions: readAll('docs/decisions/*.md'),
  };
}

if (import.meta.main) {
  const faults = findDependencyFaults(readDependencyFiles(join(import.meta.dirname, '..')));
  for (const fault of faults) console.error(fault);
  process.exitCode = faults.length > 0 ? 1 : 0;
}
