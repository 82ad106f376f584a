import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { methodNames, settingNames, settingRow } from '@tenon/protocol';
import { flagOf } from '../config.ts';
import { commands } from './commands.ts';
import { renderCompletion } from './completion.ts';
import { describeWords } from './words.ts';

const shells = ['bash', 'zsh', 'fish'] as const;

for (const shell of shells) {
  test(`the ${shell} script knows every command, setting and method`, async () => {
    const script = renderCompletion(shell, await describeWords());
    for (const { path, hidden } of commands) assert.equal(new RegExp(`'(__tenon_at )?${path}'`).test(script), !hidden, path);
    for (const name of settingNames) {
      assert.ok(script.includes(name), name);
      // Lists of tables are kept in tenon.toml: they fit no flag.
      const flag = shell === 'fish' ? new RegExp(`-l ${flagOf(name).slice(2)} `) : new RegExp(`${flagOf(name)}(?![\\w-])`);
      assert.equal(flag.test(script), !settingRow(name).tables, flagOf(name));
    }
    for (const name of methodNames) assert.ok(script.includes(name), name);
  });

  test(`${shell} accepts the script, where it is installed`, async (t) => {
    const script = renderCompletion(shell, await describeWords());
    const check = spawnSync(shell, ['-n'], { input: script, encoding: 'utf8' });
    if (check.error) return t.diagnostic(`${shell} is not installed: only the text was checked`);
    assert.equal(check.stderr, '');
    assert.equal(check.status, 0);
  });
}

test('bash completes commands, verbs, options, and the values of options and arguments', async () => {
  const script = renderCompletion('bash', await describeWords());
  const lines: readonly [typed: readonly string[], expected: readonly string[]][] = [
    [['st'], ['start', 'stop', 'status']],
    [
      ['session', 'r'],
      ['reset', 'rm', 'rewind'],
    ],
    [['--home', 'start', 'session', 's'], ['show']],
    [
      ['start', '--auth', ''],
      ['token', 'none'],
    ],
    [
      ['start', '--insecure', ''],
      ['true', 'false'],
    ],
    [['logs', '--fo'], ['--follow']],
    [
      ['call', 'sessions.p'],
      ['sessions.patch', 'sessions.pluginPatch'],
    ],
    [
      ['config', 'get', 'log.'],
      ['log.level', 'log.maxBytes', 'log.files'],
    ],
    [
      ['completion', ''],
      ['bash', 'zsh', 'fish'],
    ],
    [['session', 'ls', '--json', '--al'], ['--all']],
  ];
  const calls = lines.map(
    ([typed]) =>
      `COMP_WORDS=(tenon ${typed.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${typed.length}; COMPREPLY=(); _tenon; echo "\${COMPREPLY[*]}"`,
  );
  const shell = spawnSync('bash', ['--norc'], { input: `${script}\n${calls.join('\n')}\n`, encoding: 'utf8' });
  assert.equal(shell.stderr, '');
  assert.deepEqual(
    shell.stdout.trimEnd().split('\n'),
    lines.map(([, expected]) => expected.join(' ')),
  );
});

test('summaries are quoted for the shell', () => {
  const node = { path: '', words: [{ word: 'x', summary: "it's $(echo here)" }], options: [] };
  for (const shell of shells) assert.ok(!renderCompletion(shell, [node]).includes("it's $("));
});
