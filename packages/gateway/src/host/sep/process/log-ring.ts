// The last that is known of an extension's doings, as lines with a number: what it wrote to its standard error, what it logged,
// and what the gateway saw of its process. Read page by page by whoever looks; bounded, and what fell out is counted.
import { type ExtensionLogLine, visible } from '@tenon/protocol';
import { limits } from '@tenon/protocol/sep/wire';
import type { Clock } from '../../../kernel/clock.ts';
import { ownStart } from '../../../kernel/own-text.ts';
import { hideHandedOut } from '../../../kernel/redact.ts';

export interface LogPage {
  readonly lines: readonly ExtensionLogLine[];
  /** The number of the last line that there is. */
  readonly cursor: number;
  /** Lines after the asked number that are no longer here, or did not fit into the page. */
  readonly dropped: number;
}

export interface LogRing {
  add(from: ExtensionLogLine['from'], level: ExtensionLogLine['level'], text: string): void;
  /** The last `limit` of those after this number. */
  page(after: number, limit: number): LogPage;
  readonly lines: readonly ExtensionLogLine[];
  /** Characters that fell out. */
  readonly dropped: number;
}

const MAX_LINE = 4_096;
/** A line costs more than its text. */
const LINE_COST = 32;

export function createLogRing({ clock, maxBytes = limits.stderrRingBytes.value }: { clock: Clock; maxBytes?: number }): LogRing {
  const lines: ExtensionLogLine[] = [];
  let size = 0;
  let dropped = 0;
  let last = 0;

  return {
    add(from, level, text) {
      const said = visible(ownStart(hideHandedOut(text), MAX_LINE));
      lines.push({ seq: ++last, at: clock.now(), from, level, text: said });
      size += said.length;
      while (size > maxBytes || lines.length > maxBytes / LINE_COST) {
        const oldest = lines.shift()!;
        size -= oldest.text.length;
        dropped += oldest.text.length;
      }
    },
    page(after, limit) {
      // A number that is still to come is of a gateway before this one.
      const since = after > last ? 0 : after;
      const found = lines.filter(({ seq }) => seq > since).slice(-limit);
      return { lines: found, cursor: last, dropped: last - since - found.length };
    },
    lines,
    get dropped() {
      return dropped;
    },
  };
}
