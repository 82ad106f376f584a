// The patch format that models know: `*** Begin Patch`, then files to add, update (and move) or delete, `*** End Patch`.
// Reading it and applying it to a text are pure.
import { ToolError } from '../tool.ts';

export type FileChange =
  | { readonly kind: 'add'; readonly path: string; readonly content: string }
  | { readonly kind: 'delete'; readonly path: string }
  | { readonly kind: 'update'; readonly path: string; readonly moveTo?: string; readonly chunks: readonly Chunk[] };

interface Chunk {
  /** A line that stands somewhere before the chunk, such as the head of a function. */
  readonly under?: string;
  readonly old: readonly string[];
  readonly new: readonly string[];
  readonly atEnd: boolean;
}

const BEGIN = '*** Begin Patch';
const END = '*** End Patch';
const FILE = /^\*\*\* (Add|Update|Delete) File: (.+)$/;
const MAX_FILES = 200;

function bad(line: number, what: string): ToolError {
  return new ToolError('BAD_PATCH', `Line ${line + 1} of the patch: ${what}`);
}

export function parsePatch(patch: string): FileChange[] {
  const lines = patch.replaceAll('\r\n', '\n').trim().split('\n');
  if (lines[0]?.trim() !== BEGIN) throw bad(0, `a patch begins with "${BEGIN}"`);
  const last = lines.length - 1;
  if (lines[last]?.trim() !== END) throw bad(last, `a patch ends with "${END}"`);
  const changes: FileChange[] = [];
  let at = 1;
  while (at < last) {
    if (lines[at]!.trim() === '') {
      at++;
      continue;
    }
    const [, verb, rawPath = ''] = FILE.exec(lines[at]!) ?? [];
    const path = rawPath.trim();
    if (verb === undefined) throw bad(at, 'expected "*** Add File: …", "*** Update File: …" or "*** Delete File: …"');
    if (changes.length === MAX_FILES) throw bad(at, `a patch changes at most ${MAX_FILES} files`);
    const start = ++at;
    while (at < last && !FILE.test(lines[at]!)) at++;
    const body = lines.slice(start, at);
    if (verb === 'Delete') {
      if (body.some((line) => line.trim() !== '')) throw bad(start, 'a file that is deleted has no lines');
      changes.push({ kind: 'delete', path });
    } else if (verb === 'Add') {
      changes.push({ kind: 'add', path, content: addedText(body, start) });
    } else {
      changes.push(parseUpdate(path, body, start));
    }
  }
  if (changes.length === 0) throw bad(1, 'it changes no file');
  return changes;
}

function addedText(body: readonly string[], start: number): string {
  return body
    .map((line, index) => {
      if (!line.startsWith('+')) throw bad(start + index, 'each line of a new file begins with +');
      return `${line.slice(1)}\n`;
    })
    .join('');
}

function parseUpdate(path: string, body: readonly string[], start: number): FileChange {
  let moveTo: string | undefined;
  let at = 0;
  if (body[0]?.startsWith('*** Move to: ')) {
    moveTo = body[0].slice('*** Move to: '.length).trim();
    at = 1;
  }
  const chunks: Chunk[] = [];
  let old: string[] = [];
  let fresh: string[] = [];
  let under: string | undefined;
  const finish = (atEnd: boolean) => {
    if (old.length + fresh.length > 0) chunks.push({ ...(under === undefined ? {} : { under }), old, new: fresh, atEnd });
    [old, fresh, under] = [[], [], undefined];
  };
  for (; at < body.length; at++) {
    const line = body[at]!;
    if (line.startsWith('@@')) {
      finish(false);
      const context = line.slice(2).trim();
      if (context !== '') under = context;
    } else if (line === '*** End of File') {
      finish(true);
    } else if (line.startsWith('+')) {
      fresh.push(line.slice(1));
    } else if (line.startsWith('-')) {
      old.push(line.slice(1));
    } else if (line.startsWith(' ') || line === '') {
      // An empty line of context often comes without its leading space.
      old.push(line.slice(1));
      fresh.push(line.slice(1));
    } else {
      throw bad(start + at, 'each line begins with a space (unchanged), - (removed), + (added) or @@');
    }
  }
  finish(false);
  if (chunks.length === 0 && moveTo === undefined) throw bad(start, `nothing is changed in ${path}`);
  return { kind: 'update', path, ...(moveTo === undefined ? {} : { moveTo }), chunks };
}

/** Contract: throws ToolError when a chunk is not found. Chunks are looked for in order, each after the one before. */
export function applyChunks(text: string, chunks: readonly Chunk[], shown: string): string {
  const dos = text.includes('\r\n');
  const lines = (dos ? text.replaceAll('\r\n', '\n') : text).split('\n');
  const endsWithNewline = lines.at(-1) === '';
  if (endsWithNewline) lines.pop();
  const out: string[] = [];
  let at = 0;
  chunks.forEach((chunk, index) => {
    let from = at;
    if (chunk.under !== undefined) {
      const head = lines.findIndex((line, number) => number >= at && line.trim() === chunk.under);
      if (head < 0) throw new ToolError('NO_MATCH', `${shown}: the line "${chunk.under.slice(0, 120)}" after @@ is not there`);
      from = head + 1;
    }
    // Trailing blank context is often an artefact of the patch's own layout.
    let { old, new: fresh } = chunk;
    let found = findLines(lines, old, from, chunk.atEnd);
    if (found < 0 && old.at(-1) === '' && fresh.at(-1) === '') {
      [old, fresh] = [old.slice(0, -1), fresh.slice(0, -1)];
      found = findLines(lines, old, from, chunk.atEnd);
    }
    if (found < 0) {
      const first = old.find((line) => line.trim() !== '') ?? '';
      throw new ToolError(
        'NO_MATCH',
        `${shown}: part ${index + 1} is not there (its first line: ${JSON.stringify(first.slice(0, 120))}); read the file again`,
      );
    }
    out.push(...lines.slice(at, found));
    out.push(...fresh);
    at = found + old.length;
  });
  out.push(...lines.slice(at));
  const joined = out.join('\n') + (out.length > 0 && (endsWithNewline || lines.length === 0) ? '\n' : '');
  return dos ? joined.replaceAll('\n', '\r\n') : joined;
}

/** Where the lines stand, exactly or but for spaces at their ends; -1 when they do not. */
function findLines(lines: readonly string[], wanted: readonly string[], from: number, atEnd: boolean): number {
  if (wanted.length === 0) return atEnd || from === 0 ? lines.length : from;
  for (const shape of [(line: string) => line, (line: string) => line.trimEnd()]) {
    const shaped = lines.map(shape);
    const target = wanted.map(shape);
    const first = atEnd ? Math.max(from, lines.length - wanted.length) : from;
    for (let at = first; at + target.length <= shaped.length; at++) {
      if (target.every((line, offset) => shaped[at + offset] === line)) return at;
    }
  }
  return -1;
}
