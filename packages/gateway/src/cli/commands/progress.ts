// How far a long command is, on one line of the terminal that is gone when it ends. Nothing without a terminal.
import type { Io } from '../io.ts';
import type { Output } from '../output.ts';

export interface Progress {
  readonly report: (done: { readonly table: string; readonly rows: number }) => void;
  readonly end: () => void;
}

export function showProgress(io: Io, out: Output, verb: string): Progress {
  const shown = io.stderr.isTTY === true && !out.json && !out.plain;
  let last = '';
  const draw = (text: string) => {
    if (text !== last) io.stderr.write(`\r${text.padEnd(last.length)}\r${text}`);
    last = text;
  };
  return {
    report: ({ table, rows }) => {
      if (shown) draw(`${verb}: ${table}, ${rows} rows`);
    },
    end: () => {
      if (shown && last !== '') draw('');
    },
  };
}
