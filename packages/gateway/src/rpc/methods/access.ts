import { expandScopes, GatewayError, limits, missingScopes } from '@tenon/protocol';
import { randomId } from '../../kernel/ids.ts';
import type { WriteResult } from '../../store/operations.ts';
import type { Handlers, PresentContext } from '../handler.ts';

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
  'signin.create': {
    commit({ scopes }, { commitAnswer, actor, signIn, store, principal }) {
      // The link itself is not kept: a repeat gets it while the code can still be used.
      return commitAnswer(async () => {
        const wanted = { scopes: scopes ?? principal.scopes, by: principal.id, held: principal.held, tokenUntil: principal.expiresAt };
        const grant = signIn.create(wanted);
        const details = { scopes: [...grant.scopes], expiresAt: grant.expiresAt };
        await store.write('audit.append', { actor: actor.actor, action: 'signin.create', target: grant.id, details, at: actor.at });
        return { id: grant.id, expiresAt: grant.expiresAt };
      });
    },
    present({ id, expiresAt }: { id: string; expiresAt: number }, { signIn }) {
      const url = signIn.url(id);
      if (url === undefined) {
        throw new GatewayError(
          'CONFLICT',
          'This sign-in link was used already or has expired; ask for another one with a new idempotency key',
          {
            details: { code: 'SIGN_IN_OVER' },
          },
        );
      }
      return { url, expiresAt };
    },
  },
  'tokens.rotate': {
    async commit({ id }, { commit, actor, mint, connections, connection, signIn }) {
      const secret = mint.strike(id);
      const stored = await commit('tokens.rotate', { ...actor, ...secret, id });
      // Not for a repeat: by then the sockets are those of the new secret.
      if (stored.salt === secret.salt) {
        connections.revoke(`token:${id}`, connection);
        signIn.forget(`token:${id}`);
      }
      return stored;
    },
    present: revealToken,
  },
  'tokens.revoke': async ({ id }, { commit, actor, connections, signIn, turns }) => {
    const answer = await commit('tokens.revoke', { ...actor, id });
    connections.revoke(`token:${id}`);
    turns.stopFor(`token:${id}`);
    signIn.forget(`token:${id}`);
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
  'device.revoke': async ({ id }, { commit, actor, connections, signIn, turns }) => {
    const answer = await commit('device.revoke', { ...actor, id });
    // Not for a repeat: the device may have been let in again.
    if (answer.device.revokedAt === actor.at) {
      connections.revoke(`device:${id}`);
      turns.stopFor(`device:${id}`);
      signIn.forget(`device:${id}`);
    }
    return answer;
  },
} satisfies Partial<Handlers>;

/** What a credential hands on ends with it at the latest. */
function outlives(what: string): GatewayError {
  return new GatewayError('SCOPE', `${what} would outlive the credential that grants it`, { details: { code: 'OUTLIVES_CREDENTIAL' } });
}

function revealToken({ record, salt }: StoredToken, { mint }: PresentContext) {
  return { token: mint.reveal(record.id, salt), record };
}
