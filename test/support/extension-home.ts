// Extensions of the tests in the home of a gateway, as an operator would have put them there.
import { chmodSync, copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { put } from './plugins.ts';

/** A folder with a manifest and one of the fixtures as its program. Gives the folder. */
export function putExtension(
  home: string,
  name: string,
  { fixture, capabilities, files = {} }: { fixture: string; capabilities: string; files?: Readonly<Record<string, object>> },
): string {
  const folder = join(home, 'extensions', name);
  mkdirSync(folder, { recursive: true });
  for (const each of [join(home, 'extensions'), folder]) chmodSync(each, 0o755);
  put(
    join(folder, 'extension.toml'),
    `name = "${name}"\nversion = "1.0.0"\n[run]\ncommand = "node"\nargs = ["main.mjs"]\n[capabilities]\n${capabilities}\n`,
  );
  copyFileSync(join(import.meta.dirname, '../fixtures/extensions', fixture), join(folder, 'main.mjs'));
  chmodSync(join(folder, 'main.mjs'), 0o644);
  for (const [file, content] of Object.entries(files)) put(join(folder, file), JSON.stringify(content));
  return folder;
}

/** What extensions wrote to their standard error, as the gateway of this home logs it. */
export function notedBy(home: string): Record<string, unknown>[] {
  const log = readFileSync(join(home, 'logs', 'gateway.log'), 'utf8');
  return log.split('\n').flatMap((line) => {
    if (!line.includes('"stderr":')) return [];
    const { stderr: said } = JSON.parse(line) as { stderr: string };
    return said.startsWith('{') ? [JSON.parse(said) as Record<string, unknown>] : [];
  });
}

export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 10));
}
