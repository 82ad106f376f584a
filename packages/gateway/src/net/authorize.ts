// The bearer token of an HTTP request: who it is, and whether that is enough. The same rules as at the socket.
import type { IncomingMessage } from 'node:http';
import { GatewayError, type Scope } from '@tenon/protocol';
import type { Connections } from '../rpc/connections.ts';
import type { Principal } from '../rpc/principal.ts';
import type { Authenticator } from './auth.ts';
import type { Peer } from './peer.ts';

export async function authorize(
  request: IncomingMessage,
  peer: Peer,
  { scope, bound }: { scope: Scope | 'any'; bound?: 'own-session' },
  { auth, connections }: { auth: Authenticator; connections: Connections },
): Promise<Principal> {
  const { revocations } = connections;
  const principal = await auth.bearer(request.headers.authorization, peer);
  if (connections.revokedSince(revocations, principal.id))
    throw new GatewayError('UNAUTHORIZED', 'The credential was revoked', { details: { code: 'AUTH_REVOKED' } });
  if (scope !== 'any' && !principal.held.has(scope)) {
    throw new GatewayError('SCOPE', `This needs the scope ${scope}`, {
      details: { code: 'MISSING_SCOPE', missingScope: scope, requiredScopes: [scope] },
    });
  }
  if (principal.sessionKey !== undefined && bound === undefined)
    throw new GatewayError('SCOPE', 'This credential is bound to one session', { details: { code: 'SESSION_BOUND' } });
  return principal;
}
