// What a text for a POSIX shell would run: every simple command in it, wherever it stands, as if all of them were reached. It
// is read to find code, not to run it, so it may see more commands than the shell would, and must never see fewer. What
// it cannot read it says.

export interface ShellWord {
  readonly text: string;
  /** What it becomes is known only when it runs: a pattern for names of files, or a variable, a command, a home folder. */
  readonly becomes?: 'names' | 'anything';
  readonly quoted?: true;
}

export interface ShellCommand {
  readonly words: readonly ShellWord[];
  /** Names of the variables that are set for it or by it. */
  readonly sets: readonly string[];
  readonly stdin?: ShellWord | 'pipe' | 'text';
  /** Files that its output goes to. */
  readonly writes: readonly ShellWord[];
  /** It runs only if the command before it did well, in the same shell. */
  readonly follows: boolean;
}

export interface ShellText {
  readonly commands: readonly ShellCommand[];
  /** Why some of it could not be read. */
  readonly unclear: readonly string[];
}

const RESERVED = new Set(['if', 'then', 'else', 'elif', 'fi', 'while', 'until', 'do', 'done', '!', '{', '}', 'time']);
const MAX_COMMANDS = 2_000;
const MAX_DEPTH = 8;

export function parseShellText(text: string, depth = 0): ShellText {
  const commands: ShellCommand[] = [];
  const unclear: string[] = [];
  const endings: { readonly delimiter: string; readonly expands: boolean }[] = [];
  let words: ShellWord[] = [];
  let sets: string[] = [];
  let stdin: ShellCommand['stdin'];
  let writes: ShellWord[] = [];
  let follows = false;
  let redirect: 'stdin' | 'output' | 'here' | 'text' | undefined;
  let word: { text: string; becomes?: 'names' | 'anything'; quoted?: true } | undefined;
  let at = 0;

  const add = (piece: string) => {
    word ??= { text: '' };
    word.text += piece;
  };
  const becomes = (what: 'names' | 'anything') => {
    add('');
    if (word!.becomes !== 'anything') word!.becomes = what;
  };
  const inner = (piece: string) => {
    if (depth >= MAX_DEPTH) return void unclear.push('commands inside commands');
    const found = parseShellText(piece, depth + 1);
    commands.push(...found.commands);
    unclear.push(...found.unclear);
  };
  const endWord = () => {
    if (word === undefined) return;
    const ended: ShellWord = word;
    word = undefined;
    if (redirect !== undefined) {
      if (redirect === 'here') endings.push({ delimiter: ended.text, expands: ended.quoted !== true });
      if (redirect === 'output') writes.push(ended);
      else stdin = redirect === 'stdin' ? ended : 'text';
      redirect = undefined;
      return;
    }
    const name = /^([A-Za-z_][A-Za-z0-9_]*)(?:\[[^\]]*\])?\+?=/.exec(ended.text)?.[1];
    if (name !== undefined && (words.length === 0 || isDeclaration(words[0]!))) sets.push(name);
    if (words.length > 0 || name === undefined) {
      if (words.length === 0 && !ended.quoted && !ended.becomes && RESERVED.has(ended.text)) follows = false;
      else words.push(ended);
    }
  };
  const endCommand = (next: 'follows' | 'pipe' | 'other') => {
    endWord();
    if (redirect !== undefined) unclear.push('a redirection that leads nowhere');
    redirect = undefined;
    const isCommand = words.length > 0 || sets.length > 0;
    if (isCommand) commands.push({ words, sets, writes, ...(stdin === undefined ? {} : { stdin }), follows });
    // Of a group of commands, such as a loop.
    else if (writes.length > 0) commands.push({ words: [], sets: [], writes, follows: false });
    words = [];
    sets = [];
    writes = [];
    stdin = next === 'pipe' ? 'pipe' : undefined;
    // What follows a group of commands does not run where the last of them was.
    follows = next === 'follows' && isCommand;
  };

  for (; at < text.length; at++) {
    if (commands.length > MAX_COMMANDS) return { commands, unclear: [...unclear, 'too many commands'] };
    const char = text[at]!;
    const next = text[at + 1];
    if (char === ' ' || char === '\t') endWord();
    else if (char === '\n') {
      endCommand('other');
      for (const ending of endings.splice(0)) skipHereDocument(ending);
    } else if (char === ';') endCommand('other');
    else if (char === '&') {
      if (next === '>') {
        endWord();
        redirect = 'output';
        at++;
      } else {
        endCommand(next === '&' ? 'follows' : 'other');
        if (next === '&') at++;
      }
    } else if (char === '|') {
      endCommand(next === '|' ? 'other' : 'pipe');
      if (next === '|' || next === '&') at++;
    } else if (char === '(') {
      // `name()`: what the function does is read like everything else.
      if (words.length === 0 && word !== undefined && /^\(\s*\)/.test(text.slice(at))) {
        // It can be called anywhere later, and change folders there.
        unclear.push('a function');
        word = undefined;
        at = text.indexOf(')', at);
      } else endCommand('other');
    } else if (char === ')') endCommand('other');
    else if (char === '<' || char === '>') {
      if (word !== undefined && /^\d+$/.test(word.text) && !word.quoted) {
        const isInput = char === '<' && word.text === '0';
        word = undefined;
        readRedirect(char, isInput);
      } else {
        endWord();
        readRedirect(char, char === '<');
      }
    } else if (char === '#' && word === undefined) {
      const end = text.indexOf('\n', at);
      at = (end < 0 ? text.length : end) - 1;
    } else if (char === '\\') {
      if (next === '\n') at++;
      else if (next !== undefined) {
        add(next);
        word!.quoted = true;
        at++;
      }
    } else if (char === "'") {
      const end = text.indexOf("'", at + 1);
      if (end < 0) return { commands, unclear: [...unclear, 'a quote that is not closed'] };
      add(text.slice(at + 1, end));
      word!.quoted = true;
      at = end;
    } else if (char === '"') {
      if (!readDoubleQuoted()) return { commands, unclear: [...unclear, 'a quote that is not closed'] };
    } else if (char === '$' || char === '`') {
      becomes('anything');
      if (next === "'") unclear.push("$'");
      if (!readExpansion()) return { commands, unclear: [...unclear, 'an expansion that is not closed'] };
    } else {
      const isAlone = word === undefined && /\s/.test(next ?? ' ');
      if (char === '*' || char === '?' || ((char === '[' || char === '{') && !isAlone)) becomes('names');
      if (char === '~' && (word === undefined || /[=:]$/.test(word.text))) becomes('anything');
      add(char);
    }
  }
  if (endings.length > 0) unclear.push('a here-document without its text');
  endCommand('other');
  return { commands, unclear };

  function readRedirect(char: string, isInput: boolean): void {
    const rest = text.slice(at + 1, at + 3);
    if (rest.startsWith('(')) unclear.push('a command in the place of a file');
    if (char === '<' && rest.startsWith('<<')) {
      redirect = 'text';
      at += 2;
    } else if (char === '<' && rest.startsWith('<')) {
      redirect = 'here';
      at += rest === '<-' ? 2 : 1;
    } else {
      if (/^[>&|]/.test(rest) || (char === '<' && rest.startsWith('>'))) at++;
      redirect = isInput && !rest.startsWith('&') ? 'stdin' : 'output';
      // `<&3`: what comes in is not a file that is named here.
      if (isInput && rest.startsWith('&')) stdin = 'pipe';
    }
  }

  /** `at` stands on the end of the line before the text, and afterwards on the end of its last line. */
  function skipHereDocument({ delimiter, expands }: { delimiter: string; expands: boolean }): void {
    for (let from = at + 1; ; ) {
      const end = text.indexOf('\n', from);
      const line = text.slice(from, end < 0 ? undefined : end);
      at = end < 0 ? text.length : end;
      if (line.replace(/^\t+/, '') === delimiter) return;
      if (expands && /\$\(|`/.test(line)) unclear.push('commands inside a here-document');
      if (end < 0) return void unclear.push('a here-document without its end');
      from = end + 1;
    }
  }

  function readDoubleQuoted(): boolean {
    add('');
    word!.quoted = true;
    for (at++; at < text.length; at++) {
      const char = text[at]!;
      if (char === '"') return true;
      if (char === '\\' && '$`"\\\n'.includes(text[at + 1] ?? '-')) {
        at++;
        if (text[at] !== '\n') add(text[at]!);
      } else if (char === '$' || char === '`') {
        if (char === '`' || /^[A-Za-z0-9_{(@*#?$!-]/.test(text[at + 1] ?? '')) becomes('anything');
        if (!readExpansion()) return false;
      } else add(char);
    }
    return false;
  }

  /** `at` stands on the `$` or the backquote, and afterwards on the last character of the expansion. */
  function readExpansion(): boolean {
    if (text[at] === '`') {
      let end = at + 1;
      while (end < text.length && text[end] !== '`') end += text[end] === '\\' ? 2 : 1;
      if (end >= text.length) return false;
      inner(text.slice(at + 1, end).replace(/\\([`$\\])/g, '$1'));
      add(text.slice(at, end + 1));
      at = end;
      return true;
    }
    const open = text[at + 1];
    if (open !== '(' && open !== '{') {
      add('$');
      return true;
    }
    const end = closing(text, at + 1);
    if (end === undefined) return false;
    const body = text.slice(at + 2, end);
    if (open === '{' ? /\$\(|`|@P/.test(body) : body.startsWith('(') && !ARITHMETIC.test(body)) unclear.push('an expansion inside another');
    if (open === '(' && !body.startsWith('(')) inner(body);
    add(text.slice(at, end + 1));
    at = end;
    return true;
  }
}

/** It runs nothing. */
const ARITHMETIC = /^\([\w\s$+\-*/%()<>=&|^~!?:,]*\)$/;

function isDeclaration({ text }: ShellWord): boolean {
  return /^(export|readonly|local|declare|typeset)$/.test(text);
}

/** Where the bracket at `start` is closed; quotes, comments and brackets inside are skipped. A here-document inside is too much. */
function closing(text: string, start: number): number | undefined {
  const open = text[start]!;
  const close = open === '(' ? ')' : '}';
  let level = 0;
  for (let at = start; at < text.length; at++) {
    const char = text[at]!;
    if (char === '\\') at++;
    else if (char === "'") {
      at = text.indexOf("'", at + 1);
      if (at < 0) return undefined;
    } else if (char === '"') {
      for (at++; at < text.length && text[at] !== '"'; at++) if (text[at] === '\\') at++;
    } else if (char === '#' && /[\s;|&(]/.test(text[at - 1] ?? '')) {
      at = text.indexOf('\n', at);
      if (at < 0) return undefined;
    } else if (char === '<' && text[at + 1] === '<') return undefined;
    else if (char === open) level++;
    else if (char === close && --level === 0) return at;
  }
  return undefined;
}
