// The log of a gateway that is not running, from its file: that is when one wants it most.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import type { LogRecord } from '@tenon/protocol';

const READ_BYTES = 4_194_304;

/** The latest records of the file, oldest first; none when there is no file. `cursor` counts the lines that were read. */
export function readLogFile(file: string): LogRecord[] {
  return readEnd(file)
    .split('\n')
    .flatMap((line, index) => {
      try {
        const { time, level, message = '', ...fields } = JSON.parse(line) as Omit<LogRecord, 'cursor'>;
        return [{ cursor: index + 1, time, level, message, ...(Object.keys(fields).length > 0 ? { fields } : {}) } as LogRecord];
      } catch {
        // The first line may be cut off where we began to read, the last one where a crash ended it.
        return [];
      }
    });
}

function readEnd(file: string): string {
  let handle: number;
  try {
    handle = openSync(file, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
  try {
    const { size } = fstatSync(handle);
    const buffer = Buffer.alloc(Math.min(size, READ_BYTES));
    const count = readSync(handle, buffer, 0, buffer.length, Math.max(0, size - buffer.length));
    return buffer.toString('utf8', 0, count);
  } finally {
    closeSync(handle);
  }
}
