// An extension as a process: what `serve` does with streams, paths and the end of its host.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, test, type TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';
import { verifies } from '../../../test/support/verifies.ts';

const folder = mkdtempSync(join(tmpdir(), 'tenon-serve-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const sdk = pathToFileURL(join(import.meta.dirname, 'index.ts')).href;

function write(name: string, body: string): string {
  const file = join(folder, name);
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, `import { defineExtension } from '${sdk}';\n${body}`);
  return file;
}

function start(t: TestContext, file: string) {
  const child = spawn(process.execPath, [file], { stdio: 'pipe' });
  t.after(() => void child.kill('SIGKILL'));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const exited = once(child, 'exit').then(([code]) => code as number | null);
  let stderr = '';
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  const closed = once(child, 'close');
  return {
    child,
    exited,
    say: (frame: object) => void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...frame })}\n`),
    next: async () => JSON.parse((await lines.next()).value as string) as Record<string, unknown>,
    stderr: async () => {
      await closed;
      return stderr;
    },
  };
}

const initialize = { id: 1, method: 'initialize', params: { protocol_version: 1 } };

test('G35: it serves from a path with spaces and letters of other alphabets, and through a symbolic link', async (t) => {
  verifies('sep:G35');
  const body = 'const extension = defineExtension((tenon) => { tenon.name = "here"; });\nif (import.meta.main) extension.serve();';
  const real = write('a b/größe ü/index.mjs', body);
  const link = join(folder, 'link.mjs');
  symlinkSync(real, link);
  const folderLink = join(folder, 'linked folder');
  symlinkSync(join(real, '..'), folderLink);
  await Promise.all(
    [real, link, join(folderLink, 'index.mjs')].map(async (file) => {
      const { child, say, next, exited } = start(t, file);
      say(initialize);
      assert.deepEqual(((await next()).result as { extension: object }).extension, { name: 'here', version: '0.0.0' }, file);
      child.stdin.end();
      assert.equal(await exited, 0);
    }),
  );
});

test('G41: it exits when its host is gone, with timers and sockets of its own and with calls that never end', async (t) => {
  verifies('sep:G41');
  const file = write(
    'busy.mjs',
    `import { createServer } from 'node:net';
     setInterval(() => {}, 1000);
     createServer().listen(0, '127.0.0.1');
     defineExtension((tenon) => {
       tenon.registerCommand('hang', { handler: () => new Promise(() => {}) });
       tenon.onShutdown(() => { process.stderr.write('last words'); });
     }).serve();`,
  );
  const { child, say, next, exited, stderr } = start(t, file);
  say(initialize);
  await next();
  say({ id: 2, method: 'command/execute', params: { command: 'hang' } });
  child.stdin.end();
  assert.equal(await exited, 0);
  assert.equal(await stderr(), 'last words');
});

test('what it prints goes to stderr, promises that nobody waits for are told, and neither ends it', async (t) => {
  const file = write(
    'loud.mjs',
    `defineExtension((tenon) => {
       tenon.registerCommand('loud', { handler: () => { console.log('printed'); Promise.reject(new Error('forgotten')); return 'fine'; } });
     }).serve();`,
  );
  const { say, next, exited, stderr } = start(t, file);
  say(initialize);
  await next();
  say({ id: 2, method: 'command/execute', params: { command: 'loud' } });
  assert.deepEqual((await next()).result, { content: 'fine' });
  say({ id: 3, method: 'shutdown' });
  assert.deepEqual(await next(), { jsonrpc: '2.0', id: 3, result: {} });
  assert.equal(await exited, 0);
  assert.match(await stderr(), /^printed\n[\s\S]*a promise failed that nobody waited for: Error: forgotten/);
});
