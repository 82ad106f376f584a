// Who a connection acts for. Derived from a credential's record, never from what a client says of itself.
import { expandScopes, type Scope } from '@tenon/protocol';

export interface Principal {
  /** `token:<id>`, `device:<id>` or `none`: also the owner of idempotency keys. */
  readonly id: string;
  readonly method: 'token' | 'device' | 'none';
  readonly scopes: readonly Scope[];
  /** The scopes and all that they imply. */
  readonly held: ReadonlySet<Scope>;
  /** The one session that this credential may touch. */
  readonly sessionKey?: string;
  readonly expiresAt?: number;
}

export function createPrincipal(record: Omit<Principal, 'held'>): Principal {
  return { ...record, held: expandScopes(record.scopes) };
}
