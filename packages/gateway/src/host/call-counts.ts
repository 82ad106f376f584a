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
  /** Not asked, because the hooks of a turn had used up their time. */
  readonly skipped: number;
  readonly lastAt?: number;
  /** Of the latest calls, in milliseconds. */
  readonly p50Ms?: number;
  readonly p95Ms?: number;
}

export interface CallCounts extends CallObserver {
  of(plugin: string): readonly PlaceCounts[];
  /** Of one handler alone: of the object that stands for it in its calls. */
  ofHandler(handler: PluginPlace): Omit<PlaceCounts, 'place'>;
  skipped(where: PluginPlace): void;
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
  skipped: number;
  lastAt: number | undefined;
  readonly durations: Float64Array;
}

export function createCallCounts(clock: Clock): CallCounts {
  const plugins = new Map<string, Map<string, Counts>>();
  const handlers = new WeakMap<object, Counts>();
  const slow = new WeakMap<object, number>();
  let tell: ((where: PluginPlace, timeouts: number) => void) | undefined;

  function countsOf({ plugin, place }: Pick<PluginPlace, 'plugin' | 'place'>): Counts | undefined {
    let places = plugins.get(plugin);
    if (!places) {
      places = new Map();
      plugins.set(plugin, places);
    }
    let counts = places.get(place);
    if (!counts && places.size < MAX_PLACES) {
      counts = noCounts();
      places.set(place, counts);
    }
    return counts;
  }

  function ofHandler(where: PluginPlace): Counts {
    const handler = where.handled ?? where;
    let counts = handlers.get(handler);
    if (!counts) {
      counts = noCounts();
      handlers.set(handler, counts);
    }
    return counts;
  }

  /** One that answers after its time, because nobody could end the wait, is as slow as one that does not answer. */
  function watch(where: PluginPlace, isTooLate: boolean): void {
    const handler = where.handled ?? where;
    if (!isTooLate) {
      if (slow.has(handler)) slow.delete(handler);
      return;
    }
    const timeouts = (slow.get(handler) ?? 0) + 1;
    slow.set(handler, timeouts);
    if (timeouts >= TIMEOUTS_IN_A_ROW) tell?.(where, timeouts);
  }

  return {
    ended(where, answer, durationMs, timeoutMs = where.timeoutMs) {
      const isTimeout = !answer.ok && answer.kind === 'timed-out';
      if (answer.ok || answer.kind !== 'aborted') watch(where, isTimeout || durationMs > timeoutMs);
      const now = clock.now();
      const isError = !isTimeout && !answer.ok && answer.kind !== 'aborted';
      for (const counts of [countsOf(where), ofHandler(where)]) {
        if (!counts) continue;
        counts.durations[counts.calls % RING] = durationMs;
        counts.calls++;
        counts.lastAt = now;
        if (isTimeout) counts.timeouts++;
        else if (isError) counts.errors++;
      }
    },
    failed(where, kind) {
      const handler = handlers.get((where as PluginPlace).handled ?? where);
      for (const counts of [countsOf(where), handler]) {
        if (!counts) continue;
        if (kind === 'timed-out') counts.timeouts++;
        else counts.errors++;
      }
    },
    skipped(where) {
      for (const counts of [countsOf(where), ofHandler(where)]) if (counts) counts.skipped++;
    },
    ofHandler(where) {
      const { place: _, ...counts } = shown(where.place, handlers.get(where.handled ?? where) ?? noCounts());
      return counts;
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

function noCounts(): Counts {
  return { calls: 0, errors: 0, timeouts: 0, skipped: 0, lastAt: undefined, durations: new Float64Array(RING) };
}

function shown(place: string, { calls, errors, timeouts, skipped, lastAt, durations }: Counts): PlaceCounts {
  const latest = durations.slice(0, Math.min(calls, RING)).sort();
  const at = (share: number) => latest[Math.min(latest.length - 1, Math.floor(latest.length * share))];
  const [p50Ms, p95Ms] = [at(0.5), at(0.95)];
  return {
    place,
    calls,
    errors,
    timeouts,
    skipped,
    ...(lastAt === undefined ? {} : { lastAt }),
    ...(p50Ms === undefined || p95Ms === undefined ? {} : { p50Ms, p95Ms }),
  };
}
