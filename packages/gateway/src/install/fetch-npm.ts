// A package of a registry: its archive is downloaded, compared with what the registry and the lock file say, and unpacked. None
// of its scripts is run.
import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { download } from './download.ts';
import type { FetchDeps, Origin } from './install-deps.ts';
import { InstallError } from './install-error.ts';
import { findVersion, registryAddress } from './registry.ts';
import type { NpmSource } from './source.ts';
import type { Staging } from './staging.ts';
import { unpack } from './unpack.ts';

const ARCHIVE_LIMITS = { bytes: 67_108_864, stepMs: 30_000, totalMs: 600_000 };

export async function fetchNpm(source: NpmSource, staging: Staging, deps: FetchDeps): Promise<Origin> {
  const { signal, report } = deps;
  report({ doing: `Asking for ${source.name}` });
  const registry = await registryAddress(deps);
  const { version, archive, integrity } = await findVersion(source, registry, deps);
  const resolved = archive.href;
  for (const known of deps.known.flatMap(({ current, previous }) => (previous ? [current, previous] : [current]))) {
    const isThat = isNamed(known.source, source.name) && (known.resolved === resolved || known.version === version);
    if (isThat && known.integrity !== undefined && known.integrity !== integrity)
      throw otherBytes(`${source.name}@${version}`, known.integrity, integrity, 'when it was installed');
  }
  const file = join(staging.aside, 'package.tgz');
  const digest = createHash('sha512');
  const handle = await open(file, 'wx', 0o600);
  try {
    const doing = `Downloading ${source.name} ${version}`;
    let [done, total]: [number, number | undefined] = [0, undefined];
    await download(archive, deps, {
      ...ARCHIVE_LIMITS,
      accept: '*/*',
      onLength: (bytes) => {
        total = bytes;
      },
      onChunk: async (chunk) => {
        digest.update(chunk);
        await handle.writeFile(chunk);
        done += chunk.length;
        report({ doing, done, ...(total === undefined ? {} : { total }), unit: 'bytes' });
      },
    });
  } finally {
    await handle.close();
  }
  const got = `sha512-${digest.digest('base64')}`;
  if (got !== integrity) throw otherBytes(`${source.name}@${version}`, integrity, got, 'as the registry says');
  const unpacked = (files: number) => report({ doing: 'Unpacking', done: files, unit: 'files' });
  await unpack(file, staging.files, { gzip: true, signal, unpacked });
  return { source: source.text, resolved, integrity };
}

function isNamed(source: string, name: string): boolean {
  return source === `npm:${name}` || source.startsWith(`npm:${name}@`);
}

function otherBytes(what: string, wanted: string, got: string, when: string): InstallError {
  return new InstallError(
    'REFUSED',
    `The archive of ${what} is not the same: ${wanted} ${when}, ${got} now`,
    'nothing was changed; ask its author',
  );
}
