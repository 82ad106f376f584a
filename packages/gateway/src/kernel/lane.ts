// Runs what shares a name one after another, in the order it was asked for, and what does not side by side.

export interface Lanes {
  run<T>(name: string, work: () => Promise<T>): Promise<T>;
  readonly size: number;
}

export function createLanes(): Lanes {
  const tails = new Map<string, Promise<unknown>>();
  return {
    run<T>(name: string, work: () => Promise<T>): Promise<T> {
      const before = tails.get(name);
      const mine = before ? before.then(work, work) : work();
      const leave = () => {
        if (tails.get(name) === tail) tails.delete(name);
      };
      const tail: Promise<void> = mine.then(leave, leave);
      tails.set(name, tail);
      return mine;
    },
    get size() {
      return tails.size;
    },
  };
}
