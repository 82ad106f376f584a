// Between OpenAI's chat completions and a turn of an agent. Pure: what a request asks for, and how an answer, a piece of
// one and a failure are said. Tools run on the agent's side, so calls of tools never cross.
import {
  type AgentInfo,
  type AssistantMessage,
  explain,
  GatewayError,
  type ImageBlock,
  imageTypes,
  type JsonValue,
  limits,
  matches,
  type ModelInfo,
  type RunEnd,
  type TextBlock,
  type ThinkingLevel,
  thinkingLevels,
  type Usage,
  type UserMessage,
} from '@tenon/protocol';
import { Type, type Static } from 'typebox';
import { checkImages } from './images.ts';

export interface Completion {
  /** As the client wrote it; the answer repeats it. */
  readonly model: string;
  readonly system: string | undefined;
  /** What was said before, oldest first. */
  readonly history: readonly Said[];
  readonly content: (TextBlock | ImageBlock)[];
  readonly thinking: ThinkingLevel | undefined;
  readonly stream: boolean;
  readonly includeUsage: boolean;
}

export type Said = Pick<UserMessage, 'role' | 'content'> | { readonly role: 'assistant'; readonly text: string };

// Open objects: clients send a lot that has no meaning here, and what does harm when it is ignored is refused below.
const Part = Type.Object({
  type: Type.String(),
  text: Type.Optional(Type.String()),
  image_url: Type.Optional(Type.Union([Type.String(), Type.Object({ url: Type.String() })])),
});
type Part = Static<typeof Part>;

const MessageBody = Type.Object({
  role: Type.Enum(['system', 'developer', 'user', 'assistant', 'tool', 'function']),
  content: Type.Optional(Type.Union([Type.String(), Type.Null(), Type.Array(Part)])),
  tool_calls: Type.Optional(Type.Unknown()),
  function_call: Type.Optional(Type.Unknown()),
});
type MessageBody = Static<typeof MessageBody>;

const CompletionBody = Type.Object({
  model: Type.String({ minLength: 1, maxLength: 256 }),
  messages: Type.Array(MessageBody, { minItems: 1 }),
  stream: Type.Optional(Type.Union([Type.Boolean(), Type.Null()])),
  stream_options: Type.Optional(Type.Union([Type.Null(), Type.Object({ include_usage: Type.Optional(Type.Boolean()) })])),
});

/** Throws a GatewayError that names the field. */
export function parseCompletion(body: JsonValue): Completion {
  if (!matches(CompletionBody, body)) throw invalid('body', explain(CompletionBody, body, 'body') ?? 'The body does not fit');
  refuseUnsupported(body as Record<string, JsonValue>);
  const system: string[] = [];
  const said: Said[] = [];
  for (const [index, message] of body.messages.entries()) {
    const place = `messages[${index}]`;
    if (message.role === 'tool' || message.role === 'function' || isPresent(message.tool_calls) || isPresent(message.function_call))
      throw invalid(place, `${place} is about a tool call of the client: ${TOOLS_HERE}`);
    if (message.role === 'system' || message.role === 'developer') system.push(textIn(message, place));
    else if (message.role === 'assistant') said.push({ role: 'assistant', text: textIn(message, place) });
    else said.push({ role: 'user', content: contentIn(message, place) });
  }
  const last = said.pop();
  if (last?.role !== 'user') throw invalid('messages', 'The last message must be one of the user: it is what the agent answers');
  if (system.join('').length > limits.messageChars.value)
    throw tooLarge('messages', `The system messages are longer than ${limits.messageChars.value} characters`);
  return {
    model: body.model,
    system: system.length === 0 ? undefined : system.join('\n\n'),
    history: said,
    content: last.content,
    thinking: thinkingOf((body as Record<string, JsonValue>).reasoning_effort),
    stream: body.stream === true,
    includeUsage: body.stream_options?.include_usage === true,
  };
}

const TOOLS_HERE = 'the tools of an agent run on the side of the gateway, and are configured there';

/** What would give another answer than the client expects. All else that is unknown is ignored. */
function refuseUnsupported(body: Readonly<Record<string, JsonValue>>): void {
  for (const name of ['tools', 'functions']) {
    const given = body[name];
    if (isPresent(given) && !(Array.isArray(given) && given.length === 0)) throw invalid(name, `${name} cannot be given: ${TOOLS_HERE}`);
  }
  if (isPresent(body.n) && body.n !== 1) throw invalid('n', 'n must be 1: an agent gives one answer');
  if (isPresent(body.logprobs) && body.logprobs !== false) throw invalid('logprobs', 'logprobs cannot be given: an agent has none');
  if (isPresent(body.top_logprobs) && body.top_logprobs !== 0)
    throw invalid('top_logprobs', 'top_logprobs cannot be given: an agent has none');
  if (isPresent(body.audio)) throw invalid('audio', 'audio cannot be asked for: an agent answers in text');
  if (Array.isArray(body.modalities) && body.modalities.some((each) => each !== 'text'))
    throw invalid('modalities', 'modalities must be ["text"]');
  const format = body.response_format;
  if (isPresent(format) && (format as { type?: JsonValue }).type !== 'text')
    throw invalid('response_format', 'response_format must be {"type":"text"}: ask for the format in a message');
}

function thinkingOf(effort: JsonValue | undefined): ThinkingLevel | undefined {
  if (!isPresent(effort)) return undefined;
  if (effort === 'none') return 'off';
  const level = thinkingLevels.find((each) => each === effort);
  if (level === undefined) throw invalid('reasoning_effort', `reasoning_effort must be none, ${thinkingLevels.slice(1).join(', ')}`);
  return level;
}

function contentIn(message: MessageBody, place: string): (TextBlock | ImageBlock)[] {
  const parts: readonly Part[] =
    typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : Array.isArray(message.content) ? message.content : [];
  const content = parts.map((part, index) => blockOf(part, `${place}.content[${index}]`));
  if (content.length === 0) throw invalid(place, `${place} has no content`);
  const chars = content.reduce((sum, block) => sum + (block.type === 'text' ? block.text.length : 0), 0);
  if (chars > limits.messageChars.value) throw tooLarge(place, `${place} is longer than ${limits.messageChars.value} characters`);
  const images = content.filter(({ type }) => type === 'image').length;
  if (images > limits.messageImages.value) throw tooLarge(place, `${place} has more than ${limits.messageImages.value} images`);
  return content;
}

function textIn(message: MessageBody, place: string): string {
  if (typeof message.content === 'string') return message.content;
  return (message.content ?? [])
    .map(({ type, text }, index) => {
      if ((type === 'text' || type === 'refusal') && (text !== undefined || type === 'refusal')) return text ?? '';
      throw invalid(place, `${place}.content[${index}] must be text`);
    })
    .join('');
}

function blockOf(part: Part, place: string): TextBlock | ImageBlock {
  if (part.type === 'text' && part.text !== undefined) return { type: 'text', text: part.text };
  if (part.type === 'image_url' && part.image_url !== undefined)
    return imageOf(typeof part.image_url === 'string' ? part.image_url : part.image_url.url, place);
  throw invalid(place, `${place} must be text or an image_url`);
}

/** By its length as it was sent: nothing is decoded here, and pixels nowhere. */
function imageOf(url: string, place: string): ImageBlock {
  if (url.length > limits.imageBytes.value + 64)
    throw tooLarge(place, `${place} is larger than ${limits.imageBytes.value} bytes in base64`);
  const comma = url.indexOf(',');
  const mimeType = /^data:([a-z]+\/[a-z0-9.+-]+);base64$/i.exec(url.slice(0, Math.max(0, Math.min(comma, 128))))?.[1]?.toLowerCase();
  if (mimeType === undefined)
    throw invalid(place, `${place} must be a data: URL in base64; the gateway fetches no images from elsewhere for a client`);
  const known = imageTypes.find((each) => each === mimeType);
  if (known === undefined) throw invalid(place, `${place} must be ${imageTypes.join(', ')}`);
  const image: ImageBlock = { type: 'image', mimeType: known, data: url.slice(comma + 1) };
  checkImages([image], () => place);
  return image;
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function invalid(param: string, message: string): GatewayError {
  return new GatewayError('INVALID_REQUEST', message, { details: { code: 'invalid_value', param } });
}

function tooLarge(param: string, message: string): GatewayError {
  return new GatewayError('TOO_LARGE', message, { details: { code: 'TOO_LARGE', param } });
}

export interface Target {
  /** Undefined: the one of the session, or the default. */
  readonly agentId: string | undefined;
  readonly model: string | undefined;
}

interface Known {
  readonly agents: readonly AgentInfo[];
  readonly models: readonly ModelInfo[];
}

/** `tenon`, `tenon/<agent>`, `<agent>`, each with `@<model>`; or the id of a model alone. */
export function resolveTarget(name: string, { agents, models }: Known): Target {
  const isModel = (id: string) => models.some((model) => model.id === id);
  const agentOf = (text: string) => {
    const id = text.startsWith('tenon/') ? text.slice('tenon/'.length) : text;
    return agents.find((agent) => agent.id === id)?.id;
  };
  const asAgent = (text: string): { agentId: string | undefined } | undefined => {
    if (text === 'tenon') return { agentId: undefined };
    const agentId = agentOf(text);
    return agentId === undefined ? undefined : { agentId };
  };
  const whole = asAgent(name);
  if (whole) return { ...whole, model: undefined };
  const at = name.indexOf('@');
  const named = at === -1 ? undefined : asAgent(name.slice(0, at));
  if (named && isModel(name.slice(at + 1))) return { ...named, model: name.slice(at + 1) };
  if (isModel(name)) return { agentId: undefined, model: name };
  throw new GatewayError('NOT_FOUND', `The model "${name.slice(0, 64)}" does not exist; GET /v1/models lists what there is`, {
    details: { code: 'model_not_found', param: 'model' },
  });
}

/** What `/v1/models` lists: the agents, and the models that the default agent can be asked to use. */
export function modelList({ agents, models }: Known, createdMs: number): JsonValue {
  const ids = ['tenon', ...agents.map(({ id }) => `tenon/${id}`), ...models.filter(({ usable }) => usable).map(({ id }) => id)];
  const created = Math.floor(createdMs / 1000);
  return { object: 'list', data: [...new Set(ids)].map((id) => ({ id, object: 'model', created, owned_by: 'tenon' })) };
}

/** A message that the client says was said before, as an entry of a transcript has it. */
export function toMessage(said: Said, at: number): UserMessage | AssistantMessage {
  if (said.role === 'user') return { role: 'user', content: said.content, timestamp: at };
  const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, costUsd: 0 };
  const content = [{ type: 'text' as const, text: said.text }];
  return { role: 'assistant', content, provider: 'client', model: 'client', usage, stopReason: 'stop', timestamp: at };
}

interface Head {
  readonly id: string;
  readonly createdMs: number;
  readonly model: string;
}

type FinishReason = 'stop' | 'length';

export function completionOf(head: Head, text: string, finish: FinishReason, usage: Usage): JsonValue {
  const message = { role: 'assistant', content: text, refusal: null };
  return {
    ...headOf(head, 'chat.completion'),
    choices: [{ index: 0, message, logprobs: null, finish_reason: finish }],
    usage: usageOf(usage),
  };
}

export interface Delta {
  readonly role?: 'assistant';
  readonly content?: string;
  readonly reasoning_content?: string;
}

export function chunkOf(head: Head, delta: Delta, finish: FinishReason | null = null): JsonValue {
  return { ...headOf(head, 'chat.completion.chunk'), choices: [{ index: 0, delta: { ...delta }, logprobs: null, finish_reason: finish }] };
}

export function usageChunkOf(head: Head, usage: Usage): JsonValue {
  return { ...headOf(head, 'chat.completion.chunk'), choices: [], usage: usageOf(usage) };
}

function headOf({ id, createdMs, model }: Head, object: string) {
  return { id, object, created: Math.floor(createdMs / 1000), model };
}

function usageOf({ input, output, cacheRead, cacheWrite }: Usage): JsonValue {
  const prompt = input + cacheRead + cacheWrite;
  return {
    prompt_tokens: prompt,
    completion_tokens: output,
    total_tokens: prompt + output,
    prompt_tokens_details: { cached_tokens: cacheRead },
  };
}

/** How a run that has ended is told: with a reason to finish, or as a failure with its HTTP status. */
export type Outcome =
  | { readonly kind: 'finished'; readonly reason: FinishReason }
  | { readonly kind: 'failed'; readonly status: number; readonly error: GatewayError };

export function outcomeOf(end: RunEnd): Outcome {
  switch (end.kind) {
    case 'completed':
    case 'handled':
      return { kind: 'finished', reason: 'stop' };
    case 'step_limit':
    case 'cost_limit':
      return { kind: 'finished', reason: 'length' };
    case 'aborted':
      return failed(400, 'CONFLICT', 'aborted', end.reason ?? 'The turn was stopped before it had ended');
    case 'refused':
      return failed(403, 'SCOPE', 'refused', end.reason ?? 'The turn was refused');
    case 'failed': {
      const status = statusOfFailure[end.code ?? ''] ?? 500;
      const code = status === 429 ? 'RATE_LIMITED' : status === 503 ? 'UNAVAILABLE' : status < 500 ? 'INVALID_REQUEST' : 'INTERNAL';
      return failed(status, code, failureCodes[end.code ?? ''] ?? end.code ?? 'failed', end.reason ?? 'The model could not answer');
    }
    case 'internal_error':
      return failed(500, 'INTERNAL', end.code ?? 'internal_error', end.reason ?? 'A fault of the gateway');
  }
}

/** By the code of the failure. What lies with the configuration is a fault of the server to the client. */
const statusOfFailure: Readonly<Record<string, number>> = {
  rate_limited: 429,
  overloaded: 503,
  unreachable: 503,
  timeout: 503,
  bad_output: 503,
  context_overflow: 400,
  invalid_request: 400,
  unknown_model: 404,
};

/** Where OpenAI has a name for it, clients know that one. */
const failureCodes: Readonly<Record<string, string>> = {
  rate_limited: 'rate_limit_exceeded',
  context_overflow: 'context_length_exceeded',
  unknown_model: 'model_not_found',
};

function failed(status: number, code: GatewayError['code'], detail: string, message: string): Outcome {
  return { kind: 'failed', status, error: new GatewayError(code, message, { details: { code: detail } }) };
}
