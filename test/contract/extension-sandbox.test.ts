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
import { pluginFindings } from '../../packages/gateway/src/rpc/doctor.ts';
import { grantRow, UNCONFINED_GRANT } from '@tenon/protocol';
import { openHostWorld } from '../support/plugins.ts';
import { verifies } from '../support/verifies.ts';
import { cleanUp } from '../support/clean-up.ts';
import { toolCall, until, withExtensions, writeExtension } from '../support/written-extension.ts';

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

/** A machine on which these tools do not work; everything else is started as it is. */
const without = (...tools: string[]) =>
  ((command: string, ...more: unknown[]) =>
    (spawn as (...given: unknown[]) => unknown)(
      tools.some((tool) => command.endsWith(`/${tool}`)) ? '/no/such/tool' : command,
      ...more,
    )) as unknown as typeof spawn;
const onMachineWithout = (...tools: string[]) => ({
  extensions: { ...withExtensions.extensions, sandbox: 'auto' as const, spawn: without(...tools) },
});
const noSandbox = onMachineWithout('bwrap', 'setpriv', 'unshare');
const TOOLS = '[capabilities]\ntools = true';

test('S38: where bubblewrap does not work, unshare confines extensions without anybody asking for it', async () => {
  verifies('S38:unconfined', 'sep:G30');
  await using world = await openHostWorld();
  writeExtension(world, 'probe', { fixture: 'probe.mjs', manifest: TOOLS });
  writeFileSync(join(world.home, 'token'), 'canary');
  const host = await world.open(onMachineWithout('bwrap'));
  const { state, reason, process: shown } = await host.enable('probe', BY);
  const { kind } = await detectSandbox(without('bwrap'), systemClock);
  if (kind === 'none') return assert.match(reason ?? '', /it would run unconfined/);
  assert.deepEqual([state, shown?.sandboxed, shown?.sandbox], ['loaded', true, 'unshare']);
  assert.equal(await asking(host)('isThere', { path: join(world.home, 'token') }), 'false');
});

test('S38: where no sandbox works, an extension does not start until it is allowed by name, and that holds for these files only', async () => {
  verifies('S38:unconfined');
  await using world = await openHostWorld();
  writeExtension(world, 'probe', { fixture: 'probe.mjs', manifest: TOOLS });
  let host = await world.open(noSandbox);
  const starts = () => world.logged.filter(({ message, state }) => message === 'an extension has changed' && state === 'starting').length;
  const refused = await host.enable('probe', BY);
  assert.deepEqual([refused.state, refused.process?.state, refused.process?.sandboxed, starts()], ['failed', 'stopped', false, 0]);
  assert.match(
    refused.reason!,
    /^it would run unconfined, with your rights, and you have not allowed that: tenon ext trust probe --unconfined \(no /,
  );
  assert.match(refused.process?.sandbox ?? '', /no sandbox works here/);
  assert.deepEqual([refused.asked.at(-1), refused.granted.includes(UNCONFINED_GRANT)], [UNCONFINED_GRANT, false]);
  assert.equal(grantRow(UNCONFINED_GRANT)?.wide, true);

  const allowed = await host.grant('probe', [UNCONFINED_GRANT], BY);
  assert.deepEqual([allowed.state, allowed.process?.sandboxed], ['loaded', false], allowed.reason);
  assert.equal(await asking(host)('isThere', { path: world.home }), 'true');
  const audit = await world.store.read('audit.list', { limit: 50 });
  assert.ok(
    audit.some(({ target, details }) => target === 'probe' && JSON.stringify(details).includes(UNCONFINED_GRANT)),
    'on record',
  );

  // The next gateway knows; one with a sandbox does not ask for it.
  host = await world.open(noSandbox);
  await until(() => host.get('probe')?.state === 'loaded');

  const { pid } = host.get('probe')!.process!;
  const taken = await host.revoke('probe', [UNCONFINED_GRANT], BY);
  assert.deepEqual([taken.state, taken.process?.state], ['failed', 'stopped']);
  assert.throws(() => process.kill(pid!, 0), 'nothing of it runs on');

  assert.equal((await host.enable('probe', { ...BY, grants: ['tools.register', UNCONFINED_GRANT] })).state, 'loaded');
  // Other files: a new version is not allowed what the old one was.
  writeExtension(world, 'probe', { fixture: 'probe.mjs', manifest: TOOLS, files: { 'more.txt': 'new' } });
  await host.reload(undefined, BY);
  assert.equal(host.get('probe')?.state, 'changed');
  const updated = await host.enable('probe', BY);
  assert.deepEqual([updated.state, updated.granted.includes(UNCONFINED_GRANT)], ['failed', false]);

  const strict = await world.open({ extensions: { ...noSandbox.extensions, sandbox: 'require' } });
  await until(() => strict.get('probe')?.state === 'failed');
  assert.match(strict.get('probe')!.reason!, /extensions\.sandbox is require, and no sandbox works here/);
  assert.ok(!strict.get('probe')!.asked.includes(UNCONFINED_GRANT));
});

test('S38: what is taken back of the machine is gone, also where the new process is no good', async () => {
  verifies('S38:unconfined');
  await using world = await openHostWorld();
  const manifest = '[capabilities]\ntools = true\nnet = true';
  // The second of its processes does not introduce itself.
  const once = join(world.home, 'once');
  writeExtension(world, 'probe', { fixture: 'probe.mjs', manifest, run: `env = { ONCE = ${JSON.stringify(once)} }` });
  const host = await world.open(withExtensions);
  const { state, reason, process: running } = await host.enable('probe', BY);
  assert.equal(state, 'loaded', reason);
  writeFileSync(once, '');
  const taken = await host.revoke('probe', ['extension.use:net'], BY);
  assert.notEqual(taken.process?.pid, running?.pid);
  assert.throws(() => process.kill(running!.pid!, 0), 'the process that had it is gone');
});

test('with extensions.sandbox off all of them run unconfined, and it is said', async () => {
  verifies('sep:G30', 'S38:unconfined');
  await using world = await openHostWorld();
  writeExtension(world, 'probe', { fixture: 'probe.mjs', manifest: TOOLS });
  const host = await world.open(withExtensions);
  const { process: shown, asked } = await host.enable('probe', BY);
  assert.deepEqual([shown?.state, shown?.sandboxed, shown?.sandbox], ['ready', false, 'extensions.sandbox is off']);
  assert.ok(!asked.includes(UNCONFINED_GRANT), 'that is decided for all');
  assert.equal(await asking(host)('isThere', { path: world.home }), 'true');
  const findings = await pluginFindings(host);
  assert.ok(
    findings.some(({ severity, message }) => severity === 'warning' && /^Extension probe runs unconfined, with your rights/.test(message)),
  );
});
