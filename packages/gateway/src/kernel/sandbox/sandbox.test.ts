// The sandboxes for real, each that this machine has. What it does not have says so.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '../clock.ts';
import { bubblewrapArgv } from './bubblewrap.ts';
import { ownerOf } from './owner.ts';
import { isInside, profileOf, type SandboxPolicy } from './profile.ts';
import { detectSandbox, wrap } from './sandbox.ts';

type Kind = 'bubblewrap' | 'unshare';
const found = await Promise.all((['bubblewrap', 'unshare'] as const).map((kind) => detectSandbox(spawn, systemClock, [kind])));
const kinds = found.flatMap(({ kind }) => (kind === 'none' ? [] : [kind]));

interface World extends Disposable {
  readonly base: string;
  readonly workspace: string;
  run(argv: string[], policy?: Partial<SandboxPolicy>): { code: number | null; out: string };
}

function world(kind: Kind): World {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "tenon it's a sandbox-")));
  const workspace = join(base, 'work space');
  mkdirSync(workspace);
  const plain: SandboxPolicy = { workspace, cwd: workspace, hidden: [], userHome: homedir(), readOnly: [], network: false };
  return {
    base,
    workspace,
    run(argv, policy) {
      const words = wrap(kind, argv, { ...plain, ...policy });
      const { status, stdout, stderr } = spawnSync(words[0]!, words.slice(1), { env: { PATH: process.env.PATH ?? '' }, encoding: 'utf8' });
      return { code: status, out: `${stdout}${stderr}`.trim() };
    },
    [Symbol.dispose]: () => rmSync(base, { recursive: true, force: true }),
  };
}

function each(name: string, body: (kind: Kind) => void | Promise<void>): void {
  for (const kind of kinds) test(`${kind}: ${name}`, () => body(kind));
}

function expectOutput(result: { code: number | null; out: string }, pattern: RegExp, code = 0): void {
  assert.match(result.out, pattern);
  assert.equal(result.code, code, result.out);
}

test('detectSandbox says what there is, in words', async () => {
  for (const { kind, reason } of found) {
    assert.match(reason, kind === 'none' ? /there is no sandbox|does not work here/ : /^programs run under/);
    assert.ok(reason.length <= 512);
  }
  const without = await detectSandbox((() => spawn('/no/such/tool')) as unknown as typeof spawn, systemClock);
  assert.deepEqual(without.kind, 'none');
  assert.match(without.reason, /bwrap: not installed; unshare: not installed/);
});

each('a program sees its words, its folder and its exit code as they are', (kind) => {
  using box = world(kind);
  mkdirSync(join(box.workspace, 'sub'));
  const argv = ['sh', '-c', 'printf "%s|" "$@"; pwd; id -u; exit 7', 'x', "it's", 'a  b', '', '$HOME', '*'];
  const result = box.run(argv, { cwd: join(box.workspace, 'sub') });
  expectOutput(result, /^it's\|a {2}b\|\|\$HOME\|\*\|/, 7);
  assert.ok(result.out.endsWith(`${join(box.workspace, 'sub')}\n${process.getuid?.()}`), result.out);
});

each('only the workspace and /tmp can be written, and /tmp is private', (kind) => {
  using box = world(kind);
  writeFileSync(join(box.base, 'outside'), 'x');
  const probe =
    'for f in /x /etc/x /usr/x /opt/x /dev/x /proc/x /root/x /home/x; do (: > "$f") 2>/dev/null && echo "wrote $f"; done; ' +
    'echo changed > "$1/outside"; : > mine; : > /tmp/x && ls /tmp/x; cat "$1/outside" /var/run/* 2>/dev/null';
  // What lies beside the workspace in /tmp is the program's own empty /tmp.
  expectOutput(box.run(['sh', '-c', probe, 'x', box.base]), /^\/tmp\/x\nchanged$/, 1);
  assert.equal(readFileSync(join(box.base, 'outside'), 'utf8'), 'x');
  assert.deepEqual(readdirSync(box.base).sort(), ['outside', 'work space']);
  assert.deepEqual(readdirSync(box.workspace), ['mine']);
});

each("Tenon's home is not seen, wherever it lies; a workspace inside it is", (kind) => {
  using box = world(kind);
  const home = join(box.workspace, '.tenon');
  mkdirSync(home);
  mkdirSync(join(home, 'output'));
  writeFileSync(join(home, 'token'), 'canary');
  expectOutput(
    box.run(['sh', '-c', 'exec 2>&1; cat .tenon/token; ls -A .tenon; (: > .tenon/x); echo done'], { hidden: [home, join(home, 'output')] }),
    /No such file[\s\S]*done$/,
  );
  assert.deepEqual(readdirSync(home), ['output', 'token']);
  const inner = join(home, 'workspaces', 'main');
  mkdirSync(inner, { recursive: true });
  writeFileSync(join(inner, 'note'), 'mine');
  expectOutput(
    box.run(['sh', '-c', 'cat note; ls -A ..; ls -A ../..'], { hidden: [home], workspace: inner, cwd: inner }),
    /^mine\s?main\nworkspaces$/,
  );
});

each("the user's home and the secrets of the system are not seen", (kind) => {
  using box = world(kind);
  const result = box.run([
    'sh',
    '-c',
    'ls -A "$1" 2>/dev/null | head -3; cat /etc/shadow 2>/dev/null; ls -A /etc/ssh /etc/ssl/private 2>/dev/null | grep -i key; echo end',
    'x',
    homedir(),
  ]);
  expectOutput(result, /^end$/);
});

each('no capability is left, mounts cannot be undone, and other processes are not seen', (kind) => {
  using box = world(kind);
  const probe =
    'umount /tmp 2>&1; umount /etc 2>&1; mount -o remount,rw / 2>&1; unshare -Ur umount /etc 2>&1; (: > /etc/x); ls -d /proc/[0-9]* | wc -l; [ -e /proc/$1/environ ] && tr "\\0" "\\n" < /proc/$1/environ | head -3; grep -c canary /etc/hostname';
  const result = box.run(['sh', '-c', probe, 'x', String(process.pid)]);
  expectOutput(result, /Read-only file system/, 1);
  assert.ok(Number(/^\d+$/m.exec(result.out)?.[0]) < 10, result.out);
});

each('there is no network unless it is asked for', (kind) => {
  using box = world(kind);
  const probe = ['sh', '-c', 'grep -c : /proc/net/dev'];
  expectOutput(box.run(probe), /^1$/);
  const outside = Number(spawnSync('grep', ['-c', ':', '/proc/net/dev'], { encoding: 'utf8' }).stdout);
  expectOutput(box.run(probe, { network: true }), new RegExp(`^${outside}$`));
});

each('a program ends with the gateway, however that ends', async (kind) => {
  using box = world(kind);
  const marker = `3600.${process.pid}`;
  const words = wrap(kind, ['sh', '-c', `echo ready; setsid sleep ${marker} & sleep ${marker}`], {
    workspace: box.workspace,
    cwd: box.workspace,
    hidden: [],
    userHome: homedir(),
    readOnly: [],
    network: false,
  });
  const script = `const { spawn } = require('node:child_process'); const [program, ...args] = ${JSON.stringify(words)};
    spawn(program, args, { stdio: ['ignore', 'inherit', 'inherit'], detached: true });`;
  const parent = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  await new Promise((resolve) => parent.stdout.once('data', resolve));
  while (running(marker).length < 2) await new Promise((resolve) => setImmediate(resolve));
  parent.kill('SIGKILL');
  while (running(marker).length > 0) await new Promise((resolve) => setImmediate(resolve));
});

function running(marker: string): string[] {
  return readdirSync('/proc').filter((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, 'utf8').startsWith(`sleep\0${marker}`);
    } catch {
      return false;
    }
  });
}

test('the profile for bubblewrap holds the same', () => {
  using box = world('bubblewrap');
  const home = join(box.workspace, '.tenon');
  mkdirSync(home);
  const profile = profileOf({
    workspace: box.workspace,
    cwd: box.workspace,
    hidden: [home],
    userHome: '/home/me',
    readOnly: ['/', '/home', home],
    network: false,
  });
  assert.ok(!profile.readOnly.some(({ path }) => isInside('/home/me', path)));
  const words = bubblewrapArgv(['true'], profile, ownerOf(box.workspace));
  for (const word of ['--die-with-parent', '--unshare-net', '--unshare-pid', '--unshare-user', '--new-session'])
    assert.ok(words.includes(word), word);
  const at = (...wanted: string[]) => words.findIndex((_, index) => wanted.every((word, offset) => words[index + offset] === word));
  assert.ok(at('--ro-bind', '/usr', '/usr') >= 0);
  assert.ok(at('--tmpfs', home) > at('--bind', box.workspace, box.workspace));
  assert.deepEqual(words.slice(-2), ['--', 'true']);
  assert.ok(!bubblewrapArgv(['true'], { ...profile, network: true }, ownerOf(box.workspace)).includes('--unshare-net'));
});
