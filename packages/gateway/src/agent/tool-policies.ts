// Policies of plugins that judge a tool call before all hooks. They can only tighten: deny it, ask the operator, or narrow
// its arguments to others that still fit the tool. They are told what the call is about as the tool sees it: real places,
// words, hosts. One that throws, hangs or answers something else denies, and the model is told no more than that.
import { ApprovalRequest, isToolMatched, type JsonObject, matches, type Risk } from '@tenon/protocol';
import type { ToolPolicy } from '@tenon/plugin-sdk';
import { placed } from '../host/call-plugin.ts';
import { Type, type Static } from 'typebox';
import { type ReportConflict, Rewrites, textOf } from '../host/conflicts.ts';
import type { RegisteredItem } from '../host/contribution-registry.ts';
import { copyPlain, freezeDeep } from '../host/plain-data.ts';
import { type PluginParts, readState } from './plugin-tools.ts';
import type { CallFacts, Tool, ToolPlace } from './tools/tool.ts';

const REASON_CHARS = 512;

export interface Judged {
  readonly tool: Tool;
  readonly args: JsonObject;
  readonly place: ToolPlace;
  readonly signal: AbortSignal;
  /** A plugin that was asked before wants the operator to be asked: the arguments stay as they are. */
  readonly approval?: PolicyApproval | undefined;
  readonly reportConflict?: ReportConflict | undefined;
}

export type Judgement =
  /** The operator is asked where `approval` says so; the first plugin that wants it is named. */
  | { readonly kind: 'passed'; readonly args: JsonObject; readonly by: readonly string[]; readonly approval?: PolicyApproval }
  | { readonly kind: 'denied'; readonly plugin: string; readonly reason: string }
  | { readonly kind: 'aborted' };

export type PolicyApproval = ApprovalRequest & { readonly plugin: string };

/** One after another, each on what the one before it left. A denial after a wish to ask still denies. */
export async function judgeByPolicies(call: Judged, plugins: PluginParts): Promise<Judgement> {
  const { tool, signal, place, reportConflict } = call;
  const { sessionKey, runId } = place;
  let { args, approval } = call;
  const by: string[] = [];
  const { trace } = plugins.caller;
  let disagreement: string | undefined;
  const rewrites = new Rewrites((conflict) => {
    disagreement = textOf(conflict);
    reportConflict?.({ place: 'tool_policy', ...conflict, sessionKey, runId });
  });
  let facts: CallFacts | undefined;
  for (const registered of policiesFor(tool, plugins)) {
    const { item, plugin } = registered;
    if (!registered.isLive) continue;
    const state = await readState(plugins, plugin, sessionKey).catch(() => undefined);
    if (!state) return failed(plugin);
    facts ??= await factsOf(tool, args, place).catch(() => undefined);
    if (signal.aborted) return { kind: 'aborted' };
    if (!facts) return { kind: 'denied', plugin, reason: 'what this call is about cannot be told, so its policy cannot judge it' };
    const answer = await plugins.caller.call(
      placed(plugin, 'tool_policy', registered),
      (event: PolicyEvent, own) =>
        item.evaluate(event, {
          state,
          getSessionExtension: state,
          get signal() {
            return own.signal;
          },
        }),
      eventOf(call, args, facts),
      acceptDecision,
      signal,
      place,
    );
    if (!answer.ok) {
      if (answer.kind === 'aborted') return { kind: 'aborted' };
      trace.became(answer, { reason: `${answer.message}; the call is denied` });
      return failed(plugin);
    }
    const { denied, reason = `the policy "${item.id}" does not allow it`, params, requireApproval } = answer.value;
    if (denied) {
      trace.became(answer, { outcome: 'refused', reason });
      return { kind: 'denied', plugin, reason };
    }
    const before = { params: args, approval: approval ?? null };
    disagreement = undefined;
    // What does not fit the tool narrows nothing: the call stays as it is.
    if (params !== undefined && fits(tool, params)) {
      const narrowed = approval === undefined ? params : args;
      rewrites.note(plugin, 'params', params, args, narrowed);
      if (narrowed !== args) {
        args = narrowed;
        by.push(plugin);
        facts = undefined;
      }
    }
    if (requireApproval && approval === undefined) approval = { allowedDecisions: ['allow-once', 'deny'], ...requireApproval, plugin };
    if (trace.isOn) {
      const after = { params: args, approval: approval ?? null };
      trace.became(answer, { outcome: 'changed', before, after, ...(disagreement ? { reason: disagreement } : {}) });
    }
  }
  return { kind: 'passed', args, by, ...(approval === undefined ? {} : { approval }) };
}

/** Those that want to judge calls of this tool, by plugin and in the order in which each registered them. */
export function policiesFor(
  tool: Pick<Tool, 'name'>,
  { registry }: Pick<PluginParts, 'registry'>,
): readonly RegisteredItem<'toolPolicy'>[] {
  return registry.all('toolPolicy').filter(({ item }) => isToolMatched(item.matcher, tool.name));
}

/** Frozen. Rejects where the tool cannot say. */
export async function factsOf(tool: Tool, args: JsonObject, place: ToolPlace): Promise<CallFacts> {
  return freezeDeep({ ...(await tool.facts?.(args, place)) });
}

type PolicyEvent = Parameters<ToolPolicy['evaluate']>[0];

function eventOf({ tool, place }: Judged, args: JsonObject, { risk = tool.risk, ...facts }: CallFacts): PolicyEvent {
  const { sessionKey, agentId, runId, callId, workspace } = place;
  return Object.freeze({
    toolName: tool.name,
    toolCallId: callId,
    params: frozen(args),
    sessionKey,
    agentId,
    runId,
    risk: risk satisfies Risk,
    workspaceDir: workspace,
    ...facts,
  });
}

function failed(plugin: string): Judgement {
  return { kind: 'denied', plugin, reason: 'its policy could not judge this call' };
}

function fits(tool: Tool, params: JsonObject): boolean {
  return tool.faultIn ? tool.faultIn(params) === undefined : matches(tool.parameters, params);
}

const closed = { additionalProperties: false };

/** A verdict, or what a `before_tool_call` handler may answer. */
const Decision = Type.Union([
  Type.Object({ allow: Type.Literal(false), reason: Type.Optional(Type.String()) }, closed),
  Type.Object({ block: Type.Literal(true), blockReason: Type.Optional(Type.String()) }, closed),
  Type.Object(
    {
      allow: Type.Optional(Type.Literal(true)),
      block: Type.Optional(Type.Literal(false)),
      /** What is no plain object is passed over. */
      params: Type.Optional(Type.Unknown()),
      requireApproval: Type.Optional(ApprovalRequest),
    },
    closed,
  ),
]);

interface Accepted {
  readonly denied?: true;
  readonly reason?: string;
  readonly params?: JsonObject;
  readonly requireApproval?: ApprovalRequest;
}

function acceptDecision(raw: unknown): { readonly value: Accepted } | { readonly wrong: string } {
  if (raw === undefined) return { value: {} };
  const copied = copyPlain(raw);
  if ('wrong' in copied) return copied;
  if (!matches(Decision, copied.value)) return { wrong: 'it is not a decision of a policy' };
  const decision: Static<typeof Decision> = copied.value;
  const no = 'allow' in decision && decision.allow === false ? decision.reason : undefined;
  const block = 'block' in decision && decision.block === true ? decision.blockReason : undefined;
  if (('allow' in decision && decision.allow === false) || ('block' in decision && decision.block === true)) {
    const reason = (no ?? block)?.slice(0, REASON_CHARS);
    return { value: { denied: true, ...(reason === undefined ? {} : { reason }) } };
  }
  const { params, requireApproval } = decision as { params?: unknown; requireApproval?: ApprovalRequest };
  const isObject = typeof params === 'object' && params !== null && !Array.isArray(params);
  return { value: { ...(requireApproval ? { requireApproval } : {}), ...(isObject ? { params: params as JsonObject } : {}) } };
}

function frozen(args: JsonObject): JsonObject {
  const copied = copyPlain(args);
  return 'value' in copied ? (copied.value as JsonObject) : args;
}
