// `tools/set_active`: an extension narrows the tools of the agent. SEP has no field that says where: with the context of a dispatch it is
// the session of that, and without one the only session that the extension is asked about at the moment; where it is asked about
// none, it is all of them.
import { errors, limits, texts } from '@tenon/protocol/sep/wire';
import type { Log } from '../../../kernel/log.ts';
import type { ActiveTools } from '../../active-tools.ts';
import type { Dispatches } from './dispatches.ts';
import { refused } from './refused.ts';
import { RpcError } from '../connection/rpc-error.ts';
import type { Served } from './serve.ts';
import type { SessionDesk } from './session-desk.ts';
import { agentNameOf } from '../bridge/tool-names.ts';

export interface ServeActiveDeps {
  readonly extension: string;
  readonly log: Log;
  readonly dispatches: Pick<Dispatches, 'asked'>;
  readonly activeTools: ActiveTools;
  readonly desk: Pick<SessionDesk, 'tools'> | undefined;
}

export function serveActive({ extension, log, dispatches, activeTools, desk }: ServeActiveDeps): Pick<Served, 'tools/set_active'> {
  return {
    'tools/set_active'({ tools, context }, { dispatch }) {
      if (context !== undefined && dispatch === undefined) throw new RpcError(errors.ContextViolation.code, texts.staleContext);
      const sessionKey = dispatch ? dispatch.sessionKey : dispatches.asked();
      if (sessionKey === 'several')
        throw new RpcError(errors.ContextViolation.code, 'calls of several sessions are under way: say which one it is for by `context`');
      if (!activeTools.narrow(extension, sessionKey, new Set(tools.map(agentNameOf)))) {
        const { value: allowed } = limits.narrowedSessions;
        throw refused('limit', `the tools of ${allowed} sessions are narrowed already`, { limit: 'narrowedSessions', allowed });
      }
      // As it is named in the request, if the agent has it and nobody else has taken it away.
      const offered = new Set(desk?.tools(sessionKey));
      const active = [...new Set(tools)].filter((tool) => offered.has(agentNameOf(tool)));
      log.info({ plugin: extension, sessionKey, active: active.length }, 'an extension has said which tools are active');
      return { active };
    },
  };
}
