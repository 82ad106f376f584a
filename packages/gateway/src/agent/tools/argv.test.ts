// One parser for the check and the run.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { isShellCommand, parseCommand, showCommand } from './argv.ts';

function words(line: string): readonly string[] {
  const parsed = parseCommand(line);
  assert.equal(parsed.kind, 'argv', `${line}: ${JSON.stringify(parsed)}`);
  return parsed.kind === 'argv' ? parsed.argv : [];
}

test('words are split as a POSIX shell splits them', () => {
  const lines = [
    'git status',
    "echo 'a b'  c",
    'echo "a \\"b\\" \\$c" d\\ e',
    "echo ''",
    'echo a"b"\'c\'d',
    'echo "x\\y"',
    'echo a=b {c,d} e~ f#g',
  ];
  for (const line of lines) {
    const shell = spawnSync('sh', [
      '-c',
      `for each in ${line.replace(/^echo /, '').replace(/^git /, '')}; do printf '%s\\0' "$each"; done`,
    ]);
    const expected = shell.stdout.toString().split('\0').slice(0, -1);
    assert.deepEqual(words(line).slice(1), expected, line);
  }
});

test('what needs a shell becomes a shell command with the whole line as one word', () => {
  const lines = [
    'ls | wc -l',
    'a && b',
    'a; b',
    'a > f',
    'a < f',
    'echo $HOME',
    'echo `id`',
    'echo "$(id)"',
    'ls *.ts',
    'ls a?',
    'ls [ab]',
    'cd x',
    'FOO=1 make',
    'cat ~/x',
    'a &',
    'a\nb',
    '(a)',
    'cat <<E\nx\nE',
    'if true',
    '# x',
    '! a',
    'exec a',
    '. x',
    'a\r',
  ];
  for (const line of lines) {
    const parsed = parseCommand(line);
    assert.equal(parsed.kind, 'shell', line);
    assert.deepEqual(parsed.kind === 'shell' && parsed.argv, ['sh', '-c', line]);
  }
});

test('what cannot be read is refused with its place', () => {
  for (const [line, reason] of [
    ["echo 'a", /quote ' at character 6/],
    ['echo "a', /quote " at character 6/],
    ['echo a\\', /backslash/],
    ['   ', /empty/],
    ['', /empty/],
    ["'' a", /name of the program is empty/],
    ['a\0b', /zero byte/],
  ] as const) {
    const parsed = parseCommand(line);
    assert.equal(parsed.kind, 'bad', line);
    assert.match(parsed.kind === 'bad' ? parsed.reason : '', reason);
  }
});

test('showCommand reads back as the same words', () => {
  for (const argv of [
    ['a', 'b c', "it's", '$x', '', '*', 'a\nb'],
    ['git', 'log', '--format=%H'],
  ])
    assert.deepEqual(words(showCommand(argv)), argv);
});

test('a shell that reads a command from its arguments is recognised', () => {
  assert.equal(isShellCommand(['sh', '-c', 'x']), true);
  assert.equal(isShellCommand(['/bin/bash', '-euc', 'x']), true);
  assert.equal(isShellCommand(['bash', 'x.sh']), false);
  assert.equal(isShellCommand(['git', '-c', 'x']), false);
});
