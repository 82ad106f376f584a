// Extensions of the home and of the workspaces of agents. Those of a workspace are used only where the operator has said that the
// workspace is trusted; then they go before those of the home that have the same name. Whatever is not used is listed with the reason.
import { lstat, realpath } from 'node:fs/promises';
import { isAbsolute, join, resolve } from 'node:path';
import { extensionFolders } from '@tenon/protocol/sep/wire';
import type { NotFit } from '../../discover.ts';
import { unfitFor } from '../../tree-hash.ts';
import { type FoundExtension, type FoundExtensions, findExtensions, type NamedFolder } from './find-extensions.ts';

export interface Places {
  readonly home: string;
  /** Those of the home that were installed, wherever they are. */
  readonly installed?: readonly NamedFolder[];
  /** Of the agents, that of the default agent first. */
  readonly workspaces: readonly string[];
  /** The setting `extensions.trustedWorkspaces`. */
  readonly trusted: readonly string[];
  readonly uid: number | undefined;
}

/** Contract: does not throw for what it finds. */
export async function findEverywhere({ home, installed = [], workspaces, trusted, uid }: Places): Promise<FoundExtensions> {
  const own = join(home, ...extensionFolders.home);
  const ownReal = await realpath(own).catch(() => own);
  const found = new Map<string, FoundExtension>();
  const rejected: NotFit[] = [];
  const trustedOnes = await trustedWorkspaces(home, trusted);

  for (const workspace of await realPaths(workspaces)) {
    for (const folder of extensionFolders.workspace) {
      const place = join(workspace, folder);
      // A workspace may hold the home of the gateway, whose extensions are its own.
      if ((await realpath(place).catch(() => undefined)) === ownReal) continue;
      const there = await findExtensions(place, uid);
      const unusable = trustedOnes.has(workspace)
        ? await unfitPlace(workspace, folder, uid)
        : `its workspace ${workspace} is not trusted; name it in the setting extensions.trustedWorkspaces, and start the gateway anew`;
      rejected.push(...there.rejected.map((each) => (unusable === undefined ? each : { ...each, reason: unusable })));
      for (const each of there.found) {
        const first = found.get(each.manifest.name);
        if (unusable !== undefined) rejected.push(unused(each, unusable));
        else if (first) rejected.push(unused(each, `its name "${each.manifest.name}" belongs to the extension in ${first.folder}`));
        else found.set(each.manifest.name, { ...each, workspace });
      }
    }
  }
  const global = await findExtensions(own, uid, installed);
  for (const each of global.found) {
    const first = found.get(each.manifest.name);
    if (first) rejected.push(unused(each, `the extension of the same name of the workspace ${first.workspace} is used in its place`));
    else found.set(each.manifest.name, each);
  }
  const sorted = [...found.values()].sort((a, b) => (a.manifest.name < b.manifest.name ? -1 : 1));
  return { found: sorted, rejected: [...global.rejected, ...rejected] };
}

/** Their real paths. */
export async function trustedWorkspaces(home: string, trusted: readonly string[]): Promise<ReadonlySet<string>> {
  return new Set(await realPaths(trusted.map((each) => (isAbsolute(each) ? each : resolve(home, each)))));
}

async function realPaths(paths: readonly string[]): Promise<string[]> {
  const real = await Promise.all(paths.map((path) => realpath(path).catch(() => undefined)));
  return [...new Set(real.filter((path) => path !== undefined))];
}

/** A link on the way would lead to files that nobody has looked at here, and a folder of somebody else's could change. */
async function unfitPlace(workspace: string, folder: string, uid: number | undefined): Promise<string | undefined> {
  let path = workspace;
  for (const part of folder.split('/')) {
    path = join(path, part);
    const found = await lstat(path).catch(() => undefined);
    if (!found) return undefined;
    if (found.isSymbolicLink()) return `${path} is a link; put the folder itself there`;
    const unfit = unfitFor(found, path, { uid });
    if (unfit !== undefined) return unfit;
  }
  return undefined;
}

function unused({ folder, asPlugin }: FoundExtension, reason: string): NotFit {
  return { origin: 'path', folder, id: asPlugin.id, manifest: asPlugin, reason, isExtension: true };
}
