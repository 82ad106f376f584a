// Records for people and for `logs.tail`: JSON lines in a file that is rotated, the latest also in memory.
import { closeSync, fstatSync, mkdirSync, openSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { type Logger, pino } from 'pino';
import { hideHandedOut, logRedaction } from './redact.ts';

export type Log = Logger;

export interface LogOptions {
  readonly folder: string;
  readonly level: string;
  readonly maxBytes: number;
  readonly files: number;
}

export interface LogLine {
  readonly cursor: number;
  readonly text: string;
}

export interface LogBook {
  readonly log: Log;
  readonly file: string;
  readonly bound: { readonly maxBytes: number; readonly files: number };
  /** Lines after the cursor that are still in memory, oldest first. */
  after(cursor: number, limit: number): { lines: LogLine[]; cursor: number; dropped: number };
  setLevel(level: string): void;
  /** Lines that could not be written to the file. */
  readonly lost: number;
  close(): void;
}

const KEPT_LINES = 2_000;
/** Long lines count for more: 2,000 of them would be tens of megabytes. */
const KEPT_CHARS = 2_097_152;

export function openLogBook(options: LogOptions): LogBook {
  const file = join(options.folder, 'gateway.log');
  return createLogBook({ ...options, file }, openRotatingFile(file, options));
}

/** A book whose lines go wherever the sink takes them. */
export function createLogBook(options: Omit<LogOptions, 'folder'> & { readonly file: string }, sink: LogSink): LogBook {
  const { file } = options;
  const ring: LogLine[] = [];
  let kept = 0;
  let cursor = 0;
  const log = pino(
    {
      level: options.level,
      base: null,
      messageKey: 'message',
      errorKey: 'error',
      formatters: { level: (level) => ({ level }) },
      redact: logRedaction,
    },
    {
      write(raw: string) {
        const text = hideHandedOut(raw);
        sink.write(text);
        cursor++;
        ring.push({ cursor, text });
        kept += text.length;
        while (ring.length > KEPT_LINES || kept > KEPT_CHARS) kept -= ring.shift()!.text.length;
      },
    },
  );
  return {
    log,
    file,
    bound: { maxBytes: options.maxBytes, files: options.files },
    after(position, limit) {
      const oldest = ring[0]?.cursor ?? cursor + 1;
      const lines = ring.filter((line) => line.cursor > position).slice(0, limit);
      return { lines, cursor: lines.at(-1)?.cursor ?? cursor, dropped: Math.max(0, oldest - position - 1) };
    },
    setLevel(level) {
      log.level = level;
    },
    get lost() {
      return sink.lost;
    },
    close: () => sink.close(),
  };
}

export interface LogSink {
  write(text: string): void;
  readonly lost: number;
  close(): void;
}

function openRotatingFile(file: string, { folder, maxBytes, files }: LogOptions): LogSink {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  let handle: number | undefined;
  let size = 0;
  let lost = 0;

  function open(): void {
    handle = openSync(file, 'a', 0o600);
    size = fstatSync(handle).size;
  }

  function rotate(): void {
    if (handle !== undefined) closeSync(handle);
    handle = undefined;
    for (let index = files - 1; index >= 0; index--) {
      try {
        renameSync(index === 0 ? file : `${file}.${index}`, `${file}.${index + 1}`);
      } catch {
        // Not there yet: there are fewer rotations than files.
      }
    }
    open();
  }

  return {
    write(text) {
      try {
        if (handle === undefined) open();
        if (size + text.length > maxBytes && size > 0) rotate();
        size += writeSync(handle as number, text);
      } catch {
        // A full disk must not stop the gateway; the count is shown by `doctor`.
        lost++;
      }
    },
    get lost() {
      return lost;
    },
    close() {
      if (handle !== undefined) closeSync(handle);
      handle = undefined;
    },
  };
}
