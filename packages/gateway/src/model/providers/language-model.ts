// The AI SDK's language-model interface as we use it, and what a provider module gives us on top of it. Only types: the
// packages themselves are loaded when a model is first asked (see load.ts).
import type { ModelConfig, ThinkingLevel } from '@tenon/protocol';
import type { createOpenAICompatible } from '@ai-sdk/openai-compatible';

export type LanguageModel = ReturnType<ReturnType<typeof createOpenAICompatible>['languageModel']>;
export type CallOptions = Parameters<LanguageModel['doStream']>[0];
export type Prompt = CallOptions['prompt'];
export type PromptMessage = Prompt[number];
export type ProviderOptions = NonNullable<CallOptions['providerOptions']>;
export type ReasoningEffort = NonNullable<CallOptions['reasoning']>;

type StreamOf<Result> = Result extends { stream: ReadableStream<infer Part> } ? Part : never;
export type StreamPart = StreamOf<Awaited<ReturnType<LanguageModel['doStream']>>>;

export interface ProviderSettings {
  readonly config: ModelConfig;
  /** The provider's name for the model. */
  readonly name: string;
  readonly baseUrl: string;
  /** Only servers of one's own go without. */
  readonly key: string | undefined;
  readonly fetch: typeof fetch;
}

/** What each file of this folder named after a provider exports as `openModel`. */
export interface OpenedModel {
  readonly model: LanguageModel;
  /** Where the provider keeps what it wants back with thoughts and calls. */
  readonly metadataKey: string;
  /** Whether a tool result may hold images. If not, they follow in a message of the user. */
  readonly imagesInResults: boolean;
  /** Undefined leaves it to the provider. */
  effortOf(level: ThinkingLevel): ReasoningEffort | undefined;
  /** Options of the whole request. */
  requestOptions(cacheKey: string | undefined): ProviderOptions | undefined;
  /** Put on the system prompt and on the last message: what stands before is worth keeping in the provider's cache. */
  readonly cacheMark: ProviderOptions | undefined;
}

export type OpenModel = (settings: ProviderSettings) => OpenedModel;
