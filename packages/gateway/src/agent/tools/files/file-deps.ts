// What the file tools share: the bounds of the workspace, where long output goes, and how names for drafts are made.
import { realpathSync, statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Clock } from '../../../kernel/clock.ts';
import type { Spool } from '../spool.ts';
import { ToolError, type ToolPlace } from '../tool.ts';
import { type Boundary, boundaryOf, locate, type Spot } from './workspace.ts';

export interface FileDeps {
  readonly clock: Clock;
  readonly newId: () => string;
  readonly spool: Spool;
  /** Real paths of the folders that no tool enters: Tenon's home. Throws ToolError when one of them is not where it was. */
  readonly homes: () => Promise<readonly string[]>;
  /** The approved command that runs now and is held to this file. */
  readonly usedBy?: (real: string) => string | undefined;
}

/**
 * The folders by what they are, not only by their names: a program that renames a folder above one of them would otherwise
 * bring it out of hiding.
 */
export function keepHidden(folders: readonly string[]): () => Promise<readonly string[]> {
  const known = folders.map((folder) => {
    const { dev, ino } = statSync(folder);
    return { real: realpathSync(folder), dev, ino };
  });
  return () =>
    Promise.all(
      known.map(async ({ real, dev, ino }) => {
        const found = await stat(real).catch(() => undefined);
        if (found?.dev === dev && found.ino === ino) return real;
        throw new ToolError('MOVED', `Tenon's own folder ${real} is not where it was; no tool works until the gateway is restarted`);
      }),
    );
}

export interface Located {
  readonly boundary: Boundary;
  readonly spot: Spot;
}

export async function locateIn(place: ToolPlace, path: string, { homes, usedBy }: FileDeps): Promise<Located> {
  const boundary = await boundaryOf(place.workspace, await homes(), usedBy);
  return { boundary, spot: await locate(path, boundary) };
}

export async function locateFile(place: ToolPlace, path: string, deps: FileDeps): Promise<Located> {
  const located = await locateIn(place, path, deps);
  if (located.spot.kind === 'folder') throw new ToolError('NOT_A_FILE', `${located.spot.shown} is a folder; list it with ls`);
  if (located.spot.kind === 'nothing') throw new ToolError('NOT_FOUND', `${located.spot.shown} is not there`);
  return located;
}

export async function locateFolder(place: ToolPlace, path: string, deps: FileDeps): Promise<Located> {
  const located = await locateIn(place, path, deps);
  if (located.spot.kind === 'nothing') throw new ToolError('NOT_FOUND', `${located.spot.shown} is not there`);
  return located;
}
