import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hookNames, hookRow, type HookEvent, type HookName } from '@tenon/protocol';
import { createManualClock } from '../../../../test/support/clock.ts';
import { createRandom } from '../../../../test/support/random.ts';
import { createMetrics } from '../kernel/metrics.ts';
import { createPluginCaller, type PluginFailure } from './call-plugin.ts';
import { createHookRegistry, type HookHandler } from './hook-registry.ts';
import { CONCURRENT_OBSERVERS, QUEUED_OBSERVERS } from './observer-lanes.ts';
import { createHookRunner } from './run-hook.ts';

function world() {
  const clock = createManualClock();
  const metrics = createMetrics();
  const failures: PluginFailure[] = [];
  const registry = createHookRegistry();
  const caller = createPluginCaller({ clock, metrics, reportFailure: (failure) => failures.push(failure) });
  const runner = createHookRunner({ registry, caller, clock, metrics });
  const on = <Name extends HookName>(plugin: string, name: Name, handler: HookHandler<Name>, priority = 0) =>
    registry.add(name, { plugin, handler, priority });
  return { clock, metrics, failures, registry, runner, on };
}

const call = (params: HookEvent<'before_tool_call'>['params'] = {}): HookEvent<'before_tool_call'> => ({
  toolName: 'exec',
  toolCallId: 'c1',
  params,
});
const persisted = {
  sessionKey: 'agent:main:a',
  agentId: 'main',
  toolName: 'ls',
  toolCallId: 'c1',
  toolInput: {},
  toolResult: {},
  messageId: 'e1234',
};
const hangs = () => new Promise<never>(() => {});
const throws = () => {
  throw new Error('broken');
};
const ofKind = (kind: string) => hookNames.filter((name) => hookRow(name).kind === kind);

test('a hook without handlers is done at once, with the event as it came', () => {
  const { runner } = world();
  const event = call();
  assert.equal(runner.has('before_tool_call'), false);
  const outcome = runner.run('before_tool_call', event);
  assert.deepEqual(outcome, { kind: 'done', event, by: [], failed: [] });
  assert.equal('event' in outcome && outcome.event, event);
  assert.equal(Object.isFrozen(event), false);
});

test('handlers that answer at once give an outcome that need not be awaited', () => {
  const { runner, on } = world();
  on('a', 'before_tool_call', () => ({ params: { n: 1 } }));
  assert.equal(runner.has('before_tool_call'), true);
  assert.deepEqual(runner.run('before_tool_call', call()), { kind: 'done', event: call({ n: 1 }), by: ['a'], failed: [] });
});

test('each handler sees what the last one made, and only those that changed something are named', async () => {
  const { runner, on } = world();
  on('a', 'before_tool_call', async ({ params }) => ({ params: { list: [...(params.list as string[]), 'a'] } }));
  on('b', 'before_tool_call', () => undefined);
  on('c', 'before_tool_call', ({ params }) => ({ params: { list: [...(params.list as string[]), 'c'] } }));
  const outcome = await runner.run('before_tool_call', call({ list: [] }));
  assert.deepEqual(outcome, { kind: 'done', event: call({ list: ['a', 'c'] }), by: ['a', 'c'], failed: [] });
});

test('the same plugins give the same outcome, in whatever order they were loaded', async () => {
  const random = createRandom(18);
  const plugins = ['ant', 'bee', 'cat', 'dog', 'eel', 'fox'];
  const outcomes = new Set<string>();
  for (let round = 0; round < 1_000; round++) {
    const { runner, on } = world();
    const rest = [...plugins];
    while (rest.length > 0) {
      const [plugin] = rest.splice(random.below(rest.length), 1) as [string];
      const isSlow = random.chance(0.5);
      const priority = plugin === 'dog' ? 5 : 0;
      const answer = ({ params }: HookEvent<'before_tool_call'>) => ({
        params: { trace: `${(params.trace as string | undefined) ?? ''}${plugin} ` },
        ...(plugin === 'eel' ? { requireApproval: { title: 'Sure?', description: '' } } : {}),
      });
      on(plugin, 'before_tool_call', isSlow ? async (event) => answer(event) : answer, priority);
    }
    outcomes.add(JSON.stringify(await runner.run('before_tool_call', call())));
  }
  assert.equal(outcomes.size, 1);
  assert.match([...outcomes][0]!, /"trace":"dog ant bee cat eel "/);
});

test('a block cannot be lifted: nobody after it is asked', async () => {
  const { runner, on } = world();
  on('guard', 'before_tool_call', () => ({ block: true, blockReason: 'not today' }), 1);
  on('friend', 'before_tool_call', () => assert.fail('asked after a block'));
  const blocked = { block: true, blockReason: 'not today' };
  assert.deepEqual(await runner.run('before_tool_call', call()), {
    kind: 'refused',
    plugin: 'guard',
    reason: 'not today',
    result: blocked,
  });
});

test('block: false before a block does not help', async () => {
  const { runner, on } = world();
  on('friend', 'before_tool_call', () => ({ block: false }), 1);
  on('guard', 'before_tool_call', () => ({ block: true }));
  const outcome = await runner.run('before_tool_call', call());
  assert.equal(outcome.kind, 'refused');
});

test('a handled input is claimed by the first, with its reply', async () => {
  const { runner, on } = world();
  on('a', 'input', ({ text }) => ({ text: text.toUpperCase() }));
  on('b', 'input', ({ text }) => ({ handled: true, reply: `heard ${text}` }));
  on('c', 'input', () => assert.fail('asked after it was handled'));
  const outcome = await runner.run('input', { text: 'hi' });
  assert.deepEqual(outcome, { kind: 'claimed', plugin: 'b', result: { handled: true, reply: 'heard HI' }, failed: [] });
});

test('a claim goes to the first that handles it; who fails or declines is passed over, and the failure is told', async () => {
  const { runner, on, failures } = world();
  on('a', 'before_agent_reply', throws);
  on('b', 'before_agent_reply', () => ({ handled: false }));
  on('c', 'before_agent_reply', async () => ({ handled: true, reply: 'c' }));
  on('d', 'before_agent_reply', () => assert.fail('asked after it was claimed'));
  const outcome = await runner.run('before_agent_reply', { cleanedBody: 'hi' });
  assert.deepEqual(outcome, { kind: 'claimed', plugin: 'c', result: { handled: true, reply: 'c' }, failed: ['a'] });
  assert.equal(failures.length, 1);
});

test('a claim that nobody takes says whether somebody failed', async () => {
  const { runner, on } = world();
  on('a', 'before_agent_reply', throws);
  const outcome = await runner.run('before_agent_reply', { cleanedBody: 'hi' });
  assert.deepEqual(outcome, { kind: 'done', event: { cleanedBody: 'hi' }, by: [], failed: ['a'] });
});

test('a throw, a hang and an answer of the wrong shape follow the failure policy of every row that is asked', async () => {
  const wrongAnswers = [null, 5, 'yes', [], { noSuchField: true }, () => {}];
  for (const name of [...ofKind('modify'), ...ofKind('claim')]) {
    const failing: [string, HookHandler<HookName>][] = [
      ['threw', throws],
      ['threw', () => Promise.reject(new Error('broken'))],
      ['timed-out', hangs],
      ...wrongAnswers.map((wrong): [string, HookHandler<HookName>] => ['wrong-shape', () => wrong as never]),
    ];
    for (const [kind, handler] of failing) {
      const { runner, on, failures, clock } = world();
      on('bad', name, handler as never);
      const pending = runner.run(name, { text: 'hi' } as never);
      if (kind === 'timed-out') clock.advance(hookRow(name).timeoutMs);
      const outcome = await pending;
      assert.equal(outcome.kind, hookRow(name).onFailure === 'closed' ? 'refused' : 'done', `${name}, ${kind}`);
      if ('failed' in outcome) assert.deepEqual(outcome.failed, ['bad']);
      if ('reason' in outcome) assert.match(outcome.reason, new RegExp(`^the ${name} handler of bad failed: `));
      assert.deepEqual(
        failures.map(({ plugin, place, kind: failed }) => ({ plugin, place, failed })),
        [{ plugin: 'bad', place: name, failed: kind }],
      );
    }
  }
});

test('where failure is open, the handlers after a failed one are asked', async () => {
  const { runner, on, clock } = world();
  on('a', 'input', hangs);
  on('b', 'input', () => ({ text: 'b' }));
  const pending = runner.run('input', { text: 'hi' });
  clock.advance(15_000);
  assert.deepEqual(await pending, { kind: 'done', event: { text: 'b' }, by: ['b'], failed: ['a'] });
});

test('a result that arrives after the timeout changes nothing', async () => {
  const { runner, on, clock } = world();
  const late = Promise.withResolvers<{ text: string }>();
  on('slow', 'input', () => late.promise);
  const pending = runner.run('input', { text: 'hi' });
  clock.advance(15_000);
  const outcome = await pending;
  late.resolve({ text: 'late' });
  await late.promise;
  assert.deepEqual(outcome, { kind: 'done', event: { text: 'hi' }, by: [], failed: ['slow'] });
});

test('an answer that fits its schema and not the event is a failure, too', async () => {
  const { runner, on, failures } = world();
  on('a', 'before_message_write', () => ({ message: { role: 'user', content: [], timestamp: 1 } }));
  const message: HookEvent<'before_message_write'>['message'] = {
    role: 'toolResult',
    toolCallId: 'c',
    toolName: 'ls',
    content: [],
    isError: false,
    timestamp: 1,
  };
  const outcome = await runner.run('before_message_write', { message });
  assert.deepEqual(outcome, { kind: 'done', event: { message }, by: [], failed: ['a'] });
  assert.match(failures[0]?.message ?? '', /role "user" in place of "toolResult"/);
});

test('the event is frozen whole, also after a merge, and an answer cannot be changed after it was checked', async () => {
  const { runner, on } = world();
  const params = { deep: { command: 'ls' } };
  const seen: boolean[] = [];
  const frozen = (event: HookEvent<'before_tool_call'>) => [event, event.params, event.params.deep].every((each) => Object.isFrozen(each));
  on('a', 'before_tool_call', (event) => {
    seen.push(frozen(event));
    return { params };
  });
  on('b', 'before_tool_call', (event) => {
    params.deep.command = 'rm -r .';
    seen.push(frozen(event));
    return undefined;
  });
  const outcome = await runner.run('before_tool_call', call({ deep: {} }));
  assert.deepEqual(seen, [true, true]);
  assert.deepEqual(outcome.kind === 'done' && outcome.event.params, { deep: { command: 'ls' } });
});

test('a handler that changes the event in place fails as its row says, and changes nothing', async () => {
  const { runner, on } = world();
  on('a', 'before_tool_call', ({ params }) => {
    params.command = 'rm -r .';
    return undefined;
  });
  const event = call({ command: 'ls' });
  const outcome = await runner.run('before_tool_call', event);
  assert.equal(outcome.kind, 'refused');
  assert.deepEqual(event.params, { command: 'ls' });
});

test('reserved keys in an answer are refused', async () => {
  const { runner, on, failures } = world();
  on('a', 'before_tool_call', () => ({ params: JSON.parse('{"__proto__": {"admin": true}}') }));
  const outcome = await runner.run('before_tool_call', call());
  assert.equal(outcome.kind, 'refused');
  assert.match(failures[0]?.message ?? '', /reserved key "__proto__"/);
});

test('a handler that is disposed while the hook is under way is skipped', async () => {
  const { runner, on, failures } = world();
  on('a', 'input', async () => {
    dispose();
    return undefined;
  });
  const dispose = on('b', 'input', () => ({ text: 'called after its plugin was unloaded' }));
  assert.deepEqual(await runner.run('input', { text: 'hi' }), { kind: 'done', event: { text: 'hi' }, by: [], failed: [] });
  assert.deepEqual(failures, []);
});

test('an abort ends the wait: closed is refused, open is done with what it has, and nobody else is asked', async () => {
  const { runner, on, failures } = world();
  for (const name of ['before_tool_call', 'input'] as const) {
    on('a', name, hangs);
    on('b', name, () => assert.fail('asked after the abort'));
  }
  const controller = new AbortController();
  const { signal } = controller;
  const gate = runner.run('before_tool_call', call(), { signal });
  const input = runner.run('input', { text: 'hi' }, { signal });
  controller.abort();
  assert.deepEqual(await gate, { kind: 'refused', plugin: 'a', reason: 'the wait for a was aborted' });
  assert.deepEqual(await input, { kind: 'done', event: { text: 'hi' }, by: [], failed: [] });
  assert.equal((await runner.run('before_tool_call', call(), { signal })).kind, 'refused');
  assert.deepEqual(failures, []);
});

test('observers are all told, are not waited for, and what they return or throw is of no account', async () => {
  const { runner, on, failures } = world();
  const told: string[] = [];
  on('a', 'after_tool_call', () => {
    told.push('a');
    return { block: true } as never;
  });
  on('b', 'after_tool_call', throws);
  on('c', 'after_tool_call', () => {
    told.push('c');
    return hangs();
  });
  on('d', 'after_tool_call', () => void told.push('d') as undefined);
  const event = call();
  assert.deepEqual(runner.run('after_tool_call', event), { kind: 'done', event, by: [], failed: [] });
  assert.deepEqual(told, ['a', 'c', 'd']);
  assert.deepEqual(
    failures.map(({ plugin }) => plugin),
    ['b'],
  );
});

test('observers of a slow plugin queue, then are dropped and counted, and no other plugin is held up', async () => {
  const { runner, on, failures, metrics, clock } = world();
  const started = { slow: 0, quick: 0 };
  on('slow', 'after_tool_call', () => {
    started.slow++;
    return hangs();
  });
  on('quick', 'after_tool_call', () => void started.quick++ as undefined);
  const total = CONCURRENT_OBSERVERS + QUEUED_OBSERVERS + 10;
  for (let count = 0; count < total; count++) runner.run('after_tool_call', call());
  assert.deepEqual(started, { slow: CONCURRENT_OBSERVERS, quick: total });
  assert.equal(metrics.value('tenon_plugin_observers_dropped_total', { plugin: 'slow', place: 'after_tool_call' }), 10);
  assert.deepEqual(
    failures.map(({ plugin, kind }) => ({ plugin, kind })),
    [{ plugin: 'slow', kind: 'dropped' }],
    'the overflow is reported once',
  );
  clock.advance(15_000);
  await new Promise(setImmediate);
  assert.equal(started.slow, 2 * CONCURRENT_OBSERVERS, 'those that wait are called when others have timed out');
});

test('an observer that causes the next event of its own hook does not lose its place', async () => {
  const { runner, on } = world();
  let depth = 0;
  on('a', 'after_tool_call', async () => {
    if (depth++ < 100) runner.run('after_tool_call', call());
    return undefined;
  });
  runner.run('after_tool_call', call());
  assert.deepEqual(await runner.drain(1_000), { unfinished: 0 });
  assert.equal(depth, 101);
});

test('drain waits for observers, and no longer than it may', async () => {
  const { runner, on, clock } = world();
  const slow = Promise.withResolvers<undefined>();
  on('a', 'session_end', () => slow.promise);
  assert.deepEqual(await runner.drain(10), { unfinished: 0 });
  const event: HookEvent<'session_end'> = { sessionKey: 'agent:main:a', sessionId: 'x'.repeat(22), reason: 'shutdown', messageCount: 0 };
  runner.run('session_end', event);
  const tooShort = runner.drain(10);
  clock.advance(10);
  assert.deepEqual(await tooShort, { unfinished: 1 });
  const enough = runner.drain(2_000);
  slow.resolve(undefined);
  assert.deepEqual(await enough, { unfinished: 0 });
});

test('persist observers are awaited one after another in their order, and none is dropped', async () => {
  const { runner, on } = world();
  const log: string[] = [];
  for (const plugin of ['b', 'a']) {
    on(plugin, 'after_tool_call_persist', async () => {
      log.push(`${plugin} begins`);
      await new Promise(setImmediate);
      log.push(`${plugin} ends`);
      return undefined;
    });
  }
  const { toolResult: _, ...before } = persisted;
  assert.equal((await runner.run('after_tool_call_persist', persisted)).kind, 'done');
  assert.deepEqual(log, ['a begins', 'a ends', 'b begins', 'b ends']);
  let called = 0;
  on('a', 'before_tool_call_persist', async () => void called++ as undefined);
  const many = CONCURRENT_OBSERVERS + QUEUED_OBSERVERS + 100;
  await Promise.all(Array.from({ length: many }, () => runner.run('before_tool_call_persist', { ...before })));
  assert.equal(called, many);
});

test('a persist observer that throws or hangs is recorded and stops nothing', async () => {
  const { runner, on, failures, clock } = world();
  const told: string[] = [];
  on('a', 'after_tool_call_persist', throws);
  on('b', 'after_tool_call_persist', () => {
    told.push('b');
    queueMicrotask(() => clock.advance(5_000));
    return hangs();
  });
  on('c', 'after_tool_call_persist', () => void told.push('c') as undefined);
  const outcome = await runner.run('after_tool_call_persist', persisted);
  assert.deepEqual(outcome, { kind: 'done', event: persisted, by: [], failed: ['a', 'b'] });
  assert.deepEqual(told, ['b', 'c']);
  assert.deepEqual(
    failures.map(({ plugin, kind }) => `${plugin} ${kind}`),
    ['a threw', 'b timed-out'],
  );
});
