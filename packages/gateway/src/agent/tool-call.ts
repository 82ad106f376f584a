// The tool calls of one answer: each passes its gates in order, is marked as started before it runs, and has its result
// in the transcript before the next step. A call that was started in a former life and has no result was interrupted: it
// runs again only if its tool says that this is as good as once.
import {
  grantedFields,
  type AssistantMessage,
  type ImageBlock,
  type JsonObject,
  type TextBlock,
  type ToolCallBlock,
} from '@tenon/protocol';
import { missingGrant } from '../host/missing-grant.ts';
import { faultpoint } from '../kernel/fault.ts';
import { didYouMean } from '../kernel/nearest.ts';
import type { OpenCall } from '../store/calls.ts';
import { faultOf, type NotPassed, passAgain, passGates } from './judge-call.ts';
import { permit, type Refused } from './permit.ts';
import { callsOf } from './prompt.ts';
import { activeTools, type Prompt } from './prompt-hooks.ts';
import { throughMiddleware } from './tool-results.ts';
import { type PreparedCall, type Tool, ToolError, type ToolIo, type ToolOutput } from './tools/tool.ts';
import { type Caller, extendPath, hookContextOf, Parked, type Turn } from './turn-context.ts';

/** What the model is told of a call. */
interface CallResult {
  readonly content: (TextBlock | ImageBlock)[];
  readonly isError: boolean;
  readonly details?: JsonObject;
  readonly provenance?: string;
  readonly durationMs?: number;
  /** The tool did not run. */
  readonly isSynthetic?: true;
}

interface ReadyCall {
  readonly tool: Tool;
  readonly args: JsonObject;
  readonly prepared: PreparedCall;
}

/** Everything that the last answer asked for and that has no result yet. */
export async function runOpenCalls(turn: Turn, prompt: Prompt): Promise<void> {
  const asked = lastCalls(turn);
  if (asked.length === 0) return;
  const { calls } = await turn.deps.store.read('calls.open', { runId: turn.run.runId });
  const tools = calls.map((call) => prompt.tools.find((tool) => tool.name === call.name));
  if (calls.length > 1 && tools.every((tool) => tool?.parallelSafe)) return runSideBySide(turn, prompt, calls, asked);
  for (const call of calls) {
    const ready = await admit(turn, prompt, call, asked);
    const result = 'prepared' in ready ? await perform(turn, call, ready) : ready;
    await persist(turn, call, 'prepared' in ready ? ready.args : call.args, result);
  }
}

/** The gates stay in order and see fresh state; only the work is side by side, and results are written in order. */
async function runSideBySide(turn: Turn, prompt: Prompt, calls: readonly OpenCall[], asked: readonly ToolCallBlock[]): Promise<void> {
  const ready: (ReadyCall | CallResult)[] = [];
  for (const call of calls) ready.push(await admit(turn, prompt, call, asked));
  // All of them are waited for: no tool works on behind a turn that is over, and what was done is kept.
  const results = await Promise.allSettled(
    ready.map(async (each, index) => ('prepared' in each ? await perform(turn, calls[index]!, each) : each)),
  );
  for (const [index, result] of results.entries()) {
    const each = ready[index]!;
    if (result.status === 'fulfilled')
      await persist(turn, calls[index]!, 'prepared' in each ? each.args : calls[index]!.args, result.value);
  }
  const failed = results.find((result) => result.status === 'rejected');
  if (failed) throw failed.reason;
}

/** The calls of the last answer of this run. */
function lastCalls(turn: Turn): readonly ToolCallBlock[] {
  const last = turn.path.findLast(
    (entry) => entry.type === 'message' && entry.message.role === 'assistant' && entry.runId === turn.run.runId,
  );
  return last?.type === 'message' ? callsOf(last.message as AssistantMessage) : [];
}

/** Arguments, plugins, arguments again, permission: what comes out may run, or says why not. */
async function admit(turn: Turn, prompt: Prompt, call: OpenCall, asked: readonly ToolCallBlock[]): Promise<ReadyCall | CallResult> {
  const { control } = turn;
  if (control.isParked()) throw new Parked();
  if (control.isStopped()) return refusal(`Not run: ${control.reason}`);
  const block = asked.find((each) => each.id === call.callId);
  if (block?.malformed !== undefined)
    return refusal(`The arguments of this call are not a JSON object that can be read. They begin with: ${block.malformed.slice(0, 200)}`);
  const tools = activeTools(turn, prompt);
  const tool = tools.find((each) => each.name === call.name);
  if (!tool) {
    const names = tools.map((each) => each.name);
    return refusal(`There is no tool "${call.name.slice(0, 128)}"${didYouMean(call.name, names)}. The tools are: ${names.join(', ')}`);
  }
  if (call.state === 'started' && !tool.idempotent)
    return refusal('The gateway stopped while this call ran. What it did is not known; look before you do it again.', {
      outcome: 'interrupted',
    });
  const fault = faultOf(tool, call.args);
  if (fault) return refusal(fault);

  const admitted = await admitCall(turn, { tool, callId: call.callId, args: call.args });
  if ('refused' in admitted) return refusal(admitted.refused, admitted.outcome && { outcome: admitted.outcome });
  return { tool, ...admitted };
}

export type Admitted = { readonly args: JsonObject; readonly prepared: PreparedCall };

/** Plugins, arguments again, and permission: every call of a tool goes this way, whoever makes it. */
export async function admitCall(
  turn: Caller,
  { tool, callId, args: given, from }: { tool: Tool; callId: string; args: JsonObject; from?: string },
): Promise<Admitted | (Refused & Pick<NotPassed, 'plugin'>)> {
  const passed = await passGates(turn, tool, callId, given);
  if ('refused' in passed) return passed;
  const { args, approval } = passed;

  // Not asked is not allowed: a plugin that may not ask cannot say yes by that.
  if (approval && mayNotAsk(turn, approval.plugin))
    return {
      refused: `Blocked by ${approval.plugin}: it wants the operator to be asked, and ${missingGrant(approval.plugin, grantedFields.requireApproval.grant)}`,
      outcome: 'blocked',
      plugin: approval.plugin,
    };

  const permitted = await permit(turn, { tool, callId, args, asked: approval, from });
  return 'refused' in permitted ? permitted : { args, prepared: permitted };
}

function mayNotAsk({ deps: { plugins } }: Caller, plugin: string): boolean {
  return plugins?.get(plugin) !== undefined && !plugins.holds(plugin, grantedFields.requireApproval.grant);
}

/** Marked as started where that matters, then run. */
async function perform(turn: Turn, call: OpenCall, { tool, args, prepared }: ReadyCall): Promise<CallResult> {
  const { deps, control, voice } = turn;
  // A tool that may run twice is run again whether it had begun or not: it needs no mark.
  if (!tool.idempotent) {
    const { callId, entryId } = call;
    await deps.store.write('calls.start', { key: turn.session.key, runId: turn.run.runId, entryId, callId, args, at: deps.clock.now() });
  }
  faultpoint('call.started');
  voice.tool(call.callId, tool.name, 'started', { subject: prepared.subject, args });
  if (deps.hooks.has('tool_execution_start'))
    deps.hooks.run('tool_execution_start', {
      ...hookContextOf(turn),
      step: turn.steps,
      toolName: tool.name,
      toolCallId: call.callId,
      params: args,
    });
  const startedAt = deps.clock.monotonic();
  const result = await runPrepared(prepared, {
    signal: control.work,
    onUpdate: (output) => voice.tool(call.callId, tool.name, 'output', { output }),
    judgeAgain: (other) => passAgain(turn, tool, call.callId, other),
  });
  faultpoint('call.ran');
  // Killed because the gateway stops: nobody knows what it did, so it stays started and is told as interrupted.
  if (control.isParked() && control.work.aborted) throw new Parked();
  const durationMs = Math.round((deps.clock.monotonic() - startedAt) * 1000) / 1000;
  voice.tool(call.callId, tool.name, 'ended', { isError: result.isError, durationMs, output: shown(result) });
  if (deps.hooks.has('after_tool_call')) {
    const { content, isError, details } = result;
    deps.hooks.run('after_tool_call', {
      ...hookContextOf(turn),
      step: turn.steps,
      toolName: tool.name,
      toolCallId: call.callId,
      params: args,
      result: { content, isError, ...(details ? { details } : {}) },
      ...(isError ? { error: shown(result) } : {}),
      durationMs,
    });
  }
  const { plugins, reportConflict } = deps;
  const place = {
    sessionKey: turn.session.key,
    agentId: turn.agent.id,
    runId: turn.run.runId,
    callId: call.callId,
    toolName: tool.name,
    params: args,
  };
  const changed = plugins ? await throughMiddleware(result, place, plugins, reportConflict) : result;
  return { ...changed, durationMs, details: { subject: prepared.subject, ...changed.details } };
}

/** Contract: must not throw. A tool that throws what it must not is told to the model as a fault of the tool. */
export async function runPrepared(prepared: PreparedCall, io: ToolIo): Promise<CallResult> {
  try {
    const output: ToolOutput = await prepared.run({ ...io, onUpdate: (text) => io.onUpdate(clean(text)) });
    const { content, isError = false, details, provenance } = output;
    return {
      content: content.map((block) => (block.type === 'text' ? { ...block, text: clean(block.text) } : block)),
      isError,
      ...(details === undefined ? {} : { details }),
      ...(provenance === undefined ? {} : { provenance }),
    };
  } catch (error) {
    if (error instanceof ToolError) return refusal(error.message, { code: error.code });
    if (io.signal.aborted) return refusal('Stopped before it was done');
    return refusal(`The tool failed: ${error instanceof Error ? error.message : String(error)}`, { code: 'TOOL_FAULT' });
  }
}

/** What a program wrote may be no text: NUL and halves of characters are refused wherever JSON is read, also by our own clients. */
function clean(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd');
}

/** The result, as plugins leave it, into the transcript. */
async function persist(turn: Turn, call: OpenCall, args: JsonObject, result: CallResult): Promise<void> {
  const { hooks, store, clock } = turn.deps;
  const context = hookContextOf(turn);
  let { content, isError, details } = result;
  const kept = await hooks.run('tool_result_persist', {
    ...context,
    toolName: call.name,
    toolCallId: call.callId,
    params: args,
    content,
    isError,
    ...(details ? { details } : {}),
    ...(result.isSynthetic ? { isSynthetic: true } : {}),
  });
  if (kept.kind === 'done') ({ content, isError, details } = { details: undefined, ...kept.event });
  let message = {
    role: 'toolResult' as const,
    toolCallId: call.callId,
    toolName: call.name,
    content,
    isError,
    ...(details === undefined ? {} : { details }),
    ...(result.provenance === undefined ? {} : { provenance: result.provenance.slice(0, 512) }),
    ...(result.durationMs === undefined ? {} : { durationMs: result.durationMs }),
    timestamp: clock.now(),
  };
  const written = await hooks.run('before_message_write', { ...context, message });
  if (written.kind === 'refused') {
    // A call keeps its result, whatever happens: without one no provider takes the conversation.
    message = { ...message, content: [{ type: 'text', text: `Withheld by ${written.plugin}: ${written.reason}` }], isError: true };
  } else if (written.event.message.role === 'toolResult') message = written.event.message as typeof message;
  message = { ...message, ...sealed(call, result, message.details) };

  const told = {
    sessionKey: turn.session.key,
    agentId: turn.agent.id,
    runId: turn.run.runId,
    toolName: call.name,
    toolCallId: call.callId,
    toolInput: args,
    messageId: call.entryId,
  };
  await hooks.run('before_tool_call_persist', told);
  const { entry } = await store.write('calls.finish', {
    key: turn.session.key,
    runId: turn.run.runId,
    entryId: call.entryId,
    callId: call.callId,
    draft: { type: 'message', message },
    at: clock.now(),
  });
  faultpoint('call.finished');
  await extendPath(turn, [entry]);
  await hooks.run('after_tool_call_persist', { ...told, toolResult: message });
}

/** What no plugin changes: whose result it is, and that a call that was refused or has failed is no success. */
function sealed({ callId, name }: OpenCall, result: CallResult, details: JsonObject | undefined) {
  const owner = { toolCallId: callId, toolName: name };
  if (!result.isSynthetic) return owner;
  return { ...owner, isError: true, ...(result.details ? { details: { ...details, ...result.details } } : {}) };
}

function refusal(text: string, details?: JsonObject): CallResult {
  return { content: [{ type: 'text', text }], isError: true, isSynthetic: true, ...(details ? { details } : {}) };
}

function shown({ content }: CallResult): string {
  return content.map((block) => (block.type === 'text' ? block.text : `[${block.mimeType}]`)).join('\n');
}
