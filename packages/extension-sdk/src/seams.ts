// What Tenon has beyond SEP: state in sessions, actions, injections, schedules, attachments, descriptors, policies, approvals.
// The shapes are those of the wire, from the protocol's tables. An extension registers them everywhere; a host that does not
// have a group is not told of them, and refuses its calls.
import type { methods, registrations, SepMethodName, SepRegistrationKey } from '@tenon/protocol/sep/wire';
import type { SepParams, SepRegistration, SepResult } from '@tenon/protocol/sep';
import type { CallContext } from './definitions.ts';

type Beyond<Direction> = {
  [Name in SepMethodName]: (typeof methods)[Name] extends { readonly beyond: true; readonly direction: Direction } ? Name : never;
}[SepMethodName];

/** What the host can be asked for. */
export type SeamCalls = {
  [Name in Beyond<'to-host'>]: { readonly params: SepParams<Name>; readonly result: SepResult<Name> };
};

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

export interface Seams {
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
}
