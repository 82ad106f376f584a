import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { createRandom } from '../../../../test/support/random.ts';
import { verifies } from '../../../../test/support/verifies.ts';
import { scanWal } from './wal-scan.ts';

const folder = mkdtempSync(join(tmpdir(), 'tenon-wal-'));
after(() => rmSync(folder, { recursive: true }));

const PAGE = 512;
const FRAME = 24 + PAGE;
let files = 0;

/** A database with small pages, and its log as it is while the work goes on. */
function withLog(work: (database: DatabaseSync, log: () => Buffer, reopen: (log: Buffer) => DatabaseSync) => void): void {
  const open = (file: string) => {
    const opened = new DatabaseSync(file);
    opened.exec(`pragma page_size = ${PAGE}; pragma journal_mode = wal; pragma wal_autocheckpoint = 0; pragma cache_size = 5`);
    opens.push(opened);
    return opened;
  };
  const opens: DatabaseSync[] = [];
  let file = join(folder, `${files++}.db`);
  const database = open(file);
  database.exec('create table t (n integer primary key, text)');
  database.exec('pragma wal_checkpoint(truncate)');
  const reopen = (log: Buffer) => {
    const copy = join(folder, `${files++}.db`);
    copyFileSync(file, copy);
    writeFileSync(`${copy}-wal`, log);
    file = copy;
    return open(copy);
  };
  work(database, () => readFileSync(`${file}-wal`), reopen);
  for (const opened of opens) opened.close();
}

function commit(database: DatabaseSync, times: number, bytes = 700): void {
  for (let n = 0; n < times; n++) database.exec(`insert into t (text) values ('${'x'.repeat(bytes)}')`);
}

function verdictOf(log: Uint8Array) {
  const file = join(folder, 'log');
  writeFileSync(file, log);
  return scanWal(file);
}

/** Where each transaction ends. */
function commitEnds(log: Buffer): number[] {
  const ends: number[] = [];
  for (let at = 32; at + FRAME <= log.length; at += FRAME) if (log.readUInt32BE(at + 4) !== 0) ends.push(at + FRAME);
  return ends;
}

function flipped(log: Buffer, offset: number, bits: number): Buffer {
  const copy = Buffer.from(log);
  copy[offset] = (copy[offset] as number) ^ bits;
  return copy;
}

test('a byte that is flipped before the last transaction is damage, and its frame is named', () => {
  verifies('R13:wal');
  withLog((database, log) => {
    commit(database, 6);
    const whole = log();
    const ends = commitEnds(whole);
    assert.deepEqual(verdictOf(whole), { kind: 'sound', goodBytes: whole.length });
    const random = createRandom(6);
    const lastBegins = ends.at(-2) as number;
    for (let offset = 0; offset < lastBegins; offset++) {
      const inFrame = offset < 32 ? 0 : (offset - 32) % FRAME;
      // Each byte of every header, and a few of each page.
      if (inFrame >= 24 && random.below(64) > 0) continue;
      const bits = 1 << random.below(8);
      const verdict = verdictOf(flipped(whole, offset, bits));
      // The mark of the commit before the last can be flipped away: then the two look like one that was not finished.
      if (verdict.kind === 'sound' && offset >= lastBegins - FRAME && inFrame >= 4 && inFrame < 8) continue;
      assert.equal(verdict.kind, 'damaged', `bits ${bits} of byte ${offset}`);
      const frameAt = offset < 32 ? 0 : 32 + Math.floor((offset - 32) / FRAME) * FRAME;
      assert.equal((verdict as { offset: number }).offset, frameAt, `byte ${offset}`);
      assert.equal(verdict.goodBytes, offset < 32 ? 0 : Math.max(32, ...ends.filter((end) => end <= frameAt)));
    }
  });
});

test('a hole of many frames is damage while commits follow it', () => {
  verifies('R13:wal');
  withLog((database, log) => {
    commit(database, 12);
    const holed = log().fill(0, 32 + 2 * FRAME + 100, 32 + 9 * FRAME + 7);
    assert.equal(verdictOf(holed).kind, 'damaged');
  });
});

test('a last transaction of which any frames are missing is a torn end', () => {
  verifies('R02');
  withLog((database, log) => {
    commit(database, 5);
    commit(database, 1, 6_000);
    const whole = log();
    const [begin, end] = commitEnds(whole).slice(-2) as [number, number];
    const frames = (end - begin) / FRAME;
    assert.ok(frames >= 8, `${frames}`);
    const random = createRandom(7);
    for (let round = 0; round < 100; round++) {
      const torn = Buffer.from(whole);
      for (let n = 0; n < frames; n++) {
        const at = begin + n * FRAME;
        if (random.below(2) === 0) torn.fill(0, at + random.below(FRAME), at + FRAME);
      }
      const verdict = verdictOf(torn.subarray(0, random.below(2) === 0 ? torn.length : begin + random.below(end - begin)));
      assert.equal(verdict.kind, 'sound', `round ${round}`);
      assert.ok(verdict.goodBytes === begin || verdict.goodBytes === end);
    }
  });
});

test('what is left of transactions that were rolled back or torn is no damage', () => {
  verifies('R02');
  withLog((database, log, reopen) => {
    commit(database, 3);
    // More than the cache holds goes to the log before it is rolled back.
    database.exec('begin');
    commit(database, 60);
    database.exec('rollback');
    commit(database, 1);
    assert.equal(verdictOf(log()).kind, 'sound');

    // Torn twice, each time after its commit mark was written, and gone on with: the ends of both are still there.
    let current = database;
    for (const bytes of [9_000, 5_000]) {
      const before = commitEnds(log()).length;
      commit(current, 1, bytes);
      const whole = log();
      const torn = flipped(whole, (commitEnds(whole)[before - 1] as number) + 300, 255);
      current = reopen(torn);
      commit(current, 1, 10);
      const verdict = verdictOf(log());
      assert.equal(verdict.kind, 'sound');
      assert.ok(verdict.goodBytes < log().length, 'nothing was left behind the end');
    }
  });
});

test('frames from before the log was restarted are no damage, and damage in front of them is found', () => {
  verifies('R13:wal', 'R02');
  withLog((database, log) => {
    commit(database, 30);
    database.exec('pragma wal_checkpoint(restart)');
    commit(database, 4);
    const whole = log();
    const verdict = verdictOf(whole);
    assert.equal(verdict.kind, 'sound');
    assert.ok(verdict.goodBytes < whole.length / 2);
    assert.equal(verdictOf(flipped(whole, 32 + FRAME + 200, 4)).kind, 'damaged');
    // In the old part nobody reads it.
    assert.equal(verdictOf(flipped(whole, whole.length - 200, 4)).kind, 'sound');
  });
});

test('a log that is empty, cut in its header or nothing but noise is none', () => {
  verifies('R02');
  const random = createRandom(8);
  const noise = Buffer.from(Array.from({ length: 40_000 }, () => random.below(256)));
  for (const bytes of [Buffer.alloc(0), noise.subarray(0, 31), noise.subarray(0, 32), Buffer.alloc(40_000), noise])
    assert.deepEqual(verdictOf(bytes), { kind: 'sound', goodBytes: 0 });
});
