// What plugins say to a tool call before it may run: policies, then hooks, and policies once more where hooks have changed the
// arguments, so that no hook leads around a policy. What comes out fits the tool, or says why the call is not made.
import { explain, type HookEvent, type JsonObject, matches } from '@tenon/protocol';
import { factsOf, judgeByPolicies, type Judgement, policiesFor, type PolicyApproval } from './tool-policies.ts';
import { type CallFacts, type Tool, ToolError, type ToolPlace } from './tools/tool.ts';
import { callContextOf, type Caller, Parked } from './turn-context.ts';

export interface Passed {
  readonly args: JsonObject;
  readonly approval: HookEvent<'before_tool_call'>['approval'];
}

export interface NotPassed {
  /** For the model. */
  readonly refused: string;
  readonly outcome?: 'blocked';
  /** Who said no. */
  readonly plugin?: string;
}

export async function passGates(turn: Caller, tool: Tool, callId: string, args: JsonObject): Promise<Passed | NotPassed> {
  const { control, deps } = turn;
  const place = placeOf(turn, callId);
  const judged = await judge(turn, tool, place, args);
  if (control.isParked()) throw new Parked();
  if (judged.kind !== 'passed') return refusalOf(judged, turn);
  if (!deps.hooks.has('before_tool_call')) return { args: judged.args, approval: judged.approval };

  const facts: CallFacts = await factsOf(tool, judged.args, place).catch(() => ({}));
  const { risk = tool.risk, derivedPaths, commandWords, hosts } = facts;
  const gate = await deps.hooks.run(
    'before_tool_call',
    {
      ...callContextOf(turn),
      toolName: tool.name,
      toolCallId: callId,
      params: judged.args,
      risk,
      ...(derivedPaths ? { derivedPaths } : {}),
      ...(commandWords ? { commandWords } : {}),
      ...(hosts ? { hosts } : {}),
      ...(judged.approval ? { approval: judged.approval } : {}),
    },
    { signal: control.waits },
  );
  if (control.isParked()) throw new Parked();
  if (gate.kind === 'refused') return { refused: `Blocked by ${gate.plugin}: ${gate.reason}`, outcome: 'blocked', plugin: gate.plugin };
  const { params, approval } = gate.event;
  if (params === judged.args) return { args: params, approval };
  const fault = faultOf(tool, params);
  if (fault) return { refused: `${gate.by.join(', ')} changed the arguments so that they no longer fit: ${fault}` };
  const again = await judge(turn, tool, place, params, approval);
  if (control.isParked()) throw new Parked();
  return again.kind === 'passed' ? { args: again.args, approval: again.approval } : refusalOf(again, turn);
}

/** A call that runs has come to other arguments, such as where a page leads. Contract: throws ToolError when it must not go on. */
export async function passAgain(turn: Caller, tool: Tool, callId: string, args: JsonObject): Promise<void> {
  const passed = await passGates(turn, tool, callId, args).catch((error: unknown) => {
    throw error instanceof Parked ? new ToolError('STOPPED', 'The gateway stops before this is done; try again') : error;
  });
  const where = JSON.stringify(args).slice(0, 400);
  if ('refused' in passed) throw new ToolError('REFUSED', `It leads to ${where}, which is not allowed. ${passed.refused}`);
  if (passed.approval)
    throw new ToolError('REFUSED', `It leads to ${where}, and ${passed.approval.plugin} wants to be asked first: call the tool with that`);
  if (passed.args !== args) throw new ToolError('REFUSED', `It leads to ${where}, and plugins want other arguments for that`);
}

/** What keeps arguments from fitting a tool, for the model. */
export function faultOf(tool: Tool, args: JsonObject): string | undefined {
  if (tool.faultIn) {
    const fault = tool.faultIn(args);
    return fault && `The arguments do not fit the tool "${tool.name}": ${fault}`;
  }
  if (matches(tool.parameters, args)) return undefined;
  return `The arguments do not fit the tool "${tool.name}": ${explain(tool.parameters, args, 'arguments') ?? 'see its parameters'}`;
}

function judge(turn: Caller, tool: Tool, place: ToolPlace, args: JsonObject, approval?: PolicyApproval): Judgement | Promise<Judgement> {
  const { plugins, reportConflict } = turn.deps;
  const guard = plugins?.missingGuard('tool_policy');
  if (guard) return { kind: 'denied', plugin: guard.plugin, reason: guard.reason };
  if (!plugins || policiesFor(tool, plugins).length === 0) return { kind: 'passed', args, by: [], ...(approval ? { approval } : {}) };
  return judgeByPolicies({ tool, args, place, signal: turn.control.waits, approval, reportConflict }, plugins);
}

function refusalOf(judged: Exclude<Judgement, { kind: 'passed' }>, { control }: Caller): NotPassed {
  if (judged.kind === 'aborted') return { refused: `Not run: ${control.reason}` };
  return { refused: `Blocked by ${judged.plugin}: ${judged.reason}`, outcome: 'blocked', plugin: judged.plugin };
}

function placeOf({ session, agent, run, workspace }: Caller, callId: string): ToolPlace {
  return { sessionKey: session.key, agentId: agent.id, runId: run.runId, callId, workspace };
}
