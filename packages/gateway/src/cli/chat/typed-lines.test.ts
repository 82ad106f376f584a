import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { keepTypedLines, MOST_TYPED_LINES, readTypedLines } from './typed-lines.ts';

function makeFile(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'tenon-typed-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'chat-history');
}

test('typed lines are kept from chat to chat, for their owner only, and bounded', (t) => {
  const file = makeFile(t);
  assert.deepEqual(readTypedLines(file), []);
  assert.equal(keepTypedLines(file, ['one', '', 'two', 'x'.repeat(10_000)]), undefined);
  assert.deepEqual(readTypedLines(file), ['one', 'two']);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  // Another chat has added to it meanwhile.
  keepTypedLines(file, ['two', 'three']);
  assert.deepEqual(readTypedLines(file), ['one', 'two', 'three']);
  keepTypedLines(
    file,
    Array.from({ length: MOST_TYPED_LINES + 5 }, (_, index) => `line ${index}`),
  );
  assert.equal(readTypedLines(file).length, MOST_TYPED_LINES);
  assert.equal(readTypedLines(file).at(-1), `line ${MOST_TYPED_LINES + 4}`);
});

test('a file that is damaged or cannot be written costs the history, not the chat', (t) => {
  const file = makeFile(t);
  writeFileSync(file, 'not json\n"good"\n{}\n');
  assert.deepEqual(readTypedLines(file), ['good']);
  assert.match(keepTypedLines(join(file, 'below'), ['x']) ?? '', /EEXIST|ENOTDIR/);
});
