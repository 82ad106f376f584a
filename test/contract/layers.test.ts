// The layer check, seen to catch one violation of each of its rules, and run over the real tree.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { findViolations, readTree, type Violation } from '../../scripts/layers.ts';
import { importsOf } from '../../scripts/source/imports.ts';
import { verifies } from '../support/verifies.ts';

const src = 'packages/gateway/src';
const manifest = JSON.stringify({ dependencies: { ws: '1' } });

function rulesBroken(files: Record<string, string>): Violation['rule'][] {
  return findViolations(new Map(Object.entries({ 'packages/gateway/package.json': manifest, ...files }))).map(({ rule }) => rule);
}

test('the real tree breaks no rule', () => {
  verifies('foundation:layers');
  const files = readTree(join(import.meta.dirname, '../..'));
  assert.ok(files.size > 30, `only ${files.size} files were read`);
  const imports = [...files.values()].reduce((sum, source) => sum + importsOf(source).length, 0);
  assert.ok(imports > 60, `only ${imports} imports were read`);
  assert.deepEqual(findViolations(files), []);
});

const layers = ['kernel', 'store', 'model', 'host', 'agent', 'rpc', 'net'];
const below: Record<string, string[]> = {
  kernel: [],
  store: ['kernel'],
  model: ['kernel'],
  host: ['store', 'kernel'],
  agent: ['host', 'model', 'store', 'kernel'],
  rpc: ['agent', 'host', 'model', 'store', 'kernel'],
  net: ['rpc', 'agent', 'host', 'model', 'store', 'kernel'],
};

test('every pair of layers: down is allowed, anything else is caught', () => {
  verifies('foundation:layers');
  for (const from of layers) {
    for (const to of layers.filter((layer) => layer !== from)) {
      const files = { [`${src}/${from}/a.ts`]: `import type { B } from '../${to}/b.ts';`, [`${src}/${to}/b.ts`]: '' };
      assert.deepEqual(rulesBroken(files), below[from]!.includes(to) ? [] : ['layer'], `${from} → ${to}`);
    }
  }
});

const planted: { name: string; rule: Violation['rule'] | undefined; files: Record<string, string> }[] = [
  {
    name: 'only main and cli import the composition root',
    rule: 'layer',
    files: { [`${src}/net/a.ts`]: `import { openGateway } from '../gateway.ts';` },
  },
  {
    name: 'main imports the composition root',
    rule: undefined,
    files: { [`${src}/main.ts`]: `import { openGateway } from './gateway.ts';` },
  },
  { name: 'cli imports the composition root', rule: undefined, files: { [`${src}/cli/a.ts`]: `import '../gateway.ts';` } },
  { name: 'cli starts main', rule: undefined, files: { [`${src}/cli/start.ts`]: `await import('../main.ts');` } },
  { name: 'main imports cli', rule: 'layer', files: { [`${src}/main.ts`]: `import './cli/entry.ts';` } },
  { name: 'cli reaches into a layer', rule: 'layer', files: { [`${src}/cli/a.ts`]: `import { x } from '../store/x.ts';` } },
  { name: 'config imports a layer above kernel', rule: 'layer', files: { [`${src}/config.ts`]: `import { x } from './store/x.ts';` } },
  { name: 'the store imports config', rule: 'layer', files: { [`${src}/store/a.ts`]: `import { x } from '../config.ts';` } },
  { name: 'rpc imports config', rule: undefined, files: { [`${src}/rpc/a.ts`]: `import { x } from '../config.ts';` } },
  { name: 'a folder without a row', rule: 'layer', files: { [`${src}/misc/a.ts`]: `import { x } from '../kernel/x.ts';` } },
  { name: 'a layer other than cli imports the client', rule: 'layer', files: { [`${src}/rpc/a.ts`]: `import '@tenon/client';` } },
  {
    name: 'a layer other than cli imports the SDK of extensions',
    rule: 'layer',
    files: { [`${src}/host/a.ts`]: `import '@tenon/extension-sdk/testing';` },
  },
  {
    name: 'a layer other than cli imports the scaffolder',
    rule: 'layer',
    files: { [`${src}/net/a.ts`]: `import 'create-tenon-extension';` },
  },
  {
    name: 'cli imports both, and what looks into folders',
    rule: undefined,
    files: {
      [`${src}/cli/a.ts`]: `import 'create-tenon-extension'; import '@tenon/extension-sdk/testing'; import '../extension-folder.ts';`,
    },
  },
  { name: 'cli imports the client', rule: undefined, files: { [`${src}/cli/a.ts`]: `import '@tenon/client';` } },
  { name: 'protocol imports more than typebox', rule: 'package', files: { 'packages/protocol/src/a.ts': `import 'ws';` } },
  { name: 'protocol imports a module of Node', rule: 'package', files: { 'packages/protocol/src/a.ts': `import 'node:fs';` } },
  {
    name: 'protocol imports typebox',
    rule: undefined,
    files: { 'packages/protocol/src/a.ts': `import { Compile } from 'typebox/compile';` },
  },
  { name: 'the client imports a module of Node', rule: 'package', files: { 'packages/client/src/a.ts': `import 'node:crypto';` } },
  { name: 'an undeclared dependency', rule: 'package', files: { [`${src}/net/a.ts`]: `import pg from 'pg';` } },
  { name: 'a declared dependency', rule: undefined, files: { [`${src}/net/a.ts`]: `import { WebSocket } from 'ws';` } },
  { name: 'an SDK imports the client', rule: 'package', files: { 'packages/plugin-sdk/src/a.ts': `import '@tenon/client';` } },
  { name: 'a plugin imports the protocol', rule: 'package', files: { 'plugins/todo/src/a.ts': `import '@tenon/protocol';` } },
  { name: 'a plugin imports the SDK', rule: undefined, files: { 'plugins/todo/src/a.ts': `import '@tenon/plugin-sdk';` } },
  { name: 'a package without a row', rule: 'package', files: { 'packages/extra/src/a.ts': `import '@tenon/protocol';` } },
  {
    name: 'a relative import that leaves its package',
    rule: 'outside',
    files: { 'packages/client/src/a.ts': `import { x } from '../../protocol/src/index.ts';` },
  },
  { name: 'an import behind the exports', rule: 'deep', files: { 'packages/client/src/a.ts': `import '@tenon/protocol/src/json.ts';` } },
  { name: 'source imports a test', rule: 'test-code', files: { [`${src}/rpc/a.ts`]: `import { x } from './b.test.ts';` } },
  { name: 'source imports test support', rule: 'outside', files: { [`${src}/rpc/a.ts`]: `import '../../../../test/support/x.ts';` } },
  { name: 'a test imports what it likes', rule: undefined, files: { [`${src}/kernel/a.test.ts`]: `import { x } from '../net/x.ts';` } },
  {
    name: 'a cycle inside a layer',
    rule: 'cycle',
    files: { [`${src}/store/a.ts`]: `import { b } from './b.ts';`, [`${src}/store/b.ts`]: `export { a } from './a.ts';` },
  },
  {
    name: 'a cycle through a type import',
    rule: 'cycle',
    files: {
      [`${src}/store/a.ts`]: `import { b } from './b.ts';`,
      [`${src}/store/b.ts`]: `import { c } from './c.ts';`,
      [`${src}/store/c.ts`]: `import type { A } from './a.ts';`,
    },
  },
  {
    name: 'a cycle through an inline type',
    rule: 'cycle',
    files: { [`${src}/store/a.ts`]: `let b: typeof import('./b.ts');`, [`${src}/store/b.ts`]: `import './a.ts';` },
  },
  { name: 'a file that imports itself', rule: 'cycle', files: { [`${src}/store/a.ts`]: `import './a.ts';` } },
];

for (const { name, rule, files } of planted) {
  test(`${name}: ${rule === undefined ? 'allowed' : 'caught'}`, () => {
    verifies('foundation:layers');
    assert.deepEqual(rulesBroken(files), rule === undefined ? [] : [rule]);
  });
}

test('importsOf reads every spelling, and nothing that only looks like one', () => {
  const source = `#!/usr/bin/env node
    import './side-effect.ts';
    import one from './default.ts';
    import * as all from "./namespace.ts";
    import one, { two as from } from './named.ts';
    import {
      a, // import { x } from './comment.ts'
      type B,
    } from './lines.ts';
    import type { C } from './type.ts';
    export { d } from './re-export.ts';
    export type { E } from './re-export-type.ts';
    export * from './star.ts';
    export * as ns from './star-as.ts';
    const lazy = await import('./dynamic.ts');
    const template = import(\`./template.ts\`);
    let type: import('./inline-type.ts').T;
    const nested = \`\${await import('./in-substitution.ts')} import './no.ts'\`;
    /* import './block-comment.ts' */
    const text = "import './in-a-string.ts'";
    const quote = /['"\`]/.test(text) ? a / b / c : import.meta.url;
    const url = new URL('./worker.ts', import.meta.url);
    export const from = './not-from.ts';
    export { quote };
    const computed = import(name);
    const key = { import: './key.ts' };
    element = <p>don't</p>;
    import './after-jsx.ts';`;
  assert.deepEqual(importsOf(source).sort(), [
    './after-jsx.ts',
    './default.ts',
    './dynamic.ts',
    './in-substitution.ts',
    './inline-type.ts',
    './lines.ts',
    './named.ts',
    './namespace.ts',
    './re-export-type.ts',
    './re-export.ts',
    './side-effect.ts',
    './star-as.ts',
    './star.ts',
    './template.ts',
    './type.ts',
  ]);
});
