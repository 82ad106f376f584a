// Preloaded (`node --import`) before everything else: every Map and Set that the program makes is known, with the place where
// it was made. What is still there after a collection, and how much is in it, is asked with `liveEntries`.

interface Watched {
  readonly size: number;
}

interface Known {
  readonly place: string;
  readonly part: WeakRef<Watched>;
}

/** Few, so that what is known of them does not look like growth itself. */
const PRUNE_AT = 20_000;
let known: Known[] = [];
let pruneAt = PRUNE_AT;

function watch(part: Watched): void {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 6;
  const { stack = '' } = new Error();
  Error.stackTraceLimit = limit;
  const place = /packages\/(\S+?\.ts:\d+)/.exec(stack)?.[1];
  // What Node and libraries make is theirs.
  if (place === undefined) return;
  known.push({ place, part: new WeakRef(part) });
  if (known.length < pruneAt) return;
  prune();
}

function prune(): void {
  known = known.filter((each) => each.part.deref() !== undefined);
  pruneAt = known.length + PRUNE_AT;
}

const NativeMap = Map;
const NativeSet = Set;

globalThis.Map = class<Key, Value> extends NativeMap<Key, Value> {
  constructor(entries?: Iterable<readonly [Key, Value]> | null) {
    super(entries);
    watch(this);
  }
} as MapConstructor;

globalThis.Set = class<Value> extends NativeSet<Value> {
  constructor(values?: Iterable<Value> | null) {
    super(values);
    watch(this);
  }
} as SetConstructor;

/** Entries by the place where the map or set was made; `maps` counts those that are alive. Needs --expose-gc. */
export function liveEntries(): Record<string, { maps: number; entries: number }> {
  prune();
  const found = new NativeMap<string, { maps: number; entries: number }>();
  for (const { place, part } of known) {
    const alive = part.deref();
    if (!alive) continue;
    const sum = found.get(place) ?? { maps: 0, entries: 0 };
    found.set(place, { maps: sum.maps + 1, entries: sum.entries + alive.size });
  }
  return Object.fromEntries([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}
