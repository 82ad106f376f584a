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

let replacedHash: string | undefined;

/** Whether the page itself changed the address to what it is now; asked once for each change. Then the focus stays where it is. */
export function wasReplaced(): boolean {
  const isOwn = replacedHash === location.hash;
  replacedHash = undefined;
  return isOwn;
}

export function navigate(route: Route, how: 'push' | 'replace' = 'push'): void {
  const hash = formatRoute(route);
  if (location.hash === hash) return;
  if (how === 'push') {
    location.hash = hash;
    return;
  }
  history.replaceState(null, '', hash);
  replacedHash = hash;
  dispatchEvent(new HashChangeEvent('hashchange'));
}
