// How long to wait before the next attempt: exponential backoff with full jitter, so that clients that lost the same
// gateway at the same moment do not come back at the same moment.

export interface BackoffBounds {
  /** The first delay is below this. */
  readonly minMs: number;
  /** No delay is above this. */
  readonly maxMs: number;
}

export interface Backoff {
  /** The next delay. Each call doubles the window that the delay is drawn from. */
  next(): number;
  reset(): void;
}

/** A gateway that asks for more than this is not believed: a wrong number must not put a client to sleep for good. */
const LONGEST_RETRY_AFTER_MS = 3_600_000;

/** @param random Uniform in [0, 1). */
export function createBackoff(bounds: BackoffBounds, random: () => number): Backoff {
  let windowMs = bounds.minMs;
  return {
    next() {
      const delayMs = Math.floor(random() * windowMs);
      windowMs = Math.min(windowMs * 2, bounds.maxMs);
      return delayMs;
    },
    reset() {
      windowMs = bounds.minMs;
    },
  };
}

/** When the gateway said how long to wait, the jitter comes on top of that. */
export function retryDelay(backoff: Backoff, retryAfterMs = 0): number {
  return Math.min(retryAfterMs, LONGEST_RETRY_AFTER_MS) + backoff.next();
}
