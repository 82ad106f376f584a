// `edit`: exact pieces of text in place of others. Each piece must be there exactly once, so that what is changed is what
// was meant.
import { Type } from 'typebox';
import { sha256 } from '../../../kernel/ids.ts';
import { nearest } from '../../../kernel/nearest.ts';
import { pathFacts } from '../facts.ts';
import { closed, defineTool, said } from '../define.ts';
import { type Tool, ToolError } from '../tool.ts';
import { type FileDeps, locateFile } from './file-deps.ts';
import { linesOf, MAX_TEXT_BYTES, textOf } from './text.ts';
import { readWhole, writeWhole } from './workspace.ts';

interface Edit {
  readonly find: string;
  readonly replace: string;
}

export function editTool(deps: FileDeps): Tool {
  return defineTool({
    name: 'edit',
    label: 'Edit a file',
    description:
      'Change parts of a text file. Each find must occur exactly once in the file, with the same spaces and line ends; ' +
      'take in lines around it until it does. The edits apply in order; if one does not fit, nothing is changed.',
    parameters: Type.Object(
      {
        path: Type.String({ minLength: 1, description: 'Path of the file, relative to the workspace' }),
        edits: Type.Array(
          Type.Object(
            {
              find: Type.String({ minLength: 1, description: 'Exact text that is in the file once' }),
              replace: Type.String({ description: 'What stands there afterwards' }),
            },
            closed,
          ),
          { minItems: 1, maxItems: 100, description: 'What to change, in order' },
        ),
      },
      closed,
    ),
    risk: 'write',
    tags: ['files'],
    idempotent: false,
    parallelSafe: false,
    facts: async ({ path }, { workspace }) => ({ derivedPaths: await pathFacts([path], workspace) }),
    async prepare({ path, edits }, place) {
      const { spot, boundary } = await locateFile(place, path, deps);
      const before = textOf(await readWhole(spot, MAX_TEXT_BYTES), spot.shown);
      const after = applyEdits(before, edits, spot.shown);
      const digest = sha256(before);
      return {
        subject: spot.shown,
        question: `Change ${spot.shown}?`,
        risk: 'write',
        exact: { path: spot.real, edits: edits.map(({ find, replace }) => ({ find, replace })), before: digest },
        async run({ signal }) {
          const now = textOf(await readWhole(spot, MAX_TEXT_BYTES), spot.shown);
          if (sha256(now) !== digest) throw new ToolError('CHANGED', `${spot.shown} was changed by somebody else meanwhile; read it again`);
          signal.throwIfAborted();
          await writeWhole(spot, after.text, deps.newId(), boundary);
          return said(
            `Changed ${spot.shown} in ${edits.length === 1 ? 'one place' : `${edits.length} places`} (line ${after.lines.join(', ')})`,
            {
              details: { path: spot.shown, edits: edits.length, lines: after.lines },
            },
          );
        },
      };
    },
  });
}

/** The text after all edits, and the line each began at. Contract: throws ToolError when one does not fit. */
export function applyEdits(text: string, edits: readonly Edit[], shown: string): { text: string; lines: number[] } {
  const lines: number[] = [];
  let now = text;
  edits.forEach((edit, index) => {
    const name = edits.length === 1 ? 'find' : `edits/${index}/find`;
    // A model writes \n; a file from Windows keeps its \r\n.
    const dos = now.includes('\r\n') && !edit.find.includes('\r') && !now.includes(edit.find);
    const find = dos ? edit.find.replaceAll('\n', '\r\n') : edit.find;
    const replace = dos ? edit.replace.replaceAll('\r\n', '\n').replaceAll('\n', '\r\n') : edit.replace;
    const at = now.indexOf(find);
    if (at < 0) throw new ToolError('NO_MATCH', `${name} is not in ${shown}.${hint(now, edit.find)}`);
    const count = countOf(now, find);
    if (count > 1) throw new ToolError('MANY_MATCHES', `${name} is in ${shown} ${count} times; add lines around it until it is there once`);
    if (find === replace) throw new ToolError('NO_CHANGE', `${name} and its replacement are the same`);
    lines.push(countOf(now.slice(0, at), '\n') + 1);
    now = now.slice(0, at) + replace + now.slice(at + find.length);
  });
  return { text: now, lines };
}

function countOf(text: string, part: string): number {
  let count = 0;
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) count++;
  return count;
}

const MAX_COMPARED = 2_000;

function hint(text: string, find: string): string {
  const wanted = linesOf(find).find((line) => line.trim() !== '');
  if (wanted === undefined) return '';
  const lines = linesOf(text);
  const trimmed = wanted.trim();
  let found = lines.findIndex((line) => line.trim() === trimmed);
  let how = 'differs only in the spaces around it, or the lines after it differ';
  if (found < 0) {
    const candidates = lines.filter((line) => Math.abs(line.trim().length - trimmed.length) < 20).slice(0, MAX_COMPARED);
    const close = nearest(
      trimmed,
      candidates.map((line) => line.trim()),
    );
    if (close === undefined) return ' Read the file and copy the text from it.';
    found = lines.findIndex((line) => line.trim() === close);
    how = 'is the nearest';
  }
  return ` Line ${found + 1} ${how}: ${JSON.stringify(lines[found]!.slice(0, 200))}`;
}
