import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AgentInfo, GatewayError, limits, type ModelInfo } from '@tenon/protocol';
import { modelList, outcomeOf, parseCompletion, resolveTarget } from './completions.ts';

const known = {
  agents: ['main', 'coder', 'demo'].map((id) => ({ id }) as AgentInfo),
  models: ['demo', 'vendor/large@2', 'coder@old'].map((id) => ({ id, usable: id !== 'coder@old' }) as ModelInfo),
};

test('a name is an agent before it is a model, and may be both', () => {
  const cases: [name: string, agentId: string | undefined, model: string | undefined][] = [
    ['tenon', undefined, undefined],
    ['tenon/coder', 'coder', undefined],
    ['coder', 'coder', undefined],
    ['demo', 'demo', undefined],
    ['tenon@demo', undefined, 'demo'],
    ['tenon/coder@demo', 'coder', 'demo'],
    ['coder@vendor/large@2', 'coder', 'vendor/large@2'],
    ['vendor/large@2', undefined, 'vendor/large@2'],
    ['coder@old', undefined, 'coder@old'],
  ];
  for (const [name, agentId, model] of cases) assert.deepEqual(resolveTarget(name, known), { agentId, model }, name);
  for (const name of ['', 'Tenon', 'tenon/', 'tenon/tenon', 'tenon/coder@', 'coder@nothing', '@demo', 'tenon/tenon/coder'])
    assert.throws(
      () => resolveTarget(name, known),
      (error) => error instanceof GatewayError && error.code === 'NOT_FOUND',
      name,
    );
});

test('the list of models has each name once, and none that cannot be used', () => {
  const { data } = modelList(known, 5_000) as { data: { id: string; created: number }[] };
  assert.deepEqual(
    data.map(({ id }) => id),
    ['tenon', 'tenon/main', 'tenon/coder', 'tenon/demo', 'demo', 'vendor/large@2'],
  );
  assert.equal(data[0]?.created, 5);
});

test('the parts of a message stay in order, and empty texts count as said', () => {
  const parsed = parseCompletion({
    model: 'tenon',
    messages: [
      { role: 'assistant', content: null },
      { role: 'user', content: '' },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'a' },
          { type: 'refusal', refusal: 'no' },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'b' },
          { type: 'text', text: 'c' },
        ],
      },
      { role: 'system', content: 'last' },
    ],
  });
  assert.deepEqual(parsed.history, [
    { role: 'assistant', text: '' },
    { role: 'user', content: [{ type: 'text', text: '' }] },
    { role: 'assistant', text: 'a' },
  ]);
  assert.deepEqual(parsed.content, [
    { type: 'text', text: 'b' },
    { type: 'text', text: 'c' },
  ]);
  assert.equal(parsed.system, 'last');
});

test('many parts together are one message, and have its limit', () => {
  const half = 'x'.repeat(limits.messageChars.value / 2 + 1);
  const parts = [half, half].map((text) => ({ type: 'text', text }));
  assert.throws(() => parseCompletion({ model: 'tenon', messages: [{ role: 'user', content: parts }] }), /longer than/);
});

test('every end of a run is told, and each failure with a status that fits', () => {
  assert.deepEqual(outcomeOf({ kind: 'completed' }), { kind: 'finished', reason: 'stop' });
  assert.deepEqual(outcomeOf({ kind: 'cost_limit' }), { kind: 'finished', reason: 'length' });
  const statusOf = (code: string) => {
    const outcome = outcomeOf({ kind: 'failed', code });
    return outcome.kind === 'failed' ? outcome.status : 200;
  };
  assert.deepEqual(['rate_limited', 'timeout', 'unauthorized', 'something new'].map(statusOf), [429, 503, 500, 500]);
});
