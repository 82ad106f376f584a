import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { readLogFile } from './log-file.ts';

test('readLogFile gives the records of a file, and leaves out what is cut off', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'tenon-cli-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'gateway.log');
  assert.deepEqual(readLogFile(file), []);
  writeFileSync(
    file,
    'ut off"}\n{"level":"info","time":1,"message":"ready","url":"x"}\n{"level":"warn","time":2,"message":"hm"}\n{"level":"in',
  );
  assert.deepEqual(readLogFile(file), [
    { cursor: 2, time: 1, level: 'info', message: 'ready', fields: { url: 'x' } },
    { cursor: 3, time: 2, level: 'warn', message: 'hm' },
  ]);
});
