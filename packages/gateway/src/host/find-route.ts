// Which route of a plugin a path belongs to. Paths are compared as they are: one that would have to be decoded, or that has
// parts which lead upwards, belongs to none.
import type { HttpRoute } from '@tenon/plugin-sdk';

export const PLUGIN_PATHS = '/plugins/';

interface OwnedRoute {
  readonly plugin: string;
  readonly item: Pick<HttpRoute, 'path' | 'match'>;
}

/** Exactly this path, or else the longest one that it is below. */
export function findRoute<Owned extends OwnedRoute>(path: string, routes: readonly Owned[]): Owned | undefined {
  const [, id, below = '/'] = /^\/plugins\/([^/]+)(\/[A-Za-z0-9._~:@/-]*)?$/.exec(path) ?? [];
  if (id === undefined || !isPlain(below)) return undefined;
  const own = routes.filter(({ plugin }) => plugin === id);
  const over = own.filter(({ item }) => isBelow(below, item)).sort((a, b) => b.item.path.length - a.item.path.length);
  return own.find(({ item }) => item.path === below) ?? over[0];
}

/** Whether the route answers for this path, which is not its own. */
export function isBelow(path: string, { path: own, match }: Pick<HttpRoute, 'path' | 'match'>): boolean {
  return match === 'prefix' && path !== own && (own === '/' || path.startsWith(`${own}/`));
}

function isPlain(path: string): boolean {
  const parts = path.slice(1).split('/');
  return !parts.includes('.') && !parts.includes('..') && !parts.slice(0, -1).includes('');
}
