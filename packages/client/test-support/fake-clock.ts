// Time that stands still until a test moves it.
import type { Clock } from '../src/index.ts';

export interface FakeClock extends Clock {
  /** Runs what becomes due, in order. */
  advance(ms: number): void;
  /** How many timers are armed. */
  readonly armed: number;
}

export function createFakeClock(start = 1_750_000_000_000): FakeClock {
  let now = start;
  let lastId = 0;
  const timers = new Map<number, { readonly at: number; readonly run: () => void }>();
  return {
    now: () => now,
    setTimeout(run, delayMs) {
      timers.set(++lastId, { at: now + delayMs, run });
      return lastId;
    },
    clearTimeout(timer) {
      timers.delete(timer as number);
    },
    get armed() {
      return timers.size;
    },
    advance(ms) {
      const until = now + ms;
      for (;;) {
        const due = [...timers].filter(([, { at }]) => at <= until).sort(([idA, a], [idB, b]) => a.at - b.at || idA - idB)[0];
        if (!due) break;
        timers.delete(due[0]);
        now = due[1].at;
        due[1].run();
      }
      now = until;
    },
  };
}
