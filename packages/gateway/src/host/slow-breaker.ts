// Switches off what is too slow time after time, where the gateway can do without: handlers of hooks that are open on failure,
// subscriptions to events, middleware on results. What guards something stays, and refuses whatever it does not answer in time.
// What somebody asked for (a tool, a command, an action, a method, a route) stays too: whoever asks is told each time.
import { type ContributionKind, hookRow, isHookName } from '@tenon/protocol';
import type { Clock } from '../kernel/clock.ts';
import type { Log } from '../kernel/log.ts';
import type { CallCounts } from './call-counts.ts';
import type { PluginCaller, PluginPlace } from './call-plugin.ts';
import type { ContributionRegistry, RegisteredItem } from './contribution-registry.ts';
import type { HookRegistry } from './hook-registry.ts';

/** Places of contributions that are passed over when they fail. */
export const switchable = {
  agent_event: 'eventSubscription',
  tool_result: 'toolResultMiddleware',
} as const satisfies Record<string, ContributionKind>;

interface Deps {
  readonly counts: CallCounts;
  readonly caller: PluginCaller;
  readonly registry: ContributionRegistry;
  readonly hookRegistry: HookRegistry;
  readonly clock: Clock;
  readonly log: Log;
  readonly switchedOff: (plugin: string, off: { readonly place: string; readonly at: number; readonly reason: string }) => void;
}

export function watchSlowness({ counts, caller, registry, hookRegistry, clock, log, switchedOff }: Deps): void {
  function take(where: PluginPlace, off: { readonly at: number; readonly reason: string }): boolean {
    const { place, handled } = where;
    if (isHookName(place)) return hookRow(place).onFailure === 'open' && hookRegistry.switchOff(where, off);
    return Object.hasOwn(switchable, place) && handled !== undefined && registry.switchOff(handled as RegisteredItem);
  }

  counts.onSlow((where, timeouts) => {
    const { plugin, place } = where;
    const off = { at: clock.now(), reason: `it was too slow ${timeouts} times in a row (${caller.timeoutOf(where)} ms)` };
    if (!take(where, off)) return;
    log.warn({ plugin, place, timeouts }, 'a handler of a plugin is switched off: it was too slow');
    switchedOff(plugin, { place, ...off });
  });
}
