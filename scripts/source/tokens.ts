// The words, strings and signs of a TypeScript source, without its comments: enough to read imports and calls from it.
// TypeScript 7 offers no parser to scripts. What is not understood is skipped, never a reason to throw.

export interface Token {
  readonly kind: 'word' | 'string' | 'sign';
  /** For a string: what is between its quotes. A template with a substitution is a sign. */
  readonly text: string;
}

// After these words a slash begins a regular expression; after any other word it divides.
const BEFORE_EXPRESSION = new Set('return typeof case in of delete void throw new else do instanceof yield await'.split(' '));

export function tokensOf(source: string): Token[] {
  const tokens: Token[] = [];
  readTokens(source, source.startsWith('#!') ? endOfLine(source, 0) : 0, tokens, false);
  return tokens;
}

/** Reads to the end, or to the brace that closes a substitution of a template; returns where it stopped. */
function readTokens(source: string, start: number, tokens: Token[], inTemplate: boolean): number {
  let index = start;
  let braces = 0;
  while (index < source.length) {
    const sign = source[index]!;
    const pair = source.slice(index, index + 2);
    if (pair === '//') {
      index = endOfLine(source, index);
    } else if (pair === '/*') {
      const end = source.indexOf('*/', index + 2);
      index = end === -1 ? source.length : end + 2;
    } else if (sign === '"' || sign === "'") {
      const end = endOfQuoted(source, index);
      tokens.push({ kind: 'string', text: source.slice(index + 1, end - 1) });
      index = end;
    } else if (sign === '`') {
      index = readTemplate(source, index, tokens);
    } else if (sign === '/' && startsRegex(tokens.at(-1))) {
      tokens.push({ kind: 'sign', text: '/regex/' });
      index = endOfRegex(source, index);
    } else if (isWordPart(sign)) {
      const begin = index;
      while (index < source.length && isWordPart(source[index]!)) index++;
      tokens.push({ kind: 'word', text: source.slice(begin, index) });
    } else {
      if (sign === '{') braces++;
      if (sign === '}' && braces-- === 0 && inTemplate) return index;
      if (sign.trim() !== '') tokens.push({ kind: 'sign', text: sign });
      index++;
    }
  }
  return index;
}

function readTemplate(source: string, start: number, tokens: Token[]): number {
  let index = start + 1;
  let isPlain = true;
  const inner: Token[] = [];
  while (index < source.length && source[index] !== '`') {
    if (source[index] === '\\') index++;
    else if (source.startsWith('${', index)) {
      isPlain = false;
      index = readTokens(source, index + 2, inner, true);
    }
    index++;
  }
  if (isPlain) tokens.push({ kind: 'string', text: source.slice(start + 1, index) });
  else tokens.push({ kind: 'sign', text: '`' }, ...inner);
  return index + 1;
}

// A quoted string cannot span lines: the text of a JSX element may have a lone apostrophe, and must not swallow the rest.
function endOfQuoted(source: string, start: number): number {
  const quote = source[start];
  let index = start + 1;
  while (index < source.length && source[index] !== quote && source[index] !== '\n') index += source[index] === '\\' ? 2 : 1;
  return Math.min(index + 1, source.length);
}

function endOfRegex(source: string, start: number): number {
  let index = start + 1;
  let inClass = false;
  while (index < source.length && source[index] !== '\n') {
    const sign = source[index];
    if (sign === '\\') index++;
    else if (sign === '[') inClass = true;
    else if (sign === ']') inClass = false;
    else if (sign === '/' && !inClass) return index + 1;
    index++;
  }
  return index;
}

function startsRegex(before: Token | undefined): boolean {
  if (before === undefined) return true;
  if (before.kind === 'word') return BEFORE_EXPRESSION.has(before.text);
  return before.kind === 'sign' && before.text !== ')' && before.text !== ']';
}

function isWordPart(sign: string): boolean {
  return /[\p{L}\p{N}_$]/u.test(sign);
}

function endOfLine(source: string, start: number): number {
  const end = source.indexOf('\n', start);
  return end === -1 ? source.length : end;
}
