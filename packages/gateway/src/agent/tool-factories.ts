// Tools that plugins make for each session. A factory is asked when a turn begins, and says which tool there is, or that there
// is none here. What it makes is held to the same rules as a tool that is registered once; what it does wrong leaves the
// tool out, on record.
import type { ToolInfo } from '@tenon/protocol';
import { placed } from '../host/call-plugin.ts';
import { type RegisteredItem, readContribution } from '../host/contribution-registry.ts';
import type { Agent } from './agents.ts';
import { isOffered, makeTool, type PluginParts, readState } from './plugin-tools.ts';
import type { Tool } from './tools/tool.ts';

export interface FactoryPlace {
  readonly sessionKey: string;
  readonly agentId: string;
  /** The real path of the workspace. */
  readonly workspace: string;
  /** The turn that wants tools; without it, somebody only looks. */
  readonly runId?: string;
}

/** Those of the factories that this agent may have and that have one for this session; in the order of the plugins. */
export async function makeTools(
  plugins: PluginParts | undefined,
  place: FactoryPlace,
  agent: Pick<Agent, 'tools'>,
  signal?: AbortSignal,
): Promise<readonly Tool[]> {
  const factories = plugins?.registry.all('toolFactory') ?? [];
  if (!plugins || factories.length === 0) return [];
  const wanted = factories.filter(
    ({ item, plugin, isLive }) => isLive && isOffered(item, agent) && plugins.holds(plugin, 'tools.register'),
  );
  const made = await Promise.all(wanted.map((factory) => makeOne(factory, plugins, place, signal)));
  return made.flatMap((tool) => tool ?? []);
}

async function makeOne(
  factory: RegisteredItem<'toolFactory'>,
  plugins: PluginParts,
  place: FactoryPlace,
  signal: AbortSignal | undefined,
): Promise<Tool | undefined> {
  const { plugin, pluginName, generation, item } = factory;
  const { sessionKey, agentId, workspace: workspaceDir } = place;
  const where = placed(plugin, 'tool_factory');
  const state = await readState(plugins, plugin, sessionKey).catch(() => undefined);
  if (!state) {
    plugins.caller.fail(where, 'dropped', 'what it keeps in the session could not be read, so it was not asked');
    return undefined;
  }
  const answer = await plugins.caller.call(
    where,
    (about: { readonly sessionKey: string; readonly agentId: string; readonly workspaceDir: string }, own) =>
      item.create({
        ...about,
        getSessionExtension: state,
        get signal() {
          return own.signal;
        },
      }),
    Object.freeze({ sessionKey, agentId, workspaceDir }),
    (raw) => acceptTool(raw, item.name),
    signal,
    place,
  );
  if (!answer.ok || answer.value === undefined) return undefined;
  const tool = answer.value;
  return makeTool(
    {
      plugin,
      pluginName,
      generation,
      kind: 'tool',
      key: item.name,
      item: { ...tool, ...(item.optional ? { optional: true } : {}) },
      get isLive() {
        return factory.isLive;
      },
    },
    plugins,
  );
}

type Given = RegisteredItem<'tool'>['item'];

function acceptTool(raw: unknown, name: string): { readonly value: Given | undefined } | { readonly wrong: string } {
  if (raw === undefined || raw === null) return { value: undefined };
  const read = readContribution('tool', raw);
  if ('code' in read) return { wrong: read.message };
  return read.key === name ? { value: read.item as Given } : { wrong: `it made the tool "${read.key}" in place of "${name}"` };
}

/** As it stands in the list of all tools, where there is no session. */
export function factoryInfos({ registry, holds }: PluginParts): (ToolInfo & { readonly pluginId: string })[] {
  return registry.all('toolFactory').flatMap(({ plugin, item, isLive }) => {
    if (!isLive || !holds(plugin, 'tools.register')) return [];
    const metadata = registry.find('toolMetadata', plugin, item.name)?.item;
    return [
      {
        id: item.name,
        label: metadata?.displayName ?? item.name,
        description: metadata?.description ?? item.description ?? 'Made for each session',
        source: 'plugin' as const,
        pluginId: plugin,
        // What nobody has said counts as the most that a tool can do.
        risk: item.risk ?? 'exec',
        ...(metadata?.risk === undefined ? {} : { riskLevel: metadata.risk }),
        tags: [...(metadata?.tags ?? [])],
        idempotent: false,
        parallelSafe: false,
        ...(item.optional ? { optional: true as const } : {}),
        perSession: true as const,
        parameters: {},
      },
    ];
  });
}
