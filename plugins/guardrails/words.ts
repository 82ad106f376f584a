// What the rules have in common: the texts in the parameters of a call, and wildcards.

export interface Hit {
  readonly rule: string;
  /** What in the call it is about. */
  readonly found: string;
}

export interface Leaf {
  /** The name of the field that holds it. */
  readonly key: string;
  readonly text: string;
}

const SHOWN = 120;

export function hit(rule: string, found: string): Hit {
  return { rule, found: found.slice(0, SHOWN) };
}

/** Every text in the parameters. A list of texts is one text too: the words of a command may come one by one. */
export function leavesOf(value: unknown, key = ''): Leaf[] {
  if (typeof value === 'string') return [{ key, text: value }];
  if (Array.isArray(value)) {
    const own = value.flatMap((each) => leavesOf(each, key));
    return value.length > 1 && value.every((each) => typeof each === 'string') ? [{ key, text: value.join(' ') }, ...own] : own;
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inside]) => leavesOf(inside, name));
}

/** The words of a command line as a shell would see them, roughly: quotes and backslashes are gone, and nothing is expanded. */
export function wordsOf(text: string): string[] {
  return text
    .replace(/['"\\]/g, '')
    .split(/[\s;|&<>(){}`]+/)
    .filter((word) => word !== '');
}

/** Whether the text is like the pattern: * stands for anything, ? and [..] for one character. In linear memory, no backtracking over all. */
export function isLike(text: string, pattern: string): boolean {
  const wanted = pattern.replace(/\[[^\]]*\]/g, '?');
  let [at, next, star, resume] = [0, 0, -1, 0];
  while (at < text.length) {
    if (next < wanted.length && wanted[next] === '*') {
      star = next++;
      resume = at;
    } else if (next < wanted.length && (wanted[next] === '?' || wanted[next] === text[at])) {
      next++;
      at++;
    } else if (star >= 0) {
      next = star + 1;
      at = ++resume;
    } else return false;
  }
  while (wanted[next] === '*') next++;
  return next === wanted.length;
}
