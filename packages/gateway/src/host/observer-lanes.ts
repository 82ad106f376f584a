// Where observers run that nobody waits for. Each plugin has a lane of its own: so many at a time, so many waiting, and
// what comes on top is dropped and counted. A plugin that is slow to observe slows nobody but itself.
import type { Clock } from '../kernel/clock.ts';
import type { Metrics } from '../kernel/metrics.ts';
import type { PluginCaller } from './call-plugin.ts';

export interface ObserverLanes {
  /** Runs it now or later; false when it is dropped. `work` must not throw or reject. */
  add(plugin: string, place: string, work: () => unknown): boolean;
  /** Waits until every lane is empty, but not longer. Says how many observers had not finished. */
  drain(budgetMs: number): Promise<{ readonly unfinished: number }>;
}

export const CONCURRENT_OBSERVERS = 16;
export const QUEUED_OBSERVERS = 256;

interface Lane {
  running: number;
  readonly queue: (() => unknown)[];
  /** Whether the overflow has been reported; the rest of it is only counted. */
  isOverflowing: boolean;
}

interface Deps {
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly fail: PluginCaller['fail'];
}

export function createObserverLanes({ clock, metrics, fail }: Deps): ObserverLanes {
  const lanes = new Map<string, Lane>();
  const waiting = new Set<() => void>();
  metrics.describe('tenon_plugin_observers_dropped_total', 'Observers that were not called because the plugin was too slow.');

  function start(plugin: string, lane: Lane, work: () => unknown): void {
    lane.running++;
    const pending = work();
    if (!(pending instanceof Promise)) lane.running--;
    else {
      void pending.then(() => {
        lane.running--;
        next(plugin, lane);
      });
    }
  }

  function next(plugin: string, lane: Lane): void {
    while (lane.running < CONCURRENT_OBSERVERS) {
      const work = lane.queue.shift();
      if (!work) break;
      start(plugin, lane, work);
    }
    if (lane.queue.length === 0) lane.isOverflowing = false;
    if (lane.running > 0 || lane.queue.length > 0) return;
    lanes.delete(plugin);
    if (lanes.size === 0) for (const wake of [...waiting]) wake();
  }

  return {
    add(plugin, place, work) {
      let lane = lanes.get(plugin);
      if (!lane) {
        lane = { running: 0, queue: [], isOverflowing: false };
        lanes.set(plugin, lane);
      }
      if (lane.queue.length >= QUEUED_OBSERVERS) {
        metrics.count('tenon_plugin_observers_dropped_total', { plugin, place });
        if (!lane.isOverflowing) fail({ plugin, place }, 'dropped', `${QUEUED_OBSERVERS} observers wait already; more are dropped`);
        lane.isOverflowing = true;
        return false;
      }
      if (lane.running >= CONCURRENT_OBSERVERS || lane.queue.length > 0) {
        lane.queue.push(work);
        return true;
      }
      start(plugin, lane, work);
      next(plugin, lane);
      return true;
    },
    drain(budgetMs) {
      const unfinished = () => [...lanes.values()].reduce((sum, lane) => sum + lane.running + lane.queue.length, 0);
      if (lanes.size === 0) return Promise.resolve({ unfinished: 0 });
      return new Promise((resolve) => {
        const finish = () => {
          waiting.delete(finish);
          timer.cancel();
          resolve({ unfinished: unfinished() });
        };
        waiting.add(finish);
        const timer = clock.after(budgetMs, finish);
      });
    },
  };
}
