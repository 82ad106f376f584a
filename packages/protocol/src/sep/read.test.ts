import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readParams, readResult, writeFault } from './read.ts';
import { readRegistrations } from './registrations.ts';

const context = { token: 't', tier: 'command' as const };
const tool = { name: 'say', description: 'Says it.', parameters: { type: 'object' } };

test('a reader lets unknown fields pass, a writer does not have them', () => {
  const result = { content: 'x', is_error: false, mood: 'good' };
  assert.deepEqual(readResult('tool/execute', result), { ok: true, value: result });
  assert.equal(writeFault('tool/execute', 'result', result), 'result has an unknown field "mood"');
  assert.equal(writeFault('tool/execute', 'result', { content: 'x' }), undefined);
  const nested = { completions: [{ value: 'a', rank: 1 }] };
  assert.equal(readResult('command/complete', nested).ok, true);
  assert.equal(writeFault('command/complete', 'result', nested), 'result/completions/0 has an unknown field "rank"');
});

test('a reader still says what is missing or wrong', () => {
  assert.deepEqual(readResult('tool/execute', { is_error: true }), { ok: false, message: 'result must have required properties content' });
  assert.equal(readResult('hook', {}).ok, false);
  assert.equal(readResult('hook', { action: 'modify' }).ok, false, 'a modify without a patch');
  assert.equal(readResult('hook', { action: 'bogus' }).ok, false);
  assert.equal(readParams('tool/update', { call_id: 'c', progress: 1.5 }).ok, false);
  assert.equal(readParams('session/send_message', { text: 'x' }).ok, false, 'without a context');
  assert.equal(readParams('ui/request', { kind: 'toast', message: 'x' }).ok, false);
});

test('an empty result is an empty object', () => {
  assert.deepEqual(readResult('shutdown', null), { ok: true, value: {} });
  assert.deepEqual(readResult('command/execute', undefined), { ok: true, value: {} });
  assert.deepEqual(readParams('ping', undefined), { ok: true, value: {} });
});

test('initialize is read by its number and its name, in both spellings', () => {
  assert.deepEqual(readResult('initialize', { protocolVersion: 1, extension: { name: 'a' } }), {
    ok: true,
    value: { protocol_version: 1, extension: { name: 'a' } },
  });
  const both = readResult('initialize', { protocolVersion: 9, protocol_version: 1, extension: { name: 'a' } });
  assert.ok(both.ok && both.value.protocol_version === 1, 'the name of today wins');
  assert.equal(readResult('initialize', { protocol_version: 'one', extension: { name: 'a' } }).ok, false);
  assert.equal(readResult('initialize', { protocol_version: 1 }).ok, false);
  assert.equal(readResult('initialize', { protocol_version: 1, extension: { name: 'a' }, registrations: { tools: 5 } }).ok, true);
});

test('bus/publish is read without a payload and with any', () => {
  for (const payload of [undefined, 5, 'x', null, [1], { a: 1 }]) assert.equal(readParams('bus/publish', { topic: 't', payload }).ok, true);
  assert.equal(readParams('bus/publish', { payload: {} }).ok, false);
  assert.match(writeFault('bus/publish', 'params', { topic: 't', payload: 5 }) ?? '', /params\/payload/);
});

test('tools/register is registry/update for one tool or some', () => {
  for (const given of [tool, { tool }, { tools: [tool] }]) {
    assert.deepEqual(readParams('registry/update', given, 'tools/register'), { ok: true, value: { tools: [tool] } });
  }
});

test('a widget is read with the names of today', () => {
  const given = { kind: 'set_widget', widget: { kind: 'stack', items: [{ kind: 'diff', diff: '+a' }] } };
  assert.deepEqual(readParams('ui/request', given), {
    ok: true,
    value: { kind: 'set_widget', widget: { kind: 'stack', children: [{ kind: 'diff', patch: '+a' }] } },
  });
  assert.equal(readParams('ui/request', { kind: 'set_widget', widget: { kind: 'hologram', text: 'x' } }).ok, true);
});

test('an action that says an error has failed', () => {
  assert.deepEqual(readResult('action/execute', { error: 'no' }), { ok: true, value: { error: 'no', ok: false } });
});

test('a seam takes the session of its context or a key', () => {
  const injection = { text: 'Remember the milk.', placement: 'append_context' };
  assert.equal(writeFault('injection/enqueue', 'params', { context, ...injection }), undefined);
  assert.equal(writeFault('injection/enqueue', 'params', { session_key: 'agent:main:notes', ...injection, ttl_ms: 1 }), undefined);
  assert.match(writeFault('injection/enqueue', 'params', { sessionKey: 'agent:main:notes', ...injection }) ?? '', /sessionKey/);
  assert.match(writeFault('schedule/turn', 'params', { context, message: 'x', cron: 'often' }) ?? '', /params\/cron/);
});

test('registrations are taken one by one, and what does not fit is named', () => {
  const { taken, leftOut } = readRegistrations({
    tools: [tool, { name: 'bad' }, { ...tool, description: 'Says it louder.' }, 5],
    commands: { name: 'x' },
    hooks: ['tool_call', 7],
    message_renderers: [{ tag: 'note', template: { kind: 'markdown', markdown: '{{text}}' } }],
    from_the_future: [1],
  });
  assert.deepEqual(taken.tools, [{ ...tool, description: 'Says it louder.' }], 'of two with one name the last one holds');
  assert.deepEqual(taken.hooks, ['tool_call']);
  assert.deepEqual(taken.message_renderers, [{ tag: 'note', template: { kind: 'markdown', text: '{{text}}' } }]);
  assert.deepEqual(
    leftOut.map(({ kind, key }) => [kind, key]),
    [
      ['tools', 'bad'],
      ['tools', '3'],
      ['commands', ''],
      ['hooks', '1'],
    ],
  );
  assert.match(leftOut[0]!.message, /^registrations\/tools\/1 /);
});

test('registrations that are no object, or too many, do no harm', () => {
  for (const given of [undefined, null, 5, 'x', []]) assert.deepEqual(readRegistrations(given), { taken: {}, leftOut: [] });
  const { taken, leftOut } = readRegistrations({ flags: Array.from({ length: 300 }, (_, index) => `f${index}`) });
  assert.equal(taken.flags?.length, 256);
  assert.match(leftOut[0]!.message, /more than 256/);
});
