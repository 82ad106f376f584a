// Memory that nobody uses any more and V8 has not collected. What a thread used only to start is garbage once it serves, but V8 collects
// it when the thread next allocates a lot, which a thread that waits for work does not do. And buffers that were read from a pipe lie
// outside its heap, where it lets some 64 MB of them pile up before it looks.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

type Collect = (options: { type: 'major' | 'minor'; execution: 'sync'; flavor?: 'last-resort' }) => void;

/** After the first requests, so that none of them waits for it. */
const SOON_MS = 1_500;
const READ_BYTES = 4_194_304;

/** One collection, soon after the start, gives the memory of the start back to the system. */
export function giveBackSoon(): void {
  setTimeout(() => collector()?.({ type: 'major', execution: 'sync', flavor: 'last-resort' }), SOON_MS).unref();
}

let young: Collect | undefined;
let readBytes = 0;

/** To be told of every chunk of a stream that may never end: after each 4 MiB of all of them the young ones are collected. */
export function giveBackAfter(bytes: number): void {
  readBytes += bytes;
  if (readBytes < READ_BYTES) return;
  readBytes = 0;
  young ??= collector();
  young?.({ type: 'minor', execution: 'sync' });
}

function collector(): Collect | undefined {
  // It has no other name than this one, and a context sees it only if the flag was set before it was made.
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as Collect | undefined;
  setFlagsFromString('--no-expose-gc');
  return collect;
}
