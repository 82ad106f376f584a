// What a thread used only to start is garbage once it serves, but V8 collects it when the thread next allocates a lot, which a
// thread that waits for work does not do. One collection, soon after the start, gives that memory back to the system.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** After the first requests, so that none of them waits for it. */
const SOON_MS = 1_500;

export function giveBackSoon(): void {
  setTimeout(() => {
    // The collector has no other name than this one, and a context sees it only if the flag was set before it was made.
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as ((options: object) => void) | undefined;
    setFlagsFromString('--no-expose-gc');
    collect?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  }, SOON_MS).unref();
}
