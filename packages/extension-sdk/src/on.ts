// Handlers of hooks and events, and how the answers of several handlers of one hook become one.
import type { CallContext } from './definitions.ts';
import type { HookName } from './names.ts';

type Fields = Readonly<Record<string, unknown>>;
export type Messages = readonly { readonly role: string; readonly content: unknown }[];

/** What is about to happen. A field can be changed in place, or by the `patch` of the answer. */
export interface HookInputs {
  tool_call: {
    tool: string;
    arguments: Record<string, unknown>;
    /** pi's names for the same two. */
    readonly toolName: string;
    readonly input: Record<string, unknown>;
  };
  user_bash: { command: string };
  tool_result: { tool: string; arguments: Record<string, unknown>; content: string; is_error: boolean; details?: unknown };
  input: { text: string };
  before_agent_start: { system_prompt: string };
  context: { messages: Messages };
  before_provider_request: { provider: string; model: string; system_prompt?: string; thinking?: string };
  message_end: { role?: string; content: string };
  session_before_compact: { reason?: string };
  session_before_tree: { target_id?: string; old_leaf_id?: string };
}

/** Nothing: go on. The first `block` ends it; `cancel` is pi's word for it. */
export type HookAnswer =
  | { readonly block: boolean; readonly reason?: string }
  | { readonly cancel: boolean; readonly reason?: string }
  | { readonly patch: Fields }
  | undefined;

export interface HandlerContext extends CallContext {
  /** `message_end` and `session_before_*` come as hooks, as events, or as both, as the host has it. */
  readonly kind: 'hook' | 'event';
  /** Of an event: counts up; a gap means that some were lost. */
  readonly seq?: number;
}

export type HookHandler<Input = Record<string, unknown>> = (
  input: Input,
  context: HandlerContext,
) => HookAnswer | void | Promise<HookAnswer> | Promise<void>;
/** Of a hook beyond SEP: `patch` is what the hook may answer. */
export type FurtherHookHandler<Input, Patch> = (
  input: Input,
  context: HandlerContext,
) => FurtherHookAnswer<Patch> | void | Promise<FurtherHookAnswer<Patch>> | Promise<void>;
export type FurtherHookAnswer<Patch> = { readonly block: boolean; readonly reason?: string } | { readonly patch: Patch } | undefined;

export type EventHandler = (payload: Fields, context: HandlerContext) => unknown;

export type HookOutcome =
  | { readonly action: 'continue' }
  | { readonly action: 'block'; readonly reason?: string }
  | { readonly action: 'modify'; readonly patch: Fields };

/** One after another, each sees what the last one made. The whole value is sent: hosts replace it by the patch. */
export async function runHandlers(
  name: HookName,
  handlers: readonly HookHandler[],
  given: Fields,
  context: HandlerContext,
): Promise<HookOutcome> {
  const before = JSON.stringify(given);
  let input: Record<string, unknown> = { ...given };
  for (const handler of handlers) {
    const answer = await handler(name === 'tool_call' ? withPiNames(input) : input, context);
    if (answer === undefined || answer === null) continue;
    if (!isFields(answer)) throw badAnswer(name);
    if ('patch' in answer && isFields(answer.patch)) input = { ...input, ...answer.patch };
    else if (isBlock(answer)) return answer.reason === undefined ? { action: 'block' } : { action: 'block', reason: String(answer.reason) };
    else if (!('block' in answer || 'cancel' in answer)) throw badAnswer(name);
  }
  return JSON.stringify(input) === before ? { action: 'continue' } : { action: 'modify', patch: input };
}

/** Of a hook beyond SEP: a patch is what the hook may answer, and nothing of the input. Of two that say the same field, the last one holds. */
export async function runFurtherHandlers(
  name: string,
  handlers: readonly HookHandler[],
  input: Fields,
  context: HandlerContext,
): Promise<HookOutcome> {
  let patch: Fields | undefined;
  for (const handler of handlers) {
    const answer = await handler({ ...input }, context);
    if (answer === undefined || answer === null) continue;
    if (!isFields(answer)) throw badAnswer(name);
    if ('patch' in answer && isFields(answer.patch)) patch = { ...patch, ...answer.patch };
    else if (isBlock(answer)) return answer.reason === undefined ? { action: 'block' } : { action: 'block', reason: String(answer.reason) };
    else if (!('block' in answer || 'cancel' in answer)) throw badAnswer(name);
  }
  return patch === undefined ? { action: 'continue' } : { action: 'modify', patch };
}

function badAnswer(hook: string): TypeError {
  return new TypeError(`A handler of ${hook} answers {block}, {patch} or nothing`);
}

function isBlock(answer: object): answer is { reason?: unknown } {
  return ('block' in answer && answer.block === true) || ('cancel' in answer && answer.cancel === true);
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

// On the object itself, so that a change of `event.input` is a change of the arguments; not enumerable, so never on the wire.
function withPiNames(input: Record<string, unknown>): Record<string, unknown> {
  if (!Object.hasOwn(input, 'toolName')) Object.defineProperty(input, 'toolName', { get: () => input.tool });
  if (!Object.hasOwn(input, 'input')) Object.defineProperty(input, 'input', { get: () => input.arguments });
  return input;
}
