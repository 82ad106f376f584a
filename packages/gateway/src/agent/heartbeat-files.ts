// The files of heartbeats: what an agent is told, which it can write itself and is therefore read with care, and when the next
// one is due, which is kept so that a start neither begins the wait anew nor forgets what would have come.
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeFileDurably } from '../kernel/durable-file.ts';
import type { Log } from '../kernel/log.ts';

export const HEARTBEAT_FILE = 'HEARTBEAT.md';
const RHYTHM_FILE = 'heartbeat.json';
const MAX_CHARS = 32_768;
/** Characters of four bytes. */
const MAX_BYTES = 4 * MAX_CHARS;

export type HeartbeatPrompt =
  | { readonly text: string }
  /** `isThere`: somebody wrote one, and it cannot be used. */
  | { readonly wrong: string; readonly isThere: boolean };

/** From the first folder that has one: no link, not too long. */
export function readHeartbeatFile(folders: readonly string[]): HeartbeatPrompt {
  for (const folder of folders) {
    const found = readIn(join(folder, HEARTBEAT_FILE));
    if (found && ('wrong' in found || found.text !== '')) return found;
  }
  return { wrong: `there is no ${HEARTBEAT_FILE} in ${folders.join(' or ')}`, isThere: false };
}

/** Nothing where there is none. */
function readIn(file: string): HeartbeatPrompt | undefined {
  const wrong = (why: string) => ({ wrong: `${file} ${why}`, isThere: true });
  let handle: number;
  try {
    handle = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    return wrong(code === 'ELOOP' ? 'is a link; put the text there itself' : `cannot be read (${code})`);
  }
  try {
    const facts = fstatSync(handle);
    if (!facts.isFile()) return wrong('is not a file');
    if (facts.size > MAX_BYTES) return wrong(`has ${facts.size} bytes; at most ${MAX_CHARS} characters are told`);
    const text = readFileSync(handle, 'utf8').trim();
    return text.length > MAX_CHARS ? wrong(`has ${text.length} characters; at most ${MAX_CHARS} are told`) : { text };
  } catch (error) {
    return wrong(`cannot be read (${(error as NodeJS.ErrnoException).code})`);
  } finally {
    closeSync(handle);
  }
}

/** When the next one is due, over restarts. */
export function openRhythm({ home, everyMs, log }: { readonly home: string; readonly everyMs: number; readonly log: Log }) {
  const file = join(home, RHYTHM_FILE);
  return {
    keep(nextAt: number): void {
      try {
        writeFileDurably(file, JSON.stringify({ nextAt, everyMs }));
      } catch (error) {
        log.warn({ error }, 'cannot keep when the next heartbeat is due');
      }
    },
    /** Of a former life with the same interval. */
    last(): number | undefined {
      try {
        const kept = JSON.parse(readFileSync(file, 'utf8')) as { nextAt?: unknown; everyMs?: unknown };
        return kept.everyMs === everyMs && Number.isSafeInteger(kept.nextAt) ? (kept.nextAt as number) : undefined;
      } catch {
        // There was none, or it is damaged: it begins anew.
        return undefined;
      }
    },
  };
}
