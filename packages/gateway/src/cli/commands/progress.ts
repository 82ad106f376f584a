// How far a long command is, on one line of the terminal that is gone when it ends. Nothing without a terminal.
import type { FileSummary } from '../../maintenance.ts';
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
      if (shown) draw(table === 'files' ? `${verb}: ${rows} files` : `${verb}: ${table}, ${rows} rows`);
    },
    end: () => {
      if (shown && last !== '') draw('');
    },
  };
}

/** Names the files of attachments that are not where they should be. */
export function missingLines(files: FileSummary, where: string): string[] {
  const lines = files.missing.map(({ name, sessionKey, reason }) => {
    const why = reason === 'missing' ? 'it is not in the home folder' : 'it is not what was kept';
    return `warning: the file "${name}"${sessionKey === undefined ? '' : ` of session ${sessionKey}`} ${where}: ${why}`;
  });
  const rest = files.missingCount - files.missing.length;
  return rest > 0 ? [...lines, `warning: and ${rest} more`] : lines;
}
