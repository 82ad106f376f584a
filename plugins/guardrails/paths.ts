// Rules about paths. A rule is a name or a path, with * in it: `.env`, `*.pem`, `secrets`, `config/keys`, `/etc`. It covers
// whatever is below it. One that begins with / is about that place of the machine; others hold in every folder.
import { type Hit, hit, isLike, leavesOf, wordsOf } from './words.ts';

export interface PathRule {
  readonly rule: string;
  readonly isAbsolute: boolean;
  readonly parts: readonly string[];
}

const PATH_FIELD = /path|file|dir|folder|cwd|glob|target|source|destination/i;
const PATCH_LINE = /^(?:\*\*\* (?:(?:Add|Update|Delete) File|Move to): |(?:\+\+\+|---) (?:[ab]\/)?)(.+)$/gm;

export function pathRule(rule: string): PathRule {
  return { rule, isAbsolute: rule.startsWith('/'), parts: partsOf(rule) };
}

/** In programs every word may be a path, and what a shell would expand is taken for what it could become. */
export function findPath(params: unknown, rules: readonly PathRule[], isProgram: boolean): Hit | undefined {
  if (rules.length === 0) return undefined;
  for (const path of pathsIn(params, isProgram)) {
    const rule = rules.find((each) => covers(each, path, isProgram));
    if (rule) return hit(rule.rule, path);
  }
  return undefined;
}

/** Among the places that a call really touches, links and `..` followed. Names in the path of the workspace itself do not count. */
export function findPlace(places: readonly string[], workspace: string, rules: readonly PathRule[]): Hit | undefined {
  if (rules.length === 0) return undefined;
  const root = `${workspace.replace(/\/+$/, '')}/`;
  for (const place of places) {
    const below = place.startsWith(root) ? place.slice(root.length) : place === workspace ? '' : place;
    const rule = rules.find((each) => covers(each, each.isAbsolute ? place : below, false));
    if (rule) return hit(rule.rule, below);
  }
  return undefined;
}

function pathsIn(params: unknown, isProgram: boolean): string[] {
  const leaves = leavesOf(params);
  if (!isProgram) {
    return leaves.flatMap(({ key, text }) => {
      const named = key === 'patch' ? [...text.matchAll(PATCH_LINE)].map(([, path]) => path!.trim()) : [];
      return PATH_FIELD.test(key) ? [text, ...named] : named;
    });
  }
  const folder = leaves.find(({ key }) => key === 'cwd')?.text;
  return leaves.flatMap(({ text }) =>
    // A path may be the value of an option or of a variable: --file=x, if=x, host:x.
    wordsOf(text).flatMap((word) =>
      [word, ...word.split(/[=:,]/)].flatMap((each) => (folder === undefined ? [each] : [each, `${folder}/${each}`])),
    ),
  );
}

function covers({ isAbsolute, parts }: PathRule, path: string, isProgram: boolean): boolean {
  const own = partsOf(path);
  if (parts.length === 0 || own.length < parts.length) return false;
  const fits = (from: number) => parts.every((part, index) => fitsPart(part, own[from + index]!, isProgram));
  // A path that climbs out of its folder may lead to any place of the machine.
  if (isAbsolute && !own.includes('..') && !path.startsWith('~')) return path.startsWith('/') && fits(0);
  for (let from = 0; from + parts.length <= own.length; from++) if (fits(from)) return true;
  return false;
}

function fitsPart(rule: string, part: string, isProgram: boolean): boolean {
  if (isLike(part, rule)) return true;
  if (!isProgram || !/[*?[]/.test(part)) return false;
  // A shell does not expand * to names with a dot in front.
  return !(rule.startsWith('.') && /^[*?[]/.test(part)) && isLike(rule, part);
}

/** The parts of a path, with `.` and what `..` takes back left out; lower case, because some file systems know no other. */
function partsOf(path: string): string[] {
  const parts: string[] = [];
  for (const part of path.toLowerCase().split(/[/\\]+/)) {
    if (part === '' || part === '.') continue;
    if (part === '..' && parts.length > 0 && parts.at(-1) !== '..') parts.pop();
    else parts.push(part);
  }
  return parts;
}
