// kill -9 of an installer at every file that it copies or unpacks and around every step that counts: what is in use afterwards is
// the old version or the new one, whole, and the next try goes through.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { installedFolder } from '../../packages/gateway/src/host/sep/find/extension-lock.ts';
import { hashTree } from '../../packages/gateway/src/host/tree-hash.ts';
import { faultPoints, isInstallPoint } from '../support/fault-points.ts';
import { cleanEnv, tenonBin } from '../support/gateway.ts';
import { type InstallWorld, installWorld } from '../support/install-world.ts';
import { extensionFiles, openRegistry } from '../support/registry.ts';
import { verifies } from '../support/verifies.ts';

const FILES = 36;
const STEPS = ['install.before-move', 'install.after-move', 'file.before-rename', 'install.after-lock'];

function runTenon(home: string, fault: string, words: readonly string[]): Promise<{ signal: string | undefined; stderr: string }> {
  return new Promise((resolve) => {
    const options = { env: cleanEnv({ TENON_HOME: home, TENON_FAULT: fault }), encoding: 'utf8', timeout: 60_000 } as const;
    execFile(process.execPath, [tenonBin, ...words], options, (error, _, stderr) =>
      resolve({ signal: error?.signal ?? undefined, stderr }),
    );
  });
}

/** The version in use, which is whole. */
async function usedIn({ home, lock }: InstallWorld): Promise<string> {
  const { current } = lock().extensions.notes!;
  const tree = await hashTree(installedFolder(home, 'notes', current));
  assert.deepEqual(tree, { ok: true, hash: current.treeHash });
  return current.version;
}

/** From 1.0.0 to 2.0.0, killed at the point; then, if asked for, again and not killed, and back to 1.0.0. */
async function killUpdate(world: InstallWorld, fault: string, retry: boolean): Promise<void> {
  const { signal, stderr } = await runTenon(world.home, fault, ['ext', 'update', 'notes', '--yes']);
  assert.equal(signal, 'SIGKILL', `${fault}: ${stderr}`);
  const used = await usedIn(world);
  assert.equal(used, fault.startsWith('install.after-lock') ? '2.0.0' : '1.0.0', fault);
  // The next one that is killed sweeps, too.
  if (!retry) return;
  await world.update('notes');
  assert.equal(await usedIn(world), '2.0.0', `${fault}: the next try`);
  assert.deepEqual(
    [world.stored(), readdirSync(join(world.home, 'extension-store', 'notes')).length],
    [['notes'], 2],
    `${fault}: leftovers`,
  );
  await world.rollBack('notes');
}

function writeVersion(folder: string, version: string): void {
  mkdirSync(folder, { recursive: true });
  const manifest = `name = "notes"\nversion = "${version}"\n[run]\ncommand = "node"\nargs = ["0.mjs"]\n`;
  writeFileSync(join(folder, 'extension.toml'), manifest);
  for (let at = 1; at < FILES; at++) writeFileSync(join(folder, `${at}.mjs`), `// ${version}\n`);
}

async function fromFolder(t: TestContext, faults: readonly string[]): Promise<void> {
  const world = installWorld(t);
  const folder = join(world.home, 'work');
  writeVersion(folder, '1.0.0');
  await world.install(folder);
  writeVersion(folder, '2.0.0');
  for (const [at, fault] of faults.entries()) await killUpdate(world, fault, STEPS.includes(fault) || at % 6 === 5);
}

test('S34: killed at 50 points of an update, the old version or the new one is in use, and the next try goes through', async (t) => {
  verifies('S34');
  const copied = Array.from({ length: FILES }, (_, at) => `install.file-copied:${at + 1}`);
  const unpacked = Array.from({ length: 10 }, (_, at) => `install.file-unpacked:${at + 1}`);
  assert.equal(copied.length + unpacked.length + STEPS.length, 50);
  await using registry = await openRegistry();
  const packages = async () => {
    const world = installWorld(t, { registry: registry.url });
    const more = Array.from({ length: 7 }, (_, at) => ({ path: `package/${at}.mjs` }));
    registry.publish('notes', '1.0.0', extensionFiles('notes', '1.0.0', more));
    await world.install('npm:notes');
    writeFileSync(join(world.home, 'tenon.toml'), `[extensions]\nregistry = "${registry.url}"\n`);
    registry.publish('notes', '2.0.0', extensionFiles('notes', '2.0.0', more));
    for (const [at, fault] of unpacked.entries()) await killUpdate(world, fault, at % 5 === 4);
  };
  const half = copied.length / 2;
  await Promise.all([fromFolder(t, copied.slice(0, half)), fromFolder(t, copied.slice(half)), fromFolder(t, STEPS), packages()]);
  const met = new Set([...copied, ...unpacked, ...STEPS].map((fault) => fault.split(':')[0]!).filter(isInstallPoint));
  assert.deepEqual([...met].sort(), faultPoints().filter(isInstallPoint), 'every point of the source is among them');
});

test('S34: killed in the first installation there is nothing, or all of it; killed in a removal, all of it or nothing', async (t) => {
  verifies('S34');
  const world = installWorld(t);
  const folder = join(world.home, 'work');
  writeVersion(folder, '1.0.0');
  for (const fault of ['install.file-copied:5', 'install.after-move', 'file.before-rename', 'install.after-lock']) {
    assert.equal((await runTenon(world.home, fault, ['ext', 'install', folder])).signal, 'SIGKILL', fault);
    assert.deepEqual(Object.keys(world.lock().extensions), fault === 'install.after-lock' ? ['notes'] : [], fault);
  }
  assert.equal(await usedIn(world), '1.0.0');
  for (const [fault, left] of [
    ['file.before-rename', ['notes']],
    ['install.after-lock', []],
  ] as const) {
    assert.equal((await runTenon(world.home, fault, ['ext', 'rm', 'notes', '--yes'])).signal, 'SIGKILL', fault);
    assert.deepEqual(Object.keys(world.lock().extensions), left, fault);
  }
  await world.install(folder);
  assert.deepEqual([await usedIn(world), world.stored()], ['1.0.0', ['notes']]);
});
