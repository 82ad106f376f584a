// Sessions with what plugins show of them: their projected state, the same under the names that they have chosen, and how
// much they want told. A projector that throws or answers later hides only itself; the state is as it was. All of it is made
// when it is read, so that nothing is left of a plugin that is gone, or of a name that it has given up.
import type { JsonValue, PluginExtension, Session } from '@tenon/protocol';
import { placed } from '../host/call-plugin.ts';
import { copyPlain } from '../host/plain-data.ts';
import { takeJson } from '../host/plugin-json.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Store } from '../store/store.ts';
import { injectorsOf, type PluginParts } from './plugin-tools.ts';

const MAX_VALUE = 65_536;

export interface ShowDeps {
  readonly store: Store;
  readonly clock: Clock;
}

export async function withPluginFields(
  sessions: readonly Session[],
  { store, clock }: ShowDeps,
  plugins: PluginParts | undefined,
): Promise<Session[]> {
  if (!plugins || sessions.length === 0) return [...sessions];
  const { hasProjectors, hasInjectors } = showersOf(plugins);
  if (!hasProjectors && !hasInjectors) return [...sessions];
  const wanted = { keys: hasInjectors ? sessions.map(({ key }) => key) : [], at: clock.now() };
  const { counts } = await store.read('injections.counts', wanted);
  return Promise.all(
    sessions.map(async (session) => {
      const pendingInjections = counts[session.key];
      const shown = hasProjectors ? await projectionsOf(session.key, store, plugins) : [];
      return {
        ...session,
        ...(shown.length > 0 ? { pluginExtensions: shown, ...slotsOf(shown, plugins) } : {}),
        ...(pendingInjections === undefined ? {} : { pendingInjections }),
      };
    }),
  );
}

/** Whether plugins may show something of a session. */
export function showsFields(plugins: PluginParts): boolean {
  const { hasProjectors, hasInjectors } = showersOf(plugins);
  return hasProjectors || hasInjectors;
}

function showersOf(plugins: PluginParts): { hasProjectors: boolean; hasInjectors: boolean } {
  return {
    hasProjectors: plugins.registry.all('sessionExtension').some(({ item }) => item.project),
    hasInjectors: injectorsOf(plugins).length > 0,
  };
}

/** What plugins show of their state in a session. Where there is none, nothing. */
export async function projectionsOf(sessionKey: string, store: Store, plugins: PluginParts): Promise<PluginExtension[]> {
  const { states } = await store.read('pluginState.ofSession', { key: sessionKey });
  return states.flatMap(({ pluginId, namespace, value: state }) => {
    const registered = plugins.registry.find('sessionExtension', pluginId, namespace);
    const project = registered?.item.project;
    if (!project) return [];
    const where = placed(pluginId, 'session_projection');
    const answer = plugins.caller.call(
      where,
      (context: Parameters<typeof project>[0]) => project(context),
      { sessionKey, state: frozen(state) },
      acceptValue,
    );
    if (answer instanceof Promise) {
      plugins.caller.fail(where, 'wrong-shape', 'project answered with a promise; it must answer at once');
      return [];
    }
    return answer.ok && answer.value !== undefined ? [{ pluginId, namespace, value: answer.value }] : [];
  });
}

function slotsOf(shown: readonly PluginExtension[], { registry }: PluginParts): Pick<Session, 'slots'> {
  const slots = shown.flatMap(({ pluginId, namespace, value }) => {
    const slot = registry.find('sessionExtension', pluginId, namespace)?.item.sessionEntrySlotKey;
    return slot === undefined ? [] : [[slot, value] as const];
  });
  return slots.length === 0 ? {} : { slots: Object.fromEntries(slots) };
}

function frozen(state: JsonValue): JsonValue {
  const copied = copyPlain(state);
  return 'value' in copied ? (copied.value as JsonValue) : null;
}

function acceptValue(raw: unknown): { readonly value: JsonValue | undefined } | { readonly wrong: string } {
  if (raw === undefined) return { value: undefined };
  return takeJson(raw, { bytes: MAX_VALUE });
}
