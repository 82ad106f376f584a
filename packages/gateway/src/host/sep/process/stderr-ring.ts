// What an extension has written to its standard error: the last part of it, as lines, and a rate at which lines go on to the
// log. It is read all the time, so that a full pipe never stops the extension, and never costs more than the ring. Who floods it
// is read more slowly, so that it costs little of the processor too.
import type { Readable } from 'node:stream';
import { visible } from '@tenon/protocol';
import { limits } from '@tenon/protocol/sep/wire';
import type { Clock } from '../../../kernel/clock.ts';
import { createWindow } from '../../../kernel/window.ts';
import { createThrottle } from '../connection/throttle.ts';
import { createLogRing, type LogRing } from './log-ring.ts';

export interface StderrRing {
  follow(stderr: Readable): void;
  /** The last lines, oldest first. */
  lines(): readonly string[];
  /** Bytes that fell out of the ring. */
  readonly dropped: number;
  /** Lines that were kept from the log. */
  readonly unlogged: number;
}

interface Options {
  readonly clock: Clock;
  log(line: string): void;
  /** Where it is kept; a ring of its own without one. */
  readonly ring?: LogRing;
}

const MAX_LINE = 4_096;
const WINDOW_MS = 1_000;

/** Lines do not count, and nobody is ended because of it. */
const THROTTLE = {
  perSecond: Number.MAX_SAFE_INTEGER,
  burst: Number.MAX_SAFE_INTEGER,
  bytesPerSecond: limits.stderrBytesPerSecond.value,
  burstBytes: 4 * limits.stderrBytesPerSecond.value,
  patienceMs: Number.MAX_SAFE_INTEGER,
};

export function createStderrRing({ clock, log, ring = createLogRing({ clock }) }: Options): StderrRing {
  const window = createWindow({ limit: limits.logsPerSecond.value, windowMs: WINDOW_MS, clock });
  let cut = 0;
  let unlogged = 0;

  function add(line: string): void {
    const text = line.replace(/\r$/, '');
    ring.add('stderr', 'info', text);
    if (window.waitMs('') > 0) return void unlogged++;
    window.hit('');
    log(visible(text));
  }

  return {
    follow(stderr) {
      let rest = '';
      const throttle = createThrottle(THROTTLE, clock);
      stderr.setEncoding('utf8');
      stderr.on('data', (chunk: string) => {
        const waitMs = throttle.spend(0, chunk.length);
        if (waitMs > 0) {
          stderr.pause();
          clock.after(waitMs, () => stderr.resume());
        }
        const parts = (rest + chunk).split('\n');
        rest = parts.pop()!;
        for (const each of parts) add(each.slice(0, MAX_LINE));
        // A line without an end is cut where it is long enough to be one.
        if (rest.length <= MAX_LINE) return;
        add(rest.slice(0, MAX_LINE));
        cut += rest.length - MAX_LINE;
        rest = '';
      });
      stderr.once('end', () => {
        if (rest !== '') add(rest);
        rest = '';
      });
      stderr.on('error', () => {});
    },
    lines: () => ring.lines.filter(({ from }) => from === 'stderr').map(({ text }) => text),
    get dropped() {
      return ring.dropped + cut;
    },
    get unlogged() {
      return unlogged;
    },
  };
}
