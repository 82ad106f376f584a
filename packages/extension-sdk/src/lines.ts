// Bytes to lines. A line longer than the limit is dropped as it arrives, so that it never sits in memory whole; the reader is
// told how long it was.

export interface LineReader {
  push(chunk: Uint8Array): void;
}

export function createLineReader(maxBytes: number, onLine: (line: string) => void, onTooLong: (bytes: number) => void): LineReader {
  let parts: Uint8Array[] = [];
  let held = 0;
  let isSkipping = false;

  function end(last: Uint8Array): void {
    const bytes = held + last.length;
    if (isSkipping || bytes > maxBytes) onTooLong(bytes);
    else if (bytes > 0) onLine(textOf(parts.length === 0 ? last : Buffer.concat([...parts, last])));
    parts = [];
    held = 0;
    isSkipping = false;
  }

  function hold(rest: Uint8Array): void {
    held += rest.length;
    if (held > maxBytes) {
      isSkipping = true;
      parts = [];
    } else if (rest.length > 0) parts.push(rest);
  }

  return {
    push(chunk) {
      let from = 0;
      for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
        end(chunk.subarray(from, at));
        from = at + 1;
      }
      hold(chunk.subarray(from));
    },
  };
}

const NEWLINE = 10;

function textOf({ buffer, byteOffset, length }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, length).toString();
}
