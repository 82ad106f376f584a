// What plugins are written against is committed as text: a change of it is a change that somebody reads.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { type TObject, Type } from 'typebox';
import { renderApi } from '../../scripts/plugin-sdk/api-text.ts';
import { apiTexts } from '../../scripts/plugin-sdk-api.ts';
import { protocolTables } from '../../scripts/protocol/tables.ts';
import { verifies } from '../support/verifies.ts';

const root = join(import.meta.dirname, '..', '..');
const sources = join(root, 'packages', 'plugin-sdk', 'src');
const read = (name: string) => readFileSync(join(root, 'packages', 'plugin-sdk', name), 'utf8');
const committed = read('api.d.ts');
const api = apiTexts['api.d.ts']!;

test('the committed surface of the SDK is the one that its sources have, and every file of it is there', () => {
  verifies('seams:A21');
  for (const [name, text] of Object.entries(apiTexts)) assert.equal(renderApi(protocolTables(), sources, text), read(name), name);
  const files = Object.values(apiTexts).flatMap((text) => text.files);
  const others = readdirSync(sources).filter((file) => !files.includes(file));
  assert.deepEqual(others, ['index.ts']);
});

test('a changed hook event, a changed contribution and a changed function are differences', () => {
  verifies('seams:A21');
  const tables = protocolTables();
  const { agent_end: hook } = tables.hooks;
  const event = Type.Object({ ...hook!.event.properties, newField: Type.Optional(Type.String()) });
  const changedHook = renderApi({ ...tables, hooks: { ...tables.hooks, agent_end: { ...hook!, event } } }, sources, api);
  assert.deepEqual(added(changedHook), ['    newField?: string;']);
  const { startupCheck } = tables.contributions;
  const schema = Type.Object({ ...(startupCheck!.schema as TObject).properties, loud: Type.Boolean() });
  const contributions = { ...tables.contributions, startupCheck: { ...startupCheck!, schema } };
  assert.deepEqual(added(renderApi({ ...tables, contributions }, sources, api)), ['    loud: boolean;']);
  const copy = mkdtempSync(join(tmpdir(), 'tenon-sdk-'));
  try {
    cpSync(sources, copy, { recursive: true });
    const file = join(copy, 'values.ts');
    writeFileSync(file, readFileSync(file, 'utf8').replace('debug(message: string', 'debug(message: number'));
    assert.match(added(renderApi(tables, copy, api)).join('\n'), /debug\(message: number/);
  } finally {
    rmSync(copy, { recursive: true, force: true, maxRetries: 10 });
  }
});

test('the text stands alone: the bundled plugins compile against it', () => {
  verifies('seams:A21');
  const folder = mkdtempSync(join(tmpdir(), 'tenon-sdk-'));
  try {
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    const strict = JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8')).compilerOptions;
    const plugins = join(root, 'plugins');
    writeFileSync(
      join(folder, 'tsconfig.json'),
      JSON.stringify({
        compilerOptions: {
          ...strict,
          skipLibCheck: false,
          types: ['node'],
          typeRoots: [join(root, 'node_modules', '@types')],
          paths: {
            '@tenon/plugin-sdk': [join(root, 'packages', 'plugin-sdk', 'api.d.ts')],
            '@tenon/plugin-sdk/testing': [join(root, 'packages', 'plugin-sdk', 'testing.d.ts')],
          },
        },
        files: [...readdirSync(plugins).map((name) => join(plugins, name, 'index.ts')), join(folder, 'test.ts')],
      }),
    );
    writeFileSync(
      join(folder, 'test.ts'),
      `import { createTestHost } from '@tenon/plugin-sdk/testing';
import { definePluginEntry } from '@tenon/plugin-sdk';
const host = await createTestHost(definePluginEntry({ id: 'one', register: () => {} }), { grants: [] });
const reply: string | undefined = (await host.send('hello')).reply;
// @ts-expect-error: there is no such thing
await host.sendNothing(reply);
`,
    );
    const { status, stdout } = spawnSync(join(root, 'node_modules', '.bin', 'tsc'), ['-p', folder], { encoding: 'utf8' });
    assert.equal(status, 0, stdout);
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  }
});

/** Lines that the committed text does not have at that place. */
function added(text: string): string[] {
  const before = new Map<string, number>();
  for (const line of committed.split('\n')) before.set(line, (before.get(line) ?? 0) + 1);
  return text.split('\n').filter((line) => {
    const left = before.get(line) ?? 0;
    before.set(line, left - 1);
    return left <= 0;
  });
}
