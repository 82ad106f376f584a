// Time as an argument, so that tests move it. Delays are cut to what `setTimeout` can hold: above that, platforms fire at once.

export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  setTimeout(run: () => void, delayMs: number): unknown;
  clearTimeout(timer: unknown): void;
}

const LONGEST_DELAY_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  setTimeout: (run, delayMs) => setTimeout(run, Math.min(delayMs, LONGEST_DELAY_MS)),
  clearTimeout: (timer) => clearTimeout(timer as number),
};
