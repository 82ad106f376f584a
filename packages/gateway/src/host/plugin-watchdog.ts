// The watchdog over the event loop: a thread that sees when the loop does not go round any more, because code in this process
// never yields, and names the plugin while it lasts. This is the side of the thread that it watches. It starts with the first plugin
// that is not part of the program, because most gateways have none and a thread is dear, and stays when there is no plugin left:
// code of one that was unloaded may still have timers.
import { dirname, extname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Clock, Timer } from '../kernel/clock.ts';
import { readIfThere } from '../kernel/durable-file.ts';
import type { Log } from '../kernel/log.ts';
import type { Blocked, BlockedMark, FromWatchdog, ToWatchdog, WatchData } from './activity-memory.ts';
import type { PluginActivity } from './plugin-activity.ts';

export interface WatchOptions {
  readonly blockedAfterMs: number;
  /** The thread appends to it while nobody else can. */
  readonly logFile: string;
  /** Is there while the loop is stuck, and after a process that was ended meanwhile. */
  readonly markFile: string;
}

export interface Watchdog {
  /** Starts the thread, so that the first plugin does not wait for all of it. */
  boot(): void;
  /** Code in this folder is this plugin's: who blocks is named by it once the thread is there. */
  know(plugin: string, folder: string): void;
  /** The same, and there has to be a thread. Resolves when it is up, or cannot be had. */
  watch(plugin: string, folder: string): Promise<void>;
  close(): Promise<void>;
}

interface Deps extends WatchOptions {
  readonly activity: PluginActivity;
  readonly clock: Clock;
  readonly log: Log;
  /** The loop was stuck and goes round again. */
  readonly wasBlocked: (blocked: Blocked) => void;
}

const UP_WITHIN_MS = 5_000;

export function createWatchdog(deps: Deps): Watchdog {
  const { activity, clock, log, blockedAfterMs, logFile, markFile } = deps;
  let thread: { readonly worker: Worker; readonly beat: Timer; readonly up: Promise<void> } | undefined;
  let isClosed = false;
  const folders = new Map<string, string>();

  function start(): NonNullable<typeof thread> {
    const here = import.meta.filename;
    const workerData = { memory: activity.memory, origin: performance.timeOrigin, blockedAfterMs, logFile, markFile } satisfies WatchData;
    const worker = new Worker(join(dirname(here), `plugin-watchdog-thread${extname(here)}`), {
      workerData,
      // It reads numbers and writes lines.
      resourceLimits: { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 4 },
    });
    worker.unref();
    const { promise: up, resolve } = Promise.withResolvers<void>();
    const overdue = clock.after(UP_WITHIN_MS, resolve);
    worker.on('message', (message: FromWatchdog) => {
      if (message.kind === 'blocked') deps.wasBlocked(message);
      else {
        overdue.cancel();
        resolve();
      }
    });
    worker.on('error', (error) => log.error({ error }, 'the watchdog over plugins failed: nobody says who blocks the gateway'));
    worker.on('exit', () => {
      overdue.cancel();
      resolve();
      end();
    });
    activity.beat();
    const beat = clock.every(Math.max(10, blockedAfterMs / 4), () => activity.beat());
    activity.onName((name) => worker.postMessage({ kind: 'name', ...name } satisfies ToWatchdog));
    for (const [plugin, folder] of folders) worker.postMessage({ kind: 'folder', plugin, folder } satisfies ToWatchdog);
    return { worker, beat, up };
  }

  function end(): void {
    thread?.beat.cancel();
    activity.onName(undefined);
    thread = undefined;
  }

  function know(plugin: string, folder: string): void {
    folders.set(plugin, folder);
    thread?.worker.postMessage({ kind: 'folder', plugin, folder } satisfies ToWatchdog);
  }

  return {
    boot() {
      if (!isClosed) thread ??= start();
    },
    know,
    async watch(plugin, folder) {
      if (isClosed) return;
      know(plugin, folder);
      thread ??= start();
      await thread.up;
    },
    async close() {
      isClosed = true;
      const worker = thread?.worker;
      end();
      await worker?.terminate();
    },
  };
}

/** What the process before left behind, if it was ended while it was stuck. */
export function readMark(file: string): BlockedMark | undefined {
  try {
    const mark = JSON.parse(readIfThere(file) ?? 'null') as BlockedMark | null;
    return mark && typeof mark.at === 'number' && typeof mark.forMs === 'number' && typeof mark.place === 'string' ? mark : undefined;
  } catch {
    return undefined;
  }
}

/** For people, without the name of the plugin. */
export function describeBlock({ forMs, code, lastCalled }: Blocked): string {
  const last = lastCalled === undefined ? '' : `; last called: ${lastCalled}`;
  return `the gateway could do nothing else for ${(forMs / 1_000).toFixed(1)} s${code === undefined ? '' : ` (${code})`}${last}`;
}
