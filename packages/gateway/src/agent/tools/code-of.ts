// Which files of the workspace a command runs as code. Those that can be named exactly are listed; of everything else that it
// may load, it says so in words. Only commands of a shape that is known completely are without such words: a program that
// is not on the lists here, or a word that is made when it runs, leaves the command open.
import { basename, isAbsolute, join, normalize, relative } from 'node:path';
import { isLoaderVariable } from '../../kernel/loader-variables.ts';
import { isInside } from '../../kernel/sandbox/profile.ts';
import { parseShellText, type ShellCommand, type ShellWord } from './shell-text.ts';

export interface CodePlace {
  /** The workspace, by its real path. */
  readonly root: string;
  /** Where the command starts, by its real path. */
  readonly cwd: string;
  /** Folders in which programs are looked for, by their real paths. */
  readonly path: readonly string[];
  /** The content of a file of the workspace; undefined when there is none, or it is too large to be looked into. */
  read(path: string): Promise<Buffer | undefined>;
}

export interface Code {
  /** Absolute, as they are spelled: files that are run, or read by a shell as commands. */
  readonly files: readonly string[];
  /** Absolute: everything that a word may name. */
  readonly named: readonly string[];
  /** What else may run as code, in words for people. */
  readonly open: readonly string[];
  /** Absolute: files and folders that the command itself may change before it runs them. */
  readonly changed: readonly string[];
  /** Some of that is made of words that are known only when it runs: it can be any file. */
  readonly isAnyFile: boolean;
}

/** They run nothing but themselves, whatever their arguments are. */
const PLAIN = new Set(
  (
    'cat tac nl head tail wc cut tr uniq comm paste join fold fmt expand unexpand cmp diff ls dir stat du df tree file pwd echo printf true ' +
    'false test [ sleep date cal basename dirname realpath readlink seq yes sha1sum sha224sum sha256sum sha384sum sha512sum md5sum cksum ' +
    'b2sum base64 base32 od xxd hexdump strings cp mv rm mkdir rmdir touch chmod chown chgrp ln mktemp grep egrep fgrep tee uname hostname ' +
    'id whoami groups printenv nproc uptime ps free kill which tput clear sync truncate mkfifo'
  ).split(' '),
);
/** Those of them that change what their words name. */
const CHANGING = new Set('cp mv rm rmdir touch chmod chown chgrp ln tee truncate'.split(' '));
/** Of the shell. */
const BUILTINS = new Set(
  ': [[ for read exit return shift wait umask ulimit local readonly export unset set declare typeset break continue times getopts jobs type fg bg'.split(
    ' ',
  ),
);
/** They read commands from a file or a word, and nothing else by themselves. */
const SHELLS = new Set(['sh', 'bash', 'dash', 'ash', 'ksh']);
/** Programs whose first file is what they run. They load further ones. */
const INTERPRETERS =
  /^(python|pypy|node|nodejs|deno|bun|tsx|ts-node|ruby|perl|php|lua|luajit|Rscript|tclsh|wish|expect|zsh|fish|csh|tcsh|groovy|julia)[\d.]*$/;
const SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib64', '/opt', '/nix', '/gnu', '/etc'];

/** Options of interpreters behind which the script still comes. */
const HARMLESS_OPTION = /^(-[uBIEsSvw]|-O+|--[a-z][\w-]*(=.*)?)$/;

const MAX_DEPTH = 8;
const MAX_SCRIPTS = 64;
const MAX_OPEN = 24;
const MAX_FOLDERS = 8;
const MAX_NAMED = 4_096;

export async function codeOf(argv: readonly string[], place: CodePlace): Promise<Code> {
  const files = new Set<string>();
  const named = new Set<string>();
  const open = new Set<string>();
  const changed = new Set<string>();
  const followed = new Set<string>();
  let isAnyFile = false;
  /** How often a folder was changed. */
  let moves = 0;

  /** Where a command may run; undefined when that is known only then. */
  type Folders = readonly string[] | undefined;
  interface From {
    readonly folders: Folders;
    readonly depth: number;
    /** The script that is looked into. */
    readonly script?: string;
  }

  const leave = (what: string, { script }: Pick<From, 'script'> = {}, made = false) => {
    isAnyFile ||= made;
    const told = `${script === undefined ? '' : `${shown(script)}: `}${what}`;
    if (open.size < MAX_OPEN) open.add(told.slice(0, 240));
    else open.add('And more of that kind');
  };
  const shown = (path: string) => relative(place.root, path);

  async function readText(text: string, from: From): Promise<void> {
    const { commands, unclear } = parseShellText(text);
    for (const reason of new Set(unclear)) leave(`What the shell makes of ${reason}`, from, true);
    let { folders } = from;
    let seen = folders;
    for (const command of commands) {
      // Whether an earlier `cd` was done is known only of commands that follow it on the condition that it was.
      if (!command.follows) folders = seen;
      const before = moves;
      await readCommand(command, { ...from, folders });
      if (moves === before) continue;
      folders = command.words[0]?.text === 'cd' ? moved(command.words, folders) : undefined;
      seen = folders && seen && new Set([...seen, ...folders]).size <= MAX_FOLDERS ? [...new Set([...seen, ...folders])] : undefined;
    }
  }

  function moved(words: readonly ShellWord[], folders: Folders): Folders {
    const [target, ...more] = words.slice(1).filter(({ text }) => text !== '--');
    if (target === undefined || target.becomes || target.text.startsWith('-') || target.text === '' || more.length > 0) return undefined;
    // The shell takes `..` out of the name before it looks.
    return folders?.map((folder) => (isAbsolute(target.text) ? normalize(target.text) : join(folder, target.text)));
  }

  const change = (words: readonly ShellWord[], { folders }: From) => {
    for (const { text, becomes } of words) {
      if (!becomes && text.startsWith('-')) continue;
      if (becomes || !folders) changed.add(place.root);
      else for (const folder of folders) changed.add(isAbsolute(text) ? normalize(text) : join(folder, text));
    }
  };

  async function readCommand({ words, sets, stdin, writes }: ShellCommand, from: From): Promise<void> {
    change(writes, from);
    for (const { text, becomes } of words) if (!becomes) name(text, from.folders);
    if (stdin !== undefined && typeof stdin !== 'string' && !stdin.becomes) name(stdin.text, from.folders);
    for (const set of sets) if (isLoaderVariable(set)) leave(`What programs load because ${set} is set`, from, true);
    await readWords(words, stdin, from);
  }

  async function readWords(words: readonly ShellWord[], stdin: ShellCommand['stdin'], from: From): Promise<void> {
    const [first, ...rest] = words;
    if (first === undefined) return;
    if (first.becomes) return leave(`The program that ${told(first)} stands for when it runs`, from, true);
    if (from.depth > MAX_DEPTH) return leave('Commands inside commands, further down than Tenon looks', from, true);
    const program = first.text.includes('/') ? await programAt(first.text, rest, from) : first.text;
    if (program === undefined) return;
    if (program === 'cd') {
      moves++;
      return;
    }
    if (PLAIN.has(program) || BUILTINS.has(program)) {
      // `[[ 'a[$(x)]' -eq 1 ]]` and the like: some shells look into words that were quoted.
      if (words.some(({ text, becomes }) => !becomes && /\$\(|`/.test(text))) leave(`What ${told(first)} makes of its words`, from, true);
      if (program === 'set' && rest.some(({ text }) => /P|physical/.test(text))) leave('What the shell makes of its options', from, true);
      if (CHANGING.has(program)) change(rest, from);
      return;
    }
    if (program === 'find' || program === 'sort') {
      const isPlain = rest.every(({ text, becomes }) => !becomes && !/^-(exec|ok|files0|-comp|-files0)/.test(text));
      if (!isPlain) leave(`The programs that ${told(first)} runs, and the files it gives them`, from, true);
      if (!isPlain || rest.some(({ text }) => /^(-delete|-fprint|-fls|-o|--output)/.test(text))) change(rest, from);
      return;
    }
    const unwrapped = unwrap(program, rest);
    if (unwrapped === 'unclear') return leave(`What ${told(first)} runs`, from, true);
    if (unwrapped !== undefined) {
      for (const set of unwrapped.sets) if (isLoaderVariable(set)) leave(`What programs load because ${set} is set`, from, true);
      return readWords(unwrapped.words, stdin, { ...from, depth: from.depth + 1 });
    }
    if (program === 'eval') {
      if (rest.some(({ becomes }) => becomes)) return leave('The commands that eval is given when it runs', from, true);
      return readText(rest.map(({ text }) => text).join(' '), { ...from, depth: from.depth + 1 });
    }
    if (program === '.' || program === 'source') return readScript(rest[0], from);
    if (SHELLS.has(program)) return readShell(program, rest, stdin, from);
    if (program === 'pushd' || program === 'popd') moves++;
    const script = INTERPRETERS.test(program) ? await addFirstFile(rest, from) : undefined;
    change(
      rest.filter((word) => word !== script),
      from,
    );
    // It puts other files in the place of those that are there.
    if (program === 'git') changed.add(place.root);
    leave(`Any file of the workspace that ${told(first)} loads or runs by itself`, from, /^(xargs|parallel|watch|entr)$/.test(program));
  }

  /** The name under which a program is known; undefined when it is a file of the workspace, which is looked into, or not known. */
  async function programAt(path: string, rest: readonly ShellWord[], from: From): Promise<string | undefined> {
    const [only, ...others] = from.folders ?? [];
    if (!isAbsolute(path) && (only === undefined || others.length > 0)) {
      for (const folder of from.folders ?? []) files.add(absolute(path, folder));
      leave(`${quoted(path)}, in whichever folder that is when it runs`, from, true);
      return undefined;
    }
    const at = absolute(path, only ?? place.root);
    if (!isInside(at, place.root)) {
      if (isOfSystem(at)) return basename(at);
      leave(`The program ${quoted(at)}, which is not one of the system`, from, true);
      return undefined;
    }
    files.add(at);
    const content = await place.read(at);
    if (content === undefined) {
      leave(`${quoted(shown(at))}, which is not there yet or cannot be looked into`, from);
      return undefined;
    }
    const deeper = { ...from, depth: from.depth + 1 };
    const line = /^#!([^\n]*)/.exec(content.subarray(0, 512).toString('latin1'))?.[1]?.trim();
    if (line === undefined) {
      if (content.subarray(0, 512).includes(0)) leave(`What the program ${quoted(shown(at))} loads or runs by itself`, from);
      else await readScript({ text: at }, deeper);
      return undefined;
    }
    const [, interpreter = '', argument = ''] = /^(\S+)\s*(.*)$/.exec(line) ?? [];
    const extra = argument === '' ? [] : [{ text: argument }];
    if (interpreter === '') leave(`What runs ${quoted(shown(at))}`, from);
    else await readWords([{ text: interpreter }, ...extra, { text: at }, ...rest], undefined, deeper);
    return undefined;
  }

  async function readShell(program: string, rest: readonly ShellWord[], stdin: ShellCommand['stdin'], from: From): Promise<void> {
    let isText = false;
    for (let index = 0; index < rest.length; index++) {
      const word = rest[index]!;
      const isOption = !word.becomes && /^[-+]./.test(word.text) && word.text !== '--';
      if (!isOption) {
        const operand = word.text === '--' && !word.becomes ? rest[index + 1] : word;
        if (operand === undefined) break;
        if (!isText) return readScript(operand, { ...from, depth: from.depth + 1 }, true);
        if (operand.becomes) return leave(`The commands that ${program} is given when it runs`, from, true);
        return readText(operand.text, { ...from, depth: from.depth + 1 });
      }
      if (/^-[A-Za-z]*c[A-Za-z]*$/.test(word.text)) isText = true;
      if (/^[-+][A-Za-z]*[oO]$/.test(word.text)) index++;
      if (/^-[A-Za-z]*[ils]|^--(?!norc|noprofile|posix)/.test(word.text))
        leave(`What ${program} reads because of ${quoted(word.text)}`, from, true);
    }
    if (stdin !== undefined && typeof stdin !== 'string') return readScript(stdin, { ...from, depth: from.depth + 1 });
    leave(`The commands that ${program} reads from its input`, from, true);
  }

  /** A file with commands for a shell. */
  async function readScript(word: ShellWord | undefined, from: From, isOperand = false): Promise<void> {
    if (word === undefined) return;
    if (word.becomes) {
      const what = word.becomes === 'names' ? `The files that match ${told(word)} when it runs` : `The file that ${told(word)} stands for`;
      return leave(what, from, true);
    }
    if (word.text === '/dev/null') return;
    const candidates = isAbsolute(word.text) ? [absolute(word.text, '/')] : from.folders?.map((folder) => absolute(word.text, folder));
    if (candidates?.length !== 1) {
      for (const candidate of candidates ?? []) files.add(candidate);
      return leave(`${quoted(word.text)}, in whichever folder that is when it runs`, from, true);
    }
    const [at] = candidates as [string];
    if (!isInside(at, place.root)) {
      if (!isOfSystem(at)) leave(`The file ${quoted(at)}, which is outside the workspace`, from, true);
      return;
    }
    // A shell looks for a name without a slash in PATH, too.
    if (!isOperand && !word.text.includes('/') && place.path.some((folder) => isInside(folder, place.root)))
      leave(`${quoted(word.text)} in a folder of PATH`, from, true);
    files.add(at);
    const visit = [at, ...(from.folders ?? [])].join('\0');
    if (followed.has(visit)) return;
    followed.add(visit);
    if (followed.size > MAX_SCRIPTS || from.depth > MAX_DEPTH)
      return leave(`What ${quoted(shown(at))} runs: it is further down than Tenon looks`, from, true);
    const content = await place.read(at);
    if (content === undefined) return leave(`${quoted(shown(at))}, which is not there yet or cannot be looked into`, from);
    await readText(content.toString('utf8'), { folders: from.folders, depth: from.depth + 1, script: at });
  }

  async function addFirstFile(words: readonly ShellWord[], { folders }: From): Promise<ShellWord | undefined> {
    const first = words.find(({ text }) => !HARMLESS_OPTION.test(text));
    if (first === undefined || first.becomes || first.text.startsWith('-') || folders?.length !== 1) return undefined;
    const at = absolute(first.text, folders[0]!);
    if (!isInside(at, place.root) || (await place.read(at)) === undefined) return undefined;
    files.add(at);
    return first;
  }

  function name(text: string, folders: Folders): void {
    if (text === '' || text.length > 4_096 || text.includes('\0')) return;
    const equals = text.indexOf('=');
    for (const part of equals < 0 ? [text] : [text, text.slice(equals + 1)]) {
      if (part === '') continue;
      for (const folder of isAbsolute(part) ? [place.root] : [...(folders ?? [place.cwd])]) {
        if (named.size < MAX_NAMED) named.add(absolute(part, folder));
        else leave(`More than ${MAX_NAMED} files that the command names`, {}, true);
      }
    }
  }

  const inWorkspace = place.path.filter((folder) => isInside(folder, place.root));
  if (inWorkspace.length > 0) {
    leave(`Programs in ${inWorkspace.map((folder) => quoted(shown(folder) || '.')).join(', ')}, which PATH names`);
    for (const folder of inWorkspace) named.add(join(folder, argv[0] ?? ''));
  }
  await readCommand({ words: argv.map((text) => ({ text })), sets: [], writes: [], follows: false }, { folders: [place.cwd], depth: 0 });
  return { files: [...files], named: [...named], open: [...open], changed: [...changed], isAnyFile };
}

interface Unwrapped {
  readonly words: readonly ShellWord[];
  readonly sets: readonly string[];
}

/** The command that a program such as `env` or `nice` runs; undefined when it is no such program. */
function unwrap(program: string, rest: readonly ShellWord[]): Unwrapped | 'unclear' | undefined {
  const options = WRAPPERS[program];
  if (options === undefined) return undefined;
  const sets: string[] = [];
  let index = 0;
  for (; index < rest.length; index++) {
    const { text, becomes } = rest[index]!;
    if (becomes) return 'unclear';
    const [, set] = /^([A-Za-z_][A-Za-z0-9_]*)=/.exec(text) ?? [];
    if (program === 'env' && set !== undefined) sets.push(set);
    else if (text === '--') {
      index++;
      break;
    } else if (!text.startsWith('-')) break;
    else if (program === 'env' && /^(-S|--split-string)/.test(text)) return splitString(text, rest.slice(index + 1), sets);
    else if (program === 'command' && /^-[vV]$/.test(text)) return { words: [], sets };
    else if (options.takes.includes(text)) index++;
    else if (!options.alone.test(text)) return 'unclear';
  }
  if (program === 'timeout') index++;
  return { words: rest.slice(index), sets };
}

const WRAPPERS: Readonly<Record<string, { readonly takes: readonly string[]; readonly alone: RegExp }>> = {
  env: { takes: ['-u', '--unset'], alone: /^(-i|-|--ignore-environment|-u.+|--unset=.*)$/ },
  exec: { takes: ['-a'], alone: /^-[cl]+$/ },
  command: { takes: [], alone: /^-p$/ },
  nice: { takes: ['-n', '--adjustment'], alone: /^(-n?-?\d+|--adjustment=.*)$/ },
  nohup: { takes: [], alone: /^$/ },
  setsid: { takes: [], alone: /^(-[cfw]+|--ctty|--fork|--wait)$/ },
  stdbuf: { takes: ['-i', '-o', '-e'], alone: /^(-[ioe].+|--(input|output|error)=.*)$/ },
  timeout: {
    takes: ['-k', '-s', '--kill-after', '--signal'],
    alone: /^(-[ksv].*|--(foreground|preserve-status|verbose)|--(kill-after|signal)=.*)$/,
  },
};

/** `env -S 'sh run.sh'`: `env` splits the words by rules of its own; only the plainest are taken as known. */
function splitString(option: string, rest: readonly ShellWord[], sets: readonly string[]): Unwrapped | 'unclear' {
  const given = /^(?:-S|--split-string=?)(.*)$/s.exec(option)?.[1] ?? '';
  const text = given === '' ? rest[0]?.text : given;
  if (text === undefined || !/^[A-Za-z0-9_./ -]+$/.test(text)) return 'unclear';
  const words = text.split(' ').filter((word) => word !== '');
  return { words: [...words.map((word) => ({ text: word })), ...rest.slice(given === '' ? 1 : 0)], sets };
}

/** `..` stays: behind a link it leads elsewhere than its name says, and whoever opens the path finds out. */
function absolute(path: string, folder: string): string {
  const whole = isAbsolute(path) ? path : `${folder}/${path}`;
  return hasParent(whole) ? whole : normalize(whole);
}

function hasParent(path: string): boolean {
  return /(^|\/)\.\.(\/|$)/.test(path);
}

function isOfSystem(path: string): boolean {
  return !hasParent(path) && SYSTEM.some((folder) => isInside(path, folder));
}

function told({ text }: ShellWord): string {
  return quoted(text);
}

function quoted(text: string): string {
  return `“${text.slice(0, 80)}”`;
}
