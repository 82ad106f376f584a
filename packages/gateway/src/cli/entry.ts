// The bundle's entry: the real world, and the end of the process.
import type { Worker } from 'node:worker_threads';
import { adoptWriterThread } from '../main.ts';
import { runCli } from './program.ts';
import type { Io } from './io.ts';

export { runCli };

/** `writer`: the thread of the store, booted before this program was read. */
export function main(writer?: Worker): void {
  if (writer) adoptWriterThread(writer);
  // Whoever reads us may stop reading (`tenon events | head`): that ends the program, and is no error.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));
  void runCli(process.argv.slice(2), processIo).then((code) => {
    // A pipe takes what was written a little later, and exit() would not wait for it.
    process.stdout.write('', () => process.stderr.write('', () => process.exit(code)));
  });
}

const processIo: Io = {
  stdout: process.stdout,
  stderr: process.stderr,
  stdin: process.stdin,
  env: process.env,
  now: () => Date.now(),
  interrupted() {
    const controller = new AbortController();
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
    const listener = (signal: NodeJS.Signals) => {
      // Asked for once per Ctrl-C: what was listened to stays no longer than needed.
      for (const each of signals) process.off(each, listener);
      controller.abort(signal);
    };
    for (const each of signals) process.on(each, listener);
    return controller.signal;
  },
};

// From source: `node packages/gateway/src/cli/entry.ts`. The bundle is started by bin/load-bundle.cjs.
if (import.meta.main) main();
