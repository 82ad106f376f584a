// What the demo model really does when it is asked to: five tasks, each a tool call, and what it says about the result.
import { parseJson, type JsonObject, type ToolResultMessage } from '@tenon/protocol';
import { plural, quote, textOf } from './demo-kinds.ts';

export interface DemoTask {
  readonly name: string;
  readonly example: string;
  /** Without it, the person names the tool. */
  readonly tool?: string;
  /** The arguments of the call, or undefined when the text asks for something else. */
  read(text: string): JsonObject | undefined;
  /** In words, after it went well. */
  tell(args: JsonObject, output: string): string;
}

const POLITE = /^(?:please[, ]+)?(?:(?:can|could|would|will) you (?:please )?)?/i;

/** A tool by its name, of whoever offers it: so that what a plugin brings can be tried. */
const CALL = /^call(?: the)?(?: tool)?\s+[`"']?(?<tool>[\w.-]{1,128})[`"']?\s*(?:with\s*)?(?<args>\{.*\})?\s*\.?$/is;

export const demoTasks: readonly DemoTask[] = [
  {
    name: 'Write a note',
    example: 'Write a note: water the plants',
    tool: 'write',
    read(text) {
      const match =
        /^(?:(?:write|make|take|add|save|create)(?: me)?(?: down)? )?(?:a |the )?(?:new )?note\b\s*(?:(?:called|named|titled) (?<title>[^:\n]{1,80}?)(?=\s*:|\s+(?:saying|that|with)\b|$))?\s*(?::|,|-|\b(?:that says|saying|that|about|to|with(?: the text)?)\b)?\s*(?<body>.*)$/is.exec(
          text,
        );
      if (!match?.groups) return undefined;
      const body = unquoted(match.groups.body ?? '');
      const title = unquoted(match.groups.title ?? '');
      if (body === '' && title === '') return undefined;
      const slug = slugOf(title || body);
      return { path: `notes/${slug}.md`, content: `${body || title}\n` };
    },
    tell: ({ path }) => `Done: the note is in \`${path}\`. Ask me to read it if you want to see it.`,
  },
  {
    name: 'Run a command',
    example: 'Run uname -a',
    tool: 'exec',
    read(text) {
      const match = /^(?:run|execute|exec)(?: (?:the|this))?(?: (?:command|program))?\s*:?\s+(?<command>.+)$/is.exec(text);
      const command = unquoted(match?.groups?.command ?? '');
      return command === '' ? undefined : { command };
    },
    tell: ({ command }, output) =>
      output === ''
        ? `\`${quote(String(command))}\` ran and printed nothing.`
        : `\`${quote(String(command))}\` printed:\n\n${fenced(output)}`,
  },
  {
    name: 'List files',
    example: 'List the files in notes',
    tool: 'ls',
    read(text) {
      const match =
        /^(?:(?:list|show|display|see)(?: me)?(?: all)?(?: (?:the|my|your))? (?:files|folder|directory|workspace)|(?:what|which) files (?:are|do)(?: you have| there)?|ls)\b(?:\s+(?:are )?(?:there )?(?:(?:in|of|under|inside|from) )?(?:the )?(?:folder |directory )?(?<path>[^?]+?))?\s*\??$/is.exec(
          text,
        );
      if (!match) return undefined;
      const path = unquoted(match.groups?.path ?? '');
      return { path: path === '' || /^(?:the |my |your )?(?:workspace|here|there)$/i.test(path) ? '.' : path };
    },
    tell({ path }, output) {
      const place = path === '.' ? 'The workspace' : `\`${path}\``;
      const lines = output.split('\n').filter((line) => line.trim() !== '');
      return lines.length === 0 || output === 'The folder is empty'
        ? `${place} is empty.`
        : `${place} has ${plural(lines.length, 'entry').replace('entrys', 'entries')}:\n\n${fenced(output)}`;
    },
  },
  {
    name: 'Read a file',
    example: 'Read notes/water-the-plants.md',
    tool: 'read',
    read(text) {
      const match =
        /^(?:read|show|open|cat|print|display)(?: me)?(?: (?:the|my|that))?(?: (?:file|note))?\s+(?<path>[^\n?]+?)\s*[?.]?$/i.exec(text);
      const path = unquoted(match?.groups?.path ?? '');
      return path === '' || !/[./]|^\w+$/.test(path) || /\s/.test(path.trim()) ? undefined : { path };
    },
    tell: ({ path }, output) => (output === '' ? `\`${path}\` is empty.` : `\`${path}\` says:\n\n${fenced(output)}`),
  },
  {
    name: 'Call any tool',
    example: 'Call ls {"path": "."}',
    read: (text) => (CALL.test(text) ? {} : undefined),
    tell: (_, output) => fenced(output),
  },
];

/** Which tool is to be called, and with what; `wrong` says why it cannot be. */
export function findTask(text: string): { readonly tool: string; readonly args: JsonObject; readonly wrong?: string } | undefined {
  const plain = text.trim().replace(POLITE, '');
  for (const task of demoTasks) {
    const args = task.read(plain);
    if (args) return task.tool === undefined ? namedCall(plain) : { tool: task.tool, args };
  }
  return undefined;
}

function namedCall(text: string): ReturnType<typeof findTask> {
  const { tool = '', args = '{}' } = CALL.exec(text)?.groups ?? {};
  const parsed = parseJson(args);
  if (parsed.ok) return { tool, args: parsed.value as JsonObject };
  return { tool, args: {}, wrong: `What stands after \`${tool}\` is no JSON object (${parsed.fault.reason}).` };
}

/** The label around text from elsewhere is for models that could take it for a wish of the person. */
const FOREIGN = /^<foreign-text>\nfrom: [^\n]*\n(?<text>[\s\S]*)\n<\/foreign-text>$/;

/** A refusal ends with what to do about it. */
const WHOLE_REASON = 1_000;

/** After the tool has answered. */
export function tellResult(result: ToolResultMessage, args: JsonObject): string {
  // A tool says in brackets what is not output.
  const whole = textOf(result).replace(FOREIGN, '$<text>');
  const output = result.isError ? whole : whole.replace(/\n?\[Exit code 0\]$/, '');
  const task = demoTasks.find(({ tool }) => tool === result.toolName);
  if (!result.isError && /^\[[^\n]*\]$/.test(output)) return `\`${result.toolName}\` says: ${quote(output.slice(1, -1))}.`;
  if (!result.isError) return task ? task.tell(args, output) : `\`${result.toolName}\` answered:\n\n${fenced(output)}`;
  if (/\b(denied|deny|declined|refused|rejected|not approved|expired)\b/i.test(output)) {
    // What follows is advice for models.
    const [why = ''] = output.split('. ', 1);
    return `Nothing was done: \`${result.toolName}\` was not allowed. ${quote(why, WHOLE_REASON)}`;
  }
  return `That did not work. \`${result.toolName}\` says: ${quote(output, WHOLE_REASON) || 'nothing more'}`;
}

const MAX_SHOWN_LINES = 40;
const MAX_SHOWN_LENGTH = 4_000;

// The fence is longer than any in the text, so that the text cannot end it.
function fenced(text: string): string {
  const lines = text.slice(0, MAX_SHOWN_LENGTH).toWellFormed().split('\n');
  const shown = lines.slice(0, MAX_SHOWN_LINES).join('\n').trimEnd();
  const cut = lines.length > MAX_SHOWN_LINES || text.length > MAX_SHOWN_LENGTH;
  const longest = Math.max(2, ...[...shown.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${shown}\n${fence}${cut ? '\n\nThere is more; this is the beginning.' : ''}`;
}

function unquoted(text: string): string {
  const trimmed = text.trim();
  const match = /^(["'`“])(?<inner>.*)["'`”]$/s.exec(trimmed);
  return (match?.groups?.inner ?? trimmed).trim();
}

function slugOf(text: string): string {
  const slug = text
    .toLowerCase()
    .normalize('NFKD')
    .replace(/\p{Mark}+/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 40)
    .replace(/^-+|-+$/g, '');
  return slug === '' ? 'note' : slug;
}
