import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTraffic, messageText } from './traffic.ts';

function reader() {
  let time = 0;
  const read = createTraffic(() => (time += 5));
  return (direction: 'to-extension' | 'to-host', frame: unknown) =>
    messageText(read(direction, typeof frame === 'string' ? frame : JSON.stringify(frame)));
}

test('an answer says what it answers and how long it took, though both sides count their requests alike', () => {
  const text = reader();
  assert.equal(text('to-extension', { id: 1, method: 'tool/execute', params: { tool: 'x' } }), '→ tool/execute 1 {"tool":"x"}');
  assert.equal(text('to-host', { id: 1, method: 'kv/get', params: { key: 'k' } }), '← kv/get 1 {"key":"k"}');
  assert.equal(text('to-extension', { id: 1, result: { value: 5 } }), '→ kv/get 1 = {"value":5} (5 ms)');
  assert.equal(
    text('to-host', { id: 1, error: { code: -32603, message: 'no' } }),
    '← tool/execute 1 ! {"code":-32603,"message":"no"} (15 ms)',
  );
  assert.equal(text('to-host', { method: 'log', params: { level: 'info' } }), '← log {"level":"info"}');
  assert.equal(text('to-host', { id: '1', result: {} }), '← an answer that nobody waits for 1 = {}');
});

test('what is no message is shown as it is, and what is long is cut', () => {
  const text = reader();
  assert.equal(text('to-host', 'hello'), '← hello');
  assert.equal(text('to-host', 'null'), '← null');
  const long = text('to-host', { method: 'log', params: { message: 'x'.repeat(10_000) } });
  assert.ok(long.length < 4_100);
  assert.match(long, /… \(10014 characters\)$/);
});

test('secrets are not shown: neither by what they are called nor by what they look like', () => {
  const text = reader();
  const shown = [
    text('to-extension', { id: 1, method: 'tool/execute', params: { context: { token: 'abcdef' }, arguments: { apiKey: 'hunter22' } } }),
    text('to-host', { id: 2, method: 'kv/set', params: { key: 'x', value: ['Bearer abcdefghijkl', 'password=hunter22'] } }),
    text('to-host', `half {"password": "hunter22"`),
    text('to-host', { id: 1, result: { refresh_token: 'hunter22', oauth: true, tokens: 12 } }),
  ].join('\n');
  assert.doesNotMatch(shown, /hunter22|abcdef/);
  assert.match(shown, /"oauth":true,"tokens":12/);
});
