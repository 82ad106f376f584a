// A deadline that stands still while somebody else is waited for: the time that a person takes to answer is not that of the plugin
// which asked. Several may hold it; it runs on when the last one lets go.
import type { Clock } from '../kernel/clock.ts';
import type { Deadlines, Wait } from './deadlines.ts';

export class HeldDeadline implements Wait {
  readonly #deadlines: Deadlines;
  readonly #clock: Clock;
  readonly #expire: () => void;
  #wait: Wait;
  #due: number;
  #leftMs = 0;
  #holds = 0;
  #isOver = false;

  constructor(timeoutMs: number, expire: () => void, deadlines: Deadlines, clock: Clock) {
    this.#deadlines = deadlines;
    this.#clock = clock;
    this.#expire = expire;
    this.#due = clock.monotonic() + timeoutMs;
    this.#wait = deadlines.begin(timeoutMs, expire);
  }

  end(): void {
    this.#isOver = true;
    this.#wait.end();
  }

  /** What it gives lets go of it, once. */
  hold(): () => void {
    if (this.#holds++ === 0) {
      this.#wait.end();
      this.#leftMs = Math.max(1, this.#due - this.#clock.monotonic());
    }
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      if (--this.#holds > 0 || this.#isOver) return;
      this.#due = this.#clock.monotonic() + this.#leftMs;
      this.#wait = this.#deadlines.begin(this.#leftMs, this.#expire);
    };
  }
}
