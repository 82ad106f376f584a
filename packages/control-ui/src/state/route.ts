// The address is the state: every view has one, after the `#`, so that the gateway serves one page and a link opens what
// it names. A credential is never part of it: `readAddress` takes the one-time code out and leaves everything else behind.

export type Route =
  | { readonly view: 'chat'; readonly sessionKey: string | undefined }
  | { readonly view: 'sessions' }
  | { readonly view: 'approvals'; readonly id: string | undefined }
  | { readonly view: 'overview' }
  | { readonly view: 'settings' }
  | { readonly view: 'more' };

export type ViewName = Route['view'];

const views: readonly ViewName[] = ['chat', 'sessions', 'approvals', 'overview', 'settings', 'more'];

export function parseRoute(hash: string): Route {
  const [, view, ...rest] = hash.replace(/^#/, '').split('/');
  const name = views.find((each) => each === view) ?? 'chat';
  const object = decode(rest.join('/')) || undefined;
  if (name === 'chat') return { view: 'chat', sessionKey: object };
  if (name === 'approvals') return { view: 'approvals', id: object };
  return { view: name };
}

export function formatRoute(route: Route): string {
  const object = route.view === 'chat' ? route.sessionKey : route.view === 'approvals' ? route.id : undefined;
  return object === undefined ? `#/${route.view}` : `#/${route.view}/${encodeURIComponent(object).replaceAll('%3A', ':')}`;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}

export interface Address {
  /** A one-time code to sign in with. */
  readonly code: string | undefined;
  /** What the address should be instead, where it carries something that must not stay in it. */
  readonly cleaned: string | undefined;
}

/**
 * The fragment may carry `code`. A query, and anything else in the fragment that is not a route, is dropped unread:
 * a link that brings a token or names another gateway must not sign anybody in or connect anywhere.
 */
export function readAddress(location: { readonly pathname: string; readonly search: string; readonly hash: string }): Address {
  const { pathname, search, hash } = location;
  const isRoute = hash === '' || hash === '#' || hash.startsWith('#/');
  if (isRoute && search === '') return { code: undefined, cleaned: undefined };
  const code = isRoute ? undefined : new URLSearchParams(hash.slice(1)).get('code');
  return { code: code && /^[\w-]{1,128}$/.test(code) ? code : undefined, cleaned: isRoute ? pathname + hash : pathname };
}
