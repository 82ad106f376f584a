// Which user of this machine is at the other end of a local connection. Linux lists every TCP socket with its owner; other
// systems do not tell. To read the list costs more than a request does, so it is read only for those whom a budget is to
// be charged to, and one reading serves all who ask meanwhile.
import { open } from 'node:fs/promises';
import { endianness } from 'node:os';
import type { Clock } from '../kernel/clock.ts';
import { groupsOf } from './address.ts';

export interface Ends {
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
  readonly localAddress?: string | undefined;
  readonly localPort?: number | undefined;
}

/** Contract: must not reject. Undefined where the system does not tell. */
export type FindUid = (ends: Ends) => Promise<number | undefined>;

const LISTS = ['/proc/net/tcp', '/proc/net/tcp6'];
/** About 25,000 sockets. Where there are more, everybody on this machine is one peer. */
const MAX_BYTES = 4 * 1_048_576;
/** Between two readings, in times of what one took: whoever guesses all the time must not keep a processor busy. */
const REST = 4;
const MAX_REST_MS = 200;

export function createUidFinder(clock: Clock, files: readonly string[] = LISTS): FindUid {
  /** When the next reading may begin. */
  let rested: Promise<void> = Promise.resolve();
  let next: Reading | undefined;

  /** The lists as they are after now: those that are being read may be too old for who asks. */
  function nextReading(): Reading {
    if (next) return next;
    const wanted = new Set<string>();
    const owners = rested.then(async () => {
      next = undefined;
      const startedAt = clock.monotonic();
      const found: Owners = new Map();
      for (const file of files) await collect(file, wanted, found).catch(() => found.clear());
      const restMs = Math.min((clock.monotonic() - startedAt) * REST, MAX_REST_MS);
      rested = new Promise((resolve) => clock.after(restMs, resolve));
      return found;
    });
    next = { wanted, owners };
    return next;
  }

  return async ({ remoteAddress = '', remotePort = 0, localAddress = '', localPort = 0 }) => {
    const theirs = endOf(remoteAddress, remotePort);
    const ours = endOf(localAddress, localPort);
    if (theirs === undefined || ours === undefined) return undefined;
    const { wanted, owners } = nextReading();
    wanted.add(ours);
    return (await owners).get(`${theirs} ${ours}`);
  };
}

/** By both ends, the owner's first. */
type Owners = Map<string, number>;

interface Reading {
  /** The ends that somebody asked about. Most lines of the lists are of others, and are not looked at. */
  readonly wanted: Set<string>;
  readonly owners: Promise<Owners>;
}

/** Open, or closed in one direction. Those in other states have no owner any more, and the list says 0 for them. */
const STATES = ['01', '04', '05'];
const CHUNK_BYTES = 65_536;

/** Piece by piece, and as bytes: during a flood the list is long, and it is read again and again. */
async function collect(file: string, wanted: ReadonlySet<string>, owners: Owners): Promise<void> {
  const marks = [...wanted].flatMap((end) =>
    [end, MAPPED + end].flatMap((each) => STATES.map((state) => Buffer.from(` ${each} ${state} `, 'latin1'))),
  );
  await using handle = await open(file);
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  let kept = 0;
  for (let size = 0; ; ) {
    const { bytesRead } = await handle.read(buffer, kept, CHUNK_BYTES - kept, null);
    if (bytesRead === 0) return;
    size += bytesRead;
    if (size > MAX_BYTES) throw new Error('too many sockets');
    const filled = kept + bytesRead;
    const end = buffer.lastIndexOf(NEWLINE, filled - 1) + 1;
    for (const mark of marks) collectMarked(buffer.subarray(0, end), mark, owners);
    buffer.copyWithin(0, end, filled);
    kept = filled - end;
  }
}

const NEWLINE = 10;

function collectMarked(bytes: Buffer, mark: Buffer, owners: Owners): void {
  for (let at = bytes.indexOf(mark); at !== -1; at = bytes.indexOf(mark, at + mark.length)) {
    const line = bytes.toString('latin1', bytes.lastIndexOf(NEWLINE, at) + 1, bytes.indexOf(NEWLINE, at));
    const [, local, remote, , , , , uid, , inode] = line.trim().split(/\s+/);
    if (local === undefined || remote === undefined || inode === undefined || inode === '0') continue;
    owners.set(`${shortened(local)} ${shortened(remote)}`, Number(uid));
  }
}

const MAPPED = wordsOf([0, 0, 0, 0, 0, 0xffff, 0, 0]).slice(0, 24);

/** An IPv4 address that is written as an IPv6 one is the same address. */
function shortened(end: string): string {
  return end.length > 13 && end.startsWith(MAPPED) ? end.slice(24) : end;
}

/** Address and port as the list has them. */
function endOf(address: string, port: number): string | undefined {
  const groups = groupsOf(address);
  return groups && shortened(`${wordsOf(groups)}:${port.toString(16).toUpperCase().padStart(4, '0')}`);
}

/** Four words of 32 bits, each in the order of this machine. */
function wordsOf(groups: readonly number[]): string {
  const bytes = Buffer.alloc(16);
  for (const [index, group] of groups.entries()) bytes.writeUInt16BE(group, index * 2);
  if (endianness() === 'LE') bytes.swap32();
  return bytes.toString('hex').toUpperCase();
}
