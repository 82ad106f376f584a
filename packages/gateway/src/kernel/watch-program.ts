// Ends a program that has too many processes or too much memory. In a sandbox the kernel bounds the number by itself where it can
// (sandbox/bounds.ts); this holds everywhere that has a /proc, and for memory.
import type { Clock, Timer } from './clock.ts';
import { readTree } from './process-tree.ts';

export interface ProgramLimits {
  readonly processes: number;
  /** Of all of them together, each with what it shares with others. */
  readonly memoryBytes: number;
}

const LOOK_MS = 250;
/** While they get more: a storm grows faster than that. */
const CLOSE_LOOK_MS = 25;
/** Of our time, what looking may take: many processes are looked at less often. */
const SHARE = 10;

export function watchProgram(pid: number, limits: ProgramLimits, clock: Clock, end: (reason: string) => void): Pick<Timer, 'cancel'> {
  let timer = clock.after(CLOSE_LOOK_MS, look);
  let before = 1;

  function look(): void {
    const begun = clock.monotonic();
    const use = readTree(pid, limits.processes);
    if (!use) return;
    if (use.processes > limits.processes) return end(`it has more than ${limits.processes} processes`);
    if (use.memoryBytes > limits.memoryBytes) return end(`it uses more than ${limits.memoryBytes} bytes of memory`);
    const isGrowing = use.processes > 2 * before;
    before = use.processes;
    timer = clock.after(Math.max(isGrowing ? CLOSE_LOOK_MS : LOOK_MS, SHARE * (clock.monotonic() - begun)), look);
  }

  return { cancel: () => timer.cancel() };
}
