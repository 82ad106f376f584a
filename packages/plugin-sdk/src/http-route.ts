// Web requests that a plugin answers, and how.
import type { Contribution, Scope } from '@tenon/protocol';
import type { CallContext } from './values.ts';

/** A web request under `/plugins/<plugin id>/`. */
export interface HttpRouteRequest extends CallContext {
  readonly method: NonNullable<Contribution<'httpRoute'>['methods']>[number];
  /** Whole, as it was asked for. */
  readonly path: string;
  /** What follows the path of a route with `match: 'prefix'`, without a slash at its start. */
  readonly rest: string;
  readonly query: Readonly<Record<string, readonly string[]>>;
  /** By lower-case name, without cookies and without a credential of the gateway. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** The body as UTF-8. */
  readonly text: string;
  /** What the credential may do; nothing where the route looks by itself who comes. */
  readonly client: { readonly scopes: readonly Scope[] };
}

export interface HttpRouteAnswer {
  /** From 200 to 599. */
  readonly status: number;
  /** Those of the content, of caching and of redirects, and `x-plugin-…`. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

export interface HttpRoute extends Contribution<'httpRoute'> {
  readonly handler: (request: HttpRouteRequest) => HttpRouteAnswer | Promise<HttpRouteAnswer>;
}
