// The files of attachments in a backup: in pieces, under their digests, so that no file is ever held whole and no name from
// outside is part of a path. A file that was not in the home folder, or was not what its digest says, is on record as such.
import { createHash } from 'node:crypto';
import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fstatSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { syncFolder } from '../kernel/durable-file.ts';
import { faultpoint } from '../kernel/fault.ts';
import { randomId } from '../kernel/ids.ts';
import { ATTACHMENTS_FOLDER, DIGEST, placeOf } from './attachment-files.ts';
import { StoreOpenError } from './failure.ts';

const PIECE_BYTES = 1_048_576;
/** How many of those that are missing are named; all are counted. */
const NAMED = 20;

export type FileProgress = (done: { table: string; rows: number }) => void;

type State = 'kept' | 'missing' | 'damaged';

export interface MissingFile {
  readonly name: string;
  readonly sessionKey?: string;
  readonly reason: 'missing' | 'damaged';
}

export interface FileSummary {
  /** False for a backup from before files were in backups. */
  readonly inBackup: boolean;
  readonly count: number;
  readonly bytes: number;
  readonly missingCount: number;
  /** The first of them. */
  readonly missing: readonly MissingFile[];
}

interface Needed {
  readonly sha256: string;
  readonly bytes: number;
  readonly name: string;
  readonly session_key: string | null;
}

/** Each file that rows need, once; with the name that one of them has for it. */
function neededIn(database: DatabaseSync): Needed[] {
  if (!hasTable(database, 'attachments')) return [];
  return database
    .prepare('select sha256, max(bytes) as bytes, min(name) as name, min(session_key) as session_key from attachments group by sha256')
    .all() as unknown as Needed[];
}

function hasTable(database: DatabaseSync, name: string): boolean {
  return database.prepare(`select 1 from sqlite_schema where type = 'table' and name = ?`).get(name) !== undefined;
}

/** Puts the files that the rows of a backup need beside them. */
export function takeFiles(database: DatabaseSync, home: string, onProgress: FileProgress): FileSummary {
  database.exec(`
    create table backup_attachments (sha256 text primary key, bytes integer not null, state text not null);
    create table backup_pieces (sha256 text not null, part integer not null, content blob not null, primary key (sha256, part))`);
  const keep = database.prepare('insert into backup_attachments (sha256, bytes, state) values (?, ?, ?)');
  const addPiece = database.prepare('insert into backup_pieces (sha256, part, content) values (?, ?, ?)');
  const summary = openSummary(true);
  for (const needed of neededIn(database)) {
    const { sha256, bytes } = needed;
    // A file is in the backup whole or not at all.
    database.exec('begin');
    const state = readPieces(placeOf(home, sha256), sha256, bytes, (piece, part) => addPiece.run(sha256, part, piece));
    if (state !== 'kept') database.exec('rollback; begin');
    keep.run(sha256, bytes, state);
    database.exec('commit');
    faultpoint('backup.file-taken');
    summary.add(needed, state);
    onProgress({ table: 'files', rows: summary.seen });
  }
  return summary.done();
}

/** Contract: a link is not followed; no more than one piece is in memory. */
function readPieces(path: string, sha256: string, bytes: number, take: (piece: Uint8Array, part: number) => void): State {
  let handle: number;
  try {
    handle = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch (error) {
    if (['ENOENT', 'ELOOP'].includes((error as { code?: string }).code ?? '')) return 'missing';
    throw error;
  }
  try {
    if (!fstatSync(handle).isFile()) return 'missing';
    const digest = createHash('sha256');
    const buffer = Buffer.alloc(PIECE_BYTES);
    let length = 0;
    for (let part = 0; ; part++) {
      const read = readSync(handle, buffer, 0, PIECE_BYTES, null);
      if (read === 0) break;
      length += read;
      if (length > bytes) return 'damaged';
      const piece = buffer.subarray(0, read);
      digest.update(piece);
      take(piece, part);
    }
    return length === bytes && digest.digest('hex') === sha256 ? 'kept' : 'damaged';
  } finally {
    closeSync(handle);
  }
}

/** Refuses a backup whose files are not what its rows say, before anything is touched. */
export function checkFiles(database: DatabaseSync, file: string, onProgress: FileProgress): void {
  if (!hasTable(database, 'backup_attachments')) return;
  const damaged = (reason: string) => new StoreOpenError('damaged', `${file} is damaged: ${reason}; nothing was restored`);
  const records = new Map<string, { bytes: number; state: string }>();
  for (const row of database.prepare('select sha256, bytes, state from backup_attachments').iterate())
    records.set(String(row.sha256), { bytes: Number(row.bytes), state: String(row.state) });
  let seen = 0;
  for (const { sha256, bytes, name } of neededIn(database)) {
    const record = records.get(sha256);
    records.delete(sha256);
    if (!record || record.bytes !== bytes) throw damaged(`it has no file for the attachment "${name}"`);
    if (record.state === 'missing' || record.state === 'damaged') continue;
    const digest = createHash('sha256');
    let length = 0;
    for (const piece of piecesIn(database, sha256)) {
      length += piece?.length ?? 0;
      if (!piece || length > bytes) throw damaged(`the file of the attachment "${name}" is not as long as it was`);
      digest.update(piece);
    }
    if (length !== bytes || digest.digest('hex') !== sha256) throw damaged(`the file of the attachment "${name}" does not have its digest`);
    onProgress({ table: 'files', rows: ++seen });
  }
  const [strange] = records.keys();
  const loose = database
    .prepare(`select sha256 from backup_pieces where sha256 not in (select sha256 from backup_attachments where state = 'kept') limit 1`)
    .get();
  if (strange !== undefined || loose)
    throw new StoreOpenError('foreign', `${file} carries a file that none of its rows names; nothing was restored`);
}

/** In their order; undefined for one that is too large to be one. */
function* piecesIn(database: DatabaseSync, sha256: string): Generator<Uint8Array | undefined> {
  const look = database.prepare('select length(content) as bytes from backup_pieces where sha256 = ? and part = ?');
  const read = database.prepare('select content from backup_pieces where sha256 = ? and part = ?');
  for (let part = 0; ; part++) {
    const found = look.get(sha256, part) as { bytes: number } | undefined;
    if (!found) return;
    yield found.bytes > PIECE_BYTES ? undefined : (read.get(sha256, part) as { content: Uint8Array }).content;
  }
}

/** Files first, rows later: a file is in its place before a row names it. Nothing that is there already goes. */
export function placeFiles(database: DatabaseSync, home: string, onProgress: FileProgress): FileSummary {
  const isIn = hasTable(database, 'backup_attachments');
  const summary = openSummary(isIn);
  const folders = new Set<string>();
  const stateOf = isIn ? database.prepare('select state from backup_attachments where sha256 = ?') : undefined;
  for (const needed of neededIn(database)) {
    const { sha256, bytes } = needed;
    if (!DIGEST.test(sha256)) throw new StoreOpenError('foreign', `A row of the backup names a file "${sha256}", which is no digest`);
    const place = placeOf(home, sha256);
    const found = readPieces(place, sha256, bytes, () => {});
    const state = stateOf?.get(sha256)?.state;
    if (found !== 'kept' && state === 'kept') {
      writePieces(database, sha256, place);
      folders.add(dirname(place));
    }
    summary.add(needed, found === 'kept' || state === 'kept' ? 'kept' : found);
    onProgress({ table: 'files', rows: summary.seen });
  }
  for (const folder of folders) syncFolder(folder);
  if (folders.size > 0) for (const folder of [join(home, ATTACHMENTS_FOLDER), home]) syncFolder(folder);
  return summary.done();
}

function writePieces(database: DatabaseSync, sha256: string, place: string): void {
  mkdirSync(dirname(place), { recursive: true, mode: 0o700 });
  // A name that is no digest: what stays behind is removed at the next start.
  const draft = join(dirname(place), `${randomId(9)}.restore`);
  const digest = createHash('sha256');
  const handle = openSync(draft, 'wx', 0o600);
  try {
    for (const piece of piecesIn(database, sha256)) {
      if (!piece) break;
      digest.update(piece);
      for (let written = 0; written < piece.length; ) written += writeSync(handle, piece, written, piece.length - written);
    }
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
  // It was checked before. Should it have changed meanwhile, what is there stays.
  if (digest.digest('hex') !== sha256) {
    rmSync(draft, { force: true });
    throw new StoreOpenError('damaged', `The backup was changed while it was restored`);
  }
  faultpoint('restore.file-written');
  // A folder or a link that somebody put there does not stand in the way.
  if (lstatSync(place, { throwIfNoEntry: false })?.isDirectory()) rmSync(place, { recursive: true });
  renameSync(draft, place);
}

/** The files of the store that is replaced, kept with it: the same files under a second name, which takes no room. */
export function keepFiles(home: string, at: number): string | undefined {
  const folder = join(home, ATTACHMENTS_FOLDER);
  if (!existsSync(folder)) return undefined;
  const kept = `${folder}.before-restore-${at}`;
  let count = 0;
  for (const part of readdirSync(folder)) {
    if (!/^[0-9a-f]{2}$/.test(part)) continue;
    for (const name of readdirSync(join(folder, part))) {
      const file = join(folder, part, name);
      if (!DIGEST.test(name) || !lstatSync(file).isFile()) continue;
      mkdirSync(join(kept, part), { recursive: true, mode: 0o700 });
      keepFile(file, join(kept, part, name));
      count++;
    }
  }
  return count > 0 ? kept : undefined;
}

function keepFile(file: string, copy: string): void {
  try {
    linkSync(file, copy);
  } catch (error) {
    if ((error as { code?: string }).code === 'EEXIST') return;
    copyFileSync(file, copy);
  }
}

function openSummary(inBackup: boolean) {
  let [count, bytes, missingCount] = [0, 0, 0];
  const missing: MissingFile[] = [];
  return {
    get seen() {
      return count + missingCount;
    },
    add(needed: Needed, state: State) {
      if (state === 'kept') {
        count++;
        bytes += needed.bytes;
        return;
      }
      missingCount++;
      const { name, session_key } = needed;
      if (missing.length < NAMED) missing.push({ name, ...(session_key === null ? {} : { sessionKey: session_key }), reason: state });
    },
    done: (): FileSummary => ({ inBackup, count, bytes, missingCount, missing }),
  };
}
