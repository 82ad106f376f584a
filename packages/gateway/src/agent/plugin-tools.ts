// Tools of plugins, as tools of the agent: what they would do is their arguments, shown whole, and running them is a call
// of the plugin with a deadline. Whatever the plugin does wrong is a result that names it.
import { ImageBlock, type JsonObject, matches, TextBlock, type ToolInfo } from '@tenon/protocol';
import type { PluginTool, ToolOutput as SdkOutput } from '@tenon/plugin-sdk';
import { Type, type TObject } from 'typebox';
import { placed, type Answer, type PluginCaller } from '../host/call-plugin.ts';
import type { ContributionRegistry, RegisteredItem } from '../host/contribution-registry.ts';
import { compileSchema } from '../host/json-schema.ts';
import type { OwnRun } from '../host/own-runs.ts';
import type { Guarded, MissingGuard } from '../host/plugin-guards.ts';
import { NOTHING_KEPT, type ReadState, type StateOf } from '../host/own-state.ts';
import { copyPlain } from '../host/plain-data.ts';
import { takeJson } from '../host/plugin-json.ts';
import type { ChannelQuestions } from '../host/send-question.ts';
import type { Agent } from './agents.ts';
import { type Tool, ToolError, type ToolOutput } from './tools/tool.ts';

/** What the turns and the methods use of the plugins. */
export interface PluginParts {
  readonly registry: ContributionRegistry;
  readonly caller: PluginCaller;
  /** Grows with every load, unload and change of grants. */
  readonly generation: number;
  /** Resolves when each extension that was on at the start has been tried once. */
  readonly started?: Promise<void>;
  list(): readonly { readonly id: string }[];
  get(plugin: string):
    | {
        readonly name: string;
        readonly state?: string;
        readonly reason?: string;
        readonly enabled?: boolean;
        readonly process?: { readonly state: string; readonly reason?: string; readonly pid?: number };
      }
    | undefined;
  /** Whether the operator has granted it, now. */
  holds(plugin: string, grant: string): boolean;
  /** Whether extensions leave this tool active in the session. */
  isActive(tool: string, sessionKey: string): boolean;
  /** A plugin that is meant to guard this and is not loaded. */
  missingGuard(guarded: Guarded): MissingGuard | undefined;
  /** What the plugin keeps in the session, as it is now; undefined where it keeps nothing in any. */
  readonly stateOf: StateOf;
  /** Turns of this session that the plugin has asked for and that have not ended. */
  openRuns(plugin: string, sessionKey: string): Promise<readonly OwnRun[]>;
  /** Questions of extensions, where the session came from. */
  readonly questions?: ChannelQuestions;
}

const MAX_TEXT = 1_048_576;
const SUBJECT_CHARS = 120;

/** What the plugin reads of its own in this session; fails where the store does. */
export function readState(plugins: Pick<PluginParts, 'stateOf'>, plugin: string, sessionKey: string): Promise<ReadState> {
  return plugins.stateOf(plugin, sessionKey) ?? NOTHING_TO_READ;
}

const NOTHING_TO_READ = Promise.resolve(NOTHING_KEPT);

/** Turns that the plugin has asked for, but for the one that it is in. */
export async function openChildRuns(
  plugins: Pick<PluginParts, 'openRuns'>,
  plugin: string,
  sessionKey: string,
  except?: string,
): Promise<readonly OwnRun[]> {
  return (await plugins.openRuns(plugin, sessionKey)).filter(({ runId }) => runId !== except);
}

const injectors = new WeakMap<PluginParts, { readonly generation: number; readonly ids: readonly string[] }>();

/** Plugins that are loaded and may add to what the agent is told. */
export function injectorsOf(plugins: PluginParts): readonly string[] {
  const known = injectors.get(plugins);
  if (known?.generation === plugins.generation) return known.ids;
  const { generation } = plugins;
  const ids = plugins.list().flatMap(({ id }) => (mayAdd(id, plugins) ? [id] : []));
  injectors.set(plugins, { generation, ids });
  return ids;
}

/** By that right, or by the one to write into sessions as an extension does: `session/send_user_message` for the next turn. */
function mayAdd(id: string, plugins: PluginParts): boolean {
  return plugins.holds(id, 'prompt.inject') || plugins.holds(id, 'extension.use:session');
}

/** Whether the agent has it: what is named, or else everything that is not optional. */
export function isOffered(tool: Pick<Tool, 'name' | 'optional'>, { tools }: Pick<Agent, 'tools'>): boolean {
  return tools ? tools.includes(tool.name) : tool.optional !== true;
}

/** Those of all loaded plugins; names are unique, and none is one of the gateway. */
export function pluginTools(plugins: PluginParts): Tool[] {
  return plugins.registry.all('tool').map((registered) => toolOf(registered, plugins));
}

const made = new WeakMap<object, Tool>();

function toolOf(registered: RegisteredItem<'tool'>, plugins: PluginParts): Tool {
  const known = made.get(registered.item);
  if (known) return known;
  const tool = makeTool(registered, plugins);
  made.set(registered.item, tool);
  return tool;
}

/** A tool of the agent that calls this one. */
export function makeTool(registered: RegisteredItem<'tool'>, plugins: PluginParts): Tool {
  const { item, plugin } = registered;
  const compiled = compileSchema(item.parameters);
  return {
    name: item.name,
    label: item.label ?? item.name,
    description: item.description,
    parameters: { type: 'object', ...item.parameters } as unknown as TObject,
    risk: item.risk,
    tags: item.tags ?? [],
    idempotent: item.idempotent ?? false,
    parallelSafe: item.parallelSafe ?? false,
    plugin,
    optional: item.optional ?? false,
    faultIn: (args) => (compiled.ok ? compiled.check(args, 'arguments') : compiled.message),
    prepare: (args, place) => ({
      subject: subjectOf(args),
      question: `${item.label ?? item.name} (${registered.pluginName})?`,
      risk: item.risk,
      exact: args,
      async run({ signal, onUpdate }) {
        if (!registered.isLive || !plugins.holds(plugin, 'tools.register'))
          throw new ToolError('PLUGIN_GONE', `Plugin ${plugin} is no longer loaded, or may no longer give tools`);
        const state = await readState(plugins, plugin, place.sessionKey);
        const { sessionKey, agentId, runId, callId } = place;
        let isOver = false;
        const answer = await plugins.caller.call(
          placed(plugin, 'tool', registered),
          (given: JsonObject, call) =>
            item.execute(given, {
              sessionKey,
              agentId,
              runId,
              callId,
              state,
              getSessionExtension: state,
              openChildRuns: () => openChildRuns(plugins, plugin, sessionKey, runId),
              get signal() {
                return call.signal;
              },
              // Nothing of a call that is over is shown, and nothing that is no text.
              onUpdate: (text: unknown) => void (isOver || typeof text !== 'string' || onUpdate(text.slice(0, MAX_TEXT))),
            } satisfies Parameters<PluginTool['execute']>[1]),
          args,
          acceptOutput,
          signal,
          place,
        );
        isOver = true;
        if (answer.ok) plugins.caller.trace.became(answer, { outcome: 'claimed', before: {}, after: answer.value });
        return outputOf(answer, plugin, signal);
      },
    }),
  };
}

function outputOf(answer: Answer<ToolOutput>, plugin: string, signal: AbortSignal): ToolOutput {
  if (answer.ok) return { ...answer.value, details: { ...answer.value.details, plugin }, provenance: `plugin ${plugin}` };
  if (answer.kind === 'aborted')
    throw signal.reason instanceof Error ? signal.reason : new ToolError('STOPPED', 'Stopped before it was done');
  const why = {
    threw: `failed: ${answer.message}`,
    'timed-out': `gave ${answer.message}; what it did is not known`,
    'wrong-shape': `gave a result that cannot be used: ${answer.message}`,
    dropped: answer.message,
  }[answer.kind];
  throw new ToolError('PLUGIN_FAILED', `Plugin ${plugin} ${why}`);
}

const GivenOutput = Type.Object(
  {
    content: Type.Union([Type.String(), Type.Array(Type.Union([TextBlock, ImageBlock]), { maxItems: 64 })]),
    isError: Type.Optional(Type.Boolean()),
    details: Type.Optional(Type.Object({}, { additionalProperties: true })),
  },
  { additionalProperties: false },
);

function acceptOutput(raw: unknown): { readonly value: ToolOutput } | { readonly wrong: string } {
  const copied = copyPlain(raw);
  if ('wrong' in copied) return copied;
  if (!matches(GivenOutput, copied.value)) return { wrong: 'it is not {content, isError?, details?}' };
  const { content, isError, details } = copied.value as SdkOutput;
  const blocks = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content;
  const size = blocks.reduce((sum, block) => sum + (block.type === 'text' ? block.text.length : block.data.length), 0);
  if (size > MAX_TEXT) return { wrong: `it has ${size} characters, and may have ${MAX_TEXT}` };
  const taken = details === undefined ? undefined : takeJson(details);
  if (taken && 'wrong' in taken) return { wrong: `details: ${taken.wrong}` };
  return {
    value: { content: blocks, ...(isError === undefined ? {} : { isError }), ...(details === undefined ? {} : { details }) },
  };
}

function subjectOf(args: JsonObject): string {
  const first = Object.values(args).find((value) => typeof value === 'string' && value !== '');
  return (typeof first === 'string' ? first : JSON.stringify(args)).replace(/\s+/g, ' ').slice(0, SUBJECT_CHARS);
}

/** As clients see it; what the plugin says about its own tool stands over the tool itself. */
export function toolInfo(tool: Tool, registry?: ContributionRegistry): ToolInfo {
  const metadata = tool.plugin === undefined ? undefined : registry?.find('toolMetadata', tool.plugin, tool.name)?.item;
  return {
    id: tool.name,
    label: metadata?.displayName ?? tool.label,
    description: metadata?.description ?? tool.description,
    source: tool.plugin === undefined ? 'core' : 'plugin',
    ...(tool.plugin === undefined ? {} : { pluginId: tool.plugin }),
    risk: tool.risk,
    ...(metadata?.risk === undefined ? {} : { riskLevel: metadata.risk }),
    tags: [...(metadata?.tags ?? tool.tags)],
    idempotent: tool.idempotent,
    parallelSafe: tool.parallelSafe,
    ...(tool.optional ? { optional: true } : {}),
    parameters: JSON.parse(JSON.stringify(tool.parameters)) as JsonObject,
  };
}
