// A message that a channel brings in becomes a turn of the session of whoever says it. It is told to the agent as it is: a
// sender of a channel is nobody who may use commands.
import { DEFAULT_AGENT_ID, GatewayError } from '@tenon/protocol';
import type { InboundMessage } from '../host/receive-message.ts';
import type { HookRunner } from '../host/run-hook.ts';
import type { Clock } from '../kernel/clock.ts';
import { randomId, sha256 } from '../kernel/ids.ts';
import type { Store } from '../store/store.ts';
import type { AgentBook } from './agents.ts';
import type { Composer } from './composer.ts';
import type { Turns } from './service.ts';

interface Deps {
  readonly store: Store;
  readonly clock: Clock;
  readonly agents: AgentBook;
  readonly composer: Composer;
  readonly turns: Pick<Turns, 'accepted'>;
  readonly hooks: Pick<HookRunner, 'has' | 'run'>;
}

const TITLE_CHARS = 80;

/** Contract: throws only GatewayError, and what the store throws. */
export async function receiveMessage(
  { channel, from, text, agentId = DEFAULT_AGENT_ID, messageId }: InboundMessage,
  { store, clock, agents, composer, turns, hooks }: Deps,
): Promise<{ sessionKey: string; runId: string; duplicate?: true }> {
  const agent = agents.get(agentId);
  if (!agent) throw new GatewayError('INVALID_REQUEST', `message/agentId: there is no agent "${agentId}"`);
  const sessionKey = `agent:${agentId}:${channel}:${from}`;
  const runId = messageId === undefined ? `m${randomId()}` : `m${sha256(`${channel}\n${from}\n${messageId}`).slice(0, 40)}`;
  if (composer.mayBeClosed()) await composer.requireOpen(sessionKey);
  try {
    await store.write('runs.accept', {
      key: sessionKey,
      runId,
      content: [{ type: 'text', text }],
      defaultMode: agent.queue,
      trigger: 'user',
      principal: `channel:${channel}`,
      options: {},
      title: text.trim().split('\n', 1)[0]?.slice(0, TITLE_CHARS) ?? '',
      route: { channel, to: from },
      at: clock.now(),
    });
  } catch (error) {
    if (!isKnown(error)) throw error;
    return { sessionKey, runId, duplicate: true };
  }
  turns.accepted(sessionKey);
  if (hooks.has('message_received')) {
    const named = messageId === undefined ? {} : { messageId };
    void hooks.run('message_received', { sessionKey, agentId, runId, channel, from, content: text, ...named });
  }
  return { sessionKey, runId };
}

function isKnown(error: unknown): boolean {
  return error instanceof GatewayError && (error.details as { code?: string } | undefined)?.code === 'RUN_EXISTS';
}
