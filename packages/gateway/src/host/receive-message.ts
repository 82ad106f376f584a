// Messages that a channel brings in. Each person of a channel has a session of their own under the name of the channel, so that
// no channel speaks in, or carries away, what is said elsewhere; what is answered there goes back the same way.
import { ChannelId, OwnerId, limits } from '@tenon/protocol';
import type { ReceiveOutcome } from '@tenon/plugin-sdk';
import { Type, type Static } from 'typebox';
import type { ContributionRegistry } from './contribution-registry.ts';
import { barrier, refusalOf, refuse, take } from './late-call.ts';
import type { PluginLoad } from './plugin-load.ts';

const InboundMessage = Type.Object(
  {
    channel: ChannelId,
    /** Who says it, in the words of the channel; also where answers go. */
    from: Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._@+-]{0,127}$', description: 'up to 128 letters, digits, ., _, @, + and -' }),
    text: Type.String({ minLength: 1, maxLength: limits.messageChars.value, pattern: '\\S' }),
    agentId: Type.Optional(OwnerId),
    /** What the channel calls it: the same one is taken once. */
    messageId: Type.Optional(Type.String({ minLength: 1, maxLength: 512 })),
  },
  { additionalProperties: false },
);
export type InboundMessage = Static<typeof InboundMessage>;

export interface ReceiveDeps {
  readonly registry: ContributionRegistry;
  /** Says it to the agent. Throws GatewayError where it cannot be said. */
  readonly receive: (
    message: InboundMessage,
  ) => Promise<{ readonly sessionKey: string; readonly runId: string; readonly duplicate?: true }>;
}

export function createReceive(load: PluginLoad, { registry, receive }: ReceiveDeps): (given: unknown) => Promise<ReceiveOutcome> {
  return async (given) => {
    const blocked = barrier(load, 'channels.receive');
    if (blocked) return blocked;
    const taken = take(InboundMessage, given, 'message');
    if ('refused' in taken) return taken.refused;
    const { channel } = taken.value;
    const { plugin } = load.facts;
    if (!registry.find('channel', plugin, channel)) return refuse('invalid', `plugin ${plugin} does not serve the channel "${channel}"`);
    try {
      return Object.freeze({ ok: true, ...(await receive(taken.value)) });
    } catch (error) {
      return refusalOf(error);
    }
  };
}
