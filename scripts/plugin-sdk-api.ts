// `npm run plugin-sdk:api` writes the public surface of the SDK as text; with `--check` it says whether what is committed is
// what would be written.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type ApiText, renderApi } from './plugin-sdk/api-text.ts';
import { keepTexts } from './protocol/keep-texts.ts';
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
  const texts = Object.entries(apiTexts).map(([name, text]) => [name, renderApi(protocolTables(), sources, text)] as const);
  keepTexts(folder, Object.fromEntries(texts), 'What plugins are written against has changed. If that is wanted: npm run plugin-sdk:api');
}
