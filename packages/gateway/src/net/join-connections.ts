// A request over HTTP that lasts: among the connections, so that a credential that is revoked, or a gateway that stops, reaches it too.
import { GatewayError } from '@tenon/protocol';
import { randomId } from '../kernel/ids.ts';
import type { Connection } from '../rpc/connections.ts';
import type { GuardedCall, HttpDeps } from './route.ts';

/** The caller removes it when the request is over. */
export function joinConnections(
  { principal, address, request }: GuardedCall,
  { connections, clock }: Pick<HttpDeps, 'connections' | 'clock'>,
  end: (why: GatewayError) => void,
): Connection {
  const connection: Connection = {
    id: randomId(),
    principal,
    client: { id: 'http', version: request.httpVersion, platform: 'http', mode: 'api' },
    connectedAt: clock.now(),
    address,
    passing: true,
    subscription: undefined,
    revoked: false,
    close(code) {
      end(
        code === 4001
          ? new GatewayError('UNAUTHORIZED', 'The credential is no longer valid', { details: { code: 'AUTH_REVOKED' } })
          : new GatewayError('UNAVAILABLE', 'The gateway is stopping; the turn goes on when it is back', { details: { code: 'STOPPING' } }),
      );
    },
  };
  connections.add(connection);
  return connection;
}
