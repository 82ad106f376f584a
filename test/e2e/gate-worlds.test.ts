// Permission gates as they are written for other hosts, unchanged, in whole turns of a real gateway: one of plain SEP and one of pi. What
// they would stop there is stopped here, by whatever spelling the agent has for it.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { type Conversation, openConversation } from '../support/conversation.ts';
import { notedBy, putExtension } from '../support/extension-home.ts';
import { removeHome } from '../support/extensions.ts';
import { temporaryHome } from '../support/gateway.ts';
import { put } from '../support/plugins.ts';
import { verifies } from '../support/verifies.ts';

const home = temporaryHome();
const SDK = pathToFileURL(join(import.meta.dirname, '../../packages/extension-sdk/src/index.ts')).href;
const HOOKS = 'events = ["tool_call", "tool_result", "tool_execution_start", "tool_execution_end"]';
for (const [name, capabilities] of [
  ['sep-gate', HOOKS],
  ['own-gate', `${HOOKS}\nhooks = ["tool_call", "tool_result"]`],
] as const) {
  const folder = putExtension(home, name, {
    fixture: 'gate-of-sep.mjs',
    capabilities,
    files: {
      'registrations.json': { hooks: ['tool_call', 'tool_result'], subscriptions: ['tool_execution_start', 'tool_execution_end'] },
    },
  });
  const manifest = join(folder, 'extension.toml');
  if (name === 'own-gate') put(manifest, `tool_names = "tenon"\n${readFileSync(manifest, 'utf8')}`);
}
// The sources of the SDK, which it has no copy of, are seen in no sandbox without being asked for.
const repository = join(import.meta.dirname, '../..');
const pi = putExtension(home, 'pi-gate', {
  fixture: 'gate-of-pi.mjs',
  capabilities: `events = ["tool_call"]\nfs = { read = [${JSON.stringify(repository)}] }`,
});
const manifest = join(pi, 'extension.toml');
put(manifest, readFileSync(manifest, 'utf8').replace('[capabilities]', `env = { SDK = ${JSON.stringify(SDK)} }\n[capabilities]`));

const talk: Conversation = await openConversation({ home, config: 'exec.sandbox = "off"\nexec.unsandboxed = "policy"\n' });
after(async () => {
  await talk[Symbol.asyncDispose]();
  removeHome(home);
});

const patch = (...lines: string[]) => ({ patch: ['*** Begin Patch', ...lines, '*** End Patch'].join('\n') });

/** What the agent tries, and what must come of it where a gate is on. */
const tries: readonly (readonly [name: string, args: object, blocked: boolean])[] = [
  ['exec', { command: 'rm -rf keep' }, true],
  ['exec', { argv: ['rm', '-rf', 'keep'] }, true],
  ['exec', { command: 'sh -c "rm -rf keep"' }, true],
  ['exec', { argv: ['sh', '-c', 'rm -rf keep'] }, true],
  ['exec', { command: 'echo harmless' }, false],
  ['exec', { argv: ['echo', 'words of', 'argv'] }, false],
  ['exec', { command: 'curl http://127.0.0.1:1/' }, false],
  ['exec', { argv: ['curl', 'http://127.0.0.1:1/'], cwd: 'sub' }, false],
  ['write', { path: '.env', content: 'x' }, true],
  ['edit', { path: '.env', edits: [{ find: 'a', replace: 'b' }] }, true],
  ['apply_patch', patch('*** Add File: fine.txt', '+fine', '*** Add File: secrets/key', '+x'), true],
  ['apply_patch', patch('*** Update File: fine.md', '*** Move to: .env', '@@', '-fine', '+finer'), true],
  ['write', { path: 'notes.md', content: 'fine' }, false],
  ['apply_patch', patch('*** Add File: more.md', '+fine'), false],
];

/** All of it in one turn; the text of each result. */
async function tryAll(sessionKey: string): Promise<string[]> {
  await talk.ask('sessions.create', { key: sessionKey, permissions: 'bypass' });
  const calls = tries.map(([name, args], index) => ({ id: `call-${index}`, name, arguments: args as Record<string, never> }));
  talk.server.next({ calls }, { text: 'Tried.' });
  assert.equal((await talk.say('try it', { sessionKey })).text, 'Tried.');
  return (await talk.results(sessionKey)).map(({ text }) => text);
}

const workspace = talk.workspace();
writeFileSync(join(workspace, 'keep'), 'still here');
writeFileSync(join(workspace, 'fine.md'), 'fine\n');
mkdirSync(join(workspace, 'sub'), { recursive: true });

for (const gate of ['sep-gate', 'pi-gate']) {
  test(`${gate}: what it forbids is stopped however it is spelled, the rest runs, and what it rewrites runs as rewritten`, async () => {
    verifies('sep:gate:names');
    const { plugin } = await talk.ask('plugins.enable', { id: gate });
    assert.equal(plugin.state, 'loaded', plugin.reason);
    const results = await tryAll(`agent:main:${gate}`);
    for (const [index, [name, args, isBlocked]] of tries.entries()) {
      const text = results[index] ?? '';
      assert.equal(new RegExp(`^Blocked by ${gate}: `).test(text), isBlocked, `${name} ${JSON.stringify(args)}: ${text}`);
    }
    assert.match(results[4]!, /^harmless/);
    assert.match(results[5]!, /^words of argv/, 'what is left alone runs as it was given');
    for (const index of [6, 7]) assert.match(results[index]!, /^instead of curl/);
    assert.ok(existsSync(join(workspace, 'keep')));
    assert.deepEqual(
      [existsSync(join(workspace, '.env')), existsSync(join(workspace, 'secrets')), existsSync(join(workspace, 'fine.txt'))],
      [false, false, false],
    );
    const entries = JSON.stringify(await talk.history(`agent:main:${gate}`));
    assert.match(entries, /"toolName":"exec"/);
    assert.doesNotMatch(entries, /"bash"/, 'what is kept has the names of the gateway');
    await talk.ask('plugins.disable', { id: gate });
  });
}

test('what was done is told in the names of the same world', async () => {
  verifies('sep:gate:names');
  const noted = notedBy(home);
  const of = (what: string) => noted.filter(({ hook, event }) => hook === what || event === what);
  const [result] = of('tool_result').filter(({ arguments: args }) => JSON.stringify(args).includes('words of'));
  assert.deepEqual([result?.tool, result?.arguments], ['bash', { command: "echo 'words of' argv" }]);
  for (const what of ['tool_result', 'tool_execution_start', 'tool_execution_end']) {
    const names = new Set(of(what).map(({ tool }) => tool));
    assert.ok(names.has('bash') && !names.has('exec') && !names.has('apply_patch'), `${what}: ${[...names].join()}`);
  }
});

test('an extension whose manifest says that it knows the names of the gateway sees those', async () => {
  await talk.ask('plugins.enable', { id: 'own-gate' });
  await talk.ask('sessions.create', { key: 'agent:main:own', permissions: 'bypass' });
  talk.server.next({ calls: [{ id: 'call-1', name: 'exec', arguments: { argv: ['echo', 'seen'] } }] }, { text: 'Done.' });
  await talk.say('go', { sessionKey: 'agent:main:own' });
  const told = notedBy(home).findLast(({ hook }) => hook === 'tool_result');
  assert.deepEqual([told?.tool, told?.arguments], ['exec', { argv: ['echo', 'seen'] }]);
});
