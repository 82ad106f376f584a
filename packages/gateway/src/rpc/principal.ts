// Who a connection acts for. Derived from a credential's record, never from what a client says of itself.
import { expandScopes, type Scope, scopeNames, scopes } from '@tenon/protocol';

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

// A plugin shares this process, and may replace the methods of Set, Map and Array for everybody, by mistake or on purpose. So the
// question of all questions, whether a scope is held, calls none of them: it is asked of numbers, by a method of its own, and
// everything that it needs is taken when this file is loaded, which is before any plugin is.
const { defineProperty } = Object;
const bits: Record<string, number> = Object.create(null) as Record<string, number>;
const withImplied: Record<string, number> = Object.create(null) as Record<string, number>;
for (const [index, name] of scopeNames.entries()) bits[name] = 1 << index;
for (const name of scopeNames) withImplied[name] = [name, ...scopes[name].implies].reduce((all, each) => all | (bits[each] ?? 0), 0);

export function createPrincipal(record: Omit<Principal, 'held'>): Principal {
  let mask = 0;
  for (let index = 0; index < record.scopes.length; index++) mask |= withImplied[record.scopes[index] as Scope] ?? 0;
  const held = expandScopes(record.scopes);
  defineProperty(held, 'has', { value: (scope: Scope) => (mask & (bits[scope] ?? 0)) !== 0 });
  return { ...record, held };
}
