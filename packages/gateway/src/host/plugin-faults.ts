// What plugins throw where nobody waits: in timers, in listeners of their own, in promises that nobody holds. Without this it
// would end the process. It is counted, logged and put on record; a load that does it again and again is ended, unless it
// guards something, because what it guards would stand open then. What a load that has ended still does counts for nobody.
import type { Clock } from '../kernel/clock.ts';
import type { Log } from '../kernel/log.ts';
import type { Metrics } from '../kernel/metrics.ts';
import { shortText, stackOf } from './error-text.ts';
import { generationIn } from './load-module.ts';
import type { PluginIncidents } from './plugin-incidents.ts';
import type { PluginScope } from './plugin-scope.ts';

export type FaultKind = 'threw' | 'rejected';

/** How many of one load, within how long, end it. */
export const FAULTS = { limit: 3, windowMs: 300_000 } as const;
/** Of a load that does not stop: only so many are logged. */
const isWorthALine = (count: number) => count <= FAULTS.limit || Number.isInteger(Math.log2(count));

export interface PluginFaults {
  /** False when it is not of a plugin: then it is the gateway's own, and nobody may go on as if nothing had happened. */
  take(error: unknown, kind: FaultKind, scope: PluginScope | undefined): boolean;
}

interface Deps {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly incidents: PluginIncidents;
  /** The plugin that was loaded as this generation; undefined when it never was. */
  readonly pluginOf: (generation: number) => string | undefined;
  /** Whether it is the load that there is now, or the one that is being made. */
  readonly isCurrent: (scope: PluginScope) => boolean;
  /** What is on record has changed. */
  readonly changed: () => void;
  readonly isGuard: (plugin: string) => boolean;
  /** Contract: does not reject. */
  readonly endLoad: (scope: PluginScope, reason: string) => Promise<void>;
}

export function createPluginFaults(deps: Deps): PluginFaults {
  const { clock, log, metrics, incidents } = deps;
  const recent = new Map<string, { generation: number; times: number[] }>();
  metrics.describe('tenon_plugin_uncaught_total', 'What plugins threw where nobody waits, by plugin and kind.');

  /** Where no context is left, the addresses in the stack carry the generation. */
  function scopeIn(error: unknown): PluginScope | undefined {
    const generation = generationIn(stackOf(error));
    const plugin = generation === undefined ? undefined : deps.pluginOf(generation);
    return plugin === undefined || generation === undefined ? undefined : { plugin, generation };
  }

  function isTooOften({ plugin, generation }: PluginScope): boolean {
    const now = clock.monotonic();
    const before = recent.get(plugin);
    const times = before?.generation === generation ? before.times.filter((at) => now - at < FAULTS.windowMs) : [];
    times.push(now);
    recent.set(plugin, { generation, times: times.slice(-FAULTS.limit) });
    return times.length >= FAULTS.limit;
  }

  return {
    take(error, kind, given) {
      const scope = given ?? scopeIn(error);
      if (!scope) return false;
      const { plugin, generation } = scope;
      metrics.count('tenon_plugin_uncaught_total', { plugin, kind });
      const isOver = !deps.isCurrent(scope);
      const place = isOver ? 'after its load has ended' : 'outside of a call';
      const { count, message } = incidents.add(plugin, { kind, place, message: shortText(error), generation });
      if (isWorthALine(count)) {
        deps.changed();
        log.error({ plugin, generation, kind, place, count, error: message, stack: stackOf(error) }, LINE[kind]);
      }
      if (isOver || !isTooOften(scope)) return true;
      const minutes = FAULTS.windowMs / 60_000;
      if (!deps.isGuard(plugin)) {
        recent.delete(plugin);
        void deps.endLoad(scope, `it ${WORD[kind]} outside of a call ${FAULTS.limit} times within ${minutes} minutes: ${message}`);
      } else if (isWorthALine(count)) {
        log.error({ plugin, generation }, 'a plugin that guards something stays loaded, whatever it throws; look at it, and disable it');
      }
      return true;
    },
  };
}

const LINE = {
  threw: 'a plugin threw outside of a call',
  rejected: 'a plugin left a promise rejected that nobody waits for',
} as const;
const WORD = { threw: 'threw', rejected: 'left a promise rejected' } as const;
