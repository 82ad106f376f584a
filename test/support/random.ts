// A small seeded generator: the same seed gives the same run on every machine. Not for secrets.

export interface Random {
  /** In [0, 1). */
  next(): number;
  /** In [0, count). */
  below(count: number): number;
  pick<Item>(items: readonly Item[]): Item;
  chance(probability: number): boolean;
}

/** mulberry32 */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const below = (count: number) => Math.floor(next() * count);
  return {
    next,
    below,
    pick: (items) => {
      if (items.length === 0) throw new Error('Cannot pick from nothing');
      return items[below(items.length)]!;
    },
    chance: (probability) => next() < probability,
  };
}
