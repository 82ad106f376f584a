// Whether a call may run: the tool says exactly what it would do, the policy judges that, and where it says so the
// operator is asked. The answer holds for exactly what was shown.
import type { Approval, JsonObject } from '@tenon/protocol';
import { faultpoint } from '../kernel/fault.ts';
import { digestOf, judge, type Verdict } from './policy.ts';
import { type PreparedCall, type Tool, ToolError, type ToolPlace } from './tools/tool.ts';
import { callContextOf, type Caller, Parked } from './turn-context.ts';

export interface Wanted {
  readonly tool: Tool;
  readonly callId: string;
  readonly args: JsonObject;
  /** A plugin wants the operator to be asked. */
  readonly asked?: PluginQuestion | undefined;
  /** The plugin that makes the call, where it is not the agent. */
  readonly from?: string | undefined;
}

interface PluginQuestion {
  readonly plugin: string;
  readonly title: string;
  readonly description: string;
  readonly detail?: string;
  readonly allowedDecisions?: Approval['allowed'];
  readonly timeoutMs?: number;
}

export interface Refused {
  /** For the model. */
  readonly refused: string;
  /** Who refused, where it was not the tool itself. */
  readonly outcome?: 'denied' | 'blocked';
  /** What said no: the settings of the operator, a person, or that nobody answered in time. */
  readonly by?: 'policy' | 'person' | 'nobody';
}

/** What an approval shows must fit an answer of `approvals.list` many times over. */
const MAX_SHOWN_BYTES = 131_072;
const PLUGIN_TIMEOUT_MS = 120_000;

export async function permit(turn: Caller, { tool, callId, args, asked, from }: Wanted): Promise<PreparedCall | Refused> {
  const prepared = await prepare(turn, tool, callId, args);
  if ('refused' in prepared) return prepared;
  const { deps } = turn;
  // Read now and not when the turn began: who takes a right away from a session means the turn that runs.
  const { session } = await deps.store.read('sessions.get', { key: turn.session.key });
  const mode = session.permissions ?? turn.agent.permissions;
  const said = judge(prepared, mode, await deps.execPolicy());
  if (said.verdict === 'deny') return { refused: `Refused: ${said.reason}`, outcome: 'blocked', by: 'policy' };
  if (mode === 'bypass' && prepared.risk !== 'read') {
    const details = { tool: tool.name, subject: prepared.subject, digest: digestOf(tool.name, prepared), runId: turn.run.runId };
    await deps.store.write('audit.append', {
      actor: turn.principal,
      action: 'tool.bypass',
      target: turn.session.key,
      details,
      at: deps.clock.now(),
    });
  }
  if (said.verdict === 'allow' && !asked) return prepared;

  const bound = await bind(turn, tool, prepared);
  if ('refused' in bound) return bound;
  let isAllowed = false;
  try {
    const answer = await answerFor(turn, { tool, callId, args, asked, from }, bound, said);
    isAllowed = answer === 'allowed';
    return answer === 'allowed' ? bound : answer;
  } finally {
    if (!isAllowed) bound.release?.();
  }
}

async function answerFor(turn: Caller, wanted: Wanted, prepared: PreparedCall, said: Verdict): Promise<'allowed' | Refused> {
  const { deps, control } = turn;
  const { tool, asked } = wanted;
  const digest = digestOf(tool.name, prepared);
  // A rule holds for bytes: where the call may run others, nobody has allowed those.
  if (!asked && isWhollyBound(prepared) && (await deps.approvals.isAlwaysAllowed({ agentId: turn.agent.id, toolName: tool.name, digest })))
    return 'allowed';

  const question = questionOf(turn, wanted, prepared, said, digest);
  if (Buffer.byteLength(JSON.stringify(question)) > MAX_SHOWN_BYTES)
    return { refused: `This call is too large to be shown for approval (over ${MAX_SHOWN_BYTES} bytes); do it in smaller parts` };
  turn.voice.phase('waiting', question.title);
  const approval = await deps.approvals.ask(question, control.waits);
  faultpoint('call.approved');
  switch (approval.state) {
    case 'allowed':
      return 'allowed';
    case 'pending':
      if (control.isParked()) throw new Parked();
      return { refused: `Not run: ${control.reason}` };
    case 'expired':
      return { refused: 'Nobody answered in time, so the operator has not allowed this call', outcome: 'denied', by: 'nobody' };
    case 'voided':
      return { refused: 'The question to the operator was withdrawn, so this call is not allowed', outcome: 'denied', by: 'person' };
    case 'denied':
      return {
        refused: 'The operator denied this call. Do not try to do the same in another way; ask what to do instead.',
        outcome: 'denied',
        by: 'person',
      };
  }
}

async function prepare(turn: Caller, tool: Tool, callId: string, args: JsonObject): Promise<PreparedCall | Refused> {
  const place: ToolPlace = {
    sessionKey: turn.session.key,
    agentId: turn.agent.id,
    runId: turn.run.runId,
    callId,
    workspace: turn.workspace,
    ...(tool.risk === 'exec' ? await execEnv(turn) : {}),
  };
  return refusing(turn, tool, () => tool.prepare(args, place));
}

/** From here on the call is about these bytes, whatever becomes of the files. */
function bind(turn: Caller, tool: Tool, prepared: PreparedCall): Promise<PreparedCall | Refused> {
  return refusing(turn, tool, () => prepared.bind?.() ?? prepared);
}

async function refusing(turn: Caller, tool: Tool, work: () => Promise<PreparedCall> | PreparedCall): Promise<PreparedCall | Refused> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ToolError) return { refused: error.message };
    turn.deps.log.error({ error, tool: tool.name }, 'a tool failed before it ran');
    return { refused: `The tool failed before it ran: ${error instanceof Error ? error.message : String(error)}` };
  }
}

function isWhollyBound({ binding }: PreparedCall): boolean {
  return binding === undefined || binding.notBound.length === 0;
}

async function execEnv(turn: Caller): Promise<{ env?: Record<string, string> }> {
  const { hooks, sandbox } = turn.deps;
  if (!hooks.has('resolve_exec_env')) return {};
  const host = (await sandbox()).kind === 'none' ? 'gateway' : 'sandbox';
  const resolved = await hooks.run('resolve_exec_env', { ...callContextOf(turn), toolName: 'exec', host, env: {} });
  return { env: resolved.event.env };
}

/** A plugin asks each time anew: "always" would say yes to the policy, which is not what it asked. */
function pluginDecisions({ allowedDecisions = ['allow-once', 'deny'] }: PluginQuestion): Approval['allowed'] {
  const offered = allowedDecisions.filter((decision) => decision !== 'allow-always');
  return offered.includes('deny') ? offered : [...offered, 'deny'];
}

function decisionsFor(prepared: PreparedCall): Approval['allowed'] {
  return isWhollyBound(prepared) ? ['allow-once', 'allow-always', 'deny'] : ['allow-once', 'deny'];
}

function questionOf(turn: Caller, { tool, callId, asked, from }: Wanted, prepared: PreparedCall, said: Verdict, digest: string) {
  const { deps, run, session, agent, principal } = turn;
  const at = deps.clock.now();
  const { exec, binding } = prepared;
  return {
    key: session.key,
    runId: run.runId,
    callId,
    agentId: agent.id,
    toolName: tool.name,
    ...(asked ? { pluginId: asked.plugin } : from === undefined ? {} : { pluginId: from }),
    title: (asked?.title ?? prepared.question).slice(0, 512),
    reason: (asked ? `${asked.plugin}: ${asked.description}` : from === undefined ? said.reason : `${from} wants it. ${said.reason}`).slice(
      0,
      512,
    ),
    risk: prepared.risk,
    ...(exec ? { argv: [...exec.argv], cwd: exec.cwd, env: { ...exec.env } } : {}),
    ...(binding && binding.bound.length > 0 ? { bound: [...binding.bound] } : {}),
    ...(binding && binding.notBound.length > 0 ? { notBound: [...binding.notBound] } : {}),
    args: prepared.exact,
    digest,
    principal,
    allowed: asked ? pluginDecisions(asked) : decisionsFor(prepared),
    // What the operator has set stands above what a plugin wants.
    expiresAt: at + Math.min(asked ? (asked.timeoutMs ?? PLUGIN_TIMEOUT_MS) : deps.bounds.approvalMs, deps.bounds.approvalMs),
    at,
  };
}
