// `tools/set_active`: an extension narrows the tools of the agent. SEP has no field that says where: with the context of a dispatch it is
// the session of that, and without one the only session that the extension is asked about at the moment; where it is asked about
// none, it is all of them. Without the grant for tools of others, it says so of its own alone.
import type { GrantName } from '@tenon/protocol';
import { errors, limits, texts, type ToolWorld } from '@tenon/protocol/sep/wire';
import type { Log } from '../../../kernel/log.ts';
import type { ActiveTools } from '../../active-tools.ts';
import type { Dispatches } from './dispatches.ts';
import { refused } from './refused.ts';
import { RpcError } from '../connection/rpc-error.ts';
import type { Served } from './serve.ts';
import type { SessionDesk } from './session-desk.ts';
import { agentNameOf, agentNamesIn, isToolOf } from '../bridge/tool-names.ts';

const NARROW = 'tools.narrow' satisfies GrantName;

export interface ServeActiveDeps {
  readonly extension: string;
  readonly log: Log;
  readonly dispatches: Pick<Dispatches, 'asked'>;
  readonly activeTools: ActiveTools;
  readonly desk: Pick<SessionDesk, 'tools'> | undefined;
  /** Whether the operator has granted it, now. */
  readonly holds: (grant: string) => boolean;
  /** By which names it knows the tools of the agent. */
  readonly world: () => ToolWorld;
}

export function serveActive({
  extension,
  log,
  dispatches,
  activeTools,
  desk,
  holds,
  world,
}: ServeActiveDeps): Pick<Served, 'tools/set_active'> {
  const isOwn = (agentName: string) => isToolOf(extension, agentName);
  return {
    'tools/set_active'({ tools, context }, { dispatch }) {
      if (context !== undefined && dispatch === undefined) throw new RpcError(errors.ContextViolation.code, texts.staleContext);
      const sessionKey = dispatch ? dispatch.sessionKey : dispatches.asked();
      if (sessionKey === 'several')
        throw new RpcError(errors.ContextViolation.code, 'calls of several sessions are under way: say which one it is for by `context`');
      const named = agentNamesIn(world(), tools);
      const foreign = holds(NARROW) ? undefined : tools.find((tool) => !isOwn(agentNameOf(tool)));
      if (foreign !== undefined)
        throw new RpcError(
          errors.CapabilityDisabled.code,
          `"${foreign}" is not its own tool: to decide about tools of others takes the grant ${NARROW}, which it does not have`,
          { grant: NARROW },
        );
      if (!activeTools.narrow(extension, sessionKey, named, holds(NARROW) ? undefined : isOwn)) {
        const { value: allowed } = limits.narrowedSessions;
        throw refused('limit', `the tools of ${allowed} sessions are narrowed already`, { limit: 'narrowedSessions', allowed });
      }
      // As it is named in the request, if the agent has it and nobody else has taken it away.
      const offered = new Set(desk?.tools(sessionKey));
      const active = [...new Set(tools)].filter((tool) => [...agentNamesIn(world(), [tool])].some((name) => offered.has(name)));
      log.info({ plugin: extension, sessionKey, active: active.length }, 'an extension has said which tools are active');
      return { active };
    },
  };
}
