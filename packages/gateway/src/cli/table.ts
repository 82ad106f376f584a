// Aligned columns for people. No lines and boxes, so that a screen reader and `cut` have nothing to skip.

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => string;
  /** Cut first when the terminal is too narrow. */
  readonly flexible?: true;
}

export interface TableStyle {
  readonly width: number | undefined;
  readonly header: (text: string) => string;
}

const GAP = '  ';
const SHORTEST = 8;

/** Nothing at all when there are no rows. */
export function renderTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[], style: TableStyle): string[] {
  if (rows.length === 0) return [];
  const cells = rows.map((row) => columns.map((column) => column.cell(row)));
  const widths = columns.map(({ title }, index) => Math.max(textWidth(title), ...cells.map((row) => textWidth(row[index]!))));
  if (style.width !== undefined) narrow(columns, widths, style.width);
  const render = (row: readonly string[]) =>
    row
      .map((cell, index) => pad(cut(cell, widths[index]!), widths[index]!))
      .join(GAP)
      .trimEnd();
  return [style.header(render(columns.map(({ title }) => title))), ...cells.map(render)];
}

/** `name  value`, one pair a line. */
export function renderPairs(pairs: readonly (readonly [name: string, value: string])[], name: (text: string) => string): string[] {
  const width = Math.max(...pairs.map(([each]) => textWidth(each)));
  return pairs.map(([each, value]) => `${name(pad(each, width))}${GAP}${value}`.trimEnd());
}

function narrow<Row>(columns: readonly Column<Row>[], widths: number[], available: number): void {
  const flexible = columns.flatMap((column, index) => (column.flexible ? [index] : []));
  let excess = widths.reduce((sum, width) => sum + width, 0) + GAP.length * (columns.length - 1) - available;
  while (excess > 0) {
    const widest = flexible.reduce((best, index) => (widths[index]! > (widths[best] ?? 0) ? index : best), flexible[0] ?? -1);
    const spare = widest === -1 ? 0 : widths[widest]! - SHORTEST;
    if (spare <= 0) return;
    const taken = Math.min(excess, Math.max(1, Math.ceil(spare / 2)));
    widths[widest]! -= taken;
    excess -= taken;
  }
}

const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;
const NO_WIDTH = /^\p{M}/u;

/** Columns that a terminal gives to the text, near enough: wide signs count two, combining marks none. */
export function textWidth(text: string): number {
  let width = 0;
  for (const character of text) width += widthOf(character);
  return width;
}

function widthOf(character: string): number {
  if (character <= '\u007e') return 1;
  return NO_WIDTH.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
}

function pad(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - textWidth(text)));
}

function cut(text: string, width: number): string {
  if (textWidth(text) <= width) return text;
  let kept = '';
  let used = 1;
  for (const character of text) {
    used += widthOf(character);
    if (used > width) break;
    kept += character;
  }
  return `${kept}…`;
}
