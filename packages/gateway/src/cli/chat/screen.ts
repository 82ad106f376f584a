// Where a chat is written. The plain one only ever adds text, for pipes, screen readers and terminals that cannot move the
// cursor. The live one keeps a footer and the line that is being typed below everything, and adds above them.
import { clearScreenDown, cursorTo, moveCursor, type Interface } from 'node:readline';
import type { Writable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import type { Output } from '../output.ts';
import { textWidth } from '../table.ts';
import { createSafeStream, cutTo } from './text.ts';
import { createWrapper } from './wrap.ts';

type Style = Parameters<Output['style']>[0];

export interface Screen {
  /** A piece of text that streams; it is made safe here. */
  text(delta: string, style?: Style): void;
  /** The text that streamed is whole. */
  endText(): void;
  /** A line that is safe to print. */
  line(text: string): void;
  /** What stands above the typed line and may change. Nothing where lines cannot be taken back. */
  footer(lines: readonly string[]): void;
  /** Whether the footer is shown. */
  readonly hasFooter: boolean;
  readonly width: number;
}

export interface PlainScreenOptions {
  readonly write: (text: string) => void;
  readonly style: Output['style'];
  readonly width?: number;
}

export function createPlainScreen({ write, style, width = 100 }: PlainScreenOptions): Screen {
  let safe = createSafeStream();
  let atStart = true;
  const endText = () => {
    if (!atStart) write('\n');
    atStart = true;
    safe = createSafeStream();
  };
  return {
    width,
    text(delta, as) {
      const text = safe(delta);
      if (text === '') return;
      write(as ? style(as, text) : text);
      atStart = text.endsWith('\n');
    },
    endText,
    line(text) {
      endText();
      write(`${text}\n`);
    },
    footer() {},
    hasFooter: false,
  };
}

/** What readline keeps of the rows above the cursor. It has no public way to say that they were taken away. */
interface Rows {
  prevRows: number;
}

export interface LiveScreen extends Screen {
  /** The sign in front of the typed line. */
  prompt(sign: string): void;
  /** To be called when readline has given out a line: takes the footer and the line off the screen. */
  takeBack(line: string): void;
  /** No footer and no prompt any more. */
  close(): void;
}

export interface LiveScreenOptions {
  readonly editor: Interface;
  readonly output: Writable & { readonly columns?: number };
  readonly style: Output['style'];
}

const DEFAULT_WIDTH = 80;
const NARROWEST = 20;

export function createLiveScreen({ editor, output, style }: LiveScreenOptions): LiveScreen {
  const wrapper = createWrapper();
  let safe = createSafeStream();
  let as: Style | undefined;
  let footer: readonly string[] = [];
  let sign = '';
  let closed = false;
  let editorClosed = false;
  editor.once('close', () => {
    editorClosed = true;
  });

  const columns = () => Math.max(NARROWEST, output.columns || DEFAULT_WIDTH);
  // One column is left free: a row that is full to the last one is ended differently by different terminals.
  const width = () => columns() - 1;
  const paint = (row: string) => (as && row !== '' ? style(as, row) : row);

  /** The text that still grows, and the footer: everything above the typed line that may change. */
  const above = () => [...(wrapper.open === '' ? [] : [paint(wrapper.open)]), ...footer];

  function add(rows: readonly string[]): void {
    moveCursor(output, 0, -editor.getCursorPos().rows);
    cursorTo(output, 0);
    clearScreenDown(output);
    if (rows.length > 0) output.write(rows.map((row) => `${row}\n`).join(''));
  }

  function draw(rows: readonly string[]): void {
    if (closed || editorClosed) return;
    add(rows);
    (editor as unknown as Rows).prevRows = 0;
    editor.setPrompt([...above(), sign].join('\n'));
    editor.prompt(true);
  }

  function endText(): string[] {
    const rows = wrapper.end().map(paint);
    as = undefined;
    safe = createSafeStream();
    return rows;
  }

  return {
    get width() {
      return width();
    },
    text(delta, style_) {
      const ended = style_ === as ? [] : endText();
      as = style_;
      const rows = wrapper.add(safe(delta), width()).map(paint);
      draw([...ended, ...rows]);
    },
    endText: () => draw(endText()),
    line: (text) => draw([...endText(), text]),
    hasFooter: true,
    footer(lines) {
      const next = lines.map((line) => fit(line, width()));
      if (next.length === footer.length && next.every((line, index) => line === footer[index])) return;
      footer = next;
      draw([]);
    },
    prompt(next) {
      if (next === sign) return;
      sign = next;
      draw([]);
    },
    takeBack(line) {
      // The cursor is on the row below the line; a line that fills its last row has made readline begin another.
      const typed = Math.floor(textWidth(sign + line) / columns()) + 1;
      moveCursor(output, 0, -(above().length + typed));
      cursorTo(output, 0);
      clearScreenDown(output);
      (editor as unknown as Rows).prevRows = 0;
      editor.setPrompt(sign);
    },
    close() {
      if (closed) return;
      closed = true;
      // Without readline, which may be closed already: Ctrl-D closes it first.
      add(endText());
    },
  };
}

/** A row of the footer is one row; its colours go where it has to be cut. */
function fit(line: string, width: number): string {
  const bare = stripVTControlCharacters(line);
  return textWidth(bare) <= width ? line : cutTo(bare, width);
}
