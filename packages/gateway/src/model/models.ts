// All models that agents can use: the configured ones and the demo model, which is always there.
import { DEMO_MODEL_ID, GatewayError, type ModelConfig, type ModelInfo } from '@tenon/protocol';
import type { Clock } from '../kernel/clock.ts';
import { didYouMean } from '../kernel/nearest.ts';
import type { DemoFacts } from './demo-kinds.ts';
import { createDemoModel } from './demo.ts';
import { createProviderModel, providerDefaults } from './providers/model.ts';
import type { Model, ModelFailure, Models } from './types.ts';

export interface ModelsOptions {
  readonly configs: readonly ModelConfig[];
  /** Empty: the first that is configured, or the demo model where there is none. */
  readonly defaultId: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly idleTimeoutMs: number;
  /** The content of a file that holds a key. Contract: throws when it cannot be read. */
  readonly readSecretFile: (file: string) => string;
  /** What the demo model can say about the gateway. */
  readonly demoFacts: () => DemoFacts | Promise<DemoFacts>;
  readonly demoPaceMs?: number;
  readonly fetch?: typeof fetch;
}

export function createModels(options: ModelsOptions): Models {
  const { configs, clock, idleTimeoutMs, env, readSecretFile } = options;
  const defaultId = options.defaultId || configs[0]?.id || DEMO_MODEL_ID;
  const models = new Map<string, Model>();
  for (const config of configs) {
    if (config.id === DEMO_MODEL_ID)
      throw refused(`The model id "${DEMO_MODEL_ID}" is taken by the built-in model: choose another in [[models]]`);
    if (models.has(config.id)) throw refused(`There are two [[models]] with the id "${config.id}"`);
    const isDefault = config.id === defaultId;
    const fetch: typeof globalThis.fetch = options.fetch ?? ((input, init) => globalThis.fetch(input, init));
    models.set(config.id, createProviderModel(config, { env, readSecretFile, clock, idleTimeoutMs, fetch, isDefault }));
  }
  const list = (): ModelInfo[] => Array.from(models.values(), ({ info }) => info);
  models.set(
    DEMO_MODEL_ID,
    createDemoModel({
      clock,
      facts: options.demoFacts,
      models: list,
      isDefault: defaultId === DEMO_MODEL_ID,
      ...(options.demoPaceMs === undefined ? {} : { paceMs: options.demoPaceMs }),
    }),
  );
  return { list, defaultId, get: (id) => models.get(id) };
}

function refused(message: string): GatewayError {
  return new GatewayError('INVALID_REQUEST', message);
}

/** Environment variables that hold keys, whether or not a model uses them now: no program may see them. */
export function keyEnvNames(configs: readonly ModelConfig[]): string[] {
  const usual = Object.values(providerDefaults).map(({ keyEnv }) => keyEnv);
  const named = configs.map(({ keyEnv }) => keyEnv);
  return [...new Set([...usual, ...named])].filter((name) => name !== undefined);
}

/** For an id that `get` does not know. */
export function unknownModel(id: string, models: Models): ModelFailure {
  const known = models.list().map((model) => model.id);
  const message = `There is no model "${id.slice(0, 128)}"${didYouMean(id, known)}; the models are: ${known.join(', ').slice(0, 256)}`;
  return { kind: 'unknown_model', message };
}

export type ProbeResult =
  | { readonly ok: true; readonly latencyMs: number }
  | { readonly ok: false; readonly latencyMs: number; readonly failure: ModelFailure };

/** Asks for one word. The least that every provider accepts as a limit of the answer is 16 tokens. */
export async function probeModel(model: Model, signal: AbortSignal, clock: Clock): Promise<ProbeResult> {
  const startedAt = clock.monotonic();
  const request = {
    system: 'Answer with one word.',
    messages: [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'Say ok.' }], timestamp: clock.now() }],
    tools: [],
    thinking: 'off' as const,
    maxOutputTokens: 16,
  };
  let failure: ModelFailure = { kind: 'bad_output', message: 'The model said nothing' };
  for await (const event of model.stream(request, signal)) {
    if (event.type === 'end') return { ok: true, latencyMs: clock.monotonic() - startedAt };
    if (event.type === 'failed') failure = event.failure;
  }
  return { ok: false, latencyMs: clock.monotonic() - startedAt, failure };
}
