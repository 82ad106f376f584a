// Messages that a channel brings in. Each person of a channel has a session of their own under the name of the channel, so that
// no channel speaks in, or carries away, what is said elsewhere; what is answered there goes back the same way. Files come from
// where the plugin may send some from, under the same rules.
import { DEFAULT_AGENT_ID, lateParams, type LateParams } from '@tenon/protocol';
import type { ReceiveOutcome, Refused } from '@tenon/plugin-sdk';
import type { ContributionRegistry } from './contribution-registry.ts';
import { barrier, refusalOf, refuse, take } from './late-call.ts';
import type { PluginLoad } from './plugin-load.ts';
import { type FileDeps, takeFiles, type TakenFile } from './send-attachment.ts';

const call = 'channels.receive';
export type InboundMessage = LateParams<typeof call>;

interface Received {
  readonly sessionKey: string;
  readonly runId: string;
  readonly duplicate?: true;
}

export interface ReceiveDeps extends FileDeps {
  readonly registry: ContributionRegistry;
  /** Says it to the agent, with the files that are taken then. Throws GatewayError where it cannot be said. */
  readonly receive: (message: InboundMessage, files: () => Promise<readonly TakenFile[] | Refused>) => Promise<Received | Refused>;
}

export function sessionKeyOf({ agentId = DEFAULT_AGENT_ID, channel, from }: InboundMessage): string {
  return `agent:${agentId}:${channel}:${from}`;
}

export function createReceive(load: PluginLoad, deps: ReceiveDeps): (given: unknown) => Promise<ReceiveOutcome> {
  return async (given) => {
    const blocked = barrier(load, call);
    if (blocked) return blocked;
    const taken = take(lateParams[call], given, 'message');
    if ('refused' in taken) return taken.refused;
    const message = taken.value;
    if ((message.text ?? '').trim() === '' && !message.files?.length)
      return refuse('invalid', 'message needs at least one of text and files');
    const { plugin } = load.facts;
    if (!deps.registry.find('channel', plugin, message.channel))
      return refuse('invalid', `plugin ${plugin} does not serve the channel "${message.channel}"`);
    const files = async () => {
      const read = await takeFiles(message.files ?? [], 'message', load, sessionKeyOf(message), deps);
      // That may have taken long: the plugin may have been unloaded, or lost its right.
      return barrier(load, call) ?? read;
    };
    try {
      const received = await deps.receive(message, files);
      return 'ok' in received ? received : Object.freeze({ ok: true, ...received });
    } catch (error) {
      return refusalOf(error);
    }
  };
}
