// What an extension asks for beyond SEP: the late calls of plugins, in the words of the wire. The session is that of a dispatch that
// is under way, or the one that is named. What the api refuses becomes the error of the wire that says the same.
import type { Enqueued, Refused } from '@tenon/plugin-sdk';
import { type JsonValue, lateParams } from '@tenon/protocol';
import { fromSnake } from '@tenon/protocol/sep';
import { errors, texts } from '@tenon/protocol/sep/wire';
import { refused } from './refused.ts';
import { RpcError } from '../connection/rpc-error.ts';
import type { Served, ServedCall } from './serve.ts';

interface Place {
  readonly context?: unknown;
  readonly session_key?: string | undefined;
}

/** The key holds where both are there. */
function sessionOf({ context, session_key: key }: Place, { dispatch }: ServedCall): string {
  if (key !== undefined) return key;
  if (context === undefined) throw new RpcError(errors.InvalidParams.code, 'params needs a context or a session_key');
  if (!dispatch) throw new RpcError(errors.ContextViolation.code, texts.staleContext);
  if (dispatch.sessionKey !== undefined) return dispatch.sessionKey;
  throw new RpcError(errors.InvalidParams.code, 'params/context is of no session; give a session_key');
}

type LateCall = keyof typeof lateParams;

/** What a call of the api is given: the params with the names of plugins, and the session. */
function given<Call extends LateCall>(name: Call, params: Place, call: ServedCall) {
  const sessionKey = sessionOf(params, call);
  const { context: _context, session_key: _key, ...rest } = params as Place & Record<string, unknown>;
  return fromSnake(lateParams[name], { ...rest, session_key: sessionKey } as never);
}

type Done<Outcome> = Extract<Outcome, { readonly ok: true }>;

function done<Outcome extends { readonly ok: boolean }>(outcome: Outcome): Done<Outcome> {
  if (outcome.ok) return outcome as unknown as Done<Outcome>;
  const { reason, message } = outcome as unknown as Refused;
  throw refusal(reason, message);
}

function refusal(reason: Refused['reason'], message: string, more: object = {}): RpcError {
  if (reason === 'invalid') return new RpcError(errors.InvalidParams.code, message);
  if (reason === 'not-granted') return new RpcError(errors.CapabilityDisabled.code, message);
  return refused(reason === 'not-loaded' ? 'unavailable' : reason, message, more);
}

/** What an injection is refused with begins with a word. */
const NOT_ENQUEUED: Readonly<Record<string, Refused['reason']>> = {
  ...{ duplicate: 'conflict', full: 'limit', 'no-session': 'no-session', conflict: 'conflict', limit: 'limit' },
  ...{ invalid: 'invalid', 'not-granted': 'not-granted', 'not-loaded': 'not-loaded' },
};

function enqueued(outcome: Enqueued): { id: string; session_key: string } {
  const { id, sessionKey } = outcome;
  if (outcome.enqueued) return { id, session_key: sessionKey };
  const [, word = '', message = ''] = /^([a-z-]+): (.*)$/s.exec(outcome.reason) ?? [];
  throw refusal(NOT_ENQUEUED[word] ?? 'unavailable', message || outcome.reason, id === '' ? {} : { id });
}

/** The time that the operator takes is not that of a tool or a command. A hook or a button has no more time than it has. */
function waitsForPerson({ dispatch }: ServedCall): boolean {
  return dispatch?.callId !== undefined || dispatch?.asked === true;
}

export const seamsServed = {
  async 'state/get'(params, call) {
    const sessionKey = sessionOf(params, call);
    const { namespace } = params;
    // What a handler has read is bound to what it answers.
    if (call.dispatch?.sessionKey === sessionKey) call.dispatch.state?.(namespace);
    const { value, revision } = done(await call.api().session.state.read(sessionKey, namespace));
    return { value, revision };
  },
  async 'state/patch'(params, call) {
    const { namespace, value, if_revision: ifRevision } = params;
    const options = ifRevision === undefined ? {} : { ifRevision };
    const { revision } = done(await call.api().session.state.patch(sessionOf(params, call), namespace, value as JsonValue | null, options));
    return { revision };
  },
  async 'state/list'({ namespace }, call) {
    const listed = await call.api().session.state.list(namespace);
    if ('ok' in listed) throw refusal(listed.reason, listed.message);
    return { sessions: listed.map(({ sessionKey, value, revision }) => ({ session_key: sessionKey, value, revision })) };
  },
  async 'injection/enqueue'(params, call) {
    const injection = given('session.workflow.enqueueNextTurnInjection', params, call);
    return enqueued(await call.api().session.workflow.enqueueNextTurnInjection(injection as never));
  },
  async 'turn/continue'(params, call) {
    const { runId } = done(await call.api().session.workflow.continueAgent(given('session.workflow.continueAgent', params, call)));
    return runId === undefined ? {} : { run_id: runId };
  },
  async 'schedule/turn'(params, call) {
    const turn = given('session.workflow.scheduleSessionTurn', params, call);
    const { id, sessionKey, nextAt } = done(await call.api().session.workflow.scheduleSessionTurn(turn));
    return { id, session_key: sessionKey, next_at: nextAt };
  },
  async 'schedule/remove'(params, call) {
    const which = given('session.workflow.unscheduleSessionTurnsByTag', params, call);
    const { removed } = done(await call.api().session.workflow.unscheduleSessionTurnsByTag(which));
    return { removed };
  },
  async 'attachment/send'(params, call) {
    const attachment = given('session.workflow.sendSessionAttachment', params, call);
    const { channel, deliveredTo, count, deliveryId, entryId, state } = done(
      await call.api().session.workflow.sendSessionAttachment(attachment as never),
    );
    return { channel, delivered_to: deliveredTo, count, delivery_id: deliveryId, entry_id: entryId, state };
  },
  async 'attachment/update'(params, call) {
    const change = given('session.workflow.updateSessionAttachment', params, call);
    const { deliveryId, entryId, revision, changed, edits } = done(
      await call.api().session.workflow.updateSessionAttachment(change as never),
    );
    return { delivery_id: deliveryId, entry_id: entryId, revision, changed, edits };
  },
  async 'approval/request'(params, call) {
    const question = given('session.workflow.requestApproval', params, call);
    const release = waitsForPerson(call) ? call.dispatch?.hold() : undefined;
    try {
      const { decision, by } = done(await call.api().session.workflow.requestApproval(question));
      return { decision, by };
    } finally {
      release?.();
    }
  },
  async 'action_required/notify'(params, call) {
    const { id } = done(
      await call.api().session.workflow.notifyActionRequired(given('session.workflow.notifyActionRequired', params, call)),
    );
    return { id };
  },
  async 'action_required/withdraw'(params, call) {
    const which = given('session.workflow.withdrawActionRequired', params, call);
    const { withdrawn } = done(await call.api().session.workflow.withdrawActionRequired(which));
    return { withdrawn };
  },
  'stream/emit'(params, call) {
    const runId = params.run_id ?? call.dispatch?.runId;
    if (runId === undefined) throw new RpcError(errors.InvalidParams.code, 'params needs a run_id, or a context of a run');
    const { stream, data } = params;
    const said = call.api().agent.events.emitAgentEvent({ runId, sessionKey: sessionOf(params, call), stream, data: data as JsonValue });
    if (said.emitted) return {};
    const [, word = '', message = ''] = /^([a-z-]+): (.*)$/s.exec(said.reason) ?? [];
    throw refusal(NOT_ENQUEUED[word] ?? 'unavailable', message || said.reason);
  },
  'gateway_event/emit'({ name, data, session_key: sessionKey }, call) {
    done(call.api().gateway.emit({ name, data: data as JsonValue, ...(sessionKey === undefined ? {} : { sessionKey }) }));
    return {};
  },
} satisfies Served;
