// Stores as crashes and disks leave them: a database with a write-ahead log that was never folded in, and that log cut.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { copyFileSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StoreOpenError } from '../../packages/gateway/src/store/failure.ts';
import { schemaVersion, storedTables } from '../../packages/gateway/src/store/migrations.ts';
import { createSqliteRunner } from '../../packages/gateway/src/store/sqlite-run.ts';
import { STORE_FILE } from '../../packages/gateway/src/store/open.ts';
import { openDatabase } from '../../packages/gateway/src/store/sqlite-file.ts';
import type { StreamHead } from '../../packages/gateway/src/store/stream-head.ts';
import type { Random } from './random.ts';
import { createSession } from '../../packages/gateway/src/store/sessions.ts';

export interface StoreWithWal {
  readonly folder: string;
  readonly commits: number;
  /** The head of its stream, as a gateway keeps it. */
  readonly kept: StreamHead;
}

/** One commit for each session, half of them folded into the database and half in the log; the files as kill -9 leaves them. */
export function makeStoreWithWal(folder: string, commits: number): StoreWithWal {
  const inUse = `${folder}-in-use`;
  mkdirSync(inUse, { recursive: true });
  const { database, stream } = openDatabase({ file: join(inUse, STORE_FILE), maxBytes: 0, now: 1 });
  const runner = createSqliteRunner(database);
  for (let n = 0; n < commits; n++) {
    database.exec('begin');
    const effects = { emitted: [], auditHead: undefined };
    runner.run(createSession({ key: `agent:main:s${n}`, fields: { title: `title ${n} ${'x'.repeat(400)}` }, at: n }, 'sqlite'), effects);
    database.exec(
      `insert into events values (${n + 1}, 'sessions.changed', '${'p'.repeat(500)}', null, ${n}); update stream set head = ${n + 1}; commit`,
    );
    if (n === Math.floor(commits / 2)) database.exec('pragma wal_checkpoint(truncate)');
  }
  mkdirSync(folder);
  for (const name of [STORE_FILE, `${STORE_FILE}-wal`]) copyFileSync(join(inUse, name), join(folder, name));
  database.close();
  rmSync(inUse, { recursive: true });
  return { folder, commits, kept: { epoch: stream.epoch, head: commits, schema: schemaVersion } };
}

/** Cuts the log at every so many bytes of its end; each time the store opens, and has the first of the commits and no other. */
export function cutWal(origin: StoreWithWal, folder: string, cut: { last: number; every: number; onCut?: (done: number) => void }) {
  cpSync(origin.folder, folder, { recursive: true });
  const file = join(folder, STORE_FILE);
  const database = readFileSync(file);
  const log = readFileSync(`${file}-wal`);
  const states = new Set<number>();
  let cuts = 0;
  let most = origin.commits;
  for (let length = log.length; length >= Math.max(0, log.length - cut.last); length -= cut.every) {
    writeFileSync(file, database);
    writeFileSync(`${file}-wal`, log.subarray(0, length));
    rmSync(`${file}-shm`, { force: true });
    const count = commitsIn(file, `log cut at ${length} of ${log.length}`);
    assert.ok(count <= most, `a shorter log gave more commits: ${count} at ${length}`);
    most = count;
    states.add(count);
    cuts++;
    cut.onCut?.(cuts);
  }
  rmSync(folder, { recursive: true });
  assert.ok(states.has(origin.commits), 'the whole log has all commits');
  return { cuts, different: states.size };
}

export interface Flips {
  readonly flips: number;
  readonly random: Random;
  readonly isOver?: () => boolean;
  readonly onFlip?: (done: number) => void;
}

/**
 * Flips single bytes of the log of a store that was left by kill -9, one at a time, beside the head of the stream that was kept: each time the
 * store opens with every row, or is refused and left as it is.
 */
export function flipWalBytes(
  origin: { readonly folder: string; readonly kept: StreamHead },
  folder: string,
  { flips, random, isOver = () => false, onFlip }: Flips,
): { refused: number; whole: number } {
  const { kept } = origin;
  mkdirSync(folder);
  const file = join(folder, STORE_FILE);
  const database = readFileSync(join(origin.folder, STORE_FILE));
  const log = readFileSync(join(origin.folder, `${STORE_FILE}-wal`));
  const put = (bytes: Buffer) => {
    writeFileSync(file, database);
    writeFileSync(`${file}-wal`, bytes);
    rmSync(`${file}-shm`, { force: true });
  };
  put(log);
  const all = rowsIn(file, kept);
  const counts = { refused: 0, whole: 0 };
  for (let done = 0; done < flips && !isOver(); done++) {
    // The header of the log and those of its frames are hit more often than by chance.
    const frame = 32 + random.below((log.length - 32) / FRAME_BYTES) * FRAME_BYTES;
    const offset = [random.below(32), frame + random.below(24), random.below(log.length), random.below(log.length)][done % 4] as number;
    const bits = 1 + random.below(255);
    const flipped = Buffer.from(log);
    flipped[offset] = (flipped[offset] as number) ^ bits;
    put(flipped);
    const where = `byte ${offset} of ${log.length} with ${bits}`;
    try {
      assert.equal(rowsIn(file, kept), all, `${where}: the store opened without all that was acknowledged`);
      counts.whole++;
    } catch (error) {
      if (!(error instanceof StoreOpenError)) throw error;
      assert.equal(error.reason, 'damaged', `${where}: ${error.message}`);
      assert.ok(error.message.includes(file) && error.message.includes('tenon restore <backup>'), `${where}: ${error.message}`);
      assert.ok(readFileSync(file).equals(database), `${where}: the database was changed`);
      assert.ok(readFileSync(`${file}-wal`).equals(flipped), `${where}: the log was changed`);
      counts.refused++;
    }
    onFlip?.(done + 1);
  }
  rmSync(folder, { recursive: true });
  return counts;
}

const FRAME_BYTES = 24 + 4096;

/** A digest of everything that is stored. */
function rowsIn(file: string, kept: StreamHead): string {
  const { database } = openDatabase({ file, maxBytes: 0, now: 1, kept });
  try {
    const digest = createHash('sha256');
    for (const table of storedTables) {
      const rows = database.prepare(`select * from ${table}`).all();
      digest.update(`${table} ${JSON.stringify(rows)}`);
    }
    return digest.digest('hex');
  } finally {
    database.close();
  }
}

function commitsIn(file: string, where: string): number {
  const { database, stream } = openDatabase({ file, maxBytes: 0, now: 1 });
  try {
    const keys = database
      .prepare('select key from sessions order by ord')
      .all()
      .map((row) => row.key);
    assert.deepEqual(
      keys,
      keys.map((_, n) => `agent:main:s${n}`),
      where,
    );
    const { n, last } = database.prepare('select count(*) as n, max(seq) as last from events').get() as { n: number; last: number };
    assert.deepEqual([n, last, stream.head], [keys.length, keys.length, keys.length], `${where}: session, event and position go together`);
    return keys.length;
  } finally {
    database.close();
  }
}
