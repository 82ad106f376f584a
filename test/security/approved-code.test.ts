// S52: what an approval allows is what runs, for every spelling of a command. The tool is called as a turn calls it: it says
// what it would do, is held to that when somebody is asked, and runs later. In between, or while it runs, files are swapped.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { type JsonObject, limits } from '@tenon/protocol';
import type { PreparedCall, ToolError, ToolOutput } from '../../packages/gateway/src/agent/tools/tool.ts';
import { openTools } from '../../packages/gateway/src/agent/tools/tools.ts';
import { systemClock } from '../../packages/gateway/src/kernel/clock.ts';
import { detectSandbox } from '../../packages/gateway/src/kernel/sandbox/sandbox.ts';
import { verifies } from '../support/verifies.ts';

const { kind: sandbox } = await detectSandbox(spawn, systemClock);
const EVIL = 'evil-7c1e';

interface Agent extends AsyncDisposable {
  readonly workspace: string;
  readonly home: string;
  /** Empties the workspace. */
  clear(): void;
  put(path: string, content: string): void;
  /** As it is when somebody was asked. */
  asked(args: JsonObject | string, name?: string): Promise<PreparedCall>;
  run(call: PreparedCall): Promise<string>;
}

function agent(setting: 'auto' | 'off', path = process.env.PATH): Agent {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'tenon-approved-')));
  const workspace = join(base, 'workspace');
  const home = join(base, 'home');
  mkdirSync(workspace);
  mkdirSync(home);
  const { tools, close } = openTools({
    clock: systemClock,
    settings: { 'exec.sandbox': setting, 'exec.network': false, 'exec.env': [], 'exec.timeoutMs': 60_000, 'web.allowPrivate': [] },
    env: { PATH: path?.replaceAll('$WORKSPACE', workspace), HOME: base },
    home,
    outputFolder: join(home, 'output'),
    gatewayPort: () => undefined,
  });
  return {
    workspace,
    home,
    clear() {
      rmSync(workspace, { recursive: true });
      mkdirSync(workspace);
    },
    put(path, content) {
      mkdirSync(dirname(join(workspace, path)), { recursive: true });
      writeFileSync(join(workspace, path), content);
    },
    async asked(args, name = 'exec') {
      const tool = tools.find((each) => each.name === name)!;
      const given = typeof args === 'string' ? { command: args } : args;
      const prepared = await tool.prepare(given, { sessionKey: 'agent:main:a', agentId: 'main', runId: 'r', callId: 'c', workspace });
      return (await prepared.bind?.()) ?? prepared;
    },
    async run(call) {
      const { content }: ToolOutput = await call.run({ signal: new AbortController().signal, onUpdate() {} });
      return content[0]?.type === 'text' ? content[0].text : '';
    },
    async [Symbol.asyncDispose]() {
      await close();
      rmSync(base, { recursive: true, force: true });
    },
  };
}

const notBound = (call: PreparedCall) => (call.exact.notBound as string[] | undefined) ?? [];
const bound = (call: PreparedCall) => (call.exact.bound as string[] | undefined) ?? [];

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve));
}

interface Attack {
  readonly args: JsonObject | string;
  readonly files: Readonly<Record<string, string>>;
  /** What is written between the question and the run. */
  readonly swap: Readonly<Record<string, string>> | ((root: string) => void);
  /** Files that are held to what they were; without any, the question says that something is not. */
  readonly bound?: readonly string[];
  readonly links?: Readonly<Record<string, string>>;
  /** A folder of the workspace is in PATH. */
  readonly ownPath?: true;
}

const good = 'echo good\n';
const evil = `echo ${EVIL}\n`;
const script = { 'run.sh': good };
const swapped = { 'run.sh': evil };
const many = Object.fromEntries(Array.from({ length: 80 }, (_, index) => [`f${index}`, 'x']));
const relinked = (root: string) => {
  rmSync(join(root, 'link.sh'));
  symlinkSync('other.sh', join(root, 'link.sh'));
};

const attacks: Readonly<Record<string, Attack>> = {
  'a script by its name': { args: 'sh run.sh', files: script, swap: swapped, bound: ['run.sh'] },
  'a folder is changed on the way': {
    args: 'cd sub && sh run.sh',
    files: { 'sub/run.sh': good, 'run.sh': good },
    swap: { 'sub/run.sh': evil },
    bound: ['sub/run.sh'],
  },
  'a shell inside a shell': { args: 'sh -c "sh run.sh"', files: script, swap: swapped, bound: ['run.sh'] },
  'a shell three deep': { args: `sh -c "sh -c 'sh run.sh'"`, files: script, swap: swapped, bound: ['run.sh'] },
  'a shell in argv': { args: { argv: ['sh', '-c', 'sh run.sh'] }, files: script, swap: swapped, bound: ['run.sh'] },
  'a pattern': { args: 'sh ./r?n.sh', files: script, swap: swapped },
  'a pattern that leads to a file of another kind': { args: 'sh ./r?n.log', files: { 'run.log': good }, swap: { 'run.log': evil } },
  'a file more for a pattern': { args: 'sh ./r?n.sh', files: script, swap: { 'ran.sh': evil } },
  'more than 64 files': {
    args: `cat ${Object.keys(many).join(' ')} > /dev/null && sh run.sh`,
    files: { ...many, ...script },
    swap: swapped,
    bound: ['run.sh'],
  },
  'over 1 MiB': {
    args: 'sh run.sh',
    files: { 'run.sh': `: '${'x'.repeat(1_200_000)}'\n${good}` },
    swap: { 'run.sh': `: '${'x'.repeat(1_200_000)}'\n${evil}` },
    bound: ['run.sh'],
  },
  'larger than can be copied': {
    args: 'sh run.sh',
    files: { 'run.sh': `: '${'x'.repeat(limits.approvedFileBytes.value)}'\n${good}` },
    swap: (root) => {
      const file = join(root, 'run.sh');
      writeFileSync(file, readFileSync(file, 'utf8').replace(good, evil.padEnd(good.length).slice(0, good.length)));
    },
  },
  'a sourced file': {
    args: 'sh main.sh',
    files: { 'main.sh': '. ./lib.sh\n', 'lib.sh': good },
    swap: { 'lib.sh': evil },
    bound: ['lib.sh', 'main.sh'],
  },
  'a script of a script': {
    args: './main.sh',
    files: { 'main.sh': '#!/bin/sh\nsh run.sh\n', ...script },
    swap: swapped,
    bound: ['main.sh', 'run.sh'],
  },
  'standard input': { args: 'sh < run.sh', files: script, swap: swapped, bound: ['run.sh'] },
  'env -S': { args: 'env -S "sh run.sh"', files: script, swap: swapped, bound: ['run.sh'] },
  'a variable': { args: 'F=run; sh $F.sh', files: script, swap: swapped },
  'find -exec': { args: "find . -name 'r*.sh' -exec sh {} \\;", files: script, swap: swapped },
  xargs: { args: 'ls | xargs -n1 sh', files: script, swap: swapped },
  'a pipe': { args: 'cat *.sh | sh', files: script, swap: swapped },
  'a here-document': { args: "sh <<E\n. ./run''.sh\nE", files: script, swap: swapped },
  make: { args: 'make', files: { Makefile: 'all:\n\techo good\n' }, swap: { Makefile: `all:\n\techo ${EVIL}\n` } },
  'make, with a file that goes first': {
    args: 'make',
    files: { Makefile: 'all:\n\techo good\n' },
    swap: { GNUmakefile: `all:\n\techo ${EVIL}\n` },
  },
  npm: {
    args: 'npm test',
    files: { 'package.json': '{"scripts":{"test":"echo good"}}' },
    swap: { 'package.json': `{"scripts":{"test":"echo ${EVIL}"}}` },
  },
  'an import': {
    args: { argv: ['python3', 'main.py'] },
    files: { 'main.py': 'import lib\n', 'lib.py': 'print("good")\n' },
    swap: { 'lib.py': `print("${EVIL}")\n` },
  },
  'a require': {
    args: { argv: [process.execPath, 'main.js'] },
    files: { 'main.js': 'require("./lib.js")\n', 'lib.js': 'console.log("good")\n' },
    swap: { 'lib.js': `console.log("${EVIL}")\n` },
  },
  'a program of PATH': {
    args: 'tool',
    ownPath: true,
    files: { 'bin/tool': `#!/bin/sh\n${good}` },
    swap: { 'bin/tool': `#!/bin/sh\n${evil}` },
  },
  'a program that comes into PATH': {
    args: 'cat run.sh',
    ownPath: true,
    files: { ...script, 'bin/x': '' },
    swap: (root) => {
      writeFileSync(join(root, 'bin', 'cat'), `#!/bin/sh\n${evil}`);
      chmodSync(join(root, 'bin', 'cat'), 0o755);
    },
  },
  'a link': { args: 'sh link.sh', files: { ...script, 'other.sh': evil }, swap: relinked, links: { 'link.sh': 'run.sh' } },
  'a link above': {
    args: 'sh link/run.sh',
    links: { link: 'a' },
    files: { 'a/run.sh': good, 'b/run.sh': evil },
    swap: (root) => {
      rmSync(join(root, 'link'));
      symlinkSync('b', join(root, 'link'));
    },
  },
  'the way back out of a link': {
    args: 'sh deep/../run.sh',
    links: { deep: 'a/b' },
    files: { 'run.sh': good, 'a/b/x': '', 'a/run.sh': good },
    swap: { 'a/run.sh': evil },
  },
  'a folder that is moved': {
    args: 'sh sub/run.sh',
    files: { 'sub/run.sh': good, 'evil/run.sh': evil },
    swap: (root) => {
      renameSync(join(root, 'sub'), join(root, 'was'));
      renameSync(join(root, 'evil'), join(root, 'sub'));
    },
    bound: ['sub/run.sh'],
  },
  'folders that change places': {
    args: 'make -C sub',
    files: { 'sub/Makefile': 'all:\n\techo good\n', 'evil/Makefile': `all:\n\techo ${EVIL}\n` },
    swap: (root) => {
      renameSync(join(root, 'sub'), join(root, 'was'));
      renameSync(join(root, 'evil'), join(root, 'sub'));
      renameSync(join(root, 'was'), join(root, 'evil'));
    },
  },
};

for (const setting of sandbox === 'none' ? (['off'] as const) : (['auto', 'off'] as const)) {
  test(`S52 ${setting === 'off' ? 'without a sandbox' : sandbox}: what was swapped after the question does not run`, async () => {
    verifies('S52');
    await using usual = agent(setting);
    await using own = agent(setting, '$WORKSPACE/bin:/usr/bin:/bin');
    for (const [name, attack] of Object.entries(attacks)) {
      const victim = attack.ownPath ? own : usual;
      victim.clear();
      for (const [path, content] of Object.entries(attack.files)) victim.put(path, content);
      for (const path of ['main.sh', 'bin/tool']) if (path in attack.files) chmodSync(join(victim.workspace, path), 0o755);
      for (const [link, target] of Object.entries(attack.links ?? {})) symlinkSync(target, join(victim.workspace, link));

      const call = await victim.asked(attack.args);
      if (setting === 'auto' && attack.bound) {
        assert.deepEqual([...bound(call)].sort(), attack.bound, name);
        assert.deepEqual(notBound(call), [], name);
      } else assert.notDeepEqual(notBound(call), [], `${name}: the question says what it does not hold`);
      if (typeof attack.swap === 'function') attack.swap(victim.workspace);
      else for (const [path, content] of Object.entries(attack.swap)) victim.put(path, content);
      const said = await victim.run(call).catch((error: ToolError) => {
        assert.equal(error.code, 'CHANGED', `${name}: ${error.message}`);
        return error.message;
      });
      assert.doesNotMatch(said, new RegExp(EVIL), name);
      assert.match(said, /nothing was run/, name);
    }
  });
}

test('S52 commands that run no file of the workspace are bound by their words, and may be allowed for always', async () => {
  verifies('S52');
  await using victim = agent('auto');
  victim.put('notes.txt', 'mine');
  for (const command of ['cat notes.txt', 'ls -la | head -3', 'echo $HOME', 'mkdir -p a/b && cp notes.txt a/b', 'rm notes.txt']) {
    const call = await victim.asked(command);
    assert.deepEqual(call.binding, { bound: [], notBound: [] }, command);
    call.release?.();
  }
});

test('a command that changes a file before it runs it can do so, and the question says that it may', async () => {
  verifies('S52');
  await using victim = agent('auto');
  victim.put('run.sh', '#!/bin/sh\necho good\n');
  const call = await victim.asked('chmod +x run.sh && ./run.sh');
  assert.deepEqual(bound(call), []);
  assert.match(notBound(call).join(), /run\.sh: the command may change it before it runs it/);
  assert.match(await victim.run(call), /^good\n\[Exit code 0\]$/);
});

test('S52 a file that is rewritten while the command runs is still what was approved', { skip: sandbox === 'none' }, async () => {
  verifies('S52');
  await using victim = agent('auto');
  const { workspace, put } = victim;
  put('sub/main.sh', ': > started\nwhile [ ! -e go ]; do sleep 0.02; done\n. ./sub/lib.sh\nsh sub/lib.sh\n');
  put('sub/lib.sh', good);
  put('evil.sh', evil);
  const call = await victim.asked('sh sub/main.sh');
  // The copy holds `while`, which is known completely, and both files.
  assert.deepEqual([...bound(call)].sort(), ['sub/lib.sh', 'sub/main.sh']);
  const running = victim.run(call);
  await until(() => existsSync(join(workspace, 'started')));

  writeFileSync(join(workspace, 'sub', 'lib.sh'), evil);
  for (const [name, args] of [
    ['write', { path: 'sub/lib.sh', content: evil }],
    ['apply_patch', { patch: '*** Begin Patch\n*** Delete File: sub/lib.sh\n*** End Patch' }],
  ] as const) {
    const change = await victim.asked(args as unknown as JsonObject, name);
    await assert.rejects(victim.run(change), { code: 'IN_USE' }, name);
  }
  // A rename from another mount namespace would take the mount away: what starts now cannot make one.
  const replacing = 'mv evil.sh sub/lib.sh; mv sub was; rm -rf sub/lib.sh; cat sub/lib.sh';
  assert.match(await victim.run(await victim.asked(replacing)), /echo good/);
  put('go', '');
  assert.equal(await running, 'good\ngood\n[Exit code 0]');
  assert.equal(readFileSync(join(workspace, 'sub', 'lib.sh'), 'utf8'), evil, 'the file itself is as it was left');
  assert.match(await victim.run(await victim.asked({ path: 'sub/lib.sh', content: good }, 'write')), /Replaced/);
});

test('S52 a program that runs already is named as one that could replace files, and one that comes in between stops the run', {
  skip: sandbox === 'none',
}, async () => {
  verifies('S52');
  await using victim = agent('auto');
  victim.put('run.sh', good);
  const early = await victim.asked('sh run.sh');
  assert.deepEqual(notBound(early), []);
  const job = await victim.run(await victim.asked({ command: 'sleep 300', background: true }));
  assert.match(job, /Started job-/);
  await assert.rejects(victim.run(early), { code: 'CHANGED' });
  const late = await victim.asked('sh run.sh');
  assert.match(notBound(late).join(), /run\.sh: could be replaced, while this runs, by what runs in the workspace already \(sleep 300\)/);
  assert.match(await victim.run(late), /^good/);
});

test('S52 copies lie in the home while they are needed, and no longer', { skip: sandbox === 'none' }, async () => {
  verifies('S52');
  await using victim = agent('auto');
  const copies = () => (existsSync(join(victim.home, 'approved')) ? readdirSync(join(victim.home, 'approved')) : []);
  victim.put('run.sh', good);
  victim.put('again.sh', good);
  const first = await victim.asked('sh run.sh');
  const second = await victim.asked('sh again.sh');
  assert.equal(copies().length, 1, 'the same bytes are kept once');
  first.release?.();
  assert.equal(copies().length, 1);
  assert.match(await victim.run(second), /^good/);
  await until(() => copies().length === 0);

  // A copy that is gone is made again if the file is still the same; another one is not run.
  const lost = await victim.asked('sh run.sh');
  lost.release?.();
  await until(() => copies().length === 0);
  assert.match(await victim.run(lost), /^good/);
  const changed = await victim.asked('sh run.sh');
  changed.release?.();
  victim.put('run.sh', evil);
  await assert.rejects(victim.run(changed), { code: 'CHANGED' });
  await until(() => copies().length === 0);
});
