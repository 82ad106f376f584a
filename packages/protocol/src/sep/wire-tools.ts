// The tools of the agent as SEP and pi know them, as plain data: extensions that were written for those hosts look for `bash` and its
// `command`. One row says what a tool and its arguments are called there; a tool without a row is called the same in both worlds.
// Sessions, policies and everything beyond SEP keep the names of the gateway.

type Fields = Readonly<Record<string, unknown>>;

/** A call as an extension of SEP or pi sees it. */
export interface CallThere {
  readonly tool: string;
  readonly arguments: Fields;
}

interface FieldRow {
  /** What stands for it there, by name. */
  readonly names: readonly string[];
  there(value: unknown): Fields;
  /** What an extension gave for these names, as the gateway has it. What does not fit is found by the schema of the tool. */
  here(given: Fields, sent: Fields): Fields;
}

interface ToolRow {
  /** Its name there. Of several, a call is shown as one or the other, and all of them must be active for it to be. */
  readonly names: readonly string[];
  /** Arguments that are called or written differently, by their names here. */
  readonly fields?: Readonly<Record<string, FieldRow>>;
  /** Arguments that nobody knows there: where an extension leaves one out, it stays as it was. */
  readonly unknown?: readonly string[];
  /** One call here is several there. Such a call can be stopped, and its arguments cannot be changed. */
  readonly calls?: (args: Fields) => readonly CallThere[];
  /** For the documentation. */
  readonly about: string;
}

export const agentTools = {
  exec: {
    names: ['bash'],
    fields: {
      argv: {
        names: ['command'],
        there: (argv) => ({ command: quoteWords(Array.isArray(argv) ? argv.map(String) : []) }),
        here: ({ command }) => (command === undefined ? {} : { command }),
      },
      timeoutMs: {
        names: ['timeout'],
        there: (timeoutMs) => ({ timeout: Number(timeoutMs) / 1_000 }),
        here: ({ timeout }) =>
          timeout === undefined ? {} : { timeoutMs: typeof timeout === 'number' ? Math.round(timeout * 1_000) : timeout },
      },
    },
    unknown: ['cwd', 'background'],
    about: '`argv` is a `command`, quoted as a shell reads it; `timeoutMs` is `timeout`, in seconds',
  },
  read: { names: ['read'], about: 'the same' },
  write: { names: ['write'], about: 'the same' },
  edit: {
    names: ['edit'],
    fields: {
      edits: {
        names: ['edits', 'oldText', 'newText'],
        there: editsThere,
        here: editsHere,
      },
    },
    about: '`find` and `replace` of each edit are `oldText` and `newText`; of a single edit they stand beside `path` as well',
  },
  apply_patch: {
    names: ['edit', 'write'],
    calls: patchedFiles,
    about:
      'a call for each file: `write` with `path` and `content` for a new one, `edit` with `path` and its part of the `patch` for others',
  },
  grep: { names: ['grep'], about: 'the same' },
  find: {
    names: ['find'],
    fields: {
      glob: {
        names: ['pattern'],
        there: (glob) => ({ pattern: glob }),
        here: ({ pattern }) => (pattern === undefined ? {} : { glob: pattern }),
      },
    },
    about: '`glob` is `pattern`',
  },
  ls: { names: ['ls'], about: 'the same' },
} as const satisfies Record<string, ToolRow>;

/** Which names of tools a manifest can say that it knows. */
export const toolWorlds = ['sep', 'tenon'] as const;
export type ToolWorld = (typeof toolWorlds)[number];

export function agentToolRow(name: string): ToolRow | undefined {
  return Object.hasOwn(agentTools, name) ? agentTools[name as keyof typeof agentTools] : undefined;
}

/** What the tool is called there. */
export function toolThere(name: string): string {
  return agentToolRow(name)?.names[0] ?? name;
}

/** The tools here that are active where these are named; a name of the gateway is taken as it stands. */
export function toolsHere(named: ReadonlySet<string>): ReadonlySet<string> {
  const rows = Object.entries(agentTools) as [string, ToolRow][];
  const meant = rows.flatMap(([name, { names }]) => (names.every((each) => named.has(each)) ? [name] : []));
  return new Set([...named, ...meant]);
}

/** What is asked about a call; more than one for a tool that does several things there. */
export function callsThere(name: string, args: Fields): readonly CallThere[] {
  const row = agentToolRow(name);
  const several = row?.calls?.(args) ?? [];
  return several.length > 0 ? several : [{ tool: toolThere(name), arguments: argumentsThere(row, args) }];
}

/** One call for what has been done. */
export function callThere(name: string, args: Fields): CallThere {
  const row = agentToolRow(name);
  const [first] = row?.calls?.(args) ?? [];
  if (!first) return { tool: toolThere(name), arguments: argumentsThere(row, args) };
  const { path } = first.arguments;
  return { tool: toolThere(name), arguments: { path, ...args } };
}

function argumentsThere(row: ToolRow | undefined, args: Fields): Fields {
  const shown: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(args)) Object.assign(shown, row?.fields?.[name]?.there(value) ?? { [name]: value });
  return shown;
}

/**
 * The arguments here, after an extension gave these back for what it was sent; the same object where it changed nothing. Undefined
 * where what it wants cannot be done: a call that is several there can only be stopped.
 */
export function argumentsHere(name: string, args: Fields, sent: Fields, given: Fields): Fields | undefined {
  const row = agentToolRow(name);
  const changed = [...new Set([...Object.keys(sent), ...Object.keys(given)])].filter(
    (field) =>
      JSON.stringify(sent[field]) !== JSON.stringify(given[field]) && !(given[field] === undefined && row?.unknown?.includes(field)),
  );
  if (changed.length === 0) return args;
  if (row?.calls) return undefined;
  const made: Record<string, unknown> = { ...args };
  const converted = new Set<[string, FieldRow]>();
  for (const field of changed) {
    delete made[field];
    const found = Object.entries(row?.fields ?? {}).find(([, { names }]) => names.includes(field));
    if (found) converted.add(found);
    else if (given[field] !== undefined) made[field] = given[field];
  }
  for (const [own, field] of converted) {
    delete made[own];
    Object.assign(made, field.here(Object.fromEntries(field.names.map((each) => [each, given[each]])), sent));
  }
  return made;
}

/** One line that a shell reads back as these words. */
export function quoteWords(words: readonly string[]): string {
  return words.map((word) => (/^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(' ');
}

function editsThere(edits: unknown): Fields {
  const all = (Array.isArray(edits) ? edits : []).map((edit: unknown) => {
    const { find: oldText, replace: newText } = (edit ?? {}) as Fields;
    return { oldText, newText };
  });
  return { edits: all, ...(all.length === 1 ? all[0] : {}) };
}

function editsHere({ edits, oldText, newText }: Fields, sent: Fields): Fields {
  const isSame = JSON.stringify(edits) === JSON.stringify(sent.edits);
  const meant = isSame || edits === undefined ? [{ oldText, newText }] : edits;
  if (!Array.isArray(meant)) return { edits: meant };
  return {
    edits: meant.map((edit: unknown) => {
      const { oldText: find, newText: replace } = (edit ?? {}) as Fields;
      return { find, replace };
    }),
  };
}

const PATCHED = /^\*\*\* (Add|Update|Delete) File: (.+)$/;
const MOVED = '*** Move to: ';

/** The files that a patch changes, each as the call that would change it. */
function patchedFiles({ patch }: Fields): readonly CallThere[] {
  if (typeof patch !== 'string') return [];
  const calls: CallThere[] = [];
  let lines: string[] = [];
  let head: RegExpExecArray | undefined;
  const finish = () => {
    if (!head) return;
    const [line, verb, path = ''] = head;
    const text = [line, ...lines].join('\n');
    if (verb === 'Add')
      calls.push({ tool: 'write', arguments: { path: path.trim(), content: lines.map((each) => `${each.slice(1)}\n`).join('') } });
    else calls.push({ tool: 'edit', arguments: { path: path.trim(), patch: text } });
    if (lines[0]?.startsWith(MOVED)) calls.push({ tool: 'edit', arguments: { path: lines[0].slice(MOVED.length).trim(), patch: text } });
  };
  for (const line of patch.replaceAll('\r\n', '\n').trim().split('\n')) {
    const found = PATCHED.exec(line);
    if (!found) {
      if (!line.startsWith('*** End Patch')) lines.push(line);
      continue;
    }
    finish();
    head = found;
    lines = [];
  }
  finish();
  return calls;
}
