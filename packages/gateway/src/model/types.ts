// What the agent sees of a model. One interface and one stream for every provider; a failure is the last value of the
// stream, never a throw.
import {
  type AssistantMessage,
  type Message,
  type ModelFailureKind,
  modelFailures,
  type ModelInfo,
  type ThinkingLevel,
} from '@tenon/protocol';

export interface ToolDeclaration {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of an object. */
  readonly parameters: object;
}

export interface ModelRequest {
  readonly system: string;
  /** Well formed: every tool call of an assistant message is followed by its result. */
  readonly messages: readonly Message[];
  readonly tools: readonly ToolDeclaration[];
  readonly thinking: ThinkingLevel;
  readonly maxOutputTokens?: number;
  /** Of the session: providers use it to find their cache. */
  readonly cacheKey?: string;
  /** Whose turn it is for; without it, it is for none. */
  readonly about?: { readonly sessionKey: string; readonly agentId: string; readonly runId: string };
}

export type FailureKind = ModelFailureKind;

export interface ModelFailure {
  readonly kind: FailureKind;
  /** For people and the transcript: names what to do, and never a key. */
  readonly message: string;
  readonly retryAfterMs?: number;
}

/** Failures that another attempt, or another model, may not have. */
export const passingFailures: ReadonlySet<FailureKind> = new Set(
  (Object.keys(modelFailures) as FailureKind[]).filter((kind) => modelFailures[kind].passing),
);

export type ModelEvent =
  | { readonly type: 'text'; readonly delta: string }
  | { readonly type: 'thinking'; readonly delta: string }
  /** The model has begun to write a tool call. */
  | { readonly type: 'tool'; readonly callId: string; readonly name: string }
  /** The last one, when all went well. Text, thinking and calls of the message are what the deltas added up to. */
  | { readonly type: 'end'; readonly message: AssistantMessage }
  /** The last one, when not. `partial` is what had arrived. */
  | { readonly type: 'failed'; readonly failure: ModelFailure; readonly partial?: AssistantMessage };

export interface Model {
  readonly info: ModelInfo;
  /** Contract: must not throw; ends with exactly one `end` or `failed`, also after an abort. */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>;
}

export interface Models {
  list(): ModelInfo[];
  /** The id that is used where nobody chose one. */
  readonly defaultId: string;
  get(id: string): Model | undefined;
}
