import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  isSecretFileName,
  listSecrets,
  MAX_SECRET_BYTES,
  readSecretFile,
  removeSecretFile,
  SECRETS_FOLDER,
  writeSecretFile,
} from './secret-files.ts';

function openHome() {
  const home = mkdtempSync(join(tmpdir(), 'tenon-secrets-'));
  return { home, [Symbol.dispose]: () => rmSync(home, { recursive: true, force: true }) };
}

test('a secret is a file for its owner, and a variable stands above it', () => {
  using place = openHome();
  const { home } = place;
  assert.equal(readSecretFile(home, {}, 'mail-key'), undefined);
  writeSecretFile(home, 'mail-key', 'of the file\n');
  assert.equal(statSync(join(home, SECRETS_FOLDER, 'mail-key')).mode & 0o777, 0o600);
  assert.equal(statSync(join(home, SECRETS_FOLDER)).mode & 0o777, 0o700);
  assert.equal(readSecretFile(home, {}, 'mail-key'), 'of the file');
  const env = { TENON_SECRET_MAIL_KEY: 'of the variable', TENON_SECRET_OTHER: 'x', TENON_SECRET_EMPTY: '', TENON_SECRET_: 'y', HOME: '/' };
  assert.equal(readSecretFile(home, env, 'mail-key'), 'of the variable');
  assert.deepEqual(listSecrets(home, env), [
    { name: 'mail-key', from: 'environment' },
    { name: 'other', from: 'environment' },
  ]);
  writeSecretFile(home, 'mail-key', 'replaced');
  assert.equal(readSecretFile(home, {}, 'mail-key'), 'replaced');
  assert.deepEqual([removeSecretFile(home, 'mail-key'), removeSecretFile(home, 'mail-key')], [true, false]);
  assert.deepEqual(listSecrets(home, {}), []);
});

test('what is no secret of ours is refused by what is wrong with it, never with what is in it', () => {
  using place = openHome();
  const { home } = place;
  const folder = join(home, SECRETS_FOLDER);
  mkdirSync(folder, { mode: 0o700 });
  const put = (name: string, text: string, mode = 0o600) => {
    writeFileSync(join(folder, name), text);
    chmodSync(join(folder, name), mode);
  };
  put('open', 'canary', 0o644);
  put('empty', '\n');
  put('large', 'x'.repeat(MAX_SECRET_BYTES + 1));
  put('binary', 'a\0b');
  symlinkSync(join(folder, 'open'), join(folder, 'link'));
  mkdirSync(join(folder, 'folder'));
  const cases: [name: string, why: RegExp][] = [
    ['open', /read by others/],
    ['empty', /is empty/],
    ['large', /more than/],
    ['binary', /no text/],
    ['link', /is a link/],
    ['folder', /not a regular file/],
  ];
  for (const [name, why] of cases) {
    assert.throws(
      () => readSecretFile(home, {}, name),
      (error: Error) => why.test(error.message) && !error.message.includes('canary'),
      name,
    );
  }
  assert.throws(() => writeSecretFile(home, 'new', ''), /is empty/);
  for (const name of ['', '../token', 'A', 'a_b', '-a', 'a--b', 'a.b', 'x'.repeat(65), '__proto__'])
    assert.ok(!isSecretFileName(name) && readSecretFile(home, {}, name) === undefined, name);
});
