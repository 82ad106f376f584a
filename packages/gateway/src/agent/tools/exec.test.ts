// Programs through the tools, for real: in the sandbox where this machine has one, without where it is turned off.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { explain, type JsonObject } from '@tenon/protocol';
import { systemClock } from '../../kernel/clock.ts';
import type { PreparedCall, ToolIo, ToolOutput } from './tool.ts';
import { openTools, type ToolsDeps } from './tools.ts';

interface World extends AsyncDisposable {
  readonly root: string;
  readonly base: string;
  prepare(name: string, args: JsonObject, place?: { sessionKey?: string; env?: Record<string, string> }): Promise<PreparedCall>;
  call(name: string, args: JsonObject, io?: Partial<ToolIo>): Promise<ToolOutput>;
  text(name: string, args: JsonObject, io?: Partial<ToolIo>): Promise<string>;
}

function world(settings: Partial<ToolsDeps['settings']> = {}): World {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'tenon-exec-')));
  const root = join(base, 'workspace');
  mkdirSync(root);
  mkdirSync(join(base, 'home'));
  const opened = openTools({
    clock: systemClock,
    settings: {
      'exec.sandbox': 'off',
      'exec.network': false,
      'exec.env': [],
      'exec.timeoutMs': 60_000,
      'web.allowPrivate': [],
      ...settings,
    },
    env: { ...process.env, CANARY: 'canary-variable' },
    home: join(base, 'home'),
    outputFolder: join(base, 'home', 'output'),
    gatewayPort: () => undefined,
  });
  const prepare: World['prepare'] = async (name, args, place) => {
    const tool = opened.tools.find((each) => each.name === name)!;
    assert.equal(explain(tool.parameters, args, 'args'), undefined);
    return tool.prepare(args, { sessionKey: 'agent:main:a', agentId: 'main', runId: 'r', callId: 'c', workspace: root, ...place });
  };
  const call: World['call'] = async (name, args, io) =>
    (await prepare(name, args)).run({ signal: new AbortController().signal, onUpdate() {}, ...io });
  return {
    root,
    base,
    prepare,
    call,
    async text(name, args, io) {
      const [first] = (await call(name, args, io)).content;
      return first?.type === 'text' ? first.text : '';
    },
    async [Symbol.asyncDispose]() {
      await opened.close();
      rmSync(base, { recursive: true, force: true });
    },
  };
}

function isAlive(pid: number): boolean {
  try {
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  } catch {
    return false;
  }
}

async function gone(pid: number): Promise<void> {
  while (isAlive(pid)) await new Promise((resolve) => setImmediate(resolve));
}

test('exec runs the words as they are, or a line that needs one through a shell', async () => {
  await using run = world();
  assert.equal(await run.text('exec', { command: "printf '%s|' 'a b' c\\ d" }), 'a b|c d|\n[Exit code 0]');
  assert.equal(await run.text('exec', { argv: ['printf', '%s', '$HOME *'] }), '$HOME *\n[Exit code 0]');
  assert.equal(await run.text('exec', { command: 'echo a | tr a b; exit 3' }), 'b\n[Exit code 3]');
  const shell = await run.prepare('exec', { command: 'echo $X' });
  assert.deepEqual(shell.exec?.argv, ['sh', '-c', 'echo $X']);
  assert.match(shell.question, /^Run in a shell sh -c 'echo \$X'\?/);
  const failed = await run.call('exec', { argv: ['/no/such/program'] });
  assert.equal(failed.isError, true);
  assert.match(JSON.stringify(failed.content), /was not found/);
});

test('exec refuses what it cannot show or read', async () => {
  await using run = world();
  for (const [args, code] of [
    [{}, 'BAD_COMMAND'],
    [{ command: 'a', argv: ['a'] }, 'BAD_COMMAND'],
    [{ command: "echo 'a" }, 'BAD_COMMAND'],
    [{ argv: [''] }, 'BAD_COMMAND'],
    [{ argv: ['a\0'] }, 'BAD_COMMAND'],
    [{ command: `echo ${'x'.repeat(9_000)}` }, 'TOO_LARGE'],
    [{ argv: ['echo', 'x'.repeat(9_000)] }, 'TOO_LARGE'],
    [{ command: 'ls', cwd: '..' }, 'OUTSIDE'],
    [{ command: 'ls', cwd: 'gone' }, 'NOT_FOUND'],
  ] as const)
    await assert.rejects(
      run.prepare('exec', args as unknown as JsonObject),
      { name: 'ToolError', code },
      JSON.stringify(args).slice(0, 60),
    );
});

test('exec hands on no variable but the usual, and refuses loaders from a plugin', async () => {
  await using run = world();
  assert.doesNotMatch(await run.text('exec', { command: 'env' }), /canary/i);
  await assert.rejects(run.prepare('exec', { command: 'env' }, { env: { LD_PRELOAD: '/x.so' } }), { code: 'ENV' });
  const given = await run.prepare('exec', { command: 'env' }, { env: { STAGE: 'test' } });
  assert.deepEqual(given.exec?.env, { STAGE: 'test' });
  await using named = world({ 'exec.env': ['CANARY'] });
  assert.match(await named.text('exec', { command: 'env' }), /CANARY=canary-variable/);
  assert.doesNotMatch(JSON.stringify(await named.prepare('exec', { command: 'env' })), /canary-variable/);
});

test('a program that takes too long is ended with its children', async () => {
  await using run = world();
  const { content, isError, details } = await run.call('exec', { command: 'sleep 300 & echo $!; wait', timeoutMs: 300 });
  const text = content[0]?.type === 'text' ? content[0].text : '';
  assert.equal(isError, true);
  assert.equal(details?.timedOut, true);
  assert.match(text, /it took longer than it may/);
  await gone(Number(text.split('\n')[0]));
});

test('abort ends the whole group, and the call with the reason', async () => {
  await using run = world();
  const stop = new AbortController();
  const seen = Promise.withResolvers<string>();
  const running = run.call(
    'exec',
    { command: 'sleep 300 & echo $!; wait' },
    { signal: stop.signal, onUpdate: (text) => seen.resolve(text) },
  );
  const pid = Number((await seen.promise).trim());
  assert.equal(isAlive(pid), true);
  stop.abort(new Error('stopped by the operator'));
  await assert.rejects(running, /stopped by the operator/);
  await gone(pid);
  await assert.rejects(run.call('exec', { command: 'touch made' }, { signal: stop.signal }), /stopped by the operator/);
  assert.equal(existsSync(join(run.root, 'made')), false);
});

test('long output shows its end, and its beginning is read by handle', async () => {
  await using run = world();
  const { content, details } = await run.call('exec', { command: 'seq 1 100000' });
  const text = content[0]?.type === 'text' ? content[0].text : '';
  assert.match(text, /^\[The last \d+ of 588895 bytes\. From the beginning: read_more/);
  assert.match(text, /\n99999\n100000\n\[Exit code 0\]$/);
  let all = '';
  for (let offset = 0; ; ) {
    const page = await run.call('read_more', { handle: String(details?.handle), offset });
    const [block] = page.content;
    all += block?.type === 'text' ? block.text.slice(0, block.text.lastIndexOf('[')) : '';
    if (page.details?.next === null) break;
    offset = Number(page.details?.next);
  }
  assert.equal(all, Array.from({ length: 100_000 }, (_, index) => `${index + 1}\n`).join(''));
});

test('endless output is bounded in memory and on disk', async () => {
  await using run = world();
  const { content } = await run.call('exec', { command: 'yes | head -c 30000000' });
  assert.match(content[0]?.type === 'text' ? content[0].text : '', /of 30000000 bytes\. Only the first 10000000 bytes and these are kept/);
});

test('background jobs are listed, read page by page, killed, and belong to their session', async () => {
  await using run = world();
  const { details } = await run.call('exec', { command: 'echo begun; echo $$; sleep 300', background: true });
  const id = String(details?.job);
  let output = '';
  while (!/begun\n\d+\n/.test(output)) {
    await new Promise((resolve) => setImmediate(resolve));
    output = await run.text('process', { action: 'output', id });
  }
  const pid = Number(/begun\n(\d+)\n/.exec(output)?.[1]);
  assert.match(output, /\[running\]/);
  assert.match(await run.text('process', { action: 'list' }), new RegExp(`^${id} \\[running\\]`));
  assert.match(await run.text('process', { action: 'output', id, offset: 6 }), new RegExp(`${pid}\n\\[End of what is there`));
  await assert.rejects(run.prepare('process', { action: 'kill', id }, { sessionKey: 'agent:main:other' }), { code: 'NOT_FOUND' });
  assert.match(await run.text('process', { action: 'kill', id }), /Ended by SIGTERM/);
  await gone(pid);
});

test('a session has a bounded number of programs, and closing ends them all', async () => {
  const pids: number[] = [];
  {
    await using run = world();
    for (let count = 0; count < 8; count++)
      await run.call('exec', { command: `trap "" TERM; echo $$ > pid-${count}; while :; do sleep 300; done`, background: true });
    await assert.rejects(run.call('exec', { command: 'true' }), { code: 'TOO_MANY' });
    for (let count = 0; count < 8; count++) {
      const file = join(run.root, `pid-${count}`);
      while (!existsSync(file) || readFileSync(file, 'utf8') === '') await new Promise((resolve) => setImmediate(resolve));
      pids.push(Number(readFileSync(file, 'utf8')));
    }
  }
  for (const pid of pids) await gone(pid);
});

test('what was looked at is what runs: a changed file, folder or link is refused', async () => {
  await using run = world();
  const io = { signal: new AbortController().signal, onUpdate() {} };
  writeFileSync(join(run.root, 'script.sh'), 'echo one');
  for (const args of [
    { command: 'sh script.sh' },
    { command: 'sh ./script.sh > out' },
    { argv: ['env', 'X=1', 'sh', 'script.sh'] },
    { argv: ['sh', '-c', '. ./script.sh'] },
    { command: 'make --file=script.sh' },
  ] as JsonObject[]) {
    writeFileSync(join(run.root, 'script.sh'), 'echo one');
    const call = await run.prepare('exec', args);
    assert.deepEqual(Object.keys(call.exact.files as JsonObject), ['script.sh']);
    writeFileSync(join(run.root, 'script.sh'), 'echo two');
    await assert.rejects(call.run(io), { code: 'CHANGED' }, JSON.stringify(args));
  }
  mkdirSync(join(run.root, 'sub'));
  const there = await run.prepare('exec', { command: 'pwd', cwd: 'sub' });
  rmSync(join(run.root, 'sub'), { recursive: true });
  symlinkSync(run.base, join(run.root, 'sub'));
  await assert.rejects(there.run(io), { code: 'CHANGED' });
});

test('exec.sandbox = require does not run without a sandbox, and the status says why', async () => {
  await using off = world();
  assert.equal((await off.prepare('exec', { command: 'true' })).exec?.sandboxed, false);
  await using required = world({ 'exec.sandbox': 'require' });
  const prepared = await required.prepare('exec', { command: 'true' }).catch((error: unknown) => error as { code: string });
  if ('code' in prepared) assert.equal(prepared.code, 'NO_SANDBOX');
  else assert.equal(prepared.exec?.sandboxed, true);
});
