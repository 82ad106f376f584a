import assert from 'node:assert/strict';
import { test } from 'node:test';
import { matches } from '../validate.ts';
import { Frame, readFrame } from './envelope.ts';

const v = { jsonrpc: '2.0' };

test('readFrame tells frames apart by their method, not by their id', () => {
  assert.deepEqual(readFrame({ ...v, id: 1, method: 'ping', params: {} }), { kind: 'request', id: 1, method: 'ping', params: {} });
  assert.deepEqual(readFrame({ ...v, id: 'a', method: 'ping' }), { kind: 'request', id: 'a', method: 'ping', params: {} });
  assert.deepEqual(readFrame({ ...v, method: 'log', params: { x: 1 } }), { kind: 'notification', method: 'log', params: { x: 1 } });
  assert.deepEqual(readFrame({ ...v, id: 1, result: { a: 1 } }), { kind: 'success', id: 1, result: { a: 1 } });
  assert.deepEqual(readFrame({ ...v, id: 1, error: { code: -1, message: 'm', data: null, more: 1 } }), {
    ...{ kind: 'failure', id: 1 },
    error: { code: -1, message: 'm', data: null },
  });
});

test('readFrame takes what other implementations leave out', () => {
  assert.equal(readFrame({ id: 1, method: 'ping' }).kind, 'request', 'no version');
  assert.equal(readFrame({ ...v, id: null, method: 'ping' }).kind, 'notification', 'a null id asks for no answer');
  assert.deepEqual(readFrame({ ...v, id: 1, result: null }), { kind: 'success', id: 1, result: {} });
  assert.equal(readFrame({ ...v, id: 1, method: 'ping', params: null, trace: 7 }).kind, 'request', 'further fields');
  assert.equal(readFrame({ ...v, id: 1, result: null, error: { code: 1, message: '' } }).kind, 'failure');
  assert.equal(readFrame({ ...v, id: null, error: { code: -32700, message: 'not JSON' } }).kind, 'failure');
});

test('readFrame says what is wrong, and whom to tell, and never throws', () => {
  const wrong: [unknown, string, unknown?][] = [
    [null, 'a frame must be an object, not null'],
    [[], 'a frame must be an object, not a list'],
    [5, 'a frame must be an object, not number'],
    [undefined, 'a frame must be an object, not undefined'],
    [{ ...v, id: 1, params: {} }, 'an answer needs a result or an error'],
    [{ ...v }, 'a frame needs a method, or an id and a result or an error'],
    [{ jsonrpc: '1.0', id: 1, method: 'ping' }, 'jsonrpc must be "2.0"', 1],
    [{ ...v, id: 1.5, method: 'ping' }, 'id must be a whole number or text'],
    [{ ...v, id: {}, result: {} }, 'id must be a whole number or text'],
    [{ ...v, id: 2, method: 'ping', params: [] }, 'params must be an object', 2],
    [{ ...v, id: 3, method: 7 }, 'method must be text', 3],
    [{ ...v, id: 1, result: {}, error: { code: 1, message: '' } }, 'a frame has a result or an error, not both'],
    [{ ...v, id: 1, error: 'x' }, 'error must have a whole code and a message'],
  ];
  for (const [value, reason, id] of wrong) {
    assert.deepEqual(readFrame(value), { kind: 'invalid', reason, ...(id === undefined ? {} : { id }) });
  }
});

test('a written frame has nothing but its fields', () => {
  assert.ok(matches(Frame, { ...v, id: 1, method: 'ping' }));
  assert.ok(matches(Frame, { ...v, id: null, error: { code: 1, message: '' } }));
  for (const bad of [
    { id: 1, method: 'ping' },
    { ...v, id: null, method: 'ping' },
    { ...v, id: 1, method: 'ping', trace: 1 },
    { ...v, id: 1, result: {}, error: { code: 1, message: '' } },
    { ...v, id: 1 },
  ]) {
    assert.ok(!matches(Frame, bad), JSON.stringify(bad));
  }
});
