// What the result of a plugin comes to: the part that actions and extensions of a patch have in common. Its state is bound to
// what the handler has read: if somebody else has changed that meanwhile, nothing is committed and the handler is asked again
// about what is there now. What the handler itself has written while it was asked is its own, and in nobody's way.
import { GatewayError, grantedFields, type JsonValue } from '@tenon/protocol';
import { Type, type Static } from 'typebox';
import type { Answer } from '../host/call-plugin.ts';
import { missingGrant } from '../host/missing-grant.ts';
import { notingWrites, type OwnWrites } from '../host/own-writes.ts';
import { revisionsRead } from '../host/own-state.ts';
import { wrongInCopy } from '../host/plugin-json.ts';
import { ResultInjection, takeInjection } from '../host/take-injection.ts';
import { randomId } from '../kernel/ids.ts';
import type { WriteArgs } from '../store/operations.ts';
import type { PluginEffects } from '../store/plugin-actions.ts';
import type { Store } from '../store/store.ts';
import { type PluginParts, readState } from './plugin-tools.ts';
import type { Wake } from './wake.ts';

/** How often a handler is asked when somebody else is faster. */
export const MAX_ATTEMPTS = 3;
const MAX_INJECTIONS = 32;

/** The fields of a result that are about the session. */
export const effectFields = {
  continueAgent: Type.Optional(Type.Boolean()),
  statePatch: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  inject: Type.Optional(Type.Array(ResultInjection, { maxItems: MAX_INJECTIONS })),
};
const SaidEffects = Type.Object(effectFields);
export type SaidEffects = Static<typeof SaidEffects>;

export interface EffectDeps {
  readonly store: Store;
  readonly plugins: PluginParts;
  readonly wake: Pick<Wake, 'afterCall'>;
}

/** What a handler has looked at, and at which revision it was. */
export interface Looked {
  readonly own: OwnWrites;
  /** What a patch of this namespace is bound to. */
  revisionOf(namespace: string): number;
  /** Read by the handler. */
  readonly read: ReadonlySet<string>;
  /** As the handler has read or left it. */
  state(namespace: string): JsonValue | undefined;
}

/** Calls a handler that reads its state; says what it has read and written. */
export async function askLooking<Answer>(
  plugin: string,
  sessionKey: string,
  { plugins }: EffectDeps,
  call: (state: (namespace: string) => JsonValue | undefined) => Answer | Promise<Answer>,
): Promise<{ readonly answer: Answer; readonly looked: Looked }> {
  const state = await readState(plugins, plugin, sessionKey);
  const revisions = revisionsRead(state);
  const read = new Set<string>();
  const reading = (namespace: string): JsonValue | undefined => {
    if (typeof namespace === 'string') read.add(namespace);
    return state(namespace);
  };
  const { result: answer, own } = await notingWrites(plugin, sessionKey, () => call(reading));
  const revisionOf = (namespace: string) => own.revisions.get(namespace) ?? revisions.get(namespace) ?? 0;
  return { answer, looked: { own, revisionOf, read, state } };
}

/** What is to be committed, `also` with what else was said, for the trace. Throws GatewayError where the plugin may not do it. */
export function effectsOf(
  answer: Answer<unknown>,
  said: SaidEffects,
  owner: { readonly plugin: string; readonly pluginName: string },
  looked: Looked,
  deps: EffectDeps,
  also: object,
): PluginEffects {
  const { trace } = deps.plugins.caller;
  try {
    const effects = decide(said, owner, looked, deps);
    if (trace.isOn) {
      const before = Object.fromEntries(effects.puts.map(({ namespace }) => [namespace, looked.state(namespace)]));
      const state = Object.fromEntries(effects.puts.map(({ namespace, value }) => [namespace, value ?? undefined]));
      const { inject = [], continueAgent } = said;
      trace.became(answer, { outcome: 'changed', before: { state: before, inject: [] }, after: { state, inject, continueAgent, ...also } });
    }
    return effects;
  } catch (error) {
    trace.became(answer, { outcome: 'refused', reason: error instanceof Error ? error.message : String(error) });
    throw error;
  }
}

function decide(
  said: SaidEffects,
  { plugin, pluginName }: { readonly plugin: string; readonly pluginName: string },
  looked: Looked,
  { plugins, wake }: EffectDeps,
): PluginEffects {
  const { statePatch, inject = [], continueAgent } = said;
  if (continueAgent) requireGrant('continueAgent', 'wants the agent to go on');
  if (inject.length > 0) requireGrant('inject', 'wants something told to the agent');
  const puts = putsOf(statePatch, plugin, plugins).map((put) => ({ ...put, ifRevision: looked.revisionOf(put.namespace) }));
  const injections = inject.map((given, index) => {
    const taken = takeInjection(given, 'result', `inject/${index}`);
    if ('value' in taken) return taken.value;
    throw new GatewayError('PLUGIN', `${pluginName} wants something told that cannot be: ${taken.refused.message}; nothing was changed`, {
      details: { code: 'PLUGIN_FAILED', plugin },
    });
  });
  const hasQueued = injections.length > 0 || looked.own.hasQueued;
  const wish = continueAgent === undefined && hasQueued ? wake.afterCall(plugin) : undefined;
  const hasEffect = puts.length > 0 || injections.length > 0 || continueAgent === true;
  const patched = new Set(puts.map(({ namespace }) => namespace));
  const seen = hasEffect ? [...looked.read].filter((namespace) => !patched.has(namespace)) : [];
  return {
    pluginId: plugin,
    puts,
    seen: seen.map((namespace) => ({ namespace, ifRevision: looked.revisionOf(namespace) })),
    injections,
    ...(continueAgent ? { run: { runId: `p${randomId()}`, pluginId: plugin, pluginName, asked: true } } : {}),
    ...(wish ? { wake: wish } : {}),
  };

  function requireGrant(field: 'continueAgent' | 'inject', what: string): void {
    const { grant } = grantedFields[field];
    if (plugins.holds(plugin, grant)) return;
    throw new GatewayError('PLUGIN', `${pluginName} ${what}, and nothing was changed: ${missingGrant(plugin, grant)}`, {
      details: { code: 'NOT_GRANTED', plugin, grant },
    });
  }
}

/** Whether there is an answer and nothing else to keep. */
export function changesNothing({ puts, drafts, injections = [], run, wake }: WriteArgs<'plugins.act'>): boolean {
  return puts.length + drafts.length + injections.length === 0 && !run && !wake;
}

/** Only where the plugin has said that it keeps state. */
export function putsOf(statePatch: unknown, plugin: string, plugins: PluginParts): { namespace: string; value: JsonValue }[] {
  return Object.entries((statePatch ?? {}) as Record<string, JsonValue>).map(([namespace, value]) => {
    if (!plugins.registry.find('sessionExtension', plugin, namespace))
      throw new GatewayError('PLUGIN', `Plugin "${plugin}" has no session extension "${namespace.slice(0, 128)}" to keep state in`, {
        details: { code: 'PLUGIN_FAILED', plugin },
      });
    return { namespace, value };
  });
}

/** What is wrong with values of the plugin's own, which are copies: they are bounded like all that it keeps or says. */
export function wrongIn(values: readonly unknown[]): { readonly wrong: string } | undefined {
  for (const value of values) {
    const wrong = value === undefined ? undefined : wrongInCopy(value);
    if (wrong !== undefined) return { wrong };
  }
  return undefined;
}

export interface Asked<Result> {
  readonly looked: Looked;
  commit(): Promise<Result>;
}

/**
 * Asks, and commits what was said; again when somebody else was faster, unless the handler has changed something by itself:
 * that would be done twice.
 */
export async function askUntilFresh<Result>(ask: () => Promise<Asked<Result>>, attempts = MAX_ATTEMPTS): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    const asked = await ask();
    try {
      return await asked.commit();
    } catch (error) {
      if (!isStale(error) || asked.looked.own.hasWritten || attempt >= attempts) throw error;
    }
  }
}

function isStale(error: unknown): boolean {
  return error instanceof GatewayError && (error.details as { code?: string } | undefined)?.code === 'STALE_REVISION';
}
