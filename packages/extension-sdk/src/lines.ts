// Bytes to lines. A line longer than the limit is dropped as it arrives, so that it never sits in memory whole; the reader is
// told how long it was.

export interface LineReader {
  push(chunk: Uint8Array): void;
}

export function createLineReader(maxBytes: number, onLine: (line: string) => void, onTooLong: (bytes: number) => void): LineReader {
  /** The beginning of a line whose end has not come yet. */
  let parts: Uint8Array[] = [];
  let held = 0;

  function hold(rest: Uint8Array): void {
    held += rest.length;
    if (held > maxBytes) parts = [];
    else if (rest.length > 0) parts.push(rest);
  }

  function endHeld(last: Uint8Array): void {
    hold(last);
    const [bytes, whole] = [held, parts];
    parts = [];
    held = 0;
    if (bytes > maxBytes) onTooLong(bytes);
    else if (bytes > 0) onLine(Buffer.concat(whole).toString());
  }

  function take(line: string): void {
    if (line === '') return;
    const bytes = line.length * MOST_BYTES_PER_UNIT <= maxBytes ? 0 : Buffer.byteLength(line);
    if (bytes > maxBytes) onTooLong(bytes);
    else onLine(line);
  }

  return {
    push(chunk) {
      const last = chunk.lastIndexOf(NEWLINE);
      if (last === -1) return hold(chunk);
      let from = 0;
      if (held > 0) {
        const first = chunk.indexOf(NEWLINE);
        endHeld(chunk.subarray(0, first));
        from = first + 1;
      }
      // Decoded in one go: no character has the byte of a newline in it.
      if (from < last) for (const line of textOf(chunk, from, last).split('\n')) take(line);
      hold(chunk.subarray(last + 1));
    },
  };
}

const NEWLINE = 10;
const MOST_BYTES_PER_UNIT = 3;

function textOf(chunk: Uint8Array, from: number, to: number): string {
  return Buffer.from(chunk.buffer, chunk.byteOffset + from, to - from).toString();
}
