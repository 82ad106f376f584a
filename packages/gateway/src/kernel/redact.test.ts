import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hideSecrets, isSecretName } from './redact.ts';

test('names that say that they hold a secret are known in every spelling, and amounts are not taken for them', () => {
  for (const name of [
    'token',
    'apiKey',
    'API_KEY',
    'x-api-key',
    'refreshToken',
    'password',
    'Authorization',
    'auth',
    'client_secret',
    'cookie',
  ])
    assert.equal(isSecretName(name), true, name);
  for (const name of ['maxTokens', 'inputTokens', 'tokensBefore', 'author', 'key', 'sessionKey', 'idempotencyKey', 'text', 'path'])
    assert.equal(isSecretName(name), false, name);
});

test('texts that look like a secret are hidden, and what stands around them stays', () => {
  assert.equal(hideSecrets('curl -H "Authorization: Bearer abc.def-123456" x'), 'curl -H "Authorization: *** ***" x');
  assert.equal(hideSecrets('key sk-proj-ABCDEFGHIJKLMNOP1234 end'), 'key *** end');
  assert.equal(hideSecrets('API_KEY=hunter2hunter2 run'), 'API_KEY=*** run');
  assert.equal(hideSecrets('{"password": "hunter22"}'), '{"password": "***"}');
  assert.equal(hideSecrets('postgres://me:hunter2@host/db'), 'postgres://me:***@host/db');
  assert.equal(hideSecrets('a -----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY----- b'), 'a *** b');
  assert.equal(hideSecrets('the token is counted, 12 tokens'), 'the token is counted, 12 tokens');
});

test('a long text without secrets is looked through in time that grows with it', () => {
  const started = performance.now();
  for (const text of ['a-'.repeat(50_000), 'a_'.repeat(50_000), 'token'.repeat(20_000), 'x://'.repeat(20_000), 'Bearer '.repeat(10_000)])
    hideSecrets(text);
  assert.ok(performance.now() - started < 20_000);
});
