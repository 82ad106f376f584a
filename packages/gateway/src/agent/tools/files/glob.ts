// Patterns for file names, such as `src/**/*.ts`: `*` and `?` inside one name, `**` over folders, `[a-z]`, `{a,b}`. Matching
// goes back to the last star only, so its time is bounded by pattern times path, whatever the pattern.
import { ToolError } from '../tool.ts';

const MAX_PATTERN = 1_000;
const MAX_ALTERNATIVES = 256;

export type Matcher = (path: string) => boolean;

/** A pattern without `/` is compared with the last name of a path, others with the whole path. */
export function compileGlob(pattern: string): Matcher {
  if (pattern.length > MAX_PATTERN) throw new ToolError('BAD_GLOB', `The glob is longer than ${MAX_PATTERN} characters`);
  const forms = expandBraces(pattern.startsWith('./') ? pattern.slice(2) : pattern).map((form) => form.split('/').map(parseName));
  return (path) => {
    const names = path.split('/');
    return forms.some((form) => (form.length === 1 && form[0] !== 'any' ? matchName(form[0]!, names.at(-1)!) : matchPath(form, names)));
  };
}

type Piece = { readonly kind: 'char'; readonly char: string } | { readonly kind: 'one' | 'star' } | ClassPiece;
interface ClassPiece {
  readonly kind: 'class';
  readonly negated: boolean;
  readonly ranges: readonly (readonly [string, string])[];
}
type NamePattern = 'any' | readonly Piece[];

function parseName(text: string): NamePattern {
  if (text === '**') return 'any';
  const chars = [...text];
  const pieces: Piece[] = [];
  for (let at = 0; at < chars.length; at++) {
    const char = chars[at]!;
    if (char === '*') {
      if (pieces.at(-1)?.kind !== 'star') pieces.push({ kind: 'star' });
    } else if (char === '?') {
      pieces.push({ kind: 'one' });
    } else if (char === '\\' && at + 1 < chars.length) {
      pieces.push({ kind: 'char', char: chars[++at]! });
    } else if (char === '[') {
      const end = chars.indexOf(']', at + (chars[at + 1] === '!' || chars[at + 1] === '^' ? 3 : 2));
      if (end < 0) throw new ToolError('BAD_GLOB', 'A [ in the glob is not closed');
      pieces.push(parseClass(chars.slice(at + 1, end)));
      at = end;
    } else {
      pieces.push({ kind: 'char', char });
    }
  }
  return pieces;
}

function parseClass(chars: readonly string[]): Piece {
  const negated = chars[0] === '!' || chars[0] === '^';
  const members = negated ? chars.slice(1) : chars;
  const ranges: [string, string][] = [];
  for (let at = 0; at < members.length; at++) {
    const first = members[at]!;
    if (members[at + 1] === '-' && at + 2 < members.length) {
      ranges.push([first, members[at + 2]!]);
      at += 2;
    } else {
      ranges.push([first, first]);
    }
  }
  return { kind: 'class', negated, ranges };
}

function fits(piece: Piece, char: string): boolean {
  if (piece.kind === 'char') return piece.char === char;
  if (piece.kind === 'class') return piece.ranges.some(([low, high]) => char >= low && char <= high) !== piece.negated;
  return piece.kind === 'one';
}

function matchName(pattern: NamePattern, name: string): boolean {
  if (pattern === 'any') return true;
  return matchStars(pattern, [...name], (piece) => piece.kind === 'star', fits);
}

function matchPath(form: readonly NamePattern[], names: readonly string[]): boolean {
  return matchStars(form, names, (piece) => piece === 'any', matchName);
}

/** Greedy, with one place to go back to: a later star makes the earlier ones settled. */
function matchStars<P, V>(
  pattern: readonly P[],
  values: readonly V[],
  isStar: (piece: P) => boolean,
  fit: (piece: P, value: V) => boolean,
): boolean {
  let at = 0;
  let value = 0;
  let star = -1;
  let resume = 0;
  while (value < values.length) {
    const piece = pattern[at];
    if (at < pattern.length && isStar(piece as P)) {
      star = at++;
      resume = value;
    } else if (at < pattern.length && fit(piece as P, values[value]!)) {
      at++;
      value++;
    } else if (star >= 0) {
      at = star + 1;
      value = ++resume;
    } else {
      return false;
    }
  }
  while (at < pattern.length && isStar(pattern[at]!)) at++;
  return at === pattern.length;
}

function expandBraces(pattern: string): string[] {
  let forms = [''];
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern[at]!;
    if (char === '{') {
      const end = pattern.indexOf('}', at);
      if (end < 0) throw new ToolError('BAD_GLOB', 'A { in the glob is not closed');
      const inner = pattern.slice(at + 1, end);
      if (inner.includes('{')) throw new ToolError('BAD_GLOB', 'A { inside another { is not supported');
      forms = forms.flatMap((form) => inner.split(',').map((option) => form + option));
      if (forms.length > MAX_ALTERNATIVES) throw new ToolError('BAD_GLOB', `The glob stands for more than ${MAX_ALTERNATIVES} patterns`);
      at = end;
    } else {
      const text = char === '\\' && at + 1 < pattern.length ? pattern.slice(at, ++at + 1) : char;
      forms = forms.map((form) => form + text);
    }
  }
  return forms;
}
