// What events carry and what hooks are asked about. Payloads, inputs and patches are open: a host may say more than stands here,
// and both sides read what they understand.
import { Type, type TSchema } from 'typebox';
import { type HookEvent, hookRow, type HookResult } from '../hooks.ts';
import { AnyObject, Anything, Empty, Text } from './shapes.ts';
import { snake, type Snake } from './snake.ts';
import {
  furtherEventNames,
  furtherHookNames,
  type SepEventName,
  type SepFurtherEventName,
  type SepFurtherHookName,
  type SepHookName,
} from './wire.ts';

const Optional = Type.Optional;
const Whole = Type.Integer({ minimum: 0 });

/** Where it happens, as far as that is known. */
const where = { session_key: Optional(Text), run_id: Optional(Text), agent_id: Optional(Text) };

const payload = <Properties extends Record<string, TSchema>>(properties: Properties) => Type.Object({ ...where, ...properties });
const iteration = Optional(Whole);

export const eventPayloads = {
  agent_start: payload({}),
  agent_end: payload({ success: Optional(Type.Boolean()) }),
  turn_start: payload({}),
  turn_end: payload({ iterations: Optional(Whole) }),
  message_start: payload({ iteration }),
  message_update: payload({ iteration, content: Optional(Text) }),
  message_end: payload({ iteration, content: Text }),
  tool_execution_start: payload({ iteration, tool: Text }),
  tool_execution_update: payload({ iteration, tool: Text, message: Optional(Text) }),
  tool_execution_end: payload({ iteration, tool: Text, is_error: Type.Boolean() }),
  model_select: payload({ model: Text, provider: Optional(Text), thinking: Optional(Text) }),
  after_provider_response: payload({ provider: Optional(Text), model: Optional(Text) }),
  session_start: payload({ reason: Optional(Text) }),
  session_compact: payload({ reason: Optional(Text) }),
  session_tree: payload({}),
  session_shutdown: payload({ reason: Optional(Text) }),
  events_lost: Type.Object({ lost: Type.Integer({ minimum: 1 }) }),
  'bus/event': Type.Object({ from: Text, topic: Text, payload: Optional(Anything) }),
  'widget/key': Type.Object({ widget_id: Optional(Text), key: Text }),
} satisfies Record<SepEventName, TSchema>;

const ContextMessage = Type.Object({ role: Text, content: Text });
const input = payload;
const patch = <Properties extends Record<string, TSchema>>(properties: Properties) => Type.Object(properties);

export const hookShapes = {
  tool_call: {
    input: input({ tool: Text, arguments: AnyObject, call_id: Optional(Text) }),
    patch: patch({ arguments: Optional(AnyObject) }),
  },
  user_bash: { input: input({ command: Text, cwd: Optional(Text) }), patch: patch({ command: Optional(Text) }) },
  tool_result: {
    input: input({
      ...{ tool: Text, arguments: AnyObject, content: Text, is_error: Type.Boolean() },
      ...{ call_id: Optional(Text), details: Optional(Anything) },
    }),
    patch: patch({ content: Optional(Text), is_error: Optional(Type.Boolean()), details: Optional(Anything) }),
  },
  input: { input: input({ text: Text }), patch: patch({ text: Optional(Text) }) },
  before_agent_start: { input: input({ system_prompt: Text }), patch: patch({ system_prompt: Optional(Text) }) },
  context: { input: input({ messages: Type.Array(ContextMessage) }), patch: patch({ messages: Optional(Type.Array(ContextMessage)) }) },
  before_provider_request: {
    input: input({ provider: Text, model: Text, system_prompt: Text, thinking: Optional(Text) }),
    patch: patch({ system_prompt: Optional(Text), thinking: Optional(Text) }),
  },
  message_end: { input: input({ role: Text, content: Text }), patch: patch({ content: Optional(Text) }) },
  session_before_compact: { input: input({ reason: Text }), patch: patch({ summary: Optional(Text) }) },
  session_before_tree: {
    input: input({ target_id: Type.Union([Text, Type.Null()]), old_leaf_id: Type.Union([Text, Type.Null()]) }),
    patch: patch({ summary: Optional(Text), label: Optional(Text) }),
  },
} satisfies Record<SepHookName, { input: TSchema; patch: TSchema }>;

/** Those beyond SEP are the gateway's own, with the names of the wire: what is said, and what a patch may say. */
export const furtherHookShapes = Object.fromEntries(
  furtherHookNames.map((name) => {
    const { kind, event, result } = hookRow(name);
    // Who is only told something may say that it has taken it, and nothing else.
    return [name, { input: snake(event), patch: kind === 'observe' ? Empty : snake(result) }];
  }),
) as unknown as Readonly<Record<SepFurtherHookName, { readonly input: TSchema; readonly patch: TSchema }>>;

export const furtherEventPayloads = Object.fromEntries(
  furtherEventNames.map((name) => [name, snake(hookRow(name).event)]),
) as unknown as Readonly<Record<SepFurtherEventName, TSchema>>;

export type FurtherHookInput<Name extends SepFurtherHookName> = Snake<HookEvent<Name>>;
export type FurtherHookPatch<Name extends SepFurtherHookName> = Snake<NonNullable<HookResult<Name>>>;
export type FurtherEventPayload<Name extends SepFurtherEventName> = Snake<HookEvent<Name>>;
