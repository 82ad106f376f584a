import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMessageBuilder, messageBounds, noUsage, priced } from './message.ts';

const end = { stopReason: 'stop', usage: noUsage, timestamp: 1 } as const;

test('parts that are written at the same time stay apart, in the order they began', () => {
  const builder = createMessageBuilder('p', 'm');
  builder.text('1', 'a');
  builder.thinking('1', 'x');
  builder.text('1', 'b');
  builder.endPart('1');
  builder.text('1', 'c');
  assert.deepEqual(builder.build(end).content, [
    { type: 'text', text: 'ab' },
    { type: 'thinking', thinking: 'x' },
    { type: 'text', text: 'c' },
  ]);
});

test('a signature may come in pieces and stays with a thought that has no words', () => {
  const builder = createMessageBuilder('p', 'm');
  builder.signThinking('1', { itemId: 'r', encrypted: null });
  builder.signThinking('1', { itemId: 'r', encrypted: 'xyz' });
  assert.deepEqual(builder.build(end).content, [{ type: 'thinking', thinking: '', thinkingSignature: '{"itemId":"r","encrypted":"xyz"}' }]);
});

test('calls of one id are told apart, each with its own arguments', () => {
  const builder = createMessageBuilder('p', 'm');
  assert.equal(builder.beginCall('x', 'one').callId, 'x');
  builder.endCall('x', 'one', '{"a":1}');
  assert.equal(builder.beginCall('x', 'two').callId, 'x_2');
  builder.endCall('x', 'two', '{"b":2}');
  assert.deepEqual(builder.endCall('', 'three', '{}').begun, { callId: 'call_3', name: 'three' });
  assert.deepEqual(
    builder.build(end).content.map((block) => block.type === 'toolCall' && [block.id, block.name, block.arguments]),
    [
      ['x', 'one', { a: 1 }],
      ['x_2', 'two', { b: 2 }],
      ['call_3', 'three', {}],
    ],
  );
});

test('names and ids of any length and content fit the transcript', () => {
  const builder = createMessageBuilder('p', 'm');
  builder.endCall(`${'i'.repeat(500)}`, `n\0${'n'.repeat(500)}`, '{}');
  builder.endCall('', '', '{}');
  const [long, empty] = builder.build(end).content;
  assert.ok(long?.type === 'toolCall' && long.id.length <= 256 && long.name.length === 256 && !long.name.includes('\0'));
  assert.ok(empty?.type === 'toolCall' && empty.name === 'unnamed');
});

test('what failed keeps what was said, without calls', () => {
  const builder = createMessageBuilder('p', 'm');
  const failed = { stopReason: 'error', errorMessage: 'cut', timestamp: 1 } as const;
  builder.beginCall('a', 'ls');
  assert.equal(builder.partial(failed), undefined);
  builder.text('1', 'half');
  assert.deepEqual(builder.partial(failed)?.content, [{ type: 'text', text: 'half' }]);
});

test('each bound is named when it is passed, and nothing is added after it', () => {
  const text = createMessageBuilder('p', 'm');
  assert.equal(text.text('1', 'x'.repeat(messageBounds.textBytes)).length, messageBounds.textBytes);
  assert.equal(text.excess, undefined);
  assert.equal(text.thinking('1', 'y'), '');
  assert.match(text.excess ?? '', /longer than/);
  assert.equal(text.text('1', 'z'), '');

  const calls = createMessageBuilder('p', 'm');
  for (let index = 0; index < messageBounds.calls; index++) calls.beginCall(`${index}`, 'ls');
  assert.equal(calls.excess, undefined);
  calls.beginCall('more', 'ls');
  assert.match(calls.excess ?? '', /128 tool calls/);

  const whole = createMessageBuilder('p', 'm');
  whole.endCall('a', 'write', `{"c":"${'x'.repeat(messageBounds.argumentBytes)}"}`);
  assert.match(whole.excess ?? '', /arguments of "write"/);

  const parts = createMessageBuilder('p', 'm');
  for (let index = 0; index <= messageBounds.blocks; index++) parts.text(`${index}`, 'x');
  assert.match(parts.excess ?? '', /parts/);
});

test('a price counts each kind of token, and the cache as input where nothing else is said', () => {
  const tokens = { input: 1_000_000, output: 2_000_000, cacheRead: 3_000_000, cacheWrite: 4_000_000 };
  assert.equal(priced(tokens, undefined).costUsd, 0);
  assert.equal(priced(tokens, { input: 1, output: 10 }).costUsd, 1 + 20 + 3 + 4);
  assert.equal(priced(tokens, { input: 1, output: 10, cacheRead: 0, cacheWrite: 2 }).costUsd, 1 + 20 + 0 + 8);
});

test('a key that the model says is taken out, however it is cut into pieces', () => {
  const key = 'sk-secret-0123456789';
  for (let cut = 1; cut < key.length; cut++) {
    const builder = createMessageBuilder('p', 'm', () => [key]);
    const pieces = [`before ${key.slice(0, cut)}`, `${key.slice(cut)} after `, 'sk-not the key', ' sk-sec'];
    const said = pieces.map((piece) => builder.text('1', piece)).join('');
    builder.endPart('1');
    const { content } = builder.build({ stopReason: 'stop', usage: noUsage, timestamp: 0 });
    assert.deepEqual(content, [{ type: 'text', text: 'before *** after sk-not the key sk-sec' }]);
    assert.ok(!said.includes(key) && said.startsWith('before *** after sk-not the key'));
  }
  const builder = createMessageBuilder('p', 'm', () => [key]);
  builder.endCall('1', 'write', JSON.stringify({ content: key }));
  assert.ok(!JSON.stringify(builder.build({ stopReason: 'toolUse', usage: noUsage, timestamp: 0 })).includes(key));
});
