// Hooks of the gateway as extensions know them: what an extension is sent of an event, and what its answer means. One row for
// each hook of the wire; a hook without a row is not bridged, and who registers it is told so.
import { type HookEvent, type HookName, type HookResult, hookRow, type JsonObject, type Message } from '@tenon/protocol';
import { fromSnake, type SepResult, toSnake } from '@tenon/protocol/sep';
import {
  agentToolRow,
  argumentsHere,
  hooks,
  type SepFurtherHookName,
  type SepHookName,
  texts,
  type ToolWorld,
} from '@tenon/protocol/sep/wire';
import type { TSchema } from 'typebox';
import { bareTool, callIn, callsIn } from './tool-names.ts';

type Fields = Readonly<Record<string, unknown>>;
type Outcome = SepResult<'hook'>;

/** Who is asked. */
export interface Asked {
  /** By which names it knows the tools of the agent. */
  readonly world: ToolWorld;
  /** Whether a tool, as the agent knows it, is its own. */
  readonly owns: (agentName: string) => boolean;
}

interface Bridged<Name extends HookName> {
  /** More than one where the extension knows it as several: each is asked about in turn. */
  input(event: HookEvent<Name>, world: ToolWorld): Fields | readonly Fields[];
  /**
   * A patch of an extension to what it was sent, in the words of the gateway's hook; fields that the row does not name are left out
   * before. Throws where the extension wants something that cannot be done: what then happens, the hook says.
   */
  patched?(patch: Fields, event: HookEvent<Name>, asked: Asked, sent: Fields): HookResult<Name> | undefined;
  blocked?(reason: string): HookResult<Name>;
}

const rows = {
  before_tool_call: {
    input: ({ toolName, params, toolCallId }, world) => callsIn(world, toolName, params).map((call) => ({ ...call, call_id: toolCallId })),
    // Its own tools, and those of the agent, which are looked at again as any other call; of tools of other extensions it may only
    // stop the call.
    patched({ arguments: given }, { toolName, params }, { world, owns }, { arguments: sent }) {
      if (given === undefined || !(owns(toolName) || agentToolRow(toolName))) return undefined;
      if (!isObject(given)) throw new Error('its patch has arguments that are no object');
      const made = world === 'sep' ? argumentsHere(toolName, params, sent as Fields, given) : given;
      if (made === undefined) throw new Error(`it wants to change a part of ${toolName}, which can only be stopped`);
      return made === params ? undefined : { params: made as JsonObject };
    },
    blocked: (blockReason) => ({ block: true, blockReason }),
  } satisfies Bridged<'before_tool_call'>,
  user_bash: {
    input: ({ command, cwd }) => ({ command, ...(cwd === undefined ? {} : { cwd }) }),
    patched({ command }) {
      if (command === undefined) return undefined;
      if (typeof command !== 'string' || command === '') throw new Error('its patch has no command that could run');
      return { command };
    },
    blocked: (blockReason) => ({ block: true, blockReason }),
  } satisfies Bridged<'user_bash'>,
  tool_result_persist: {
    input: ({ toolName, toolCallId, params, content, isError, details }, world) => ({
      ...callIn(world, toolName, params),
      call_id: toolCallId,
      content: textOf(content),
      is_error: isError,
      ...(details === undefined ? {} : { details }),
    }),
    patched: ({ content, is_error: isError, details }) => ({
      ...(typeof content === 'string' ? { content: [{ type: 'text' as const, text: content }] } : {}),
      ...(typeof isError === 'boolean' ? { isError } : {}),
      ...(isObject(details) ? { details: details as JsonObject } : {}),
    }),
  } satisfies Bridged<'tool_result_persist'>,
  input: {
    input: ({ text }) => ({ text }),
    patched: ({ text }) => (typeof text === 'string' ? { text } : undefined),
    blocked: (reply) => ({ handled: true, reply }),
  } satisfies Bridged<'input'>,
  before_prompt_build: {
    input: ({ systemPrompt }) => ({ system_prompt: systemPrompt }),
    patched: ({ system_prompt: systemPrompt }) => (typeof systemPrompt === 'string' ? { systemPrompt } : undefined),
  } satisfies Bridged<'before_prompt_build'>,
  before_provider_request: {
    input: ({ provider, model, system, thinking }) => ({ provider, model, system_prompt: system, thinking }),
    // Whether the level is one that there is, is looked at where the answer of the handler is.
    patched: ({ system_prompt: system, thinking }) =>
      ({
        ...(typeof system === 'string' ? { system } : {}),
        ...(typeof thinking === 'string' ? { thinking } : {}),
      }) as HookResult<'before_provider_request'>,
  } satisfies Bridged<'before_provider_request'>,
  context: {
    input: ({ messages }) => ({ messages: messages.map((each) => ({ role: wireRole(each), content: textOf(each.content) })) }),
    patched: ({ messages: given }, { messages }) => {
      const made = Array.isArray(given) ? remade(given, messages) : undefined;
      return made && { messages: made };
    },
  } satisfies Bridged<'context'>,
  before_message_write: {
    input: ({ message }) => ({ role: wireRole(message), content: textOf(message.content) }),
    patched: ({ content }, { message }) => (typeof content === 'string' ? { message: withText(message, content) } : undefined),
    blocked: (blockReason) => ({ block: true, blockReason }),
  } satisfies Bridged<'before_message_write'>,
  session_before_compact: {
    input: ({ reason }) => ({ reason }),
    patched: ({ summary }) => (typeof summary === 'string' ? { summary } : undefined),
    blocked: (cancelReason) => ({ cancel: true, cancelReason }),
  } satisfies Bridged<'session_before_compact'>,
  session_before_tree: {
    input: ({ targetId, oldLeafId }) => ({ target_id: targetId, old_leaf_id: oldLeafId }),
    patched: ({ summary, label }) => ({
      ...(typeof summary === 'string' ? { summary } : {}),
      ...(typeof label === 'string' ? { label } : {}),
    }),
    blocked: (cancelReason) => ({ cancel: true, cancelReason }),
  } satisfies Bridged<'session_before_tree'>,
} as const;

export type BridgedHook = keyof typeof rows;

export function isBridged(name: HookName): name is BridgedHook {
  return Object.hasOwn(rows, name);
}

function rowOf(name: BridgedHook): Bridged<HookName> {
  return rows[name] as unknown as Bridged<HookName>;
}

/** The `input` of each `hook` request. */
export function hookInputs(name: BridgedHook, event: HookEvent<HookName>, world: ToolWorld): readonly Fields[] {
  const inputs = rowOf(name).input(event, world);
  return (isList(inputs) ? inputs : [inputs]).map((input) => ({ ...whereOf(event), ...input }));
}

function isList(inputs: Fields | readonly Fields[]): inputs is readonly Fields[] {
  return Array.isArray(inputs);
}

/** Where something happens, as far as the event says so. */
export function whereOf(event: object): Fields {
  const { sessionKey, runId, agentId } = event as { sessionKey?: string; runId?: string; agentId?: string };
  return {
    ...(sessionKey === undefined ? {} : { session_key: sessionKey }),
    ...(runId === undefined ? {} : { run_id: runId }),
    ...(agentId === undefined ? {} : { agent_id: agentId }),
  };
}

/** What the answer of an extension to this input means for the hook; undefined for no opinion. */
export function hookResult(
  sepName: SepHookName,
  name: BridgedHook,
  outcome: Outcome,
  event: HookEvent<HookName>,
  asked: Asked,
  sent: Fields,
): HookResult<HookName> | undefined {
  const row = rowOf(name);
  if (outcome.action === 'continue') return undefined;
  if (outcome.action === 'block') return hooks[sepName].block ? row.blocked?.(outcome.reason ?? texts.blockedBy(sepName)) : undefined;
  const { patch } = outcome;
  // A patch that names another tool than the one that is called is about something else.
  if (sepName === 'tool_call' && typeof patch.tool === 'string' && bareTool(patch.tool) !== bareTool(String(sent.tool))) return undefined;
  const allowed: readonly string[] = hooks[sepName].patch;
  return row.patched?.(Object.fromEntries(Object.entries(patch).filter(([key]) => allowed.includes(key))), event, asked, sent);
}

/** The `input` of a hook beyond SEP: the whole event. */
export function furtherHookInput(name: SepFurtherHookName, event: HookEvent<HookName>): Fields {
  return toSnake(hookRow(name).event, event as never) as Fields;
}

/** A patch of one is the result itself; whether it fits, the runner of hooks finds out. */
export function furtherHookResult(name: SepFurtherHookName, outcome: Outcome): HookResult<HookName> | undefined {
  const { kind, result } = hookRow(name);
  if (outcome.action === 'continue' || kind === 'observe') return undefined;
  if (outcome.action === 'block') return refusedBy(result, outcome.reason ?? texts.blockedBy(name)) as HookResult<HookName>;
  return fromSnake(result, outcome.patch as never) as HookResult<HookName>;
}

/** How a hook with such a result says no; undefined where it cannot. */
function refusedBy(result: TSchema, reason: string): Fields | undefined {
  const { properties, anyOf } = result as { properties?: object; anyOf?: readonly { properties?: object }[] };
  const fields = new Set([properties, ...(anyOf ?? []).map((each) => each.properties)].flatMap((each) => Object.keys(each ?? {})));
  if (fields.has('outcome')) return { outcome: 'block', reason };
  if (fields.has('block')) return { block: true, blockReason: reason };
  if (fields.has('cancel')) return { cancel: true, cancelReason: reason };
  if (fields.has('handled')) return { handled: true, reply: reason };
  return fields.has('retry') ? { action: 'revise', retry: { instruction: reason } } : undefined;
}

/** Its text is this; what else is in it, tool calls and images, stays where it is. */
function withText(message: Message, text: string): Message {
  const blocks: readonly { readonly type: string }[] = message.content;
  const first = blocks.findIndex(({ type }) => type === 'text');
  const calls = blocks.findIndex(({ type }) => type === 'toolCall');
  const at = first >= 0 ? first : calls >= 0 ? calls : blocks.length;
  const kept = (from: number, to?: number) => blocks.slice(from, to).filter(({ type }) => type !== 'text');
  return { ...message, content: [...kept(0, at), ...(text === '' ? [] : [{ type: 'text', text }]), ...kept(at)] } as Message;
}

const wireRole = ({ role }: Message) => (role === 'toolResult' ? 'tool' : role);

/**
 * Messages that an extension gave back. Those that it left alone stay whole, with their calls and images; one that it changed
 * gets its text; what is new is said by the user. Undefined where nothing of it can be read.
 */
function remade(given: readonly unknown[], messages: readonly Message[]): Message[] | undefined {
  const read = given.filter((each): each is { role?: unknown; content: string } => isObject(each) && typeof each.content === 'string');
  if (given.length > 0 && read.length === 0) return undefined;
  const left = new Set(messages);
  const take = (message: Message | undefined): Message | undefined => (message && left.delete(message) ? message : undefined);
  return read.map(({ role, content }, index) => {
    const same = take([...left].find((each) => wireRole(each) === role && textOf(each.content) === content));
    if (same) return same;
    const place = messages[index];
    const changed = place && wireRole(place) === role ? take(place) : undefined;
    if (changed) return withText(changed, content);
    return { role: 'user', content: [{ type: 'text', text: content }], timestamp: messages.at(-1)?.timestamp ?? 0 };
  });
}

export function textOf(content: readonly { readonly type: string; readonly text?: string }[]): string {
  return content.flatMap((block) => (block.type === 'text' && block.text !== undefined ? [block.text] : [])).join('\n');
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
