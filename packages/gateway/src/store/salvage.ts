// The way out of a store that lost commits, for an operator who has no backup that is better: what can still be read stays, the rest is
// given up. The files as they were found are kept under other names first.
import { copyFileSync, existsSync, rmSync, statSync, truncateSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { syncFile, syncFolder, writeFileDurably } from '../kernel/durable-file.ts';
import { AUDIT_HEAD_FILE } from './audit-head.ts';
import { StoreOpenError } from './failure.ts';
import { beginNewLife } from './new-life.ts';
import { checkOwner, openDatabase, streamLoss, walLoss } from './sqlite-file.ts';
import { createSqliteRunner } from './sqlite-run.ts';
import { streamState } from './stream.ts';
import type { StreamHead } from './stream-head.ts';
import { scanWal } from './wal-scan.ts';

export interface Salvaged {
  /** What was wrong. */
  readonly reason: string;
  /** The files as they were found; a write-ahead log lies beside the first, with `-wal`. */
  readonly kept: readonly string[];
  /** Where the event stream ends now. */
  readonly position: number;
}

/** Undefined, and nothing is changed, where nothing is lost. Needs the lock of the home. */
export function salvageSqlite(storeFile: string, known: StreamHead | undefined, at: number): Salvaged | undefined {
  const reason = lossOf(storeFile, known);
  if (reason === undefined) return undefined;
  const log = `${storeFile}-wal`;
  const best = bestOf(storeFile);
  if (!best)
    throw new StoreOpenError(
      'damaged',
      `${storeFile} cannot be salvaged: ${reason}, and what is left is not sound; use: tenon restore <backup>`,
    );
  const kept = keepCopies(storeFile, at);
  // Step by step in place: wherever this is cut off, the store is refused as before, and can be salvaged again.
  if (existsSync(log)) {
    truncateSync(log, best.walBytes);
    syncFile(log);
  }
  rmSync(`${storeFile}-shm`, { force: true });
  const { database } = openDatabase({ file: storeFile, maxBytes: 0, now: at, lossAccepted: true });
  try {
    const details = { reason, position: best.position, ...(known ? { acknowledged: known.head } : {}), kept: [...kept] };
    const head = beginNewLife(database, { actor: 'operator', action: 'store.salvage', target: 'store', details, at });
    writeFileDurably(join(dirname(storeFile), AUDIT_HEAD_FILE), `${JSON.stringify(head)}\n`);
  } finally {
    database.close();
  }
  return { reason, kept, position: best.position };
}

function lossOf(storeFile: string, known: StreamHead | undefined): string | undefined {
  const loss = walLoss(storeFile);
  if (loss !== undefined) return loss;
  const database = new DatabaseSync(storeFile, { readOnly: true, timeout: 5000 });
  try {
    checkOwner(database, storeFile);
    return streamLoss(database, known);
  } finally {
    database.close();
  }
}

interface Rest {
  /** As much of the log as is used. */
  readonly walBytes: number;
  readonly position: number;
}

/**
 * The log up to the damage, or the database without it: which of them holds more depends on how much of the log had been taken in, which
 * nobody knows any more. Pages of two moments do not pass the check.
 */
function bestOf(storeFile: string): Rest | undefined {
  const log = `${storeFile}-wal`;
  const goodBytes = existsSync(log) ? scanWal(log).goodBytes : 0;
  const draft = `${storeFile}.salvage`;
  const found: Rest[] = [];
  for (const walBytes of new Set([goodBytes, 0])) {
    clear(draft);
    copyFileSync(storeFile, draft);
    if (walBytes > 0) {
      copyFileSync(log, `${draft}-wal`);
      truncateSync(`${draft}-wal`, walBytes);
    }
    const position = soundUpTo(draft);
    if (position !== undefined) found.push({ walBytes, position });
  }
  clear(draft);
  return found.sort((a, b) => b.position - a.position || b.walBytes - a.walBytes)[0];
}

/** Where its stream ends, if it is sound. */
function soundUpTo(file: string): number | undefined {
  const database = new DatabaseSync(file);
  try {
    const [row] = database.prepare('pragma integrity_check(1)').all() as { integrity_check: string }[];
    if (row?.integrity_check !== 'ok') return undefined;
    const { head } = createSqliteRunner(database).run(streamState({}), { emitted: [], auditHead: undefined });
    const { n, first, last } = database.prepare('select count(*) as n, min(seq) as first, max(seq) as last from events').get() as {
      n: number;
      first: number | null;
      last: number | null;
    };
    const isWhole = first === null || last === null || (last === head && n === last - first + 1);
    return isWhole ? head : undefined;
  } catch {
    return undefined;
  } finally {
    database.close();
  }
}

function keepCopies(storeFile: string, at: number): string[] {
  const home = dirname(storeFile);
  const copies = [
    [storeFile, `${storeFile}.corrupt-${at}`],
    [`${storeFile}-wal`, `${storeFile}.corrupt-${at}-wal`],
    [join(home, AUDIT_HEAD_FILE), join(home, `${AUDIT_HEAD_FILE}.corrupt-${at}`)],
  ] as const;
  const made: string[] = [];
  for (const [from, to] of copies) {
    if (!existsSync(from) || statSync(from).size === 0) continue;
    copyFileSync(from, to);
    syncFile(to);
    made.push(to);
  }
  syncFolder(home);
  return made;
}

function clear(draft: string): void {
  for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(draft + suffix, { force: true });
}
