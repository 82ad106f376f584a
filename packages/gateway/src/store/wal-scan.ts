// Tells damage inside a write-ahead log from its torn end. SQLite takes the first frame that does not fit for the end of the log and
// drops what follows without a word. That is right after a power loss, which can only tear the transaction that was being written: each
// commit is on the disk before the next transaction begins. So if a frame was appended to a commit that lies at or behind the
// first bad frame, that commit was acknowledged, and its loss is damage.
// "Appended" is proved by checksums: each frame's continues that of the frame before it. What a crash or a rollback left of an earlier
// try, and frames from before the log was restarted, do not continue anything and are no evidence.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

export type WalVerdict =
  /** `goodBytes`: up to the end of the last commit before the first bad frame, or of the log. */
  | { readonly kind: 'sound'; readonly goodBytes: number }
  | { readonly kind: 'damaged'; readonly goodBytes: number; readonly offset: number; readonly lostCommits: number };

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
/** The lowest bit says in which byte order the checksums are taken. */
const MAGIC = 0x377f0682;
/** Read at a time. */
const CHUNK_BYTES = 1_048_576;
const MAX_ATTEMPTS = 5;
/** That of our stores first. */
const PAGE_SIZES = [4096, 512, 1024, 2048, 8192, 16_384, 32_768, 65_536];
const SOUND_AND_EMPTY: WalVerdict = { kind: 'sound', goodBytes: 0 };
const HOST_IS_BIG_ENDIAN = new Uint8Array(new Uint32Array([1]).buffer)[0] === 0;

type Checksum = readonly [number, number];

interface Place {
  /** A transaction is complete here. */
  readonly isCommit: boolean;
  /** Checksums that the next frame may continue: the one that is written and, where that is in doubt, the one that was reckoned. */
  readonly ends: readonly Checksum[];
}

/** The log may be in use: SQLite holds no lock through this file, so opening and closing it drops none. */
export function scanWal(file: string): WalVerdict {
  const handle = openSync(file, 'r');
  try {
    for (let attempt = 1; ; attempt++) {
      const header = readHeader(handle);
      if (!header) return SOUND_AND_EMPTY;
      const verdict = scan(handle, header);
      if (verdict.kind === 'sound' || readHeader(handle)?.equals(header)) return verdict;
      // A log that was restarted while it was read looks damaged. One that keeps doing so is in use, and says nothing.
      if (attempt === MAX_ATTEMPTS) return SOUND_AND_EMPTY;
    }
  } finally {
    closeSync(handle);
  }
}

function readHeader(handle: number): Buffer | undefined {
  const header = Buffer.alloc(HEADER_BYTES);
  return readSync(handle, header, 0, HEADER_BYTES, 0) === HEADER_BYTES ? header : undefined;
}

function scan(handle: number, header: Buffer): WalVerdict {
  const magic = header.readUInt32BE(0);
  const written: Checksum = [header.readUInt32BE(24), header.readUInt32BE(28)];
  const swapped = (magic === MAGIC + 1) !== HOST_IS_BIG_ENDIAN;
  const reckoned = sum([0, 0], wordsOf(header, swapped), 0, 6);
  if ((magic === MAGIC || magic === MAGIC + 1) && isSame(written, reckoned)) {
    const start = { salts: header.readBigUInt64BE(16), goodBytes: HEADER_BYTES, ends: [written], badAt: undefined };
    return scanFrames(handle, { ...start, pageSize: header.readUInt32BE(8), swapped });
  }
  // Nothing that it says can be relied on, the size of the pages and the order of the bytes included.
  const ends = [written, sum([0, 0], wordsOf(header, false), 0, 6)];
  for (const pageSize of PAGE_SIZES) {
    const verdict = scanFrames(handle, { salts: undefined, goodBytes: 0, ends, badAt: 0, pageSize, swapped: false });
    if (verdict.kind === 'damaged') return verdict;
  }
  return SOUND_AND_EMPTY;
}

interface Start {
  readonly ends: readonly Checksum[];
  /** Undefined where they are not known: then they are those of the first frame. */
  readonly salts: bigint | undefined;
  readonly badAt: number | undefined;
  readonly goodBytes: number;
  readonly pageSize: number;
  readonly swapped: boolean;
}

function scanFrames(handle: number, { ends, pageSize, swapped, ...start }: Start): WalVerdict {
  const frameBytes = FRAME_HEADER_BYTES + pageSize;
  let { salts, badAt, goodBytes } = start;
  // The header is on the disk before the first frame is written, as a commit is before the next transaction.
  let before: Place = { isCommit: true, ends };
  let lostCommits = 0;
  let isDamaged = false;

  for (const { frame, words, offset } of framesOf(handle, frameBytes, swapped)) {
    const ownSalts = frame.readBigUInt64BE(8);
    salts ??= ownSalts;
    // Zeros continue zeros: a frame without a page is none.
    const isOfThisLog = ownSalts === salts && frame.readUInt32BE(0) !== 0;
    const isCommit = frame.readUInt32BE(4) !== 0;
    const own: Checksum = [frame.readUInt32BE(16), frame.readUInt32BE(20)];
    if (badAt === undefined) {
      const chain = sumFrame(before.ends[0] as Checksum, words);
      if (isOfThisLog && isSame(chain, own)) {
        before = { isCommit, ends: [own] };
        if (isCommit) goodBytes = offset + frameBytes;
        continue;
      }
      badAt = offset;
      before = { isCommit, ends: [own, chain] };
      if (isCommit) lostCommits++;
      continue;
    }
    // The costly sum only where something could be proved.
    if (isOfThisLog && before.isCommit && !isDamaged) isDamaged = before.ends.some((end) => isSame(sumFrame(end, words), own));
    before = { isCommit: isCommit && isOfThisLog, ends: [own] };
    if (before.isCommit) lostCommits++;
  }
  return isDamaged ? { kind: 'damaged', goodBytes, offset: badAt as number, lostCommits } : { kind: 'sound', goodBytes };
}

interface Frame {
  readonly frame: Buffer;
  readonly words: Uint32Array;
  readonly offset: number;
}

/** Each is good until the next is asked for. */
function* framesOf(handle: number, frameBytes: number, swapped: boolean): Generator<Frame> {
  const { size } = fstatSync(handle);
  const perChunk = Math.max(1, Math.floor(CHUNK_BYTES / frameBytes));
  // Of its own and not of Node's pool: words need an offset that is a multiple of four.
  const chunk = Buffer.from(new ArrayBuffer(Math.min(perChunk, Math.ceil(size / frameBytes)) * frameBytes));
  for (let offset = HEADER_BYTES; offset + frameBytes <= size; ) {
    const read = readSync(handle, chunk, 0, chunk.length, offset);
    const whole = Math.floor(read / frameBytes);
    if (whole === 0) return;
    for (let n = 0; n < whole; n++, offset += frameBytes) {
      const frame = chunk.subarray(n * frameBytes, (n + 1) * frameBytes);
      yield { frame, words: wordsOf(frame, swapped), offset };
    }
  }
}

function wordsOf(bytes: Buffer, swapped: boolean): Uint32Array {
  const source = swapped ? Buffer.from(Uint8Array.from(bytes).buffer).swap32() : bytes;
  const aligned = source.byteOffset % 4 === 0 ? source : Buffer.from(Uint8Array.from(source).buffer);
  return new Uint32Array(aligned.buffer, aligned.byteOffset, aligned.length >> 2);
}

/** Over the page number and the commit mark, then the page; not over salts and checksum. */
function sumFrame(start: Checksum, words: Uint32Array): Checksum {
  return sum(sum(start, words, 0, 2), words, FRAME_HEADER_BYTES / 4, words.length);
}

function sum([first, second]: Checksum, words: Uint32Array, from: number, to: number): Checksum {
  let a = first | 0;
  let b = second | 0;
  for (let n = from; n < to; n += 2) {
    a = (a + (words[n] as number) + b) | 0;
    b = (b + (words[n + 1] as number) + a) | 0;
  }
  return [a >>> 0, b >>> 0];
}

function isSame(a: Checksum, b: Checksum): boolean {
  return a[0] === b[0] && a[1] === b[1];
}
