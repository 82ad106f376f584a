import { commandNames, commands, GatewayError } from '@tenon/protocol';
import { agentIdOf } from '../../agent/agents.ts';
import { runCommand } from '../../agent/commands.ts';
import { completeCommand } from '../../agent/complete-command.ts';
import { pluginCommandInfos } from '../../agent/plugin-commands.ts';
import { isOffered, toolInfo } from '../../agent/plugin-tools.ts';
import { judge } from '../../agent/policy.ts';
import { factoryInfos, makeTools } from '../../agent/tool-factories.ts';
import { probeModel, unknownModel } from '../../model/models.ts';
import type { Handlers, RequestContext } from '../handler.ts';

const DEFAULT_PAGE = 50;
/** Approvals and rules show everything: so many of the largest fit one frame. */
const FEW = 6;
const FULL_BYTES = 100_000;
const PROBE_TIMEOUT_MS = 30_000;

export const agentHandlers = {
  'agents.list': (_, { agents }) => ({ agents: agents.list().map(({ tools: _tools, prompt: _prompt, ...info }) => info) }),

  'models.list': (_, { models, config }) => ({ models: models.list(), fallbacks: [...config.settings['model.fallbacks']] }),

  'models.probe': async ({ id }, { models, clock }) => {
    const model = models.get(id);
    if (!model) throw new GatewayError('NOT_FOUND', unknownModel(id, models).message);
    const probed = await probeModel(model, AbortSignal.timeout(PROBE_TIMEOUT_MS), clock);
    if (probed.ok) return { ok: true, latencyMs: probed.latencyMs };
    return { ok: false, latencyMs: probed.latencyMs, code: probed.failure.kind, reason: probed.failure.message.slice(0, 512) };
  },

  'models.signIn': ({ provider, sessionKey }, { commitAnswer, signIns, principal }) =>
    commitAnswer(() => signIns.signIn({ provider, sessionKey, by: principal.id })),

  'models.signOut': ({ provider }, { commitAnswer, signIns, principal }) =>
    commitAnswer(() => signIns.signOut({ provider, by: principal.id })),

  'tools.catalog': async ({ agentId = 'main' }, context) => {
    const agent = context.agents.get(agentId);
    if (!agent) throw new GatewayError('NOT_FOUND', `There is no agent "${agentId}"`);
    const host = context.plugins();
    const offered = context.allTools().filter((tool) => isOffered(tool, agent) || tool.optional);
    const factories = factoryInfos(host).filter(
      ({ id, optional }) => isOffered({ name: id, optional: optional ?? false }, agent) || optional,
    );
    const infosOf = (owner?: string) => [
      ...offered.filter(({ plugin }) => plugin === owner).map((tool) => toolInfo(tool, host.registry)),
      ...factories.filter(({ pluginId }) => pluginId === owner),
    ];
    const owners = new Set([...offered.flatMap(({ plugin }) => plugin ?? []), ...factories.map(({ pluginId }) => pluginId)]);
    return {
      agentId,
      groups: [
        { id: 'core', label: 'Built in', source: 'core', tools: infosOf() },
        ...[...owners].sort().map((id) => ({
          id: `plugin:${id}`,
          label: host.get(id)?.name ?? id,
          source: 'plugin' as const,
          pluginId: id,
          tools: infosOf(id),
        })),
      ],
      sandbox: await context.sandbox(),
    };
  },

  'tools.effective': async ({ sessionKey }, { store, agents, allTools, plugins, execPolicy, sandbox }) => {
    const { session } = await store.read('sessions.get', { key: sessionKey });
    const agent = agents.get(agentIdOf(sessionKey));
    if (!agent) throw new GatewayError('NOT_FOUND', `There is no agent "${agentIdOf(sessionKey)}"`);
    const mode = session.permissions ?? agent.permissions;
    const policy = await execPolicy();
    const host = plugins();
    const { registry } = host;
    const place = { sessionKey, agentId: agent.id, workspace: agents.openWorkspace(agent) };
    const offered = [...allTools().filter((tool) => isOffered(tool, agent)), ...(await makeTools(host, place, agent))];
    return {
      tools: offered.map((tool) => ({ ...toolInfo(tool, registry), ...judge({ risk: tool.risk }, mode, policy) })),
      permissions: mode,
      sandbox: await sandbox(),
    };
  },

  'commands.list': (_, { principal, plugins }) => ({
    commands: [
      ...commandNames
        .filter((name) => principal.held.has(commands[name].scope))
        .map((name) => ({ name, ...commands[name], source: 'core' as const })),
      ...pluginCommandInfos(plugins(), principal.held),
    ],
  }),

  'commands.complete': async ({ sessionKey, text }, { principal, commands: deps }) => ({
    completions: await completeCommand({ sessionKey, text, principal }, deps),
  }),

  'commands.invoke': ({ sessionKey, text }, context) =>
    context.commitAnswer(() => runCommand({ sessionKey, text, principal: context.principal }, context.commands)),

  'usage.get': ({ sessionKey, runId, since }, { store }) =>
    store.read('usage.sum', {
      ...(sessionKey === undefined ? {} : { sessionKey }),
      ...(runId === undefined ? {} : { runId }),
      ...(since === undefined ? {} : { since }),
    }),

  'approvals.list': async ({ state, sessionKey, cursor, limit = DEFAULT_PAGE }, { store, principal }) => {
    const only = boundSession(principal, sessionKey);
    const wanted = { ...(state === undefined ? {} : { state }), ...(only === undefined ? {} : { sessionKey: only }) };
    const { items, ...more } = await fillFrame(limit, cursor, async (page) => {
      const { approvals, ...rest } = await store.read('approvals.list', { ...wanted, ...page });
      return { items: approvals, ...rest };
    });
    return { approvals: items, ...more };
  },

  'approvals.resolve': ({ id, decision }, { commit, principal, clock }) =>
    commit('approvals.resolve', { id, decision, by: principal.id, at: clock.now() }),

  'approvals.rules': async ({ limit = DEFAULT_PAGE, cursor }, { store }) => {
    const { items, ...more } = await fillFrame(limit, cursor, async (page) => {
      const { rules, ...rest } = await store.read('approvals.rules', page);
      return { items: rules, ...rest };
    });
    return { rules: items, ...more };
  },

  'approvals.forget': {
    commit: ({ id }, { commit, principal, clock }) => commit('approvals.removeRule', { id, by: principal.id, at: clock.now() }),
    present: ({ rule }: { rule: { id: string } }) => ({ id: rule.id, forgotten: true }),
  },
} satisfies Partial<Handlers>;

interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextCursor?: string;
}

/** A few at a time, as long as there is room for as many of the largest. */
async function fillFrame<Item>(
  limit: number,
  cursor: string | undefined,
  read: (page: { limit: number; cursor?: string }) => Promise<Page<Item>>,
): Promise<{ items: Item[]; nextCursor?: string }> {
  const items: Item[] = [];
  let nextCursor = cursor;
  do {
    const few = Math.min(limit - items.length, FEW);
    const page = await read({ limit: few, ...(nextCursor === undefined ? {} : { cursor: nextCursor }) });
    items.push(...page.items);
    nextCursor = page.nextCursor;
  } while (nextCursor !== undefined && items.length < limit && JSON.stringify(items).length < FULL_BYTES);
  return { items, ...(nextCursor === undefined ? {} : { nextCursor }) };
}

/** A bound credential asks for its own session, whatever it says. */
function boundSession(principal: RequestContext['principal'], asked: string | undefined): string | undefined {
  if (principal.sessionKey === undefined) return asked;
  if (asked !== undefined && asked !== principal.sessionKey) throw new GatewayError('NOT_FOUND', `Cannot find session "${asked}"`);
  return principal.sessionKey;
}
