// S83: what a program in the sandbox cannot do to the machine, on every sandbox that works here. Where the gateway runs as
// root, so do these tests, and a program has the user id of root.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '../../packages/gateway/src/kernel/clock.ts';
import type { SandboxPolicy } from '../../packages/gateway/src/kernel/sandbox/profile.ts';
import { detectSandbox, type Spawn, wrap } from '../../packages/gateway/src/kernel/sandbox/sandbox.ts';
import { verifies } from '../support/verifies.ts';

type Kind = 'bubblewrap' | 'unshare';
const found = await Promise.all((['bubblewrap', 'unshare'] as const).map((kind) => detectSandbox(spawn, systemClock, [kind])));
const kinds = found.flatMap(({ kind }) => (kind === 'none' ? [] : [kind]));

function each(name: string, body: (kind: Kind) => void | Promise<void>): void {
  for (const kind of kinds) test(`${name} (${kind})`, () => body(kind));
}

function folder(): { readonly path: string } & Disposable {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'tenon sandbox-')));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

function policyFor(workspace: string, more: Partial<SandboxPolicy> = {}): SandboxPolicy {
  return { workspace, cwd: workspace, hidden: [], userHome: homedir(), readOnly: [], network: false, ...more };
}

function run(kind: Kind, script: string, policy: SandboxPolicy): string {
  const words = wrap(kind, ['sh', '-c', script], policy);
  const { stdout, stderr } = spawnSync(words[0]!, words.slice(1), { env: { PATH: process.env.PATH ?? '' }, encoding: 'utf8' });
  return `${stdout}${stderr}`.trim();
}

each('S83 the settings and the memory of the kernel are out of reach', (kind) => {
  verifies('S83:kernel');
  using workspace = folder();
  const attack = [
    'for file in core_pattern hostname randomize_va_space; do (: >> /proc/sys/kernel/$file) 2>/dev/null && echo "opened $file"; done',
    // Of a process of its own it may write much; what lies beside those belongs to the kernel.
    `find /proc -path '/proc/[0-9]*' -prune -o -type f -writable -print 2>/dev/null | while read -r file; do [ -f "$file" ] && echo "can write $file"; done`,
    'for file in sysrq-trigger kcore keys kallsyms timer_list kmsg; do [ ! -s /proc/$file ] && head -c 1 /proc/$file 2>/dev/null; done',
    'for file in sysrq-trigger kcore keys kallsyms; do [ ! -f /proc/$file ] || echo "saw $file"; done',
    // In a namespace of its own it is root, and no more than that.
    'unshare -Ur sh -c "mount -o remount,rw /proc/sys; umount /proc/sys; umount /proc/kallsyms; : >> /proc/sys/kernel/core_pattern" 2>/dev/null && echo undone',
    'unshare -Urmp --fork sh -c "mount -t proc proc /proc && : >> /proc/sys/kernel/core_pattern" 2>/dev/null && echo mounted',
    'echo end',
  ].join('\n');
  assert.equal(run(kind, attack, policyFor(workspace.path)), 'end');
});

each('S83 what can be written is mounted nosuid,nodev', (kind) => {
  verifies('S83:mounts');
  using base = folder();
  const [workspace, place] = [join(base.path, 'work space'), join(base.path, 'place')];
  for (const path of [workspace, place]) mkdirSync(path);
  const policy = policyFor(workspace, { places: [{ path: place, isWritable: true }] });
  const flags = run(kind, `while read -r _ _ _ _ point flags _; do echo "$point $flags"; done < /proc/self/mountinfo`, policy);
  const wanted = [workspace.replaceAll(' ', '\\040'), place.replaceAll(' ', '\\040'), '/tmp', '/dev/shm'];
  for (const path of wanted) {
    const line = flags.split('\n').find((each_) => each_.startsWith(`${path} `));
    if (line === undefined && path === '/dev/shm') continue;
    assert.match(line ?? flags, /nosuid,nodev/, path);
  }
  const writable = flags.split('\n').filter((line) => / rw,/.test(line) && !/nosuid/.test(line) && !/^\/dev\//.test(line));
  assert.deepEqual(writable, []);
});

test('S83 a sandbox that leaves the kernel open, or hands descriptors on, is not used', async () => {
  verifies('S83:probe', 'S83:descriptors');
  using workspace = folder();
  const secret = join(workspace.path, 'secret');
  writeFileSync(secret, 'canary');
  // Stands in for a tool of the system that makes namespaces and protects nothing in them.
  const without = (part: RegExp): Spawn =>
    ((program: string, words: string[], options: object) =>
      spawn(
        program,
        words.map((word) =>
          word
            .split('\n')
            .filter((line) => !part.test(line))
            .join('\n'),
        ),
        options,
      )) as unknown as Spawn;
  const reasonOf = async (start: Spawn) => (await detectSandbox(start, systemClock, ['unshare'])).reason;
  if (!kinds.includes('unshare')) return assert.match(await reasonOf(spawn), /does not work here/);
  assert.match(await reasonOf(without(/\/proc\/sys none bind/)), /\/proc\/sys is not protected/);
  assert.match(await reasonOf(without(/\/proc\/kallsyms/)), /\/proc\/kallsyms can be read/);
  const setuid = without(/never/);
  const weak = ((program: string, words: string[], options: object) =>
    setuid(
      program,
      words.map((word) => word.replaceAll(/(rbind),nosuid,nodev/g, '$1')),
      options,
    )) as unknown as Spawn;
  assert.match(await reasonOf(weak), /workspace is not protected/);
  const leaky = ((program: string, words: string[], options: { stdio: unknown[] }) =>
    spawn('/bin/sh', ['-c', 'exec "$@" 7< "$0"', secret, program, ...words], options as object)) as unknown as Spawn;
  assert.match(await reasonOf(leaky), /descriptor 7 of the gateway reaches programs/);
});
