// What a row of the HTTP routes says. The handler of a request gets what the row asked for: a principal that holds the
// scope, a body of an allowed type within its limit.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Scope } from '@tenon/protocol';
import type { PluginParts } from '../agent/plugin-tools.ts';
import type { Composer } from '../agent/composer.ts';
import type { Agents, Turns } from '../agent/service.ts';
import type { UiRelay } from '../agent/ui-relay.ts';
import type { PluginHost } from '../host/plugin-host.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Log } from '../kernel/log.ts';
import type { Metrics } from '../kernel/metrics.ts';
import type { Models } from '../model/types.ts';
import type { Connections } from '../rpc/connections.ts';
import type { HealthBoard } from '../rpc/health.ts';
import type { Incidents } from '../rpc/incidents.ts';
import type { Principal } from '../rpc/principal.ts';
import type { SignIn } from '../rpc/signin.ts';
import type { TokenMint } from '../rpc/token-mint.ts';
import type { AttachmentFiles } from '../store/attachment-files.ts';
import type { Store } from '../store/store.ts';
import type { Answer } from './answer.ts';
import type { Authenticator } from './auth.ts';
import type { BodyRow } from './body.ts';
import type { Gate } from './gate.ts';
import type { PageFiles } from './page-files.ts';
import type { Peer, Peers } from './peer.ts';

/** What is told of extensions, and done with them. */
export type RouteExtensions = Pick<PluginHost, 'list' | 'get' | 'reload' | 'registry'>;

/** What the routes of plugins are found in and called with. */
export type RoutePlugins = Pick<PluginParts, 'registry' | 'caller' | 'holds'>;

export interface HttpDeps {
  readonly gate: Gate;
  readonly auth: Authenticator;
  readonly incidents: Incidents;
  readonly health: HealthBoard;
  readonly peers: Peers;
  /** A request has shown a credential that is enough: its connection is nobody's to cut, until it is answered. */
  readonly admitted: (request: IncomingMessage, response: ServerResponse) => void;
  /** Nothing new is begun any more. */
  readonly isDraining: () => boolean;
  readonly ready: () => { ok: boolean; reason?: string };
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Log;
  readonly connections: Connections;
  readonly store: Store;
  readonly files: AttachmentFiles;
  readonly mint: TokenMint;
  readonly signIn: SignIn;
  readonly page: PageFiles;
  readonly turns: Turns;
  readonly agents: Agents;
  readonly models: Models;
  readonly composer: Composer;
  readonly ui: Pick<UiRelay, 'request' | 'answered'>;
  /** For the routes of plugins. */
  readonly plugins: () => RoutePlugins;
  readonly extensions: () => RouteExtensions;
  readonly version: string;
  readonly warnings: readonly string[];
}

/** One request, past the gate. */
export interface Call {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly path: string;
  readonly query: URLSearchParams;
  /** Who sent it, for what is charged to somebody. */
  readonly peer: Peer;
  readonly address: string;
  /** Empty where the row has no body. */
  readonly body: Buffer;
  /** Aborted when the client has gone. */
  readonly gone: AbortSignal;
}

export interface GuardedCall extends Call {
  readonly principal: Principal;
}

/** `undefined`: the handler has answered by itself, with a stream. */
type Answered = Answer | undefined | Promise<Answer | undefined>;

interface RouteRow {
  /** GET includes HEAD. */
  readonly method: 'GET' | 'POST' | readonly string[];
  readonly body?: BodyRow;
}

export interface OpenRoute extends RouteRow {
  readonly scope: 'none';
  /** Refuses by throwing, before the body is read. */
  readonly admit?: (peer: Peer) => Promise<void>;
  handle(call: Call, deps: HttpDeps): Answered;
}

export interface GuardedRoute extends RouteRow {
  readonly scope: Scope | 'any';
  /** Whether a credential that is bound to one session may come; the handler then keeps it to its session. */
  readonly bound?: 'own-session';
  handle(call: GuardedCall, deps: HttpDeps): Answered;
}

export type Route = OpenRoute | GuardedRoute;
/** Those of the gateway itself, by path; each takes one method. */
export type Routes = Readonly<Record<string, Route & { readonly method: 'GET' | 'POST' }>>;

export const JSON_TYPES = ['application/json'] as const;
