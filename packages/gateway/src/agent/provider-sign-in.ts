// Sign-ins at providers of models that plugins serve. What a sign-in gave is kept for the provider in a secret file and is looked into
// for two things only: what renews it, and when it runs out. Each load, and each process of an extension, is given the chance to renew
// before its first answer, because what it knew is gone.
import { GatewayError, type JsonObject, matches, pluginProviderId } from '@tenon/protocol';
import type { ModelCredentials } from '@tenon/plugin-sdk';
import { Type } from 'typebox';
import { placed } from '../host/call-plugin.ts';
import type { RegisteredItem } from '../host/contribution-registry.ts';
import { copyPlain } from '../host/plain-data.ts';
import type { Clock } from '../kernel/clock.ts';
import { sha256 } from '../kernel/ids.ts';
import type { Log } from '../kernel/log.ts';
import { keepBack } from '../kernel/redact.ts';
import { didYouMean } from '../kernel/nearest.ts';
import type { Store } from '../store/store.ts';
import type { PluginParts } from './plugin-tools.ts';

type Provider = RegisteredItem<'modelProvider'>;

export interface SignInDeps {
  readonly plugins: () => PluginParts | undefined;
  readonly store: Pick<Store, 'write'>;
  readonly clock: Clock;
  readonly log: Log;
  /** Undefined where there is none; throws an error that says what is wrong with it. */
  readonly readSecret: (name: string) => string | undefined;
  readonly writeSecret: (name: string, value: string) => void;
  readonly removeSecret: (name: string) => boolean;
}

export interface ProviderSignIns {
  /** Contract: throws only GatewayError. */
  signIn(wish: {
    readonly provider: string;
    readonly sessionKey?: string | undefined;
    readonly by: string;
  }): Promise<{ readonly provider: string; readonly renewable: boolean; readonly expiresAt?: number }>;
  signOut(wish: { readonly provider: string; readonly by: string }): Promise<{ readonly provider: string; readonly signedOut: boolean }>;
  /** Before an answer: renews what has to be renewed. What went wrong, if it could not. */
  ready(provider: Provider, signal: AbortSignal): Promise<string | undefined>;
}

/** So long before it runs out. */
const EARLY_MS = 60_000;

export function createSignIns(deps: SignInDeps): ProviderSignIns {
  const { plugins, store, clock, log } = deps;
  /** For which load and process each was renewed last. */
  const renewedFor = new Map<string, string>();
  const renewing = new Map<string, Promise<string | undefined>>();

  function find(id: string): Provider {
    const all = plugins()?.registry.all('modelProvider') ?? [];
    const found = all.find(({ plugin, key }) => pluginProviderId(plugin, key) === id);
    if (found?.item.signIn) return found;
    if (found) throw new GatewayError('INVALID_REQUEST', `Nobody signs in at the provider "${id}"`);
    const known = all.flatMap(({ plugin, key, item }) => (item.signIn ? [pluginProviderId(plugin, key)] : []));
    const words = known.length === 0 ? 'there is none to sign in at' : `those to sign in at are: ${known.join(', ')}`;
    throw new GatewayError('NOT_FOUND', `There is no provider "${id}"${didYouMean(id, known)}; ${words}`.slice(0, 512));
  }

  async function ask(
    provider: Provider,
    renew: { readonly token: string | undefined } | undefined,
    signal?: AbortSignal,
    about: object = {},
  ) {
    const { plugin, item } = provider;
    const parts = plugins();
    if (!parts || !provider.isLive) return { wrong: `plugin ${plugin} is not loaded any more` };
    const answer = await parts.caller.call(
      placed(plugin, renew ? 'model_renew' : 'model_sign_in'),
      (given: typeof renew, call) => {
        const io = { ...about, signal: call.signal };
        return given ? item.renew?.(given.token, io) : item.signIn?.(io);
      },
      renew,
      acceptCredentials,
      signal,
      about,
    );
    return answer.ok ? answer.value : { wrong: answer.message };
  }

  function keep(id: string, credentials: ModelCredentials): void {
    hide(credentials);
    deps.writeSecret(fileOf(id), JSON.stringify({ provider: id, credentials }));
  }

  function keptFor(id: string): ModelCredentials | undefined {
    const text = deps.readSecret(fileOf(id));
    if (text === undefined) return undefined;
    const { credentials } = JSON.parse(text) as { credentials?: unknown };
    if (!matches(Credentials, credentials)) throw new Error('what is kept of it cannot be read');
    return hide(credentials as ModelCredentials);
  }

  const note = (by: string, action: string, provider: string, details: JsonObject = {}) =>
    store.write('audit.append', { actor: by, action, target: provider, details, at: clock.now() });

  async function renew(provider: Provider, id: string, marker: string, signal: AbortSignal): Promise<string | undefined> {
    try {
      const kept = keptFor(id);
      if (!kept) return undefined;
      const isDue = kept.expiresAt !== undefined && kept.expiresAt - EARLY_MS <= clock.now();
      if (renewedFor.get(id) === marker && !isDue) return undefined;
      const given = await ask(provider, { token: kept.refreshToken }, signal);
      if ('wrong' in given) return given.wrong;
      // A provider that gives no new one goes on with the one that it had.
      keep(id, {
        ...given,
        ...(given.refreshToken === undefined && kept.refreshToken !== undefined ? { refreshToken: kept.refreshToken } : {}),
      });
      renewedFor.set(id, marker);
      await note(`plugin:${provider.plugin}`, 'models.renew', id);
      return undefined;
    } catch (error) {
      log.warn({ provider: id, reason: error instanceof Error ? error.message : 'unknown' }, 'a sign-in cannot be renewed');
      return error instanceof Error ? error.message : 'unknown';
    }
  }

  return {
    async signIn({ provider: id, sessionKey, by }) {
      const provider = find(id);
      const given = await ask(provider, undefined, undefined, sessionKey === undefined ? {} : { sessionKey });
      if ('wrong' in given) throw new GatewayError('PLUGIN', `The sign-in at "${id}" failed: ${given.wrong}`.slice(0, 512));
      keep(id, given);
      renewedFor.set(id, markerOf(provider));
      await note(by, 'models.signIn', id);
      const { refreshToken, expiresAt } = given;
      return {
        provider: id,
        renewable: provider.item.renew !== undefined && refreshToken !== undefined,
        ...(expiresAt === undefined ? {} : { expiresAt }),
      };
    },
    async signOut({ provider: id, by }) {
      const signedOut = deps.removeSecret(fileOf(id));
      renewedFor.delete(id);
      await note(by, 'models.signOut', id, { signedOut });
      return { provider: id, signedOut };
    },
    async ready(provider, signal) {
      if (!provider.item.renew) return undefined;
      const id = pluginProviderId(provider.plugin, provider.key);
      // One at a time: two that renew with one token would void each other's.
      const under = renewing.get(id) ?? renew(provider, id, markerOf(provider), signal).finally(() => renewing.delete(id));
      renewing.set(id, under);
      return under;
    },
  };

  function markerOf({ plugin, generation }: Provider): string {
    return `${generation} ${plugins()?.get(plugin)?.process?.pid ?? ''}`;
  }
}

/** From now on neither the log nor a trace has them. */
function hide(credentials: ModelCredentials): ModelCredentials {
  for (const secret of [credentials.apiKey, credentials.accessToken, credentials.refreshToken]) if (secret) keepBack(secret);
  return credentials;
}

/** Secrets have short names. */
function fileOf(provider: string): string {
  return `sign-in-${sha256(provider).slice(0, 16)}`;
}

const Secret = Type.Optional(Type.String({ maxLength: 4_096 }));
const Credentials = Type.Object(
  {
    apiKey: Secret,
    accessToken: Secret,
    refreshToken: Secret,
    expiresAt: Type.Optional(Type.Number({ minimum: 0, maximum: 253_402_300_799_999 })),
    extra: Type.Optional(Type.Object({}, { additionalProperties: true })),
  },
  { additionalProperties: false },
);

function acceptCredentials(raw: unknown): { readonly value: ModelCredentials } | { readonly wrong: string } {
  const copied = copyPlain(raw);
  if ('wrong' in copied) return copied;
  return matches(Credentials, copied.value)
    ? { value: copied.value as ModelCredentials }
    : { wrong: 'it is not {apiKey?, accessToken?, refreshToken?, expiresAt?, extra?}' };
}
