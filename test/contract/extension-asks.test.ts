// What a plain manifest leaves open is asked once, when the process says it; and a program that is pinned is the one that is started.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { chmodSync, copyFileSync, mkdirSync, readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pluginFindings } from '../../packages/gateway/src/rpc/doctor.ts';
import { openHostWorld, put, SESSION } from '../support/plugins.ts';
import { verifies } from '../support/verifies.ts';
import { until, withExtensions, writeExtension } from '../support/written-extension.ts';

const BY = { by: 'test' };
const EVENT = { sessionKey: SESSION, toolName: 'exec', toolCallId: 'c', params: {} };
const WANTED = ['hooks.intercept:before_tool_call', 'hooks.observe:session_start'];

test('an extension whose hooks nobody has granted does not run, says what it needs, and is not started again to find out', async () => {
  verifies('sep:manifest', 'sep:G2', 'sep:gate:hooks');
  await using world = await openHostWorld();
  writeExtension(world, 'gate', {
    fixture: 'notes.mjs',
    files: {
      'registrations.json': JSON.stringify({ hooks: ['tool_call'], subscriptions: ['session_start'] }),
      'answers.json': JSON.stringify({ hooks: { tool_call: { action: 'block', reason: 'not today' } } }),
    },
  });
  const starts = () => world.logged.filter(({ message, state }) => message === 'an extension has changed' && state === 'ready').length;
  let host = await world.open(withExtensions);
  assert.deepEqual(host.get('gate')?.asked, []);
  const first = await host.enable('gate', BY);
  assert.deepEqual([first.state, first.asked, first.granted, first.missing], ['ungranted', WANTED, [], WANTED.slice(0, 1)]);
  assert.match(first.reason!, /does not run.*: tenon ext grant gate hooks\.intercept:before_tool_call$/);
  assert.deepEqual([first.process?.state, first.registrations], ['stopped', []]);
  assert.deepEqual((await host.changes('gate')).grants, { added: WANTED, removed: [] });
  assert.equal((await world.hooks.run('before_tool_call', EVENT)).kind, 'done', 'nobody has agreed that it blocks');
  const findings = await pluginFindings(host);
  assert.deepEqual(
    findings.flatMap(({ message, remedy }) => (message.startsWith('Extension gate') ? [[message, remedy]] : [])),
    [['Extension gate does not run: its hooks need what you have not granted', 'tenon ext grant gate hooks.intercept:before_tool_call']],
  );

  // What it asked for is known to the next gateway, and need not be found out again.
  host = await world.open(withExtensions);
  await host.started;
  assert.deepEqual([host.get('gate')?.state, host.get('gate')?.asked, starts()], ['ungranted', WANTED, 1]);
  const on = await host.grant('gate', WANTED.slice(0, 1), BY);
  assert.deepEqual([on.state, on.granted], ['loaded', WANTED.slice(0, 1)], 'events are not what it runs for');
  assert.equal((await world.hooks.run('before_tool_call', EVENT)).kind, 'refused');
  host = await world.open(withExtensions);
  await until(() => host.get('gate')?.state === 'loaded');
  assert.equal((await world.hooks.run('before_tool_call', EVENT)).kind, 'refused', 'and is not asked again');
  const without = await host.revoke('gate', WANTED.slice(0, 1), BY);
  assert.deepEqual([without.state, without.process?.state], ['ungranted', 'stopped'], 'without its hook it does not go on');
  assert.deepEqual((await host.enable('gate', BY)).granted, WANTED);
});

test('hooks that a plain manifest names among its events are asked for as hooks, before anything runs', async () => {
  verifies('sep:gate:hooks');
  await using world = await openHostWorld();
  writeExtension(world, 'gate', {
    fixture: 'notes.mjs',
    manifest: '[capabilities]\nevents = ["tool_call", "session_start", "message_end"]',
    files: {
      'registrations.json': JSON.stringify({ hooks: ['tool_call'], subscriptions: ['session_start'] }),
      'answers.json': JSON.stringify({ hooks: { tool_call: { action: 'block', reason: 'not today' } } }),
    },
  });
  const host = await world.open(withExtensions);
  const asked = host.get('gate')?.asked ?? [];
  assert.ok(
    WANTED.every((grant) => asked.includes(grant)),
    asked.join(),
  );
  assert.ok(
    asked.includes('hooks.intercept:before_message_write') && asked.includes('hooks.observe:llm_output'),
    'what is both is asked for as both',
  );
  assert.equal((await host.enable('gate', BY)).state, 'loaded');
  assert.equal((await world.hooks.run('before_tool_call', EVENT)).kind, 'refused');
});

test('SDKs register a name that is a hook and an event as both; a manifest that lists its hooks without it means the event', async () => {
  await using world = await openHostWorld();
  writeExtension(world, 'follower', {
    fixture: 'notes.mjs',
    manifest: '[capabilities]\nhooks = []\nevents = ["message_end"]',
    files: { 'registrations.json': JSON.stringify({ hooks: ['message_end'], subscriptions: ['message_end'] }) },
  });
  const host = await world.open(withExtensions);
  const { state, reason, process: running } = await host.enable('follower', BY);
  assert.equal(state, 'loaded', reason);
  assert.deepEqual(running?.follows, ['message_end']);
});

test('what a manifest does say binds: with a hook beside those that it names, an extension does not run', async () => {
  verifies('sep:gate:hooks');
  await using world = await openHostWorld();
  writeExtension(world, 'gate', {
    fixture: 'notes.mjs',
    manifest: '[capabilities]\nhooks = []\nevents = ["session_end"]',
    files: { 'registrations.json': JSON.stringify({ hooks: ['tool_call'], subscriptions: ['session_start'] }) },
  });
  const host = await world.open(withExtensions);
  const { asked, state, reason } = await host.enable('gate', BY);
  assert.ok(!asked.some((grant) => WANTED.includes(grant)));
  assert.equal(state, 'failed');
  assert.match(reason!, /does not ask for \(hooks\.intercept:before_tool_call\); name them in capabilities\.hooks/);
});

test('a program that the manifest pins is started only if it is that one', async () => {
  verifies('sep:manifest');
  await using world = await openHostWorld();
  const node = realpathSync(process.execPath);
  const sha256 = createHash('sha256').update(readFileSync(node)).digest('hex').toUpperCase();
  const write = (hash: string) =>
    writeExtension(world, 'pinned', { fixture: 'notes.mjs', run: `sha256 = "${hash}"`, files: { 'registrations.json': '{}' } });
  write('0'.repeat(64));
  const host = await world.open(withExtensions);
  const wrong = await host.enable('pinned', BY);
  assert.equal(wrong.state, 'failed');
  assert.match(wrong.reason!, /is not the one that its manifest pins: run\.sha256 is 0{64}, it has [0-9a-f]{64}/);
  write(sha256);
  await host.reload(undefined, BY);
  assert.equal((await host.enable('pinned', BY)).state, 'loaded');

  // One of its own is in the copy; another one in PATH that took its place meanwhile is not started again.
  const folder = write(sha256);
  const shell = realpathSync('/bin/sh');
  const bin = join(world.home, 'bin');
  const script = `#!${shell}\nexec "${node}" "$@"\n`;
  const pinned = createHash('sha256').update(script).digest('hex');
  put(
    join(folder, 'extension.toml'),
    `name = "pinned"\nversion = "1"\n[run]\ncommand = "starter"\nargs = ["main.mjs"]\nsha256 = "${pinned}"\n`,
  );
  mkdirSync(bin, { mode: 0o755 });
  const starter = join(bin, 'starter');
  put(starter, script);
  chmodSync(starter, 0o755);
  const second = await world.open({ extensions: { ...withExtensions.extensions, env: { ...process.env, PATH: `${bin}:/usr/bin:/bin` } } });
  const on = await second.enable('pinned', BY);
  assert.equal(on.state, 'loaded', on.reason);
  copyFileSync('/bin/true', starter);
  process.kill(on.process!.pid!, 'SIGKILL');
  await until(() => second.get('pinned')?.process?.state === 'failed');
  assert.match(second.get('pinned')!.process!.reason!, /starter is not the one any more that its manifest pins/);
});
