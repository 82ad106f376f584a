// `write`: a whole file, new or in place of another.
import { Type } from 'typebox';
import { pathFacts } from '../facts.ts';
import { closed, defineTool, said } from '../define.ts';
import { type Tool, ToolError } from '../tool.ts';
import { type FileDeps, locateIn } from './file-deps.ts';
import { linesOf } from './text.ts';
import { locate, writeWhole } from './workspace.ts';

const MAX_CONTENT = 5_000_000;

export function writeTool(deps: FileDeps): Tool {
  return defineTool({
    name: 'write',
    label: 'Write a file',
    description: 'Write a whole file in the workspace. Replaces what is there and makes missing folders. To change a part, use edit.',
    parameters: Type.Object(
      {
        path: Type.String({ minLength: 1, description: 'Path of the file, relative to the workspace' }),
        content: Type.String({ maxLength: MAX_CONTENT, description: 'The whole text of the file' }),
      },
      closed,
    ),
    risk: 'write',
    tags: ['files'],
    idempotent: true,
    parallelSafe: false,
    facts: async ({ path }, { workspace }) => ({ derivedPaths: await pathFacts([path], workspace) }),
    async prepare({ path, content }, place) {
      const { spot, boundary } = await locateIn(place, path, deps);
      if (spot.kind === 'folder') throw new ToolError('NOT_A_FILE', `${spot.shown} is a folder`);
      const replaces = spot.kind === 'file';
      return {
        subject: spot.shown,
        question: replaces ? `Replace ${spot.shown}?` : `Write ${spot.shown}?`,
        risk: 'write',
        exact: { path: spot.real, content },
        async run({ signal }) {
          signal.throwIfAborted();
          const now = await locate(spot.real, boundary);
          if (now.real !== spot.real) throw new ToolError('CHANGED', `${spot.shown} leads elsewhere by now; look again`);
          if (now.kind === 'file' && !replaces)
            throw new ToolError('CHANGED', `${spot.shown} was made by somebody else meanwhile; look at it first`);
          await writeWhole(spot, content, deps.newId(), boundary);
          const lines = linesOf(content).length;
          return said(
            `${replaces ? 'Replaced' : 'Wrote'} ${spot.shown} (${lines} ${lines === 1 ? 'line' : 'lines'}, ${Buffer.byteLength(content)} bytes)`,
            {
              details: { path: spot.shown, bytes: Buffer.byteLength(content), lines, replaced: replaces },
            },
          );
        },
      };
    },
  });
}
