// Render blocks as they are read: old spellings, missing and foreign pieces, templates, and the text that stands for a block
// where it cannot be shown. Imports no schema, so that pages and terminals can use it too.
import { renderBlocks, type RenderBlockKind } from './wire-ui.ts';

type Data = Readonly<Record<string, unknown>>;

const MAX_DEPTH = 16;
const PROGRESS_CELLS = 20;

/** The block with the names of today, all the way down. What is not a block stays as it is. */
export function readBlock(given: unknown, depth = 0): unknown {
  if (!isData(given) || depth > MAX_DEPTH) return given;
  const { kind } = given;
  if (!isKind(kind)) return given;
  const aliases: Readonly<Record<string, string>> = renderBlocks[kind].aliases;
  // The name of today wins, wherever it stands.
  const fields = Object.entries(given)
    .map(([name, value]) => [name, Object.hasOwn(aliases, name) ? aliases[name]! : name, value] as const)
    .filter(([name, field]) => field === name || !Object.hasOwn(given, field));
  const block: Record<string, unknown> = Object.fromEntries(fields.map(([, field, value]) => [field, value]));
  if (kind === 'progress' && typeof block.value === 'number') block.value = Math.min(1, Math.max(0, block.value));
  if (kind === 'stack' && Array.isArray(block.children)) block.children = block.children.map((child) => readBlock(child, depth + 1));
  if (kind === 'widget') block.body = readBlock(block.body, depth + 1);
  return block;
}

/** What a block says in plain text: its own `text`, else what can be made of it, else its JSON. */
export function blockText(given: unknown): string {
  return textOf(readBlock(given), 0);
}

function textOf(block: unknown, depth: number): string {
  if (!isData(block)) return typeof block === 'string' ? block : jsonOf(block);
  if (typeof block.text === 'string') return block.text;
  const made = depth > MAX_DEPTH ? undefined : madeText(block, depth);
  return made ?? jsonOf(block);
}

function madeText(block: Data, depth: number): string | undefined {
  const { kind, rows, columns, patch, value, label, title, children, body } = block;
  if (kind === 'keyvalue' && isList(rows)) {
    const pairs = rows.filter(isData).map((row) => [wordOf(row.key), wordOf(row.value)] as const);
    const width = Math.max(0, ...pairs.map(([key]) => key.length));
    return [...(typeof title === 'string' ? [title] : []), ...pairs.map(([key, each]) => `${key.padEnd(width)}  ${each}`)].join('\n');
  }
  if (kind === 'table' && isList(columns) && isList(rows)) {
    const lines = [columns, ...rows.filter(isList)].map((cells) => cells.map(wordOf));
    const widths = columns.map((_, index) => Math.max(...lines.map((cells) => (cells[index] ?? '').length)));
    return lines
      .map((cells) =>
        cells
          .map((cell, index) => cell.padEnd(widths[index] ?? 0))
          .join('  ')
          .trimEnd(),
      )
      .join('\n');
  }
  if (kind === 'diff' && typeof patch === 'string') return patch;
  if (kind === 'progress' && typeof value === 'number') {
    const full = Math.round(value * PROGRESS_CELLS);
    const bar = `[${'#'.repeat(full)}${'-'.repeat(PROGRESS_CELLS - full)}] ${Math.round(value * 100)}%`;
    return typeof label === 'string' ? `${label} ${bar}` : bar;
  }
  if (kind === 'stack' && isList(children)) return children.map((child) => textOf(child, depth + 1)).join('\n');
  if (kind === 'widget') return textOf(body, depth + 1);
  return undefined;
}

/** The template of a message renderer, filled: `{{a.b}}` in any text is what the data has there, nothing where it has nothing. */
export function fillTemplate(template: unknown, data: unknown, depth = 0): unknown {
  if (typeof template === 'string') return template.replace(/\{\{\s*([^{}\s]+)\s*\}\}/g, (_, path: string) => wordOf(valueAt(data, path)));
  if (depth > MAX_DEPTH || typeof template !== 'object' || template === null) return template;
  if (Array.isArray(template)) return template.map((each) => fillTemplate(each, data, depth + 1));
  return Object.fromEntries(Object.entries(template).map(([name, each]) => [name, fillTemplate(each, data, depth + 1)]));
}

function valueAt(data: unknown, path: string): unknown {
  let at = data;
  for (const part of path.split('.')) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, part)) return undefined;
    at = (at as Data)[part];
  }
  return at;
}

function wordOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function jsonOf(value: unknown): string {
  return JSON.stringify(value, undefined, 2) ?? '';
}

function isKind(kind: unknown): kind is RenderBlockKind {
  return typeof kind === 'string' && Object.hasOwn(renderBlocks, kind);
}

function isData(value: unknown): value is Data {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}
