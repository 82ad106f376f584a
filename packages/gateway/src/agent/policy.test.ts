import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type PermissionMode, permissionModes, type Risk, risks } from '@tenon/protocol';
import { digestOf, judge } from './policy.ts';
import type { ExecPolicy } from './tools/exec-policy.ts';

const asks: ExecPolicy = { policy: 'ask', allow: [], sandboxed: true, unsandboxed: 'ask' };

test('each mode says what goes ahead, what asks and what is refused', () => {
  const table = Object.keys(permissionModes).map((mode) => [
    mode,
    Object.keys(risks).map((risk) => judge({ risk: risk as Risk }, mode as PermissionMode, asks).verdict),
  ]);
  assert.deepEqual(table, [
    ['ask', ['allow', 'ask', 'ask', 'ask']],
    ['accept-edits', ['allow', 'allow', 'ask', 'ask']],
    ['deny', ['allow', 'deny', 'deny', 'deny']],
    ['bypass', ['allow', 'allow', 'allow', 'allow']],
  ]);
});

test('what the operator denies stays denied, and no sandbox still asks, also in bypass', () => {
  assert.equal(judge({ risk: 'exec' }, 'bypass', { ...asks, policy: 'deny' }).verdict, 'deny');
  assert.equal(judge({ risk: 'exec' }, 'bypass', { ...asks, sandboxed: false }).verdict, 'ask');
  assert.equal(judge({ risk: 'exec' }, 'bypass', { ...asks, sandboxed: false, unsandboxed: 'policy' }).verdict, 'allow');
  const exec = { argv: ['git', 'status'], cwd: '/', env: {}, sandboxed: false };
  assert.equal(judge({ risk: 'exec', exec }, 'ask', { ...asks, policy: 'allow-list', allow: ['git status'] }).verdict, 'ask');
  assert.equal(
    judge({ risk: 'exec', exec: { ...exec, sandboxed: true } }, 'ask', { ...asks, policy: 'allow-list', allow: ['git status'] }).verdict,
    'allow',
  );
});

test('a digest changes with every byte of what would be done, and not with the order of keys', () => {
  const exec = { argv: ['ls', '-l'], cwd: '/a', env: {}, sandboxed: true };
  const digests = [
    digestOf('exec', { exact: { a: 1, b: 2 }, exec }),
    digestOf('other', { exact: { a: 1, b: 2 }, exec }),
    digestOf('exec', { exact: { a: 1, b: 3 }, exec }),
    digestOf('exec', { exact: { a: 1, b: 2 }, exec: { ...exec, argv: ['ls', '-l '] } }),
    digestOf('exec', { exact: { a: 1, b: 2 }, exec: { ...exec, argv: ['ls -l'] } }),
    digestOf('exec', { exact: { a: 1, b: 2 }, exec: { ...exec, cwd: '/b' } }),
    digestOf('exec', { exact: { a: 1, b: 2 }, exec: { ...exec, env: { A: 'b' } } }),
    digestOf('exec', { exact: { a: 1, b: 2 } }),
  ];
  assert.equal(new Set(digests).size, digests.length);
  assert.equal(digestOf('exec', { exact: { b: 2, a: 1 }, exec }), digests[0]);
});
