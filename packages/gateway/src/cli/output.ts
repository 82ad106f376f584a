// What the program writes. stdout is data, stderr is talk; with --json data is one JSON line, and so is an error.
// Text from outside goes through `visible` before it gets here; JSON is made safe to look at by its own escapes.
import { styleText } from 'node:util';
import type { Failure } from './failure.ts';
import type { Io } from './io.ts';
import { renderTable, type Column } from './table.ts';

type Style = 'bold' | 'dim' | 'red' | 'yellow' | 'green' | 'cyan';

export interface OutputOptions {
  readonly json: boolean;
  readonly plain: boolean;
}

export interface Output extends OutputOptions {
  /** The result of a command: the value with --json, else what `lines` makes of it. */
  show(value: unknown, lines: () => string | readonly string[]): void;
  /** Data, whatever the mode. */
  line(text: string): void;
  talk(text: string): void;
  style(style: Style, text: string): string;
  /** Cut to the terminal; whole when the output goes elsewhere or is to be plain. */
  table<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string[];
}

export function createOutput(io: Pick<Io, 'stdout' | 'stderr' | 'env'>, { json, plain }: OutputOptions): Output {
  const { stdout, stderr, env } = io;
  const coloured = !json && !plain && stdout.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb';
  const line = (text: string) => void stdout.write(`${text}\n`);
  const paint = (style: Style, text: string) => (coloured ? styleText(style, text, { validateStream: false }) : text);
  return {
    json,
    plain,
    line,
    show(value, lines) {
      if (json) return line(jsonLine(value));
      for (const each of [lines()].flat()) line(each);
    },
    talk: (text) => void stderr.write(`${text}\n`),
    style: paint,
    table: (columns, rows) =>
      renderTable(columns, rows, {
        width: stdout.isTTY === true && !plain ? stdout.columns : undefined,
        header: (text) => paint('bold', text),
      }),
  };
}

/** One line, always: scripts and people read the same one. */
export function failureLine({ code, message, hint }: Failure, json: boolean, visible: (text: string) => string): string {
  if (json) return jsonLine({ code, message, ...(hint === undefined ? {} : { hint }) });
  return visible(`tenon: ${message}${hint === undefined ? '' : ` (${hint})`}`);
}

// Characters that JSON leaves as they are and a terminal acts upon or hides.
const HIDDEN = /[\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** JSON that means the same and shows everything it contains. */
export function jsonLine(value: unknown, indent?: number): string {
  const escaped = (character: string) =>
    character
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join('');
  return (JSON.stringify(value, undefined, indent) ?? 'null').replace(HIDDEN, escaped);
}
