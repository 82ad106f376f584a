// Hooks of a turn before the model is asked, and at its end: the input, the choice of a model, the prompt, the gate, the
// answer of a plugin in the agent's place, and whether the turn may finish.
import { Type, type Static } from 'typebox';
import { JsonValue } from '../json.ts';
import { Count, OwnerId } from '../names.ts';
import { EntryId, ImageBlock, JsonObject, Message, RunEnd, ToolCallId, UserMessage } from '../transcript.ts';
import { firstDefined, joinContext, joined, replace, Verdict, type Merge } from './merge.ts';
import { claim, closed, hookEvent, modify, observe } from './row.ts';

const Text = Type.String();
const OptionalText = Type.Optional(Text);
const Messages = Type.Array(Message);

const InputEvent = hookEvent({ text: Text, images: Type.Optional(Type.Array(ImageBlock)) });
const InputResult = Type.Object(
  {
    text: OptionalText,
    images: Type.Optional(Type.Array(ImageBlock)),
    /** The plugin has dealt with it: the agent is not asked. */
    handled: Type.Optional(Type.Boolean()),
    /** What is shown as the answer when it is handled. */
    reply: OptionalText,
  },
  closed,
);

export const firstHandled: Merge<Static<typeof InputEvent>, Static<typeof InputResult>> = {
  name: 'firstHandled',
  summary: 'The first `handled: true` ends it. Otherwise `text` and `images` that a handler gives replace those so far.',
  apply(event, { handled, reply: _, ...fields }) {
    return handled ? new Verdict('claimed', '') : replace(event, fields);
  },
};

const around = { prependContext: OptionalText, appendContext: OptionalText };
const ContextResult = Type.Object(around, closed);

const PrepareEvent = hookEvent({
  prompt: Text,
  messages: Messages,
  /** What plugins have queued for this turn. */
  queuedInjections: Type.Array(
    Type.Object(
      {
        id: Text,
        pluginId: OwnerId,
        text: Text,
        placement: Type.Enum(['prepend_context', 'append_context']),
        metadata: Type.Optional(JsonValue),
      },
      closed,
    ),
  ),
  ...around,
});

const HeartbeatEvent = hookEvent({ heartbeatName: OptionalText, ...around });

const PromptEvent = hookEvent({
  prompt: Text,
  currentUserMessage: Type.Optional(UserMessage),
  currentUserMessageId: Type.Optional(EntryId),
  messages: Messages,
  /** The system prompt as it stands. */
  systemPrompt: Text,
  /** Who replaced it. */
  systemPromptBy: Type.Optional(OwnerId),
  prependContext: OptionalText,
  appendContext: OptionalText,
  prependSystemContext: OptionalText,
  appendSystemContext: OptionalText,
  /** The only tools that the turn may use; without it, those that the agent has. */
  toolsAllow: Type.Optional(Type.Array(Text)),
});
const PromptResult = Type.Object(
  {
    systemPrompt: OptionalText,
    prependContext: OptionalText,
    appendContext: OptionalText,
    prependSystemContext: OptionalText,
    appendSystemContext: OptionalText,
    /** A list of names. Anything else counts as an empty list: a restriction that cannot be read must not be lost. */
    toolsAllow: Type.Optional(JsonValue),
  },
  closed,
);

export const buildPrompt: Merge<Static<typeof PromptEvent>, Static<typeof PromptResult>> = {
  name: 'buildPrompt',
  summary:
    'The first `systemPrompt` stands; a later one is taken only if it contains the one so far. Context is joined with a blank line ' +
    'between. `toolsAllow` is intersected; what is not a list of names allows none.',
  joins: ['prependContext', 'appendContext', 'prependSystemContext', 'appendSystemContext', 'toolsAllow'],
  apply(event, result, plugin) {
    const fields: Partial<Static<typeof PromptEvent>> = joined(event, result, [
      'prependContext',
      'appendContext',
      'prependSystemContext',
      'appendSystemContext',
    ]);
    const { systemPrompt, toolsAllow } = result;
    if (systemPrompt !== undefined && (event.systemPromptBy === undefined || systemPrompt.includes(event.systemPrompt))) {
      fields.systemPrompt = systemPrompt;
      fields.systemPromptBy = plugin;
    }
    if (toolsAllow !== undefined) fields.toolsAllow = intersect(event.toolsAllow, toolsAllow);
    return replace(event, fields);
  },
};

/** The names that both lists have, in the order of the first. Without a first list, the second as it is. */
export function intersect(before: readonly string[] | undefined, added: unknown): string[] {
  const isList = Array.isArray(added) && added.every((name) => typeof name === 'string');
  if (!isList) return [];
  const names = new Set<string>(added);
  return before === undefined ? [...names] : before.filter((name) => names.has(name));
}

const GateResult = Type.Union([
  Type.Object({ outcome: Type.Literal('pass') }, closed),
  Type.Object(
    {
      outcome: Type.Literal('block'),
      reason: Type.String({ minLength: 1, maxLength: 4096 }),
      /** What is shown to the person. */
      message: OptionalText,
      category: OptionalText,
      metadata: Type.Optional(JsonObject),
    },
    closed,
  ),
]);
const GateEvent = hookEvent({ prompt: Text, messages: Messages, systemPrompt: OptionalText });

export const firstBlock: Merge<Static<typeof GateEvent>, Static<typeof GateResult>> = {
  name: 'firstBlock',
  summary: 'The first `outcome: "block"` refuses.',
  apply: (event, result) => (result.outcome === 'block' ? new Verdict('refused', result.reason) : event),
};

const RetryCandidate = Type.Object(
  { instruction: Text, idempotencyKey: OptionalText, maxAttempts: Type.Integer({ minimum: 1 }), plugin: OwnerId },
  closed,
);
export type RetryCandidate = Static<typeof RetryCandidate>;

const FinalizeEvent = hookEvent({
  turnId: OptionalText,
  provider: OptionalText,
  model: OptionalText,
  cwd: OptionalText,
  /** Whether this turn goes on only because a handler asked for it. */
  stopHookActive: Type.Boolean(),
  /** How often a handler has sent this turn back. */
  attemptIndex: Count,
  lastAssistantMessage: OptionalText,
  messages: Type.Optional(Messages),
  madeToolCall: Type.Boolean(),
  toolCalls: Type.Array(Type.Object({ toolName: Text, toolCallId: ToolCallId, isError: Type.Boolean() }, closed)),
  /** What the handlers so far want. */
  action: Type.Optional(Type.Enum(['continue', 'revise', 'finalize'])),
  /** Why it should be revised, one line each. */
  reason: OptionalText,
  /** What the agent may be told, in this order. */
  candidates: Type.Optional(Type.Array(RetryCandidate)),
});
const FinalizeResult = Type.Object(
  {
    action: Type.Enum(['continue', 'revise', 'finalize']),
    reason: OptionalText,
    retry: Type.Optional(
      Type.Object(
        {
          instruction: Type.String({ maxLength: 32_768 }),
          idempotencyKey: Type.Optional(Type.String({ minLength: 1, maxLength: 512 })),
          /** How often this instruction may send the turn back; 1 unless it says more. */
          maxAttempts: Type.Optional(Type.Number()),
        },
        closed,
      ),
    ),
  },
  closed,
);

export const strongestAction: Merge<Static<typeof FinalizeEvent>, Static<typeof FinalizeResult>> = {
  name: 'strongestAction',
  summary:
    '`finalize` wins over all. Otherwise every `revise` counts: reasons are joined and told before the instructions, retries collected in order. `continue` stands ' +
    'only if nobody asked for more.',
  joins: ['action', 'reason'],
  apply(event, { action, reason, retry }, plugin) {
    if (event.action === 'finalize') return event;
    if (action === 'finalize') return { ...event, action, ...(reason === undefined ? {} : { reason }), candidates: [] };
    if (action === 'continue') return event.action === undefined ? { ...event, action } : event;
    const reasons = [event.reason, reason].filter((each) => each !== undefined && each.trim() !== '');
    const candidates = [...(event.candidates ?? [])];
    if (retry && retry.instruction.trim() !== '') {
      const { instruction, idempotencyKey, maxAttempts = 1 } = retry;
      candidates.push({
        instruction,
        ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
        maxAttempts: Math.max(1, Math.floor(maxAttempts)),
        plugin,
      });
    }
    // Asking to revise without saying what or why asks for nothing.
    if (reasons.length === 0 && candidates.length === 0) return event.action === undefined ? { ...event, action: 'continue' } : event;
    return { ...event, action: 'revise', ...(reasons.length > 0 ? { reason: reasons.join('\n') } : {}), candidates };
  },
};

const ModelChoiceEvent = hookEvent({
  prompt: Text,
  attachments: Type.Optional(Type.Array(Type.Object({ mimeType: Text }, closed))),
  providerOverride: OptionalText,
  modelOverride: OptionalText,
});

export const promptHooks = {
  input: modify({
    summary: 'A message has come for an agent. It may be changed, or answered without the agent.',
    event: InputEvent,
    result: InputResult,
    merge: firstHandled,
    ends: ['claimed'],
    onFailure: 'open',
    timeoutMs: 15_000,
    sep: 'input',
  }),
  before_model_resolve: modify({
    summary: 'The model of a turn is about to be chosen. `modelOverride` is the id of a configured model.',
    event: ModelChoiceEvent,
    result: Type.Object({ providerOverride: OptionalText, modelOverride: OptionalText }, closed),
    merge: firstDefined<Static<typeof ModelChoiceEvent>>(),
    onFailure: 'open',
    timeoutMs: 15_000,
  }),
  agent_turn_prepare: modify({
    summary: 'A turn begins. Context may be put before and after the message of the user.',
    event: PrepareEvent,
    result: ContextResult,
    merge: joinContext<Static<typeof PrepareEvent>>(),
    onFailure: 'open',
    timeoutMs: 15_000,
  }),
  heartbeat_prompt_contribution: modify({
    summary: 'A heartbeat turn begins. Context may be put before and after its prompt.',
    event: HeartbeatEvent,
    result: ContextResult,
    merge: joinContext<Static<typeof HeartbeatEvent>>(),
    onFailure: 'open',
    timeoutMs: 15_000,
  }),
  before_prompt_build: modify({
    summary: 'The prompt is about to be put together: system prompt, context around the message, and the tools it may use.',
    event: PromptEvent,
    result: PromptResult,
    merge: buildPrompt,
    onFailure: 'open',
    timeoutMs: 15_000,
    sep: 'before_agent_start',
  }),
  before_agent_run: modify({
    summary: 'The gate before the model is asked for the first time in a turn. A handler may stop the turn.',
    event: GateEvent,
    result: GateResult,
    merge: firstBlock,
    ends: ['refused'],
    onFailure: 'closed',
    timeoutMs: 15_000,
  }),
  before_agent_reply: claim({
    summary: 'The agent is about to be asked. A plugin may answer in its place.',
    event: hookEvent({ cleanedBody: Text }),
    result: Type.Object({ handled: Type.Boolean(), reply: OptionalText, reason: OptionalText }, closed),
    timeoutMs: 15_000,
  }),
  before_agent_finalize: modify({
    summary: 'The agent has answered and the turn would end. A handler may send it back with an instruction, within a budget.',
    event: FinalizeEvent,
    result: FinalizeResult,
    merge: strongestAction,
    onFailure: 'open',
    timeoutMs: 15_000,
  }),
  agent_start: observe({
    summary: 'The agent begins to work on a turn, or goes on with one that was cut off.',
    event: hookEvent({ resumed: Type.Optional(Type.Boolean()) }),
    timeoutMs: 15_000,
    sepEvents: ['agent_start', 'turn_start'],
  }),
  agent_end: observe({
    summary: 'A turn has ended, however it did.',
    event: hookEvent({
      messages: Messages,
      success: Type.Boolean(),
      /** Answers of the model in this turn. */
      steps: Type.Optional(Count),
      end: RunEnd,
      error: OptionalText,
      durationMs: Type.Optional(Type.Number({ minimum: 0 })),
    }),
    timeoutMs: 30_000,
    sepEvents: ['turn_end', 'agent_end'],
  }),
};
