// S72: nothing gets into what users run, or runs while it is installed, without somebody having decided it.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { findDependencyFaults, readDependencyFiles, type DependencyFiles } from '../../scripts/dependencies.ts';
import { verifies } from '../support/verifies.ts';

const real = readDependencyFiles(join(import.meta.dirname, '../..'));

function withDependency(name: string, version: string, locked: object | undefined): DependencyFiles {
  const path = 'packages/gateway/package.json';
  const manifest = JSON.parse(real.manifests.get(path)!) as { dependencies: Record<string, string> };
  manifest.dependencies[name] = version;
  return { ...withLocked(name, locked), manifests: new Map([...real.manifests, [path, JSON.stringify(manifest)]]) };
}

function withLocked(name: string, entry: object | undefined): DependencyFiles {
  const lock = JSON.parse(real.lock) as { packages: Record<string, object | undefined> };
  lock.packages[`node_modules/${name}`] = entry;
  return { ...real, lock: JSON.stringify(lock) };
}

/** What a planted change adds to the faults, so that these tests speak of the check and the first one of the repository. */
function newFaults(files: DependencyFiles): string[] {
  const before = new Set(findDependencyFaults(real));
  return findDependencyFaults(files).filter((fault) => !before.has(fault));
}

const entry = { version: '1.0.0', integrity: 'sha512-x' };

test('S72 the repository itself has nothing undecided', () => {
  verifies('S72');
  assert.ok(real.manifests.size >= 3 && real.decisions.size >= 1, 'nothing was read');
  assert.deepEqual(findDependencyFaults(real), []);
});

test('S72 a runtime dependency that no decision names is caught', () => {
  verifies('S72');
  assert.deepEqual(newFaults(withDependency('left-pad', '1.0.0', entry)), [
    'packages/gateway/package.json: no file in docs/decisions names the runtime dependency `left-pad`',
  ]);
});

test('S72 a decision that names it makes it pass', () => {
  verifies('S72');
  const files = withDependency('left-pad', '1.0.0', entry);
  const decisions = new Map([...files.decisions, ['docs/decisions/9999-padding.md', 'We take `left-pad`.']]);
  assert.deepEqual(newFaults({ ...files, decisions }), []);
});

test('S72 a range, a lock file of another version and a missing entry are caught', () => {
  verifies('S72');
  const decided = (files: DependencyFiles) =>
    newFaults({ ...files, decisions: new Map([['a.md', `${[...real.decisions.values()].join('')} \`left-pad\``]]) });
  assert.deepEqual(decided(withDependency('left-pad', '^1.0.0', entry)), [
    'packages/gateway/package.json: "left-pad" is not pinned to one version: ^1.0.0',
  ]);
  assert.deepEqual(decided(withDependency('left-pad', '1.0.1', entry)), [
    'packages/gateway/package.json: package-lock.json does not have left-pad 1.0.1',
  ]);
  assert.deepEqual(decided(withDependency('left-pad', '1.0.0', undefined)), [
    'packages/gateway/package.json: package-lock.json does not have left-pad 1.0.0',
  ]);
});

test('S72 an install script that package.json does not speak of is caught', () => {
  verifies('S72');
  assert.deepEqual(newFaults(withLocked('miner', { ...entry, hasInstallScript: true })), [
    'package.json: allowScripts does not say whether "miner" may run its install script',
  ]);
});

test('S72 a lock file that names a registry or has no hash is caught', () => {
  verifies('S72');
  assert.deepEqual(newFaults(withLocked('x', { ...entry, resolved: 'https://registry.example/x.tgz' })), [
    'package-lock.json: node_modules/x is bound to one place: https://registry.example/x.tgz',
  ]);
  assert.deepEqual(newFaults(withLocked('x', { version: '1.0.0' })), ['package-lock.json: node_modules/x has no integrity hash']);
});
