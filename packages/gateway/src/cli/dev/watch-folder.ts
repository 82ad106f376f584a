// Tells when something in a folder has changed and is at rest again. It looks every so often: watchers of the system miss what
// editors do, and differ from system to system. What programs put there by themselves is passed over.
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const LOOK_MS = 250;
const MOST_FILES = 5_000;
const PASSED_OVER = new Set(['node_modules', '.git', '__pycache__', '.venv', '.DS_Store']);

/** Resolves when `signal` aborts. `changed` is waited for; what changes meanwhile is told after it. */
export async function watchFolder(folder: string, signal: AbortSignal, changed: () => Promise<void>): Promise<void> {
  let told = await signatureOf(folder);
  let last = told;
  while (!signal.aborted) {
    await sleep(LOOK_MS, undefined, { signal }).catch(() => {});
    if (signal.aborted) return;
    const now = await signatureOf(folder);
    const isAtRest = now === last;
    last = now;
    if (!isAtRest || now === told) continue;
    told = now;
    await changed();
  }
}

/** Of the files and what they looked like when they were last written. */
async function signatureOf(folder: string): Promise<string> {
  const seen: string[] = [];
  const visit = async (path: string): Promise<void> => {
    const entries = await readdir(path, { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      if (PASSED_OVER.has(entry.name) || entry.name.endsWith('.pyc') || seen.length >= MOST_FILES) continue;
      const inner = join(path, entry.name);
      if (entry.isDirectory()) await visit(inner);
      else {
        const found = await lstat(inner).catch(() => undefined);
        if (found) seen.push(`${inner}\0${found.mtimeMs}\0${found.size}\0${found.mode}`);
      }
    }
  };
  await visit(folder);
  return seen.sort().join('\n');
}
