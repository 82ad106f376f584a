// Long output is cut after a line and read on by its handle.
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { randomId } from '../../kernel/ids.ts';
import { createSpool, firstPage, MAX_KEPT_BYTES, MAX_SHOWN_BYTES, MAX_SHOWN_LINES, type Spool, tailOf } from './spool.ts';

function withSpool(run: (spool: Spool, folder: string) => void): void {
  const folder = mkdtempSync(join(tmpdir(), 'tenon-spool-'));
  try {
    run(
      createSpool(join(folder, 'out'), () => randomId()),
      join(folder, 'out'),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function readAll(spool: Spool, handle: string): string {
  let text = '';
  for (let offset: number | undefined = 0; offset !== undefined; ) {
    const page = spool.read(handle, offset);
    assert.ok(Buffer.byteLength(page.text) <= MAX_SHOWN_BYTES);
    text += page.text;
    offset = page.next;
  }
  return text;
}

test('a short text is told whole and keeps no file', () => {
  withSpool((spool, folder) => {
    assert.deepEqual(firstPage('a\nb\n', spool), { text: 'a\nb\n' });
    assert.deepEqual(readdirSync(folder), []);
  });
});

test('pages of a long text add up to the text, whatever its lines and characters', () => {
  withSpool((spool, folder) => {
    const texts = [
      'line\n'.repeat(MAX_SHOWN_LINES * 3),
      '𝄞ä'.repeat(30_000),
      `${'x'.repeat(70_000)}\n${'é\n'.repeat(9_000)}`,
      `a\n${'ß'.repeat(60_000)}`,
    ];
    for (const text of texts) {
      const { handle, text: shown } = firstPage(text, spool);
      assert.ok(handle);
      assert.ok(shown.split('\n').length <= MAX_SHOWN_LINES + 2);
      assert.ok(!shown.includes('�'));
      assert.equal(readAll(spool, handle), text);
      assert.equal(statSync(join(folder, `${handle}.txt`)).mode & 0o777, 0o600);
    }
  });
});

test('one output is kept up to its bound, and the rest is counted', () => {
  withSpool((spool) => {
    const writer = spool.begin();
    for (let written = 0; written < MAX_KEPT_BYTES + 5_000_000; written += 1_000_000) writer.write(Buffer.alloc(1_000_000, 97));
    writer.close();
    assert.equal(writer.bytes, MAX_KEPT_BYTES);
    assert.equal(writer.dropped, 5_000_000);
  });
});

test('the folder is bounded: the oldest go, what is being written stays', () => {
  withSpool((spool, folder) => {
    const writer = spool.begin();
    for (let count = 0; count < 300; count++) spool.keep('x');
    assert.ok(readdirSync(folder).length <= 257);
    writer.write(Buffer.from('still here'));
    writer.close();
    assert.equal(readAll(spool, writer.handle), 'still here');
  });
});

test('a handle is no path', () => {
  withSpool((spool) => {
    for (const handle of ['../../etc/passwd', 'x', '', '..', 'a'.repeat(20), '/etc/hostname0000000'])
      assert.throws(() => spool.read(handle, 0), { code: 'NOT_FOUND' });
  });
});

test('the tail begins with a whole line or character', () => {
  assert.equal(tailOf(Buffer.from('a\nb\n')).toString(), 'a\nb\n');
  const lines = tailOf(Buffer.from('line\n'.repeat(5_000))).toString();
  assert.equal(lines.split('\n').length - 1, MAX_SHOWN_LINES);
  assert.ok(
    !tailOf(Buffer.from('𝄞'.repeat(20_001)))
      .toString()
      .includes('�'),
  );
});

test('foreign text keeps its label on every page, also when the gateway was restarted', () => {
  withSpool((spool, folder) => {
    const foreign = spool.keep('x\n'.repeat(5_000), 'web_fetch example.com');
    const own = spool.keep('y');
    assert.equal(spool.read(foreign, 4_000).provenance, 'web_fetch example.com');
    assert.equal(spool.read(own, 0).provenance, undefined);
    assert.match(createSpool(folder, randomId).read(own, 0).provenance ?? '', /before the gateway was restarted/);
  });
});
