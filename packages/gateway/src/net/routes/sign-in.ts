// A browser signs in with a code from a link and gets a token of its own; signing out revokes it.
import { expandScopes, explain, GatewayError, limits, matches } from '@tenon/protocol';
import { Type } from 'typebox';
import { randomId } from '../../kernel/ids.ts';
import type { SignInGrant } from '../../rpc/signin.ts';
import { SHARED_TOKEN_ID } from '../../store/access.ts';
import { json } from '../answer.ts';
import { jsonOf } from '../body.ts';
import { type Call, type HttpDeps, JSON_TYPES, type Routes } from '../route.ts';

const SignInBody = Type.Object({ code: Type.String({ minLength: 1, maxLength: 128 }) }, { additionalProperties: false });

const SMALL_BODY = { maxBytes: 1_024, types: JSON_TYPES };

export const signInRoutes: Routes = {
  '/api/sign-in': { method: 'POST', scope: 'none', body: SMALL_BODY, handle: signIn },
  '/api/sign-out': {
    method: 'POST',
    scope: 'any',
    bound: 'own-session',
    async handle({ principal }, { store, clock, connections, signIn }) {
      const id = /^token:(.+)$/.exec(principal.id)?.[1];
      if (id === undefined) return json(200, { revoked: false });
      // It belongs to the machine, not to the browser: the CLI would be locked out along with the page.
      if (id === SHARED_TOKEN_ID)
        throw new GatewayError(
          'INVALID_REQUEST',
          'The token of the token file is not revoked by signing out; only forget it in the browser',
        );
      await store.write('tokens.revoke', { actor: principal.id, at: clock.now(), held: [...principal.held], id });
      connections.revoke(principal.id);
      signIn.forget(principal.id);
      return json(200, { revoked: true });
    },
  },
};

async function signIn({ body, peer, address }: Call, { auth, signIn, store, mint, clock }: HttpDeps) {
  const request = jsonOf(body);
  if (!matches(SignInBody, request))
    throw new GatewayError('INVALID_REQUEST', explain(SignInBody, request, 'body') ?? 'The body does not fit');
  const grant = await auth.attempt(peer, async () => signIn.find(request.code) ?? badCode());
  // Two browsers with the same link: the first has it.
  if (!signIn.take(grant)) badCode();
  try {
    return json(200, await makeToken(grant));
  } catch (error) {
    signIn.putBack(grant);
    throw error;
  }

  async function makeToken({ scopes, by, tokenUntil }: SignInGrant) {
    const at = clock.now();
    const id = randomId();
    const until = at + limits.signInTokenTtlMs.value;
    const { record, salt } = await store.write('tokens.create', {
      ...mint.strike(id),
      actor: `sign-in of ${by} at ${address}`,
      at,
      held: [...expandScopes(scopes)],
      id,
      name: 'web page',
      scopes,
      sessionKey: null,
      expiresAt: Math.min(until, tokenUntil ?? until),
      limit: limits.maxTokens.value,
    });
    return { token: mint.reveal(id, salt), record };
  }
}

function badCode(): never {
  throw new GatewayError(
    'UNAUTHORIZED',
    'The sign-in link was used already, has expired, or is not one of this gateway; `tenon ui` prints a fresh one',
    {
      details: { code: 'AUTH_SIGN_IN_CODE' },
    },
  );
}
