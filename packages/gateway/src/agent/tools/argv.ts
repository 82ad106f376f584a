// The one reader of command lines: the check of the allow-list and the run both use it, so they cannot see two commands.
// POSIX quoting, no expansion. Whatever would need a shell to mean anything makes the line a shell command, and says so.

export type CommandLine =
  | { readonly kind: 'argv'; readonly argv: readonly string[] }
  /** `because` names what needs the shell; `words` are the plain words in it, for a look at the files they name. */
  | { readonly kind: 'shell'; readonly argv: readonly string[]; readonly because: string; readonly words: readonly string[] }
  | { readonly kind: 'bad'; readonly reason: string };

/** Words that are part of the shell: as programs they do not exist, or do nothing. */
const SHELL_WORDS = new Set(
  (
    '! { } [[ case do done elif else esac fi for if in then until while function select time ' +
    '. : alias bg break cd command continue eval exec exit export fc fg getopts hash jobs local read readonly return ' +
    'set shift source times trap type typeset declare ulimit umask unalias unset wait'
  ).split(' '),
);

const OPERATORS = new Set(['|', '&', ';', '<', '>', '(', ')', '\n', '\r']);
const PATTERNS = new Set(['*', '?', '[']);

export function parseCommand(line: string): CommandLine {
  const words: string[] = [];
  let word: string | undefined;
  let plain = true; // the word has no quoted part
  let because: string | undefined;
  const needsShell = (what: string) => {
    because ??= what;
  };
  const endWord = () => {
    if (word === undefined) return;
    if (words.length === 0 && plain && SHELL_WORDS.has(word)) needsShell(`"${word}" is part of the shell`);
    if (words.length === 0 && isAssignment(word)) needsShell('a variable is set before the program');
    words.push(word);
    word = undefined;
    plain = true;
  };

  for (let at = 0; at < line.length; at++) {
    const char = line[at]!;
    if (char === '\0') return { kind: 'bad', reason: 'the command holds a zero byte' };
    if (char === ' ' || char === '\t') {
      endWord();
    } else if (OPERATORS.has(char)) {
      needsShell(char === '\n' || char === '\r' ? 'it has more than one line' : `it uses ${char}`);
      endWord();
    } else if (char === "'") {
      const end = line.indexOf("'", at + 1);
      if (end < 0) return { kind: 'bad', reason: `the quote ' at character ${at + 1} is not closed` };
      word = (word ?? '') + line.slice(at + 1, end);
      plain = false;
      at = end;
    } else if (char === '"') {
      const quoted = readDoubleQuoted(line, at);
      if (quoted === undefined) return { kind: 'bad', reason: `the quote " at character ${at + 1} is not closed` };
      if (quoted.expands) needsShell('it uses $ or ` inside quotes');
      word = (word ?? '') + quoted.text;
      plain = false;
      at = quoted.end;
    } else if (char === '\\') {
      if (at + 1 >= line.length) return { kind: 'bad', reason: 'the command ends in a backslash' };
      at++;
      // A backslash before the end of a line joins the lines.
      if (line[at] === '\n') continue;
      word = (word ?? '') + line[at];
      plain = false;
    } else {
      if (char === '$' || char === '`') needsShell(`it uses ${char}`);
      if (PATTERNS.has(char)) needsShell(`it uses the pattern ${char}`);
      if (word === undefined && (char === '~' || char === '#')) needsShell(`a word begins with ${char}`);
      word = (word ?? '') + char;
    }
  }
  endWord();
  if (words.length === 0) return { kind: 'bad', reason: 'the command is empty' };
  if (because !== undefined) return { kind: 'shell', argv: ['sh', '-c', line], because, words };
  if (words[0] === '') return { kind: 'bad', reason: 'the name of the program is empty' };
  return { kind: 'argv', argv: words };
}

function readDoubleQuoted(line: string, start: number): { text: string; end: number; expands: boolean } | undefined {
  let text = '';
  let expands = false;
  for (let at = start + 1; at < line.length; at++) {
    const char = line[at]!;
    if (char === '"') return { text, end: at, expands };
    if (char === '\0') return undefined;
    if (char === '\\' && at + 1 < line.length && '$`"\\\n'.includes(line[at + 1]!)) {
      at++;
      if (line[at] !== '\n') text += line[at];
      continue;
    }
    if (char === '$' || char === '`') expands = true;
    text += char;
  }
  return undefined;
}

function isAssignment(word: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*=/.test(word);
}

/** One line that reads back as these words; for people. */
export { quoteWords as showCommand } from '@tenon/protocol/sep/wire';

const SHELLS = new Set(['sh', 'bash', 'dash', 'zsh', 'ksh', 'ash', 'fish', 'busybox']);

/** Whether a shell is asked to read a command out of its arguments. */
export function isShellCommand(argv: readonly string[]): boolean {
  const name = argv[0]?.split('/').at(-1) ?? '';
  return SHELLS.has(name) && argv.slice(1).some((word) => /^-[A-Za-z]*c/.test(word));
}
