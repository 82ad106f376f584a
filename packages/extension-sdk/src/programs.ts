// Programs that the host runs for the extension, under the policy and the approvals of its `exec` tool.
import type { AskHost, DispatchContext } from './host.ts';
import { RpcError } from './rpc-error.ts';
import { errorCode } from './wire.ts';

export interface ExecOptions {
  /** Otherwise the workspace. */
  readonly cwd?: string;
  /** Milliseconds. */
  readonly timeout?: number;
  readonly signal?: AbortSignal;
}

export interface ExecResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number;
  /** It was ended by `timeout` or `signal`. */
  readonly killed: boolean;
}

/** No shell. A program that fails has a code; a program that was not allowed rejects with an `RpcError`. */
export type ProgramRuns = (command: string, args?: readonly string[], options?: ExecOptions) => Promise<ExecResult>;

export function createProgramRuns(ask: AskHost, contextOf: () => DispatchContext, signalOf?: () => AbortSignal): ProgramRuns {
  return async (command, args = [], { cwd, timeout, signal } = {}) => {
    const callSignal = signalOf?.();
    const signals = [callSignal, signal].filter((each) => each !== undefined);
    try {
      const { stdout, stderr, exit_code } = await ask<{ stdout: string; stderr: string; exit_code: number }>(
        'exec/run',
        { command, args, cwd, context: contextOf() },
        { timeoutMs: timeout, signal: signals.length === 0 ? undefined : AbortSignal.any(signals) },
      );
      return { stdout, stderr, code: exit_code, killed: false };
    } catch (thrown) {
      const isCancelled = thrown instanceof RpcError && thrown.code === errorCode.Cancelled;
      if (!isCancelled || callSignal?.aborted) throw thrown;
      return { stdout: '', stderr: thrown.message, code: KILLED, killed: true };
    }
  };
}

/** As a shell says of a program that was ended by SIGTERM. */
const KILLED = 143;
