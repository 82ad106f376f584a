import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { MAX_KEY_BYTES, readKeyFile } from './key-file.ts';

test('a key file is found from the home of Tenon, and is a small regular file', (t) => {
  const home = mkdtempSync(join(tmpdir(), 'tenon-key-'));
  t.after(() => rmSync(home, { recursive: true }));
  writeFileSync(join(home, 'key'), 'abc\n');
  writeFileSync(join(home, 'large'), 'x'.repeat(MAX_KEY_BYTES + 1));
  assert.equal(readKeyFile('key', home), 'abc\n');
  assert.equal(readKeyFile(join(home, 'key'), '/elsewhere'), 'abc\n');
  assert.throws(() => readKeyFile('gone', home), { code: 'ENOENT' });
  assert.throws(() => readKeyFile('large', home), { code: 'larger than a key can be' });
  assert.throws(() => readKeyFile('/dev/zero', home), { code: 'not a regular file' });
  assert.throws(() => readKeyFile('.', home), { code: 'not a regular file' });
});
