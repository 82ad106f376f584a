import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { checkFolder, type CheckedFolder } from './check-folder.ts';

const home = mkdtempSync(join(tmpdir(), 'tenon-check-'));
after(() => rmSync(home, { recursive: true, force: true }));

function folderOf(name: string, files: Readonly<Record<string, string>>): string {
  const folder = join(home, name);
  mkdirSync(folder, { mode: 0o755 });
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text, { mode: 0o644 });
  return folder;
}

const check = (folder: string) => checkFolder(folder, { uid: process.getuid?.(), env: { PATH: '/usr/bin:/bin' } });
const told = (faults: CheckedFolder['problems']) => faults.map(({ path, key, message }) => [path, key, message].filter(Boolean).join(' '));

test('a folder that is fit says what it would ask for, and what trust would be bound to', async () => {
  const folder = folderOf('fit', {
    'extension.toml': 'name = "fit"\nversion = "1"\n[run]\ncommand = "node"\nargs = ["main.mjs", "--fast"]\n[capabilities]\ntools = true\n',
    'main.mjs': '',
  });
  const checked = await check(folder);
  assert.deepEqual(
    [checked.problems, checked.notes, checked.asked, checked.manifest?.name],
    [[], [], ['tools.register', 'tools.narrow'], 'fit'],
  );
  assert.match(checked.treeHash ?? '', /^[0-9a-f]{64}$/);
  symlinkSync(folder, join(home, 'linked'));
  assert.equal((await check(join(home, 'linked'))).folder, checked.folder, 'where somebody types a link, the folder itself is meant');
});

test('everything that is wrong with a manifest is named by its place, with what to do', async () => {
  const folder = folderOf('wrong', {
    'extension.toml': 'name = "No Name"\n[run]\nargs = ["x", 5]\n[capabilities]\ntools = "yes"\n[resources]\nskills = "../x"\n',
  });
  const { problems, manifest } = await check(folder);
  assert.equal(manifest, undefined);
  assert.deepEqual(
    problems.map(({ key }) => key),
    ['version', 'name', 'run.command', 'capabilities.tools', 'resources.skills', 'run.args.1'],
  );
  assert.equal(problems.find(({ key }) => key === 'capabilities.tools')?.hint, 'tools = true');
  assert.match(problems.find(({ key }) => key === 'run.command')?.hint ?? '', /\[run\]/);
});

test('what its process could not be started for is found before', async () => {
  const run = (text: string) => `name = "a"\nversion = "1"\n[run]\n${text}`;
  const missing = folderOf('missing', {
    'extension.toml': run('command = "sh"\nargs = ["-u", "main.sh"]\n[resources]\nskills = "skills"'),
  });
  assert.deepEqual(told((await check(missing)).problems), [
    'extension.toml run.args.1 names main.sh, which is not in the folder',
    'extension.toml resources.skills names skills, which is not a folder of the extension',
  ]);
  const nobody = folderOf('nobody', { 'extension.toml': run('command = "no-such-program-anywhere"') });
  assert.match(told((await check(nobody)).problems).join(), /run\.command names no-such-program-anywhere, which is not in PATH/);
  const own = folderOf('own', { 'extension.toml': run('command = "./start.sh"'), 'start.sh': '#!/bin/sh\n' });
  assert.match(told((await check(own)).problems).join(), /names \.\/start\.sh, which is not a program that can be run/);
  chmodSync(join(own, 'start.sh'), 0o755);
  assert.deepEqual((await check(own)).problems, []);
  const loader = folderOf('loader', { 'extension.toml': run('command = "node"\nenv = { NODE_OPTIONS = "x" }') });
  assert.match(told((await check(loader)).problems).join(), /run\.env sets NODE_OPTIONS/);
});

test('what is not known, or changes nothing here, is noted', async () => {
  const folder = folderOf('noted', {
    'package.json': JSON.stringify({
      name: '@me/noted',
      version: '1.0.0',
      tenon: { run: { command: 'node', shell: true }, capabilities: { tool: true, events: ['turn_ende', 'my own'] } },
    }),
  });
  const { problems, notes, manifest } = await check(folder);
  assert.deepEqual([problems, manifest?.name], [[], 'noted']);
  assert.deepEqual(told(notes), [
    'package.json run.shell is not known, and changes nothing',
    'package.json capabilities.tool is not known, and changes nothing',
    'package.json capabilities.events names turn_ende, and there is no such event (did you mean "turn_end"?)',
    'package.json capabilities.events names my own, and there is no such event',
  ]);
  assert.equal(notes[1]?.hint, 'did you mean tools?');
});

test('a folder that is none, has no manifest, has one that cannot be read, or that others can write to', async () => {
  assert.match(told((await check(join(home, 'nothing'))).problems).join(), /nothing is not there/);
  writeFileSync(join(home, 'file'), '');
  assert.match(told((await check(join(home, 'file'))).problems).join(), /file is not a folder/);
  assert.deepEqual(told((await check(folderOf('empty', {}))).problems), ['extension.toml is not there']);
  assert.match(
    told((await check(folderOf('toml', { 'extension.toml': 'name = ' }))).problems).join(),
    /is not TOML that can be read in line 1: /,
  );
  assert.match(told((await check(folderOf('pack', { 'package.json': '{}' }))).problems).join(), /says nothing of an extension/);
  const open = folderOf('open', { 'extension.toml': 'name = "open"\nversion = "1"\n[run]\ncommand = "node"\n', 'data.json': '{}' });
  chmodSync(join(open, 'data.json'), 0o666);
  assert.match(told((await check(open)).problems).join(), /everybody can write to data\.json; run chmod o-w on it/);
  symlinkSync('/etc/passwd', join(folderOf('away', { 'extension.toml': 'name = "away"\nversion = "1"\n[run]\ncommand = "node"\n' }), 'x'));
  assert.match(told((await check(join(home, 'away'))).problems).join(), /x is a link that leaves the folder/);
});
