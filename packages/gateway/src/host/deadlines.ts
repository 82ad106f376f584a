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

interface Link extends Wait {
  readonly due: number;
  readonly expire: () => void;
  before: Link | undefined;
  after: Link | undefined;
  isLinked: boolean;
}

interface List {
  head: Link | undefined;
  tail: Link | undefined;
}

export function createDeadlines(clock: Clock): Deadlines {
  const lists = new Map<number, List>();
  let size = 0;

  function unlink(list: List, link: Link): void {
    if (!link.isLinked) return;
    link.isLinked = false;
    size--;
    if (link.before) link.before.after = link.after;
    else list.head = link.after;
    if (link.after) link.after.before = link.before;
    else list.tail = link.before;
  }

  // The timer is left armed when its wait ends early: it looks at the list when it fires, and lists are few.
  function arm(timeoutMs: number, list: List, delayMs: number): void {
    clock.after(Math.max(1, Math.ceil(delayMs)), () => {
      const now = clock.monotonic();
      while (list.head && list.head.due <= now) {
        const { expire } = list.head;
        unlink(list, list.head);
        expire();
      }
      if (list.head) arm(timeoutMs, list, list.head.due - clock.monotonic());
      else lists.delete(timeoutMs);
    });
  }

  return {
    begin(timeoutMs, expire) {
      let list = lists.get(timeoutMs);
      if (!list) {
        list = { head: undefined, tail: undefined };
        lists.set(timeoutMs, list);
        arm(timeoutMs, list, timeoutMs);
      }
      const owner = list;
      const link: Link = {
        due: clock.monotonic() + timeoutMs,
        expire,
        before: list.tail,
        after: undefined,
        isLinked: true,
        end: () => unlink(owner, link),
      };
      if (list.tail) list.tail.after = link;
      else list.head = link;
      list.tail = link;
      size++;
      return link;
    },
    get size() {
      return size;
    },
  };
}
