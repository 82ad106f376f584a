// Every hook: name → kind, event, result, merge, failure policy, timeout, SEP name. The runner, the types of `api.on`, the
// bridge to extensions, the reference docs and the contract tests are derived from these rows. A hook stands here only if
// this gateway has the thing that it is about; `absentHooks` says which known names are missing and why.
import type { Static } from 'typebox';
import { messageHooks } from './hooks/messages.ts';
import { modelHooks } from './hooks/model.ts';
import { promptHooks } from './hooks/prompt.ts';
import type { HookSpec } from './hooks/row.ts';
import { scheduleHooks } from './hooks/schedules.ts';
import { sessionHooks } from './hooks/sessions.ts';
import { toolHooks } from './hooks/tools.ts';

export const hooks = {
  ...promptHooks,
  ...modelHooks,
  ...toolHooks,
  ...sessionHooks,
  ...messageHooks,
  ...scheduleHooks,
} satisfies Record<string, HookSpec>;

export type HookName = keyof typeof hooks;
export type HookEvent<Name extends HookName> = Static<(typeof hooks)[Name]['event']>;
export type HookResult<Name extends HookName> = Static<(typeof hooks)[Name]['result']>;

export const hookNames = Object.keys(hooks) as HookName[];

export function isHookName(name: string): name is HookName {
  return Object.hasOwn(hooks, name);
}

/** The row as the table's type says it, for code that works on any row. */
export function hookRow(name: HookName): HookSpec {
  return hooks[name];
}

/** What the operator must have granted to a plugin that takes part. */
export function hookGrant(name: HookName): string {
  return `${hookRow(name).kind === 'observe' ? 'hooks.observe' : 'hooks.intercept'}:${name}`;
}

/** Names that other hosts have and this one does not: a registration is refused with the reason. */
export const absentHooks: Readonly<Record<string, string>> = {
  inbound_claim:
    'a conversation of a channel belongs to its session and to no plugin; `input` and `before_agent_reply` can answer in place of the agent',
  channel_pairing_requested: 'people of a channel are not paired',
  before_dispatch: 'a message is dispatched in one way only; `input` can handle it',
  reply_dispatch: 'an answer is sent in one way only; `message_sending` can stop it',
  reply_payload_sending: 'an answer goes out whole; `message_sending` can change it',
  subagent_spawned: 'there are no subagents yet',
  subagent_progress: 'there are no subagents yet',
  subagent_ended: 'there are no subagents yet',
  subagent_delivery_target: 'there are no subagents yet',
  skill_proposal_evaluate: 'there are no skills yet',
  skill_proposal_changed: 'there are no skills yet',
  skill_changed: 'there are no skills yet',
  before_install: 'plugins are not installed by the gateway yet',
};
