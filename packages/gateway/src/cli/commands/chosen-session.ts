// Which session a chat or a run is about: named whole, by its name under an agent, or not at all.
import { usageError } from '../failure.ts';

interface Choice {
  readonly session: string | undefined;
  readonly agent: string | undefined;
}

/** The key that `--session` and `--agent` mean together; nothing if neither names a session. */
export async function chosenSession({ session, agent }: Choice): Promise<string | undefined> {
  if (session === undefined) return undefined;
  const { DEFAULT_AGENT_ID } = await import('@tenon/protocol');
  if (!session.startsWith('agent:')) return `agent:${agent ?? DEFAULT_AGENT_ID}:${session}`;
  if (agent !== undefined && session.split(':')[1] !== agent) {
    throw usageError(`--session ${session} is not one of the agent ${agent}; leave one of the two out`);
  }
  return session;
}
