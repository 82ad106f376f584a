// `ui/request`: which session it is about, and what its refusals are on the wire. An extension that gives the context of a dispatch
// asks the people of that session. SEP has no such field, so without one it is the only session that the extension is asked
// about at the moment, or else the last one; where several are possible nobody is asked, because it could be the wrong people.
import { GatewayError } from '@tenon/protocol';
import { errors, interactiveUiKinds, texts } from '@tenon/protocol/sep/wire';
import type { Dispatch, Dispatches } from './dispatches.ts';
import type { People } from './people.ts';
import { RpcError } from '../connection/rpc-error.ts';
import type { Served } from './serve.ts';

export interface ServeUiDeps {
  readonly extension: string;
  readonly dispatches: Pick<Dispatches, 'where' | 'underWayIn'>;
  readonly people: People | undefined;
}

/** Questions of one dispatch for which its time stands still: who asks for ever does not wait for ever. */
const HELD = 10;

export function serveUi({ extension, dispatches, people }: ServeUiDeps): Pick<Served, 'ui/request'> {
  const asked = new WeakMap<Dispatch, number>();

  /** The time that people take is not that of the extension. */
  function hold(those: readonly Dispatch[]): (() => void)[] {
    return those.flatMap((each) => {
      const count = (asked.get(each) ?? 0) + 1;
      asked.set(each, count);
      return count > HELD ? [] : [each.hold()];
    });
  }

  return {
    async 'ui/request'(request, { dispatch, signal, generation }) {
      if (!people) throw new RpcError(errors.NoUI.code, texts.noUi(request.kind));
      const sessionKey = dispatch?.sessionKey ?? dispatches.where();
      if (sessionKey === 'several')
        throw new RpcError(errors.ContextViolation.code, 'calls of several sessions are under way: say which one it is for by `context`');
      // Nobody has had to do with it yet.
      if (sessionKey === undefined) return { cancelled: true };
      // What was begun for a call ends with it.
      const ended = dispatch?.tier === 'command' ? AbortSignal.any([signal, dispatch.signal]) : signal;
      const holds = interactiveUiKinds.includes(request.kind) ? hold(dispatch ? [dispatch] : dispatches.underWayIn(sessionKey)) : [];
      try {
        return await people.request({ sessionKey, extension, generation }, request, ended);
      } catch (error) {
        throw error instanceof GatewayError ? refusalOf(error) : error;
      } finally {
        for (const release of holds) release();
      }
    },
  };
}

function refusalOf({ code, message, details }: GatewayError): RpcError {
  if (code === 'INVALID_REQUEST') return new RpcError(errors.InvalidParams.code, message);
  if ((details as { code?: unknown } | undefined)?.code === 'NO_UI') return new RpcError(errors.NoUI.code, message);
  const reason = code === 'NOT_FOUND' ? 'no-session' : code === 'TOO_LARGE' ? 'limit' : 'unavailable';
  return new RpcError(errors.Refused.code, message, { reason });
}
