// `npm run plugin-sdk:api` writes the public surface of the SDK as text; with `--check` it says whether what is committed is
// what would be written.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ApiText, renderApi } from './plugin-sdk/api-text.ts';
import { firstDifference } from './protocol/difference.ts';
import { protocolTables } from './protocol/tables.ts';

const folder = join(import.meta.dirname, '..', 'packages', 'plugin-sdk');
const sources = join(folder, 'src');
const file = (name: string) => `${name}.ts`;
/** What is read first; the other files of the SDK follow. */
const first = ['define-plugin', 'api', 'registrations', 'facades', 'contributions'].map(file);
const apart = ['index', 'testing'].map(file);
const others = readdirSync(sources).filter((name) => !first.includes(name) && !apart.includes(name));

/** The committed texts, and what each is made of. */
export const apiTexts: Readonly<Record<string, ApiText>> = {
  'api.d.ts': {
    module: '@tenon/plugin-sdk',
    files: [...first, ...others.sort()],
  },
  'testing.d.ts': {
    module: '@tenon/plugin-sdk/testing',
    files: [file('testing')],
    imports: "import type { PluginEntry } from './api.d.ts';",
  },
};

if (import.meta.main) {
  const isCheck = process.argv[2] === '--check';
  for (const [name, text] of Object.entries(apiTexts)) {
    const path = join(folder, name);
    const made = renderApi(protocolTables(), sources, text);
    const difference = isCheck ? firstDifference(read(path), made) : undefined;
    if (!isCheck) writeFileSync(path, made);
    if (!isCheck || difference !== undefined)
      console.log(`packages/plugin-sdk/${name}${difference === undefined ? '' : `: ${difference}`}`);
    if (difference !== undefined) process.exitCode = 1;
  }
  if (process.exitCode === 1) console.log('What plugins are written against has changed. If that is wanted: npm run plugin-sdk:api');
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
