import { GatewayError, hookNames, limits, type PluginDetails, type PluginInfo, type Result } from '@tenon/protocol';
import { askUntilFresh, putsOf, changesNothing } from '../../agent/plugin-effects.ts';
import { findAction, performAction } from '../../agent/session-actions.ts';
import { descriptorsFor } from '../../agent/ui-descriptors.ts';
import type { Registered } from '../../host/hook-registry.ts';
import { tellOfPress } from '../../agent/button-presses.ts';
import type { PluginHost, PluginInfo as HostedPlugin } from '../../host/plugin-host.ts';
import { faultpoint } from '../../kernel/fault.ts';
import { didYouMean } from '../../kernel/nearest.ts';
import type { Committed, Handlers, RequestContext } from '../handler.ts';

/** Where nobody says how many. */
const LOG_LINES = 200;

export const pluginHandlers = {
  'plugins.list': (_, { plugins }) => {
    const host = plugins();
    return { plugins: host.list().map(toInfo), generation: host.generation, safe: host.safe };
  },

  'plugins.get': async ({ id, files = false }, { plugins }) => {
    const host = plugins();
    const treeHash = files ? await host.treeHash(id) : undefined;
    const found = host.get(id);
    if (!found) throw unknownPlugin(id, host);
    return { plugin: { ...toDetails(found), ...(treeHash === undefined ? {} : { treeHash }) } };
  },

  'plugins.changes': async ({ id }, { plugins }) => {
    const host = plugins();
    if (!host.get(id)) throw unknownPlugin(id, host);
    return host.changes(id);
  },

  'plugins.logs': ({ id, after = 0, limit = LOG_LINES }, { plugins }) => {
    const host = plugins();
    if (!host.get(id)) throw unknownPlugin(id, host);
    const { lines, cursor, dropped } = host.logs(id, after, limit);
    return { lines: [...lines], cursor, dropped };
  },

  'plugins.enable': ({ id, grants, treeHash }, context) =>
    change(context, id, (host, by) =>
      host.enable(id, { ...by, ...(grants === undefined ? {} : { grants }), ...(treeHash === undefined ? {} : { treeHash }) }),
    ),
  'plugins.disable': ({ id, forget = false }, context) => change(context, id, (host, by) => host.disable(id, { ...by, forget })),
  'plugins.grant': ({ id, grants }, context) => change(context, id, (host, by) => host.grant(id, grants, by)),
  'plugins.revoke': ({ id, grants }, context) => change(context, id, (host, by) => host.revoke(id, grants, by)),

  'plugins.reload': ({ id }, { commitAnswer, plugins, principal }) =>
    commitAnswer(async () => {
      const host = plugins();
      // One that nobody knows yet may be in a folder by now: it is looked for first.
      const reloaded = await host.reload(id, { by: principal.id }).catch((error: unknown) => {
        throw id !== undefined && !host.get(id) ? unknownPlugin(id, host) : error;
      });
      return { plugins: reloaded.map(toInfo), generation: host.generation };
    }),

  'plugins.config': ({ id, config }, { commitAnswer, plugins, principal }) =>
    commitAnswer(async () => {
      const host = plugins();
      if (!host.get(id)) throw unknownPlugin(id, host);
      return { plugin: toDetails(await host.setConfig(id, config, { by: principal.id })) };
    }),

  'plugins.uiDescriptors': (_, { plugins, principal }) => {
    const host = plugins();
    return { descriptors: descriptorsFor(principal.held, host), generation: host.generation };
  },

  'plugins.sessionAction': ({ pluginId, actionId, sessionKey, payload }, context) => {
    const { commit, commitAfter, keepAnswer, clock, plugins, principal, store, turns, lanes, wake } = context;
    const running = turns.running(sessionKey);
    const request = {
      pluginId,
      actionId,
      sessionKey,
      held: principal.held,
      ...(running === undefined ? {} : { runId: running }),
      ...(payload === undefined ? {} : { payload }),
    };
    return commitAfter(async () => {
      await store.read('sessions.expect', { key: sessionKey });
      const host = plugins();
      const registered = findAction(request, host);
      // One after another in a session: each sees the state that the one before it left.
      const answer = await lanes.run(`action\n${pluginId}\n${sessionKey}`, () =>
        askUntilFresh(async () => {
          const { looked, act } = await performAction(registered, request, { store, plugins: host, wake }, clock.now());
          faultpoint('action.answered');
          // Most presses only ask: what changes nothing waits for no disk.
          const mayCall = (act.answer as ActionAnswer).ok && host.holds(pluginId, 'people.notify');
          const answers = mayCall && (await isCalledFor(pluginId, actionId, sessionKey, context)) ? { actionId } : {};
          const isIdle = changesNothing(act) && !('actionId' in answers);
          const settle = () => (isIdle ? keepAnswer(act.answer) : commit('plugins.act', { ...act, ...answers }));
          return { looked, commit: () => settle() as Promise<Committed<ActionAnswer>> };
        }),
      );
      faultpoint('action.committed');
      if ('runId' in answer) turns.accepted(sessionKey);
      return answer;
    });
  },

  'plugins.interact': ({ sessionKey, channel = 'webchat', data, callbackId }, { commitAnswer, plugins, principal, store, clock }) =>
    commitAnswer(async () => {
      await store.read('sessions.expect', { key: sessionKey });
      const press = { sessionKey, channel, data, held: principal.held, ...(callbackId === undefined ? {} : { callbackId }) };
      return tellOfPress(press, plugins(), clock);
    }),

  'sessions.pluginPatch': ({ key, pluginId, namespace, value, unset }, { commit, commitAfter, plugins, clock, store }) => {
    if (unset && value !== undefined) throw new GatewayError('INVALID_REQUEST', 'params/value and params/unset cannot both be given');
    if (!unset && value === undefined)
      throw new GatewayError('INVALID_REQUEST', 'params/value is missing; to remove it, say so with params/unset');
    const host = plugins();
    if (!host.registry.find('sessionExtension', pluginId, namespace))
      throw new GatewayError('NOT_FOUND', `Plugin "${pluginId}" keeps nothing under "${namespace}", or is not loaded`, {
        details: { code: 'UNKNOWN_EXTENSION', plugin: pluginId, namespace },
      });
    return commitAfter(async () => {
      await store.read('sessions.expect', { key });
      const at = clock.now();
      const puts = putsOf({ [namespace]: value ?? null }, pluginId, host);
      const { revision } = await store.read('pluginState.get', { key, pluginId, namespace });
      const kept = { key, revision: revision + 1, ...(value === undefined || value === null ? {} : { value }) };
      return (await commit('plugins.act', {
        key,
        pluginId,
        puts: puts.map((put) => ({ ...put, ifRevision: revision })),
        drafts: [],
        answer: kept,
        at,
      })) as Committed<typeof kept>;
    });
  },

  'hooks.status': (_, { plugins }) => {
    const { hookRegistry, caller, counts } = plugins();
    const shown = (each: Registered) => ({
      plugin: each.plugin,
      priority: each.priority,
      timeoutMs: caller.timeoutOf(each),
      ...counts.ofHandler(each),
    });
    const hooks = hookNames.map((hook) => ({
      hook,
      handlers: [
        ...hookRegistry.handlers(hook).map(shown),
        ...hookRegistry.switchedOff(hook).map(({ handler, off }) => ({ ...shown(handler), switchedOff: off })),
      ],
    }));
    return { hooks: hooks.filter(({ handlers }) => handlers.length > 0) };
  },
} satisfies Partial<Handlers>;

type ActionAnswer = Result<'plugins.sessionAction'>;

/** Whether the plugin has called for a person who does this. */
async function isCalledFor(pluginId: string, actionId: string, key: string, { store }: RequestContext): Promise<boolean> {
  const { actions } = await store.read('actions.pending', { key, pluginId, limit: limits.pendingActions.value });
  return actions.some((each) => each.actions?.some((action) => action.actionId === actionId));
}

function change(
  { commitAnswer, plugins, principal }: RequestContext,
  id: string,
  work: (host: PluginHost, by: { readonly by: string }) => Promise<HostedPlugin>,
): Promise<Committed<{ plugin: PluginInfo }>> {
  return commitAnswer(async () => {
    const host = plugins();
    if (!host.get(id)) throw unknownPlugin(id, host);
    return { plugin: toInfo(await work(host, { by: principal.id })) };
  });
}

export function unknownPlugin(id: string, host: Pick<PluginHost, 'list'>): GatewayError {
  const ids = [...new Set(host.list().map((each) => each.id))];
  const advice = didYouMean(id, ids) || `; ${ids.length === 0 ? 'there are none' : `the plugins are: ${ids.join(', ')}`}`;
  return new GatewayError('NOT_FOUND', `There is no plugin "${id}"${advice}`, { details: { code: 'UNKNOWN_PLUGIN' } });
}

export function toInfo(plugin: HostedPlugin): PluginInfo {
  const { folder: _folder, workspace: _workspace, config: _config, configSchema: _schema, counts: _counts, ...info } = toDetails(plugin);
  return info;
}

function toDetails(plugin: HostedPlugin): PluginDetails {
  // The lists of the host are its own; what leaves is a copy.
  return JSON.parse(JSON.stringify(plugin)) as PluginDetails;
}
