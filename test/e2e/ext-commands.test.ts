// `tenon ext ls, inspect, trust, grant, revoke, reload` and the same over HTTP, against one real gateway with one extension.
import assert from 'node:assert/strict';
import { chmodSync, copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { after, before, test } from 'node:test';
import type { PluginInfo } from '@tenon/protocol';
import { runCli } from '../../packages/gateway/src/cli/program.ts';
import { removeFolder } from '../support/clean-up.ts';
import { putExtension } from '../support/extension-home.ts';
import { cleanEnv, startGatewayProcess, temporaryHome, type GatewayProcess } from '../support/gateway.ts';
import { put } from '../support/plugins.ts';
import { verifies } from '../support/verifies.ts';

let gateway: GatewayProcess;
let folder: string;
before(async () => {
  gateway = await startGatewayProcess();
  folder = join(gateway.home, 'extensions', 'notes');
});
after(() => gateway.remove());

const REGISTERED = {
  tools: [{ name: 'add', description: 'Adds a note.', parameters: { type: 'object' } }],
  commands: [{ name: 'hear', description: 'Hears.' }],
};

function write(main?: string): void {
  mkdirSync(folder, { recursive: true });
  for (const each of [join(gateway.home, 'extensions'), folder]) chmodSync(each, 0o755);
  const run = '[run]\ncommand = "node"\nargs = ["main.mjs"]\n[capabilities]\ntools = true\ncommands = true\n';
  put(join(folder, 'extension.toml'), `name = "notes"\nversion = "1.0.0"\n${run}`);
  put(join(folder, 'registrations.json'), JSON.stringify(REGISTERED));
  if (main !== undefined) put(join(folder, 'main.mjs'), main);
  else copyFileSync(join(import.meta.dirname, '../fixtures/extensions/notes.mjs'), join(folder, 'main.mjs'));
  chmodSync(join(folder, 'main.mjs'), 0o644);
}

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

function tenon(...words: string[]): Promise<Ended> {
  return tenonUntil(undefined, ...words);
}

/** Interrupted when it has said that. */
async function tenonUntil(enough: RegExp | undefined, ...words: string[]): Promise<Ended> {
  const said = { out: '', err: '' };
  const interrupt = new AbortController();
  const into = (name: 'out' | 'err') => ({
    write(text: string) {
      said[name] += text;
      if (enough?.test(said[name])) interrupt.abort('SIGINT');
    },
  });
  const code = await runCli(words, {
    stdout: into('out'),
    stderr: into('err'),
    stdin: Readable.from([]),
    env: cleanEnv({ TENON_HOME: gateway.home }),
    now: Date.now,
    interrupted: () => interrupt.signal,
  });
  return { code, ...said };
}

interface Told {
  readonly extensions: readonly (PluginInfo & { readonly problems: readonly string[] })[];
  readonly commands: readonly object[];
}

async function ask(path: string, token = gateway.token, body?: string): Promise<{ status: number; json: Told & Record<string, never> }> {
  const headers = { authorization: `Bearer ${token}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) };
  const response = await fetch(gateway.url + path, { headers, ...(body === undefined ? {} : { method: 'POST', body }) });
  return { status: response.status, json: (await response.json()) as Told & Record<string, never> };
}

const reload = (name: string) => ask('/api/ext/reload', gateway.token, JSON.stringify({ name }));

test('there are none at first, and one that was put there since is found by its name', async () => {
  const none = await tenon('ext', 'ls');
  assert.deepEqual(none, { code: 0, out: '', err: 'No extensions. Make one with: tenon ext new <name>\n' });
  assert.deepEqual((await ask('/api/ext')).json, { extensions: [], commands: [] });
  assert.equal((await tenon('ext', 'inspect', 'notes')).code, 1);
  write();
  const refused = await tenon('ext', 'trust', 'notes');
  assert.equal(refused.code, 6, 'nothing is trusted without a person, or a yes');
  assert.match(refused.err, /tools\.register: Give the agent tools\.\n[\s\S]*agree to it with --yes/);
  const { code, out } = await tenon('ext', 'trust', 'notes', '--grant', 'tools.register', '--yes');
  assert.deepEqual([code, out], [0, 'loaded notes\n']);
});

test('tenon ext dev has what the gateway has granted, and names the command that grants the rest', async () => {
  const { code, out } = await tenonUntil(/missing.*\n/, 'ext', 'dev', folder);
  assert.equal(code, 0);
  assert.match(out, /^missing commands hear: it is not granted; grant it with: tenon ext grant notes commands\.register$/m);
  assert.match(out, /"tools":true,"commands":false/);
});

test('grants are given and taken back, and what was refused is shown', async () => {
  const before = await tenon('ext', 'inspect', 'notes');
  assert.match(before.out, /not granted +commands\.register/);
  assert.match(before.out, /Not taken:\n {2}command hear: /);
  assert.match(before.out, /Process:\n {2}ready, process \d+/);
  const { extensions } = (await ask('/api/ext')).json;
  assert.match(extensions[0]?.problems.join() ?? '', /command hear was not taken/);
  assert.deepEqual(await tenon('ext', 'grant', 'notes', 'commands.register'), {
    code: 0,
    out: 'notes has tools.register, commands.register\n',
    err: '',
  });
  const listed = JSON.parse((await tenon('ext', 'ls', '--json')).out) as { plugins: PluginInfo[] };
  assert.deepEqual(
    listed.plugins.map(({ id, granted, process }) => [id, granted.length, process?.state]),
    [['notes', 2, 'ready']],
  );
  assert.match((await tenon('ext', 'ls')).out, /^notes +1\.0\.0 +ready +2 of 3 +0 /m);
  assert.match((await tenon('ext', 'revoke', 'notes', 'tools.register')).out, /^notes has commands\.register\n$/);
  assert.equal((await tenon('ext', 'grant', 'notes', 'tools.register')).code, 0);
});

test('over HTTP: how they do, with the credentials and scopes of the socket', async () => {
  const { status, json } = await ask('/api/ext');
  assert.equal(status, 200);
  const [notes] = json.extensions;
  assert.deepEqual([notes?.id, notes?.state, notes?.process?.state, notes?.problems], ['notes', 'loaded', 'ready', []]);
  assert.deepEqual(
    notes?.registrations.map(({ kind, key }) => `${kind} ${key}`),
    ['tool notes__add', 'command hear'],
  );
  assert.deepEqual(json.commands, [{ ext: 'notes', name: 'hear', description: 'Hears.' }]);

  const token = async (scope: string) =>
    (JSON.parse((await tenon('token', 'new', '--name', scope, '--scope', scope, '--json')).out) as { token: string }).token;
  const [reader, writer] = [await token('operator.read'), await token('operator.write')];
  const body = JSON.stringify({ name: 'notes' });
  assert.equal((await ask('/api/ext', 'tenon_nobody')).status, 401);
  assert.equal((await ask('/api/ext', reader)).status, 200);
  assert.equal((await ask('/api/ext/reload', 'tenon_nobody', body)).status, 401);
  assert.equal((await ask('/api/ext/reload', reader, body)).status, 403);
  assert.equal((await ask('/api/ext/reload', writer, body)).status, 403);
  assert.equal((await ask('/api/ext/reload')).status, 405);
  assert.equal((await ask('/api/ext/reload', gateway.token, '{"name":"../x"}')).status, 400);
  assert.equal((await reload('nobody')).status, 404);
  assert.equal((await reload('todo')).status, 404, 'a plugin that is no extension');
});

test('a reload is a new process, over HTTP and by its command; one that is no good says why', async () => {
  const pidOf = async () => (await ask('/api/ext')).json.extensions[0]?.process?.pid;
  const first = await pidOf();
  const reloaded = await reload('notes');
  assert.deepEqual([reloaded.status, reloaded.json.reloaded], [200, 'notes']);
  const second = await pidOf();
  assert.notEqual(second, first);
  assert.deepEqual(await tenon('ext', 'reload', 'notes'), { code: 0, out: 'loaded notes\n', err: '' });
  assert.notEqual(await pidOf(), second);
  const all = await ask('/api/ext/reload', gateway.token, '{}');
  assert.deepEqual([all.status, all.json.reloaded], [200, ['notes']]);

  write('process.exit(5);');
  const failed = await reload('notes');
  assert.equal(failed.status, 503);
  assert.match(JSON.stringify(failed.json), /was not started anew/);
  const { problems } = (await ask('/api/ext')).json.extensions[0]!;
  assert.notDeepEqual(problems, []);
  assert.equal((await tenon('ext', 'reload', 'notes')).code, 1);
});

test('a gate whose hook is not granted does not run, and every way to look says so with the command that grants it', async () => {
  verifies('sep:gate:hooks');
  const gate = (name: string, home: string) =>
    putExtension(home, name, {
      fixture: 'notes.mjs',
      capabilities: 'tools = true\nactive_tools = false',
      files: { 'registrations.json': { ...REGISTERED, commands: [], hooks: ['tool_call'] } },
    });
  gate('gate', gateway.home);
  const grant = 'tenon ext grant gate hooks.intercept:before_tool_call';
  const limited = await tenon('ext', 'trust', 'gate', '--grant', 'tools.register', '--yes');
  assert.equal(limited.code, 6, 'it was told to grant no more than that');
  assert.ok(limited.out.startsWith('ungranted gate: it does not run') && limited.out.includes(grant), limited.out);
  assert.match((await tenon('ext', 'ls')).out, /^gate +1\.0\.0 +ungranted +1 of 2 /m);
  assert.ok((await tenon('ext', 'inspect', 'gate')).out.includes(grant));
  assert.ok((await tenon('doctor')).out.includes(grant));
  const shown = (await ask('/api/ext')).json.extensions.find(({ id }) => id === 'gate');
  assert.deepEqual([shown?.state, shown?.process?.state, shown?.registrations], ['ungranted', 'stopped', []]);
  assert.ok(shown?.problems.join().includes(grant));
  assert.equal((await tenon(...grant.split(' ').slice(1))).code, 0);
  assert.match((await tenon('ext', 'ls')).out, /^gate +1\.0\.0 +ready +2 of 2 /m);

  // From elsewhere, and with a yes to everything.
  const elsewhere = temporaryHome();
  const source = gate('second', elsewhere);
  const installed = await tenon('ext', 'install', source, '--yes');
  assert.deepEqual([installed.code, /installed, loaded$/m.test(installed.out)], [0, true], installed.out + installed.err);
  assert.match(installed.err, /takes part in hooks[^\n]*\n {2}hooks\.intercept:before_tool_call: /);
  assert.match((await tenon('ext', 'inspect', 'second')).out, /hook: before_tool_call/);
  removeFolder(elsewhere);
});

test('G21: nothing that looks at extensions, models or commands starts one that is not trusted', async () => {
  verifies('sep:G21');
  const untrusted = join(gateway.home, 'extensions', 'untrusted');
  const mark = join(gateway.home, 'mark');
  mkdirSync(untrusted, { mode: 0o755 });
  chmodSync(untrusted, 0o755);
  put(
    join(untrusted, 'extension.toml'),
    'name = "untrusted"\nversion = "1.0.0"\n[run]\ncommand = "node"\nargs = ["main.mjs"]\n[capabilities]\ntools = true\nproviders = true\n',
  );
  put(join(untrusted, 'main.mjs'), `import { writeFileSync } from 'node:fs';\nwriteFileSync(${JSON.stringify(mark)}, '');\n`);
  for (const words of [
    ['ext', 'ls'],
    ['ext', 'check', untrusted],
    ['ext', 'reload', 'untrusted'],
    ['ext', 'inspect', 'untrusted'],
    ['plugin', 'ls'],
    ['model', 'ls'],
    ['doctor'],
    ['run', 'hello'],
  ])
    await tenon(...words);
  const { json } = await ask('/api/ext');
  assert.ok(json.extensions.some(({ id, state }) => id === 'untrusted' && state === 'off'));
  assert.equal(existsSync(mark), false);
});
