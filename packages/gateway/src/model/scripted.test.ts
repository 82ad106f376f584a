import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createScriptedModel } from './scripted.ts';
import type { Model, ModelEvent, ModelRequest } from './types.ts';

const request: ModelRequest = { system: 's', messages: [], tools: [], thinking: 'off' };

async function events(model: Model, signal = new AbortController().signal): Promise<ModelEvent[]> {
  const all: ModelEvent[] = [];
  for await (const event of model.stream(request, signal)) all.push(event);
  return all;
}

test('it says its steps in order, one per request, and keeps the requests', async () => {
  const model = createScriptedModel([
    { thinking: 'hm', text: ['a', 'b'], calls: [{ name: 'ls', arguments: { path: '.' } }], usage: { input: 7 } },
    ({ system }) => ({ text: `saw ${system}` }),
  ]);
  const first = await events(model);
  assert.deepEqual(
    first.map(({ type }) => type),
    ['thinking', 'text', 'text', 'tool', 'end'],
  );
  const end = first.at(-1);
  assert.ok(end?.type === 'end' && end.message.stopReason === 'toolUse' && end.message.usage.input === 7);
  assert.deepEqual(end.message.content, [
    { type: 'thinking', thinking: 'hm' },
    { type: 'text', text: 'ab' },
    { type: 'toolCall', id: 'call_1', name: 'ls', arguments: { path: '.' } },
  ]);
  assert.deepEqual((await events(model))[0], { type: 'text', delta: 'saw s' });
  const last = (await events(model)).at(-1);
  assert.match(last?.type === 'failed' ? last.failure.message : '', /no step for request 3/);
  assert.equal(model.requests.length, 3);
});

test('it fails after what it said, and hangs until it is stopped', async () => {
  const model = createScriptedModel([
    { text: 'half', failure: { kind: 'overloaded', message: 'busy' } },
    { text: 'half', hang: true },
  ]);
  const failed = (await events(model)).at(-1);
  assert.ok(failed?.type === 'failed' && failed.failure.kind === 'overloaded' && failed.partial?.stopReason === 'error');
  const controller = new AbortController();
  const stream = model.stream(request, controller.signal)[Symbol.asyncIterator]();
  await stream.next();
  const last = stream.next();
  controller.abort();
  const { value } = await last;
  assert.ok(value?.type === 'failed' && value.failure.kind === 'aborted' && value.partial?.stopReason === 'aborted');
});

test('a step that throws is a failure', async () => {
  const model = createScriptedModel([
    () => {
      throw new Error('boom');
    },
  ]);
  assert.deepEqual(await events(model), [{ type: 'failed', failure: { kind: 'bad_output', message: 'boom' } }]);
});
