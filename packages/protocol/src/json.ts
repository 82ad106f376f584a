// JSON as Tenon accepts it: a schema for any value, and a parser that refuses what JSON.parse lets through
// (duplicate and reserved keys, numbers that overflow, lone surrogates, NUL, depth and key counts that cost too much).
import { Type } from 'typebox';
import { limits } from './limits.ts';
import { RESERVED_KEYS } from './names.ts';

export const JsonValue = Type.Cyclic(
  {
    JsonValue: Type.Union([
      Type.Null(),
      Type.Boolean(),
      Type.Number(),
      Type.String(),
      Type.Array(Type.Ref('JsonValue')),
      Type.Record(Type.String(), Type.Ref('JsonValue')),
    ]),
  },
  'JsonValue',
);
export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };

/** Why a text was refused; `offset` counts UTF-16 units. */
export interface JsonFault {
  readonly reason: string;
  readonly offset: number;
}

export type ParsedJson = { readonly ok: true; readonly value: JsonValue } | { readonly ok: false; readonly fault: JsonFault };

interface JsonBounds {
  readonly depth: number;
  readonly keys: number;
  /** Of the whole text, in UTF-16 units. Without it, the caller has seen to the length. */
  readonly length?: number;
}

const DEFAULT_BOUNDS: JsonBounds = { depth: limits.jsonDepth.value, keys: limits.jsonKeys.value, length: limits.maxPayload.value };

/** Contract: must not throw, whatever the text. */
export function parseJson(text: string, bounds: JsonBounds = DEFAULT_BOUNDS): ParsedJson {
  const fault = scan(text, bounds);
  if (fault) return { ok: false, fault };
  try {
    return { ok: true, value: JSON.parse(text) as JsonValue };
  } catch {
    return { ok: false, fault: { reason: 'not valid JSON', offset: grammarFault(text) } };
  }
}

/** Where an offset is, for people: `line 3, column 5`. */
export function placeInText(text: string, offset: number): string {
  const before = text.slice(0, offset);
  const lineStart = before.lastIndexOf('\n') + 1;
  return `line ${before.split('\n').length}, column ${offset - lineStart + 1}`;
}

const PLAIN = /(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.+-])/y;
type Wanted = 'value' | 'value-or-end' | 'key' | 'key-or-end' | 'colon' | 'more';

/** What the engines say of where a text goes wrong differs, and some say nothing: the first token that cannot stand where it stands. */
function grammarFault(text: string): number {
  const open: string[] = [];
  let wanted: Wanted = 'value';
  let index = 0;
  for (;;) {
    while (index < text.length && isSpace(text.charCodeAt(index))) index++;
    const sign = text[index];
    const inside = open.at(-1);
    const isKeyWanted: boolean = wanted === 'key' || wanted === 'key-or-end';
    const isValueWanted: boolean = wanted === 'value' || wanted === 'value-or-end';
    const start = index++;
    if (sign === '"' && (isKeyWanted || isValueWanted)) {
      for (; text[index] !== '"'; index++) {
        if (index >= text.length || text.charCodeAt(index) < 32) return index;
        if (text.charCodeAt(index) === BACKSLASH) index++;
      }
      index++;
      wanted = isKeyWanted ? 'colon' : 'more';
    } else if ((sign === '{' || sign === '[') && isValueWanted) {
      open.push(sign);
      wanted = sign === '{' ? 'key-or-end' : 'value-or-end';
    } else if (sign === ':' && wanted === 'colon') wanted = 'value';
    else if (sign === ',' && wanted === 'more' && inside !== undefined) wanted = inside === '{' ? 'key' : 'value';
    else if (sign === '}' && inside === '{' && (wanted === 'key-or-end' || wanted === 'more')) wanted = closed();
    else if (sign === ']' && inside === '[' && (wanted === 'value-or-end' || wanted === 'more')) wanted = closed();
    else {
      PLAIN.lastIndex = start;
      const plain = isValueWanted ? PLAIN.exec(text) : null;
      if (!plain) return start;
      index = start + plain[0].length;
      wanted = 'more';
    }
  }

  function closed(): Wanted {
    open.pop();
    return 'more';
  }
}

const QUOTE = 34;
const BACKSLASH = 92;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;
const OPEN_BRACKET = 91;
const CLOSE_BRACKET = 93;
const COLON = 58;

// One pass before JSON.parse. It does not check the grammar (JSON.parse does), only what JSON.parse would accept and we do not.
// Per object it keeps the keys seen so far, which is what makes duplicates visible at all.
function scan(text: string, bounds: JsonBounds): JsonFault | undefined {
  if (bounds.length !== undefined && text.length > bounds.length) return { reason: `longer than ${bounds.length} characters`, offset: 0 };
  const keysOfObject: (Keys | undefined)[] = [];
  let keyCount = 0;
  let depth = 0;
  let index = 0;
  const end = text.length;
  while (index < end) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) {
      const start = index;
      let escaped = false;
      index++;
      for (;;) {
        if (index >= end) return { reason: 'unterminated string', offset: start };
        const inner = text.charCodeAt(index);
        if (inner === QUOTE) break;
        if (inner === BACKSLASH) {
          escaped = true;
          index++;
        } else if (inner >= 0xd800 && inner <= 0xdfff) {
          const next = text.charCodeAt(index + 1);
          if (inner > 0xdbff || !(next >= 0xdc00 && next <= 0xdfff)) return { reason: 'lone surrogate', offset: index };
          index++;
        }
        index++;
      }
      index++;
      let content: string | undefined;
      if (escaped) {
        content = decodeLiteral(text.slice(start, index));
        if (content === undefined) return { reason: 'invalid escape in a string', offset: start };
        if (content.includes('\0')) return { reason: 'NUL in a string', offset: start };
        if (!content.isWellFormed()) return { reason: 'lone surrogate', offset: start };
      }
      let after = index;
      while (after < end && isSpace(text.charCodeAt(after))) after++;
      if (depth > 0 && text.charCodeAt(after) === COLON) {
        const key = content ?? text.slice(start + 1, index - 1);
        if (RESERVED_KEYS.has(key)) return { reason: `reserved key "${key}"`, offset: start };
        if (++keyCount > bounds.keys) return { reason: `more than ${bounds.keys} keys`, offset: start };
        const seen = keysOfObject[depth];
        if (seen === undefined) keysOfObject[depth] = [key];
        else if (hasKey(seen, key)) return { reason: `duplicate key "${key.slice(0, 64)}"`, offset: start };
        else keysOfObject[depth] = withKey(seen, key);
      }
      index = after;
      continue;
    }
    if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      depth++;
      if (depth > bounds.depth) return { reason: `nested deeper than ${bounds.depth}`, offset: index };
      keysOfObject[depth] = undefined;
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      depth--;
      if (depth < 0) return { reason: 'unbalanced brackets', offset: index };
    } else if (code === 45 || (code >= 48 && code <= 57)) {
      const start = index;
      while (index < end && isNumberPart(text.charCodeAt(index))) index++;
      if (!Number.isFinite(Number(text.slice(start, index)))) return { reason: 'number out of range', offset: start };
      continue;
    }
    index++;
  }
  return undefined;
}

// Most objects have few keys, and a set for each costs more than to look at them all.
type Keys = string[] | Set<string>;
const FEW_KEYS = 12;

function hasKey(keys: Keys, key: string): boolean {
  return keys instanceof Set ? keys.has(key) : keys.includes(key);
}

function withKey(keys: Keys, key: string): Keys {
  if (keys instanceof Set) return keys.add(key);
  if (keys.length >= FEW_KEYS) return new Set(keys).add(key);
  keys.push(key);
  return keys;
}

function decodeLiteral(literal: string): string | undefined {
  try {
    return JSON.parse(literal) as string;
  } catch {
    return undefined;
  }
}

function isSpace(code: number): boolean {
  return code === 32 || code === 10 || code === 13 || code === 9;
}

function isNumberPart(code: number): boolean {
  return (code >= 48 && code <= 57) || code === 43 || code === 45 || code === 46 || code === 69 || code === 101;
}
