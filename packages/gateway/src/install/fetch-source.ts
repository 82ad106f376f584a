// The files of a source, whichever kind it is, in the staging folder, and where exactly they came from.
import type { InstalledVersion, LockedExtension } from '../host/sep/extension-lock.ts';
import { copyFolder } from './copy-folder.ts';
import type { InstallDeps } from './install-deps.ts';
import { InstallError } from './install-error.ts';
import type { Source } from './source.ts';
import type { Staging } from './staging.ts';

export type Origin = Pick<InstalledVersion, 'source' | 'resolved' | 'integrity' | 'commit'>;

export interface FetchDeps extends InstallDeps {
  /** What is installed already. */
  readonly known: readonly LockedExtension[];
}

export async function fetchSource(source: Source, staging: Staging, deps: FetchDeps): Promise<Origin> {
  if (source.kind !== 'folder') throw new InstallError('USAGE', `Cannot install from ${source.text}: only folders are fetched`);
  const copied = (files: number) => deps.report({ doing: 'Copying', done: files, unit: 'files' });
  await copyFolder(source.folder, staging.files, { signal: deps.signal, copied });
  return { source: source.text };
}
