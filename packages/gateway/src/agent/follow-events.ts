// What runs say, passed on to plugins that follow it. Each plugin has a bounded lane of its own, so that a slow one loses
// what it cannot keep up with and slows nobody; what it is given is frozen and its own.
import type { RunStream } from '@tenon/protocol';
import { createObserverLanes } from '../host/observer-lanes.ts';
import { placed } from '../host/call-plugin.ts';
import { callWithState } from '../host/own-state.ts';
import { freezeDeep } from '../host/plain-data.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Metrics } from '../kernel/metrics.ts';
import type { PluginParts } from './plugin-tools.ts';

const PLACE = 'agent_event';

export interface EventFollowers {
  /** Contract: must not throw. */
  said(said: RunStream): void;
  drain(budgetMs: number): Promise<{ readonly unfinished: number }>;
}

export interface FollowDeps {
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly plugins: PluginParts;
}

/** Of one plugin, said and not passed on yet. */
const MAX_WAITING = 256;

export function createEventFollowers({ clock, metrics, plugins }: FollowDeps): EventFollowers {
  const { caller, registry } = plugins;
  const lanes = createObserverLanes({ clock, metrics, fail: caller.fail });
  const waiting = new Map<string, number>();

  function tell(said: RunStream): void {
    const followers = registry.all('eventSubscription');
    if (followers.length === 0) return;
    const stream = said.stream === 'plugin' ? said.name : said.stream;
    const event = freezeDeep(structuredClone(said));
    for (const each of followers) {
      const { streams } = each.item;
      if (streams && streams.length > 0 && !streams.includes(stream)) continue;
      if (!plugins.holds(each.plugin, 'events.follow')) continue;
      lanes.add(each.plugin, PLACE, () =>
        each.isLive
          ? callWithState(caller, plugins.stateOf, {
              where: placed(each.plugin, PLACE, each),
              code: each.item.handle,
              argument: event,
              accept: ignore,
              sessionKey: event.sessionKey,
              isLive: () => each.isLive,
            })
          : undefined,
      );
    }
  }

  /** Later and bounded: plugins that answer each other, or one that answers itself, must not keep everybody else waiting. */
  function tellLater(said: RunStream, plugin: string): void {
    if (registry.all('eventSubscription').length === 0) return;
    const before = waiting.get(plugin) ?? 0;
    if (before >= MAX_WAITING) {
      metrics.count('tenon_plugin_observers_dropped_total', { plugin, place: PLACE });
      if (before === MAX_WAITING)
        caller.fail({ plugin, place: PLACE }, 'dropped', `${MAX_WAITING} of its events wait already; more are dropped`);
      waiting.set(plugin, MAX_WAITING + 1);
      return;
    }
    waiting.set(plugin, before + 1);
    setImmediate(() => {
      const left = Math.min(waiting.get(plugin) ?? 0, MAX_WAITING) - 1;
      if (left > 0) waiting.set(plugin, left);
      else waiting.delete(plugin);
      tell(said);
    });
  }

  return {
    said: (said) => (said.stream === 'plugin' ? tellLater(said, said.plugin) : tell(said)),
    drain: (budgetMs) => lanes.drain(budgetMs),
  };
}

function ignore(): { readonly value: undefined } {
  return { value: undefined };
}
