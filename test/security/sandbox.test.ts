// S83: what a program in the sandbox cannot do to the machine, on every sandbox that works here. Where the gateway runs as
// root, so do these tests, and a program has the user id of root.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { openTools, type Tools } from '../../packages/gateway/src/agent/tools/tools.ts';
import { systemClock } from '../../packages/gateway/src/kernel/clock.ts';
import type { SandboxPolicy } from '../../packages/gateway/src/kernel/sandbox/profile.ts';
import { detectSandbox, type Spawn, wrap } from '../../packages/gateway/src/kernel/sandbox/sandbox.ts';
import { accountWarnings } from '../../packages/gateway/src/rpc/account-warnings.ts';
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

const isRoot = process.getuid?.() === 0;
/** Nobody in particular. */
const OTHER = [54_321, 54_322] as const;

interface Agent extends AsyncDisposable {
  readonly base: string;
  readonly workspace: string;
  readonly tools: Tools;
  /** What the tool says. */
  call(name: string, args: object): Promise<string>;
}

function openAgent(): Agent {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'tenon-agent-')));
  const [workspace, home] = [join(base, 'workspace'), join(base, 'home')];
  for (const path of [workspace, home]) mkdirSync(path);
  const tools = openTools({
    clock: systemClock,
    settings: { 'exec.sandbox': 'auto', 'exec.network': false, 'exec.env': [], 'exec.timeoutMs': 60_000, 'web.allowPrivate': [] },
    env: process.env,
    home,
    outputFolder: join(home, 'output'),
    gatewayPort: () => undefined,
  });
  return {
    base,
    workspace,
    tools,
    async call(name, args) {
      const tool = tools.tools.find((each_) => each_.name === name)!;
      const prepared = await tool.prepare(args as never, {
        sessionKey: 'agent:main:a',
        agentId: 'main',
        runId: 'r',
        callId: 'c',
        workspace,
      });
      const [first] = (await prepared.run({ signal: new AbortController().signal, onUpdate() {} })).content;
      return first?.type === 'text' ? first.text : '';
    },
    async [Symbol.asyncDispose]() {
      await tools.close();
      rmSync(base, { recursive: true, force: true, maxRetries: 10 });
    },
  };
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

each('S83 a program runs as the owner of its workspace, wherever that lies', (kind) => {
  verifies('S83:owner');
  using base = folder();
  const workspace = join(base.path, 'work space');
  mkdirSync(workspace);
  // Nobody else may look into the folder above it.
  chmodSync(base.path, 0o700);
  const [uid, gid] = isRoot ? OTHER : [process.getuid!(), process.getgid!()];
  if (isRoot) chownSync(workspace, uid, gid);
  const looks =
    'id -u; id -g; while read -r name value; do [ "$name" != Groups: ] || echo "groups $value"; done < /proc/self/status; : > made';
  const attack = '(: >> /proc/sys/kernel/core_pattern) 2>/dev/null && echo opened';
  const groups = isRoot ? '' : '.*';
  assert.match(run(kind, `${looks}; ${attack}`, policyFor(workspace)), new RegExp(`^${uid}\\n${gid}\\ngroups ?${groups}$`));
  // On the disk it is not root under another name.
  const made = statSync(join(workspace, 'made'));
  assert.deepEqual([made.uid, made.gid], [uid, gid]);
});

test('S83 what a gateway of root makes in the workspace of somebody belongs to them, and their programs can change it', async () => {
  verifies('S83:owner');
  await using agent = openAgent();
  if (isRoot) chownSync(agent.workspace, ...OTHER);
  await agent.call('write', { path: 'new/deep/note', content: 'a' });
  const said = await agent.call('exec', { argv: ['sh', '-c', 'echo b >> new/deep/note; : > new/deep/mine; cat new/deep/note; id -u'] });
  const { uid } = statSync(agent.workspace);
  assert.match(said, new RegExp(`^ab\\n${uid}\\n`));
  await agent.call('write', { path: 'new/deep/note', content: 'c' });
  for (const path of ['new', 'new/deep', 'new/deep/note', 'new/deep/mine'])
    assert.equal(statSync(join(agent.workspace, path)).uid, uid, path);
});

test('S83 no file is left that runs as root, however the program ended', async () => {
  verifies('S83:set-ids');
  await using agent = openAgent();
  const { kind } = await agent.tools.sandbox();
  const outside = join(agent.base, 'outside');
  writeFileSync(outside, '');
  chmodSync(outside, 0o4755);
  const marks = 'mkdir -p "$0" && cp /bin/true "$0/run" && chmod 6755 "$0/run" && chmod 0011 "$0" && ln -sf ../outside "link $0"';
  await agent.call('exec', { argv: ['sh', '-c', marks, 'ended'] });
  await agent.call('exec', { argv: ['sh', '-c', `${marks}; kill -9 $$`, 'killed'] });
  const started = await agent.call('exec', { argv: ['sh', '-c', `${marks}; sleep 600`, 'background'], background: true });
  const id = /job-[\w-]+/.exec(started)![0];
  while (!existsSync(join(agent.workspace, 'link background'))) await new Promise((resolve) => setImmediate(resolve));
  await agent.call('process', { action: 'kill', id });
  await agent.tools.close();
  const isOurs = isRoot && kind !== 'none';
  for (const name of ['ended', 'killed', 'background']) {
    chmodSync(join(agent.workspace, name), 0o700);
    assert.equal(statSync(join(agent.workspace, name, 'run')).mode & 0o7777, isOurs ? 0o755 : 0o6755, name);
  }
  assert.equal(statSync(outside).mode & 0o7777, 0o4755, 'what lies outside stays as it is');
});

test('S83 a gateway of root recommends an account of its own', () => {
  verifies('S83:account');
  assert.match(accountWarnings(0).join(), /runs as root.*account of its own/);
  assert.deepEqual(accountWarnings(1_000), []);
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
