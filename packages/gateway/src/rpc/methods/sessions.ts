import { DEFAULT_AGENT_ID, GatewayError, type PermissionMode, type Scope } from '@tenon/protocol';
import { deleteSession, isWatched, resetSession, tellStart } from '../../agent/session-life.ts';
import { randomId } from '../../kernel/ids.ts';
import type { Committed, Handlers, RequestContext } from '../handler.ts';
import type { Principal } from '../principal.ts';

const DEFAULT_PAGE = 50;

export const sessionHandlers = {
  'sessions.list': ({ limit = DEFAULT_PAGE, ...filter }, { store, principal }) =>
    store.read('sessions.list', { ...filter, limit, ...(principal.sessionKey === undefined ? {} : { boundTo: principal.sessionKey }) }),

  'sessions.get': ({ key }, { store }) => store.read('sessions.get', { key }),

  'sessions.create': ({ key, agentId, idempotencyKey: _, ...fields }, { commit, clock, principal, hooks }) => {
    requireForMode(fields.permissions, principal);
    if (key !== undefined && agentId !== undefined && !key.startsWith(`agent:${agentId}:`)) {
      throw new GatewayError('INVALID_REQUEST', `params/key "${key}" is not under the agent "${agentId}"`);
    }
    const made = commit('sessions.create', {
      key: key ?? `agent:${agentId ?? DEFAULT_AGENT_ID}:${newKey()}`,
      fields,
      by: principal.id,
      at: clock.now(),
    });
    return hooks.has('session_start') ? made.then((result) => tellStart(hooks, result, 'new')) : made;
  },

  'sessions.patch': ({ key, ifRevision, idempotencyKey: _, ...fields }, { commit, clock, principal }) => {
    requireForMode(fields.permissions, principal);
    return commit('sessions.patch', {
      key,
      fields,
      by: principal.id,
      at: clock.now(),
      ...(ifRevision === undefined ? {} : { ifRevision }),
    });
  },

  'sessions.reset': ({ key }, context) =>
    inOrder(context, () => resetSession(key, context, (args) => context.commit('sessions.reset', args))),

  'sessions.delete': ({ key }, context) =>
    inOrder(context, () => deleteSession(key, context, (args) => context.commit('sessions.delete', args))),
} satisfies Partial<Handlers>;

/** At once, so that requests keep their order; where plugins are told first, only if this was not answered before. */
function inOrder<Answer>(context: RequestContext, work: () => Promise<Committed<Answer>>): Promise<Committed<Answer>> {
  return isWatched(context.hooks) ? context.commitAfter(work) : work();
}

/** What a session may do without asking is for those to widen who may answer; to let nothing ask is for the operator. */
const scopeForMode: Readonly<Record<PermissionMode, Scope>> = {
  ask: 'operator.approvals',
  'accept-edits': 'operator.approvals',
  deny: 'operator.write',
  bypass: 'operator.admin',
};

export function requireForMode(mode: PermissionMode | null | undefined, { held }: Principal): void {
  if (mode === undefined) return;
  // Null goes back to what the agent says, which may be wider than what the session had.
  const scope = mode === null ? 'operator.approvals' : scopeForMode[mode];
  if (held.has(scope)) return;
  throw new GatewayError('SCOPE', `The permission mode ${mode ?? 'of the agent'} needs the scope ${scope}`, {
    details: { code: 'MISSING_SCOPE', missingScope: scope, requiredScopes: [scope] },
  });
}

/** The grammar of keys wants a letter or digit first; base64url may begin with `-` or `_`. */
function newKey(): string {
  return `s${randomId()}`;
}
