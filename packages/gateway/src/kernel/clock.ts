// Time as an argument, so that tests can move it. Wall time says when; monotonic time says how long.

export interface Timer {
  cancel(): void;
}

export interface Clock {
  /** Milliseconds since 1970; may jump. */
  now(): number;
  /** Milliseconds since some start; never goes back. */
  monotonic(): number;
  /** Calls once after the delay. A pending timer does not keep the process alive. */
  after(delayMs: number, call: () => void): Timer;
  /** Calls again and again until cancelled. */
  every(intervalMs: number, call: () => void): Timer;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(delayMs, call) {
    const handle = setTimeout(call, delayMs);
    handle.unref();
    return { cancel: () => clearTimeout(handle) };
  },
  every(intervalMs, call) {
    const handle = setInterval(call, intervalMs);
    handle.unref();
    return { cancel: () => clearInterval(handle) };
  },
};
