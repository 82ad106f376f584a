// What is different between two values, as a list that a person can read: a JSON pointer, what was there, what is there now.
// Bounded in number, size and work, and without secrets. Parts that both values share as the same object cost nothing,
// which is how merges leave what they do not touch.
import { limits, type JsonValue, type TraceChange } from '@tenon/protocol';
import { CENSORED, hideSecrets, isSecretName } from '../kernel/redact.ts';

export interface Difference {
  readonly changes: TraceChange[];
  /** Changes that are not listed. */
  readonly more: number;
}

const MAX_CHANGES = limits.traceChanges.value;
const MAX_CHARS = limits.traceValueChars.value;
/** Values that are looked at in one comparison; what lies beyond counts as one change of the whole. */
const MAX_VISITS = 20_000;
/** Of a longer text, only so much around the first difference is looked at. */
const MAX_TEXT = 65_536;
const MAX_DEPTH = 64;
/** What a long text shows before its first difference. */
const CONTEXT_CHARS = 40;
const MAX_PATH = 512;

/** Takes what must not be kept out of a text. */
export type Hide = (text: string) => string;

export function differenceOf(before: unknown, after: unknown, hide: Hide = hideSecrets): Difference {
  const changes: TraceChange[] = [];
  let more = 0;
  let visits = 0;

  function note(path: string, isSecret: boolean, was: unknown, is: unknown): void {
    if (changes.length >= MAX_CHANGES) {
      more++;
      return;
    }
    const [shownBefore, shownAfter] =
      typeof was === 'string' && typeof is === 'string' && !isSecret
        ? aroundDifference(was, is, hide)
        : [shown(was, hide, isSecret), shown(is, hide, isSecret)];
    changes.push({
      path: path.length > MAX_PATH ? `${path.slice(0, MAX_PATH)}…` : path,
      ...(was === undefined ? {} : { before: shownBefore }),
      ...(is === undefined ? {} : { after: shownAfter }),
    } as TraceChange);
  }

  function compare(was: unknown, is: unknown, path: string, isSecret: boolean, depth: number): void {
    if (Object.is(was, is)) return;
    if (++visits > MAX_VISITS || depth > MAX_DEPTH || isSecret) {
      if (!isSame(was, is)) note(path, isSecret, was, is);
      return;
    }
    if (Array.isArray(was) && Array.isArray(is)) return compareLists(was, is, path, depth);
    if (isObject(was) && isObject(is)) {
      for (const key of new Set([...Object.keys(was), ...Object.keys(is)]))
        compare(was[key], is[key], `${path}/${escaped(key)}`, isSecretName(key), depth + 1);
      return;
    }
    note(path, isSecret, was, is);
  }

  /** What was put in or taken out in the middle does not make everything behind it look changed. */
  function compareLists(was: readonly unknown[], is: readonly unknown[], path: string, depth: number): void {
    let start = 0;
    let [endWas, endIs] = [was.length, is.length];
    if (endWas !== endIs) {
      while (start < endWas && start < endIs && isSame(was[start], is[start])) start++;
      while (endWas > start && endIs > start && isSame(was[endWas - 1], is[endIs - 1])) [endWas, endIs] = [endWas - 1, endIs - 1];
    }
    for (let index = start; index < Math.max(endWas, endIs); index++) {
      compare(index < endWas ? was[index] : undefined, index < endIs ? is[index] : undefined, `${path}/${index}`, false, depth + 1);
    }
  }

  function isSame(a: unknown, b: unknown, depth = 0): boolean {
    if (Object.is(a, b)) return true;
    if (++visits > MAX_VISITS || depth > MAX_DEPTH) return false;
    if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((each, index) => isSame(each, b[index], depth + 1));
    if (!isObject(a) || !isObject(b)) return false;
    const keys = Object.keys(a);
    return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && isSame(a[key], b[key], depth + 1));
  }

  compare(before, after, '', false, 0);
  return { changes, more };
}

/** A value as it may be kept: short, and without secrets. */
export function shown(value: unknown, hide: Hide = hideSecrets, isSecret = false): JsonValue {
  if (value === null || value === undefined || typeof value === 'boolean') return value ?? null;
  if (isSecret) return CENSORED;
  if (typeof value === 'number') return value;
  if (typeof value === 'string') return cut(hide(value.slice(0, MAX_TEXT)), value.length);
  const budget = { nodes: MAX_CHARS };
  const clean = withoutSecrets(value, hide, budget, 0);
  const text = JSON.stringify(clean);
  return text.length <= MAX_CHARS && budget.nodes >= 0 ? clean : `${text.slice(0, MAX_CHARS).toWellFormed()}…`;
}

/** A text of a plugin that says why, as it may be kept. */
export function shownReason(text: string, hide: Hide = hideSecrets): string {
  return cut(hide(text.slice(0, MAX_TEXT)), text.length);
}

function withoutSecrets(value: unknown, hide: Hide, budget: { nodes: number }, depth: number): JsonValue {
  // Nobody can read more of it than this: what is left out is shown as cut off.
  if (--budget.nodes < 0 || depth > MAX_DEPTH) return '…';
  if (typeof value === 'string') return hide(value.slice(0, MAX_TEXT)).slice(0, MAX_CHARS + 1);
  if (Array.isArray(value)) {
    const list: JsonValue[] = [];
    for (const each of value) {
      list.push(withoutSecrets(each, hide, budget, depth + 1));
      if (budget.nodes < 0) break;
    }
    return list;
  }
  if (isObject(value)) {
    const made: Record<string, JsonValue> = {};
    for (const [key, each] of Object.entries(value)) {
      made[key] =
        isSecretName(key) && each !== null && typeof each !== 'boolean' ? CENSORED : withoutSecrets(each, hide, budget, depth + 1);
      if (budget.nodes < 0) break;
    }
    return made;
  }
  return typeof value === 'number' || typeof value === 'boolean' ? value : null;
}

/** Two long texts that begin alike would look alike once they are cut: what they share at the front is left out. */
function aroundDifference(was: string, is: string, hide: Hide): [string, string] {
  let [a, b] = [was, is];
  if (Math.max(a.length, b.length) > MAX_TEXT) {
    const from = Math.max(0, sharedStart(a, b) - MAX_TEXT / 2);
    [a, b] = [a.slice(from, from + MAX_TEXT), b.slice(from, from + MAX_TEXT)];
  }
  [a, b] = [hide(a), hide(b)];
  if (Math.max(a.length, b.length) <= MAX_CHARS) return [cut(a, was.length), cut(b, is.length)];
  const from = Math.max(0, sharedStart(a, b) - CONTEXT_CHARS);
  const lead = from === 0 ? '' : '…';
  return [lead + cut(a.slice(from), a.length - from), lead + cut(b.slice(from), b.length - from)];
}

function sharedStart(a: string, b: string): number {
  let index = 0;
  while (index < a.length && index < b.length && a.charCodeAt(index) === b.charCodeAt(index)) index++;
  return index;
}

function cut(text: string, length: number): string {
  return text.length <= MAX_CHARS ? text.toWellFormed() : `${text.slice(0, MAX_CHARS).toWellFormed()}… (${length} characters)`;
}

function escaped(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
