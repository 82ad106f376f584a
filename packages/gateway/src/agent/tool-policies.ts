// Policies of plugins that judge a tool call before all hooks. They can only tighten: deny it, ask the operator, or narrow
// its arguments to others that still fit the tool. One that throws, hangs or answers something else denies, and the model
// is told no more than that.
import { type ApprovalRequest, type JsonObject, matches } from '@tenon/protocol';
import type { PolicyDecision } from '@tenon/plugin-sdk';
import { Type } from 'typebox';
import { copyPlain } from '../host/plain-data.ts';
import { type PluginParts, readState } from './plugin-tools.ts';
import type { Tool } from './tools/tool.ts';

const TIMEOUT_MS = 5_000;
const REASON_CHARS = 512;

export interface Judged {
  readonly tool: Tool;
  readonly args: JsonObject;
  readonly sessionKey: string;
  readonly agentId: string;
  readonly signal: AbortSignal;
}

export type Judgement =
  /** The operator is asked where `approval` says so; the first plugin that wants it is named. */
  | { readonly kind: 'passed'; readonly args: JsonObject; readonly by: readonly string[]; readonly approval?: PolicyApproval }
  | { readonly kind: 'denied'; readonly plugin: string; readonly reason: string }
  | { readonly kind: 'aborted' };

export type PolicyApproval = ApprovalRequest & { readonly plugin: string };

/** One after another, each on what the one before it left. A denial after a wish to ask still denies. */
export async function judgeByPolicies(call: Judged, plugins: PluginParts): Promise<Judgement> {
  const { tool, sessionKey, agentId, signal } = call;
  let { args } = call;
  const by: string[] = [];
  let approval: PolicyApproval | undefined;
  for (const { item, plugin, isLive } of plugins.registry.all('toolPolicy')) {
    if (!isLive || (item.matcher && !item.matcher.includes(tool.name))) continue;
    const state = await readState(plugins, plugin, sessionKey).catch(() => undefined);
    if (!state) return failed(plugin);
    const answer = await plugins.caller.call(
      { plugin, place: 'tool_policy', timeoutMs: TIMEOUT_MS },
      (event: Parameters<typeof item.evaluate>[0], own) =>
        item.evaluate(event, {
          state,
          getSessionExtension: state,
          get signal() {
            return own.signal;
          },
        }),
      Object.freeze({ toolName: tool.name, params: frozen(args), sessionKey, agentId, risk: tool.risk }),
      acceptDecision,
      signal,
    );
    if (!answer.ok) return answer.kind === 'aborted' ? { kind: 'aborted' } : failed(plugin);
    const decision = answer.value;
    if (decision.allow === false) return { kind: 'denied', plugin, reason: decision.reason ?? `the policy "${item.id}" does not allow it` };
    // What does not fit the tool narrows nothing: the call stays as it is.
    if (approval === undefined && decision.params !== undefined && fits(tool, decision.params)) {
      args = decision.params;
      by.push(plugin);
    }
    if (decision.requireApproval && approval === undefined)
      approval = { ...decision.requireApproval, allowedDecisions: ['allow-once', 'deny'], plugin };
  }
  return { kind: 'passed', args, by, ...(approval === undefined ? {} : { approval }) };
}

function failed(plugin: string): Judgement {
  return { kind: 'denied', plugin, reason: 'its policy could not judge this call' };
}

function fits(tool: Tool, params: JsonObject): boolean {
  return tool.faultIn ? tool.faultIn(params) === undefined : matches(tool.parameters, params);
}

const Text = (maxLength: number) => Type.String({ minLength: 1, maxLength });

const Decision = Type.Union([
  Type.Object({ allow: Type.Literal(false), reason: Type.Optional(Type.String()) }, { additionalProperties: false }),
  Type.Object(
    {
      allow: Type.Optional(Type.Literal(true)),
      /** What is no plain object is passed over (A10). */
      params: Type.Optional(Type.Unknown()),
      requireApproval: Type.Optional(
        Type.Object({ title: Text(80), description: Type.String({ maxLength: 512 }) }, { additionalProperties: false }),
      ),
    },
    { additionalProperties: false },
  ),
]);

interface Accepted {
  readonly allow?: boolean;
  readonly reason?: string;
  readonly params?: JsonObject;
  readonly requireApproval?: { readonly title: string; readonly description: string };
}

function acceptDecision(raw: unknown): { readonly value: Accepted } | { readonly wrong: string } {
  if (raw === undefined) return { value: {} };
  const copied = copyPlain(raw);
  if ('wrong' in copied) return copied;
  if (!matches(Decision, copied.value)) return { wrong: 'it is not a decision of a policy' };
  const decision = copied.value as PolicyDecision;
  if (decision.allow === false)
    return { value: { allow: false, ...(decision.reason === undefined ? {} : { reason: decision.reason.slice(0, REASON_CHARS) }) } };
  const { params, ...rest } = decision;
  const isObject = typeof params === 'object' && params !== null && !Array.isArray(params);
  return { value: { ...rest, ...(isObject ? { params } : {}) } };
}

function frozen(args: JsonObject): JsonObject {
  const copied = copyPlain(args);
  return 'value' in copied ? (copied.value as JsonObject) : args;
}
