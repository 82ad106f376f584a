import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError, type HookName } from '@tenon/protocol';
import { createRandom } from '../../../../test/support/random.ts';
import { createHookRegistry } from './hook-registry.ts';

const noOpinion = () => undefined;

test('handlers are ordered by priority, then plugin id, then registration, however they came', () => {
  const expected = ['b:10', 'a:0', 'c:0', 'a:-5'];
  const random = createRandom(18);
  for (let round = 0; round < 200; round++) {
    const registry = createHookRegistry();
    const rest = [...expected];
    while (rest.length > 0) {
      const [picked] = rest.splice(random.below(rest.length), 1);
      const [plugin, priority] = picked!.split(':') as [string, string];
      registry.add('input', { plugin, handler: noOpinion, priority: Number(priority) });
    }
    assert.deepEqual(
      registry.handlers('input').map(({ plugin, priority }) => `${plugin}:${priority}`),
      expected,
    );
  }
  const registry = createHookRegistry();
  const first = () => undefined;
  registry.add('input', { plugin: 'a', handler: first });
  registry.add('input', { plugin: 'a', handler: noOpinion });
  assert.deepEqual(
    registry.handlers('input').map(({ handler }) => handler),
    [first, noOpinion],
  );
});

test('a disposer takes back exactly its registration, once, and a list that was read stays as it was', () => {
  const registry = createHookRegistry();
  const dispose = registry.add('input', { plugin: 'a', handler: noOpinion });
  registry.add('input', { plugin: 'a', handler: noOpinion });
  const before = registry.handlers('input');
  dispose();
  dispose();
  assert.equal(before.length, 2);
  assert.deepEqual(
    before.map(({ isLive }) => isLive),
    [false, true],
  );
  assert.equal(registry.handlers('input').length, 1);
});

test("a timeout is the author's, else the row's", () => {
  const registry = createHookRegistry();
  registry.add('before_tool_call', { plugin: 'a', handler: noOpinion, timeoutMs: 3 });
  registry.add('before_tool_call', { plugin: 'b', handler: noOpinion });
  assert.deepEqual(
    registry.handlers('before_tool_call').map(({ timeoutMs }) => timeoutMs),
    [3, 15_000],
  );
});

test('one that is switched off is asked no more, and is listed until it is disposed', () => {
  const registry = createHookRegistry();
  const dispose = registry.add('input', { plugin: 'a', handler: noOpinion });
  const [handler] = registry.handlers('input');
  const off = { at: 7, reason: 'too slow' };
  assert.equal(registry.switchOff(handler!, off), true);
  assert.equal(registry.switchOff(handler!, off), false);
  assert.deepEqual(registry.handlers('input'), []);
  assert.deepEqual(registry.switchedOff('input'), [{ handler, off }]);
  dispose();
  assert.deepEqual(registry.switchedOff('input'), []);
});

test('what cannot be registered is refused with the reason', () => {
  const registry = createHookRegistry();
  const refused = (expected: RegExp, name: string, more: object = {}) =>
    assert.throws(
      () => registry.add(name as HookName, { plugin: 'a', handler: noOpinion, ...more }),
      (error) => error instanceof GatewayError && error.code === 'INVALID_REQUEST' && expected.test(error.message),
    );
  refused(/"no_such_hook", which does not exist/, 'no_such_hook');
  refused(/"toString", which does not exist/, 'toString');
  refused(/"reply_dispatch": an answer is sent in one way only/, 'reply_dispatch');
  refused(/priority .* whole number from -1000 to 1000/, 'input', { priority: 1001 });
  refused(/priority/, 'input', { priority: 0.5 });
  refused(/timeoutMs .* whole number from 1 to 600000/, 'input', { timeoutMs: 0 });
  refused(/not a function/, 'input', { handler: 'x' });
  for (let count = 0; count < 64; count++) registry.add('input', { plugin: 'a', handler: noOpinion });
  refused(/has 64 handlers of "input" already/, 'input');
});
