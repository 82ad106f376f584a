// What runs right now: which plugin's code at which place, and since when, in memory that the watchdog's thread reads while
// this one is stuck. Written at every call of plugin code, so it is a few stores and no allocation.
import type { Clock } from '../kernel/clock.ts';
import { CELL, createMemory, type PlaceName, TIME, viewsOf } from './activity-memory.ts';
import { type PluginScope, runAsPlugin } from './plugin-scope.ts';

export interface PluginActivity {
  readonly memory: SharedArrayBuffer;
  /** Calls of this plugin belong to this load from now on. */
  begin(plugin: string, generation: number): PluginScope;
  /** The load whose calls these are; undefined for what was registered without one. */
  scopeOf(plugin: string): PluginScope | undefined;
  /** Runs code of a plugin as its own, and says so meanwhile. */
  run<Argument, Call>(
    where: { readonly plugin: string; readonly place: string; readonly scope?: PluginScope },
    code: (argument: Argument, call: Call) => unknown,
    argument: Argument,
    call: Call,
  ): unknown;
  /** Its module is being run, which is no call. Returns what ends that. */
  loading(plugin: string): () => void;
  /** The loop goes round. */
  beat(): void;
  /** Tells the names so far, and each new one. */
  onName(listener: ((name: PlaceName) => void) | undefined): void;
}

const MAX_SLOTS = 16_384;
const LOADING = 'load';

export function createPluginActivity(clock: Clock): PluginActivity {
  const memory = createMemory();
  const { cells, times } = viewsOf(memory);
  const names: PlaceName[] = [];
  const loads = new Map<string, { readonly scope: PluginScope; readonly slots: Map<string, number> }>();
  let tell: ((name: PlaceName) => void) | undefined;

  function newSlot(slots: Map<string, number>, plugin: string, place: string): number {
    if (names.length >= MAX_SLOTS) return 0;
    const name = { slot: names.length + 1, plugin, place };
    names.push(name);
    slots.set(place, name.slot);
    tell?.(name);
    return name.slot;
  }

  return {
    memory,
    begin(plugin, generation) {
      const scope = Object.freeze({ plugin, generation });
      loads.set(plugin, { scope, slots: loads.get(plugin)?.slots ?? new Map() });
      return scope;
    },
    scopeOf: (plugin) => loads.get(plugin)?.scope,
    run(where, code, argument, call) {
      const load = loads.get(where.plugin);
      if (!load) return code(argument, call);
      const before = cells[CELL.running]!;
      const beganBefore = times[TIME.began]!;
      const slot = load.slots.get(where.place) ?? newSlot(load.slots, where.plugin, where.place);
      times[TIME.began] = clock.monotonic();
      cells[CELL.running] = slot;
      cells[CELL.last] = slot;
      try {
        return runAsPlugin(where.scope ?? load.scope, code, argument, call);
      } finally {
        cells[CELL.running] = before;
        times[TIME.began] = beganBefore;
      }
    },
    loading(plugin) {
      const { slots } = loads.get(plugin) ?? { slots: new Map<string, number>() };
      const slot = slots.get(LOADING) ?? newSlot(slots, plugin, LOADING);
      cells[CELL.loading] = slot;
      return () => {
        if (cells[CELL.loading] === slot) cells[CELL.loading] = 0;
      };
    },
    beat() {
      cells[CELL.beat] = (cells[CELL.beat]! + 1) | 0;
    },
    onName(listener) {
      tell = listener;
      if (listener) for (const name of names) listener(name);
    },
  };
}
