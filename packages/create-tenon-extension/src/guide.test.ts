// docs/guide/write-an-extension.md, typed as it stands there.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';

const root = join(import.meta.dirname, '..', '..', '..');
const home = mkdtempSync(join(tmpdir(), 'tenon-guide-'));
after(() => rmSync(home, { recursive: true, force: true }));
const guide = readFileSync(join(root, 'docs', 'guide', 'write-an-extension.md'), 'utf8');
const blocks = (language: string) =>
  [...guide.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(([, text]) => text!);

function type(lines: string, cwd: string) {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const PATH = `${join(root, 'node_modules', '.bin')}:${env.PATH}`;
  return spawnSync('sh', ['-ec', lines], { cwd, env: { ...env, PATH, TENON: root }, encoding: 'utf8' });
}

test('the lines of the guide make a working tool of one’s own', () => {
  const [create] = blocks('sh');
  const made = type(create!.replace('npm test\n', ''), home);
  assert.equal(made.status, 0, made.stderr);
  const folder = join(home, 'dice');
  const [extension, itsTest, ...more] = blocks('ts');
  assert.deepEqual(more, []);
  writeFileSync(join(folder, 'index.ts'), extension!);
  writeFileSync(join(folder, 'index.test.ts'), itsTest!);
  const { status, stdout, stderr } = type('npm test', folder);
  assert.equal(status, 0, stdout + stderr);
  assert.match(stdout, /a die has as many sides/);
  assert.match(stdout, /it keeps the protocol/);
});

test('so do those for Python', { skip: spawnSync('python3', ['--version']).status !== 0 && 'there is no python3 on this machine' }, () => {
  const { status, stderr } = type(blocks('sh')[1]!, home);
  assert.equal(status, 0, stderr);
  assert.match(stderr, /^OK$/m);
});
