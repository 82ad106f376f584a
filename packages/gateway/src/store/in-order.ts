// Hands numbered things on in the order of their numbers. Commits of several connections are reported in any order, and
// the report of one may be lost: a number that stays missing is read from where it was stored.

export interface Numbered {
  readonly seq: number;
}

export interface InOrder<Item extends Numbered> {
  add(items: readonly Item[]): void;
  /** Looks whether something was stored that nobody reported. */
  check(): void;
  close(): void;
}

/** How long a missing number may take before it is looked up. */
const PATIENCE_MS = 50;

export function createInOrder<Item extends Numbered>(options: {
  next: number;
  deliver(items: readonly Item[]): void;
  read(after: number): Promise<readonly Item[]>;
}): InOrder<Item> {
  const early = new Map<number, Item>();
  let next = options.next;
  let timer: NodeJS.Timeout | undefined;
  let reading = false;
  let closed = false;

  function release(): void {
    const ready: Item[] = [];
    for (let item = early.get(next); item; item = early.get(next)) {
      early.delete(next);
      ready.push(item);
      next++;
    }
    if (ready.length > 0) options.deliver(ready);
    if (early.size > 0) check();
  }

  function check(): void {
    if (timer || closed) return;
    timer = setTimeout(() => void lookUp(), PATIENCE_MS);
    timer.unref();
  }

  async function lookUp(): Promise<void> {
    timer = undefined;
    if (closed) return;
    // What is being read may be older than what this look is for.
    if (reading) return check();
    reading = true;
    try {
      for (const item of await options.read(next - 1)) if (item.seq >= next) early.set(item.seq, item);
    } catch {
      // The database is away: whoever writes next learns it too, and looks again.
      check();
    } finally {
      reading = false;
    }
    release();
  }

  return {
    add(items) {
      for (const item of items) if (item.seq >= next) early.set(item.seq, item);
      release();
    },
    check,
    close() {
      closed = true;
      clearTimeout(timer);
    },
  };
}
