// The file tools on a real folder.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
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
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { JsonObject } from '@tenon/protocol';
import { systemClock } from '../../../kernel/clock.ts';
import { randomId } from '../../../kernel/ids.ts';
import { createSpool } from '../spool.ts';
import type { PreparedCall, Tool, ToolOutput } from '../tool.ts';
import { applyPatchTool } from './apply-patch-tool.ts';
import { editTool } from './edit-tool.ts';
import { type FileDeps, keepHidden } from './file-deps.ts';
import { findTool } from './find-tool.ts';
import { compileGlob } from './glob.ts';
import { grepTool } from './grep-tool.ts';
import { lsTool } from './ls-tool.ts';
import { readTool } from './read-tool.ts';
import { writeTool } from './write-tool.ts';

interface World extends Disposable {
  readonly root: string;
  readonly base: string;
  readonly home: string;
  put(path: string, content: string | Buffer): void;
  get(path: string): string;
  prepare(make: (deps: FileDeps) => Tool, args: JsonObject): Promise<PreparedCall>;
  call(make: (deps: FileDeps) => Tool, args: JsonObject, signal?: AbortSignal): Promise<string>;
  output(make: (deps: FileDeps) => Tool, args: JsonObject): Promise<ToolOutput>;
}

function world(): World {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'tenon-files-')));
  const root = join(base, 'workspace');
  const home = join(base, 'home');
  for (const folder of [root, home]) mkdirSync(folder);
  writeFileSync(join(home, 'token'), 'canary-token');
  writeFileSync(join(base, 'outside.txt'), 'canary-outside');
  const deps: FileDeps = {
    clock: systemClock,
    newId: randomId,
    homes: keepHidden([home]),
    spool: createSpool(join(base, 'spool'), randomId),
  };
  const place = { sessionKey: 'agent:main:x', agentId: 'main', runId: 'r', callId: 'c', workspace: root };
  const prepare: World['prepare'] = async (make, args) => make(deps).prepare(args, place);
  const run = async (make: (deps: FileDeps) => Tool, args: JsonObject, signal = new AbortController().signal) =>
    (await prepare(make, args)).run({ signal, onUpdate() {} });
  return {
    root,
    base,
    home,
    prepare,
    put(path, content) {
      mkdirSync(join(root, path, '..'), { recursive: true });
      writeFileSync(join(root, path), content);
    },
    get: (path) => readFileSync(join(root, path), 'utf8'),
    output: (make, args) => run(make, args),
    async call(make, args, signal) {
      const [first] = (await run(make, args, signal)).content;
      return first?.type === 'text' ? first.text : '';
    },
    [Symbol.dispose]: () => rmSync(base, { recursive: true, force: true }),
  };
}

test('read shows a window with line numbers and says how to go on', async () => {
  using files = world();
  files.put('a.txt', 'one\ntwo\nthree\nfour\n');
  assert.equal(await files.call(readTool, { path: 'a.txt' }), '1\tone\n2\ttwo\n3\tthree\n4\tfour');
  assert.equal(
    await files.call(readTool, { path: 'a.txt', offset: 2, limit: 2 }),
    '2\ttwo\n3\tthree\n[Lines 2-3 of 4. Go on with offset 4]',
  );
  await assert.rejects(files.call(readTool, { path: 'a.txt', offset: 9 }), { code: 'OUT_OF_RANGE' });
  files.put('long.txt', `${'x'.repeat(3_000)}\n`.repeat(100));
  const text = await files.call(readTool, { path: 'long.txt' });
  assert.ok(Buffer.byteLength(text) < 52_000);
  assert.match(text, /line cut, 3000 characters/);
  assert.match(text, /Go on with offset \d+/);
  files.put('empty', '');
  assert.equal(await files.call(readTool, { path: 'empty' }), '[empty is empty]');
});

test('read knows images by their first bytes, and refuses other binary files', async () => {
  using files = world();
  const png = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0]);
  files.put('picture.txt', png);
  const { content } = await files.output(readTool, { path: 'picture.txt' });
  assert.deepEqual(content[1], { type: 'image', mimeType: 'image/png', data: png.toString('base64') });
  files.put('big.png', Buffer.concat([png, Buffer.alloc(4_000_000)]));
  await assert.rejects(files.call(readTool, { path: 'big.png' }), { code: 'TOO_LARGE' });
  files.put('not.png', Buffer.from([1, 0, 2]));
  await assert.rejects(files.call(readTool, { path: 'not.png' }), { code: 'BINARY' });
  files.put('latin.txt', Buffer.from([0xe9, 0x20]));
  await assert.rejects(files.call(readTool, { path: 'latin.txt' }), /UTF-8/);
  await assert.rejects(files.call(readTool, { path: 'gone' }), { code: 'NOT_FOUND' });
  await assert.rejects(files.call(readTool, { path: '.' }), { code: 'NOT_A_FILE' });
});

test('paths that lead out of the workspace are refused, by whatever way', async () => {
  using files = world();
  symlinkSync(files.base, join(files.root, 'up'));
  symlinkSync(join(files.base, 'outside.txt'), join(files.root, 'link.txt'));
  symlinkSync(join(files.base, 'new.txt'), join(files.root, 'dangling.txt'));
  symlinkSync('loop', join(files.root, 'loop'));
  files.put('plain.txt', 'x');
  const paths = [
    '../outside.txt',
    'up/outside.txt',
    'link.txt',
    join(files.base, 'outside.txt'),
    '/etc/hostname',
    'a/../../outside.txt',
    'dangling.txt',
    'up/new.txt',
    'up/deep/new.txt',
    '../new.txt',
  ];
  for (const path of paths) {
    for (const [tool, args] of [
      [readTool, { path }],
      [writeTool, { path, content: 'x' }],
      [editTool, { path, edits: [{ find: 'canary', replace: 'x' }] }],
      [applyPatchTool, { patch: `*** Begin Patch\n*** Add File: ${path}\n+x\n*** End Patch` }],
      [applyPatchTool, { patch: `*** Begin Patch\n*** Update File: plain.txt\n*** Move to: ${path}\n@@\n-x\n+y\n*** End Patch` }],
      [lsTool, { path }],
      [grepTool, { pattern: 'canary', path }],
    ] as [(deps: FileDeps) => Tool, JsonObject][])
      await assert.rejects(files.call(tool, args), { name: 'ToolError', code: 'OUTSIDE' }, `${tool.name} ${path}`);
  }
  for (const path of ['loop', 'plain.txt/x', 'a\0b', 'x'.repeat(5_000)])
    await assert.rejects(files.call(readTool, { path }), { name: 'ToolError' }, path.slice(0, 20));
  assert.deepEqual(readdirSync(files.base).sort(), ['home', 'outside.txt', 'spool', 'workspace']);
  assert.equal(readFileSync(join(files.base, 'outside.txt'), 'utf8'), 'canary-outside');
});

test('search and lists do not follow links and do not enter the folder of Tenon', async () => {
  using files = world();
  symlinkSync(files.base, join(files.root, 'up'));
  symlinkSync(join(files.base, 'outside.txt'), join(files.root, 'link.txt'));
  assert.equal(await files.call(grepTool, { pattern: 'canary' }), 'No matches');
  assert.equal(await files.call(findTool, { glob: '**' }), 'Nothing found');
  assert.equal(await files.call(lsTool, {}), 'link.txt  (link or device)\nup  (link or device)');
});

test("Tenon's folder stays hidden when a folder above it is renamed", async () => {
  using files = world();
  mkdirSync(join(files.root, 'deep', 'home'), { recursive: true });
  writeFileSync(join(files.root, 'deep', 'home', 'token'), 'canary-token');
  const hidden = keepHidden([join(files.root, 'deep', 'home')]);
  assert.deepEqual(await hidden(), [join(files.root, 'deep', 'home')]);
  renameSync(join(files.root, 'deep'), join(files.root, 'moved'));
  await assert.rejects(hidden(), { code: 'MOVED' });
  mkdirSync(join(files.root, 'deep', 'home'), { recursive: true });
  await assert.rejects(hidden(), { code: 'MOVED' }, 'another folder under the same name');
});

test('a FIFO or a device is refused at once', async () => {
  using files = world();
  execFileSync('mkfifo', [join(files.root, 'pipe')]);
  await assert.rejects(files.call(readTool, { path: 'pipe' }), { code: 'NOT_A_FILE' });
  await assert.rejects(files.call(writeTool, { path: 'pipe', content: 'x' }), { code: 'NOT_A_FILE' });
  assert.equal(await files.call(grepTool, { pattern: 'x' }), 'No matches');
});

test('a link that is put in place between check and use leads nowhere', async () => {
  using files = world();
  files.put('folder/a.txt', 'mine');
  const read = await files.prepare(readTool, { path: 'folder/a.txt' });
  const write = await files.prepare(writeTool, { path: 'folder/a.txt', content: 'new' });
  const deep = await files.prepare(writeTool, { path: 'folder/made/b.txt', content: 'new' });
  const list = await files.prepare(lsTool, { path: 'folder' });
  const io = { signal: new AbortController().signal, onUpdate() {} };
  rmSync(join(files.root, 'folder'), { recursive: true });
  symlinkSync(files.base, join(files.root, 'folder'));
  writeFileSync(join(files.base, 'a.txt'), 'canary');
  for (const call of [read, write, deep, list]) await assert.rejects(call.run(io), { name: 'ToolError' });
  assert.equal(readFileSync(join(files.base, 'a.txt'), 'utf8'), 'canary');
  assert.ok(!existsSync(join(files.base, 'made')));

  rmSync(join(files.root, 'folder'));
  files.put('outer/inner/a.txt', 'mine');
  const above = [
    await files.prepare(readTool, { path: 'outer/inner/a.txt' }),
    await files.prepare(writeTool, { path: 'outer/inner/a.txt', content: 'new' }),
    await files.prepare(lsTool, { path: 'outer/inner' }),
  ];
  rmSync(join(files.root, 'outer'), { recursive: true });
  mkdirSync(join(files.base, 'inner'));
  writeFileSync(join(files.base, 'inner', 'a.txt'), 'canary');
  symlinkSync(files.base, join(files.root, 'outer'));
  for (const call of above) await assert.rejects(call.run(io), { name: 'ToolError' });
  assert.equal(readFileSync(join(files.base, 'inner', 'a.txt'), 'utf8'), 'canary');

  files.put('folder/a.txt', 'mine');
  const again = await files.prepare(readTool, { path: 'folder/a.txt' });
  rmSync(join(files.root, 'folder/a.txt'));
  symlinkSync(join(files.base, 'a.txt'), join(files.root, 'folder/a.txt'));
  await assert.rejects(again.run(io), { code: 'CHANGED' });
});

test('write replaces the file whole, keeps its mode, makes folders and leaves no draft', async () => {
  using files = world();
  files.put('run.sh', 'old');
  chmodSync(join(files.root, 'run.sh'), 0o755);
  assert.match(await files.call(writeTool, { path: 'run.sh', content: 'new\n' }), /^Replaced run\.sh \(1 line, 4 bytes\)/);
  assert.equal(statSync(join(files.root, 'run.sh')).mode & 0o777, 0o755);
  assert.match(await files.call(writeTool, { path: 'a/b/c.txt', content: 'ü' }), /^Wrote a\/b\/c\.txt/);
  assert.equal(files.get('a/b/c.txt'), 'ü');
  assert.deepEqual(readdirSync(join(files.root, 'a/b')), ['c.txt']);
  await assert.rejects(files.call(writeTool, { path: 'a', content: '' }), { code: 'NOT_A_FILE' });
  const prepared = await files.prepare(writeTool, { path: 'fresh', content: 'x' });
  files.put('fresh', 'somebody else');
  await assert.rejects(prepared.run({ signal: new AbortController().signal, onUpdate() {} }), { code: 'CHANGED' });
  assert.equal(files.get('fresh'), 'somebody else');
});

test('edit changes what is there exactly once, and says what is near otherwise', async () => {
  using files = world();
  files.put('a.ts', 'const a = 1;\nconst b = 2;\nconst b2 = 2;\n');
  assert.match(
    await files.call(editTool, {
      path: 'a.ts',
      edits: [
        { find: 'a = 1', replace: 'a = 3' },
        { find: 'b2 = 2;\n', replace: '' },
      ],
    }),
    /2 places \(line 1, 3\)/,
  );
  assert.equal(files.get('a.ts'), 'const a = 3;\nconst b = 2;\nconst ');
  files.put('a.ts', '  const value = 1;\nx\nx\n');
  await assert.rejects(
    files.call(editTool, { path: 'a.ts', edits: [{ find: 'const  value = 1;', replace: '' }] }),
    /Line 1 is the nearest/,
  );
  await assert.rejects(
    files.call(editTool, { path: 'a.ts', edits: [{ find: '\tconst value = 1;', replace: '' }] }),
    /Line 1 differs only in the spaces/,
  );
  await assert.rejects(files.call(editTool, { path: 'a.ts', edits: [{ find: 'x', replace: 'y' }] }), /2 times/);
  await assert.rejects(files.call(editTool, { path: 'a.ts', edits: [{ find: 'value', replace: 'value' }] }), { code: 'NO_CHANGE' });
  assert.equal(files.get('a.ts'), '  const value = 1;\nx\nx\n');
  files.put('dos.txt', 'a\r\nb\r\n');
  await files.call(editTool, { path: 'dos.txt', edits: [{ find: 'a\nb', replace: 'c\nd' }] });
  assert.equal(files.get('dos.txt'), 'c\r\nd\r\n');
});

test('edit refuses a file that was changed after it was looked at', async () => {
  using files = world();
  files.put('a.txt', 'one two');
  const call = await files.prepare(editTool, { path: 'a.txt', edits: [{ find: 'one', replace: '1' }] });
  files.put('a.txt', 'one two three');
  await assert.rejects(call.run({ signal: new AbortController().signal, onUpdate() {} }), { code: 'CHANGED' });
});

test('apply_patch adds, changes, moves and deletes', async () => {
  using files = world();
  files.put('a.txt', 'one\ntwo\nthree\nfour\n');
  files.put('b.txt', 'gone\n');
  files.put('c.txt', 'x\ny');
  const patch = [
    '*** Begin Patch',
    '*** Add File: new/d.txt',
    '+hello',
    '+',
    '*** Update File: a.txt',
    '@@ one',
    ' two',
    '-three',
    '+3',
    '@@',
    ' four',
    '+five',
    '*** End of File',
    '*** Delete File: b.txt',
    '*** Update File: c.txt',
    '*** Move to: e.txt',
    '@@',
    '-x',
    '+z',
    ' y',
    '*** End Patch',
  ].join('\n');
  await files.call(applyPatchTool, { patch });
  assert.equal(files.get('new/d.txt'), 'hello\n\n');
  assert.equal(files.get('a.txt'), 'one\ntwo\n3\nfour\nfive\n');
  assert.equal(files.get('e.txt'), 'z\ny');
  assert.deepEqual(readdirSync(files.root).sort(), ['a.txt', 'e.txt', 'new']);
});

test('apply_patch changes nothing when one part does not fit or cannot be written', async () => {
  using files = world();
  files.put('a.txt', 'one\n');
  files.put('b.txt', 'two\n');
  const update = (path: string, from: string) => `*** Update File: ${path}\n@@\n-${from}\n+new\n`;
  for (const [patch, code] of [
    [`*** Begin Patch\n${update('a.txt', 'one')}${update('b.txt', 'wrong')}*** End Patch`, 'NO_MATCH'],
    [`*** Begin Patch\n${update('a.txt', 'one')}*** Add File: b.txt\n+x\n*** End Patch`, 'EXISTS'],
    [`*** Begin Patch\n${update('a.txt', 'one')}${update('a.txt', 'one')}*** End Patch`, 'BAD_PATCH'],
    [`*** Begin Patch\n${update('a.txt', 'one')}`, 'BAD_PATCH'],
    ['nonsense', 'BAD_PATCH'],
    ['*** Begin Patch\n*** End Patch', 'BAD_PATCH'],
    ['*** Begin Patch\n*** Rename File: a\n*** End Patch', 'BAD_PATCH'],
    ['*** Begin Patch\n*** Add File: q\nno plus\n*** End Patch', 'BAD_PATCH'],
  ] as const)
    await assert.rejects(files.call(applyPatchTool, { patch }), { name: 'ToolError', code }, patch);
  // The last file needs a folder where a file comes to stand meanwhile: those before it are put back.
  const call = await files.prepare(applyPatchTool, {
    patch: `*** Begin Patch\n${update('a.txt', 'one')}*** Delete File: b.txt\n*** Add File: sub/c.txt\n+x\n*** End Patch`,
  });
  files.put('sub', 'in the way');
  await assert.rejects(call.run({ signal: new AbortController().signal, onUpdate() {} }), { name: 'ToolError' });
  assert.equal(files.get('a.txt'), 'one\n');
  assert.equal(files.get('b.txt'), 'two\n');
});

test('grep finds lines with context, by glob, in or without case', async () => {
  using files = world();
  files.put('src/a.ts', 'alpha\nBeta\ngamma\n');
  files.put('src/b.md', 'beta\n');
  files.put('node_modules/x.ts', 'beta\n');
  files.put('bin', Buffer.from('beta\0'));
  assert.equal(await files.call(grepTool, { pattern: 'beta' }), 'src/b.md:1:beta');
  assert.equal(
    await files.call(grepTool, { pattern: 'beta', ignoreCase: true, glob: '*.ts', context: 1 }),
    'src/a.ts-1-alpha\nsrc/a.ts:2:Beta\nsrc/a.ts-3-gamma',
  );
  assert.equal(await files.call(grepTool, { pattern: 'beta', path: 'node_modules' }), 'node_modules/x.ts:1:beta');
  assert.equal(await files.call(grepTool, { pattern: '^B', path: 'src/a.ts' }), 'src/a.ts:2:Beta');
  await assert.rejects(files.call(grepTool, { pattern: '(?=a)' }), { code: 'BAD_PATTERN' });
});

test('grep can be stopped', async () => {
  using files = world();
  files.put('a.txt', 'x\n'.repeat(1_000));
  await assert.rejects(files.call(grepTool, { pattern: 'x' }, AbortSignal.abort(new Error('stopped'))), /stopped/);
});

test('long results are cut, and the handle reads on', async () => {
  using files = world();
  files.put('a.txt', 'match this line\n'.repeat(4_000));
  const { content, details } = await files.output(grepTool, { pattern: 'match' });
  assert.equal(content[0]?.type === 'text' && content[0].text.includes('read_more'), true);
  assert.equal(typeof details?.handle, 'string');
});

test('find compares globs with names and paths', async () => {
  using files = world();
  for (const path of ['a.ts', 'src/b.ts', 'src/deep/c.test.ts', 'src/d.md', '.git/e.ts']) files.put(path, '');
  assert.equal(await files.call(findTool, { glob: '*.ts' }), 'a.ts\nsrc/b.ts\nsrc/deep/c.test.ts');
  assert.equal(await files.call(findTool, { glob: 'src/**/*.ts' }), 'src/b.ts\nsrc/deep/c.test.ts');
  assert.equal(await files.call(findTool, { glob: '*.{md,test.ts}', path: 'src' }), 'src/d.md\nsrc/deep/c.test.ts');
  assert.equal(await files.call(findTool, { glob: 'deep' }), 'src/deep/');
});

test('compileGlob takes bounded time and knows its signs', () => {
  const cases: [string, string, boolean][] = [
    ['**', 'a/b', true],
    ['**/b', 'b', true],
    ['a/**', 'a/b/c', true],
    ['a/**/c', 'a/c', true],
    ['a/*/c', 'a/b/b/c', false],
    ['[a-c]?', 'bx', true],
    ['[!a]', 'a', false],
    ['\\*', '*', true],
    ['\\*', 'x', false],
    ['a*b*c', 'aXXbYYc', true],
    ['*.ts', 'x.tsx', false],
    ['./a', 'a', true],
  ];
  for (const [glob, path, expected] of cases) assert.equal(compileGlob(glob)(path), expected, `${glob} ${path}`);
  assert.equal(compileGlob(`${'*a'.repeat(300)}b`)('a'.repeat(5_000)), false);
  assert.equal(compileGlob(`${'**/a/'.repeat(100)}b`)('a/'.repeat(500)), false);
  for (const glob of ['[a', '{a', '{a,{b}}', '{a,b}'.repeat(9), 'x'.repeat(2_000)])
    assert.throws(() => compileGlob(glob), { code: 'BAD_GLOB' });
});
