// The address as state. `navigate` changes it; the back button works because it is the browser's own history.
import { useMemo, useSyncExternalStore } from 'react';
import { formatRoute, parseRoute, type Route } from '../state/route.ts';

function subscribe(listener: () => void): () => void {
  addEventListener('hashchange', listener);
  return () => removeEventListener('hashchange', listener);
}

export function useRoute(): Route {
  const hash = useSyncExternalStore(subscribe, () => location.hash);
  return useMemo(() => parseRoute(hash), [hash]);
}

/** Whether the last change of the address was made by a person: then focus goes to the title of what it opened. */
let movedByPerson = true;

export function wasMovedByPerson(): boolean {
  return movedByPerson;
}

export function navigate(route: Route, how: 'push' | 'replace' = 'push'): void {
  const hash = formatRoute(route);
  if (location.hash === hash) return;
  if (how === 'push') {
    location.hash = hash;
    return;
  }
  history.replaceState(null, '', hash);
  movedByPerson = false;
  dispatchEvent(new HashChangeEvent('hashchange'));
  movedByPerson = true;
}
