// How the store says no. Plain enough to cross from the writer thread, which does not load the protocol's schemas.
import type { ErrorCode, JsonValue } from '@tenon/protocol';
import { Refusal } from './sql.ts';

export interface PlainFailure {
  readonly kind: 'refused' | 'storage' | 'bug';
  readonly code: ErrorCode;
  readonly message: string;
  readonly details?: JsonValue;
  /** For our log only. */
  readonly cause?: string;
}

/** `reason`: what the engine makes of an error that lies with the disk or the database; without one it is a fault of ours. */
export function failureOf(error: unknown, reason: string | undefined): PlainFailure {
  if (error instanceof Refusal) {
    return {
      kind: error.code === 'STORAGE' ? 'storage' : 'refused',
      code: error.code,
      message: error.message,
      ...(error.details === undefined ? {} : { details: error.details }),
    };
  }
  const cause = error instanceof Error ? (error.stack ?? error.message) : String(error);
  if (reason !== undefined) return { kind: 'storage', code: 'STORAGE', message: reason, cause };
  return { kind: 'bug', code: 'INTERNAL', message: error instanceof Error ? error.message : String(error), cause };
}

/** The store cannot be opened as it is. The message is one line for the operator. */
export class StoreOpenError extends Error {
  readonly reason: 'locked' | 'missing' | 'newer' | 'damaged' | 'foreign' | 'unreachable' | 'storage';

  constructor(reason: StoreOpenError['reason'], message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.reason = reason;
  }
}
