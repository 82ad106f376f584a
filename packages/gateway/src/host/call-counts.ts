// How often code of each plugin was called where, how it went and how long it took; and who is slow time after time. Kept
// per plugin and place, with a small ring of durations: enough for `plugins.get`, and bounded however many calls there are.
import type { Clock } from '../kernel/clock.ts';
import type { CallObserver, PluginPlace } from './call-plugin.ts';

export interface PlaceCounts {
  readonly place: string;
  readonly calls: number;
  /** Thrown, answered nonsense, or dropped. */
  readonly errors: number;
  readonly timeouts: number;
  readonly lastAt?: number;
  /** Of the latest calls, in milliseconds. */
  readonly p50Ms?: number;
  readonly p95Ms?: number;
}

export interface CallCounts extends CallObserver {
  of(plugin: string): readonly PlaceCounts[];
  forget(plugin: string): void;
  /** Called when the same handler was too slow so many times in a row. */
  onSlow(listener: (where: PluginPlace, timeouts: number) => void): void;
}

export const TIMEOUTS_IN_A_ROW = 5;
const RING = 64;
const MAX_PLACES = 256;

interface Counts {
  calls: number;
  errors: number;
  timeouts: number;
  lastAt: number | undefined;
  readonly durations: Float64Array;
}

export function createCallCounts(clock: Clock): CallCounts {
  const plugins = new Map<string, Map<string, Counts>>();
  const slow = new WeakMap<PluginPlace, number>();
  let tell: ((where: PluginPlace, timeouts: number) => void) | undefined;

  function countsOf({ plugin, place }: Pick<PluginPlace, 'plugin' | 'place'>): Counts | undefined {
    let places = plugins.get(plugin);
    if (!places) {
      places = new Map();
      plugins.set(plugin, places);
    }
    let counts = places.get(place);
    if (!counts && places.size < MAX_PLACES) {
      counts = { calls: 0, errors: 0, timeouts: 0, lastAt: undefined, durations: new Float64Array(RING) };
      places.set(place, counts);
    }
    return counts;
  }

  function watch(where: PluginPlace, isTimeout: boolean): void {
    if (!isTimeout) {
      if (slow.has(where)) slow.delete(where);
      return;
    }
    const timeouts = (slow.get(where) ?? 0) + 1;
    slow.set(where, timeouts);
    if (timeouts >= TIMEOUTS_IN_A_ROW) tell?.(where, timeouts);
  }

  return {
    ended(where, answer, durationMs) {
      const isTimeout = !answer.ok && answer.kind === 'timed-out';
      if (answer.ok || answer.kind !== 'aborted') watch(where, isTimeout);
      const counts = countsOf(where);
      if (!counts) return;
      counts.durations[counts.calls % RING] = durationMs;
      counts.calls++;
      counts.lastAt = clock.now();
      if (isTimeout) counts.timeouts++;
      else if (!answer.ok && answer.kind !== 'aborted') counts.errors++;
    },
    failed(where, kind) {
      const counts = countsOf(where);
      if (!counts) return;
      if (kind === 'timed-out') counts.timeouts++;
      else counts.errors++;
    },
    of(plugin) {
      return [...(plugins.get(plugin) ?? [])].map(([place, counts]) => shown(place, counts)).sort((a, b) => (a.place < b.place ? -1 : 1));
    },
    forget: (plugin) => void plugins.delete(plugin),
    onSlow(listener) {
      tell = listener;
    },
  };
}

function shown(place: string, { calls, errors, timeouts, lastAt, durations }: Counts): PlaceCounts {
  const latest = durations.slice(0, Math.min(calls, RING)).sort();
  const at = (share: number) => latest[Math.min(latest.length - 1, Math.floor(latest.length * share))];
  const [p50Ms, p95Ms] = [at(0.5), at(0.95)];
  return {
    place,
    calls,
    errors,
    timeouts,
    ...(lastAt === undefined ? {} : { lastAt }),
    ...(p50Ms === undefined || p95Ms === undefined ? {} : { p50Ms, p95Ms }),
  };
}
