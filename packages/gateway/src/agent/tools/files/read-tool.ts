// `read`: a window of a text file with line numbers, or an image as it is. Images are told by their first bytes and never
// decoded here.
import type { imageTypes } from '@tenon/protocol';
import { Type } from 'typebox';
import { pathFacts } from '../facts.ts';
import { closed, defineTool, said } from '../define.ts';
import { MAX_SHOWN_BYTES, MAX_SHOWN_LINES } from '../spool.ts';
import { type Tool, ToolError, type ToolOutput } from '../tool.ts';
import { type FileDeps, locateFile } from './file-deps.ts';
import { linesOf, MAX_TEXT_BYTES, textOf } from './text.ts';
import { readWhole } from './workspace.ts';

const MAX_IMAGE_BYTES = 3_500_000;
const MAX_LINE_CHARS = 2_000;

export function readTool(deps: FileDeps): Tool {
  return defineTool({
    name: 'read',
    label: 'Read a file',
    description:
      'Read a text file of the workspace, with line numbers, or look at an image (png, jpeg, gif, webp). ' +
      `At most ${MAX_SHOWN_LINES} lines or ${MAX_SHOWN_BYTES} bytes at a time; use offset to go on.`,
    parameters: Type.Object(
      {
        path: Type.String({ minLength: 1, description: 'Path of the file, relative to the workspace' }),
        offset: Type.Optional(Type.Integer({ minimum: 1, description: 'First line to show, from 1' })),
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_SHOWN_LINES, description: 'How many lines to show' })),
      },
      closed,
    ),
    risk: 'read',
    tags: ['files'],
    idempotent: true,
    parallelSafe: true,
    facts: async ({ path }, { workspace }) => ({ derivedPaths: await pathFacts([path], workspace) }),
    async prepare({ path, offset = 1, limit = MAX_SHOWN_LINES }, place) {
      const { spot } = await locateFile(place, path, deps);
      return {
        subject: spot.shown,
        question: `Read ${spot.shown}?`,
        risk: 'read',
        exact: { path: spot.real, offset, limit },
        async run({ signal }) {
          const bytes = await readWhole(spot, MAX_TEXT_BYTES);
          signal.throwIfAborted();
          return imageOf(bytes, spot.shown) ?? windowOf(textOf(bytes, spot.shown), offset, limit, spot.shown);
        },
      };
    },
  });
}

const MAGIC: readonly [(typeof imageTypes)[number], (bytes: Buffer) => boolean][] = [
  ['image/png', (bytes) => bytes.subarray(0, 8).equals(Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]))],
  ['image/jpeg', (bytes) => bytes.subarray(0, 3).equals(Buffer.from([0xff, 0xd8, 0xff]))],
  ['image/gif', (bytes) => ['GIF87a', 'GIF89a'].includes(bytes.toString('latin1', 0, 6))],
  ['image/webp', (bytes) => bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WEBP'],
];

function imageOf(bytes: Buffer, shown: string): ToolOutput | undefined {
  const mimeType = MAGIC.find(([, matches]) => matches(bytes))?.[0];
  if (mimeType === undefined) return undefined;
  if (bytes.length > MAX_IMAGE_BYTES)
    throw new ToolError('TOO_LARGE', `${shown} is an image of ${bytes.length} bytes; at most ${MAX_IMAGE_BYTES} can be looked at`);
  return {
    content: [
      { type: 'text', text: `${shown}: ${mimeType}, ${bytes.length} bytes` },
      { type: 'image', mimeType, data: bytes.toString('base64') },
    ],
    details: { path: shown, mimeType, bytes: bytes.length },
  };
}

function windowOf(text: string, offset: number, limit: number, shown: string): ToolOutput {
  const lines = linesOf(text);
  if (lines.length === 0) return said(`[${shown} is empty]`, { details: { path: shown, lines: 0 } });
  if (offset > lines.length) throw new ToolError('OUT_OF_RANGE', `${shown} has ${lines.length} lines; offset ${offset} is behind its end`);
  const out: string[] = [];
  let bytes = 0;
  let number = offset;
  for (; number < offset + limit && number <= lines.length; number++) {
    const line = lines[number - 1]!;
    const cut = line.length > MAX_LINE_CHARS ? `${line.slice(0, MAX_LINE_CHARS)}… [line cut, ${line.length} characters]` : line;
    const row = `${number}\t${cut.endsWith('\r') ? cut.slice(0, -1) : cut}`;
    bytes += Buffer.byteLength(row) + 1;
    if (bytes > MAX_SHOWN_BYTES && out.length > 0) break;
    out.push(row);
  }
  if (number <= lines.length) out.push(`[Lines ${offset}-${number - 1} of ${lines.length}. Go on with offset ${number}]`);
  return said(out.join('\n'), { details: { path: shown, from: offset, to: number - 1, lines: lines.length } });
}
