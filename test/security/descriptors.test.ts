// S83, S38: a gateway that was started with files open, by a careless supervisor or shell, hands none of them on.
import assert from 'node:assert/strict';
import { closeSync, globSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { cleanUp, removeFolder } from '../support/clean-up.ts';
import { call, openConversation, SESSION } from '../support/conversation.ts';
import { putExtension } from '../support/extension-home.ts';
import { temporaryHome } from '../support/gateway.ts';
import { verifies } from '../support/verifies.ts';

const CANARY = 'canary-6b1f';

test('S83 neither a program nor an extension gets a descriptor that the gateway inherited', async (t) => {
  verifies('S83:descriptors', 'S38');
  const [home, outside] = [temporaryHome(), temporaryHome()];
  cleanUp(t, () => [home, outside].forEach(removeFolder));
  writeFileSync(join(outside, 'secret'), CANARY);
  mkdirSync(join(outside, `${CANARY}-folder`));
  putExtension(home, 'probe', { fixture: 'probe.mjs', capabilities: 'tools = true' });
  const descriptors = { 200: openSync(join(outside, 'secret'), 'r'), 201: openSync(outside, 'r') };
  const script = `cat <&200; cat /proc/self/fd/200; ls /proc/self/fd/201/ /proc/self/fd; echo end`;
  await using talk = await openConversation({
    home,
    descriptors,
    // Where there is no sandbox, it runs all the same.
    config: 'exec.unsandboxed = "policy"',
    script: [
      call('exec', { argv: ['bash', '-c', script] }),
      call('probe__do', { deed: 'read', path: '/proc/self/fd/200' }),
      call('probe__do', { deed: 'list', path: '/proc/self/fd/201/' }),
      { text: 'done' },
    ],
  });
  for (const descriptor of Object.values(descriptors)) closeSync(descriptor);
  const held = `/proc/${talk.gateway.pid}/fd/200`;
  if (process.platform === 'linux') assert.equal(readFileSync(held, 'utf8'), CANARY, 'the gateway itself keeps it');
  await talk.ask('sessions.create', { key: SESSION, permissions: 'bypass' });
  const { plugin } = await talk.ask('plugins.enable', { id: 'probe' });
  // Without a sandbox an extension may have to be allowed first.
  if (plugin.state !== 'loaded') assert.match(plugin.reason, /sandbox/);
  await talk.say('go');
  const results = (await talk.results()).map(({ text }) => text);
  assert.equal(results.length, 3);
  assert.match(results[0]!, /^end$/m, 'the program ran');
  assert.deepEqual(
    results.filter((text) => text.includes(CANARY)),
    [],
  );
  if (plugin.state === 'loaded') assert.match(results[2]!, /no: (ENOTDIR|ENOENT|EACCES)/);
});

test('every start of a program in the gateway keeps inherited descriptors back', () => {
  const root = join(import.meta.dirname, '../../packages/gateway/src');
  const files = globSync('**/*.ts', { cwd: root }).filter((file) => !/\.test\.ts$|inherited-descriptors/.test(file));
  const starts = files.flatMap((file) =>
    readFileSync(join(root, file), 'utf8')
      .split('\n')
      .filter((line) => /\bstdio:|\b(execFile|fork)\(|\b(exec|execFile|spawn)Sync\(/.test(line))
      .map((line) => ({ file, line: line.trim() })),
  );
  assert.ok(starts.length >= 4);
  assert.deepEqual(
    starts.filter(({ line }) => !line.includes('stdio: withoutInherited(')),
    [],
  );
});
