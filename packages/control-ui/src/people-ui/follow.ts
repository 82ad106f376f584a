// What extensions ask and show, as state of the page: read whenever the connection is there, and kept up to date by events.
import type { Client } from '@tenon/client';
import { type UiNotice, type UiQuestion, type UiShown, visible } from '@tenon/protocol';
import type { AppState } from '../state/app-state.ts';
import { bounds } from '../state/bounds.ts';
import type { Call } from '../state/page-methods.ts';
import type { Store } from '../state/store.ts';
import { createToasts } from '../state/toasts.ts';

export interface PeopleFollower {
  /** Everything again: the connection was away. */
  readAll(): void;
  close(): void;
}

export function followPeople(client: Pick<Client, 'on'>, call: Call, store: Store<AppState>): PeopleFollower {
  const toasts = createToasts(store);
  /** Settled while what waits was being read. */
  let settled = new Set<string>();
  let reads = 0;
  let isClosed = false;

  async function readAll(): Promise<void> {
    const mine = ++reads;
    settled = new Set();
    // Who may not read them is shown none.
    const found = await call('ui.pending', {}).catch(() => ({ questions: [], shown: [] }));
    if (isClosed || mine !== reads) return;
    const questions = found.questions.filter(({ id }) => !settled.has(id)).slice(-bounds.questions);
    store.update((state) => ({ ...state, people: { questions, shown: found.shown.slice(-bounds.questions) } }));
  }

  const ends = [
    client.on('ui.requested', (question) => store.update((state) => withQuestion(state, question))),
    client.on('ui.resolved', ({ id }) => {
      settled.add(id);
      store.update((state) => withoutQuestion(state, id));
    }),
    client.on('ui.shown', (shown) => store.update((state) => withShown(state, shown))),
    client.on('ui.notified', (notice) => toasts.say(toastOf(notice))),
  ];
  void readAll();
  return {
    readAll: () => void readAll(),
    close() {
      isClosed = true;
      for (const end of ends) end();
    },
  };
}

function toastOf({ extension, via, level, message }: UiNotice): Parameters<ReturnType<typeof createToasts>['say']>[0] {
  return { tone: level === 'error' ? 'bad' : 'info', icon: 'joint', title: askerOf({ extension, via }), detail: message };
}

/** As the notch calls it: whoever runs elsewhere is told apart. */
export function askerOf({ extension, via }: { readonly extension: string; readonly via?: string | undefined }): string {
  return via === undefined ? visible(extension) : `${visible(extension)} (elsewhere)`;
}

function withQuestion(state: AppState, question: UiQuestion): AppState {
  const others = state.people.questions.filter(({ id }) => id !== question.id);
  return { ...state, people: { ...state.people, questions: [...others, question].slice(-bounds.questions) } };
}

export function withoutQuestion(state: AppState, id: string): AppState {
  const questions = state.people.questions.filter((each) => each.id !== id);
  return questions.length === state.people.questions.length ? state : { ...state, people: { ...state.people, questions } };
}

function withShown(state: AppState, shown: UiShown): AppState {
  const isSame = (each: UiShown) => each.sessionKey === shown.sessionKey && each.extension === shown.extension && each.via === shown.via;
  const isNothing = shown.status === undefined && shown.title === undefined && shown.widget === undefined;
  const others = state.people.shown.filter((each) => !isSame(each));
  // Where it stood, so that nothing jumps.
  const at = state.people.shown.findIndex(isSame);
  const next = isNothing ? others : at < 0 ? [...others, shown] : others.toSpliced(at, 0, shown);
  return { ...state, people: { ...state.people, shown: next.slice(-bounds.questions) } };
}
