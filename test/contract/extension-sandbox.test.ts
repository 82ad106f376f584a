// What an extension reaches of the machine, for real where this machine has a sandbox; where it has none, that it is said.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '../../packages/gateway/src/kernel/clock.ts';
import { detectSandbox } from '../../packages/gateway/src/kernel/sandbox/sandbox.ts';
import type { PluginHost } from '../../packages/gateway/src/host/plugin-host.ts';
import { openHostWorld } from '../support/plugins.ts';
import { verifies } from '../support/verifies.ts';
import { cleanUp } from '../support/clean-up.ts';
import { toolCall, withExtensions, writeExtension } from '../support/written-extension.ts';

const BY = { by: 'test' };
const detected = await detectSandbox(spawn, systemClock);
const sandboxed = { extensions: { ...withExtensions.extensions, sandbox: 'require' as const } };

const asking =
  (host: PluginHost) =>
  async (deed: string, how: object = {}) =>
    String((await host.registry.findAny('tool', 'probe__do')!.item.execute({ deed, ...how }, toolCall())).content);

test('G30, S38: in the sandbox an extension reaches its own files, and of the machine what was asked for and granted', async (t) => {
  verifies('sep:G30', 'S38');
  await using world = await openHostWorld();
  const server = createServer((socket) => socket.end()).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  cleanUp(t, () => server.close());
  const { port } = server.address() as { port: number };
  // Where nothing of a home or a temporary folder lies.
  const shared = join(world.workspace, 'shared');
  mkdirSync(shared);
  writeFileSync(join(shared, 'in.txt'), 'for reading');
  writeFileSync(join(world.home, 'token'), 'canary');
  const manifest =
    '[capabilities]\ntools = true\nactive_tools = false\nnet = true\nfs = { read = ["workspace/shared"], write = ["workspace/out"] }';
  mkdirSync(join(world.workspace, 'out'));
  writeExtension(world, 'probe', { fixture: 'probe.mjs', manifest });
  const host = await world.open(sandboxed);
  assert.deepEqual(host.get('probe')?.asked, ['tools.register', 'extension.use:net', 'extension.use:files']);
  assert.deepEqual(host.get('probe')?.process?.reach, { net: true, read: ['workspace/shared'], write: ['workspace/out'] });
  const narrow = await host.enable('probe', { ...BY, grants: ['tools.register'] });
  if (detected.kind === 'none') {
    assert.deepEqual([narrow.state, narrow.process?.sandboxed], ['failed', false]);
    return assert.match(narrow.reason!, /extensions\.sandbox is require, and no sandbox works here/);
  }
  assert.equal(narrow.state, 'loaded', narrow.reason);
  assert.deepEqual([narrow.process?.sandboxed, narrow.process?.sandbox], [true, detected.kind]);
  let ask = asking(host);
  assert.match(await ask('read', { path: 'main.mjs' }), /^\/\/ An extension that does/);
  assert.match(await ask('write', { path: 'main.mjs' }), /^no: E(ROFS|ACCES)/);
  assert.equal(await ask('write', { path: '/tmp/mine' }), 'done');
  assert.equal(await ask('isThere', { path: join(world.home, 'token') }), 'false');
  assert.equal(await ask('isThere', { path: shared }), 'false');
  assert.match(await ask('connect', { port }), /^no: /);
  assert.equal(await ask('isThere', { path: `/proc/${process.pid}/environ` }), 'false', 'S38');
  assert.ok(Number(await ask('processes')) < 12);
  const said = JSON.parse(await ask('environment')) as Record<string, string>;
  assert.deepEqual(
    Object.keys(said).filter((name) => !/^(PATH|HOME|LANG|LC_ALL|LC_CTYPE|TMPDIR|TERM|PWD|OLDPWD|SHLVL|_|TENON_EXTENSION_RUN)$/.test(name)),
    [],
  );

  await host.grant('probe', ['extension.use:net', 'extension.use:files'], BY);
  ask = asking(host);
  assert.equal(await ask('read', { path: join(shared, 'in.txt') }), 'for reading');
  assert.match(await ask('write', { path: join(shared, 'x') }), /^no: E(ROFS|ACCES)/);
  assert.equal(await ask('write', { path: join(world.workspace, 'out/x') }), 'done');
  assert.equal(readFileSync(join(world.workspace, 'out/x'), 'utf8'), 'written');
  assert.equal(await ask('connect', { port }), 'connected');
  assert.equal(await ask('isThere', { path: join(world.home, 'token') }), 'false');

  // What is taken back holds for the process too.
  const taken = await host.revoke('probe', ['extension.use:net'], BY);
  assert.equal(taken.process?.sandboxed, true);
  assert.match(await asking(host)('connect', { port }), /^no: /);

  writeExtension(world, 'probe', { fixture: 'probe.mjs', manifest: `[capabilities]\ntools = true\nfs = { read = ["${world.home}"] }` });
  await host.reload(undefined, BY);
  const { state, reason } = await host.enable('probe', BY);
  assert.equal(state, 'failed');
  assert.match(reason!, /reaches into the home of the gateway; no extension gets that/);
});

test('without a sandbox an extension runs as it is, and it is said why', async () => {
  verifies('sep:G30');
  await using world = await openHostWorld();
  writeExtension(world, 'probe', { fixture: 'probe.mjs', manifest: '[capabilities]\ntools = true' });
  const host = await world.open(withExtensions);
  const { process: shown } = await host.enable('probe', BY);
  assert.deepEqual([shown?.state, shown?.sandboxed, shown?.sandbox], ['ready', false, 'extensions.sandbox is off']);
  assert.equal(await asking(host)('isThere', { path: world.home }), 'true');
  const nothing = (() => spawn('/no/such/tool')) as unknown as typeof spawn;
  const none = await detectSandbox(nothing, systemClock, ['bubblewrap']);
  assert.deepEqual([none.kind, /bwrap: not installed/.test(none.reason)], ['none', true]);
});
