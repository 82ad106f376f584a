// `npm create tenon-extension <name> [-- --template <template>]`: the words of a command line, and what is said about it.
import { parseArgs } from 'node:util';
import { scaffold, ScaffoldRefused, templates } from './scaffold.ts';

interface Streams {
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown };
  cwd(): string;
}

/** Returns the exit code. */
export function runCreate(words: readonly string[], { stdout, stderr, cwd }: Streams): number {
  try {
    const { values, positionals } = parseArgs({
      args: [...words],
      options: { template: { type: 'string', short: 't', default: 'tool' }, help: { type: 'boolean', short: 'h' } },
      allowPositionals: true,
    });
    const [name] = positionals;
    if (values.help || name === undefined || positionals.length > 1) {
      (values.help ? stdout : stderr).write(usage());
      return values.help ? 0 : 2;
    }
    const { folder, files, test } = scaffold({ name, template: values.template, into: cwd() });
    stdout.write(`${folder}\n${files.map((file) => `  ${file}\n`).join('')}Its tests: cd ${name} && ${test}\n`);
    return 0;
  } catch (thrown) {
    const isBadWord = thrown instanceof TypeError && 'code' in thrown;
    if (!(thrown instanceof ScaffoldRefused) && !isBadWord) throw thrown;
    stderr.write(`${thrown.message}\n`);
    return isBadWord ? 2 : 1;
  }
}

function usage(): string {
  const width = Math.max(...Object.keys(templates).map((name) => name.length));
  const rows = Object.entries(templates).map(([name, { summary }]) => `  ${name.padEnd(width)}  ${summary}`);
  return `create-tenon-extension <name> [--template <template>]\n\nTemplates:\n${rows.join('\n')}\n`;
}
