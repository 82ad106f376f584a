// The state of one plugin in sessions, as the plugin reads and writes it. Changes of one namespace of one session are made
// one after another, each on the freshest value; what others wrote meanwhile is seen, never overwritten. The id of the
// plugin is not an argument anywhere: no spelling reaches another one's state.
import { AsyncLocalStorage } from 'node:async_hooks';
import { GatewayError, ItemName, type JsonValue, matches, SessionKey } from '@tenon/protocol';
import type { Refused, SessionState } from '@tenon/plugin-sdk';
import { Type } from 'typebox';
import type { Clock } from '../kernel/clock.ts';
import { createLanes } from '../kernel/lane.ts';
import type { Store } from '../store/store.ts';
import { placed, type PluginCaller } from './call-plugin.ts';
import type { ContributionRegistry } from './contribution-registry.ts';
import { barrier, refusalOf, refuse, take } from './late-call.ts';
import type { OwnStates } from './own-state.ts';
import { noteState } from './own-writes.ts';
import { freezeDeep } from './plain-data.ts';
import type { PluginLoad } from './plugin-load.ts';
import { takeJson } from './plugin-json.ts';

export interface SessionStateDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly caller: PluginCaller;
  readonly registry: ContributionRegistry;
  /** What it has written, for its own handlers that read. */
  readonly ownStates: Pick<OwnStates, 'wrote'>;
}

type Written = { readonly ok: true; readonly revision: number } | Refused;

const MAX_WAITING = 1_000;
/** How often another writer may be faster. */
const ATTEMPTS = 8;
const PAGE = 200;
const MAX_LISTED = 10_000;

const Options = Type.Object(
  { ifRevision: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })) },
  { additionalProperties: false },
);

/** Places that the code running right now is changing: to wait for one of them inside would be to wait for oneself. */
const changing = new AsyncLocalStorage<readonly string[]>();

export function createSessionState(load: PluginLoad, { store, clock, caller, registry, ownStates }: SessionStateDeps): SessionState {
  const { plugin } = load.facts;
  const lanes = createLanes();
  let waiting = 0;

  function wrongPlace(sessionKey: unknown, namespace: unknown): Refused | undefined {
    const blocked = barrier(load);
    if (blocked) return blocked;
    if (!matches(SessionKey, sessionKey)) return refuse('invalid', 'sessionKey must be agent:<agentId>:<name>');
    return wrongNamespace(namespace);
  }

  function wrongNamespace(namespace: unknown): Refused | undefined {
    if (!matches(ItemName, namespace)) return refuse('invalid', 'namespace must be up to 128 letters, digits, ., - and _');
    if (registry.find('sessionExtension', plugin, namespace)) return undefined;
    return refuse('invalid', `plugin ${plugin} has not registered a session extension "${namespace}"`);
  }

  async function inTurn(sessionKey: string, namespace: string, work: (place: string) => Promise<Written>): Promise<Written> {
    const place = JSON.stringify([plugin, sessionKey, namespace]);
    if (changing.getStore()?.includes(place)) {
      return refuse('conflict', `"${namespace}" is being changed by the code that asks; return the new value instead`);
    }
    if (waiting >= MAX_WAITING) return refuse('limit', `${MAX_WAITING} changes of plugin ${plugin} wait already`);
    waiting++;
    try {
      return await lanes.run(place, async () => barrier(load) ?? (await work(place)));
    } catch (error) {
      return refusalOf(error);
    } finally {
      waiting--;
    }
  }

  async function put(sessionKey: string, namespace: string, value: JsonValue, ifRevision: number | undefined): Promise<Written> {
    const at = clock.now();
    const { revision } = await store.write('pluginState.put', {
      key: sessionKey,
      pluginId: plugin,
      namespace,
      value,
      at,
      ...(ifRevision === undefined ? {} : { ifRevision }),
    });
    ownStates.wrote(plugin, sessionKey, namespace, value);
    noteState(plugin, sessionKey, namespace, revision);
    return { ok: true, revision };
  }

  /** The value that the plugin makes of this one; a refusal where it makes none. */
  async function ask(
    place: string,
    change: (current: JsonValue | undefined) => unknown,
    current: JsonValue | undefined,
    about: { readonly sessionKey: string; readonly namespace: string },
  ): Promise<{ value: JsonValue } | Refused> {
    const inside = [...(changing.getStore() ?? []), place];
    const where = placed(plugin, 'state.update');
    const answer = await changing.run(inside, () => caller.call(where, change, current, (raw) => takeJson(raw), load.signal, about));
    const { namespace } = about;
    if (answer.ok)
      caller.trace.became(answer, { outcome: 'changed', before: { [namespace]: current }, after: { [namespace]: answer.value } });
    if (answer.ok) return { value: answer.value };
    return barrier(load) ?? refuse('invalid', `the change gave no value: ${answer.message}`);
  }

  return {
    async get(sessionKey, namespace) {
      if (wrongPlace(sessionKey, namespace)) return undefined;
      try {
        const { value, revision } = await store.read('pluginState.get', { key: sessionKey, pluginId: plugin, namespace });
        return value === null || !load.isLive ? undefined : freezeDeep({ value, revision });
      } catch {
        return undefined;
      }
    },
    async read(sessionKey, namespace) {
      const wrong = wrongPlace(sessionKey, namespace);
      if (wrong) return wrong;
      try {
        const { value, revision } = await store.read('pluginState.get', { key: sessionKey, pluginId: plugin, namespace });
        return barrier(load) ?? freezeDeep({ ok: true, value, revision });
      } catch (error) {
        return refusalOf(error);
      }
    },
    async update(sessionKey, namespace, change) {
      const wrong = wrongPlace(sessionKey, namespace);
      if (wrong) return wrong;
      if (typeof change !== 'function') return refuse('invalid', 'change is not a function');
      return inTurn(sessionKey, namespace, async (place) => {
        for (let attempt = 1; ; attempt++) {
          const current = await store.read('pluginState.get', { key: sessionKey, pluginId: plugin, namespace });
          const made = await ask(place, change, current.value === null ? undefined : freezeDeep(current.value), {
            sessionKey,
            namespace,
          });
          if ('ok' in made) return made;
          // The plugin may have been unloaded while it thought.
          const blocked = barrier(load);
          if (blocked) return blocked;
          try {
            return await put(sessionKey, namespace, made.value, current.revision);
          } catch (error) {
            if (!isStale(error) || attempt >= ATTEMPTS) throw error;
          }
        }
      });
    },
    async patch(sessionKey, namespace, value, options) {
      const wrong = wrongPlace(sessionKey, namespace);
      if (wrong) return wrong;
      const taken = takeJson(value);
      if ('wrong' in taken) return refuse('invalid', `the value cannot be kept: ${taken.wrong}`);
      const checked = take(Options, options ?? {}, 'options');
      if ('refused' in checked) return checked.refused;
      return inTurn(sessionKey, namespace, () => put(sessionKey, namespace, taken.value, checked.value.ifRevision));
    },
    async list(namespace) {
      const wrong = barrier(load, 'session.state.list') ?? wrongNamespace(namespace);
      if (wrong) return wrong;
      const listed: { sessionKey: string; value: JsonValue; revision: number }[] = [];
      try {
        let after: string | undefined;
        do {
          const page = await store.read('pluginState.list', {
            pluginId: plugin,
            namespace,
            limit: PAGE,
            ...(after === undefined ? {} : { after }),
          });
          for (const { key, value, revision } of page.states) listed.push({ sessionKey: key, value, revision });
          if (listed.length > MAX_LISTED) return refuse('limit', `more than ${MAX_LISTED} sessions have a value there`);
          after = page.next;
        } while (after !== undefined);
      } catch (error) {
        return refusalOf(error);
      }
      return barrier(load, 'session.state.list') ?? freezeDeep(listed);
    },
  };
}

function isStale(error: unknown): boolean {
  return (
    error instanceof GatewayError &&
    error.code === 'CONFLICT' &&
    (error.details as { code?: string } | undefined)?.code === 'STALE_REVISION'
  );
}
