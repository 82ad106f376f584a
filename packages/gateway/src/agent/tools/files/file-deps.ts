// What the file tools share: the bounds of the workspace, where long output goes, and how names for drafts are made.
import type { Clock } from '../../../kernel/clock.ts';
import type { Spool } from '../spool.ts';
import { ToolError, type ToolPlace } from '../tool.ts';
import { type Boundary, boundaryOf, locate, type Spot } from './workspace.ts';

export interface FileDeps {
  readonly clock: Clock;
  readonly newId: () => string;
  readonly spool: Spool;
  /** Folders that no tool enters: Tenon's home. */
  readonly homes: readonly string[];
}

export interface Located {
  readonly boundary: Boundary;
  readonly spot: Spot;
}

export async function locateIn(place: ToolPlace, path: string, { homes }: FileDeps): Promise<Located> {
  const boundary = await boundaryOf(place.workspace, homes);
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
