// The writer's thread. It takes as long to boot as the rest of the program takes to load, so `tenon start` boots it before
// anything else (bin/load-bundle.cjs), and the store picks it up when it gets there.
import { dirname, extname, join } from 'node:path';
import { Worker } from 'node:worker_threads';

let ahead: Worker | undefined;

export function adoptWriterThread(worker: Worker): void {
  ahead = worker;
}

/** The thread that was booted ahead, or a new one. */
export function takeWriterThread(): Worker {
  const worker = ahead ?? boot();
  ahead = undefined;
  worker.ref();
  return worker;
}

/** For an engine that does not need it. */
export function dropWriterThread(): void {
  void ahead?.terminate();
  ahead = undefined;
}

function boot(): Worker {
  const here = import.meta.filename;
  return new Worker(join(dirname(here), `sqlite-writer${extname(here)}`), {
    // The thread only runs our statements: it needs little, and a bound here is one on the process.
    resourceLimits: { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 16 },
  });
}
