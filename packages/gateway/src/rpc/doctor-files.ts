// Holds the files of attachments against their rows: which rows have no file, and which files nothing needs. It counts all and
// names the first; nothing is changed.
import { existsSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Finding, visible } from '@tenon/protocol';
import { ATTACHMENTS_FOLDER, DIGEST, placeOf } from '../store/attachment-files.ts';
import type { NeededFile } from '../store/attachments.ts';
import type { Store } from '../store/store.ts';

const CHECK = 'attachments';
const AT_ONCE = 500;
const NAMED = 5;
/** A file is there a moment before its row is. */
const SETTLED_MS = 600_000;

export async function findingsOfFiles(store: Pick<Store, 'read'>, home: string, now: number): Promise<Finding[]> {
  const [missing, strays] = [await rowsWithoutFile(store, home), await filesWithoutRow(store, home, now)];
  const findings: Finding[] = [];
  if (missing.count > 0)
    findings.push({
      check: CHECK,
      severity: 'warning',
      message: `${missing.count} of ${missing.seen} files of attachments are not there, or not whole: ${missing.first.join(', ')}`,
      remedy: 'Restore a backup that has them, or remove them: tenon attach ls, tenon attach rm <handle>',
    });
  if (strays.count > 0)
    findings.push({
      check: CHECK,
      severity: 'info',
      message: `${strays.count} files in ${join(home, ATTACHMENTS_FOLDER)} belong to no attachment: ${strays.first.join(', ')}`,
      remedy: 'The next start of the gateway removes them',
    });
  if (findings.length === 0) findings.push({ check: CHECK, severity: 'ok', message: `${missing.seen} files, each with its attachment` });
  return findings;
}

async function rowsWithoutFile(store: Pick<Store, 'read'>, home: string): Promise<{ seen: number; count: number; first: string[] }> {
  let [seen, count] = [0, 0];
  const first: string[] = [];
  for (let after = ''; ; ) {
    const { files } = await store.read('attachments.needed', { after, limit: AT_ONCE });
    for (const file of files) {
      seen++;
      if (isWhole(file, home)) continue;
      count++;
      if (first.length < NAMED) first.push(nameOf(file));
    }
    after = files.at(-1)?.sha256 ?? '';
    if (files.length < AT_ONCE) return { seen, count, first };
  }
}

function isWhole({ sha256, bytes }: NeededFile, home: string): boolean {
  if (!DIGEST.test(sha256)) return false;
  const found = lstatSync(placeOf(home, sha256), { throwIfNoEntry: false });
  return found?.isFile() === true && found.size === bytes;
}

function nameOf({ name, sessionKey }: NeededFile): string {
  return visible(sessionKey === undefined ? `"${name}"` : `"${name}" of ${sessionKey}`);
}

async function filesWithoutRow(store: Pick<Store, 'read'>, home: string, now: number): Promise<{ count: number; first: string[] }> {
  const folder = join(home, ATTACHMENTS_FOLDER);
  let count = 0;
  const first: string[] = [];
  for (const part of existsSync(folder) ? readdirSync(folder) : []) {
    if (!/^[0-9a-f]{2}$/.test(part)) continue;
    const names = readdirSync(join(folder, part));
    for (let from = 0; from < names.length; from += AT_ONCE) {
      const some = names.slice(from, from + AT_ONCE);
      const { digests } = await store.read('attachments.known', { digests: some.filter((name) => DIGEST.test(name)) });
      const known = new Set(digests);
      for (const name of some) {
        const found = known.has(name) ? undefined : lstatSync(join(folder, part, name), { throwIfNoEntry: false });
        if (!found || now - found.mtimeMs < SETTLED_MS) continue;
        count++;
        if (first.length < NAMED) first.push(visible(`${part}/${name.slice(0, 64)}`));
      }
    }
  }
  return { count, first };
}
