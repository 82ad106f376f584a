// How components reach the page: its state by `useApp`, what it can do by `usePage`.
import { createContext, use, useSyncExternalStore } from 'react';
import type { AppState } from '../state/app-state.ts';
import type { Page } from '../state/page.ts';

export const PageContext = createContext<Page | undefined>(undefined);

export function usePage(): Page {
  const page = use(PageContext);
  if (!page) throw new Error('There is no page around this component');
  return page;
}

/** @param select Gives a part of the state as it is, not something made of it: a new object each time would never settle. */
export function useApp<Part>(select: (state: AppState) => Part): Part {
  const { store } = usePage();
  return useSyncExternalStore(store.subscribe, () => select(store.get()));
}
