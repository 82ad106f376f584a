// What may be done without asking. The strictest of three says decides: the permission mode of the session, the exec
// policy of the operator, and whether there is a sandbox. "Always for exactly this" is asked last and only lifts an `ask`.
import type { PermissionMode } from '@tenon/protocol';
import { canonical } from '../kernel/canonical.ts';
import { sha256 } from '../kernel/ids.ts';
import { type ExecPolicy, execVerdict } from './tools/exec-policy.ts';
import type { PreparedCall } from './tools/tool.ts';

export interface Verdict {
  readonly verdict: 'allow' | 'ask' | 'deny';
  /** In words, for the approval, the tool card and `tools.effective`. */
  readonly reason: string;
}

export function judge(call: Pick<PreparedCall, 'risk' | 'exec'>, mode: PermissionMode, exec: ExecPolicy): Verdict {
  if (call.risk === 'read') return { verdict: 'allow', reason: 'It only reads' };
  if (mode === 'deny') return { verdict: 'deny', reason: 'The permission mode is deny: this session may only read' };
  if (call.risk === 'exec') return judgeExec(call, mode, exec);
  if (mode === 'bypass') return { verdict: 'allow', reason: 'The permission mode is bypass' };
  if (call.risk === 'write' && mode === 'accept-edits') return { verdict: 'allow', reason: 'The permission mode is accept-edits' };
  return { verdict: 'ask', reason: `The permission mode is ${mode}: this asks first` };
}

function judgeExec(call: Pick<PreparedCall, 'exec'>, mode: PermissionMode, exec: ExecPolicy): Verdict {
  const said = execVerdict(call.exec?.argv ?? [], { ...exec, sandboxed: call.exec?.sandboxed ?? exec.sandboxed });
  // Bypass is about asking: what the operator denies stays denied, and no sandbox still asks unless the operator said otherwise.
  if (said.verdict !== 'ask' || mode !== 'bypass') return said;
  const sandboxed = call.exec?.sandboxed ?? exec.sandboxed;
  return sandboxed || exec.unsandboxed === 'policy' ? { verdict: 'allow', reason: 'The permission mode is bypass' } : said;
}

/** Over everything that decides what happens, so that an answer holds for exactly this and nothing else. */
export function digestOf(toolName: string, call: Pick<PreparedCall, 'exact' | 'exec'>): string {
  const exec = call.exec === undefined ? null : { argv: [...call.exec.argv], cwd: call.exec.cwd, env: { ...call.exec.env } };
  return sha256(canonical({ tool: toolName, exact: call.exact, exec }));
}
