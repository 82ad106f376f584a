// Events that extensions follow, out of what tells of them: a hook of the gateway, or what runs say while they work. One row for each
// event that has such a source.
import { type HookEvent, type HookName, hookRow, type RunStream } from '@tenon/protocol';
import { toSnake } from '@tenon/protocol/sep';
import { isFurtherEventName, type SepFurtherEventName, type ToolWorld } from '@tenon/protocol/sep/wire';
import { whereOf } from './hooks.ts';
import { toolIn } from './tool-names.ts';

type Fields = Readonly<Record<string, unknown>>;

interface Told<Name extends HookName> {
  readonly hook: Name;
  /** Undefined: it is not what the event tells of. */
  payload(event: HookEvent<Name>, world: ToolWorld): Fields | undefined;
}

function told<Name extends HookName>(hook: Name, payload: Told<Name>['payload']): Told<Name> {
  return { hook, payload };
}

const reasonOf = ({ reason }: { readonly reason?: string }): Fields => (reason === undefined ? {} : { reason });

const iterationOf = ({ step }: { readonly step?: number | undefined }): Fields => (step === undefined ? {} : { iteration: step });

const rows = {
  agent_start: told('agent_start', () => ({})),
  turn_start: told('agent_start', () => ({})),
  agent_end: told('agent_end', ({ success }) => ({ success })),
  turn_end: told('agent_end', ({ steps }) => (steps === undefined ? {} : { iterations: steps })),
  // The final answer: one that calls tools is none.
  message_end: told('llm_output', ({ message, assistantTexts, step }) =>
    message.content.some(({ type }) => type === 'toolCall') ? undefined : { ...iterationOf({ step }), content: assistantTexts.join('\n') },
  ),
  message_start: told('model_call_started', iterationOf),
  tool_execution_start: told('tool_execution_start', ({ toolName, toolCallId, step }, world) => ({
    ...iterationOf({ step }),
    tool: toolIn(world, toolName),
    call_id: toolCallId,
  })),
  tool_execution_end: told('after_tool_call', ({ toolName, result, error, step }, world) => ({
    ...iterationOf({ step }),
    tool: toolIn(world, toolName),
    is_error: error !== undefined || result?.isError === true,
  })),
  after_provider_response: told('model_call_ended', ({ provider, model }) => ({ provider, model })),
  session_start: told('session_start', reasonOf),
  session_shutdown: told('session_end', reasonOf),
  session_compact: told('after_compaction', reasonOf),
  session_tree: told('session_tree', ({ newLeafId, oldLeafId }) => ({ new_leaf_id: newLeafId, old_leaf_id: oldLeafId })),
  model_select: told('model_select', ({ model, provider, thinking }) => ({
    model,
    thinking,
    ...(provider === undefined ? {} : { provider }),
  })),
} as const;

/** Of what runs say: many times a turn, so nobody is told who does not ask. Undefined: nothing that this event tells of. */
const said = {
  message_update: {
    stream: 'assistant',
    payload: (each: RunStream) => (each.stream === 'assistant' ? { content: each.delta } : undefined),
  },
  tool_execution_update: {
    stream: 'tool',
    payload: (each: RunStream, world: ToolWorld) =>
      each.stream === 'tool' && each.phase === 'output'
        ? { tool: toolIn(world, each.name), call_id: each.callId, ...(each.output === undefined ? {} : { message: each.output }) }
        : undefined,
  },
} as const satisfies Record<
  string,
  { readonly stream: RunStream['stream']; payload(each: RunStream, world: ToolWorld): Fields | undefined }
>;

export type SaidEvent = keyof typeof said;

/** Whether runs tell of it while they work. */
export function isSaidEvent(name: string): name is SaidEvent {
  return Object.hasOwn(said, name);
}

export function streamsFor(events: readonly SaidEvent[]): readonly string[] {
  return [...new Set(events.map((event) => said[event].stream))];
}

export function saidPayload(name: SaidEvent, each: RunStream, world: ToolWorld): Fields | undefined {
  const payload = said[name].payload(each, world);
  return payload && { ...whereOf(each), ...payload };
}

/** Those of SEP that have a hook, and hooks under their own names. */
export type BridgedEvent = keyof typeof rows | SepFurtherEventName;

export function isBridgedEvent(name: string): name is BridgedEvent {
  return Object.hasOwn(rows, name) || isFurtherEventName(name);
}

function rowOf(event: BridgedEvent): Told<HookName> {
  if (!isFurtherEventName(event)) return rows[event] as unknown as Told<HookName>;
  return told<HookName>(event, (given) => toSnake(hookRow(event).event, given as never) as Fields);
}

/** The hooks that tell of these events, each with the events that it makes, in the order in which its row has them. */
export function hooksFor(events: readonly BridgedEvent[]): ReadonlyMap<HookName, readonly BridgedEvent[]> {
  const made = new Map<HookName, BridgedEvent[]>();
  for (const event of events) {
    const { hook } = rowOf(event);
    made.set(hook, [...(made.get(hook) ?? []), event]);
  }
  for (const [hook, those] of made) {
    const { sepEvents = [] } = hookRow(hook);
    those.sort((a, b) => sepEvents.indexOf(a) - sepEvents.indexOf(b));
  }
  return made;
}

/** Undefined where this time there is nothing to tell. */
export function payloadOf(name: BridgedEvent, event: HookEvent<HookName>, world: ToolWorld): Fields | undefined {
  const payload = rowOf(name).payload(event, world);
  return payload && { ...whereOf(event), ...payload };
}
