// `tenon ext install`, `update`, `rollback`, `rm` and `search` as people and scripts use them: the real program, a real gateway, a
// registry on this machine, no terminal.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { ArchiveEntry } from '../support/archives.ts';
import { cleanEnv, startGatewayProcess, temporaryHome, tenonBin } from '../support/gateway.ts';
import { openRegistry } from '../support/registry.ts';
import { verifies } from '../support/verifies.ts';

interface Run {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function tenon(home: string, ...words: string[]): Promise<Run> {
  return new Promise((resolve) => {
    const options = { env: cleanEnv({ TENON_HOME: home }), encoding: 'utf8', timeout: 60_000 } as const;
    const child = execFile(process.execPath, [tenonBin, ...words], options, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, stdout, stderr });
    });
    child.stdin?.end();
  });
}

interface Plugin {
  readonly id: string;
  readonly version: string;
  readonly state: string;
  readonly granted: readonly string[];
}

const program = readFileSync(join(import.meta.dirname, '../fixtures/extensions/notes.mjs'), 'utf8');
const TOOL = { name: 'add', description: 'Adds a note.', parameters: { type: 'object', properties: {} } };

function notes(version: string, capabilities: string, main = program): ArchiveEntry[] {
  const manifest = `name = "notes"\nversion = "${version}"\n[run]\ncommand = "node"\nargs = ["main.mjs"]\n[capabilities]\n${capabilities}\n`;
  return [
    { path: 'package/extension.toml', content: manifest },
    { path: 'package/main.mjs', content: main },
    { path: 'package/registrations.json', content: JSON.stringify({ tools: [TOOL] }) },
  ];
}

test('an extension is installed with consent, updated, rolled back and removed while the gateway runs', async () => {
  verifies('sep:install');
  await using registry = await openRegistry();
  const home = temporaryHome();
  writeFileSync(join(home, 'tenon.toml'), `[extensions]\nregistry = "${registry.url}"\n`);
  await using gateway = await startGatewayProcess({ home });
  assert.equal(gateway.home, home);
  const json = async (...words: string[]) => {
    const { code, stdout, stderr } = await tenon(home, '--json', ...words);
    return { code, stderr, ...(stdout === '' ? {} : (JSON.parse(stdout) as Record<string, unknown>)) } as Record<string, unknown>;
  };
  const plugin = async (): Promise<Plugin | undefined> => {
    const { plugins } = (await json('plugin', 'ls')) as unknown as { plugins: Plugin[] };
    return plugins.find(({ id }) => id === 'notes');
  };
  const keywords = { more: { keywords: ['tenon-extension'], description: 'Keeps notes' } };
  registry.publish('notes', '1.0.0', notes('1.0.0', 'tools = true\ncommands = true'), keywords);

  const { hits } = (await json('ext', 'search', 'notes')) as { hits?: { source: string }[] };
  assert.deepEqual(
    hits?.map(({ source }) => source),
    ['npm:notes'],
  );
  const unasked = await json('ext', 'install', 'npm:notes');
  assert.deepEqual([unasked.code, unasked.enabled, unasked.next], [6, false, 'tenon ext trust notes --yes'], String(unasked.stderr));
  assert.equal((await plugin())?.state, 'off', 'nobody was asked, so it is off');

  const installed = await tenon(home, 'ext', 'install', 'npm:notes', '--yes');
  assert.equal(installed.stdout, 'notes 1.0.0 is installed already, loaded\n', installed.stderr);
  assert.match(installed.stderr, /Downloading notes 1\.0\.0 …\n/);
  assert.match(
    installed.stderr,
    /archive {2}sha512-.*\n {2}files {4}[0-9a-f]{64}\nIt asks for:\n {2}tools\.register: Give the agent tools\./,
  );
  assert.equal((await plugin())?.state, 'loaded');

  assert.equal((await tenon(home, 'plugin', 'revoke', 'notes', 'commands.register')).code, 0);
  registry.publish('notes', '2.0.0', notes('2.0.0', 'tools = true\ncommands = true\nhooks = ["tool_call"]'), keywords);
  const refused = await json('ext', 'update', 'notes');
  assert.deepEqual([refused.code, (await plugin())?.version], [6, '1.0.0'], 'nothing changes before somebody agrees');
  const updated = await tenon(home, 'ext', 'update', '--yes');
  assert.equal(updated.stdout, 'notes 2.0.0 is installed in place of 1.0.0, loaded\n', updated.stderr);
  assert.match(updated.stderr, /new: hooks\.intercept:before_tool_call/);
  assert.match(updated.stderr, /1 file differs:\n {2}changed {2}extension\.toml\n/);
  const now = await plugin();
  assert.deepEqual([now?.version, now?.state], ['2.0.0', 'loaded']);
  assert.deepEqual(
    ['tools.register', 'commands.register', 'hooks.intercept:before_tool_call'].map((grant) => now?.granted.includes(grant)),
    [true, false, true],
    'what was taken away stays away',
  );

  registry.publish('notes', '3.0.0', notes('3.0.0', 'tools = true', 'process.exit(3);\n'), keywords);
  const broken = await json('ext', 'update', 'notes', '--yes');
  const [told] = broken.updates as { version: string; next: string }[];
  assert.deepEqual([broken.code, told?.version, told?.next], [1, '3.0.0', 'tenon ext rollback notes']);
  const back = await json('ext', 'rollback', 'notes', '--yes');
  assert.deepEqual([back.code, back.version, back.replaced, back.state], [0, '2.0.0', '3.0.0', 'loaded'], String(back.stderr));
  assert.equal((await plugin())?.version, '2.0.0');

  assert.equal((await json('ext', 'rm', 'notes')).code, 6);
  const removed = await json('ext', 'rm', 'notes', '--yes');
  assert.deepEqual([removed.code, removed.removed, removed.forgotten, await plugin()], [0, true, true, undefined], String(removed.stderr));
  const again = await json('ext', 'install', 'npm:notes@1.0.0', '--no-enable');
  assert.deepEqual([again.code, (await plugin())?.state], [0, 'off'], 'nothing that was decided about it is left');
  const wrong = await tenon(home, '--json', 'ext', 'install', 'npm:../x');
  assert.deepEqual([wrong.code, (JSON.parse(wrong.stderr) as { code: string }).code], [2, 'USAGE']);
});

test('the name of a plugin is no name for an extension: it is not installed, and removing one leaves the plugin as it is', async () => {
  const home = temporaryHome();
  const folder = join(home, 'source');
  mkdirSync(folder);
  writeFileSync(join(folder, 'extension.toml'), 'name = "webchat"\nversion = "1.0.0"\n[run]\ncommand = "sleep"\nargs = ["100"]\n');
  // No gateway runs, so nobody knows the names of plugins.
  assert.equal((await tenon(home, 'ext', 'install', folder)).code, 0);
  await using gateway = await startGatewayProcess({ home });
  assert.equal(gateway.home, home);
  const webchat = async () => {
    const { plugins } = JSON.parse((await tenon(home, '--json', 'plugin', 'ls')).stdout) as { plugins: Plugin[] };
    return plugins.filter(({ id }) => id === 'webchat').map(({ state }) => state);
  };
  assert.deepEqual(await webchat(), ['loaded', 'rejected']);
  const removed = await tenon(home, 'ext', 'rm', 'webchat', '--yes', '--json');
  assert.equal(removed.stdout, '{"name":"webchat","version":"1.0.0","removed":true,"forgotten":false}\n', removed.stderr);
  assert.deepEqual(await webchat(), ['loaded']);
  const refused = await tenon(home, 'ext', 'install', folder, '--yes');
  assert.match(refused.stderr, /"webchat" is the name of a plugin \(give the extension another one in its manifest\)/);
  assert.equal(refused.code, 1);
  assert.deepEqual(await webchat(), ['loaded']);
});
