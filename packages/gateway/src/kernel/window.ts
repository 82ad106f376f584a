// How often something happened lately, per name. Bounded: the name that was quiet longest makes room.
import type { Clock } from './clock.ts';

export interface Window {
  /** Counts one. */
  hit(name: string): void;
  /** Milliseconds until the name may go on; 0 when it may. */
  waitMs(name: string): number;
}

interface Entry {
  startedAt: number;
  count: number;
}

export function createWindow({
  limit,
  windowMs,
  clock,
  maxNames = 10_000,
}: {
  limit: number;
  windowMs: number;
  clock: Clock;
  maxNames?: number;
}): Window {
  const entries = new Map<string, Entry>();

  function current(name: string): Entry | undefined {
    const entry = entries.get(name);
    if (entry && clock.monotonic() - entry.startedAt < windowMs) return entry;
    if (entry) entries.delete(name);
    return undefined;
  }

  return {
    hit(name) {
      const entry = current(name);
      if (entry) {
        entry.count++;
        return;
      }
      if (entries.size >= maxNames) {
        const [oldest] = entries.keys();
        if (oldest !== undefined) entries.delete(oldest);
      }
      entries.set(name, { startedAt: clock.monotonic(), count: 1 });
    },
    waitMs(name) {
      const entry = current(name);
      if (!entry || entry.count < limit) return 0;
      return Math.max(1, entry.startedAt + windowMs - clock.monotonic());
    },
  };
}
