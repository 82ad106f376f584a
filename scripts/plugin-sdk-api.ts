// `npm run plugin-sdk:api` writes the public surface of the SDK as text; with `--check` it says whether what is committed is
// what would be written.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { renderApi } from './plugin-sdk/api-text.ts';
import { firstDifference } from './protocol/difference.ts';
import { protocolTables } from './protocol/tables.ts';

const folder = join(import.meta.dirname, '..', 'packages', 'plugin-sdk');
const target = join(folder, 'api.d.ts');
/** Every file of the SDK but its index, in the order in which one reads them. */
export const apiFiles = ['define-plugin', 'api', 'registrations', 'facades', 'contributions', 'later', 'flat', 'values'].map(
  (name) => `${name}.ts`,
);

if (import.meta.main) {
  const text = renderApi(protocolTables(), join(folder, 'src'), apiFiles);
  if (process.argv[2] !== '--check') {
    writeFileSync(target, text);
    console.log('packages/plugin-sdk/api.d.ts');
  } else {
    const difference = firstDifference(read(), text);
    if (difference !== undefined) {
      console.error(`packages/plugin-sdk/api.d.ts: ${difference}`);
      console.error('What plugins are written against has changed. If that is wanted: npm run plugin-sdk:api');
      process.exitCode = 1;
    }
  }
}

function read(): string | undefined {
  try {
    return readFileSync(target, 'utf8');
  } catch {
    return undefined;
  }
}
