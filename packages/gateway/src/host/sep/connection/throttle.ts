// How much an extension may say: so many messages and bytes a second, with a reserve for bursts. Who has used it up is not
// read until it has refilled; who uses it up for longer than the patience lasts is flooding.
import type { Clock } from '../../../kernel/clock.ts';

export interface ThrottleLimits {
  readonly perSecond: number;
  readonly burst: number;
  readonly bytesPerSecond: number;
  readonly burstBytes: number;
  /** How long somebody may be held back without a break. */
  readonly patienceMs: number;
}

export interface Throttle {
  /** Milliseconds to wait before the next one is taken; 0 when there is no need to. */
  spend(messages: number, bytes: number): number;
  readonly isFlooded: boolean;
}

/** A reserve that is this full again has been given a break. */
const RESTED = 0.5;

export function createThrottle(limits: ThrottleLimits, clock: Clock): Throttle {
  let messages = limits.burst;
  let bytes = limits.burstBytes;
  let seenAt = clock.monotonic();
  let heldBackSince: number | undefined;

  function refill(now: number): void {
    const seconds = (now - seenAt) / 1_000;
    if (seconds <= 0) return;
    seenAt = now;
    messages = Math.min(limits.burst, messages + seconds * limits.perSecond);
    bytes = Math.min(limits.burstBytes, bytes + seconds * limits.bytesPerSecond);
    if (messages >= RESTED * limits.burst && bytes >= RESTED * limits.burstBytes) heldBackSince = undefined;
  }

  return {
    spend(spentMessages, spentBytes) {
      messages -= spentMessages;
      bytes -= spentBytes;
      // The time is looked at only when there may be a need to wait: this is called for every message.
      if (messages > 0 && bytes > 0) return 0;
      refill(clock.monotonic());
      if (messages > 0 && bytes > 0) return 0;
      heldBackSince ??= seenAt;
      const lacking = Math.max(-messages / limits.perSecond, -bytes / limits.bytesPerSecond);
      return Math.max(10, Math.ceil(lacking * 1_000));
    },
    get isFlooded() {
      return heldBackSince !== undefined && clock.monotonic() - heldBackSince > limits.patienceMs;
    },
  };
}
