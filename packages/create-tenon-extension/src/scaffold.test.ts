import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { runCreate } from './create.ts';
import { scaffold, ScaffoldRefused, type TemplateName, templates } from './scaffold.ts';
import { verifies } from '../../../test/support/verifies.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const home = mkdtempSync(join(tmpdir(), 'tenon-scaffold-'));
const made = join(home, 'made');
const names = Object.keys(templates) as TemplateName[];
const hasPython = spawnSync('python3', ['--version']).status === 0;

before(() => {
  mkdirSync(made);
  for (const template of names) scaffold({ name: `my-${template}`, template, into: made });
});
after(() => rmSync(home, { recursive: true, force: true }));

/** Without what tells node that it is inside a test. */
function run(command: string, args: readonly string[], cwd: string) {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  return spawnSync(command, args, { cwd, env, encoding: 'utf8' });
}

test('G39: what is scaffolded passes its own tests, which include conformance, as it is', () => {
  verifies('sep:G39');
  // All in one process: a test runner for each costs more than the tests.
  const { status, stdout } = run(
    process.execPath,
    ['--test', '--test-isolation=none', ...names.filter(isTypescript).map((name) => join(`my-${name}`, '*.test.ts'))],
    made,
  );
  assert.equal(status, 0, stdout);
  for (const name of names.filter(isTypescript)) assert.ok(existsSync(join(made, `my-${name}`, 'conformance.test.ts')), name);
  assert.equal(stdout.match(/✔ it keeps the protocol/g)?.length, names.filter(isTypescript).length, stdout);
});

test('the extension in Python passes its tests', { skip: !hasPython && 'there is no python3 on this machine' }, () => {
  const { status, stderr } = run('python3', ['-m', 'unittest'], join(made, 'my-python-tool'));
  assert.equal(status, 0, stderr);
});

test('G39: sources and tests compile strictly, with nothing left out, against what was copied', () => {
  verifies('sep:G39');
  const strict = JSON.parse(readFileSync(join(made, 'my-tool', 'tsconfig.json'), 'utf8'));
  const compilerOptions = { ...strict.compilerOptions, typeRoots: [join(root, 'node_modules', '@types')] };
  writeFileSync(join(made, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*/*.ts'] }));
  const { status, stdout } = run(join(root, 'node_modules', '.bin', 'tsc'), ['-p', '.', '--listFiles'], made);
  assert.equal(status, 0, stdout);
  const seen = stdout.split('\n').filter((file) => file.startsWith(made) && !file.includes('node_modules'));
  assert.equal(seen.length, names.filter(isTypescript).length * 3);
});

test('manifests have the name, and no placeholder is left', () => {
  for (const name of names) {
    const folder = join(made, `my-${name}`);
    assert.match(readFileSync(join(folder, 'extension.toml'), 'utf8'), new RegExp(`^name = "my-${name}"$`, 'm'));
    for (const file of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      assert.ok(!file.name.endsWith('.template'), file.name);
      if (file.isFile()) assert.doesNotMatch(readFileSync(join(file.parentPath, file.name), 'utf8'), /__NAME__/);
    }
  }
});

test('G32: names and places that lead elsewhere are refused, and nothing is written', () => {
  verifies('sep:G32');
  const into = join(home, 'empty');
  mkdirSync(into);
  const refused = (options: Partial<Parameters<typeof scaffold>[0]>, message: RegExp) =>
    assert.throws(
      () => scaffold({ name: 'fine', template: 'tool', into, ...options }),
      (error) => error instanceof ScaffoldRefused && message.test(error.message),
    );
  for (const name of [
    'a/../../evil',
    '../evil',
    '/evil',
    '.',
    '..',
    '',
    'A',
    'a b',
    '.hidden',
    'node_modules',
    'constructor',
    'x'.repeat(65),
    'a\n',
  ]) {
    refused({ name }, /cannot be the name of an extension/);
  }
  for (const template of ['', 'nothing', '../tool', 'typescript', 'toString'])
    refused({ template }, /There is no template .*there are tool, /);
  refused({ into: join(into, 'missing') }, /is not a folder/);
  refused({ into: import.meta.filename }, /is not a folder/);
  assert.deepEqual(readdirSync(into), []);
  symlinkSync(join(home, 'elsewhere'), join(into, 'linked'));
  mkdirSync(join(into, 'taken'));
  refused({ name: 'taken' }, /is there already/);
  assert.throws(() => scaffold({ name: 'linked', template: 'tool', into }));
  assert.ok(!existsSync(join(home, 'elsewhere')));
  assert.deepEqual(readdirSync(into).sort(), ['linked', 'taken']);
});

test('the command line makes it, helps, and says what is wrong', () => {
  const into = join(home, 'cli');
  mkdirSync(into);
  const say = (...words: string[]) => {
    const texts = { out: '', err: '' };
    const stdout = { write: (text: string) => (texts.out += text) };
    const stderr = { write: (text: string) => (texts.err += text) };
    return { code: runCreate(words, { stdout, stderr, cwd: () => into }), ...texts };
  };
  const { code, out } = say('mine', '--template', 'command');
  assert.equal(code, 0);
  assert.match(out, /extension\.toml[\s\S]*Its tests: cd mine && npm test/);
  assert.equal(say('mine').code, 1);
  assert.match(say('mine').err, /is there already/);
  assert.match(say('--help').out, /permission-gate +a hook/);
  assert.equal(say().code, 2);
  assert.match(say('x', '--colour').err, /colour/);
});

function isTypescript(name: TemplateName): boolean {
  return templates[name].language === 'typescript';
}
