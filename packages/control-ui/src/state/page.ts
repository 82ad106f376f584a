// The page without its surface: state, connection, actions and the way in and out, put together once. A test can make
// one with its own socket and storage; the browser's entry file makes the one that people use.
import type { SocketConstructor } from '@tenon/client';
import { ConnectionError } from '@tenon/client';
import { type AppState, emptyState } from './app-state.ts';
import { type ChatActions, createChatActions } from './chat-actions.ts';
import { exchangeCode, forgetEverything, forgetTab, keepToken, type Post, revokeToken, type Shelves, storedToken } from './credentials.ts';
import { type Link, openLink } from './link.ts';
import { createSessionActions, type SessionActions } from './session-actions.ts';
import { createStore, type Store } from './store.ts';
import { createSystemActions, type SystemActions } from './system-actions.ts';
import { createToasts, type Toasts } from './toasts.ts';
import type { Trouble } from './trouble.ts';

export interface PageDeps {
  /** `ws://<the page's own host>/ws` */
  readonly socketUrl: string;
  readonly shelves: Shelves;
  readonly post: Post;
  readonly fetch: typeof fetch;
  readonly now: () => number;
  readonly soon: (run: () => void) => void;
  readonly version: string;
  readonly timeZone?: string | undefined;
  readonly WebSocket?: SocketConstructor | undefined;
}

export interface Page {
  readonly store: Store<AppState>;
  readonly chat: ChatActions;
  readonly sessions: SessionActions;
  readonly system: SystemActions;
  readonly toasts: Toasts;
  readonly link: () => Link;
  /** Of the gateway, in the name of whoever is signed in. */
  get(path: `/attachments/${string}`): Promise<Response>;
  /** With the code of the address, or with what this browser kept; otherwise nobody is signed in. */
  start(code: string | undefined): Promise<void>;
  signInWithToken(token: string, keep: boolean): void;
  signOut(): Promise<void>;
  /** Another tab of this browser signed out. */
  signedOutElsewhere(): void;
}

export function createPage(deps: PageDeps): Page {
  const store = createStore<AppState>(emptyState());
  const toasts = createToasts(store);
  let link: Link | undefined;
  let token: string | undefined;

  function needLink(): Link {
    if (!link) throw new ConnectionError('CLOSED', 'Nobody is signed in');
    return link;
  }

  function connect(withToken: string): void {
    void link?.close();
    token = withToken;
    store.update(() => emptyState());
    link = openLink({
      url: deps.socketUrl,
      token: withToken,
      store,
      now: deps.now,
      soon: deps.soon,
      version: deps.version,
      timeZone: deps.timeZone,
      WebSocket: deps.WebSocket,
    });
  }

  function leave(error?: Trouble, refused?: 'link'): void {
    void link?.close();
    link = undefined;
    token = undefined;
    store.update(() => ({ ...emptyState(), connection: { kind: 'signed-out', error, refused } }));
  }

  const actionDeps = { store, link: needLink, toasts, post: deps.post, token: () => token ?? '', now: deps.now };
  return {
    store,
    toasts,
    chat: createChatActions(actionDeps),
    sessions: createSessionActions(actionDeps),
    system: createSystemActions(actionDeps),
    link: needLink,
    get: (path) =>
      deps.fetch(path, { headers: { authorization: `Bearer ${token ?? ''}` }, credentials: 'omit', cache: 'no-store', redirect: 'error' }),

    async start(code) {
      if (code === undefined) {
        const kept = storedToken(deps.shelves);
        return kept === undefined ? leave() : connect(kept);
      }
      const answer = await exchangeCode(code, deps.post);
      if (answer.kind === 'refused') {
        // A link that was used before, opened by somebody who is signed in already, is no reason to throw them out.
        const kept = storedToken(deps.shelves);
        return kept === undefined ? leave(answer.error, 'link') : connect(kept);
      }
      keepToken(deps.shelves, answer.token, true);
      connect(answer.token);
    },

    signInWithToken(given, keep) {
      keepToken(deps.shelves, given, keep);
      connect(given);
    },

    async signOut() {
      const old = token;
      leave();
      forgetEverything(deps.shelves);
      if (old !== undefined) await revokeToken(old, deps.post);
    },

    signedOutElsewhere() {
      leave();
      // What is kept for all tabs is gone already; the drafts of this one are not.
      forgetTab(deps.shelves);
    },
  };
}
