// Who waits at the door, in total and per address.

export interface Crowd {
  readonly total: number;
  of(address: string): number;
  /** Counts one more; the returned function lets it go, once. */
  enter(address: string): () => void;
}

export function createCrowd(): Crowd {
  const counts = new Map<string, number>();
  let total = 0;
  return {
    get total() {
      return total;
    },
    of: (address) => counts.get(address) ?? 0,
    enter(address) {
      total++;
      counts.set(address, (counts.get(address) ?? 0) + 1);
      let left = false;
      return () => {
        if (left) return;
        left = true;
        total--;
        const count = (counts.get(address) ?? 1) - 1;
        if (count > 0) counts.set(address, count);
        else counts.delete(address);
      };
    },
  };
}
