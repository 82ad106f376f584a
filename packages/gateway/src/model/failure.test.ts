import assert from 'node:assert/strict';
import { test } from 'node:test';
import { redact } from '../kernel/redact.ts';
import { failureOf, StreamFault, type FailurePlace } from './failure.ts';
import type { FailureKind } from './types.ts';

const place: FailurePlace = {
  modelId: 'm',
  baseUrl: 'https://user:pass@api.example/v1?x=1',
  keyFrom: 'the environment variable KEY',
  secrets: ['s3cr"et/key'],
  now: 0,
};

const kindOf = (error: unknown, answered = false): FailureKind => failureOf(error, answered, place).kind;

test('an error of the network is found below what wraps it, and means less once the answer had begun', () => {
  for (const code of ['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_SOCKET', 'DEPTH_ZERO_SELF_SIGNED_CERT']) {
    const error = new Error('fetch failed', { cause: new Error('wrapped', { cause: Object.assign(new Error('inner'), { code }) }) });
    assert.deepEqual([kindOf(error), kindOf(error, true)], ['unreachable', 'bad_output'], code);
  }
  assert.equal(kindOf(Object.assign(new Error('x'), { code: 'UND_ERR_HEADERS_TIMEOUT' })), 'timeout');
});

test('errors in a stream are read by their type', () => {
  const cases: [object, FailureKind][] = [
    [{ type: 'overloaded_error', message: 'Overloaded' }, 'overloaded'],
    [{ type: 'server_error', message: 'x' }, 'overloaded'],
    [{ code: 'rate_limit_exceeded', message: 'x' }, 'rate_limited'],
    [{ code: 429, message: 'x' }, 'rate_limited'],
    [{ type: 'authentication_error', message: 'x' }, 'unauthorized'],
    [{ code: 'context_length_exceeded', message: 'This is longer than the context window' }, 'context_overflow'],
    [{ type: 'invalid_request_error', message: 'x' }, 'invalid_request'],
    [{ message: 'x' }, 'bad_output'],
  ];
  for (const [error, kind] of cases) assert.equal(kindOf(error, true), kind, JSON.stringify(error));
});

test('anything can be thrown', () => {
  for (const error of [undefined, null, 'text', 7, {}, [], new Error(''), Object.create(null)]) {
    assert.equal(kindOf(error, true), 'bad_output');
    assert.ok(failureOf(error, true, place).message.startsWith('Model "m"'));
  }
  const loop: { cause?: unknown; message: string } = { message: 'round' };
  loop.cause = loop;
  assert.equal(kindOf(loop, true), 'bad_output');
  assert.equal(kindOf(new StreamFault('timeout', 'x'), true), 'timeout');
});

test('no form of a key, and nothing that moves other text, gets into a message', () => {
  const secret = place.secrets[0]!;
  for (const form of [secret, encodeURIComponent(secret), JSON.stringify(secret)]) {
    const message = failureOf(new Error(`${'x'.repeat(230)}${form}\u202e\n${form}`), true, place).message;
    assert.ok(!message.includes('s3cr'), message);
    assert.ok(!/[\u202e\n]/.test(message));
    assert.ok(message.length <= 500);
  }
  assert.ok(!failureOf(Object.assign(new Error('x'), { code: 'ECONNREFUSED' }), false, place).message.includes('pass'));
  assert.equal(redact('a b', ['', 'a']), 'a b', 'what is too short is no secret');
});
