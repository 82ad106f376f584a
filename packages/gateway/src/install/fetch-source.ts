// The files of a source, whichever kind it is, in the staging folder, and where exactly they came from.
import { isInside } from '../host/tree-hash.ts';
import { copyFolder } from './copy-folder.ts';
import { addDependencies } from './dependencies.ts';
import { fetchGit } from './fetch-git.ts';
import { fetchNpm } from './fetch-npm.ts';
import type { FetchDeps, Origin } from './install-deps.ts';
import { InstallError } from './install-error.ts';
import type { Source } from './source.ts';
import type { Staging } from './staging.ts';

export async function fetchSource(source: Source, staging: Staging, deps: FetchDeps): Promise<Origin> {
  const origin = await fetchFiles(source, staging, deps);
  await addDependencies(staging, deps);
  return origin;
}

async function fetchFiles(source: Source, staging: Staging, deps: FetchDeps): Promise<Origin> {
  if (source.kind === 'npm') return fetchNpm(source, staging, deps);
  if (source.kind === 'git') return fetchGit(source, staging, deps);
  // It would be copied into itself, with every secret in it.
  if (isInside(source.folder, deps.home))
    throw new InstallError('REFUSED', `${source.folder} is no folder of an extension: the home folder is in it`);
  const copied = (files: number) => deps.report({ doing: 'Copying', done: files, unit: 'files' });
  await copyFolder(source.folder, staging.files, { signal: deps.signal, copied });
  return { source: source.text };
}
