// The seal of a backup: digests of every piece of the file, behind its last page, where SQLite does not look. With it any byte that
// changed is found before anything is restored. It is no signature: somebody who changes a backup on purpose can seal it again.
//
//   the SQLite file | sha256 of each piece | magic (16), bytes of the file (8), bytes of a piece (8), sha256 of all since the file (32)
import { createHash } from 'node:crypto';
import { appendFileSync, closeSync, fstatSync, openSync, readSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { StoreOpenError } from './failure.ts';

const MAGIC = Buffer.from('tenon backup 1\n\0', 'latin1');
const DIGEST_BYTES = 32;
const FACTS_BYTES = MAGIC.length + 16;
const FOOTER_BYTES = FACTS_BYTES + DIGEST_BYTES;
const PIECE_BYTES = 1_048_576;
/** More than this is no number of ours: it bounds what is read at a time. */
const MAX_PIECE_BYTES = 64 * PIECE_BYTES;

/** Says inside the backup that it has a seal, so that one whose seal was cut off does not pass for one from before there were seals. */
export function announceSeal(database: DatabaseSync): void {
  database.exec('create table backup_seal (version integer not null); insert into backup_seal values (1)');
}

export function announcesSeal(database: DatabaseSync): boolean {
  return database.prepare(`select 1 from sqlite_schema where type = 'table' and name = 'backup_seal'`).get() !== undefined;
}

/** Once everything else is in it, and nobody has it open. */
export function sealBackup(file: string): void {
  const digests: Buffer[] = [];
  const bytes = withFile(file, (handle, size) => {
    for (let offset = 0; offset < size; offset += PIECE_BYTES) digests.push(digestOf(handle, offset, Math.min(size, offset + PIECE_BYTES)));
    return size;
  });
  const facts = Buffer.concat([MAGIC, Buffer.alloc(16)]);
  facts.writeBigUInt64BE(BigInt(bytes), MAGIC.length);
  facts.writeBigUInt64BE(BigInt(PIECE_BYTES), MAGIC.length + 8);
  const seal = Buffer.concat([...digests, facts]);
  appendFileSync(file, Buffer.concat([seal, createHash('sha256').update(seal).digest()]));
}

/** The bytes that are sealed; undefined for a backup without a seal. Throws where a byte is not what it was. */
export function checkSeal(file: string): { readonly bytes: number } | undefined {
  return withFile(file, (handle, size) => {
    const footer = read(handle, Math.max(0, size - FOOTER_BYTES), size);
    if (footer.length < FOOTER_BYTES || !footer.subarray(0, MAGIC.length).equals(MAGIC)) return undefined;
    const bytes = Number(footer.readBigUInt64BE(MAGIC.length));
    const pieceBytes = Number(footer.readBigUInt64BE(MAGIC.length + 8));
    const count = Math.ceil(bytes / pieceBytes);
    const isPlausible = pieceBytes > 0 && pieceBytes <= MAX_PIECE_BYTES && bytes + count * DIGEST_BYTES + FOOTER_BYTES === size;
    if (!isPlausible) throw damaged(file, 'it is not as long as it was');
    const seal = read(handle, bytes, size - DIGEST_BYTES);
    if (!createHash('sha256').update(seal).digest().equals(footer.subarray(FACTS_BYTES))) throw damaged(file, 'its digests were changed');
    for (let piece = 0; piece < count; piece++) {
      const [from, to] = [piece * pieceBytes, Math.min(bytes, (piece + 1) * pieceBytes)];
      const expected = seal.subarray(piece * DIGEST_BYTES, (piece + 1) * DIGEST_BYTES);
      if (!digestOf(handle, from, to).equals(expected)) throw damaged(file, `something between byte ${from} and byte ${to} was changed`);
    }
    return { bytes };
  });
}

export function damaged(file: string, reason: string): StoreOpenError {
  return new StoreOpenError('damaged', `${file} is damaged: ${reason}; nothing was restored`);
}

function withFile<Result>(file: string, use: (handle: number, size: number) => Result): Result {
  const handle = openSync(file, 'r');
  try {
    return use(handle, fstatSync(handle).size);
  } finally {
    closeSync(handle);
  }
}

function digestOf(handle: number, from: number, to: number): Buffer {
  return createHash('sha256')
    .update(read(handle, from, to))
    .digest();
}

function read(handle: number, from: number, to: number): Buffer {
  const bytes = Buffer.alloc(to - from);
  let length = 0;
  while (length < bytes.length) {
    const count = readSync(handle, bytes, length, bytes.length - length, from + length);
    if (count === 0) break;
    length += count;
  }
  return bytes.subarray(0, length);
}
