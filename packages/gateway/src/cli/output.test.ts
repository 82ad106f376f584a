import assert from 'node:assert/strict';
import { test } from 'node:test';
import { visible } from '@tenon/protocol';
import { createOutput, failureLine, jsonLine } from './output.ts';

function capture(more: { isTTY?: boolean; env?: Record<string, string>; json?: boolean; plain?: boolean }) {
  const written: string[] = [];
  const stream = { write: (text: string) => written.push(text), isTTY: more.isTTY ?? false, columns: 80 };
  const out = createOutput(
    { stdout: stream, stderr: stream, env: more.env ?? {} },
    { json: more.json ?? false, plain: more.plain ?? false },
  );
  return { out, written };
}

test('jsonLine shows what a terminal would act upon, and means the same', () => {
  const value = { 'a\u202eb': 'x\u001b[31m\u0085\u2028\u200b\u{e0041}\n', list: [1, null] };
  const line = jsonLine(value);
  assert.match(line, /^[\x20-\x7e]+$/);
  assert.deepEqual(JSON.parse(line), value);
  assert.deepEqual(JSON.parse(jsonLine(value, 2)), value);
  assert.equal(jsonLine(undefined), 'null');
});

test('colours are for a terminal that wants them', () => {
  assert.equal(capture({ isTTY: true }).out.style('red', 'x'), '\u001b[31mx\u001b[39m');
  for (const more of [
    {},
    { isTTY: true, plain: true },
    { isTTY: true, json: true },
    { isTTY: true, env: { NO_COLOR: '1' } },
    { isTTY: true, env: { TERM: 'dumb' } },
  ]) {
    assert.equal(capture(more).out.style('red', 'x'), 'x');
  }
});

test('show prints the value as one JSON line, or the lines for people', () => {
  const machine = capture({ json: true });
  machine.out.show({ a: 1 }, () => assert.fail('not asked for'));
  assert.deepEqual(machine.written, ['{"a":1}\n']);
  const people = capture({});
  people.out.show({ a: 1 }, () => ['one', 'two']);
  assert.deepEqual(people.written, ['one\n', 'two\n']);
});

test('a failure is one line, whatever is in it', () => {
  const failure = { code: 'X', message: 'a\nb\u001b[2J', hint: 'try\r\nthis', exitCode: 1 };
  assert.equal(failureLine(failure, false, visible), 'tenon: a\\u{a}b\\u{1b}[2J (try\\u{d}\\u{a}this)');
  assert.deepEqual(JSON.parse(failureLine(failure, true, visible)), { code: 'X', message: 'a\nb\u001b[2J', hint: 'try\r\nthis' });
});
