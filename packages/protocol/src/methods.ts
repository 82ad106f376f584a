// Every RPC method: name → scope, params, result, and what a repeat does. Dispatch, client types, the feature list of
// `hello-ok`, the reference docs, JSON Schema, Swift models and the contract tests are derived from these rows.
import type { Static } from 'typebox';
import { accessMethods } from './methods/access.ts';
import { agentMethods } from './methods/agents.ts';
import { attachmentMethods } from './methods/attachments.ts';
import { chatMethods } from './methods/chat.ts';
import { peopleMethods } from './methods/people.ts';
import { pluginMethods } from './methods/plugins.ts';
import type { MethodSpec } from './methods/row.ts';
import { scheduleMethods } from './methods/schedules.ts';
import { sessionMethods } from './methods/sessions.ts';
import { systemMethods } from './methods/system.ts';
import { traceMethods } from './methods/trace.ts';
import { transcriptMethods } from './methods/transcripts.ts';

export const methods = {
  ...systemMethods,
  ...sessionMethods,
  ...transcriptMethods,
  ...chatMethods,
  ...agentMethods,
  ...accessMethods,
  ...pluginMethods,
  ...traceMethods,
  ...scheduleMethods,
  ...attachmentMethods,
  ...peopleMethods,
} satisfies Record<string, MethodSpec>;

export type MethodName = keyof typeof methods;
export type Params<Method extends MethodName> = Static<(typeof methods)[Method]['params']>;
export type Result<Method extends MethodName> = Static<(typeof methods)[Method]['result']>;
export type KeyedMethod = { [M in MethodName]: (typeof methods)[M]['repeat'] extends 'keyed' ? M : never }[MethodName];

export const methodNames = Object.keys(methods) as MethodName[];

export function isMethodName(name: string): name is MethodName {
  return Object.hasOwn(methods, name);
}

/** The row as the table's type says it, for code that works on any row. */
export function methodRow(name: MethodName): MethodSpec {
  return methods[name];
}
