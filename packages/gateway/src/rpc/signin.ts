// One-time codes that sign a browser in. A code travels in the fragment of a link, so no server, log or Referer sees it;
// what is kept here is its digest. Codes live in memory only: a restart takes them all back.
import { createHmac, randomBytes } from 'node:crypto';
import { expandScopes, GatewayError, limits, missingScopes, type Scope } from '@tenon/protocol';
import type { Clock } from '../kernel/clock.ts';
import { randomId, sha256 } from '../kernel/ids.ts';

export interface SignInGrant {
  readonly id: string;
  readonly scopes: readonly Scope[];
  /** The principal that made the code. */
  readonly by: string;
  /** Of the code. */
  readonly expiresAt: number;
  /** The token that the code becomes ends by then, because the credential of its maker does. */
  readonly tokenUntil: number | undefined;
}

export interface SignIn {
  /** Throws SCOPE when the scopes are wider than what the maker holds. */
  create(wanted: { scopes: readonly Scope[]; by: string; held: ReadonlySet<Scope>; tokenUntil?: number | undefined }): SignInGrant;
  /** The link of a code that can still be used. */
  url(id: string): string | undefined;
  /** The grant of a code; it stays usable. */
  find(code: string): SignInGrant | undefined;
  /** Uses the code up; gives whether it was there to be used. */
  take(grant: SignInGrant): boolean;
  /** The token could not be made after all: the code can be used again. */
  putBack(grant: SignInGrant): void;
  /** Takes back all codes of a maker whose credential was revoked. */
  forget(principalId: string): void;
}

export function createSignIn({ clock, gatewayUrl }: { clock: Clock; gatewayUrl: () => string }): SignIn {
  // A code follows from its id and this key: the same link can be given to a repeated request, and no code is kept.
  const key = randomBytes(32);
  const grants = new Map<string, SignInGrant>();
  const codeOf = (id: string) => createHmac('sha256', key).update(`sign-in\n${id}`).digest().subarray(0, 16).toString('base64url');
  const digestOf = (code: string) => sha256(`tenon-sign-in\n${code}`);

  function live(digest: string): SignInGrant | undefined {
    const grant = grants.get(digest);
    if (grant && grant.expiresAt > clock.now()) return grant;
    grants.delete(digest);
    return undefined;
  }

  return {
    create({ scopes, by, held, tokenUntil }) {
      const missing = missingScopes(held, scopes);
      if (missing.length > 0) {
        throw new GatewayError('SCOPE', `The caller does not hold ${missing.join(', ')}`, {
          details: { code: 'MISSING_SCOPE', missingScope: missing[0] as Scope, requiredScopes: [...expandScopes(scopes)] },
        });
      }
      const id = randomId();
      const grant = { id, scopes, by, expiresAt: clock.now() + limits.signInTtlMs.value, tokenUntil };
      for (const digest of grants.keys()) live(digest);
      const [oldest] = grants.keys();
      if (grants.size >= limits.signInCodes.value && oldest !== undefined) grants.delete(oldest);
      grants.set(digestOf(codeOf(id)), grant);
      return grant;
    },
    url(id) {
      const code = codeOf(id);
      return live(digestOf(code)) && `${gatewayUrl()}/#code=${code}`;
    },
    find: (code) => live(digestOf(code)),
    take: ({ id }) => grants.delete(digestOf(codeOf(id))),
    putBack: (grant) => void grants.set(digestOf(codeOf(grant.id)), grant),
    forget(principalId) {
      for (const [digest, { by }] of grants) if (by === principalId) grants.delete(digest);
    },
  };
}
