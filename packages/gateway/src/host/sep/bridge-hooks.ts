// Hooks of the gateway as extensions know them: what an extension is sent of an event, and what its answer means. One row for
// each hook of the wire; a hook without a row is not bridged, and who registers it is told so.
import type { HookEvent, HookName, HookResult, JsonObject } from '@tenon/protocol';
import type { SepResult } from '@tenon/protocol/sep';
import { hooks, type SepHookName, texts } from '@tenon/protocol/sep/wire';
import { bareTool, shownTool } from './tool-names.ts';

type Fields = Readonly<Record<string, unknown>>;
type Outcome = SepResult<'hook'>;
/** Whether a tool, as the agent knows it, is the extension's. */
export type Owns = (agentName: string) => boolean;

interface Bridged<Name extends HookName> {
  input(event: HookEvent<Name>): Fields;
  /** A patch of an extension, in the words of the gateway's hook; fields that the row does not name are left out before. */
  patched?(patch: Fields, event: HookEvent<Name>, owns: Owns): HookResult<Name> | undefined;
  blocked?(reason: string): HookResult<Name>;
}

const rows = {
  before_tool_call: {
    input: ({ toolName, params, toolCallId }) => ({ tool: shownTool(toolName), arguments: params, call_id: toolCallId }),
    // Whose tool it is may change what it is called with; others may only stop it.
    patched: ({ arguments: params }, { toolName }, owns) =>
      isObject(params) && owns(toolName) ? { params: params as JsonObject } : undefined,
    blocked: (blockReason) => ({ block: true, blockReason }),
  } satisfies Bridged<'before_tool_call'>,
  user_bash: {
    input: ({ command, cwd }) => ({ command, ...(cwd === undefined ? {} : { cwd }) }),
    patched: ({ command }) => (typeof command === 'string' && command !== '' ? { command } : undefined),
    blocked: (blockReason) => ({ block: true, blockReason }),
  } satisfies Bridged<'user_bash'>,
  tool_result_persist: {
    input: ({ toolName, toolCallId, params, content, isError, details }) => ({
      tool: shownTool(toolName),
      call_id: toolCallId,
      arguments: params,
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
} as const;

export type BridgedHook = keyof typeof rows;

export function isBridged(name: HookName): name is BridgedHook {
  return Object.hasOwn(rows, name);
}

function rowOf(name: BridgedHook): Bridged<HookName> {
  return rows[name] as unknown as Bridged<HookName>;
}

/** The `input` of a `hook` request. */
export function hookInput(name: BridgedHook, event: HookEvent<HookName>): Fields {
  return { ...whereOf(event), ...rowOf(name).input(event) };
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

/** What the answer of an extension means for the hook; undefined for no opinion. */
export function hookResult(
  sepName: SepHookName,
  name: BridgedHook,
  outcome: Outcome,
  event: HookEvent<HookName>,
  owns: Owns,
): HookResult<HookName> | undefined {
  const row = rowOf(name);
  if (outcome.action === 'continue') return undefined;
  if (outcome.action === 'block') return hooks[sepName].block ? row.blocked?.(outcome.reason ?? texts.blockedBy(sepName)) : undefined;
  const { patch } = outcome;
  // A patch that names another tool than the one that is called is about something else.
  if (sepName === 'tool_call' && typeof patch.tool === 'string' && bareTool(patch.tool) !== bareTool(toolIn(event))) return undefined;
  const allowed: readonly string[] = hooks[sepName].patch;
  return row.patched?.(Object.fromEntries(Object.entries(patch).filter(([key]) => allowed.includes(key))), event, owns);
}

function toolIn(event: HookEvent<HookName>): string {
  return shownTool((event as { toolName?: string }).toolName ?? '');
}

export function textOf(content: readonly { readonly type: string; readonly text?: string }[]): string {
  return content.flatMap((block) => (block.type === 'text' && block.text !== undefined ? [block.text] : [])).join('\n');
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
