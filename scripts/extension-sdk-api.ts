// `npm run extension-sdk:api` writes what extensions are compiled against; with `--check` it says whether what is committed is
// what would be written.
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { hookRow } from '../packages/protocol/src/hooks.ts';
import { furtherEventPayloads, furtherHookShapes, registrationItems, shapesOf } from '../packages/protocol/src/sep/index.ts';
import {
  errors,
  eventNames,
  furtherEventNames,
  furtherHookNames,
  hookNames,
  methodNames,
  methodRow,
  modes,
  registrationKeys,
  registrations,
  uiKinds,
} from '../packages/protocol/src/sep/wire.ts';
import { renderEntry, type EntryText, type TableTexts } from './extension-sdk/api-text.ts';
import { comment, typeText } from './plugin-sdk/type-text.ts';
import type { JsonSchema } from './protocol/json-schema.ts';
import { keepTexts } from './protocol/keep-texts.ts';

const folder = join(import.meta.dirname, '..', 'packages', 'extension-sdk');
const sources = join(folder, 'src');
const filesIn = (pattern: string) =>
  globSync(pattern, { cwd: sources }).filter((file) => !file.endsWith('.test.ts') && !file.endsWith('index.ts'));
/** What is read first; the other files follow. */
const first = ['extension', 'api', 'definitions', 'on', 'ui', 'render', 'session', 'programs', 'host'].map((name) => `${name}.ts`);

const oneOf = (name: string, values: readonly string[]) => `type ${name} = ${values.map((each) => `'${each}'`).join(' | ')};`;
// What has a name of its own elsewhere is data to an extension.
const shape = (schema: object) => (isEmpty(schema) ? 'Readonly<Record<string, never>>' : typeText(schema as JsonSchema, () => {}));
const isEmpty = ({ properties }: { readonly properties?: object }) => properties !== undefined && Object.keys(properties).length === 0;
const fields = (name: string, lines: readonly string[]) => `interface ${name} {\n${lines.join('\n')}\n}`;

const tables: TableTexts = {
  SepErrorName: oneOf('SepErrorName', Object.keys(errors)),
  SepEventName: oneOf('SepEventName', eventNames),
  SepHookName: oneOf('SepHookName', hookNames),
  SepMethodName: oneOf('SepMethodName', methodNames),
  SepMode: oneOf('SepMode', modes),
  SepUiKind: oneOf('SepUiKind', uiKinds),
  SeamCalls: seamTable('SeamCalls', 'to-host'),
  SeamRequests: seamTable('SeamRequests', 'to-extension'),
  SeamItems: fields(
    'SeamItems',
    registrationKeys.filter((key) => 'beyond' in registrations[key]).map((key) => `${key}: ${shape(registrationItems[key])};`),
  ),
  FurtherHooks: fields(
    'FurtherHooks',
    furtherHookNames.map((name) => {
      const { input, patch } = furtherHookShapes[name];
      return `${comment(hookRow(name).summary)}${name}: { readonly input: ${shape(input)}; readonly patch: ${shape(patch)} };`;
    }),
  ),
  FurtherEvents: fields(
    'FurtherEvents',
    furtherEventNames.map((name) => `${comment(hookRow(name).summary)}${name}: ${shape(furtherEventPayloads[name])};`),
  ),
};

function seamTable(name: string, direction: string): string {
  const own = methodNames.filter((method) => methodRow(method).beyond && methodRow(method).direction === direction);
  const lines = own.map((method) => {
    const { params, result } = shapesOf(method);
    return `${comment(methodRow(method).summary)}'${method}': { readonly params: ${shape(params)}; readonly result: ${shape(result!)} };`;
  });
  return fields(name, lines);
}

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
