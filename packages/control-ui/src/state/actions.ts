// What actions are given. The link is a function, because signing in again makes a new one.
import type { AppState } from './app-state.ts';
import type { Post } from './credentials.ts';
import type { Link } from './link.ts';
import type { Store } from './store.ts';
import type { Toasts } from './toasts.ts';

export interface ActionDeps {
  readonly store: Store<AppState>;
  readonly link: () => Link;
  readonly toasts: Toasts;
  readonly post: Post;
  readonly token: () => string;
  readonly now: () => number;
}
