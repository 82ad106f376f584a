// Lines out of a stream, with a bound on how much of an unfinished one is kept: a peer that never ends its line costs no
// more than that. While it is paused nothing more is read, so the pipe fills and the other side waits.
import type { Readable } from 'node:stream';

export interface Lines {
  pause(): void;
  resume(): void;
  /** Nothing more is read or told. */
  close(): void;
  readonly isPaused: boolean;
}

export interface LineOptions {
  /** Without the line feed. */
  readonly maxBytes: number;
  onLine(text: string, bytes: number): void;
  /** A line is longer than that: reading has stopped for good. */
  onTooLong(): void;
  /** The stream has ended or broken, and all its lines were told. */
  onEnd(): void;
}

const LINE_FEED = 10;
const FIRST_BYTES = 4_096;

export function readLines(input: Readable, { maxBytes, onLine, onTooLong, onEnd }: LineOptions): Lines {
  /** The beginning of a line whose end has not come. */
  let begun: Buffer | undefined;
  let length = 0;
  /** What was read and not looked at, because of a pause. */
  let rest: Buffer | undefined;
  let isPaused = false;
  let isClosed = false;
  let hasEnded = false;

  function take(chunk: Buffer): void {
    let from = 0;
    while (from < chunk.length && !isClosed) {
      if (isPaused) {
        rest = chunk.subarray(from);
        return;
      }
      const found = chunk.indexOf(LINE_FEED, from);
      const end = found < 0 ? chunk.length : found;
      if (length + end - from > maxBytes) {
        close();
        return onTooLong();
      }
      if (found < 0) return keep(chunk.subarray(from));
      const bytes = length + end - from;
      const text = length === 0 ? chunk.toString('utf8', from, end) : finished(chunk.subarray(from, end));
      from = end + 1;
      onLine(text, bytes);
    }
  }

  /** Copied: small pieces must not each hold the buffer that they came in. */
  function keep(piece: Buffer): void {
    if (!begun || begun.length < length + piece.length) {
      const room = Math.min(maxBytes, Math.max(FIRST_BYTES, 2 * (length + piece.length)));
      const larger = Buffer.allocUnsafeSlow(room);
      begun?.copy(larger, 0, 0, length);
      begun = larger;
    }
    piece.copy(begun, length);
    length += piece.length;
  }

  function finished(piece: Buffer): string {
    keep(piece);
    const text = begun!.toString('utf8', 0, length);
    begun = undefined;
    length = 0;
    return text;
  }

  function onData(chunk: Buffer): void {
    if (rest) rest = Buffer.concat([rest, chunk]);
    else take(chunk);
  }

  function ended(): void {
    if (hasEnded || isClosed) return;
    // What was read is told first.
    hasEnded = rest !== undefined;
    if (hasEnded) return;
    close();
    onEnd();
  }

  function close(): void {
    if (isClosed) return;
    isClosed = true;
    begun = undefined;
    rest = undefined;
    input.off('data', onData);
    input.pause();
  }

  input.on('data', onData);
  input.once('end', ended);
  input.once('close', ended);
  // A pipe that breaks has said all it will say.
  input.on('error', ended);

  return {
    pause() {
      if (isPaused || isClosed) return;
      isPaused = true;
      input.pause();
    },
    resume() {
      if (!isPaused || isClosed) return;
      isPaused = false;
      const left = rest;
      rest = undefined;
      if (left) take(left);
      if (isPaused || isClosed) return;
      if (hasEnded) {
        hasEnded = false;
        ended();
      } else input.resume();
    },
    close,
    get isPaused() {
      return isPaused;
    },
  };
}
