// What plugins show in the sessions that are open: their descriptors, and their projected state, which is read anew whenever
// an event says that it may have changed. What is active is worked out here, so that the views only draw.
import type { Client } from '@tenon/client';
import { composerOf, type EventPayload, inOrder, isActive, type PluginExtension, type UiDescriptor } from '@tenon/protocol';
import type { AppState, SessionPlugins } from '../state/app-state.ts';
import { bounds } from '../state/bounds.ts';
import type { Call } from '../state/page-methods.ts';
import type { Store } from '../state/store.ts';

export interface PluginFollower {
  /** Everything again: the connection was away. */
  readAll(): void;
  close(): void;
}

/** In place of the key of a session that does not exist yet. */
const NO_SESSION = '';
/** Of a session: a change of its settings is none of what plugins keep in it. */
const STATE_REASONS: ReadonlySet<string> = new Set(['create', 'patch', 'plugin-patch', 'reset', 'import', 'fork']);

export function followPlugins(client: Pick<Client, 'on'>, call: Call, store: Store<AppState>): PluginFollower {
  let descriptors: readonly UiDescriptor[] = [];
  let extensions = new Map<string, readonly PluginExtension[]>([[NO_SESSION, []]]);
  /** Sessions that are being read; true: what is read may be old by now. */
  const reading = new Map<string, boolean>();
  let latestRead = 0;
  let chats = store.get().chats;
  let isClosed = false;

  // What waits for a person is kept by the gateway, also for those who come later.
  async function readRequired(): Promise<void> {
    const found = await call('actions.pending', {}).catch(() => undefined);
    if (!found || isClosed) return;
    store.update((state) => ({ ...state, pluginUi: { ...state.pluginUi, required: found.actions.slice(-bounds.required) } }));
  }

  function publish(keys: Iterable<string>): void {
    if (isClosed) return;
    const changed = [...keys].map((key) => [key, pluginsOf(descriptors, extensions.get(key) ?? [])] as const);
    store.update((state) => {
      const byKey = new Map([...state.pluginUi.byKey, ...changed].filter(([key]) => extensions.has(key)));
      return { ...state, pluginUi: { ...state.pluginUi, byKey } };
    });
  }

  async function readDescriptors(): Promise<void> {
    const mine = ++latestRead;
    // Who may not read them is shown none.
    const found = await call('plugins.uiDescriptors', {}).catch(() => ({ descriptors: [] }));
    if (mine !== latestRead) return;
    descriptors = inOrder(found.descriptors);
    publish(extensions.keys());
  }

  async function read(key: string): Promise<void> {
    if (reading.has(key)) return void reading.set(key, true);
    do {
      reading.set(key, false);
      // One that does not exist yet has no state; it is read when it appears.
      const found = await call('sessions.get', { key }).catch(() => undefined);
      if (isClosed) return;
      if (store.get().chats.has(key)) extensions.set(key, found?.session.pluginExtensions ?? []);
    } while (reading.get(key));
    reading.delete(key);
    publish([key]);
  }

  function readAll(): void {
    void readDescriptors();
    void readRequired();
    for (const key of store.get().chats.keys()) void read(key);
  }

  const ends = [
    client.on('plugins.changed', readAll),
    client.on('sessions.changed', ({ key, reason }) => {
      if (STATE_REASONS.has(reason) && store.get().chats.has(key)) void read(key);
    }),
    client.on('action.required', (event) => store.update((state) => withRequired(state, event))),
    client.on('action.resolved', ({ id }) => store.update((state) => withoutRequired(state, (each) => each.id === id))),
    store.subscribe(() => {
      const next = store.get().chats;
      if (next === chats) return;
      chats = next;
      for (const key of chats.keys()) if (!extensions.has(key) && !reading.has(key)) void read(key);
      const kept = [...extensions].filter(([key]) => key === NO_SESSION || chats.has(key));
      if (kept.length === extensions.size) return;
      extensions = new Map(kept);
      publish([]);
    }),
  ];
  readAll();
  return {
    readAll,
    close() {
      isClosed = true;
      for (const end of ends) end();
    },
  };
}

export function pluginsOf(descriptors: readonly UiDescriptor[], extensions: readonly PluginExtension[]): SessionPlugins {
  return {
    extensions,
    active: descriptors.filter(({ pluginId, activeWhen }) => isActive(pluginId, activeWhen, extensions)),
    closed: composerOf(descriptors, extensions),
  };
}

function withRequired(state: AppState, event: EventPayload<'action.required'>): AppState {
  const others = state.pluginUi.required.filter((each) => each.id !== event.id);
  return { ...state, pluginUi: { ...state.pluginUi, required: [...others, event].slice(-bounds.required) } };
}

export function withoutRequired(state: AppState, isSettled: (each: EventPayload<'action.required'>) => boolean): AppState {
  const required = state.pluginUi.required.filter((each) => !isSettled(each));
  return required.length === state.pluginUi.required.length ? state : { ...state, pluginUi: { ...state.pluginUi, required } };
}
