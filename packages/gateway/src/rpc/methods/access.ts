import { expandScopes, GatewayError, limits, missingScopes } from '@tenon/protocol';
import { randomId } from '../../kernel/ids.ts';
import type { WriteResult } from '../../store/operations.ts';
import type { Handlers, RequestContext } from '../handler.ts';

type StoredToken = WriteResult<'tokens.create'>;

export const accessHandlers = {
  'tokens.create': {
    commit(params, { commit, actor, mint, principal }) {
      const expiresAt = params.expiresAt ?? principal.expiresAt;
      if (expiresAt !== undefined && expiresAt <= actor.at) throw new GatewayError('INVALID_REQUEST', 'params/expiresAt is in the past');
      if (expiresAt !== undefined && expiresAt > (principal.expiresAt ?? expiresAt)) throw outlives('params/expiresAt');
      const id = randomId();
      return commit('tokens.create', {
        ...actor,
        ...mint.strike(id),
        id,
        name: params.name,
        scopes: params.scopes,
        sessionKey: params.sessionKey ?? null,
        expiresAt: expiresAt ?? null,
        limit: limits.maxTokens.value,
      });
    },
    present: revealToken,
  },
  'tokens.rotate': {
    async commit({ id }, { commit, actor, mint, connections, connection }) {
      const secret = mint.strike(id);
      const stored = await commit('tokens.rotate', { ...actor, ...secret, id });
      // Not for a repeat: by then the sockets are those of the new secret.
      if (stored.salt === secret.salt) connections.revoke(`token:${id}`, connection);
      return stored;
    },
    present: revealToken,
  },
  'tokens.revoke': async ({ id }, { commit, actor, connections }) => {
    const answer = await commit('tokens.revoke', { ...actor, id });
    connections.revoke(`token:${id}`);
    return answer;
  },
  'tokens.list': async (_, { store }) => ({ tokens: await store.read('tokens.list', {}) }),

  'device.pair.list': async (_, { store, clock }) => ({ requests: await store.read('pairing.list', { at: clock.now() }) }),
  'device.pair.approve': async ({ requestId, scopes, name }, { commit, actor, store, principal }) => {
    if (principal.expiresAt !== undefined) throw outlives('A paired device');
    // One that is gone is for the commit to judge: it may have been answered under this very key.
    const request = (await store.read('pairing.list', { at: actor.at })).find((each) => each.requestId === requestId);
    const beyond = request && scopes ? missingScopes(expandScopes(request.scopes), scopes) : [];
    if (beyond.length > 0) throw new GatewayError('INVALID_REQUEST', `The device did not ask for ${beyond.join(', ')}`);
    return commit('pairing.approve', {
      ...actor,
      requestId,
      limit: limits.maxDevices.value,
      ...(scopes === undefined ? {} : { scopes }),
      ...(name === undefined ? {} : { name }),
    });
  },
  'device.pair.reject': ({ requestId }, { commit, actor }) => commit('pairing.reject', { ...actor, requestId }),
  'device.list': async (_, { store }) => ({ devices: await store.read('device.list', {}) }),
  'device.rename': ({ id, name }, { commit, actor }) => commit('device.rename', { ...actor, id, name }),
  'device.revoke': async ({ id }, { commit, actor, connections }) => {
    const answer = await commit('device.revoke', { ...actor, id });
    // Not for a repeat: the device may have been let in again.
    if (answer.device.revokedAt === actor.at) connections.revoke(`device:${id}`);
    return answer;
  },
} satisfies Partial<Handlers>;

/** What a credential hands on ends with it at the latest. */
function outlives(what: string): GatewayError {
  return new GatewayError('SCOPE', `${what} would outlive the credential that grants it`, { details: { code: 'OUTLIVES_CREDENTIAL' } });
}

function revealToken({ record, salt }: StoredToken, { mint }: RequestContext) {
  return { token: mint.reveal(record.id, salt), record };
}
