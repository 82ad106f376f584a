// What is kept of plugins that blocked the event loop: on the record of the plugin, in the log and the metrics; and what a
// process that was ended while it was stuck has left behind for the next one.
import { rmSync } from 'node:fs';
import type { PluginPlaceName } from '@tenon/protocol';
import type { Clock } from '../kernel/clock.ts';
import type { Log } from '../kernel/log.ts';
import type { Metrics } from '../kernel/metrics.ts';
import type { Blocked } from './activity-memory.ts';
import type { PluginActivity } from './plugin-activity.ts';
import type { PluginIncidents } from './plugin-incidents.ts';
import { createWatchdog, describeBlock, readMark, type Watchdog, type WatchOptions } from './plugin-watchdog.ts';

export interface PluginBlocks {
  /** Undefined where nobody watches. */
  readonly watchdog: Watchdog | undefined;
  /** The process before was ended while it was stuck: that stands on record until somebody does something about the plugin. */
  recall(known: { has(plugin: string): boolean }): void;
  /** The plugin that the process before could not get past while it loaded it, and what to say about that. */
  stuckAtLoad(): { readonly plugin: string; readonly reason: string } | undefined;
  /** Somebody has done something about it. */
  seen(plugin: string): void;
}

interface Deps {
  readonly watch?: WatchOptions;
  readonly activity?: PluginActivity;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly incidents: PluginIncidents;
  readonly changed: () => void;
  readonly generationOf: (plugin: string) => number | undefined;
}

/** Where a plugin keeps a gateway from starting. */
const LOAD_PLACES: ReadonlySet<string> = new Set(['load', 'register', 'service.start'] satisfies ('load' | PluginPlaceName)[]);

export function createBlocks({ watch, activity, clock, log, metrics, incidents, changed, generationOf }: Deps): PluginBlocks {
  metrics.describe('tenon_plugin_blocked_total', 'How often a plugin blocked the event loop.');

  function wasBlocked(was: Blocked): void {
    const { plugin, place, at, forMs, code, lastCalled } = was;
    if (plugin !== undefined) {
      const generation = generationOf(plugin);
      metrics.count('tenon_plugin_blocked_total', { plugin });
      const own = generation === undefined ? {} : { generation };
      incidents.add(plugin, { kind: 'blocked', place, message: describeBlock(was), at, ...own });
    }
    log.error({ plugin, place, at, forMs, code, lastCalled }, 'the event loop was blocked');
    changed();
  }

  return {
    watchdog: watch && activity ? createWatchdog({ ...watch, activity, clock, log, wasBlocked }) : undefined,
    recall(known) {
      const mark = watch && readMark(watch.markFile);
      if (!mark) return;
      const { plugin, place, at } = mark;
      log.error({ ...mark }, 'the gateway was blocked when it ended');
      const message = `${describeBlock(mark)}, until its process was ended`;
      if (plugin !== undefined && known.has(plugin)) incidents.add(plugin, { kind: 'blocked', place, message, at });
    },
    stuckAtLoad() {
      const mark = watch && readMark(watch.markFile);
      if (!mark || mark.plugin === undefined || !LOAD_PLACES.has(mark.place)) return undefined;
      const { plugin } = mark;
      const reason = `it blocked the gateway when it was loaded: ${describeBlock(mark)}, until its process was ended; to try again: tenon plugin reload ${plugin}`;
      return { plugin, reason };
    },
    seen(plugin) {
      if (watch && readMark(watch.markFile)?.plugin === plugin) rmSync(watch.markFile, { force: true });
    },
  };
}
