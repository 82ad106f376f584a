// Where each setting stands in the text of tenon.toml: smol-toml says what the text means, this says where it is, so that
// a bad value can be named by its line and a single value be replaced with the comments around it untouched.
// It assumes text that smol-toml has accepted, and does not look inside inline tables.
import { parse } from 'smol-toml';

/** `key = value`; the offsets are UTF-16 units. `start` and `end` cover its whole lines, the newline included. */
export interface Assignment {
  readonly path: readonly string[];
  /** Index in `sections`, or -1 before the first header. */
  readonly section: number;
  readonly line: number;
  readonly start: number;
  readonly valueStart: number;
  readonly valueEnd: number;
  readonly end: number;
}

/** `[table]` or `[[array of tables]]`. */
export interface Section {
  readonly path: readonly string[];
  readonly isArray: boolean;
  readonly line: number;
  readonly end: number;
}

export interface Places {
  readonly assignments: readonly Assignment[];
  readonly sections: readonly Section[];
}

export function findPlaces(text: string): Places {
  const assignments: Assignment[] = [];
  const sections: Section[] = [];
  let line = 1;
  let start = 0;
  while (start < text.length) {
    const first = skipBlanks(text, start);
    let end: number;
    if (text[first] === '[') {
      const isArray = text[first + 1] === '[';
      const { keys } = readKeys(text, first + (isArray ? 2 : 1));
      end = endOfLine(text, first);
      sections.push({ path: keys, isArray, line, end });
    } else if (first < text.length && !'#\r\n'.includes(text[first]!)) {
      const { keys, after } = readKeys(text, first);
      const valueStart = skipBlanks(text, after + 1);
      const valueEnd = skipValue(text, valueStart);
      end = endOfLine(text, valueEnd);
      const path = [...(sections.at(-1)?.path ?? []), ...keys];
      assignments.push({ path, section: sections.length - 1, line, start, valueStart, valueEnd, end });
    } else {
      end = endOfLine(text, first);
    }
    line += countNewlines(text, start, end);
    start = end;
  }
  return { assignments, sections };
}

/**
 * The line that sets the path, else the one that opens the nearest table around it. A number is the place in a list of
 * tables: `['models', 3, 'id']` is the id of the fourth `[[models]]`.
 */
export function lineOf(text: string, path: readonly (string | number)[]): number | undefined {
  const places = findPlaces(text);
  const at = path.findIndex((key) => typeof key === 'number');
  if (at === -1) return lineIn(places, path as readonly string[]);
  const list = path.slice(0, at) as string[];
  const sameList = (section: Section) => section.isArray && section.path.join('\0') === list.join('\0');
  const begins = places.sections.flatMap((section, index) => (sameList(section) ? [index] : []));
  const first = begins[path[at] as number];
  // A list that is written on one line has no tables of its own.
  if (first === undefined) return lineIn(places, list);
  const behind = begins[(path[at] as number) + 1] ?? places.sections.length;
  const inside = [...list, ...path.slice(at + 1).map(String)];
  const own = places.assignments.filter(({ section }) => section >= first && section < behind);
  const below = places.sections.slice(first + 1, behind);
  const found = inside.length > list.length ? lineIn({ assignments: own, sections: below }, inside) : undefined;
  return found ?? places.sections[first]!.line;
}

function lineIn({ assignments, sections }: Places, path: readonly string[]): number | undefined {
  const leads = (place: readonly string[]) => place.length <= path.length && place.every((key, index) => key === path[index]);
  const within = (place: readonly string[]) => path.every((key, index) => key === place[index]);
  const found =
    assignments.find((each) => each.path.length === path.length && leads(each.path)) ??
    assignments.find((each) => leads(each.path)) ??
    sections.find((each) => each.path.length === path.length && leads(each.path)) ??
    [...assignments, ...sections].find((each) => within(each.path));
  return found?.line;
}

// `a."b c".'d'`, up to the `=` or `]` that follows.
function readKeys(text: string, from: number): { keys: string[]; after: number } {
  const keys: string[] = [];
  let at = from;
  for (;;) {
    at = skipBlanks(text, at);
    const end = text[at] === '"' || text[at] === "'" ? skipString(text, at) : skipBareKey(text, at);
    const raw = text.slice(at, end);
    keys.push(/^["']/.test(raw) ? String(parse(`key = ${raw}`).key) : raw);
    at = skipBlanks(text, end);
    if (text[at] !== '.') return { keys, after: at };
    at++;
  }
}

function skipBareKey(text: string, from: number): number {
  let at = from;
  while (at < text.length && /[A-Za-z0-9_-]/.test(text[at]!)) at++;
  return at;
}

function skipValue(text: string, from: number): number {
  const opening = text[from];
  if (opening === '"' || opening === "'") return skipString(text, from);
  if (opening === '[' || opening === '{') return skipBrackets(text, from);
  const end = text.slice(from).search(/[#\r\n]/);
  return from + text.slice(from, end === -1 ? undefined : from + end).trimEnd().length;
}

function skipBrackets(text: string, from: number): number {
  let depth = 0;
  let at = from;
  while (at < text.length) {
    const character = text[at]!;
    if (character === '"' || character === "'") {
      at = skipString(text, at);
      continue;
    }
    if (character === '#') {
      at = endOfLine(text, at);
      continue;
    }
    at++;
    if (character === '[' || character === '{') depth++;
    if ((character === ']' || character === '}') && --depth === 0) return at;
  }
  return at;
}

function skipString(text: string, from: number): number {
  const quote = text[from]!;
  const delimiter = text.startsWith(quote.repeat(3), from) ? quote.repeat(3) : quote;
  let at = from + delimiter.length;
  while (at < text.length && !text.startsWith(delimiter, at)) at += quote === '"' && text[at] === '\\' ? 2 : 1;
  at += delimiter.length;
  // A multi-line string may end with one or two quotes of its own before the closing three.
  while (delimiter.length === 3 && text[at] === quote) at++;
  return at;
}

function skipBlanks(text: string, from: number): number {
  let at = from;
  while (text[at] === ' ' || text[at] === '\t') at++;
  return at;
}

function endOfLine(text: string, from: number): number {
  const newline = text.indexOf('\n', from);
  return newline === -1 ? text.length : newline + 1;
}

function countNewlines(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = text.indexOf('\n', from); at !== -1 && at < to; at = text.indexOf('\n', at + 1)) count++;
  return count;
}
