// What Tenon has beyond SEP: state in sessions, actions, injections, schedules, attachments, descriptors, policies, approvals.
// The shapes are those of the wire, from the protocol's tables. An extension registers them everywhere; a host that does not
// have a group is not told of them, and refuses its calls.
import type { registrations, SepFurtherEventName, SepFurtherHookName, SepRegistrationKey } from '@tenon/protocol/sep/wire';
import type { FurtherEventPayload, FurtherHookInput, FurtherHookPatch, SepParams, SepRegistration, SepResult } from '@tenon/protocol/sep';
import type { CallContext } from './definitions.ts';
import type { Beyond, SeamCalls } from './seam-calls.ts';
import type { SeamGroups } from './seam-groups.ts';

export type { SeamCalls } from './seam-calls.ts';

/** What the host asks the extension for. */
export type SeamRequests = {
  [Name in Beyond<'to-extension'>]: { readonly params: SepParams<Name>; readonly result: SepResult<Name> };
};

/** What is registered, one item each. */
export type SeamItems = {
  [Key in SepRegistrationKey as (typeof registrations)[Key] extends { readonly beyond: true } ? Key : never]: SepRegistration<Key>;
};

export type SeamHandler<Name extends keyof SeamRequests> = (
  request: SeamRequests[Name]['params'],
  context: CallContext,
) => SeamRequests[Name]['result'] | Promise<SeamRequests[Name]['result']>;

/** Hooks of the gateway that SEP does not name: what they are about, and what a patch may say. */
export type FurtherHooks = {
  [Name in SepFurtherHookName]: { readonly input: FurtherHookInput<Name>; readonly patch: FurtherHookPatch<Name> };
};

/** Events of the gateway that SEP does not name. */
export type FurtherEvents = { [Name in SepFurtherEventName]: FurtherEventPayload<Name> };

export interface Seams extends SeamGroups {
  /** The session is that of the call in which it is used, unless `session_key` names another. */
  call<Name extends keyof SeamCalls>(method: Name, params: SeamCalls[Name]['params']): Promise<SeamCalls[Name]['result']>;
  /** More about a tool, such as its risk. */
  registerToolFacts(facts: SeamItems['tool_facts']): void;
  registerState(state: SeamItems['state']): void;
  registerDescriptor(descriptor: SeamItems['descriptors']): void;
  /** What the handler throws is an answer that is not ok. */
  registerAction(action: SeamItems['actions'], handler: SeamHandler<'action/execute'>): void;
  /** Takes part in a change of a session that asks for it. */
  registerPatchAction(action: SeamItems['patch_actions'], handler: SeamHandler<'patch_action/execute'>): void;
  registerInteraction(interaction: SeamItems['interactions'], handler: SeamHandler<'interaction/press'>): void;
  /** A handler that fails denies the call. */
  registerPolicy(policy: SeamItems['policies'], handler: SeamHandler<'policy/decide'>): void;
  /** Is given the turns that it has scheduled, when they are due. One that fails leaves it to the agent. */
  registerScheduledTurn(turn: SeamItems['scheduled_turns'], handler: SeamHandler<'schedule/due'>): void;
  /** Something that it has running for a session elsewhere; the handler ends it. */
  registerSchedulerJob(job: SeamItems['scheduler_jobs'], cleanUp: (request: SeamRequests['schedule/clean_up']['params']) => unknown): void;
  /** A method of the gateway, called `plugin.<extension>.<name>`; what the handler returns is its result. */
  registerGatewayMethod(
    method: SeamItems['gateway_methods'],
    handler: (params: unknown, request: SeamRequests['gateway_method/call']['params'], context: CallContext) => unknown,
  ): void;
  registerGatewayEvent(event: SeamItems['gateway_events']): void;
  registerStartupCheck(check: SeamItems['startup_checks'], handler: SeamHandler<'startup_check/run'>): void;
}
