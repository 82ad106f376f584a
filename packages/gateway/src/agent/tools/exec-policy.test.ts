// What runs without asking.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCommand } from './argv.ts';
import { type ExecPolicy, execVerdict } from './exec-policy.ts';

const base: ExecPolicy = {
  policy: 'allow-list',
  allow: ['git status', 'npm run *', "echo 'a b'", 'ls | wc', 'sh *'],
  sandboxed: true,
  unsandboxed: 'ask',
};

function verdict(line: string, more: Partial<ExecPolicy> = {}): string {
  const parsed = parseCommand(line);
  assert.notEqual(parsed.kind, 'bad');
  return execVerdict(parsed.kind === 'bad' ? [] : parsed.argv, { ...base, ...more }).verdict;
}

test('the words must be exactly those of the entry', () => {
  for (const line of [
    'git status',
    ' git  status ',
    '"git" status',
    'npm run build',
    'npm run',
    'npm run a b c',
    'echo "a b"',
    'sh script.sh x',
  ])
    assert.equal(verdict(line), 'allow', line);
  for (const line of [
    'git',
    'git status -s',
    'git statu',
    './git status',
    '/usr/bin/git status',
    'env git status',
    'GIT_DIR=x git status',
    'npm',
    'echo a b',
    'echo',
  ])
    assert.equal(verdict(line), 'ask', line);
});

test('a shell command is never covered by an entry for the words in it', () => {
  for (const line of [
    'git status; rm x',
    'git status && id',
    'git status > x',
    'git status\nid',
    'npm run `id`',
    'npm run $(id)',
    'ls | wc',
    'npm run *',
  ])
    assert.equal(verdict(line), 'ask', line);
  assert.equal(execVerdict(['sh', '-c', 'git status'], base).verdict, 'ask');
  assert.equal(execVerdict(['sh', '-c', 'ls | wc'], { ...base, allow: ["sh -c 'ls | wc'"] }).verdict, 'allow');
});

test('the operator decides: deny, ask, and what holds without a sandbox', () => {
  assert.equal(verdict('git status', { policy: 'deny' }), 'deny');
  assert.equal(verdict('git status', { policy: 'ask' }), 'ask');
  assert.equal(verdict('git status', { sandboxed: false }), 'ask');
  assert.equal(verdict('git status', { sandboxed: false, unsandboxed: 'policy' }), 'allow');
  assert.equal(verdict('git status', { sandboxed: false, unsandboxed: 'policy', policy: 'ask' }), 'ask');
  assert.equal(execVerdict([], { ...base, allow: ['*', ' *', ''] }).verdict, 'ask');
});
