// What Tenon has beyond SEP, as groups of functions: each asks the host in the words of the wire, in the session of the call in which
// it is used unless `session_key` names another. A host that does not have a group refuses it by the group's name.
import type { SeamCalls } from './seam-calls.ts';
import { RpcError } from './rpc-error.ts';
import { errorCode } from './wire.ts';

/** Without it, the session of the call in which it is used. */
export interface SessionPlace {
  readonly session_key?: string;
}

type Asked<Name extends keyof SeamCalls> = Omit<SeamCalls[Name]['params'], 'context'>;
type Answered<Name extends keyof SeamCalls> = Promise<SeamCalls[Name]['result']>;

/** What the extension keeps in sessions, under the namespaces that it has registered with `registerState`. */
export interface StateCalls {
  /** Null and 0 where there was never anything; null and the revision of its removal where it was removed. */
  get(namespace: string, place?: SessionPlace): Answered<'state/get'>;
  /** Null removes it. With `if_revision` only if it is still at that one; otherwise it fails, with `conflict` as the reason. */
  patch(namespace: string, value: unknown, options?: SessionPlace & { readonly if_revision?: number }): Answered<'state/patch'>;
  /** What the function makes of the freshest value. It is called again where somebody else was faster. */
  update(namespace: string, change: (current: unknown) => unknown, place?: SessionPlace): Answered<'state/patch'>;
  list(namespace: string): Promise<SeamCalls['state/list']['result']['sessions']>;
}

export interface SeamGroups {
  readonly state: StateCalls;
  /** Told to the agent in the next turn, once. */
  readonly injections: { enqueue(injection: Asked<'injection/enqueue'>): Answered<'injection/enqueue'> };
  /** A turn without a message of a person. */
  readonly turns: { continue(request?: Asked<'turn/continue'>): Answered<'turn/continue'> };
  readonly schedules: {
    turn(turn: Asked<'schedule/turn'>): Answered<'schedule/turn'>;
    remove(which: Asked<'schedule/remove'>): Answered<'schedule/remove'>;
  };
  readonly attachments: {
    send(attachment: Asked<'attachment/send'>): Answered<'attachment/send'>;
    update(change: Asked<'attachment/update'>): Answered<'attachment/update'>;
  };
  /** Waits for as long as the operator takes. */
  readonly approvals: { request(question: Asked<'approval/request'>): Answered<'approval/request'> };
  readonly notices: {
    notify(notice: Asked<'action_required/notify'>): Answered<'action_required/notify'>;
    withdraw(which?: Asked<'action_required/withdraw'>): Answered<'action_required/withdraw'>;
  };
  readonly streams: {
    /** In a run: that of the call in which it is used, unless `run_id` names another. */
    emit(said: Asked<'stream/emit'>): Promise<void>;
    /** One that was registered with `registerGatewayEvent`. */
    emitEvent(event: Asked<'gateway_event/emit'>): Promise<void>;
  };
}

export type SeamCall = <Name extends keyof SeamCalls>(
  method: Name,
  params: SeamCalls[Name]['params'],
) => Promise<SeamCalls[Name]['result']>;

/** How often somebody else may be faster. */
const ATTEMPTS = 8;

export function createSeamGroups(call: SeamCall): SeamGroups {
  const state: StateCalls = {
    get: (namespace, place = {}) => call('state/get', { ...place, namespace }),
    patch: (namespace, value, options = {}) => call('state/patch', { ...options, namespace, value }),
    async update(namespace, change, place = {}) {
      for (let attempt = 1; ; attempt++) {
        const { value: current, revision } = await state.get(namespace, place);
        const value = (await change(current)) ?? null;
        try {
          return await state.patch(namespace, value, { ...place, if_revision: revision });
        } catch (thrown) {
          if (!isConflict(thrown) || attempt >= ATTEMPTS) throw thrown;
        }
      }
    },
    list: async (namespace) => (await call('state/list', { namespace })).sessions,
  };
  return {
    state,
    injections: { enqueue: (injection) => call('injection/enqueue', injection) },
    turns: { continue: (request = {}) => call('turn/continue', request) },
    schedules: { turn: (turn) => call('schedule/turn', turn), remove: (which) => call('schedule/remove', which) },
    attachments: { send: (attachment) => call('attachment/send', attachment), update: (change) => call('attachment/update', change) },
    approvals: { request: (question) => call('approval/request', question) },
    notices: {
      notify: (notice) => call('action_required/notify', notice),
      withdraw: (which = {}) => call('action_required/withdraw', which),
    },
    streams: {
      async emit(said) {
        await call('stream/emit', said);
      },
      async emitEvent(event) {
        await call('gateway_event/emit', event);
      },
    },
  };
}

function isConflict(thrown: unknown): boolean {
  if (!(thrown instanceof RpcError) || thrown.code !== errorCode.Refused) return false;
  return (thrown.data as { readonly reason?: unknown } | undefined)?.reason === 'conflict';
}
