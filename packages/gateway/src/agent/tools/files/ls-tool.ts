// `ls`: one folder.
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { Type } from 'typebox';
import { visible } from '@tenon/protocol';
import { pathFacts } from '../facts.ts';
import { closed, defineTool, said } from '../define.ts';
import { firstPage } from '../spool.ts';
import { type Tool, ToolError } from '../tool.ts';
import { type FileDeps, locateFolder } from './file-deps.ts';
import { createBreath, listFolder } from './walk.ts';
import { isVisible } from './workspace.ts';

const MAX_NAMES = 10_000;

export function lsTool(deps: FileDeps): Tool {
  return defineTool({
    name: 'ls',
    label: 'List a folder',
    description: 'List one folder of the workspace: folders end in /, files have their size in bytes.',
    parameters: Type.Object(
      { path: Type.Optional(Type.String({ minLength: 1, description: 'Folder, relative to the workspace; default: the workspace' })) },
      closed,
    ),
    risk: 'read',
    tags: ['files'],
    idempotent: true,
    parallelSafe: true,
    facts: async ({ path = '.' }, { workspace }) => ({ derivedPaths: await pathFacts([path], workspace) }),
    async prepare({ path = '.' }, place) {
      const { spot, boundary } = await locateFolder(place, path, deps);
      if (spot.kind !== 'folder') throw new ToolError('NOT_A_FOLDER', `${spot.shown} is a file; read it with read`);
      return {
        subject: spot.shown,
        question: `List ${spot.shown}?`,
        risk: 'read',
        exact: { path: spot.real },
        async run({ signal }) {
          const breathe = createBreath(deps.clock);
          const entries = (await listFolder(spot.real)).filter(({ name }) => isVisible(join(spot.real, name), boundary));
          const rows: string[] = [];
          for (const { name, kind } of entries.slice(0, MAX_NAMES)) {
            await breathe();
            signal.throwIfAborted();
            if (kind === 'folder') rows.push(`${visible(name)}/`);
            else if (kind === 'file')
              rows.push(`${visible(name)}  ${(await lstat(join(spot.real, name)).catch(() => undefined))?.size ?? '?'}`);
            else rows.push(`${visible(name)}  (link or device)`);
          }
          if (rows.length === 0) rows.push('The folder is empty');
          if (entries.length > MAX_NAMES) rows.push(`[${entries.length - MAX_NAMES} more names are not shown; use find]`);
          const { text, handle } = firstPage(rows.join('\n'), deps.spool);
          return said(text, { details: { path: spot.shown, entries: entries.length, ...(handle === undefined ? {} : { handle }) } });
        },
      };
    },
  });
}
