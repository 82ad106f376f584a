// Values that many parts of the api share.
import type { JsonObject } from '@tenon/protocol';

/** What a late call gives when it was not done. */
export interface Refused {
  readonly ok: false;
  /** A stable code. */
  readonly reason: 'not-loaded' | 'not-granted' | 'invalid' | 'no-session' | 'conflict' | 'limit' | 'unavailable';
  readonly message: string;
}

export interface Logger {
  debug(message: string, fields?: JsonObject): void;
  info(message: string, fields?: JsonObject): void;
  warn(message: string, fields?: JsonObject): void;
  error(message: string, fields?: JsonObject): void;
}

/** Passed to every handler. */
export interface CallContext {
  /** Aborts when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

/** Why something of the plugin is cleaned up. */
export type CleanupReason = 'reset' | 'delete' | 'disable' | 'restart';
