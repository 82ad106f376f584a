// Models and agents, as tenon.toml configures them and as clients see them.
import { Type, type Static } from 'typebox';
import { PermissionMode } from './approval.ts';
import { Count, DisplayText, OwnerId } from './names.ts';
import { QueueMode, ThinkingLevel } from './transcript.ts';

const closed = { additionalProperties: false };

export const ModelId = Type.String({
  pattern: '^[A-Za-z0-9][A-Za-z0-9._:/@-]{0,127}$',
  description: 'up to 128 letters, digits, ., :, /, @, _ and -, the first a letter or digit',
});

/** The model that is always there: no key, no network, the same answer each time. */
export const DEMO_MODEL_ID = 'demo';

export const modelProviders = ['openai', 'anthropic', 'google', 'openai-compatible'] as const;
export type ModelProvider = (typeof modelProviders)[number];

/** Why a model did not answer. `passing`: another attempt, or another model, may do better. */
export const modelFailures = {
  unknown_model: { summary: 'There is no such model.', passing: false },
  missing_key: { summary: 'What it needs to be asked is missing.', passing: false },
  unauthorized: { summary: 'The provider refuses the key or the sign-in.', passing: false },
  rate_limited: { summary: 'The provider asks for fewer requests.', passing: true },
  overloaded: { summary: 'The provider is overloaded or broken.', passing: true },
  unreachable: { summary: 'The provider cannot be reached.', passing: true },
  timeout: { summary: 'The answer did not come in time.', passing: true },
  context_overflow: { summary: 'The conversation is longer than the model can read.', passing: false },
  invalid_request: { summary: 'The request itself is refused; no other model is asked.', passing: false },
  bad_output: { summary: 'The answer broke off or cannot be read.', passing: true },
  aborted: { summary: 'Somebody stopped it.', passing: false },
} as const satisfies Record<string, { readonly summary: string; readonly passing: boolean }>;
export type ModelFailureKind = keyof typeof modelFailures;

/** What agents know a provider of a plugin by: the plugin's own name, or that and the name of the provider. */
export function pluginProviderId(plugin: string, provider: string): string {
  return provider === plugin ? plugin : `${plugin}.${provider}`;
}

/** What agents know a model of a plugin by. No other plugin can have it: there is no dot and no slash in the id of a plugin. */
export function pluginModelId(plugin: string, provider: string, model: string): string {
  return `${pluginProviderId(plugin, provider)}/${model}`;
}

const PricePerMillion = Type.Number({ minimum: 0, maximum: 1_000_000 });

/** One `[[models]]` of tenon.toml. */
export const ModelConfig = Type.Object(
  {
    id: ModelId,
    provider: Type.Enum([...modelProviders]),
    /** The provider's name for it; without it, the id. */
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
    baseUrl: Type.Optional(
      Type.String({ pattern: '^https?://[^\\s]+$', maxLength: 1024, description: 'an address, such as http://127.0.0.1:11434/v1' }),
    ),
    /** The name of the environment variable that holds the key. */
    keyEnv: Type.Optional(Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]{0,127}$', description: 'the name of an environment variable' })),
    /** A file that holds the key and nothing else. */
    keyFile: Type.Optional(Type.String({ minLength: 1, maxLength: 1024 })),
    contextWindow: Type.Optional(Type.Integer({ minimum: 1024, maximum: 100_000_000 })),
    maxOutputTokens: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000_000 })),
    /** Whether it can see images. */
    images: Type.Optional(Type.Boolean()),
    thinking: Type.Optional(Type.Boolean()),
    /** US dollars for a million tokens. */
    prices: Type.Optional(
      Type.Object(
        {
          input: PricePerMillion,
          output: PricePerMillion,
          cacheRead: Type.Optional(PricePerMillion),
          cacheWrite: Type.Optional(PricePerMillion),
        },
        closed,
      ),
    ),
  },
  closed,
);
export type ModelConfig = Static<typeof ModelConfig>;

export const ModelInfo = Type.Object(
  {
    id: ModelId,
    provider: Type.String(),
    name: Type.String(),
    contextWindow: Count,
    images: Type.Boolean(),
    thinking: Type.Boolean(),
    /** Whether it could be asked now; if not, `reason` says what is missing. */
    usable: Type.Boolean(),
    reason: Type.Optional(DisplayText),
    isDefault: Type.Boolean(),
  },
  closed,
);
export type ModelInfo = Static<typeof ModelInfo>;

/** One `[[agents]]` of tenon.toml. The agent `main` is always there. */
export const AgentConfig = Type.Object(
  {
    id: OwnerId,
    name: Type.Optional(DisplayText),
    /** The folder that its tools work in; without it, one in the home folder. */
    workspace: Type.Optional(Type.String({ minLength: 1, maxLength: 1024 })),
    model: Type.Optional(ModelId),
    fallbacks: Type.Optional(Type.Array(ModelId, { maxItems: 8 })),
    thinking: Type.Optional(ThinkingLevel),
    /** Names of the tools that it has; without it, all. */
    tools: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 128 }), { maxItems: 256 })),
    /** Added to the system prompt. */
    prompt: Type.Optional(Type.String({ maxLength: 65_536 })),
    permissions: Type.Optional(PermissionMode),
    queue: Type.Optional(QueueMode),
  },
  closed,
);
export type AgentConfig = Static<typeof AgentConfig>;

export const AgentInfo = Type.Object(
  {
    id: OwnerId,
    name: DisplayText,
    workspace: Type.String(),
    model: ModelId,
    fallbacks: Type.Array(ModelId),
    thinking: ThinkingLevel,
    permissions: PermissionMode,
    queue: QueueMode,
    isDefault: Type.Boolean(),
  },
  closed,
);
export type AgentInfo = Static<typeof AgentInfo>;
