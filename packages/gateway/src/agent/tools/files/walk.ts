// The files below a folder, in the order of their names, within bounds. Links are not followed, Tenon's own folder is not
// entered, and the event loop gets its turn.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../../kernel/clock.ts';
import { type Boundary, isVisible, openFolder, type Spot } from './workspace.ts';

export interface WalkLimits {
  readonly maxEntries: number;
  readonly maxMs: number;
}

export interface Walk {
  /** Why it ended early. */
  stopped: string | undefined;
  entries: number;
  unreadable: number;
}

/** Folders that hold what programs made; looked into only when they are asked for by their path. */
export const SKIPPED: ReadonlySet<string> = new Set(['.git', 'node_modules']);

const MAX_DEPTH = 64;
const BREATH_MS = 8;

export async function* walk(
  start: Spot,
  boundary: Boundary,
  state: Walk,
  limits: WalkLimits,
  clock: Clock,
  signal: AbortSignal,
): AsyncGenerator<Spot> {
  const begun = clock.monotonic();
  const breathe = createBreath(clock);
  const waiting: { real: string; shown: string; depth: number }[] = [{ real: start.real, shown: start.shown, depth: 0 }];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    signal.throwIfAborted();
    const names = await listFolder(folder.real).catch(() => undefined);
    if (names === undefined) {
      state.unreadable++;
      continue;
    }
    const below: typeof waiting = [];
    for (const { name, kind } of names) {
      await breathe();
      signal.throwIfAborted();
      if (++state.entries > limits.maxEntries) state.stopped = `after ${limits.maxEntries} files and folders`;
      else if (clock.monotonic() - begun > limits.maxMs) state.stopped = `after ${limits.maxMs / 1000} seconds`;
      if (state.stopped !== undefined) return;
      const real = join(folder.real, name);
      const shown = folder.shown === '.' ? name : `${folder.shown}/${name}`;
      if (kind === 'other' || !isVisible(real, boundary)) continue;
      if (kind === 'folder' && SKIPPED.has(name)) continue;
      yield { real, shown, kind };
      if (kind === 'folder' && folder.depth < MAX_DEPTH) below.push({ real, shown, depth: folder.depth + 1 });
    }
    waiting.push(...below.reverse());
  }
}

export async function listFolder(real: string): Promise<{ name: string; kind: 'file' | 'folder' | 'other' }[]> {
  const folder = await openFolder(real);
  try {
    const found = await readdir(folder.path, { withFileTypes: true });
    return found
      .map((entry) => ({
        name: entry.name,
        kind: entry.isFile() ? ('file' as const) : entry.isDirectory() ? ('folder' as const) : ('other' as const),
      }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  } finally {
    await folder.close();
  }
}

/** Lets others have the event loop when this has held it for a while. */
export function createBreath(clock: Clock): () => Promise<void> | undefined {
  let last = clock.monotonic();
  return () => {
    if (clock.monotonic() - last < BREATH_MS) return undefined;
    return new Promise((resolve) =>
      setImmediate(() => {
        last = clock.monotonic();
        resolve();
      }),
    );
  };
}
