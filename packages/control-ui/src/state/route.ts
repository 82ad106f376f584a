// The address is the state: every view has one, after the `#`, so that the gateway serves one page and a link opens what
// it names. A credential is never part of it: `readAddress` takes the one-time code out and leaves everything else behind.

export type Route =
  | { readonly view: 'chat'; readonly sessionKey: string | undefined }
  | { readonly view: 'sessions' }
  | { readonly view: 'approvals'; readonly id: string | undefined }
  /** One plugin, or all of them. */
  | { readonly view: 'plugins'; readonly id: string | undefined }
  /** What plugins did in a session; of one plugin where it is named. */
  | { readonly view: 'inspector'; readonly sessionKey: string | undefined; readonly plugin: string | undefined }
  /** One schedule or all of them; of one session where it is named. */
  | { readonly view: 'schedules'; readonly id: string | undefined; readonly sessionKey: string | undefined }
  | { readonly view: 'overview' }
  | { readonly view: 'settings' }
  | { readonly view: 'more' };

export type ViewName = Route['view'];

const views: readonly ViewName[] = ['chat', 'sessions', 'approvals', 'plugins', 'schedules', 'inspector', 'overview', 'settings', 'more'];

export function parseRoute(hash: string): Route {
  const [, view, ...rest] = hash.replace(/^#/, '').split('/');
  const name = views.find((each) => each === view) ?? 'chat';
  const object = decode(rest.join('/')) || undefined;
  if (name === 'chat') return { view: name, sessionKey: object };
  if (name === 'approvals' || name === 'plugins') return { view: name, id: object };
  const [first, second] = rest.map((part) => decode(part) || undefined);
  if (name === 'inspector') return { view: name, sessionKey: first, plugin: second };
  if (name === 'schedules') return { view: name, id: first, sessionKey: second };
  return { view: name };
}

export function formatRoute(route: Route): string {
  const { id, sessionKey, plugin } = route as Partial<Record<string, string>>;
  const objects = 'id' in route ? [id, sessionKey] : [sessionKey, plugin];
  const path = objects.map((object) => encodeURIComponent(object ?? '').replaceAll('%3A', ':')).join('/');
  return `#/${route.view}/${path}`.replace(/\/+$/, '');
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
