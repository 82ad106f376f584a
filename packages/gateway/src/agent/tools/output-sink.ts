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

export function createOutputSink(spool: Spool, clock: Clock, onUpdate: (text: string) => void, keepAlways = false): OutputSink {
  let recent = Buffer.alloc(0);
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
    } else {
      writer?.write(chunk);
    }
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
      for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, at + 1)) lines++;
      recent = Buffer.concat([recent, chunk]);
      keep(chunk);
      if (writer !== undefined || unkept !== undefined) recent = recent.subarray(-MAX_SHOWN_BYTES - 4);
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
