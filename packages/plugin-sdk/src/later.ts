// Turns at a later time, and files to where a session came from. The types and the rules for input are here and hold; for files
// the gateway answers `unavailable` until it has channels.
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

export interface SessionAttachment {
  readonly sessionKey: string;
  /** Up to 10; a relative path is one in the workspace of the agent. */
  readonly files: readonly { readonly path: string }[];
  readonly text?: string;
  /** Of each file and of all together; 25 MiB at most, and where nothing is said. */
  readonly maxBytes?: number;
  readonly threadId?: string;
  readonly forceDocument?: boolean;
  readonly captionFormat?: 'plain' | 'html' | 'markdown';
}

export type AttachmentOutcome =
  | { readonly ok: true; readonly channel: string; readonly deliveredTo: string; readonly count: number }
  | Refused;
