// A registry of packages, as npm speaks to it: which one, and what it says of one version of a package.
import { isPackageName, type NpmSource } from './source.ts';
import { checkAddress, type DownloadDeps, downloadJson, type DownloadLimits } from './download.ts';
import { InstallError } from './install-error.ts';
import { type ProgramDeps, runProgram } from './run-program.ts';

/** What the registry says of a version: enough, and no readme. */
export const METADATA_LIMITS: DownloadLimits = { bytes: 4_194_304, stepMs: 20_000, totalMs: 60_000 };
const NPM_MS = 20_000;

export interface RegistryDeps extends DownloadDeps, ProgramDeps {
  readonly home: string;
  readonly registry: string;
}

/** As the settings say, else as npm is set up. Ends with a slash. */
export async function registryAddress(deps: RegistryDeps): Promise<URL> {
  const text = deps.registry === '' ? await askNpm(deps) : deps.registry;
  const url = checkAddress(text, 'The registry');
  if (!url.pathname.endsWith('/')) url.pathname += '/';
  return url;
}

async function askNpm(deps: RegistryDeps): Promise<string> {
  const { HOME } = deps.env;
  const request = {
    argv: ['npm', 'config', 'get', 'registry'] as const,
    // Not where we are: a repository could name a registry of its own.
    cwd: deps.home,
    env: { ...(HOME === undefined ? {} : { HOME }), NO_UPDATE_NOTIFIER: '1' },
    timeoutMs: NPM_MS,
  };
  const said = await runProgram(request, deps).catch((error: unknown) => {
    if (!(error instanceof InstallError) || error.code === 'INTERRUPTED') throw error;
    throw new InstallError(
      'FETCH',
      `No registry is known: ${error.message}`,
      'name one with: tenon config set extensions.registry <address>',
    );
  });
  const address = said.split('\n').findLast((line) => /^https?:\/\//.test(line.trim()));
  if (address !== undefined) return address.trim();
  throw new InstallError('FETCH', 'npm knows no registry', 'name one with: tenon config set extensions.registry <address>');
}

export interface PackageVersion {
  readonly version: string;
  readonly archive: URL;
  /** `sha512-…` */
  readonly integrity: string;
}

const VERSION = /^\d+\.\d+\.\d+(?:[-+][A-Za-z0-9.+-]{1,100})?$/;
const SHA512 = /^sha512-[A-Za-z0-9+/]{86}==$/;

export async function findVersion({ name, wanted }: NpmSource, registry: URL, deps: DownloadDeps): Promise<PackageVersion> {
  const address = new URL(`${name.replace('/', '%2f')}/${encodeURIComponent(wanted)}`, registry);
  const found = (await downloadJson(address, deps, METADATA_LIMITS).catch((error: unknown) => {
    if (!(error instanceof InstallError) || error.code !== 'NOT_FOUND') throw error;
    throw new InstallError('NOT_FOUND', `${registry.origin} has no ${name}@${wanted}`, 'look for it with: tenon ext search <words>');
  })) as { name?: unknown; version?: unknown; dist?: { tarball?: unknown; integrity?: unknown } } | null;
  const lie = (what: string) => new InstallError('REFUSED', `${registry.origin} was asked for ${name}@${wanted}: ${what}`);
  if (found?.name !== name || !isPackageName(name)) throw lie(`it answered with ${JSON.stringify(found?.name ?? null)}`);
  const { version, dist } = found;
  if (typeof version !== 'string' || !VERSION.test(version)) throw lie('it names no version');
  if (VERSION.test(wanted) && version !== wanted) throw lie(`it answered with ${version}`);
  const integrity = typeof dist?.integrity === 'string' ? dist.integrity.split(/\s+/).find((each) => SHA512.test(each)) : undefined;
  if (integrity === undefined) throw lie('it gives no sha512 of the archive');
  if (typeof dist?.tarball !== 'string') throw lie('it names no archive');
  const archive = checkAddress(dist.tarball, 'The address of the archive');
  if (archive.origin !== registry.origin) throw lie(`its archive is at ${archive.origin}, which is another place`);
  return { version, archive, integrity };
}
