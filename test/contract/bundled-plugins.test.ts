// The bundled plugins prove that the seams are enough: they are small, they import what every author imports, and the host knows
// nothing of what they are about.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { findViolations, readTree } from '../../scripts/layers.ts';
import { verifies } from '../support/verifies.ts';

const root = join(import.meta.dirname, '..', '..');

/** What each of them is about, in words that the host must not know. */
const wordsOf: Readonly<Record<string, readonly string[]>> = {
  guardrails: ['guardrail', 'guardrails'],
  'plan-mode': ['plan', 'plans'],
  reminders: ['remind', 'reminder', 'reminders'],
  todo: ['todo', 'todos'],
  // The channel of the page is a name of the protocol; it was there before the plugin.
  webchat: [],
};

const host = /^packages\/(protocol|gateway|plugin-sdk|control-ui|client)\/src\//;

/** Where such a word means something else, or stands for a plugin in general. */
const elsewhere: readonly { readonly word: string; readonly in: string; readonly why: string }[] = [
  { word: 'todo', in: 'packages/gateway/src/cli/commands/plugin-', why: 'examples of the help name a plugin that everybody has' },
  { word: 'guardrails', in: 'packages/gateway/src/cli/commands/plugin-', why: 'the same, of one that can be configured' },
  { word: 'plan', in: 'packages/gateway/src/model/', why: 'what an answer of the demo, or a stream, is made from' },
  { word: 'plan', in: 'packages/gateway/src/store/', why: 'how a database goes about a query' },
  { word: 'plan', in: 'packages/gateway/src/agent/scheduler.ts', why: 'which occurrences of a job are due' },
  { word: 'plan', in: 'packages/gateway/src/agent/due-plan.ts', why: 'the same' },
];

interface Found {
  readonly file: string;
  readonly word: string;
}

/** Words of names count too: `planMode` has two. */
function productWords(files: ReadonlyMap<string, string>): Found[] {
  const words = new Set(Object.values(wordsOf).flat());
  return [...files].flatMap(([file, source]) => {
    if (!host.test(file) || /\.test\.tsx?$/.test(file)) return [];
    const said = new Set(
      source
        .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
        .toLowerCase()
        .match(/[a-z]+/g),
    );
    return [...words].flatMap((word) =>
      said.has(word) && !elsewhere.some((each) => each.word === word && file.startsWith(each.in)) ? [{ file, word }] : [],
    );
  });
}

test('no word of a bundled plugin is anywhere in the host', () => {
  const folders = readdirSync(join(root, 'plugins'));
  assert.deepEqual(folders.sort(), Object.keys(wordsOf).sort());
  const files = readTree(root);
  assert.ok([...files.keys()].filter((file) => host.test(file)).length > 300, 'this test reads nothing');
  assert.deepEqual(productWords(files), []);
});

test('a word that is planted is found, in a name, a text or a comment; elsewhere it is nobody’s', () => {
  const planted: Readonly<Record<string, string>> = {
    'packages/gateway/src/host/a.ts': 'const planMode = 1;',
    'packages/protocol/src/b.ts': "const text = 'the Todo of today';",
    'packages/control-ui/src/c.tsx': '// what guardrails say',
    'packages/gateway/src/host/d.ts': 'const planned = explanation;',
    'packages/gateway/src/host/e.test.ts': 'const plan = 1;',
    'plugins/todo/index.ts': 'const todo = 1;',
    'packages/gateway/src/model/demo.ts': 'const plan = 1;',
  };
  assert.deepEqual(productWords(new Map(Object.entries(planted))), [
    { file: 'packages/gateway/src/host/a.ts', word: 'plan' },
    { file: 'packages/protocol/src/b.ts', word: 'todo' },
    { file: 'packages/control-ui/src/c.tsx', word: 'guardrails' },
  ]);
});

test('each bundled plugin has fewer than 400 lines and imports what every author imports', () => {
  verifies('seams:W2');
  const files = readTree(root);
  for (const id of Object.keys(wordsOf)) {
    const own = [...files].filter(([file]) => file.startsWith(`plugins/${id}/`) && !/\.test\.ts$/.test(file));
    const lines = own.reduce((sum, [, source]) => sum + source.split('\n').length - 1, 0);
    assert.ok(lines > 0 && lines < 400, `${id} has ${lines} lines`);
  }
  const faults = findViolations(files).filter(({ file }) => file.startsWith('plugins/'));
  assert.deepEqual(faults, []);
  const planted = new Map([['plugins/todo/index.ts', "import { x } from '@tenon/protocol';"]]);
  assert.equal(findViolations(planted).length, 1);
});
