// How the store says no. Plain enough to cross from the writer thread, which does not load the protocol's schemas.
import type { ErrorCode, JsonValue } from '@tenon/protocol';

export interface PlainFailure {
  readonly kind: 'refused' | 'storage' | 'bug';
  readonly code: ErrorCode;
  readonly message: string;
  readonly details?: JsonValue;
  /** For our log only. */
  readonly cause?: string;
}

/** The store cannot be opened as it is. The message is one line for the operator. */
export class StoreOpenError extends Error {
  readonly reason: 'locked' | 'newer' | 'damaged' | 'foreign' | 'unreachable' | 'storage';

  constructor(reason: StoreOpenError['reason'], message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.reason = reason;
  }
}
