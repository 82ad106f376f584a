// S23: what a plugin inside the gateway replaces must not open the door to others.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { verifies } from '../support/verifies.ts';

test('S23 the check of scopes holds whatever methods a plugin has replaced', async () => {
  verifies('S23:patched');
  const program = join(import.meta.dirname, '..', 'support', 'patched-dispatch.ts');
  const { stdout } = await promisify(execFile)(process.execPath, [program]);
  const outcomes = JSON.parse(stdout) as Record<string, Record<string, string>>;
  assert.equal(Object.keys(outcomes).length, 8);
  for (const [patch, told] of Object.entries(outcomes)) {
    for (const what of ['approvals', 'audit', 'shutdown', 'http']) assert.equal(told[what], 'SCOPE', `${what} with ${patch}`);
    assert.ok(told.unknown === 'UNKNOWN_METHOD' || told.unknown === 'SCOPE', `${told.unknown} with ${patch}`);
    for (const what of ['elsewhere', 'unbound'])
      assert.ok(!['ok', 'INTERNAL'].includes(told[what] ?? ''), `${what} with ${patch}: ${told[what]}`);
  }
});
