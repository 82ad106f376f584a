// `find`: files and folders by their names.
import { Type } from 'typebox';
import { pathFacts } from '../facts.ts';
import { closed, defineTool, said } from '../define.ts';
import { firstPage } from '../spool.ts';
import { type Tool, ToolError } from '../tool.ts';
import { type FileDeps, locateFolder } from './file-deps.ts';
import { compileGlob } from './glob.ts';
import { type Walk, walk } from './walk.ts';

const MAX_FOUND = 10_000;
const LIMITS = { maxEntries: 200_000, maxMs: 20_000 };

export function findTool(deps: FileDeps): Tool {
  return defineTool({
    name: 'find',
    label: 'Find files',
    description:
      'Find files and folders by name. The glob knows * ? [a-z] {a,b} and ** for any folders; without / it is compared with the last name only. ' +
      'Skips .git, node_modules and links.',
    parameters: Type.Object(
      {
        glob: Type.String({ minLength: 1, description: 'Such as *.md or src/**/*.test.ts' }),
        path: Type.Optional(Type.String({ minLength: 1, description: 'Folder to look in, relative to the workspace; default: all of it' })),
      },
      closed,
    ),
    risk: 'read',
    tags: ['files', 'search'],
    idempotent: true,
    parallelSafe: true,
    facts: async ({ path = '.' }, { workspace }) => ({ derivedPaths: await pathFacts([path], workspace) }),
    async prepare({ glob, path = '.' }, place) {
      const { spot, boundary } = await locateFolder(place, path, deps);
      if (spot.kind !== 'folder') throw new ToolError('NOT_A_FOLDER', `${spot.shown} is a file; give a folder`);
      const wanted = compileGlob(glob);
      return {
        subject: glob.slice(0, 100),
        question: `Find ${glob.slice(0, 100)} in ${spot.shown}?`,
        risk: 'read',
        exact: { glob, path: spot.real },
        async run({ signal }) {
          const state: Walk = { stopped: undefined, entries: 0, unreadable: 0 };
          const found: string[] = [];
          for await (const entry of walk(spot, boundary, state, LIMITS, deps.clock, signal)) {
            if (!wanted(spot.shown === '.' ? entry.shown : entry.shown.slice(spot.shown.length + 1))) continue;
            found.push(entry.kind === 'folder' ? `${entry.shown}/` : entry.shown);
            if (found.length < MAX_FOUND) continue;
            state.stopped = `after ${MAX_FOUND} names`;
            break;
          }
          const count = found.length;
          if (count === 0) found.push('Nothing found');
          if (state.stopped !== undefined) found.push(`[Stopped ${state.stopped}; narrow it with path or a longer glob]`);
          if (state.unreadable > 0) found.push(`[${state.unreadable} folders could not be read]`);
          const { text, handle } = firstPage(found.join('\n'), deps.spool);
          return said(text, { details: { found: count, stopped: state.stopped ?? null, ...(handle === undefined ? {} : { handle }) } });
        },
      };
    },
  });
}
