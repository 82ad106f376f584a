// A person pressed a button where a channel carried it. The plugin of that channel tells so, of nobody else's deliveries, from
// where the delivery went, and says whether the sender may act. The answer is always a value that says why not.
import { GatewayError, lateParams, type LateParams, type Scope } from '@tenon/protocol';
import type { ChannelPressOutcome } from '@tenon/plugin-sdk';
import type { Log } from '../kernel/log.ts';
import type { Store } from '../store/store.ts';
import type { ContributionRegistry } from './contribution-registry.ts';
import { barrier, refusalOf, refuse, take } from './late-call.ts';
import type { PluginLoad } from './plugin-load.ts';

const call = 'channels.pressButton';
type Given = LateParams<typeof call>;

export interface ChannelPress {
  readonly sessionKey: string;
  readonly entryId: string;
  readonly buttonId: string;
  readonly by: string;
  readonly held: ReadonlySet<Scope>;
}

export interface ChannelPressDeps {
  readonly store: Store;
  readonly registry: ContributionRegistry;
  readonly log: Log;
  /** Presses it, once. `failed`: the plugin of the button says no, and the buttons stay. Throws GatewayError where it cannot be pressed. */
  readonly press: (press: ChannelPress) => Promise<{ readonly pluginId: string; readonly text?: string; readonly failed?: string }>;
}

/** What a sender that the channel vouches for may: never what is an operator's alone, such as to approve. */
const SENDER_SCOPES: ReadonlySet<Scope> = new Set(['operator.read', 'operator.write']);

export function createPressButton(load: PluginLoad, deps: ChannelPressDeps): (given: unknown) => Promise<ChannelPressOutcome> {
  const { plugin } = load.facts;

  return async (raw) => {
    const blocked = barrier(load, call);
    if (blocked) return blocked;
    const taken = take(lateParams[call], raw, 'press');
    if ('refused' in taken) return taken.refused;
    try {
      return await press(taken.value);
    } catch (error) {
      if (!(error instanceof GatewayError)) return refusalOf(error);
      if (error.code === 'GONE') return refuse('conflict', error.message);
      if (error.code === 'NOT_FOUND') return refuse('invalid', error.message);
      return error.code === 'SCOPE' ? noRight(taken.value, error.message) : refusalOf(error);
    }
  };

  async function press(given: Given): Promise<ChannelPressOutcome> {
    const { deliveryId, buttonId, from, sender = from } = given;
    const { found } = await deps.store.read('deliveries.get', { id: deliveryId });
    // The same, whether it is not there or somebody else's.
    if (!found || !deps.registry.find('channel', plugin, found.record.channel))
      return refuse('invalid', `no channel of plugin ${plugin} was sent a delivery "${deliveryId}"`);
    const { channel, to, sessionKey, entryId } = found.record;
    const route = await deps.store.read('routes.get', { key: sessionKey });
    if (from !== to || route.channel !== channel || route.to !== to)
      return refuse(
        'invalid',
        `press/from: delivery "${deliveryId}" did not go to "${from}", or its session does not belong there any more`,
      );
    if (given.isAuthorizedSender !== true) return noRight(given, `the channel ${channel} does not say that "${sender}" may act here`);
    const late = barrier(load, call);
    if (late) return late;
    const { pluginId, text, failed } = await deps.press({
      ...{ sessionKey, entryId, buttonId },
      by: `channel:${channel}:${sender}`,
      held: SENDER_SCOPES,
    });
    if (failed !== undefined) return refuse('unavailable', `plugin ${pluginId} did not do it: ${failed}`);
    return Object.freeze({ ok: true, sessionKey, entryId, pluginId, ...(text === undefined ? {} : { text }) });
  }

  function noRight({ deliveryId, buttonId, from, sender = from }: Given, message: string) {
    deps.log.warn(
      { plugin, deliveryId, buttonId, from, sender, reason: message },
      'a button of a channel was pressed by somebody who may not',
    );
    return refuse('not-granted', message);
  }
}
