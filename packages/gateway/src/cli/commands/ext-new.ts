import { statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { defineCommand } from '../command.ts';
import { CliError, exitCodes, quoted, usageError } from '../failure.ts';
import { choice, required, text } from '../values.ts';

export const extNew = defineCommand({
  path: 'ext new',
  summary: 'Make the folder of a new extension, with its tests and all that they need',
  examples: ['ext new notes', 'ext new notes --template python-tool', 'ext new gate --template permission-gate --in extensions'],
  args: { name: required('Its name, and that of its folder') },
  options: async () => {
    const { templates } = await import('create-tenon-extension');
    const lines = Object.entries(templates).map(([name, { summary }]) => `${name} (${summary})`);
    return {
      template: { ...choice(Object.keys(templates), `What it begins as: ${lines.join(', ')}`), value: '<template>' },
      in: text('<folder>', 'Make it in this folder; without it, here'),
    };
  },
  async run({ args, options, out }) {
    const into = options.in ?? '.';
    if (!isFolder(into)) throw usageError(`--in cannot be ${quoted(into)}; it must be a folder that is there`);
    const { scaffold, ScaffoldRefused } = await import('create-tenon-extension');
    const { visible } = await import('@tenon/protocol');
    try {
      const made = scaffold({ name: args.name, template: options.template ?? 'tool', into });
      const path = shortest(made.folder);
      out.show(made, () => [visible(made.folder), ...made.files.map((file) => `  ${file}`)]);
      if (out.json) return;
      out.talk(`Try it:    tenon ext dev ${visible(path)}`);
      out.talk(`Its tests: cd ${visible(path)} && ${made.test}`);
    } catch (error) {
      if (error instanceof ScaffoldRefused) throw new CliError('REFUSED', exitCodes.failed, error.message);
      throw error;
    }
  },
});

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

/** As one would type it here. */
function shortest(folder: string): string {
  const path = relative('.', folder);
  return path.startsWith('..') ? folder : join('.', path);
}
