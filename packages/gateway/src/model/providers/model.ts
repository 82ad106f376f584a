// A configured model: finds its key, loads its provider when it is first asked, and keeps the opened model, because
// building one per request costs more than the request.
import type { ModelConfig, ModelInfo, ModelProvider } from '@tenon/protocol';
import type { Clock } from '../../kernel/clock.ts';
import { StreamFault } from '../failure.ts';
import type { Model, ModelEvent, ModelRequest } from '../types.ts';
import type { OpenedModel } from './language-model.ts';
import { loadProvider } from './load.ts';
import { callOptions, type Asked } from './prompt.ts';
import { streamAnswer } from './stream.ts';
import { openWatch, watchedFetch, type Watches } from './watch.ts';

export interface ProviderModelDeps {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The content of a file that holds a key. Contract: throws when it cannot be read. */
  readonly readSecretFile: (file: string) => string;
  readonly clock: Clock;
  readonly idleTimeoutMs: number;
  readonly fetch: typeof fetch;
  readonly isDefault: boolean;
}

interface ProviderDefaults {
  readonly baseUrl: string | undefined;
  readonly keyEnv: string | undefined;
  readonly contextWindow: number;
  readonly images: boolean;
}

/** Used where the configuration says nothing. A server of one's own has no address of its own, and often needs no key. */
export const providerDefaults: Readonly<Record<ModelProvider, ProviderDefaults>> = {
  openai: { baseUrl: 'https://api.openai.com/v1', keyEnv: 'OPENAI_API_KEY', contextWindow: 128_000, images: true },
  anthropic: { baseUrl: 'https://api.anthropic.com/v1', keyEnv: 'ANTHROPIC_API_KEY', contextWindow: 200_000, images: true },
  google: {
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    keyEnv: 'GEMINI_API_KEY',
    contextWindow: 1_000_000,
    images: true,
  },
  'openai-compatible': { baseUrl: undefined, keyEnv: undefined, contextWindow: 32_768, images: false },
};

interface Access {
  readonly baseUrl: string;
  readonly key: string | undefined;
  readonly keyFrom: string | undefined;
}

type Found = { readonly access: Access } | { readonly missing: { kind: 'missing_key' | 'unknown_model'; reason: string } };

export function createProviderModel(config: ModelConfig, deps: ProviderModelDeps): Model {
  const defaults = providerDefaults[config.provider];
  const asked: Asked = {
    id: config.id,
    provider: config.provider,
    images: config.images ?? defaults.images,
    thinking: config.thinking ?? false,
    maxOutputTokens: config.maxOutputTokens,
  };
  const watches: Watches = new WeakMap();
  const fetch = watchedFetch(deps.fetch, watches);
  let cached: { readonly access: Access; readonly opened: Promise<OpenedModel> } | undefined;

  function find(): Found {
    if (cached) return { access: cached.access };
    return findAccess(config, deps);
  }

  function open(access: Access): Promise<OpenedModel> {
    cached ??= { access, opened: load(access) };
    return cached.opened;
  }

  async function load({ baseUrl, key }: Access): Promise<OpenedModel> {
    try {
      const openModel = await loadProvider(config.provider);
      return openModel({ config, name: config.name ?? config.id, baseUrl, key, fetch });
    } catch (error) {
      cached = undefined;
      const why = error instanceof Error ? error.message : String(error);
      throw new StreamFault('unknown_model', `the code of the provider "${config.provider}" cannot be loaded: ${why}`);
    }
  }

  function stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent> {
    let access: Access | undefined;
    return streamAnswer({
      config,
      clock: deps.clock,
      openWatch: () => openWatch(deps.clock, deps.idleTimeoutMs, signal),
      async open(watch) {
        const found = find();
        if ('missing' in found) throw new StreamFault(found.missing.kind, `it cannot be asked: ${found.missing.reason}`);
        access = found.access;
        const opened = await open(access);
        watches.set(watch.signal, watch);
        const { stream } = await opened.model.doStream({ ...callOptions(request, asked, opened), abortSignal: watch.signal });
        return { stream, metadataKey: opened.metadataKey };
      },
      place: () => ({
        modelId: config.id,
        baseUrl: access?.baseUrl ?? '',
        keyFrom: access?.keyFrom,
        secrets: access?.key === undefined ? [] : [access.key],
        now: deps.clock.now(),
      }),
      failed({ kind }) {
        // The key may have been changed meanwhile: the next request looks for it again.
        if (kind === 'unauthorized') cached = undefined;
      },
    });
  }

  return {
    get info(): ModelInfo {
      const found = find();
      return {
        id: config.id,
        provider: config.provider,
        name: config.name ?? config.id,
        contextWindow: config.contextWindow ?? defaults.contextWindow,
        images: asked.images,
        thinking: asked.thinking,
        usable: 'access' in found,
        ...('missing' in found ? { reason: found.missing.reason.slice(0, 512) } : {}),
        isDefault: deps.isDefault,
      };
    },
    stream,
  };
}

/** A key is one line; more than this is some other file. */
const MAX_KEY_LENGTH = 8_192;

function findAccess(config: ModelConfig, { env, readSecretFile }: ProviderModelDeps): Found {
  const defaults = providerDefaults[config.provider];
  const baseUrl = config.baseUrl ?? defaults.baseUrl;
  if (baseUrl === undefined) return { missing: { kind: 'unknown_model', reason: 'set its baseUrl, such as http://127.0.0.1:11434/v1' } };
  if (!URL.canParse(baseUrl)) return { missing: { kind: 'unknown_model', reason: 'its baseUrl is not an address' } };
  const { username, password } = new URL(baseUrl);
  if (username !== '' || password !== '') {
    return { missing: { kind: 'unknown_model', reason: 'its baseUrl holds a user or a password; use keyEnv or keyFile' } };
  }
  const address = baseUrl.replace(/\/+$/, '');
  if (config.keyFile !== undefined) return fromFile(config.keyFile, address, readSecretFile);
  const name = config.keyEnv ?? defaults.keyEnv;
  if (name === undefined) return { access: { baseUrl: address, key: undefined, keyFrom: undefined } };
  const key = (env[name] ?? '').trim();
  if (key === '') return { missing: { kind: 'missing_key', reason: `set the environment variable ${name} of the gateway to its key` } };
  return usableKey(key, `the environment variable ${name}`, address);
}

function fromFile(file: string, baseUrl: string, readSecretFile: (file: string) => string): Found {
  let content: string;
  try {
    content = readSecretFile(file);
  } catch (error) {
    const code = (error as { code?: unknown } | undefined)?.code;
    const why = code === 'ENOENT' ? 'is not there' : `cannot be read (${typeof code === 'string' ? code : 'unknown error'})`;
    return { missing: { kind: 'missing_key', reason: `the file ${file} ${why}; put its key there` } };
  }
  const key = content.trim();
  if (key === '') return { missing: { kind: 'missing_key', reason: `the file ${file} is empty; put its key there` } };
  return usableKey(key, `the file ${file}`, baseUrl);
}

// A header cannot hold anything else, and the error of `fetch` would quote it.
function usableKey(key: string, from: string, baseUrl: string): Found {
  if (key.length > MAX_KEY_LENGTH || !/^[\x21-\x7e]+$/.test(key)) {
    return { missing: { kind: 'missing_key', reason: `${from} does not hold a key: one line of visible ASCII characters` } };
  }
  return { access: { baseUrl, key, keyFrom: from } };
}
