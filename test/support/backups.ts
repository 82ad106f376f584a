// Backups that somebody changed: by hand and sealed again, as an attacker would, or by chance.
import assert from 'node:assert/strict';
import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { openBackup } from '../../packages/gateway/src/store/backup.ts';
import { checkSeal, sealBackup } from '../../packages/gateway/src/store/backup-seal.ts';
import { StoreOpenError } from '../../packages/gateway/src/store/failure.ts';
import type { Random } from './random.ts';

export function editBackup(file: string, statements: string): void {
  const seal = checkSeal(file);
  if (seal) truncateSync(file, seal.bytes);
  const database = new DatabaseSync(file);
  database.exec(statements);
  database.close();
  if (seal) sealBackup(file);
}

/** As backups were before they had seals. */
export function unsealBackup(file: string): void {
  truncateSync(file, checkSeal(file)?.bytes);
  editBackup(file, 'drop table backup_seal');
}

const HOME_FILES = ['tenon.toml', 'token', 'home.key', 'audit-head.json'];

/** Flips single bytes, one at a time: every one is found. The backup is as it was afterwards. */
export function flipBackupBytes(
  file: string,
  {
    flips,
    random,
    isOver = () => false,
    onFlip,
  }: { flips: number; random: Random; isOver?: () => boolean; onFlip?: (done: number) => void },
): void {
  const bytes = readFileSync(file);
  for (let done = 0; done < flips && !isOver(); done++) {
    // Its first page and its seal are hit more often than by chance.
    const offset = [random.below(4_096), bytes.length - 1 - random.below(200), random.below(bytes.length)][done % 3] as number;
    const bits = 1 + random.below(255);
    bytes[offset] = (bytes[offset] as number) ^ bits;
    writeFileSync(file, bytes);
    bytes[offset] = (bytes[offset] as number) ^ bits;
    assert.throws(
      () => openBackup(file, HOME_FILES).close(),
      (error) => error instanceof StoreOpenError && error.reason === 'damaged' && error.message.startsWith(`${file} is damaged: `),
      `byte ${offset} of ${bytes.length} with ${bits}`,
    );
    onFlip?.(done + 1);
  }
  writeFileSync(file, bytes);
  openBackup(file, HOME_FILES).close();
}

export function flipByte(file: string, offset: number, bits: number): void {
  const bytes = readFileSync(file);
  bytes[offset] = (bytes[offset] as number) ^ bits;
  writeFileSync(file, bytes);
}
