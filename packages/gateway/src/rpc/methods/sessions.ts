import { DEFAULT_AGENT_ID, GatewayError, type PermissionMode, type Scope, type Session } from '@tenon/protocol';
import { tellModel } from '../../agent/choose-model.ts';
import { askExtension, type Extension, type Fields, findExtension } from '../../agent/patch-extension.ts';
import { askUntilFresh } from '../../agent/plugin-effects.ts';
import { showsFields, withPluginFields } from '../../agent/plugin-sessions.ts';
import { deleteSession, isWatched, resetSession, tellStart } from '../../agent/session-life.ts';
import { randomId } from '../../kernel/ids.ts';
import type { Committed, Handlers, RequestContext } from '../handler.ts';
import type { Principal } from '../principal.ts';

const DEFAULT_PAGE = 50;

interface Patched {
  readonly session: Session;
  readonly runId?: string;
}

export const sessionHandlers = {
  'sessions.list': async ({ limit = DEFAULT_PAGE, ...filter }, context) => {
    const { store, principal } = context;
    const bound = principal.sessionKey === undefined ? {} : { boundTo: principal.sessionKey };
    const page = await store.read('sessions.list', { ...filter, limit, ...bound });
    return { ...page, sessions: await withPluginFields(page.sessions, context, context.plugins()) };
  },

  'sessions.get': async ({ key }, context) => {
    const { session } = await context.store.read('sessions.get', { key });
    const [shown = session] = await withPluginFields([session], context, context.plugins());
    return { session: shown };
  },

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

  'sessions.patch': {
    isDraft: ({ plugins }) => showsFields(plugins()),
    commit({ key, ifRevision, extension, idempotencyKey: _, ...fields }, context): Promise<Committed<Patched>> {
      const { commit, clock, principal } = context;
      requireForMode(fields.permissions, principal);
      if (extension)
        return context.commitAfter(() =>
          context.lanes.run(`patch\n${key}`, () => patchWithExtension(key, fields, ifRevision, extension, context)),
        );
      const patched = commit('sessions.patch', {
        key,
        fields,
        by: principal.id,
        at: clock.now(),
        ...(ifRevision === undefined ? {} : { ifRevision }),
      });
      if ((fields.model === undefined && fields.thinking === undefined) || !context.hooks.has('model_select')) return patched;
      return patched.then((result) => {
        tellModel(result.session, context);
        return result;
      });
    },
    // The row that `sessions.get` gives, so that nobody has to read it again to see what the patch did to what plugins show.
    async complete(draft, context) {
      const [session = draft.session] = await withPluginFields([draft.session], context, context.plugins());
      return { ...draft, session };
    },
  },

  'sessions.injections': async ({ key }, { store, clock }) => {
    await store.read('sessions.expect', { key });
    return store.read('injections.list', { key, at: clock.now() });
  },

  'sessions.reset': ({ key }, context) =>
    inOrder(context, () => resetSession(key, context, (args) => context.commit('sessions.reset', args))),

  'sessions.delete': ({ key }, context) =>
    inOrder(context, () => deleteSession(key, context, (args) => context.commit('sessions.delete', args))),
} satisfies Partial<Handlers>;

/** Nobody waits for the plugin with the session locked: if somebody else was faster, it is asked again about what is there now. */
async function patchWithExtension(
  key: string,
  fields: Fields,
  ifRevision: number | undefined,
  extension: Extension,
  { commit, clock, store, principal, plugins, wake, turns }: RequestContext,
): Promise<Committed<Patched>> {
  const host = plugins();
  const registered = findExtension(extension, principal.held, host, (id) => host.get(id)?.state === 'loaded');
  const ask = async () => {
    const { session } = await store.read('sessions.get', { key });
    if (ifRevision !== undefined && ifRevision !== session.revision)
      throw new GatewayError('CONFLICT', `Session "${key}" is at revision ${session.revision}, not ${ifRevision}`, {
        details: { code: 'STALE_REVISION', revision: session.revision },
      });
    const [shown = session] = await withPluginFields([session], { store, clock }, host);
    const said = { payload: extension.payload, held: principal.held };
    const { looked, ...asked } = await askExtension(registered, shown, fields, said, { store, plugins: host, wake });
    const write = { key, ...asked, ifRevision: session.revision, by: principal.id, at: clock.now() };
    return { looked, commit: () => commit('sessions.patch', write) };
  };
  const patched = await askUntilFresh(ask);
  if (patched.runId !== undefined) turns.accepted(key);
  return patched;
}

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
