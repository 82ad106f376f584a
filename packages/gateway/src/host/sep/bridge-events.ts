// Events that extensions follow, out of the hooks of the gateway that tell of them. One row for each event that has such a hook.
import type { HookEvent, HookName } from '@tenon/protocol';
import { whereOf } from './bridge-hooks.ts';
import { shownTool } from './tool-names.ts';

type Fields = Readonly<Record<string, unknown>>;

interface Told<Name extends HookName> {
  readonly hook: Name;
  payload(event: HookEvent<Name>): Fields;
}

function told<Name extends HookName>(hook: Name, payload: (event: HookEvent<Name>) => Fields): Told<Name> {
  return { hook, payload };
}

const reasonOf = ({ reason }: { readonly reason?: string }): Fields => (reason === undefined ? {} : { reason });

const rows = {
  agent_end: told('agent_end', ({ success }) => ({ success })),
  turn_end: told('agent_end', () => ({})),
  message_end: told('llm_output', ({ assistantTexts }) => ({ content: assistantTexts.join('\n') })),
  tool_execution_end: told('after_tool_call', ({ toolName, result, error }) => ({
    tool: shownTool(toolName),
    is_error: error !== undefined || result?.isError === true,
  })),
  after_provider_response: told('model_call_ended', ({ provider, model }) => ({ provider, model })),
  session_start: told('session_start', reasonOf),
  session_shutdown: told('session_end', reasonOf),
  session_compact: told('after_compaction', () => ({})),
} as const;

export type BridgedEvent = keyof typeof rows;

export function isBridgedEvent(name: string): name is BridgedEvent {
  return Object.hasOwn(rows, name);
}

/** The hooks that tell of these events, each with the events that it makes. */
export function hooksFor(events: readonly BridgedEvent[]): ReadonlyMap<HookName, readonly BridgedEvent[]> {
  const made = new Map<HookName, BridgedEvent[]>();
  for (const event of events) {
    const { hook } = rows[event];
    made.set(hook, [...(made.get(hook) ?? []), event]);
  }
  return made;
}

export function payloadOf(name: BridgedEvent, event: HookEvent<HookName>): Fields {
  const row = rows[name] as unknown as Told<HookName>;
  return { ...whereOf(event), ...row.payload(event) };
}
