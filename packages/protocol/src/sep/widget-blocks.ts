// The widget of an extension, as the parts that pages and terminals draw what plugins show with. A block of a kind that is not known
// is its text. Bounded, whatever an extension has put there.
import type { JsonValue } from '../json.ts';
import { shownParts, type ShownBlock } from '../ui-blocks.ts';
import { blockText, readBlock } from './render.ts';

const MOST_BLOCKS = 64;
const MOST_DEPTH = 16;
const LONGEST_TEXT = 65_536;

type Fields = Readonly<Record<string, JsonValue>>;

export function widgetBlocks(widget: unknown): ShownBlock[] {
  return partsOf(readBlock(widget), 0).slice(0, MOST_BLOCKS);
}

function partsOf(block: unknown, depth: number): ShownBlock[] {
  if (!isFields(block) || depth > MOST_DEPTH) return asText(block);
  const { kind, text, title, label, rows, columns, patch, value, children, body, keybindings } = block;
  const named = (given: JsonValue | undefined) => (typeof given === 'string' && given !== '' ? { label: given } : {});
  if (kind === 'stack' && Array.isArray(children)) return children.slice(0, MOST_BLOCKS).flatMap((child) => partsOf(child, depth + 1));
  if (kind === 'widget') return [...partsOf(body, depth + 1), ...keysOf(keybindings)];
  if (kind === 'markdown' && typeof text === 'string') return shownParts([{ kind: 'markdown', text }]);
  if (kind === 'diff' && typeof patch === 'string') return shownParts([{ kind: 'diff', value: patch }]);
  if (kind === 'progress' && typeof value === 'number') return shownParts([{ kind: 'progress', value, ...named(label) }]);
  if (kind === 'table' && Array.isArray(columns) && Array.isArray(rows)) return shownParts([{ kind: 'table', value: { columns, rows } }]);
  if (kind === 'keyvalue' && Array.isArray(rows)) {
    const pairs = rows.filter(isFields).map((row) => ({ label: row.key ?? '', value: row.value ?? '' }));
    return shownParts([{ kind: 'key-value', value: pairs, ...named(title) }]);
  }
  return asText(block);
}

/** What the keys do, where nobody has keys to press. */
function keysOf(given: JsonValue | undefined): ShownBlock[] {
  const keys = (Array.isArray(given) ? given : []).filter(isFields);
  if (keys.length === 0) return [];
  return shownParts([{ kind: 'key-value', value: keys.map(({ key, description }) => ({ label: key ?? '', value: description ?? '' })) }]);
}

function asText(block: unknown): ShownBlock[] {
  const text = blockText(block).slice(0, LONGEST_TEXT);
  return text === '' ? [] : [{ kind: 'text', text }];
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
