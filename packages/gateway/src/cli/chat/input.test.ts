import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits } from '@tenon/protocol';
import { completeLine, createLineJoiner, readInput } from './input.ts';

const known = [
  { name: 'help', usage: '/help' },
  { name: 'think', usage: '/think [off | low | high]' },
  { name: 'model', usage: '/model [id | default]' },
];

test('a line is a message, a command of the gateway, or a way out', () => {
  assert.deepEqual(readInput('hello /help', known), { kind: 'message', text: 'hello /help' });
  assert.deepEqual(readInput('!ls -la', known), { kind: 'message', text: '!ls -la' });
  assert.deepEqual(readInput('/think low ', known), { kind: 'command', text: '/think low' });
  assert.deepEqual(readInput('/quit', known), { kind: 'quit' });
  assert.deepEqual(readInput('/press 2 {"a":1}', known), { kind: 'press', rest: '2 {"a":1}' });
  assert.equal(readInput('/press 2', [...known, { name: 'press' }]).kind, 'command', 'a plugin that calls a command so has it');
  assert.deepEqual(readInput('   ', known), { kind: 'nothing' });
  assert.deepEqual(readInput('/etc/hosts is what?', known), { kind: 'message', text: '/etc/hosts is what?' });
});

test('a mistyped command is not told to the agent, unless a space says so', () => {
  const wrong = readInput('/hlep', known);
  assert.equal(wrong.kind, 'wrong');
  assert.match(wrong.kind === 'wrong' ? wrong.reason : '', /no command \/hlep: did you mean \/help\?/);
  assert.deepEqual(readInput(' /hlep', known), { kind: 'message', text: ' /hlep' });
  assert.deepEqual(readInput('/hlep', undefined), { kind: 'message', text: '/hlep' });
});

test('a message over the limit is refused with the limit named', () => {
  const wrong = readInput('x'.repeat(limits.messageChars.value + 1), known);
  assert.match(wrong.kind === 'wrong' ? wrong.reason : '', new RegExp(`${limits.messageChars.value} are allowed`));
  assert.equal(readInput('x'.repeat(limits.messageChars.value), known).kind, 'message');
});

test('a backslash at the end of a line goes on with the next; two of them are one', () => {
  const joiner = createLineJoiner();
  assert.equal(joiner.add('one \\'), undefined);
  assert.equal(joiner.isOpen, true);
  assert.equal(joiner.add('two\\\\'), 'one \ntwo\\');
  assert.equal(joiner.isOpen, false);
  assert.equal(joiner.add('three'), 'three');
  assert.equal(joiner.add('pasted', true), undefined);
  assert.equal(joiner.add('lines\\', true), undefined);
  assert.equal(joiner.take(), 'pasted\nlines\\');
});

test('lines that go on for ever are given out when they are over the limit', () => {
  const joiner = createLineJoiner();
  const line = `${'x'.repeat(100_000)}\\`;
  assert.equal(joiner.add(line), undefined);
  assert.equal(joiner.add(line), undefined);
  assert.equal(readInput(joiner.add(line) ?? '', known).kind, 'wrong');
});

test('Tab completes commands and the words that may follow', () => {
  assert.deepEqual(completeLine('/', known)[0], [
    '/attach ',
    '/detach ',
    '/exit ',
    '/help ',
    '/model ',
    '/panel ',
    '/press ',
    '/quit ',
    '/think ',
  ]);
  assert.deepEqual(completeLine('/he', known), [['/help '], '/he']);
  assert.deepEqual(completeLine('/think h', known), [['high'], 'h']);
  assert.deepEqual(completeLine('/model ', known), [['default'], '']);
  assert.deepEqual(completeLine('hello', known), [[], 'hello']);
});
