import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configLines } from './config-lines.ts';

test('each setting of a plugin is shown with the values that it may have, and its default', () => {
  const configSchema = {
    type: 'object',
    properties: {
      mode: { enum: ['ask', 'deny'], description: 'What to do' },
      level: { type: 'integer', minimum: 1, maximum: 9, default: 3 },
      tags: { type: 'array', items: { enum: ['a', 'b'] } },
      form: { oneOf: [{ const: 'x' }, { const: 2 }] },
      mail: { type: 'object', properties: { port: { type: ['integer', 'null'], minimum: 1 }, token: { type: 'string', default: 'hush' } } },
      free: true,
    },
  };
  assert.deepEqual(configLines({ id: 'one', config: { mode: 'ask', token: 'hush' }, configSchema }), [
    'mode = "ask" (one of "ask", "deny")',
    'token = ***',
    'level is not set (integer, 1 to 9, default 3)',
    'tags is not set (array, each one of "a", "b")',
    'form is not set (one of "x", 2)',
    'mail.port is not set (integer or null, at least 1)',
    'mail.token is not set (string, default ***)',
    'free is not set',
  ]);
  assert.deepEqual(configLines({ id: 'one', config: {}, configSchema: { type: 'object' } }), ['nothing is set']);
  assert.deepEqual(configLines({ id: 'one', config: {} }), ['one has nothing to configure']);
});
