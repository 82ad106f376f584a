// The thread of the watchdog. It sees that the loop of the gateway does not go round, finds out whose code is running, and
// says so itself, because the gateway cannot: a record in its log, again at growing distances, and a mark in the home folder
// for whoever starts the gateway after it was killed.
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { writeFileDurably } from '../kernel/durable-file.ts';
import {
  type Blocked,
  type BlockedMark,
  CELL,
  type FromWatchdog,
  type PlaceName,
  TIME,
  type ToWatchdog,
  viewsOf,
  type WatchData,
} from './activity-memory.ts';
import { codeInFolders, readMainStack } from './watch-stack.ts';

const { memory, origin, blockedAfterMs, logFile, markFile } = workerData as WatchData;
const { cells, times } = viewsOf(memory);
const names = new Map<number, PlaceName>();
const folders = new Map<string, string>();
const PERIOD_MS = Math.max(10, blockedAfterMs / 4);
const LONGEST_DISTANCE_MS = 600_000;
const STACK_WITHIN_MS = 1_000;

parentPort?.on('message', (message: ToWatchdog) => {
  if (message.kind === 'name') names.set(message.slot, message);
  else folders.set(message.plugin, message.folder);
});

let beat = Atomics.load(cells, CELL.beat);
let beatAt = performance.now();
let tickAt = beatAt;
let nextMs = blockedAfterMs;
let blocked: Blocked | undefined;
let isLooking = false;

function tick(): void {
  const now = performance.now();
  // A process that was stopped, or a machine that slept, is not one that is blocked.
  if (now - tickAt > 4 * PERIOD_MS) beatAt += now - tickAt;
  tickAt = now;
  const latest = Atomics.load(cells, CELL.beat);
  if (latest !== beat) {
    if (blocked) goesRoundAgain({ ...blocked, forMs: Math.round(now - beatAt) });
    beat = latest;
    beatAt = now;
    nextMs = blockedAfterMs;
    return;
  }
  if (now - beatAt < nextMs || isLooking) return;
  nextMs += Math.min(nextMs, LONGEST_DISTANCE_MS);
  void report(beat);
}

async function report(seen: number): Promise<void> {
  isLooking = true;
  try {
    // Once is enough: it is dear, and while the loop is stuck its code stays the same. On a machine that is busy it may take more than once.
    const known = blocked;
    const who = known?.code === undefined ? await look() : known;
    const forMs = Math.round(performance.now() - beatAt);
    if (Atomics.load(cells, CELL.beat) !== seen) {
      // What was known is told by the tick that sees it too.
      if (!known) goesRoundAgain({ ...who, forMs });
      return;
    }
    blocked = { ...who, forMs };
    log(blocked);
    writeFileDurably(markFile, `${JSON.stringify({ ...blocked, pid: process.pid } satisfies BlockedMark)}\n`);
  } catch {
    // A full disk: the next report tries again.
  } finally {
    isLooking = false;
  }
}

/** Who it is: by the call that has not returned, else by the code that runs, else by what is being loaded. */
async function look(): Promise<Blocked> {
  const [running, last, loading] = [CELL.running, CELL.last, CELL.loading].map((cell) => names.get(Atomics.load(cells, cell)));
  const began = times[TIME.began]!;
  const at = Date.now() - Math.round(performance.now() - beatAt);
  const stack = await readMainStack(STACK_WITHIN_MS);
  const found = stack && codeInFolders(stack, folders);
  const code = found ? { code: found.code } : {};
  if (running) {
    const callAt = Math.round(origin + began);
    const own = found?.plugin === running.plugin ? code : {};
    return { at: Math.max(at, callAt), forMs: 0, plugin: running.plugin, place: running.place, ...own };
  }
  const lastCalled = last ? { lastCalled: `${last.plugin} (${last.place})` } : {};
  if (found) return { at, forMs: 0, plugin: found.plugin, place: loading?.plugin === found.plugin ? 'load' : OUTSIDE, ...code };
  if (loading) return { at, forMs: 0, plugin: loading.plugin, place: loading.place };
  return { at, forMs: 0, place: OUTSIDE, ...lastCalled };
}

const OUTSIDE = 'outside of a call';

function goesRoundAgain(was: Blocked): void {
  blocked = undefined;
  rmSync(markFile, { force: true });
  parentPort?.postMessage({ kind: 'blocked', ...was } satisfies FromWatchdog);
}

/** In the form of the log of the gateway; opened anew each time, because that file is rotated. */
function log({ plugin, place, forMs, code, lastCalled }: Blocked): void {
  const message = plugin === undefined ? 'the gateway is blocked' : 'a plugin blocks the gateway';
  const record = { level: 'error', time: Date.now(), plugin, place, forMs, code, lastCalled, message };
  const handle = openSync(logFile, 'a', 0o600);
  try {
    writeSync(handle, `${JSON.stringify(record)}\n`);
  } finally {
    closeSync(handle);
  }
}

setInterval(tick, PERIOD_MS);
parentPort?.postMessage({ kind: 'up' } satisfies FromWatchdog);
