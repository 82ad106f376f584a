// What a call is about, told before it is judged: which places of the machine, which words of a program, which hosts. Paths are
// absolute; a link, `..` or `~` in one is followed, so that a rule about a place holds however the place is spelled. Nothing
// is changed, and nothing has to be there.
import { lstat, readlink, realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { parseCommand } from './argv.ts';
import { type CallFacts, ToolError } from './tool.ts';

const MAX_LINKS = 32;
/** What one command may name; more cannot be looked at in passing. */
const MAX_PLACES = 4_096;
const MAX_PATH = 4_096;

/** As it is spelled, and where it leads. */
export async function pathFacts(paths: readonly string[], base: string): Promise<string[]> {
  const found = new Set<string>();
  for (const path of paths) {
    if (path.includes('\0') || path.length > MAX_PATH) continue;
    const spelled = isAbsolute(path) ? resolve(path) : resolve(base, path);
    found.add(await leadsTo(spelled));
    found.add(spelled);
  }
  return [...found];
}

/** The real place, as far as there is one; the end of it may not be there yet, also behind a link that leads nowhere. */
async function leadsTo(path: string, links = 0): Promise<string> {
  const missing: string[] = [];
  for (let at = path; ; at = dirname(at)) {
    try {
      return join(await realpath(at), ...missing);
    } catch {
      const link = await readlink(at).catch(() => undefined);
      if (link !== undefined && links < MAX_LINKS) return leadsTo(join(resolve(dirname(at), link), ...missing), links + 1);
      const isThere = await lstat(at).then(
        () => true,
        () => false,
      );
      if (dirname(at) === at || isThere) return join(at, ...missing);
      missing.unshift(basename(at));
    }
  }
}

export interface ProgramPlace {
  /** Where it runs; a real path. */
  readonly cwd: string;
  /** What `~` may stand for. */
  readonly homes: readonly string[];
}

/** Every word may be a path or name a host; which of them is, only the program knows. Contract: throws ToolError when there are too many. */
export async function programFacts(words: readonly string[], { cwd, homes }: ProgramPlace): Promise<CallFacts> {
  const all = innerWords(words, 3);
  const parts = new Set(all.flatMap((word) => [word, ...word.split(/[=:,{}`]/)]).filter((part) => part !== ''));
  // `cd x && cat y`, `git -C x`, `make -C x`: what comes after is in there.
  const moves = all.flatMap((word, index) => (/^(cd|pushd|-C|--directory)$/.test(word) ? [all[index + 1] ?? '.'] : []));
  const folders = [cwd, ...moves.flatMap((move) => spellings(move, cwd, homes))];
  if (parts.size * folders.length > MAX_PLACES) throw new ToolError('TOO_LARGE', 'The command names more than can be looked at');
  const spelled = [...parts].flatMap((part) => folders.flatMap((folder) => spellings(part, folder, homes)));
  return {
    derivedPaths: await pathFacts([...new Set(spelled)], cwd),
    commandWords: all,
    hosts: [...new Set(all.flatMap(hostsIn))],
  };
}

/** Those of a command inside a word too: `sh -c "cat x"`. */
function innerWords(words: readonly string[], depth: number): string[] {
  return words.flatMap((word) => {
    if (depth === 0 || !/[\s;|&<>()]/.test(word)) return [word];
    const line = parseCommand(word);
    const inner = line.kind === 'bad' ? word.split(/[\s;|&<>()'"]+/) : line.kind === 'shell' ? line.words : line.argv;
    return [word, ...innerWords(inner, depth - 1)];
  });
}

function spellings(part: string, folder: string, homes: readonly string[]): string[] {
  const tilde = /^(?:~|\$HOME|\$\{HOME\})(?=\/|$)/.exec(part);
  if (tilde) return homes.map((home) => join(home, part.slice(tilde[0].length)));
  const user = /^~([A-Za-z0-9._-]+)(?=\/|$)/.exec(part);
  const [home] = homes;
  if (user && home !== undefined)
    return [user[1] === 'root' ? '/root' : join(dirname(home), user[1]!)].map((each) => join(each, part.slice(user[0].length)));
  const here = /^(?:\$PWD|\$\{PWD\})(?=\/|$)/.exec(part);
  if (here) return [join(folder, part.slice(here[0].length))];
  return [isAbsolute(part) ? part : join(folder, part)];
}

/** Of an address (`https://x/…`), of places that programs know (`me@x:path`, `x:22`), and names with a dot as they stand. */
function hostsIn(word: string): string[] {
  return [word, ...word.split(/[=,]/)].flatMap((part) => {
    const isAddress = /^[a-z][a-z0-9+.-]*:[/\\]{2}/i.test(part);
    const bare = part
      .replace(/^[a-z][a-z0-9+.-]*:[/\\]{2}/i, '')
      .replace(/[/\\?#].*$/s, '')
      .replace(/^.*@/s, '');
    const host = hostOf(bare) ?? hostOf(bare.replace(/:.*$/s, ''));
    return host !== undefined && (isAddress || part.includes('@') || /[.:]/.test(host)) ? [host] : [];
  });
}

/** As the web writes it: lower case, other alphabets and odd spellings of addresses in their usual form. */
export function hostOf(text: string): string | undefined {
  if (text === '' || /[\s/\\]/.test(text) || !URL.canParse(`http://${text}`)) return undefined;
  return new URL(`http://${text}`).hostname.replace(/\.$/, '');
}
