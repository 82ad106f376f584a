// Turns at a later time.
import type { Refused } from './values.ts';

/** When: exactly one of `at`, `delayMs` and `cron`. */
export interface ScheduledTurn {
  readonly sessionKey: string;
  /** What the agent is told then. */
  readonly message: string;
  /** A date and time, such as 2030-01-31T08:00:00Z, as text, in milliseconds since 1970, or as a Date. */
  readonly at?: string | number | Date;
  readonly delayMs?: number;
  /** Five fields, again and again. */
  readonly cron?: string;
  /** Of `cron`, such as Europe/Berlin. */
  readonly tz?: string;
  /** By which it can be taken back; without a colon. */
  readonly tag?: string;
  readonly name?: string;
  /** Only for what runs once: false keeps the finished job listed until somebody removes it. */
  readonly deleteAfterRun?: boolean;
  /** `announce`, as if nothing is said: the answer is sent to where the session came from. */
  readonly deliveryMode?: 'none' | 'announce';
}

export type ScheduleOutcome = { readonly ok: true; readonly id: string; readonly sessionKey: string; readonly nextAt: number } | Refused;

export type UnscheduleOutcome = { readonly ok: true; readonly removed: number } | Refused;
