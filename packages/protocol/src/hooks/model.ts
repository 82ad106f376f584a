// Hooks around each call of a model, and before a message is written to the transcript.
import { Type, type Static } from 'typebox';
import { Count } from '../names.ts';
import { AssistantMessage, Message, ThinkingLevel, type ToolCallBlock, Usage } from '../transcript.ts';
import { blocked, lastWins, Verdict, type Merge } from './merge.ts';
import { closed, hookEvent, modify, observe, step } from './row.ts';

const Text = Type.String();
const Messages = Type.Array(Message);
const Milliseconds = Type.Number({ minimum: 0 });

/** One call of a model; a retry and a fallback are calls of their own. */
const call = { callId: Type.String({ minLength: 1 }), provider: Text, model: Text };

const ContextEvent = hookEvent({ messages: Messages });
const ContextResult = Type.Object({ messages: Messages }, closed);

export const wellFormedMessages: Merge<Static<typeof ContextEvent>, Static<typeof ContextResult>> = {
  name: 'wellFormedMessages',
  summary: 'The messages that a handler gives replace those so far, if every tool call in them is followed by its result.',
  apply(event, { messages }) {
    const fault = faultOfPairs(messages);
    return fault === undefined ? { ...event, messages } : new Verdict('wrong', fault);
  },
};

/** What is wrong with the pairs of tool calls and results, if anything: a provider refuses a conversation with a torn one. */
export function faultOfPairs(messages: readonly Message[]): string | undefined {
  const open = new Set<string>();
  for (const message of messages) {
    if (message.role === 'toolResult') {
      if (!open.delete(message.toolCallId)) return `messages has a result for the tool call "${message.toolCallId}" that is not open`;
      continue;
    }
    if (open.size > 0) break;
    if (message.role === 'assistant') for (const { id } of callsOf(message)) open.add(id);
  }
  const [unanswered] = open;
  return unanswered === undefined ? undefined : `messages has no result for the tool call "${unanswered}"`;
}

const WriteEvent = hookEvent({ message: Message });
const WriteResult = Type.Object(
  { message: Type.Optional(Message), block: Type.Optional(Type.Boolean()), blockReason: Type.Optional(Text) },
  closed,
);

export const sameMessage: Merge<Static<typeof WriteEvent>, Static<typeof WriteResult>> = {
  name: 'sameMessage',
  summary:
    'The first `block: true` refuses. Otherwise the message that a handler gives replaces the one so far; its role, its tool ' +
    'calls and what it answers must stay the same.',
  apply(event, { message, block, blockReason }, plugin) {
    if (block) return blocked(plugin, blockReason);
    if (message === undefined) return event;
    if (message.role !== event.message.role) {
      return new Verdict('wrong', `message has the role "${message.role}" in place of "${event.message.role}"`);
    }
    if (identityOf(message) !== identityOf(event.message)) {
      return new Verdict('wrong', 'message has other tool calls, or answers another one, than the message it replaces');
    }
    return { ...event, message };
  },
};

function identityOf(message: Message): string {
  if (message.role === 'assistant') return JSON.stringify(callsOf(message));
  return message.role === 'toolResult' ? JSON.stringify([message.toolCallId, message.toolName]) : '';
}

function callsOf(message: AssistantMessage): ToolCallBlock[] {
  return message.content.filter((block) => block.type === 'toolCall');
}

const RequestEvent = hookEvent({
  ...call,
  system: Text,
  thinking: ThinkingLevel,
  maxOutputTokens: Type.Optional(Type.Integer({ minimum: 1 })),
  messageCount: Count,
  /** Names of the tools that the model is told of. */
  tools: Type.Array(Text),
});

export const modelHooks = {
  context: modify({
    summary: 'The messages of one call of a model, as it will be told them. What is stored stays as it is.',
    event: ContextEvent,
    result: ContextResult,
    merge: wellFormedMessages,
    onFailure: 'open',
    timeoutMs: 5_000,
    sep: 'context',
  }),
  before_provider_request: modify({
    summary: 'A provider is about to be called. The settings of the call may be changed; keys and addresses are not shown.',
    event: RequestEvent,
    result: Type.Object(
      {
        system: Type.Optional(Text),
        thinking: Type.Optional(ThinkingLevel),
        maxOutputTokens: Type.Optional(Type.Integer({ minimum: 1 })),
      },
      closed,
    ),
    merge: lastWins<Static<typeof RequestEvent>>(),
    onFailure: 'open',
    timeoutMs: 5_000,
    sep: 'before_provider_request',
  }),
  llm_input: observe({
    summary: 'What a model is told, whole.',
    event: hookEvent({ ...call, systemPrompt: Text, messages: Messages, tools: Type.Array(Text) }),
    timeoutMs: 15_000,
  }),
  llm_output: observe({
    summary: 'What a model has answered, whole.',
    event: hookEvent({ ...call, step, message: AssistantMessage, assistantTexts: Type.Array(Text), usage: Usage }),
    timeoutMs: 15_000,
    sepEvents: ['message_end'],
  }),
  model_call_started: observe({
    summary: 'A call of a model has begun. Metadata only.',
    event: hookEvent({ ...call, step, attempt: Count, messageCount: Count, toolCount: Count }),
    timeoutMs: 15_000,
    sepEvents: ['message_start'],
  }),
  model_call_ended: observe({
    summary: 'A call of a model has ended. Metadata only.',
    event: hookEvent({
      ...call,
      attempt: Count,
      outcome: Type.Enum(['completed', 'failed', 'aborted']),
      failureKind: Type.Optional(Text),
      durationMs: Milliseconds,
      firstTokenMs: Type.Optional(Milliseconds),
      usage: Type.Optional(Usage),
    }),
    timeoutMs: 15_000,
    sepEvents: ['after_provider_response'],
  }),
  before_message_write: modify({
    summary: 'A message is about to be written to the transcript. It may be changed, or kept out.',
    event: WriteEvent,
    result: WriteResult,
    merge: sameMessage,
    ends: ['refused'],
    onFailure: 'open',
    timeoutMs: 5_000,
    sep: 'message_end',
  }),
};
