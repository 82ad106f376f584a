// What a program says, while it says it: the last part in memory, all of it in the spool once it is too long to be told
// whole. People who watch get the last lines now and then, not each write.
import type { Clock, Timer } from '../../kernel/clock.ts';
import { MAX_KEPT_BYTES, MAX_SHOWN_BYTES, MAX_SHOWN_LINES, type Spool, type SpoolWriter, tailOf } from './spool.ts';

export interface OutputSink {
  readonly bytes: number;
  /** The handle to all of it, where it is kept. */
  readonly handle: string | undefined;
  write(chunk: Buffer): void;
  /** The last lines. */
  tail(): string;
  /** No more comes. */
  finish(): void;
  /** All of it, or the last lines and how to read the rest. */
  told(): string;
}

const UPDATE_MS = 150;
const UPDATE_BYTES = 4_000;
const NEWLINE = 10;
const MAX_RECENT_BYTES = MAX_SHOWN_BYTES + 4;

export function createOutputSink(spool: Spool, clock: Clock, onUpdate: (text: string) => void, keepAlways = false): OutputSink {
  // One buffer for all of it: a copy of each chunk would pile up faster than it is collected.
  const room = Buffer.alloc(MAX_RECENT_BYTES);
  let recent = room.subarray(0, 0);
  let bytes = 0;
  let lines = 0;
  let writer: SpoolWriter | undefined = keepAlways ? spool.begin() : undefined;
  let unkept: string | undefined;
  let timer: Timer | undefined;

  function keep(chunk: Buffer): void {
    const tooLong = bytes > MAX_SHOWN_BYTES || lines > MAX_SHOWN_LINES;
    if (writer === undefined && tooLong && unkept === undefined) {
      try {
        writer = spool.begin();
        // Until now nothing was lost: what is in memory is all there was.
        writer.write(recent);
      } catch (error) {
        unkept = (error as Error).message;
      }
    }
    writer?.write(chunk);
  }

  function remember(chunk: Buffer): void {
    const last = chunk.subarray(-MAX_RECENT_BYTES);
    const before = Math.min(recent.length, MAX_RECENT_BYTES - last.length);
    room.copyWithin(0, recent.length - before, recent.length);
    last.copy(room, before);
    recent = room.subarray(0, before + last.length);
  }

  return {
    get bytes() {
      return bytes;
    },
    get handle() {
      return writer?.handle;
    },
    write(chunk) {
      bytes += chunk.length;
      // Beyond that their number says nothing more.
      for (let at = chunk.indexOf(NEWLINE); at >= 0 && lines <= MAX_SHOWN_LINES; at = chunk.indexOf(NEWLINE, at + 1)) lines++;
      keep(chunk);
      remember(chunk);
      timer ??= clock.after(UPDATE_MS, () => {
        timer = undefined;
        onUpdate(tailOf(recent).subarray(-UPDATE_BYTES).toString('utf8'));
      });
    },
    tail: () => tailOf(recent).toString('utf8'),
    finish() {
      timer?.cancel();
      writer?.close();
    },
    told() {
      if (bytes <= MAX_SHOWN_BYTES && lines <= MAX_SHOWN_LINES) return recent.toString('utf8');
      const shown = tailOf(recent);
      const lost = (writer?.dropped ?? 0) > 0 ? ` Only the first ${MAX_KEPT_BYTES} bytes and these are kept.` : '';
      const how = writer ? `From the beginning: read_more {"handle":"${writer.handle}"}` : (unkept ?? '');
      return `[The last ${shown.length} of ${bytes} bytes.${lost} ${how}]\n${shown.toString('utf8')}`;
    },
  };
}
