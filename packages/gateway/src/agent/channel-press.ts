// A press that a channel brings in goes the way of every press: once, on record with what it does.
import { GatewayError, type UiReply } from '@tenon/protocol';
import type { ChannelPress, ChannelPressDeps } from '../host/press-in-channel.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Lanes } from '../kernel/lane.ts';
import type { Store } from '../store/store.ts';
import type { PluginParts } from './plugin-tools.ts';
import { pressButton } from './press-button.ts';
import type { Turns } from './service.ts';
import type { Wake } from './wake.ts';

interface Deps {
  readonly store: Store;
  readonly clock: Clock;
  readonly lanes: Lanes;
  readonly plugins: PluginParts | undefined;
  readonly turns: Pick<Turns, 'accepted' | 'running'>;
  readonly wake: Wake;
  readonly answered: (id: string, reply: UiReply) => void;
}

/** Contract: throws only GatewayError, and what the store throws. */
export async function pressInChannel(request: ChannelPress, deps: Deps): ReturnType<ChannelPressDeps['press']> {
  const { store, clock, lanes, plugins, turns, wake, answered } = deps;
  if (!plugins) throw new GatewayError('UNAVAILABLE', 'The gateway is still starting; press it again');
  const { pluginId, answer, text } = await pressButton<unknown>(request, {
    ...{ store, clock, lanes, plugins, wake, answered },
    running: turns.running(request.sessionKey),
    commit: (name, args) => store.write(name, args),
    keepAnswer: (given) => Promise.resolve(given),
  });
  if (!answer) return { pluginId, ...(text === undefined ? {} : { text }) };
  if (!answer.ok) return { pluginId, failed: answer.error };
  if (answer.runId !== undefined) turns.accepted(request.sessionKey);
  return { pluginId, ...(answer.reply === undefined ? {} : { text: answer.reply }) };
}
