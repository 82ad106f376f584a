// `tenon ext new`, `check` and `conform` over every template and both reference extensions: no gateway is needed for that.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { after, describe, test } from 'node:test';
import { templates } from '../../packages/create-tenon-extension/src/scaffold.ts';
import { runCli } from '../../packages/gateway/src/cli/program.ts';
import { removeFolder } from '../support/clean-up.ts';
import { cleanEnv } from '../support/gateway.ts';
import { verifies } from '../support/verifies.ts';

const root = join(import.meta.dirname, '..', '..');
const home = mkdtempSync(join(tmpdir(), 'tenon-folders-'));
after(() => removeFolder(home));
const hasPython = spawnSync('python3', ['--version']).status === 0;
const noPython = !hasPython && 'there is no python3 on this machine';

/** In this process: nine programs would take longer to start than what they are asked for. */
async function tenon(...words: string[]): Promise<{ code: number; out: string; err: string }> {
  const said = { out: '', err: '' };
  const into = (name: 'out' | 'err') => ({
    write(text: string) {
      said[name] += text;
    },
  });
  const code = await runCli(words, {
    stdout: into('out'),
    stderr: into('err'),
    stdin: (async function* () {})(),
    env: cleanEnv({ TENON_HOME: home }),
    now: Date.now,
    interrupted: () => new AbortController().signal,
  });
  return { code, ...said };
}

interface Conformed {
  readonly ok: boolean;
  readonly passed: number;
  readonly steps: readonly { readonly name: string; readonly outcome: string; readonly reason?: string }[];
}

async function conform(folder: string): Promise<Conformed> {
  const { code, out, err } = await tenon('ext', 'conform', folder, '--step', '60s', '--json');
  const report = JSON.parse(out) as Conformed;
  assert.equal(code, 0, err + JSON.stringify(report.steps.filter(({ outcome }) => outcome === 'failed')));
  return report;
}

describe('what is scaffolded', { concurrency: 2 }, () => {
  for (const [template, { language }] of Object.entries(templates)) {
    test(`${template}: made, fit, and keeps the protocol as it is`, { skip: language === 'python' && noPython }, async () => {
      verifies('seed3:scaffold', 'sep:G39');
      const name = `my-${template}`;
      const made = await tenon('ext', 'new', name, '--template', template, '--in', home, '--json');
      assert.equal(made.code, 0, made.err);
      const folder = join(home, name);
      const checked = await tenon('ext', 'check', folder, '--json');
      assert.equal(checked.code, 0, checked.out + checked.err);
      assert.deepEqual(JSON.parse(checked.out).notes, [], 'nothing of a template is unknown here');
      assert.ok((await conform(folder)).passed > 10);
      assert.deepEqual(
        readdirSync(folder).filter((file) => file.startsWith('__')),
        [],
        'it leaves nothing behind',
      );
    });
  }
});

describe('the reference extensions', { concurrency: 2 }, () => {
  for (const language of ['javascript', 'python']) {
    test(`the one in ${language} keeps the protocol`, { skip: language === 'python' && noPython }, async () => {
      verifies('sep:references');
      const folder = join(root, 'spec', 'sep', 'reference', language);
      const { problems, notes } = JSON.parse((await tenon('ext', 'check', folder, '--json')).out);
      assert.deepEqual([problems, notes], [[], []]);
      const { steps } = await conform(folder);
      assert.deepEqual(
        steps.flatMap(({ name, outcome }) => (outcome === 'skipped' ? [name] : [])),
        language === 'python' ? [] : ["what it has for Tenon's seams answers"],
        'the one in Python uses everything, so that there is nothing to skip; the other keeps to SEP',
      );
    });
  }
});

test('npm create tenon-extension, from its packed tarball and without a network, makes what tenon ext new makes', async () => {
  verifies('seed3:scaffold');
  const [packed, ours] = ['packed', 'ours'].map((name) => join(home, name)) as [string, string];
  for (const folder of [packed, ours]) mkdirSync(folder);
  const env = cleanEnv({ PATH: `${dirname(process.execPath)}:${process.env.PATH}`, npm_config_cache: join(home, 'npm-cache') });
  const npm = (cwd: string, ...words: string[]) => {
    const { status, stdout, stderr } = spawnSync('npm', words, { cwd, env, encoding: 'utf8' });
    assert.equal(status, 0, stderr);
    return stdout;
  };
  const sources = join(root, 'packages', 'create-tenon-extension');
  const tarball = npm(sources, 'pack', '--silent', '--ignore-scripts', '--pack-destination', home).trim().split('\n').at(-1)!;
  const names = Object.keys(templates);
  const lines = names.map((template) => `create-tenon-extension x-${template} --template ${template}`);
  const said = npm(packed, 'exec', '--offline', '--yes', '--package', join(home, tarball), '-c', lines.join(' && '));
  assert.match(said, /x-tool\n[\s\S]*Its tests: cd x-tool && npm test\n/);
  for (const template of names) assert.equal((await tenon('ext', 'new', `x-${template}`, '--template', template, '--in', ours)).code, 0);
  assert.deepEqual(filesIn(packed), filesIn(ours));
});

/** Path and digest. */
function filesIn(folder: string): readonly (readonly [string, string])[] {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map((entry) => relative(folder, join(entry.parentPath, entry.name))).sort();
  return paths.map((path) => [
    path,
    createHash('sha256')
      .update(readFileSync(join(folder, path)))
      .digest('hex'),
  ]);
}

test('what is wrong is said with its place and what to do, and is exit code 1', async () => {
  writeFileSync(join(home, 'extension.toml'), 'name = "x"\n[capabilities]\ntools = 1\n');
  const { code, out } = await tenon('ext', 'check', home);
  assert.equal(code, 1);
  assert.deepEqual(out.split('\n'), [
    'wrong extension.toml: version is missing; version = "0.1.0"',
    'wrong extension.toml: run is missing; say how it is started: [run], command = "node", args = ["index.ts"]',
    'wrong extension.toml: capabilities.tools must be boolean; tools = true',
    '',
  ]);
  const refused = await tenon('ext', 'conform', home);
  assert.deepEqual([refused.code, refused.out], [1, out], 'nothing of it is run');
  const nowhere = await tenon('ext', 'check', join(home, 'nowhere'), '--json');
  assert.equal(nowhere.code, 1);
  assert.match(JSON.parse(nowhere.out).problems[0].hint, /tenon ext new/);
});

test('a step that fails says why, and the exit code is 1', async () => {
  const made = await tenon('ext', 'new', 'broken', '--in', home);
  assert.match(made.out, /broken\n {2}\.gitignore\n/);
  assert.match(made.err, /Try it: +tenon ext dev .*broken\nIts tests: cd .*broken && npm test\n$/);
  writeFileSync(join(home, 'broken', 'index.ts'), 'throw new Error("no such disk");\n');
  const { code, out, err } = await tenon('ext', 'conform', join(home, 'broken'));
  assert.equal(code, 1);
  assert.match(out, /^failed {2}initialize is answered: .*no such disk/);
  assert.match(err, /^0 passed, 1 failed, \d+ had nothing to show\n$/);
});
