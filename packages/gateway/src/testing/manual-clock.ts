// A clock that a test moves by hand. Timers fire in the order they are due, while it moves.
import type { Clock, Timer } from '../kernel/clock.ts';

export interface ManualClock extends Clock {
  advance(ms: number): void;
  /** Moves the wall clock only, as an operator or NTP would. */
  jump(ms: number): void;
  readonly pending: number;
}

interface Entry {
  due: number;
  readonly call: () => void;
  readonly everyMs?: number;
}

export function createManualClock(startAt = 1_700_000_000_000): ManualClock {
  let wall = startAt;
  let monotonic = 0;
  const entries = new Set<Entry>();

  function add(entry: Entry): Timer {
    entries.add(entry);
    return { cancel: () => void entries.delete(entry) };
  }

  return {
    now: () => wall,
    monotonic: () => monotonic,
    after: (delayMs, call) => add({ due: monotonic + delayMs, call }),
    every: (everyMs, call) => add({ due: monotonic + everyMs, call, everyMs }),
    advance(ms) {
      const until = monotonic + ms;
      for (;;) {
        const [next] = [...entries].filter((entry) => entry.due <= until).sort((a, b) => a.due - b.due);
        if (!next) break;
        wall += next.due - monotonic;
        monotonic = next.due;
        if (next.everyMs === undefined) entries.delete(next);
        else next.due += next.everyMs;
        next.call();
      }
      wall += until - monotonic;
      monotonic = until;
    },
    jump(ms) {
      wall += ms;
    },
    get pending() {
      return entries.size;
    },
  };
}
