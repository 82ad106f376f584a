// What a person gets who clones the repository: the files that git tracks, and nothing else of this folder, build and
// start a gateway. The two commands themselves are what CI runs.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { cleanUp, removeFolder } from '../support/clean-up.ts';
import { cleanEnv } from '../support/gateway.ts';
import { verifies } from '../support/verifies.ts';

const root = join(import.meta.dirname, '..', '..');

test('the files that git tracks are enough to build and run', (t) => {
  verifies('foundation:clean-clone');
  const clone = mkdtempSync(join(tmpdir(), 'tenon-clone-'));
  cleanUp(t, () => removeFolder(clone));
  for (const file of execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' }).split('\0').filter(Boolean)) {
    mkdirSync(dirname(join(clone, file)), { recursive: true });
    cpSync(join(root, file), join(clone, file));
  }
  linkDependencies(clone);
  const node = (...args: string[]) => spawnSync(process.execPath, args, { cwd: clone, encoding: 'utf8', env: cleanEnv() });

  const built = node('scripts/build.ts');
  assert.equal(built.status, 0, built.stderr);
  const version = JSON.parse(readFileSync(join(root, 'packages', 'gateway', 'package.json'), 'utf8')).version as string;
  assert.equal(node('packages/gateway/bin/tenon.js', '--version').stdout.trim(), version);
  const doctor = node('packages/gateway/bin/tenon.js', 'doctor', '--json', '--home', join(clone, 'home'));
  assert.equal(doctor.status, 0, doctor.stderr);
});

test('README and CI use the two commands, and Node comes with the project', () => {
  verifies('foundation:clean-clone');
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  const ci = readFileSync(join(root, '.ci', 'run'), 'utf8');
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  assert.match(readme, /^npm ci && npm start$/m);
  assert.match(readme, /^npm ci && npm test$/m);
  for (const command of ['npm ci', 'npm run check', 'npm ci && npm test']) assert.match(ci, new RegExp(`^${command}$`, 'm'));
  assert.match(manifest.devDependencies.node, /^24\./);
});

/** The packages that are installed, but ours from the clone. */
function linkDependencies(clone: string): void {
  const installed = join(root, 'node_modules');
  mkdirSync(join(clone, 'node_modules', '@tenon'), { recursive: true });
  for (const name of readdirSync(installed)) {
    if (name === '@tenon' || name === 'tenon' || name.startsWith('.')) continue;
    symlinkSync(join(installed, name), join(clone, 'node_modules', name));
  }
  for (const name of ['protocol', 'client', 'plugin-sdk'])
    symlinkSync(join(clone, 'packages', name), join(clone, 'node_modules', '@tenon', name));
}
