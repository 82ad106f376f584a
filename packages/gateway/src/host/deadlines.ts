// Many waits, few timers. Waits with the same timeout expire in the order they began, so each timeout value has one list
// and one timer for its head: to begin and to end a wait costs two links, not a timer.
import type { Clock } from '../kernel/clock.ts';

export interface Deadlines {
  /** Calls once when the time is over, unless the wait was ended before. */
  begin(timeoutMs: number, expire: () => void): Wait;
  /** Waits that have begun and not ended. */
  readonly size: number;
}

export interface Wait {
  end(): void;
}

interface List {
  head: Link | undefined;
  tail: Link | undefined;
  readonly total: { size: number };
}

/** A class, so that one of the many costs one object. */
class Link implements Wait {
  readonly due: number;
  readonly expire: () => void;
  readonly #list: List;
  #before: Link | undefined;
  after: Link | undefined;
  #isLinked = true;

  constructor(list: List, due: number, expire: () => void) {
    this.#list = list;
    this.due = due;
    this.expire = expire;
    this.#before = list.tail;
    if (list.tail) list.tail.after = this;
    else list.head = this;
    list.tail = this;
    list.total.size++;
  }

  end(): void {
    if (!this.#isLinked) return;
    this.#isLinked = false;
    this.#list.total.size--;
    if (this.#before) this.#before.after = this.after;
    else this.#list.head = this.after;
    if (this.after) this.after.#before = this.#before;
    else this.#list.tail = this.#before;
  }
}

export function createDeadlines(clock: Clock): Deadlines {
  const lists = new Map<number, List>();
  const total = { size: 0 };

  // The timer is left armed when its wait ends early: it looks at the list when it fires, and lists are few.
  function arm(timeoutMs: number, list: List, delayMs: number): void {
    clock.after(Math.max(1, Math.ceil(delayMs)), () => {
      const now = clock.monotonic();
      while (list.head && list.head.due <= now) {
        const first = list.head;
        first.end();
        first.expire();
      }
      if (list.head) arm(timeoutMs, list, list.head.due - clock.monotonic());
      else lists.delete(timeoutMs);
    });
  }

  return {
    begin(timeoutMs, expire) {
      let list = lists.get(timeoutMs);
      if (!list) {
        list = { head: undefined, tail: undefined, total };
        lists.set(timeoutMs, list);
        arm(timeoutMs, list, timeoutMs);
      }
      return new Link(list, clock.monotonic() + timeoutMs, expire);
    },
    get size() {
      return total.size;
    },
  };
}
