// A fixed number of numbered places. Who finds none free waits, in order.

export interface Places {
  use<T>(work: (place: number) => Promise<T>): Promise<T>;
}

export function createPlaces(count: number): Places {
  const free = Array.from({ length: count }, (_, place) => place);
  const waiting: ((place: number) => void)[] = [];
  return {
    async use(work) {
      const place = free.pop() ?? (await new Promise<number>((resolve) => waiting.push(resolve)));
      try {
        return await work(place);
      } finally {
        const next = waiting.shift();
        if (next) next(place);
        else free.push(place);
      }
    },
  };
}
