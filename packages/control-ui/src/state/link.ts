// The connection of the page: what the client tells becomes changes of the state, in the order in which it came, at most
// one change of the state per frame. What could not be taken as it came is read again.
import { type Client, type ClientState, createClient, type SocketConstructor } from '@tenon/client';
import { expandScopes, type Entry, type HelloOk, isMethodName } from '@tenon/protocol';
import type { AppState, Connection, Loaded } from './app-state.ts';
import { namesOf } from './approval-words.ts';
import { bounds } from './bounds.ts';
import {
  approvalRequested,
  approvalResolved,
  type Change,
  changeChat,
  chatChanged,
  forgetStreams,
  runSaid,
  sessionChanged,
  withApprovals,
  withSessions,
} from './changes.ts';
import { withArrived, withHistory } from './chat-state.ts';
import type { PeopleFollower } from '../people-ui/follow.ts';
import type { PluginFollower } from '../plugin-ui/follow.ts';
import type { Call, PageMethod } from './page-methods.ts';
import type { Store } from './store.ts';
import { troubleOf } from './trouble.ts';

export interface LinkDeps {
  readonly url: string;
  readonly token: string;
  readonly store: Store<AppState>;
  readonly now: () => number;
  /** Runs the function soon: with the next frame, or by a timer where there are no frames. */
  readonly soon: (run: () => void) => void;
  readonly version: string;
  readonly timeZone?: string | undefined;
  readonly WebSocket?: SocketConstructor | undefined;
}

export interface Link {
  readonly call: Call;
  /** Where the page stands in the stream of events. */
  position(): number | undefined;
  /** Reads the latest page of a conversation. */
  readChat(key: string): Promise<void>;
  readSessions(): Promise<void>;
  readPlugins(): Promise<void>;
  /** Calls the listener with each such event; gives the way to stop that. */
  readonly on: Client['on'];
  /** Makes the next attempt now. */
  retry(): void;
  close(): Promise<void>;
}

const PAGE = 100;

export function openLink(deps: LinkDeps): Link {
  const { store, now } = deps;
  const client = createClient({
    url: deps.url,
    token: deps.token,
    client: {
      id: 'tenon-page',
      displayName: 'Web page',
      mode: 'webchat',
      version: deps.version,
      ...(deps.timeZone ? { timeZone: deps.timeZone } : {}),
    },
    capabilities: ['ui'],
    ...(deps.WebSocket ? { WebSocket: deps.WebSocket } : {}),
    reconnect: { minMs: 500, maxMs: 15_000 },
  });
  const call = ((method: PageMethod, params: object, options?: { timeoutMs?: number }) => {
    const ask = () => client.call(method, params as never, options);
    return isMethodName(method) ? ask() : import('./later-checks.ts').then(ask);
  }) as Call;

  let waiting: Change[] = [];
  let scheduled = false;
  let everConnected = false;
  let isClosed = false;
  let plugins: PluginFollower | undefined;
  let people: PeopleFollower | undefined;
  let pluginReads = 0;
  /** Principals whose names were asked for. */
  const asked = new Set<string>();
  /** Conversations that are being read, with the entries that arrived meanwhile. */
  const reading = new Map<string, Entry[]>();

  function flush(): void {
    scheduled = false;
    const changes = waiting;
    waiting = [];
    if (changes.length > 0) store.update((state) => changes.reduce((next, change) => change(next), state));
    for (const chat of store.get().chats.values()) if (chat.stale && !reading.has(chat.key)) void readChat(chat.key);
  }

  function apply(change: Change): void {
    waiting.push(change);
    if (waiting.length >= bounds.waitingEvents) return flush();
    if (scheduled) return;
    scheduled = true;
    deps.soon(flush);
  }

  const unsubscribe = [
    client.onState((state) => setConnection(state)),
    client.on('sessions.changed', (event) => {
      apply(sessionChanged(event));
      if (!event.session && event.reason !== 'delete') void readSession(event.key);
    }),
    client.on('chat', (event) => {
      if (event.entry) reading.get(event.sessionKey)?.push(event.entry);
      apply(chatChanged(event, now()));
      if (event.kind === 'ended') void readUsage(event.sessionKey);
    }),
    client.on('agent', (event) => apply(runSaid(event))),
    client.on('approval.requested', (event) => {
      apply(approvalRequested(event));
      needName(event.approval.principal);
    }),
    client.on('approval.resolved', (event) => {
      apply(approvalResolved(event, now()));
      if (event.decidedBy !== undefined) needName(event.decidedBy);
    }),
    // Their commands come and go with them.
    client.on('plugins.changed', () => {
      void readTables();
      void readPlugins();
    }),
    client.on('health', (health) => apply((state) => ({ ...state, health }))),
    client.on('snapshot-required', () => void readEverything()),
    client.onGap(({ action }) => {
      if (action === 'lost') void readEverything();
    }),
  ];

  void client.connect({ retry: true }).catch(() => undefined); // `onState` has said why

  return {
    call,
    position: () => client.position?.seq,
    readChat,
    readSessions,
    readPlugins,
    on: client.on.bind(client),
    retry: () => void client.connect({ retry: true }).catch(() => undefined),
    async close() {
      isClosed = true;
      plugins?.close();
      people?.close();
      for (const end of unsubscribe) end();
      waiting = [];
      await client.close();
    },
  };

  function setConnection(clientState: ClientState): void {
    const before = store.get().connection;
    const connection = connectionOf(clientState, before, now());
    if (clientState.kind === 'connected') connected(client);
    else store.update((state) => ({ ...state, connection }));
  }

  function connected({ hello }: Client): void {
    const again = everConnected;
    everConnected = true;
    store.update((state) => ({
      ...(again ? forgetStreams(state) : state),
      connection: { kind: 'online' },
      identity: hello ? identityOf(hello) : undefined,
      health: hello?.snapshot.health,
    }));
    if (!again) void readEverything();
    else {
      flush();
      // That they have changed is told to those who listen, and is not kept for those who come back.
      void readPlugins();
    }
    // Without them the page is whole; the next connection tries again.
    followPlugins().catch(() => undefined);
    followPeople().catch(() => undefined);
  }

  // Not before the page stands: nobody waits for a panel.
  async function followPlugins(): Promise<void> {
    if (plugins) return plugins.readAll();
    const follow = await import('../plugin-ui/follow.ts');
    if (!isClosed) plugins ??= follow.followPlugins(client, call, store);
  }

  async function followPeople(): Promise<void> {
    if (people) return people.readAll();
    const follow = await import('../people-ui/follow.ts');
    if (!isClosed) people ??= follow.followPeople(client, call, store);
  }

  async function readEverything(): Promise<void> {
    // How turns ended meanwhile was told to nobody.
    store.update((state) => ({ ...forgetStreams(state), ends: new Map() }));
    flush();
    await Promise.all([readSessions(), readApprovals(), readTables(), readNames(), readPlugins()]);
  }

  async function readNames(): Promise<void> {
    if (!store.get().identity?.scopes.has('operator.pairing')) return;
    // Without names the ids are shown whole.
    const result = await call('tokens.list', {}).catch(() => undefined);
    if (result) store.update((state) => ({ ...state, names: namesOf(result.tokens) }));
  }

  // A token that was made since the names were read; asked for once, because one that is gone for good stays without a name.
  function needName(principal: string): void {
    const { names, identity } = store.get();
    if (!principal.startsWith('token:') || principal === identity?.principal || names.has(principal) || asked.has(principal)) return;
    if (asked.size >= bounds.approvals) asked.clear();
    asked.add(principal);
    void readNames();
  }

  async function readSessions(): Promise<void> {
    const { identity } = store.get();
    try {
      const { sessions, nextCursor } = await call('sessions.list', { limit: PAGE });
      store.update((state) => ({
        ...state,
        sessions: {
          ...withSessions({ ...state.sessions, byKey: keepOpen(state) }, sessions),
          loaded: { kind: 'ready', value: true },
          nextCursor,
        },
      }));
    } catch (error) {
      store.update((state) => ({ ...state, sessions: { ...state.sessions, loaded: { kind: 'failed', error: troubleOf(error) } } }));
    }
    // A credential of one session may open it although it is on no list yet.
    if (identity?.sessionKey && !store.get().sessions.byKey.has(identity.sessionKey)) {
      await readSession(identity.sessionKey);
    }
  }

  async function readSession(key: string): Promise<void> {
    // One that is not there is made with its first message, or was deleted, which another event says.
    const found = await call('sessions.get', { key }).catch(() => undefined);
    if (found) store.update((state) => ({ ...state, sessions: withSessions(state.sessions, [found.session]) }));
  }

  async function readApprovals(): Promise<void> {
    if (!store.get().identity?.scopes.has('operator.approvals')) {
      store.update((state) => ({ ...state, approvals: { ...state.approvals, loaded: { kind: 'ready', value: true } } }));
      return;
    }
    try {
      const [pending, decided] = await Promise.all([
        call('approvals.list', { state: 'pending', limit: PAGE }),
        call('approvals.list', { state: 'decided', limit: 50 }),
      ]);
      store.update((state) => {
        // What this page held as waiting and the gateway does not list was settled while nobody looked.
        const listed = new Set(pending.approvals.map((each) => each.id));
        const isWhole = pending.nextCursor === undefined;
        const known = new Map([...state.approvals.byId].filter(([id, each]) => each.state !== 'pending' || listed.has(id) || !isWhole));
        const approvals = withApprovals({ ...state.approvals, byId: known }, [...decided.approvals, ...pending.approvals]);
        return { ...state, approvals: { ...approvals, loaded: { kind: 'ready', value: true }, nextDecided: decided.nextCursor } };
      });
    } catch (error) {
      store.update((state) => ({ ...state, approvals: { ...state.approvals, loaded: { kind: 'failed', error: troubleOf(error) } } }));
    }
  }

  async function readTables(): Promise<void> {
    const [agents, models, commands] = await Promise.all([
      loaded(call('agents.list', {}).then((result) => result.agents)),
      loaded(call('models.list', {}).then((result) => result.models)),
      loaded(call('commands.list', {}).then((result) => result.commands)),
    ]);
    store.update((state) => ({ ...state, agents, models, commands }));
  }

  async function readPlugins(): Promise<void> {
    const mine = ++pluginReads;
    const plugins = await loaded(call('plugins.list', {}));
    // An answer that was overtaken says what was.
    if (mine === pluginReads) store.update((state) => ({ ...state, plugins }));
  }

  async function readUsage(key: string): Promise<void> {
    if (!store.get().chats.has(key)) return;
    const result = await call('usage.get', { sessionKey: key }).catch(() => undefined);
    if (result) store.update((state) => ({ ...state, usage: new Map([...state.usage].slice(-bounds.chats)).set(key, result.total) }));
  }

  async function readChat(key: string): Promise<void> {
    if (reading.has(key)) return;
    const arrived: Entry[] = [];
    reading.set(key, arrived);
    store.update(changeChat(key, (chat) => ({ ...chat, stale: false })));
    try {
      const page = await call('chat.history', { sessionKey: key, limit: PAGE });
      // Changes that came before the answer are older than it, or are among `arrived`.
      flush();
      store.update((state) =>
        changeChat(key, (chat) => withArrived(withHistory(chat, page), arrived))({
          ...state,
          sessions: withSessions(state.sessions, [page.session]),
        }),
      );
      void readUsage(key);
    } catch (error) {
      store.update(
        changeChat(key, (chat) => {
          const trouble = troubleOf(error);
          if (chat.loaded.kind === 'ready') return chat;
          // One that is not there is empty: it is made with its first message, and is read again when it appears.
          return { ...chat, loaded: trouble.code === 'NOT_FOUND' ? { kind: 'ready' } : { kind: 'failed', error: trouble } };
        }),
      );
    } finally {
      reading.delete(key);
    }
    const chat = store.get().chats.get(key);
    if (chat?.stale && chat.loaded.kind === 'ready') await readChat(key);
  }
}

function connectionOf(state: ClientState, before: Connection, now: number): Connection {
  switch (state.kind) {
    case 'connected':
      return { kind: 'online' };
    case 'connecting':
      return before.kind === 'offline' ? { ...before, retryAt: undefined } : { kind: 'connecting' };
    case 'waiting':
      return {
        kind: 'offline',
        since: before.kind === 'offline' ? before.since : now,
        retryAt: now + state.retryInMs,
        error: troubleOf(state.error),
      };
    case 'closed':
      return { kind: 'signed-out', error: state.reason === 'closed' || !state.error ? undefined : troubleOf(state.error) };
  }
}

function identityOf({ server, auth }: HelloOk): AppState['identity'] {
  return {
    version: server.version,
    principal: auth?.principal ?? 'nobody',
    scopes: expandScopes(auth?.scopes ?? []),
    sessionKey: auth?.sessionKey,
  };
}

// Of what was known before a fresh list: only what is open, because anything else may be gone.
function keepOpen({ sessions, chats }: AppState): AppState['sessions']['byKey'] {
  return new Map([...sessions.byKey].filter(([key]) => chats.has(key)));
}

async function loaded<Value>(promise: Promise<Value>): Promise<Loaded<Value>> {
  try {
    return { kind: 'ready', value: await promise };
  } catch (error) {
    return { kind: 'failed', error: troubleOf(error) };
  }
}
