// `exec/run`: a program, through the policy, the approvals and the sandbox of the agent's own tool, in the session of the dispatch
// whose context the extension gives. It ends with that dispatch.
import { errors, texts } from '@tenon/protocol/sep/wire';
import type { RunProgram } from '../../plugin-programs.ts';
import type { Dispatch } from './dispatches.ts';
import { RpcError } from '../connection/rpc-error.ts';
import type { Served } from './serve.ts';

export interface ServeExecDeps {
  readonly extension: string;
  readonly runProgram: RunProgram | undefined;
}

export function serveExec({ extension, runProgram }: ServeExecDeps): Served {
  /** How many each dispatch has asked for. */
  const asked = new WeakMap<Dispatch, number>();

  /** Of a tool: the same when the call is made again, so that what was answered then stands. Each is asked about once. */
  function idOf(dispatch: Dispatch): string | undefined {
    const nth = (asked.get(dispatch) ?? 0) + 1;
    asked.set(dispatch, nth);
    return dispatch.callId === undefined ? undefined : `${dispatch.callId}/${extension}-${nth}`;
  }

  return {
    async 'exec/run'({ command, args = [], cwd }, { signal, dispatch }) {
      if (dispatch?.sessionKey === undefined || !runProgram)
        throw new RpcError(errors.ContextViolation.code, 'exec/run needs the context of a dispatch that is about a session');
      const { sessionKey, runId, callId, toolCallId } = dispatch;
      const call = { id: idOf(dispatch), about: callId ?? toolCallId };
      const wish = { plugin: extension, sessionKey, runId, ...call, hold: () => dispatch.hold(), argv: [command, ...args], cwd };
      const outcome = await runProgram(wish, AbortSignal.any([signal, dispatch.signal]));
      switch (outcome.kind) {
        case 'ran':
          return { stdout: outcome.stdout, stderr: outcome.stderr, exit_code: outcome.exitCode };
        case 'refused': {
          const { by, plugin, message } = outcome;
          throw new RpcError(errors.Blocked.code, message, { by, ...(plugin === undefined ? {} : { extension: plugin }) });
        }
        case 'invalid':
          throw new RpcError(errors.InvalidParams.code, outcome.message);
        case 'stopped':
          throw new RpcError(errors.Cancelled.code, texts.cancelled);
      }
    },
  };
}
