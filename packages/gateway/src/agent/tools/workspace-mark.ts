// One digest over the files of a workspace that may be code, by name, inode, size and time of change: whatever a command loads
// that nobody can foresee, it is noticed when any of it changed between the question and the start. Nothing is read.
import { createHash } from 'node:crypto';
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { limits } from '@tenon/protocol';
import type { Clock } from '../../kernel/clock.ts';
import { createBreath, listFolder } from './files/walk.ts';
import { type Boundary, isVisible } from './files/workspace.ts';

export interface WorkspaceMark {
  readonly digest: string;
  /** There are more files than are looked at. */
  readonly isPartial: boolean;
  /** When the last of them was changed. */
  readonly newest: bigint;
  /** Those that were changed after a time, a few of them. */
  readonly since: readonly string[];
}

/** Endings of what programs keep while they run, and of what nobody runs. */
const DATA =
  /\.(log|txt|md|csv|tsv|png|jpe?g|gif|webp|ico|pdf|mp[34]|webm|wav|zip|gz|bz2|xz|db|sqlite3?|db-(wal|shm|journal)|sqlite3?-(wal|shm|journal)|pid|sock|tmp|out)$/i;
const MAX_TOLD = 3;

export async function markOf(
  boundary: Boundary,
  { isAnyFile, after, clock }: { isAnyFile: boolean; after?: bigint; clock: Clock },
): Promise<WorkspaceMark> {
  const hash = createHash('sha256');
  const breathe = createBreath(clock);
  const since: string[] = [];
  const waiting: string[] = [''];
  let newest = 0n;
  let left: number = limits.markedFiles.value;
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    const entries = await listFolder(join(boundary.root, folder)).catch(() => []);
    for (const { name, kind } of entries) {
      const shown = folder === '' ? name : `${folder}/${name}`;
      const real = join(boundary.root, shown);
      if (!isVisible(real, boundary) || (!isAnyFile && isData(shown, kind))) continue;
      if (--left < 0) return { digest: `sha256:${hash.digest('hex')}`, isPartial: true, newest, since };
      if (kind === 'folder') waiting.push(shown);
      else {
        const found = await lstat(real, { bigint: true }).catch(() => undefined);
        if (!found) continue;
        hash.update(`${shown}\0${found.ino}\0${found.size}\0${found.mode}\0${found.ctimeNs}\n`);
        if (found.ctimeNs > newest) newest = found.ctimeNs;
        if (after !== undefined && found.ctimeNs > after && since.length < MAX_TOLD) since.push(shown);
      }
      await breathe();
    }
  }
  return { digest: `sha256:${hash.digest('hex')}`, isPartial: false, newest, since };
}

/** Of `.git`, only what makes git run something. */
function isData(shown: string, kind: string): boolean {
  if (shown.startsWith('.git/')) return !/^\.git\/(config|hooks|info)(\/|$)/.test(shown);
  return kind === 'file' && DATA.test(shown);
}
