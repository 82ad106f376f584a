// The files that a command names, by their digests: a script that is edited between the approval and the run is noticed.
import { createHash } from 'node:crypto';
import { basename, join } from 'node:path';
import { isInside } from '../../kernel/sandbox/profile.ts';
import { type Boundary, locate, readWhole, type Spot } from './files/workspace.ts';

const MAX_FILES = 64;
const MAX_BYTES = 1_048_576;

/** `path` to digest, for each word that is the path of a file in the workspace, also behind a `=`. */
export async function digestsOf(words: readonly string[], cwd: string, path: string, boundary: Boundary): Promise<Record<string, string>> {
  const candidates = new Set(words.flatMap((word) => candidatesOf(word)).map((word) => (word.startsWith('/') ? word : join(cwd, word))));
  const program = words[0];
  // A program that is found by name in a folder of the workspace is one of its files, too.
  if (program !== undefined && !program.includes('/')) {
    for (const folder of path.split(':')) if (isInside(folder, boundary.root)) candidates.add(join(folder, program));
  }
  const digests: Record<string, string> = {};
  for (const candidate of candidates) {
    if (Object.keys(digests).length === MAX_FILES) break;
    const spot = await locate(candidate, boundary).catch(() => undefined);
    if (spot?.kind !== 'file' || Object.hasOwn(digests, spot.shown) || basename(spot.real) === '') continue;
    digests[spot.shown] = await digestOf(spot);
  }
  return digests;
}

function candidatesOf(word: string): string[] {
  if (word === '' || word.length > 4_096) return [];
  const equals = word.indexOf('=');
  return equals < 0 ? [word] : [word, word.slice(equals + 1)].filter((part) => part !== '');
}

async function digestOf(spot: Spot): Promise<string> {
  try {
    return `sha256:${createHash('sha256')
      .update(await readWhole(spot, MAX_BYTES))
      .digest('hex')}`;
  } catch (error) {
    return `not compared: ${(error as { code?: string }).code === 'TOO_LARGE' ? `over ${MAX_BYTES} bytes` : 'cannot be read'}`;
  }
}
