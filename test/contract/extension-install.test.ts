// Extensions onto the disk and off it: from a folder, a registry and a git repository, all of them on this machine.
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { findExtensions } from '../../packages/gateway/src/host/sep/find/find-extensions.ts';
import { holdStore } from '../../packages/gateway/src/install/hold-store.ts';
import { searchExtensions } from '../../packages/gateway/src/install/search.ts';
import { integrityOf, tgz } from '../support/archives.ts';
import { makeRepository, serveGit } from '../support/git-repository.ts';
import { installWorld } from '../support/install-world.ts';
import { extensionFiles, openRegistry } from '../support/registry.ts';
import { verifies } from '../support/verifies.ts';

const manifest = (name: string, version: string) =>
  `name = "${name}"\nversion = "${version}"\n[run]\ncommand = "node"\nargs = ["main.mjs"]\n`;

function writeExtension(folder: string, version: string, more: Readonly<Record<string, string>> = {}): string {
  mkdirSync(folder, { recursive: true });
  for (const [name, content] of Object.entries({ 'extension.toml': manifest('notes', version), 'main.mjs': '// notes\n', ...more }))
    writeFileSync(join(folder, name), content);
  return folder;
}

test('from a folder: copied whole, found by the host, updated, rolled back and removed', async (t) => {
  verifies('seed3:install', 'sep:install');
  const world = installWorld(t);
  const folder = writeExtension(join(world.home, 'mine', 'my notes'), '1.0.0', { 'run.sh': '#!/bin/sh\n' });
  chmodSync(join(folder, 'run.sh'), 0o755);
  mkdirSync(join(folder, '.git'));
  writeFileSync(join(folder, '.git', 'config'), '');
  symlinkSync('main.mjs', join(folder, 'index.mjs'));
  const first = await world.install('./mine/my notes');
  assert.deepEqual([first.name, first.version.version, first.version.source, first.isSame], ['notes', '1.0.0', folder, false]);
  assert.equal(world.text('notes', 'index.mjs'), '// notes\n');
  const installed = join(world.home, 'extension-store', 'notes', first.version.folder);
  assert.deepEqual(readdirSync(installed).sort(), ['extension.toml', 'index.mjs', 'main.mjs', 'run.sh']);
  const { found } = await findExtensions(join(world.home, 'extensions'), world.deps.uid, [{ name: 'notes', folder: installed }]);
  assert.deepEqual(
    found.map((each) => each.manifest.name),
    ['notes'],
  );

  assert.equal((await world.install(folder)).isSame, true, 'the same files again');
  writeExtension(folder, '1.1.0', { 'more.mjs': '' });
  const second = await world.update('notes');
  assert.deepEqual([second.version.version, second.replaced?.version], ['1.1.0', '1.0.0']);
  const changes = world.shown.at(-1)!.replaces!.files;
  assert.deepEqual(
    changes.map(({ path, change }) => `${change} ${path}`),
    ['changed extension.toml', 'added more.mjs'],
  );

  const back = await world.rollBack('notes');
  assert.deepEqual([back.version.version, back.version.treeHash], ['1.0.0', first.version.treeHash]);
  assert.match(world.text('notes', 'extension.toml'), /1\.0\.0/);
  assert.equal((await world.rollBack('notes')).version.version, '1.1.0', 'and forth again');
  await world.remove('notes');
  await assert.rejects(world.install('.'), { code: 'REFUSED', message: /the home folder is in it/ });
  assert.deepEqual([world.lock().extensions, world.stored()], [{}, []]);
  await assert.rejects(world.rollBack('notes'), { code: 'NOT_FOUND' });
});

test('from a registry: by tag and by version, with its scope, the archive in the lock file', async (t) => {
  verifies('seed3:install', 'sep:install');
  await using registry = await openRegistry();
  const world = installWorld(t, { registry: registry.url });
  registry.publish('@me/tenon-notes', '1.0.0', extensionFiles('notes', '1.0.0'));
  const first = await world.install('npm:@me/tenon-notes');
  const { current } = world.lock().extensions.notes!;
  assert.deepEqual(current, first.version);
  assert.equal(current.resolved, `${registry.url}/@me/tenon-notes/-/tenon-notes-1.0.0.tgz`);
  assert.equal(current.integrity, integrityOf(tgz(extensionFiles('notes', '1.0.0'))));
  assert.ok(world.steps.some(({ doing, done, total, unit }) => /Downloading/.test(doing) && unit === 'bytes' && done === total));
  registry.publish('@me/tenon-notes', '2.0.0', extensionFiles('notes', '2.0.0'));
  assert.equal((await world.update('notes')).version.version, '2.0.0');
  assert.equal((await world.install('npm:@me/tenon-notes@1.0.0')).version.version, '1.0.0');
  assert.equal((await world.update('notes')).isSame, true, 'one that is pinned stays');
  await assert.rejects(world.install('npm:@me/tenon-notes@9.9.9'), { code: 'NOT_FOUND' });
  await assert.rejects(world.install('npm:nothing'), { code: 'NOT_FOUND' });
});

test('from a git repository: a branch, a tag and a commit, as a folder and over HTTP', async (t) => {
  verifies('seed3:install', 'sep:install');
  const world = installWorld(t);
  const repository = makeRepository(join(world.home, 'hosted', 'me', 'notes'));
  const files = (version: string) => ({
    'extension.toml': manifest('notes', version),
    'main.mjs': `// ${version}\n`,
    '.gitattributes': '* text\n',
  });
  const one = repository.commit(files('1.0.0'));
  repository.git('tag', 'v1.0.0');
  const two = repository.commit(files('2.0.0'));
  const first = await world.install('git:./hosted/me/notes@v1.0.0');
  assert.deepEqual([first.version.commit, world.text('notes', 'main.mjs')], [one, '// 1.0.0\n']);
  assert.equal((await world.install(`git:${repository.folder}@main`)).version.commit, two);
  await world.remove('notes');
  await using server = await serveGit(join(world.home, 'hosted'));
  const served = await world.install(`git:${server.url}/me/notes@${one}`);
  assert.deepEqual([served.version.commit, served.version.resolved], [one, `${server.url}/me/notes`]);
  assert.equal((await world.install(`git:${server.url}/me/notes`)).version.version, '2.0.0');
  await assert.rejects(world.install(`git:${server.url}/me/notes@nowhere`), { code: 'FETCH', message: /nowhere/ });
  await assert.rejects(world.install(`git:${server.url}/me/other`), { code: 'FETCH' });
});

test('what package.json depends on is fetched from the registry, with what that depends on', async (t) => {
  verifies('sep:install');
  await using registry = await openRegistry();
  const world = installWorld(t, { registry: registry.url });
  const library = (name: string, dependencies: object) => [
    { path: 'package/package.json', content: JSON.stringify({ name, version: '1.0.0', dependencies, main: 'index.js' }) },
    { path: 'package/index.js', content: `module.exports = '${name}';` },
  ];
  registry.publish('shapes', '1.0.0', library('shapes', { lines: '^1.0.0' }), { more: { dependencies: { lines: '^1.0.0' } } });
  registry.publish('lines', '1.0.0', library('lines', {}));
  const [, ...rest] = extensionFiles('notes', '1.0.0');
  const own = { name: 'notes', version: '1.0.0', dependencies: { shapes: '^1.0.0' }, devDependencies: { typescript: '*' } };
  registry.publish('notes', '1.0.0', [{ path: 'package/package.json', content: JSON.stringify(own) }, ...rest]);
  await world.install('npm:notes');
  assert.match(world.text('notes', 'node_modules/shapes/index.js'), /shapes/);
  assert.match(world.text('notes', 'node_modules/lines/index.js'), /lines/);
  assert.ok(!registry.asked.some((path) => path.includes('typescript')));

  registry.asked.length = 0;
  const bundled = { path: 'package/node_modules/shapes/package.json', content: JSON.stringify({ name: 'shapes', version: '1.0.0' }) };
  registry.publish('notes', '1.1.0', [{ path: 'package/package.json', content: JSON.stringify(own) }, ...rest, bundled]);
  await world.update('notes');
  assert.ok(!registry.asked.some((path) => path.startsWith('/shapes')), 'one that brings it along needs nobody');

  for (const elsewhere of ['git+https://git.example/me/shapes', 'file:../../shapes', 'https://files.example/shapes.tgz', 'npm:lines@1']) {
    const pointing = { ...own, dependencies: { shapes: elsewhere } };
    registry.publish('notes', '2.0.0', [{ path: 'package/package.json', content: JSON.stringify(pointing) }, ...rest]);
    await assert.rejects(world.update('notes'), { code: 'REFUSED', message: /not the registry/ });
  }
});

test('a name belongs to whoever was installed under it, or was put there by hand', async (t) => {
  verifies('sep:install');
  await using registry = await openRegistry();
  const world = installWorld(t, { registry: registry.url });
  registry.publish('notes', '1.0.0', extensionFiles('notes', '1.0.0'));
  await world.install('npm:notes');
  const folder = writeExtension(join(world.home, 'mine'), '9.0.0');
  await assert.rejects(world.install(folder), { code: 'CONFLICT', message: /installed from npm:notes/ });
  assert.equal(world.lock().extensions.notes!.current.version, '1.0.0');
  await world.remove('notes');
  writeExtension(join(world.home, 'extensions', 'notes'), '3.0.0');
  await assert.rejects(world.install(folder), { code: 'CONFLICT', message: /nobody installed/ });
});

test('what was not agreed to changes nothing; a second one waits outside; what was left behind is swept', async (t) => {
  verifies('sep:install');
  const world = installWorld(t);
  const folder = writeExtension(join(world.home, 'mine'), '1.0.0');
  await world.install(folder);
  const before = readFileSync(join(world.home, 'extensions.lock'), 'utf8');
  writeExtension(folder, '2.0.0');
  const no = () => Promise.reject(new Error('no'));
  await assert.rejects(world.update('notes', no), /^Error: no$/);
  assert.equal(readFileSync(join(world.home, 'extensions.lock'), 'utf8'), before);
  assert.deepEqual(world.stored(), ['notes']);
  {
    using _held = holdStore(world.home);
    await assert.rejects(world.update('notes'), { code: 'LOCKED', exitCode: 3 });
  }
  mkdirSync(join(world.home, 'extension-store', '.staging-0'));
  mkdirSync(join(world.home, 'extension-store', 'notes', 'left-0'));
  mkdirSync(join(world.home, 'extension-store', 'other'), { mode: 0o500 });
  await world.update('notes');
  assert.deepEqual(world.stored(), ['notes']);
  assert.equal(readdirSync(join(world.home, 'extension-store', 'notes')).length, 2, 'this version and the one before');
});

test('a lock file that cannot be read, and an older version that is not what it was, are named', async (t) => {
  verifies('sep:install');
  const world = installWorld(t);
  const folder = writeExtension(join(world.home, 'mine'), '1.0.0');
  await world.install(folder);
  writeExtension(folder, '2.0.0');
  await world.install(folder);
  const { previous } = world.lock().extensions.notes!;
  writeFileSync(join(world.home, 'extension-store', 'notes', previous!.folder, 'main.mjs'), '// other\n');
  await assert.rejects(world.rollBack('notes'), { code: 'REFUSED', message: new RegExp(`${previous!.treeHash}$`) });
  writeFileSync(join(world.home, 'extensions.lock'), '{"version":1,"extensions":{"../x":{}}}');
  await assert.rejects(world.update('notes'), { code: 'REFUSED', message: /extensions\.lock/ });
  assert.deepEqual(world.stored(), ['notes'], 'nothing is swept by a file that nobody can read');
});

test('search: the index file and both keywords of the registry; what cannot be asked is told', async (t) => {
  verifies('seed3:search', 'sep:install');
  await using registry = await openRegistry();
  const world = installWorld(t, { registry: registry.url });
  const publish = (name: string, keywords: string[], description: string) =>
    registry.publish(name, '1.2.3', extensionFiles(name, '1.2.3'), { more: { keywords, description } });
  publish('notes-a', ['tenon-extension'], 'notes in markdown');
  publish('notes-b', ['smooth-extension', 'tenon-extension'], 'notes elsewhere');
  publish('notes-c', ['other'], 'notes of nobody');
  const file = join(world.home, 'extensions-index.json');
  const entry = { name: 'notes', description: 'Notes, kept here', keywords: ['memory'], source: 'git:git.example/me/notes' };
  writeFileSync(file, JSON.stringify({ extensions: [entry, { name: 'mail', source: 'npm:mail' }] }));
  const search = (words: string[], index = { file, isNamed: false }) => searchExtensions(words, { ...world.deps, index });
  const sources = async (...words: string[]) => (await search(words)).hits.map(({ source }) => source);
  assert.deepEqual(await sources('notes'), ['git:git.example/me/notes', 'npm:notes-a', 'npm:notes-b']);
  assert.deepEqual(await sources('memory'), ['git:git.example/me/notes']);
  assert.deepEqual(await sources('markdown'), ['npm:notes-a']);
  registry.intercept = (_, response) => {
    response.writeHead(503).end();
    return true;
  };
  const half = await search(['notes']);
  assert.deepEqual([half.hits.length, half.failed], [1, [`${registry.url} answered with 503`]]);
  await assert.rejects(search(['notes'], { file: join(world.home, 'none.json'), isNamed: true }), {
    code: 'FETCH',
    message: /none\.json.*503/s,
  });
});
