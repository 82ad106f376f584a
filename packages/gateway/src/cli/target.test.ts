import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { test, type TestContext } from 'node:test';
import { loadConfig } from '../config.ts';
import type { Io } from './io.ts';
import { findTarget, findToken } from './target.ts';

const TOKEN = 'tenon_0123456789abcdef';

function makeHome(t: TestContext, files: Record<string, string> = {}): string {
  const home = mkdtempSync(join(tmpdir(), 'tenon-cli-'));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files)) writeFileSync(join(home, name), content);
  return home;
}

function makeIo(env: Record<string, string> = {}, input = ''): Io {
  const nowhere = { write: () => true };
  const stdin = Readable.from([Buffer.from(input)]);
  return { stdout: nowhere, stderr: nowhere, stdin, env, now: Date.now, interrupted: () => new AbortController().signal };
}

function target(home: string, options: { url?: string; port?: number } = {}, env: Record<string, string> = {}) {
  return findTarget({ url: options.url, port: options.port }, env, loadConfig({ home, env }));
}

const running = (pid: number) => JSON.stringify({ url: 'http://127.0.0.1:4321', port: 4321, pid });

test('the gateway is that of the flag, else the variable, else the running one, else the settings', (t) => {
  const home = makeHome(t, { 'gateway.json': running(process.pid), 'tenon.toml': '[gateway]\nport = 5000\n' });
  const env = { TENON_URL: 'ws://127.0.0.1:1', TENON_PORT: '2' };
  assert.deepEqual(target(home, { url: 'wss://example.org/x/' }, env), { url: 'wss://example.org/x', explicit: true });
  assert.deepEqual(target(home, { port: 9 }, env), { url: 'ws://127.0.0.1:9', explicit: true });
  assert.deepEqual(target(home, {}, env), { url: 'ws://127.0.0.1:1', explicit: true });
  assert.deepEqual(target(home, {}, { TENON_PORT: '2' }), { url: 'ws://127.0.0.1:2', explicit: true });
  assert.deepEqual(target(home, {}, { TENON_PORT: '0' }), { url: 'ws://127.0.0.1:4321', explicit: false });
  assert.deepEqual(target(home), { url: 'ws://127.0.0.1:4321', explicit: false });
});

test('a note of a gateway that is gone, or that is no note, counts for nothing', (t) => {
  for (const note of [running(2 ** 30), '{', '[]', 'null', '{"url":1}']) {
    const home = makeHome(t, { 'gateway.json': note, 'tenon.toml': '[gateway]\nport = 5000\n' });
    assert.equal(target(home).url, 'ws://127.0.0.1:5000');
  }
});

test('an address that listens everywhere is asked on this machine', (t) => {
  for (const [bind, host] of [
    ['0.0.0.0', '127.0.0.1'],
    ['::', '[::1]'],
    ['::1', '[::1]'],
    ['10.1.2.3', '10.1.2.3'],
  ]) {
    assert.equal(target(makeHome(t, { 'tenon.toml': `[gateway]\nbind = "${bind}"\n` })).url, `ws://${host}:18789`);
  }
});

test('port 0 and no running gateway: there is none to talk to', (t) => {
  const home = makeHome(t, { 'tenon.toml': '[gateway]\nport = 0\n' });
  assert.throws(() => target(home), { code: 'UNREACHABLE', exitCode: 5 });
});

test('a URL that is none is refused by the name of the flag or variable', (t) => {
  const home = makeHome(t);
  for (const url of ['', 'x', 'ftp://x', 'ws://', '127.0.0.1:1', 'ws://user:pass@host']) {
    assert.throws(() => target(home, { url }), { exitCode: 2, message: /^--url / }, url);
  }
  assert.throws(() => target(home, {}, { TENON_URL: 'x' }), { exitCode: 2, message: /^TENON_URL / });
  assert.throws(() => target(home, { url: 'ws://x', port: 1 }), { exitCode: 2, message: /--url and --port/ });
  assert.throws(() => target(home, { port: 0 }), { exitCode: 2, message: /^--port / });
});

test('the token is that of the flag, else the variable, else the file of the home', async (t) => {
  const home = makeHome(t, { token: `${TOKEN}\n`, other: 'from-a-file-0123456\n' });
  const config = loadConfig({ home, env: {} });
  const here = { url: 'ws://127.0.0.1:1', explicit: true };
  const env = { TENON_TOKEN: 'from-the-variable' };
  assert.equal(await findToken('from-the-flag', makeIo(env), here, config.home), 'from-the-flag');
  assert.equal(await findToken(`@${join(home, 'other')}`, makeIo(env), here, config.home), 'from-a-file-0123456');
  assert.equal(await findToken('-', makeIo(env, 'from-stdin\n'), here, config.home), 'from-stdin');
  assert.equal(await findToken(undefined, makeIo(env), here, config.home), 'from-the-variable');
  assert.equal(await findToken(undefined, makeIo(), here, config.home), TOKEN);
  assert.equal(await findToken(undefined, makeIo(), here, makeHome(t)), undefined);
});

test('the token of the home is not sent to another machine that somebody typed', async (t) => {
  const config = loadConfig({ home: makeHome(t, { token: TOKEN }), env: {} });
  for (const url of ['ws://example.org:1', 'ws://10.0.0.1:1', 'ws://127.0.0.1.example.org', 'ws://localhost.example.org']) {
    assert.equal(await findToken(undefined, makeIo(), { url, explicit: true }, config.home), undefined, url);
  }
  for (const url of ['ws://localhost:1', 'ws://[::1]:1', 'ws://127.1.2.3:1']) {
    assert.equal(await findToken(undefined, makeIo(), { url, explicit: true }, config.home), TOKEN, url);
  }
  assert.equal(await findToken(undefined, makeIo(), { url: 'ws://10.0.0.1:1', explicit: false }, config.home), TOKEN);
});

test('what cannot be a token is refused without showing it', async (t) => {
  const home = makeHome(t, { token: '\n' });
  const config = loadConfig({ home, env: {} });
  const here = { url: 'ws://127.0.0.1:1', explicit: true };
  for (const bad of ['', 'with space', 'x'.repeat(513), 'ümlaut-secret', 'line\nbreak']) {
    await assert.rejects(
      findToken(bad, makeIo(), here, config.home),
      (error: Error) => /^--token must be/.test(error.message) && (bad === '' || !error.message.includes(bad)),
    );
  }
  await assert.rejects(findToken(`@${join(home, 'none')}`, makeIo(), here, config.home), {
    exitCode: 2,
    message: /^--token cannot be read from .*no such file/,
  });
  await assert.rejects(findToken(undefined, makeIo(), here, config.home), { message: /token must be a token/ });
});
