import { DEFAULT_AGENT_ID, GatewayError } from '@tenon/protocol';
import { randomId } from '../../kernel/ids.ts';
import type { Handlers } from '../handler.ts';

const DEFAULT_PAGE = 50;

export const sessionHandlers = {
  'sessions.list': ({ limit = DEFAULT_PAGE, ...filter }, { store, principal }) =>
    store.read('sessions.list', { ...filter, limit, ...(principal.sessionKey === undefined ? {} : { boundTo: principal.sessionKey }) }),

  'sessions.get': ({ key }, { store }) => store.read('sessions.get', { key }),

  'sessions.create': ({ key, agentId, idempotencyKey: _, ...fields }, { commit, clock }) => {
    if (key !== undefined && agentId !== undefined && !key.startsWith(`agent:${agentId}:`)) {
      throw new GatewayError('INVALID_REQUEST', `params/key "${key}" is not under the agent "${agentId}"`);
    }
    return commit('sessions.create', { key: key ?? `agent:${agentId ?? DEFAULT_AGENT_ID}:${newKey()}`, fields, at: clock.now() });
  },

  'sessions.patch': ({ key, ifRevision, idempotencyKey: _, ...fields }, { commit, clock }) =>
    commit('sessions.patch', { key, fields, at: clock.now(), ...(ifRevision === undefined ? {} : { ifRevision }) }),

  'sessions.reset': ({ key }, { commit, clock }) => commit('sessions.reset', { key, at: clock.now() }),

  'sessions.delete': ({ key }, { commit, clock }) => commit('sessions.delete', { key, at: clock.now() }),
} satisfies Partial<Handlers>;

/** The grammar of keys wants a letter or digit first; base64url may begin with `-` or `_`. */
function newKey(): string {
  return `s${randomId()}`;
}
