// What the host said of itself in `initialize`, and how it is asked for things: one function, with the time that the
// protocol gives each method.
import { methodRow, type SepMethodName } from '@tenon/protocol/sep/wire';
import type { Mode } from './names.ts';
import type { Params, RequestOptions } from './peer.ts';

/** What the host has sent a call with: opaque, and good for as long as the call lasts. */
export interface DispatchContext {
  readonly token: string;
  /** Only calls of the tier `command` may write into the session. */
  readonly tier: 'event' | 'command';
}

export interface Host {
  readonly name: string;
  readonly version: string;
  /** The lower one of both sides. */
  readonly protocolVersion: number;
  readonly mode: Mode;
  readonly workspace: { readonly root: string; readonly trusted: boolean };
  readonly sessionId?: string;
  readonly uiCapabilities: readonly string[];
  /** Groups of methods that are on or off; a host that says nothing of a group may still have it. */
  readonly capabilities: Readonly<Record<string, boolean>>;
}

/** Asks the host; the promise fails with an `RpcError`. */
export type AskHost = <Result = Readonly<Record<string, unknown>>>(
  method: SepMethodName,
  params: Params,
  options?: RequestOptions,
) => Promise<Result>;

export function createAskHost(request: (method: string, params: Params, options: RequestOptions) => Promise<unknown>): AskHost {
  return async <Result>(method: SepMethodName, params: Params, options: RequestOptions = {}) => {
    const timeoutMs = options.timeoutMs ?? methodRow(method).timeoutMs;
    return (await request(method, withoutUndefined(params), { ...options, timeoutMs })) as Result;
  };
}

/** Strict in writing: a field that says nothing is not there. */
export function withoutUndefined(params: Params): Params {
  return Object.fromEntries(Object.entries(params).filter(([, value]) => value !== undefined));
}

/** Liberal in reading: what a host leaves out or misspells is what a host without it would say. */
export function readHost(params: Params, ownVersion: number): Host {
  const { host, workspace, session, mode, ui_capabilities: kinds, capabilities_enabled: groups } = params;
  const version = Number(params.protocol_version ?? params.protocolVersion);
  const { name, version: release } = record(host);
  const { root, trusted } = record(workspace);
  const { id } = record(session);
  return {
    name: text(name, 'unknown'),
    version: text(release, '0'),
    protocolVersion: Number.isSafeInteger(version) && version >= 1 ? Math.min(version, ownVersion) : ownVersion,
    mode: text(mode, 'headless') as Mode,
    workspace: { root: text(root, process.cwd()), trusted: trusted === true },
    ...(typeof id === 'string' ? { sessionId: id } : {}),
    uiCapabilities: Array.isArray(kinds) ? kinds.filter((kind) => typeof kind === 'string') : [],
    capabilities: Object.fromEntries(Object.entries(record(groups)).filter(([, isOn]) => typeof isOn === 'boolean')) as Record<
      string,
      boolean
    >,
  };
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function text(value: unknown, otherwise: string): string {
  return typeof value === 'string' ? value : otherwise;
}
