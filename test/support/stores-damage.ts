// Stores as crashes and disks leave them: a database with a write-ahead log that was never folded in, and that log cut.
import assert from 'node:assert/strict';
import { copyFileSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSqliteRunner } from '../../packages/gateway/src/store/sqlite-run.ts';
import { STORE_FILE } from '../../packages/gateway/src/store/open.ts';
import { openDatabase } from '../../packages/gateway/src/store/sqlite-file.ts';
import { createSession } from '../../packages/gateway/src/store/sessions.ts';

export interface StoreWithWal {
  readonly folder: string;
  readonly commits: number;
}

/** One commit for each session, half of them folded into the database and half in the log; the files as kill -9 leaves them. */
export function makeStoreWithWal(folder: string, commits: number): StoreWithWal {
  const inUse = `${folder}-in-use`;
  mkdirSync(inUse, { recursive: true });
  const { database } = openDatabase({ file: join(inUse, STORE_FILE), maxBytes: 0, now: 1 });
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
  return { folder, commits };
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
