// Which folders are plugins, and which are not loaded: what discovery refuses, and what has changed since it was trusted. None of it
// runs code of a plugin.
import assert from 'node:assert/strict';
import { chmodSync, lchownSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { isGatewayError, KEEP, openHostWorld, put, writePlugin } from '../support/plugins.ts';
import { verifies } from '../support/verifies.ts';

const by = 'tester';

function chownAll(folder: string, uid: number): void {
  for (const name of readdirSync(folder)) lchownSync(join(folder, name), uid, uid);
  lchownSync(folder, uid, uid);
}

test('a level of the api that is not there is refused in words', async () => {
  verifies('seams:W12');
  await using world = await openHostWorld();
  writePlugin(world.place, { id: 'later', manifest: { api: 2, fancy: true } });
  const host = await world.open();
  assert.equal(host.get('later')?.state, 'rejected');
  assert.match(host.get('later')?.reason ?? '', /level 2 of the plugin API; this gateway has level 1/);
  await assert.rejects(host.enable('later', { by }), isGatewayError('INVALID_REQUEST', /level 2/));
  await assert.rejects(host.enable('nobody', { by }), isGatewayError('NOT_FOUND', /nobody/));
});

test('a plugin whose files changed in any way is not loaded until it is granted anew', async () => {
  verifies('S49');
  await using world = await openHostWorld();
  const folder = writePlugin(world.place, { id: 'one', grants: ['sessions.list'], register: KEEP });
  put(join(folder, 'data.txt'), 'a');
  mkdirSync(join(folder, 'empty'), { mode: 0o755 });
  let host = await world.open();
  await host.enable('one', { by });
  const changes: Record<string, () => void> = {
    'a byte': () => put(join(folder, 'data.txt'), 'b'),
    'a mode': () => chmodSync(join(folder, 'data.txt'), 0o600),
    'a name': () => renameSync(join(folder, 'data.txt'), join(folder, 'other.txt')),
    'a new file': () => put(join(folder, 'new.txt'), ''),
    'a folder that is gone': () => rmSync(join(folder, 'empty'), { recursive: true }),
    'a link inside': () => symlinkSync('new.txt', join(folder, 'link.txt')),
  };
  for (const [name, change] of Object.entries(changes)) {
    change();
    const runs = world.notes.length;
    host = await world.open();
    assert.equal(host.get('one')?.state, 'changed', name);
    assert.deepEqual(host.get('one')?.granted, [], name);
    assert.equal(host.holds('one', 'sessions.list'), false, name);
    assert.equal(world.notes.length, runs, `${name}: its code ran`);
    assert.equal((await host.enable('one', { by, grants: ['sessions.list'] })).state, 'loaded', name);
  }
});

test('what is not fit to be loaded is listed with the reason, and none of its code runs', async () => {
  verifies('S51');
  await using world = await openHostWorld();
  const { place, home } = world;
  const canary = `globalThis[Symbol.for('tenon.test.notes')].push('the canary ran');`;
  const bad = (id: string, manifest: Record<string, unknown> = {}, module = canary) => writePlugin(place, { id, module, manifest });
  const outside = join(home, 'outside');
  mkdirSync(outside);
  writePlugin(outside, { id: 'linked', module: canary });
  symlinkSync(join(outside, 'linked'), join(place, 'linked'));
  rmSync(join(bad('entry-out'), 'index.js'));
  symlinkSync(join(outside, 'linked', 'index.js'), join(place, 'entry-out', 'index.js'));
  rmSync(join(bad('manifest-link'), 'tenon.plugin.json'));
  symlinkSync(join(outside, 'linked', 'tenon.plugin.json'), join(place, 'manifest-link', 'tenon.plugin.json'));
  symlinkSync(outside, join(bad('tree-out'), 'elsewhere'));
  chmodSync(bad('open-folder'), 0o777);
  chmodSync(join(bad('open-entry'), 'index.js'), 0o666);
  put(join(bad('open-inside'), 'x.txt'), '');
  chmodSync(join(place, 'open-inside', 'x.txt'), 0o666);
  rmSync(join(bad('no-entry'), 'index.js'));
  bad('dots', { entry: '../outside/linked/index.js' });
  bad('big', { description: 'x'.repeat(300_000) });
  bad('trusts-itself', { enabled: true, trusted: true });
  bad('wrong-grant', { grants: ['everything.all'] });
  bad('wrong-hook', { grants: ['hooks.intercept:before_tool_cal'] });
  put(join(bad('wrong-json'), 'tenon.plugin.json'), '{\n  "id": "wrong-json",\n  "name" "Wrong"\n}\n');
  bad('bad-config', { configSchema: { $ref: 'file:///etc/passwd' } });
  bad('name', { id: 'Not An Id' });
  bad('kept', { id: 'gateway' });
  writePlugin(place, { id: 'twice-a', manifest: { id: 'twice' }, register: '' });
  bad('twice-b', { id: 'twice' });
  const host = await world.open();
  const reasons = Object.fromEntries(
    host
      .list()
      .filter(({ state }) => state === 'rejected')
      .map(({ folder, reason }) => [folder.split('/').at(-1), reason]),
  );
  const expected: Record<string, RegExp> = {
    linked: /is a link/,
    'entry-out': /leads out of the folder/,
    'manifest-link': /is a link/,
    'open-folder': /everybody can write to the folder/,
    'open-entry': /everybody can write to index\.js/,
    'no-entry': /entry is missing/,
    dots: /manifest\/entry must be/,
    big: /bytes/,
    'trusts-itself': /unknown field/,
    'wrong-grant': /"everything\.all", which does not exist/,
    'wrong-hook': /no hook "before_tool_cal" \(did you mean "before_tool_call"\?\)/,
    'wrong-json': /not valid JSON at line 3, column 10/,
    'bad-config': /configSchema cannot be used/,
    name: /manifest\/id must be/,
    kept: /kept for the gateway/,
    'twice-b': /belongs to the plugin in .*twice-a/,
  };
  for (const [name, pattern] of Object.entries(expected)) assert.match(reasons[name] ?? 'not there', pattern, name);
  assert.deepEqual(Object.keys(reasons).sort(), Object.keys(expected).sort());
  for (const id of ['tree-out', 'open-inside']) {
    await assert.rejects(host.enable(id, { by }), isGatewayError('INVALID_REQUEST', /leaves the folder|everybody can write/), id);
  }
  assert.equal(host.get('twice')?.state, 'off');
  assert.deepEqual(world.notes, []);
});

test('a folder of somebody else is refused', async () => {
  verifies('S51');
  await using world = await openHostWorld();
  writePlugin(world.place, { id: 'theirs' });
  // Files of root are everybody's to trust; where the tests run as root, nobody else owns any.
  if (process.getuid?.() === 0) chownAll(join(world.place, 'theirs'), 12_345);
  const host = await world.open({ uid: (process.getuid?.() ?? 0) + 1 });
  assert.match(host.get('theirs')?.reason ?? '', /belongs to another user/);
});

test('plugins that are named twice, by folder and by the folder of folders, are there once', async () => {
  await using world = await openHostWorld();
  writePlugin(world.place, { id: 'one' });
  const host = await world.open({ paths: ['plugins/one', 'plugins', join(world.home, 'nowhere')] });
  assert.deepEqual(
    host.list().map(({ id, state }) => `${id} ${state}`),
    ['one off', 'one rejected', 'nowhere rejected'],
  );
});
