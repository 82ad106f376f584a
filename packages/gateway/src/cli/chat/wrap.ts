// Text that comes in pieces, broken into rows that fit the terminal. Rows that are full are given out at once and never
// change again; the row that still grows is kept, so that whatever stands below it can be drawn anew.
import { textWidth } from '../table.ts';

export interface Wrapper {
  /** The rows that are finished now. */
  add(text: string, width: number): string[];
  /** The row that still grows. */
  readonly open: string;
  /** Ends the open row; nothing if there is none. */
  end(): string[];
}

export function createWrapper(): Wrapper {
  let open = '';
  let begun = false;
  return {
    get open() {
      return open;
    },
    add(text, width) {
      const rows: string[] = [];
      for (const [index, part] of text.split('\n').entries()) {
        if (index > 0) {
          rows.push(open);
          open = '';
          begun = false;
        }
        if (part !== '') begun = true;
        open += part;
        while (textWidth(open) > width) {
          const at = breakAt(open, width);
          rows.push(open.slice(0, at).trimEnd());
          open = open.slice(at).replace(/^ +/, '');
        }
      }
      return rows;
    },
    end() {
      const rows = begun ? [open] : [];
      open = '';
      begun = false;
      return rows;
    },
  };
}

/** Where a row that is too long is cut: behind the last space that fits, or in the middle of a word that has none. */
function breakAt(row: string, width: number): number {
  let used = 0;
  let at = 0;
  let space = 0;
  for (const character of row) {
    used += textWidth(character);
    if (used > width) break;
    at += character.length;
    if (character === ' ' && row.slice(0, at).trim() !== '') space = at;
  }
  if (row[at] === ' ') return at;
  // A sign that is wider than the terminal still has to go somewhere.
  return space > 0 ? space : Math.max(at, [...row][0]?.length ?? 1);
}
