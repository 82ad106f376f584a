// What a plugin keeps in a session, as its handlers read it: synchronously, as it was when the handler was called, and with
// what the plugin itself has written since. It is read before the call, and only for plugins that keep something, so that
// all others pay nothing. What nobody can ask any more is not kept.
import type { JsonValue } from '@tenon/protocol';
import type { Store } from '../store/store.ts';
import type { Accept, Answer, PluginCall, PluginCaller, PluginPlace } from './call-plugin.ts';
import type { ContributionRegistry } from './contribution-registry.ts';
import { freezeDeep } from './plain-data.ts';

export type ReadState = (namespace: string) => JsonValue | undefined;

const NO_REVISIONS: ReadonlyMap<string, number> = new Map();
const revisions = new WeakMap<ReadState, ReadonlyMap<string, number>>();

/** The revisions that were read last for this reader, also of what was removed. Its values may be newer, and never older. */
export function revisionsRead(read: ReadState): ReadonlyMap<string, number> {
  return revisions.get(read) ?? NO_REVISIONS;
}

/** Undefined: the plugin keeps nothing in sessions. */
export type StateOf = (plugin: string, sessionKey: string) => Promise<ReadState> | undefined;

export interface OwnStates {
  readonly of: StateOf;
  /** The plugin has written it: whoever was given a way to read it sees it. Null: it is gone. */
  wrote(plugin: string, sessionKey: string, namespace: string, value: JsonValue): void;
  /** Places that somebody may still read. */
  readonly size: number;
}

interface Kept {
  values: Map<string, JsonValue>;
  /** When each was last written, counted in reads and writes: a read that began before does not undo it. */
  readonly written: Map<string, number>;
  moment: number;
  readonly read: ReadState;
}

export function createOwnStates(store: Store, registry: ContributionRegistry): OwnStates {
  const places = new Map<string, WeakRef<ReadState>>();
  const kept = new WeakMap<ReadState, Kept>();
  const gone = new FinalizationRegistry<string>((place) => {
    if (places.get(place)?.deref() === undefined) places.delete(place);
  });

  function keptAt(place: string): Kept | undefined {
    const read = places.get(place)?.deref();
    return read && kept.get(read);
  }

  function open(place: string): Kept {
    const known = keptAt(place);
    if (known) return known;
    const read: ReadState = (namespace) => kept.get(read)?.values.get(namespace);
    const made: Kept = { values: new Map(), written: new Map(), moment: 0, read };
    kept.set(read, made);
    places.set(place, new WeakRef(read));
    gone.register(read, place);
    return made;
  }

  async function load(plugin: string, sessionKey: string): Promise<ReadState> {
    const own = open(placeOf(plugin, sessionKey));
    const began = ++own.moment;
    const { states } = await store.read('pluginState.snapshot', { key: sessionKey, pluginId: plugin });
    const values = new Map<string, JsonValue>();
    for (const { namespace, value } of states) put(values, namespace, freezeDeep(value));
    revisions.set(own.read, new Map(states.map(({ namespace, revision }) => [namespace, revision])));
    for (const [namespace, moment] of own.written) {
      if (moment < began) own.written.delete(namespace);
      else put(values, namespace, own.values.get(namespace) ?? null);
    }
    own.values = values;
    return own.read;
  }

  return {
    of: (plugin, sessionKey) =>
      registry.all('sessionExtension').some((each) => each.plugin === plugin) ? load(plugin, sessionKey) : undefined,
    wrote(plugin, sessionKey, namespace, value) {
      const own = keptAt(placeOf(plugin, sessionKey));
      if (!own) return;
      own.written.set(namespace, ++own.moment);
      put(own.values, namespace, freezeDeep(structuredClone(value)));
    },
    get size() {
      return places.size;
    },
  };
}

export const NOTHING_KEPT: ReadState = () => undefined;

export interface StatefulCall<Argument, Result> {
  readonly where: PluginPlace;
  readonly code: (argument: Argument, call: PluginCall) => unknown;
  readonly argument: Argument;
  readonly accept: Accept<Result>;
  readonly signal?: AbortSignal | undefined;
  /** Where it happens; without it, there is no state. */
  readonly sessionKey: string | undefined;
  /** For the trace; without it, the argument. */
  readonly about?: object;
  /** Asked again when the state has been read: the handler may be gone by then. */
  readonly isLive: () => boolean;
}

/** Calls a handler that may read its own state. A promise only where there is state to be read, or the handler makes one. */
export function callWithState<Argument, Result>(
  caller: PluginCaller,
  stateOf: StateOf | undefined,
  { where, code, argument, accept, signal, sessionKey, about, isLive }: StatefulCall<Argument, Result>,
): Answer<Result | undefined> | Promise<Answer<Result | undefined>> {
  const pending = sessionKey === undefined ? undefined : stateOf?.(where.plugin, sessionKey);
  if (!pending) return caller.call(where, code, argument, accept, signal, about);
  return pending.then(
    (state) => {
      if (!isLive()) {
        caller.trace.passedOver(where, about ?? argument, 'skipped', 'its plugin was unloaded, or lost the right to take part');
        return { ok: true, value: undefined };
      }
      if (signal?.aborted) return { ok: false, kind: 'aborted', message: 'the wait was aborted' };
      return caller.call(where, (given: Argument, call) => code(given, withState(call, state)), argument, accept, signal, about);
    },
    () => {
      const failed = caller.fail(where, 'dropped', 'what it keeps in the session could not be read, so it was not asked');
      caller.trace.passedOver(where, about ?? argument, 'dropped', failed.message);
      return failed;
    },
  );
}

function withState(call: PluginCall, state: ReadState): PluginCall {
  const { plugin, place, timeoutMs } = call;
  return {
    plugin,
    place,
    timeoutMs,
    getSessionExtension: state,
    get signal() {
      return call.signal;
    },
  };
}

function placeOf(plugin: string, sessionKey: string): string {
  return `${plugin}\n${sessionKey}`;
}

function put(values: Map<string, JsonValue>, namespace: string, value: JsonValue): void {
  if (value === null) values.delete(namespace);
  else values.set(namespace, value);
}
