import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cardLine, cardOutput, subjectOf, type Card } from './card.ts';

const plain = { style: (_style: string, text: string) => text, width: 60, verbose: false };
const card = (more: Partial<Card> = {}): Card => ({ callId: 'c1', name: 'exec', state: 'ok', subject: 'ls -la', output: '', ...more });

test('a card is one line: name, subject, state, duration', () => {
  assert.equal(cardLine(card({ durationMs: 12.4 }), plain), '● exec  ls -la  ok 12ms');
  assert.equal(cardLine(card({ state: 'failed', durationMs: 65_000 }), plain), '✗ exec  ls -la  failed 1m 5s');
  assert.equal(cardLine(card({ state: 'running' }), plain, 3_400), '◌ exec  ls -la  running 3.4s');
  assert.equal(cardLine(card({ state: 'writing', subject: '' }), plain), '◌ exec  writing');
});

test('a subject that is long, of several lines or full of escapes stays on the line', () => {
  const line = cardLine(card({ subject: `first\nsecond\u001b[2J${'x'.repeat(500)}` }), plain);
  assert.ok(line.length <= 60, line);
  assert.ok(!line.includes('\u001b') && !line.includes('\n'));
  assert.match(line, /first second\\u\{1b\}\[2Jx+…/);
});

test('output is indented and cut to its last lines, and whole with --verbose', () => {
  const output = Array.from({ length: 10 }, (_, index) => `line ${index}`).join('\n');
  assert.deepEqual(cardOutput(card({ output }), plain), [
    '  │ … 6 more lines above (--verbose shows all)',
    '  │ line 6',
    '  │ line 7',
    '  │ line 8',
    '  │ line 9',
  ]);
  assert.equal(cardOutput(card({ output }), { ...plain, verbose: true }).length, 10);
  assert.deepEqual(cardOutput(card({ output: '\n\n' }), plain), []);
  const colours = cardOutput(card({ output: '\u001b[31mred\u001b[0m\n10%\r100%' }), plain);
  assert.deepEqual(colours, ['  │ red', '  │ 100%']);
});

test('what a call is about is found among its arguments', () => {
  assert.equal(subjectOf({ argv: ['git', 'status'] }), 'git status');
  assert.equal(subjectOf({ content: 'hello', path: 'a.txt' }), 'a.txt');
  assert.equal(subjectOf({ n: 3 }), '');
  assert.equal(subjectOf(undefined), '');
});
