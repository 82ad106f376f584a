// Events that extensions follow and hooks that they take part in, as plain data. The names of hooks are the `sep` names of the
// gateway's hook table; a contract test holds both together.

interface EventRow {
  readonly summary: string;
  /** Fields of the payload; the schema says more. */
  readonly payload: readonly string[];
  /** Sent whatever the extension follows: `always`, or only with this reason in the payload. */
  readonly unasked?: 'always' | 'reload';
  /** Without `seq`. */
  readonly outOfBand?: true;
}

export const events = {
  agent_start: { summary: 'The agent begins to work on a message.', payload: ['agent_id'] },
  agent_end: { summary: 'The agent has ended, however it did.', payload: ['agent_id', 'success'] },
  turn_start: { summary: 'A turn begins.', payload: ['agent_id'] },
  turn_end: { summary: 'A turn has ended, however it did; after `message_end`.', payload: ['agent_id', 'iterations'] },
  message_start: { summary: 'A model begins to answer.', payload: ['iteration'] },
  message_update: { summary: 'A piece of the answer.', payload: ['iteration', 'content'] },
  message_end: { summary: 'The final answer of a turn.', payload: ['iteration', 'content'] },
  tool_execution_start: { summary: 'A tool is called.', payload: ['iteration', 'tool'] },
  tool_execution_update: { summary: 'A tool says how far it is.', payload: ['iteration', 'tool', 'message'] },
  tool_execution_end: { summary: 'A tool has run, or has failed.', payload: ['iteration', 'tool', 'is_error'] },
  model_select: { summary: 'A model was chosen.', payload: ['model', 'provider', 'thinking'] },
  after_provider_response: { summary: 'A call of a model has ended.', payload: ['provider', 'model'] },
  session_start: { summary: 'A session has begun; `reload`: the extension was restarted.', payload: ['reason'], unasked: 'reload' },
  session_compact: { summary: 'Older entries were replaced by a summary.', payload: ['reason'] },
  session_tree: { summary: 'The leaf of a session has moved.', payload: [] },
  session_shutdown: {
    summary: 'A session has ended; `reload`: the extension is about to be restarted.',
    payload: ['reason'],
    unasked: 'reload',
  },
  events_lost: { summary: 'So many events were shed, before those that follow.', payload: ['lost'], unasked: 'always', outOfBand: true },
  'bus/event': { summary: 'Another extension has published something.', payload: ['from', 'topic', 'payload'] },
  'widget/key': { summary: 'A key was pressed in a widget of the extension.', payload: ['widget_id', 'key'], unasked: 'always' },
} as const satisfies Record<string, EventRow>;
export type SepEventName = keyof typeof events;
export const eventNames = Object.keys(events) as SepEventName[];

export function isEventName(name: string): name is SepEventName {
  return Object.hasOwn(events, name);
}

interface HookRow {
  readonly summary: string;
  /** What is sent as `input`; further fields may come with it. */
  readonly input: readonly string[];
  /** What a `modify` may change; other fields of the patch are left out. */
  readonly patch: readonly string[];
  /** Whether `block` stops it. */
  readonly block: boolean;
  /** What a timeout, a crash or a malformed answer means. closed: blocked. open: as if the extension had said continue. */
  readonly onFailure: 'open' | 'closed';
  /** `hook_timeout_ms` of the manifest says otherwise, within hookTimeoutMinMs and hookTimeoutMaxMs. */
  readonly timeoutMs: number;
}

const closed = { onFailure: 'closed', timeoutMs: 60_000 } as const;
const open = { onFailure: 'open', timeoutMs: 5_000 } as const;

export const hooks = {
  tool_call: {
    summary: 'A tool is about to be called. The arguments of own tools, and of those of the agent, can be changed.',
    input: ['tool', 'arguments'],
    patch: ['arguments'],
    block: true,
    ...closed,
  },
  user_bash: { summary: 'A person has typed a command for the shell.', input: ['command'], patch: ['command'], block: true, ...closed },
  tool_result: {
    summary: 'A tool has answered.',
    input: ['tool', 'arguments', 'content', 'is_error'],
    patch: ['content', 'is_error', 'details'],
    block: false,
    ...open,
  },
  input: { summary: 'A message has come for the agent.', input: ['text'], patch: ['text'], block: true, ...open },
  before_agent_start: {
    summary: 'The prompt is about to be put together.',
    input: ['system_prompt'],
    patch: ['system_prompt'],
    block: false,
    ...open,
  },
  context: { summary: 'The messages of one call of a model.', input: ['messages'], patch: ['messages'], block: false, ...open },
  before_provider_request: {
    summary: 'A provider is about to be called.',
    input: ['provider', 'model', 'system_prompt', 'thinking'],
    patch: ['system_prompt', 'thinking'],
    block: false,
    ...open,
  },
  message_end: { summary: 'A message is about to be written.', input: ['role', 'content'], patch: ['content'], block: true, ...open },
  session_before_compact: {
    summary: 'Older entries are about to be replaced by a summary.',
    input: ['reason'],
    patch: ['summary'],
    block: true,
    ...open,
  },
  session_before_tree: {
    summary: 'The leaf of a session is about to move.',
    input: ['target_id', 'old_leaf_id'],
    patch: ['summary', 'label'],
    block: true,
    ...open,
  },
} as const satisfies Record<string, HookRow>;
export type SepHookName = keyof typeof hooks;
export const hookNames = Object.keys(hooks) as SepHookName[];

export function isHookName(name: string): name is SepHookName {
  return Object.hasOwn(hooks, name);
}

/**
 * Hooks beyond SEP: those of the gateway that it waits for, under the names that they have there. What they are about, and what an
 * answer may say, stands in its hook table; a test holds both together.
 */
export const furtherHookNames = [
  ...(['before_model_resolve', 'agent_turn_prepare', 'heartbeat_prompt_contribution', 'before_prompt_build'] as const),
  ...(['before_agent_run', 'before_agent_reply', 'before_agent_finalize', 'before_message_write'] as const),
  ...(['before_tool_call', 'resolve_exec_env', 'tool_result_persist', 'before_tool_call_persist', 'after_tool_call_persist'] as const),
  'message_sending',
] as const;
export type SepFurtherHookName = (typeof furtherHookNames)[number];

export function isFurtherHookName(name: string): name is SepFurtherHookName {
  return (furtherHookNames as readonly string[]).includes(name);
}

/** Events beyond SEP: hooks of the gateway that it does not wait for, under the names that they have there. */
export const furtherEventNames = [
  ...(['llm_input', 'llm_output', 'model_call_started', 'model_call_ended', 'after_tool_call'] as const),
  ...(['session_end', 'before_reset', 'before_compaction', 'after_compaction', 'gateway_start', 'gateway_stop'] as const),
  ...(['message_received', 'message_sent', 'cron_changed', 'cron_reconciled'] as const),
] as const;
export type SepFurtherEventName = (typeof furtherEventNames)[number];

export function isFurtherEventName(name: string): name is SepFurtherEventName {
  return (furtherEventNames as readonly string[]).includes(name);
}
