// `npm run extension-sdk:api` writes what extensions are compiled against; with `--check` it says whether what is committed is
// what would be written.
import { globSync } from 'node:fs';
import { join } from 'node:path';
import * as wire from '../packages/protocol/src/sep/wire.ts';
import { renderEntry, type EntryText, type TableNames } from './extension-sdk/api-text.ts';
import { keepTexts } from './protocol/keep-texts.ts';

const folder = join(import.meta.dirname, '..', 'packages', 'extension-sdk');
const sources = join(folder, 'src');
const filesIn = (pattern: string) =>
  globSync(pattern, { cwd: sources }).filter((file) => !file.endsWith('.test.ts') && !file.endsWith('index.ts'));
/** What is read first; the other files follow. */
const first = ['extension', 'api', 'definitions', 'on', 'ui', 'render', 'session', 'programs', 'host'].map((name) => `${name}.ts`);

const tables: TableNames = {
  SepErrorName: Object.keys(wire.errors),
  SepEventName: wire.eventNames,
  SepHookName: wire.hookNames,
  SepMethodName: wire.methodNames,
  SepMode: wire.modes,
  SepUiKind: wire.uiKinds,
};

/** The committed texts, and what each is made of. */
export const entryTexts: Readonly<Record<string, EntryText>> = {
  'api.d.ts': {
    module: '@tenon/extension-sdk',
    entry: 'index.ts',
    files: [
      ...first,
      ...filesIn('*.ts')
        .filter((file) => !first.includes(file))
        .sort(),
    ],
  },
  'testing.d.ts': {
    module: '@tenon/extension-sdk/testing',
    entry: 'testing/index.ts',
    files: filesIn('testing/*.ts').sort(),
    others: { '../index.ts': './api.d.ts' },
  },
};

export function renderTexts(): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(entryTexts).map(([name, text]) => [name, renderEntry(sources, text, tables)]));
}

if (import.meta.main)
  keepTexts(folder, renderTexts(), 'What extensions are compiled against has changed. If that is wanted: npm run extension-sdk:api');
