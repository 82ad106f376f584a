// Short messages at the edge of the page. At most three; what says that something went well goes by itself.
import type { AppState, Toast } from './app-state.ts';
import { bounds } from './bounds.ts';
import type { Store } from './store.ts';
import { troubleOf } from './trouble.ts';

export interface Toasts {
  say(toast: Omit<Toast, 'id'>): void;
  /** What was tried, and the error. */
  fail(title: string, error: unknown): void;
  close(id: number): void;
  /** Closes those about something that is settled. */
  closeAbout(isSettled: (about: string) => boolean): void;
}

/** Of the page: several parts of it say something. */
let lastId = 0;

export function createToasts(store: Store<AppState>): Toasts {
  function say(toast: Omit<Toast, 'id'>): void {
    const added: Toast = { ...toast, id: ++lastId };
    store.update((state) => ({ ...state, toasts: [...state.toasts, added].slice(-bounds.toasts) }));
  }
  return {
    say,
    fail(title, error) {
      const { message, code } = troubleOf(error);
      say({ tone: 'bad', title, detail: code === undefined ? message : `${message} (${code})` });
    },
    closeAbout(isSettled) {
      store.update((state) => {
        const left = state.toasts.filter(({ about }) => about === undefined || !isSettled(about));
        return left.length === state.toasts.length ? state : { ...state, toasts: left };
      });
    },
    close: (id) => store.update((state) => ({ ...state, toasts: state.toasts.filter((each) => each.id !== id) })),
  };
}
