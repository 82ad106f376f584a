// What an extension asks of the gateway, from top to bottom: is there such a method, is its group on, can its params be read, is its
// context that of a dispatch under way, and then whoever does it. Every method goes this way; its row says what is needed.
import type { RuntimeApi } from '@tenon/plugin-sdk';
import { type ExtensionManifest, readParams, type ReadParams } from '@tenon/protocol/sep';
import { errors, limits, methodOf, methodRow, type SepGroup, type SepMethodName, texts } from '@tenon/protocol/sep/wire';
import type { Dispatch, Dispatches } from './dispatches.ts';
import type { Params, PeerHandler } from '../connection/peer.ts';
import { RpcError } from '../connection/rpc-error.ts';
import { grantsOfGroup, isOn } from './group-grants.ts';

export interface ServedCall {
  /** The process that asks. */
  readonly generation: number;
  /** Aborts when nobody waits for the answer any more. Of a notification, never. */
  readonly signal: AbortSignal;
  /** The dispatch whose context it gives, if that is under way. */
  readonly dispatch: Dispatch | undefined;
  /** What plugins have. Refused as unavailable while the extension is not loaded. */
  readonly api: () => RuntimeApi;
}

/** What is thrown is the answer where it is an RpcError, and a fault of the gateway otherwise. */
export type Serve<Method extends SepMethodName> = (params: ReadParams<Method>, call: ServedCall) => unknown;

/** Of some methods; a file of handlers serves a group. */
export type Served = { readonly [Method in SepMethodName]?: Serve<Method> };

export interface ServeDeps {
  readonly served: Served;
  readonly dispatches: Dispatches;
  readonly manifest: () => ExtensionManifest;
  /** Whether the operator has granted it, now. */
  readonly holds: (grant: string) => boolean;
  readonly api: () => RuntimeApi | undefined;
  /** Undefined where the process is loaded as what it is. Otherwise resolves when it is, or when nobody expects that any more. */
  readonly placed: (generation: number) => Promise<void> | undefined;
}

export interface Server {
  request(method: string, generation: number): PeerHandler | undefined;
  notification(method: string, generation: number): ((params: Params) => void) | undefined;
}

const never = new AbortController().signal;

export function createServer({ served, dispatches, manifest, holds, api, placed }: ServeDeps): Server {
  /** Notifications that wait. */
  let held = 0;

  /** What takes a right waits for the load that has the rights: a process is at work before its load is in place. */
  function whenPlaced(name: SepMethodName, generation: number): Promise<void> | undefined {
    const { group, grants = [] } = methodRow(name);
    return group === undefined && grants.length === 0 ? undefined : placed(generation);
  }

  function serve(name: SepMethodName, spelling: string, given: Params, generation: number, signal: AbortSignal): unknown {
    const { group, grants = [], tier } = methodRow(name);
    if (group !== undefined && !isOn(group, manifest(), holds))
      throw disabled(
        group,
        grantsOfGroup(group).find((grant) => !holds(grant)),
      );
    const missing = grants.find((grant) => !holds(grant));
    if (missing !== undefined)
      throw new RpcError(errors.CapabilityDisabled.code, `${name} needs the grant ${missing}, which it does not have`, { grant: missing });
    const handle = served[name] as ((params: unknown, call: ServedCall) => unknown) | undefined;
    if (handle === undefined) throw disabled(group ?? name);
    const read = readParams(name, given, spelling);
    if (!read.ok) throw new RpcError(errors.InvalidParams.code, read.message);
    const dispatch = dispatchOf(given, generation);
    if (tier !== undefined) mustBe(tier, given, dispatch);
    const call: ServedCall = { generation, signal, dispatch, api: loaded };
    return dispatch ? dispatch.within(() => handle(read.value, call)) : handle(read.value, call);
  }

  /** One that another process of the same extension was given is nobody's. */
  function dispatchOf({ context }: Params, generation: number): Dispatch | undefined {
    const token = (context as { readonly token?: unknown } | undefined)?.token;
    const found = typeof token === 'string' ? dispatches.find(token) : undefined;
    return found?.generation === undefined || found.generation === generation ? found : undefined;
  }

  function loaded(): RuntimeApi {
    const now = api();
    if (now) return now;
    throw new RpcError(errors.Refused.code, 'it is not loaded yet', { reason: 'unavailable' });
  }

  /** Undefined where the other side is who is asked this, or nobody is. */
  function known(method: string): SepMethodName | undefined {
    const name = methodOf(method);
    return name !== undefined && methodRow(name).direction === 'to-host' ? name : undefined;
  }

  return {
    request(method, generation) {
      const name = known(method);
      if (name === undefined || methodRow(name).kind === 'notification') return undefined;
      return (params, { signal }) => {
        const wait = whenPlaced(name, generation);
        return wait ? wait.then(() => serve(name, method, params, generation, signal)) : serve(name, method, params, generation, signal);
      };
    },
    notification(method, generation) {
      const name = known(method);
      if (name === undefined || methodRow(name).kind === 'request') return undefined;
      return (params) => {
        const wait = held < limits.toHostInFlight.value ? whenPlaced(name, generation) : undefined;
        if (!wait) return void serve(name, method, params, generation, never);
        held++;
        // What is refused then, nobody is told of, as of any notification.
        void wait.then(() => serve(name, method, params, generation, never)).catch(() => {});
        void wait.then(() => held--);
      };
    },
  };
}

/** The tier that the context says of itself counts for nothing but the words of the refusal. */
function mustBe(tier: 'event' | 'command', { context }: Params, dispatch: Dispatch | undefined): void {
  if (dispatch?.tier === tier) return;
  const said = (context as { readonly tier?: unknown } | undefined)?.tier;
  const isStale = dispatch === undefined && said === tier;
  throw new RpcError(errors.ContextViolation.code, isStale ? texts.staleContext : texts.commandTier);
}

/** The words are those of others; the grant that would help is for programs. */
export function disabled(group: SepGroup | SepMethodName, grant?: string): RpcError {
  return new RpcError(errors.CapabilityDisabled.code, texts.disabled(group), grant === undefined ? undefined : { grant });
}
