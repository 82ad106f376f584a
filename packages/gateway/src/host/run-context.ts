// What plugins remember for as long as a run lasts, in memory. Bounded in every direction; when a run has ended nothing more
// is taken, and a little later nothing is left.
import type { JsonValue } from '@tenon/protocol';
import type { Clock } from '../kernel/clock.ts';
import { takeJson } from './plugin-json.ts';

export interface RunContexts {
  /** False: the run has ended, there is no room, or the value is none. */
  set(plugin: string, runId: string, namespace: string, value: unknown): boolean;
  get(plugin: string, runId: string, namespace: string): JsonValue | undefined;
  /** Without a namespace, all of the plugin in this run. */
  clear(plugin: string, runId: string, namespace?: string): void;
  /** Everything of a plugin, in all runs. */
  forget(plugin: string): void;
  ended(runId: string): void;
  /** Runs about which something is kept. */
  readonly size: number;
}

export const RUN_CONTEXT_GRACE_MS = 5_000;
const MAX_RUNS = 1_024;
const MAX_ENDED = 512;
/** Of one plugin in one run. */
const MAX_NAMESPACES = 64;
const MAX_BYTES = 262_144;

interface Value {
  readonly value: JsonValue;
  readonly bytes: number;
}

export function createRunContexts(clock: Clock): RunContexts {
  const runs = new Map<string, Map<string, Map<string, Value>>>();
  const endedRuns = new Set<string>();

  function drop(plugin: string, runId: string): void {
    const run = runs.get(runId);
    run?.delete(plugin);
    if (run?.size === 0) runs.delete(runId);
  }

  return {
    set(plugin, runId, namespace, given) {
      if (endedRuns.has(runId)) return false;
      const taken = takeJson(given);
      if ('wrong' in taken) return false;
      const bytes = Buffer.byteLength(JSON.stringify(taken.value));
      const known = runs.get(runId);
      const values = known?.get(plugin) ?? new Map<string, Value>();
      const others = [...values].filter(([name]) => name !== namespace);
      if (others.length >= MAX_NAMESPACES || others.reduce((sum, [, each]) => sum + each.bytes, bytes) > MAX_BYTES) return false;
      if (!known && runs.size >= MAX_RUNS) runs.delete(runs.keys().next().value!);
      const run = known ?? new Map<string, Map<string, Value>>();
      runs.set(runId, run);
      run.set(plugin, values.set(namespace, { value: taken.value, bytes }));
      return true;
    },
    get: (plugin, runId, namespace) => runs.get(runId)?.get(plugin)?.get(namespace)?.value,
    clear(plugin, runId, namespace) {
      const values = runs.get(runId)?.get(plugin);
      if (namespace !== undefined) values?.delete(namespace);
      if (namespace === undefined || values?.size === 0) drop(plugin, runId);
    },
    forget(plugin) {
      for (const runId of [...runs.keys()]) drop(plugin, runId);
    },
    ended(runId) {
      endedRuns.add(runId);
      if (endedRuns.size > MAX_ENDED) endedRuns.delete(endedRuns.values().next().value!);
      if (runs.has(runId)) clock.after(RUN_CONTEXT_GRACE_MS, () => runs.delete(runId));
    },
    get size() {
      return runs.size;
    },
  };
}
