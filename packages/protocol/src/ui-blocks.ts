// What a block of a descriptor shows, as plain parts that a page or a terminal can draw: its kind says how the value is read,
// and a value that does not fit is shown as text. Pure and bounded, whatever a plugin has put there.
import type { JsonValue } from './json.ts';
import type { UiDescriptor } from './methods/plugins.ts';
import type { PluginExtension } from './plugin.ts';
import { isActive, shownValue } from './ui-state.ts';

type Block = NonNullable<UiDescriptor['view']>[number];
export type Tone = 'plain' | 'ok' | 'warn' | 'bad' | 'busy';

export interface ShownItem {
  readonly text: string;
  readonly detail?: string;
  readonly done?: boolean;
  readonly tone?: Tone;
  /** What the action of an item is given. */
  readonly payload?: JsonValue;
}

interface Parts {
  readonly markdown: { readonly text: string };
  readonly text: { readonly text: string };
  readonly 'key-value': { readonly rows: readonly (readonly [name: string, value: string])[] };
  readonly list: { readonly items: readonly ShownItem[] };
  readonly table: { readonly columns: readonly string[]; readonly rows: readonly (readonly string[])[] };
  readonly progress: { readonly value: number; readonly max: number; readonly text: string };
  readonly status: { readonly text: string; readonly tone: Tone };
  readonly diff: { readonly lines: readonly string[] };
}

export type ShownBlock = {
  readonly [Kind in keyof Parts]: {
    readonly kind: Kind;
    readonly label?: string;
    /** Rows, items or lines that are not among those shown. */
    readonly more?: number;
    readonly itemAction?: NonNullable<Block['itemAction']>;
  } & Parts[Kind];
}[keyof Parts];

const MOST_ROWS = 200;
const MOST_COLUMNS = 20;
const MOST_LINES = 1_000;
const LONGEST_CELL = 2_000;
const LONGEST_TEXT = 65_536;
const TONES: readonly string[] = ['plain', 'ok', 'warn', 'bad', 'busy'] satisfies Tone[];

/** What is shown of a view now, without the blocks that have nothing to show. */
export function shownBlocks(
  { pluginId, view = [] }: Pick<UiDescriptor, 'pluginId' | 'view'>,
  extensions: readonly PluginExtension[],
): ShownBlock[] {
  return view.flatMap((block) => {
    if (!isActive(pluginId, block.when, extensions)) return [];
    const value = block.from ? shownValue(pluginId, block.from, extensions) : block.text;
    return shownPart(block, value);
  });
}

/** The same of blocks that have what they show in themselves, such as those of a delivery. */
export function shownParts(
  blocks: readonly (Pick<Block, 'kind' | 'label' | 'text'> & { readonly value?: JsonValue | undefined })[],
): ShownBlock[] {
  return blocks.flatMap(({ value, ...block }) => shownPart(block, value ?? block.text));
}

function shownPart(block: Block, value: JsonValue | undefined): ShownBlock[] {
  if (value === undefined || value === null || value === '') return [];
  const shown = readAs(block, value) ?? ({ kind: 'text', text: cut(textOf(value), LONGEST_TEXT) } as const);
  return [{ ...shown, ...(block.label === undefined ? {} : { label: block.label }) }];
}

function readAs(block: Block, value: JsonValue): ShownBlock | undefined {
  switch (block.kind) {
    case 'markdown':
      return typeof value === 'string' ? { kind: 'markdown', text: cut(value, LONGEST_TEXT) } : undefined;
    case 'diff': {
      if (typeof value !== 'string') return undefined;
      const lines = cut(value, LONGEST_TEXT).replace(/\n$/, '').split('\n');
      return bounded({ kind: 'diff', lines: lines.slice(0, MOST_LINES) }, lines.length - MOST_LINES);
    }
    case 'status':
      return readStatus(value);
    case 'progress':
      return readProgress(value);
    case 'key-value':
      return readPairs(value);
    case 'list':
      return readList(block, value);
    case 'table':
      return readTable(value);
  }
}

/** A text, or `{text, tone?}`. */
function readStatus(value: JsonValue): ShownBlock | undefined {
  if (isRecord(value)) {
    if (value.text === undefined) return undefined;
    return { kind: 'status', text: cell(value.text), tone: toneOf(value.tone) ?? 'plain' };
  }
  return Array.isArray(value) ? undefined : { kind: 'status', text: cell(value), tone: 'plain' };
}

/** A number from 0 to 1, or `{value, max, text?}`. */
function readProgress(value: JsonValue): ShownBlock | undefined {
  const {
    value: at,
    max,
    text,
  } = isRecord(value) ? value : { value: typeof value === 'string' ? Number(value) : value, max: 1, text: undefined };
  if (typeof at !== 'number' || typeof max !== 'number' || !Number.isFinite(at) || !Number.isFinite(max) || max <= 0) return undefined;
  const kept = Math.min(max, Math.max(0, at));
  return { kind: 'progress', value: kept, max, text: text === undefined ? `${Math.round((kept / max) * 100)} %` : cell(text) };
}

/** An object, or `[{label, value}]`, or lines `name: value`. */
function readPairs(value: JsonValue): ShownBlock | undefined {
  let rows: (readonly [string, string])[];
  if (typeof value === 'string')
    rows = value.split('\n').flatMap((line) => {
      const at = line.indexOf(':');
      return line.trim() === '' ? [] : [at < 0 ? (['', line] as const) : ([line.slice(0, at), line.slice(at + 1).trim()] as const)];
    });
  else if (Array.isArray(value)) {
    if (!value.every((each) => isRecord(each) && each.label !== undefined)) return undefined;
    rows = (value as readonly Record<string, JsonValue>[]).map((each) => [cell(each.label), cell(each.value ?? null)] as const);
  } else if (isRecord(value)) rows = Object.entries(value).map(([name, each]) => [cell(name), cell(each)] as const);
  else return undefined;
  return bounded({ kind: 'key-value', rows: rows.slice(0, MOST_ROWS) }, rows.length - MOST_ROWS);
}

/** Texts, or `{text, detail?, done?, tone?}`; of a text, its lines. */
function readList({ itemAction }: Block, value: JsonValue): ShownBlock | undefined {
  const values: unknown = typeof value === 'string' ? value.split('\n').filter((line) => line.trim() !== '') : value;
  if (!Array.isArray(values)) return undefined;
  const items = (values as readonly JsonValue[]).slice(0, MOST_ROWS).map((each): ShownItem => {
    if (!isRecord(each)) return { text: cell(each) };
    const tone = toneOf(each.tone);
    const payload =
      itemAction && Object.fromEntries(itemAction.fields.flatMap((name) => (Object.hasOwn(each, name) ? [[name, each[name]!]] : [])));
    return {
      text: each.text === undefined ? cell(each) : cell(each.text),
      ...(each.detail === undefined ? {} : { detail: cell(each.detail) }),
      ...(typeof each.done === 'boolean' ? { done: each.done } : {}),
      ...(tone === undefined ? {} : { tone }),
      ...(payload === undefined ? {} : { payload }),
    };
  });
  return bounded({ kind: 'list', items, ...(itemAction ? { itemAction } : {}) }, values.length - MOST_ROWS);
}

/** Objects, whose names are the columns, or `{columns, rows}` with lists. */
function readTable(value: JsonValue): ShownBlock | undefined {
  if (isRecord(value)) {
    const { columns, rows } = value;
    if (!Array.isArray(columns) || !Array.isArray(rows) || !rows.every(Array.isArray)) return undefined;
    const names = (columns as readonly JsonValue[]).slice(0, MOST_COLUMNS).map(cell);
    const cells = (rows as readonly (readonly JsonValue[])[]).slice(0, MOST_ROWS).map((row) => names.map((_, at) => cell(row[at] ?? null)));
    return bounded({ kind: 'table', columns: names, rows: cells }, rows.length - MOST_ROWS);
  }
  if (!Array.isArray(value) || !value.every(isRecord)) return undefined;
  const records = (value as readonly Record<string, JsonValue>[]).slice(0, MOST_ROWS);
  const names = [...new Set(records.flatMap((each) => Object.keys(each)))].slice(0, MOST_COLUMNS);
  const cells = records.map((each) => names.map((name) => (Object.hasOwn(each, name) ? cell(each[name]) : '')));
  return bounded({ kind: 'table', columns: names.map(cell), rows: cells }, value.length - MOST_ROWS);
}

function bounded(block: ShownBlock, over: number): ShownBlock {
  return over > 0 ? { ...block, more: over } : block;
}

function toneOf(value: unknown): Tone | undefined {
  return TONES.includes(value as string) ? (value as Tone) : undefined;
}

function isRecord(value: unknown): value is Readonly<Record<string, JsonValue>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function cell(value: unknown): string {
  return cut(textOf(value), LONGEST_CELL);
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value === null || value === undefined) return '–';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return typeof value === 'number' ? String(value) : JSON.stringify(value);
}

function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most).toWellFormed()}…`;
}
