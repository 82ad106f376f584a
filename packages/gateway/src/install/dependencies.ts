// What the package.json of an extension depends on, if it does not bring it along: npm fetches it from the registry into a
// folder of its own, with no script, no configuration but ours and no other source, and the result becomes its `node_modules`.
import { lstat, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readManifestText } from '../host/manifest-text.ts';
import type { FetchDeps } from './install-deps.ts';
import { InstallError } from './install-error.ts';
import { registryAddress } from './registry.ts';
import { runProgram } from './run-program.ts';
import { isPackageName } from './source.ts';
import { makePrivate, type Staging } from './staging.ts';

const NPM_MS = 600_000;
const MAX_DEPENDENCIES = 256;
/** A version, a range of versions or a tag of the registry: neither an address, nor a path, nor a repository. */
const RANGE = /^(?:[\w.*^~<>=|+ -]{0,200})$/;

/** Resolves with how many it had to fetch. */
export async function addDependencies(staging: Staging, deps: FetchDeps): Promise<number> {
  const wanted = await declared(staging.files);
  const names = Object.keys(wanted);
  if (names.length === 0 || (await hasAll(staging.files, names))) return 0;
  const elsewhere = names.find((name) => !RANGE.test(wanted[name]!));
  if (elsewhere !== undefined)
    throw new InstallError(
      'REFUSED',
      `It depends on ${elsewhere} from ${JSON.stringify(wanted[elsewhere])}, which is not the registry`,
      'an extension brings such a dependency along in its node_modules',
    );
  if (await isThere(join(staging.files, 'node_modules')))
    throw new InstallError('REFUSED', 'It brings some of its dependencies along and not all of them', 'bring all of them, or none');
  deps.report({ doing: `Fetching ${names.length === 1 ? 'a dependency' : `${names.length} dependencies`}` });
  const registry = await registryAddress(deps);
  const [place, home] = [join(staging.aside, 'dependencies'), join(staging.aside, 'npm')];
  await mkdir(place, { mode: 0o700 });
  await mkdir(home, { mode: 0o700 });
  await writeFile(join(place, 'package.json'), JSON.stringify({ name: 'dependencies', private: true, dependencies: wanted }));
  for (const name of ['user', 'global']) await writeFile(join(home, name), '');
  await runProgram(
    {
      argv: ['npm', 'install', ...flags(registry, home)],
      cwd: place,
      env: { HOME: home, NO_UPDATE_NOTIFIER: '1' },
      timeoutMs: NPM_MS,
      watched: staging.aside,
    },
    deps,
  );
  await checkOrigins(place, registry);
  if (!(await hasAll(place, names))) throw new InstallError('FETCH', 'npm did not fetch all of its dependencies');
  await makePrivate(join(place, 'node_modules'));
  await rename(join(place, 'node_modules'), join(staging.files, 'node_modules'));
  return names.length;
}

function flags(registry: URL, home: string): string[] {
  return [
    '--ignore-scripts',
    '--omit=dev',
    '--no-audit',
    '--no-fund',
    '--no-bin-links',
    '--install-strategy=hoisted',
    '--install-links',
    '--loglevel=error',
    '--fetch-retries=1',
    '--fetch-timeout=60000',
    // A dependency in a repository would bring its own git commands.
    '--git=/nonexistent',
    `--registry=${registry.href}`,
    `--userconfig=${join(home, 'user')}`,
    `--globalconfig=${join(home, 'global')}`,
    `--cache=${join(home, 'cache')}`,
  ];
}

async function declared(folder: string): Promise<Record<string, string>> {
  const file = join(folder, 'package.json');
  if (!(await isThere(file))) return {};
  let found: { dependencies?: unknown } | null;
  try {
    found = JSON.parse(await readManifestText(file, undefined)) as { dependencies?: unknown } | null;
  } catch (error) {
    throw new InstallError('REFUSED', `Its package.json cannot be read: ${(error as Error).message}`);
  }
  const { dependencies = {} } = found ?? {};
  if (typeof dependencies !== 'object' || dependencies === null)
    throw new InstallError('REFUSED', 'The dependencies of its package.json are none');
  const entries = Object.entries(dependencies as Record<string, unknown>);
  if (entries.length > MAX_DEPENDENCIES) throw new InstallError('REFUSED', `It has more than ${MAX_DEPENDENCIES} dependencies`);
  for (const [name, range] of entries) {
    if (!isPackageName(name)) throw new InstallError('REFUSED', `It depends on ${JSON.stringify(name)}, which cannot be a package`);
    if (typeof range !== 'string') throw new InstallError('REFUSED', `It depends on ${name} without a version`);
  }
  return Object.fromEntries(entries) as Record<string, string>;
}

async function hasAll(folder: string, names: readonly string[]): Promise<boolean> {
  for (const name of names) if (!(await isThere(join(folder, 'node_modules', name, 'package.json')))) return false;
  return true;
}

/** Dependencies of dependencies can name any place: what came from another one than the registry is not used. */
async function checkOrigins(place: string, registry: URL): Promise<void> {
  const lock = JSON.parse(await readFile(join(place, 'package-lock.json'), 'utf8')) as {
    packages?: Record<string, { resolved?: string; integrity?: string; link?: boolean; inBundle?: boolean }>;
  };
  for (const [path, { resolved, integrity, link, inBundle }] of Object.entries(lock.packages ?? {})) {
    // What a package brings along came with its own archive.
    if (path === '' || inBundle) continue;
    const isOurs = resolved !== undefined && URL.parse(resolved)?.origin === registry.origin;
    if (!isOurs || link || integrity === undefined)
      throw new InstallError(
        'REFUSED',
        `Its dependency ${path.replace(/^.*node_modules\//, '')} is not from the registry but from ${resolved ?? 'nowhere'}`,
      );
  }
}

async function isThere(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined)) !== undefined;
}
