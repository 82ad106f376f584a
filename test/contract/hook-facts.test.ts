// What hooks are told: the facts of a finish, why a session began, only calls of the tools that they want, and nothing that has
// to be read for them where they do not ask for it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type HookEvent, type HookName, hookNames, hookRow } from '@tenon/protocol';
import { resetSession, tellStart } from '../../packages/gateway/src/agent/session-life.ts';
import type { HookHandler } from '../../packages/gateway/src/host/hook-registry.ts';
import type { Store } from '../../packages/gateway/src/store/store.ts';
import { KEY, noteTool, openTurns, type TurnWorld } from '../support/turns.ts';
import { verifies } from '../support/verifies.ts';

test('before_agent_finalize knows what the turn did, which attempt it is, and whether a handler sent it back', async () => {
  verifies('compat:C13');
  const failing = noteTool([], {
    name: 'fail',
    run() {
      throw new Error('no');
    },
  });
  await using world = await openTurns({
    steps: [
      { calls: [{ name: 'look', arguments: { value: 'x' } }] },
      { text: 'First.' },
      { calls: [{ name: 'fail', arguments: {} }] },
      { text: 'Second.' },
      { text: 'Plain.' },
    ],
    tools: [noteTool([], { name: 'look' }), failing],
  });
  const seen: HookEvent<'before_agent_finalize'>[] = [];
  world.hooks.add('before_agent_finalize', {
    plugin: 'judge',
    handler: (event) => {
      seen.push(event);
      return { action: 'revise', retry: { instruction: 'Again.', idempotencyKey: 'once' } };
    },
  });
  await world.say('Go');
  await world.say('And without tools');
  const facts = seen.map(({ attemptIndex, stopHookActive, madeToolCall, toolCalls, lastAssistantMessage, runId, turnId }) => ({
    attemptIndex,
    stopHookActive,
    madeToolCall,
    tools: toolCalls.map(({ toolName, isError }) => [toolName, isError]),
    lastAssistantMessage,
    isOfTheRun: runId !== undefined && runId === turnId,
  }));
  assert.deepEqual(facts.slice(0, 3), [
    {
      attemptIndex: 0,
      stopHookActive: false,
      madeToolCall: true,
      tools: [['look', false]],
      lastAssistantMessage: 'First.',
      isOfTheRun: true,
    },
    {
      attemptIndex: 1,
      stopHookActive: true,
      madeToolCall: true,
      tools: [
        ['look', false],
        ['fail', true],
      ],
      lastAssistantMessage: 'Second.',
      isOfTheRun: true,
    },
    { attemptIndex: 0, stopHookActive: false, madeToolCall: false, tools: [], lastAssistantMessage: 'Plain.', isOfTheRun: true },
  ]);
  for (const { messages } of seen) assert.ok(messages && messages.length > 0);
  assert.deepEqual(
    (seen[0]?.messages ?? []).map(({ role }) => role),
    ['user', 'assistant', 'toolResult', 'assistant'],
  );
});

test('session_start says why the session began', async () => {
  verifies('compat:C19');
  await using world = await openTurns({ steps: [{ text: 'Hi.' }] });
  const reasons: unknown[] = [];
  world.hooks.add('session_start', {
    plugin: 'p',
    handler: ({ reason, resumedFrom, sessionId }) => void reasons.push([reason, resumedFrom !== undefined && resumedFrom !== sessionId]),
  });
  await world.say('Hi');
  await resetSession(KEY, { ...world.deps, turns: world.turns, endJobs() {} }, (args) => world.store.write('sessions.reset', args));
  const { session } = await world.store.read('sessions.get', { key: KEY });
  for (const reason of ['fork', 'import'] as const) tellStart(world.deps.hooks, { session }, reason);
  await world.deps.hooks.drain(10_000);
  assert.deepEqual(reasons, [
    ['new', false],
    ['reset', true],
    ['fork', false],
    ['import', false],
  ]);
});

/** Counts how often what was said is read. */
function counting(reads: string[]) {
  return (deps: TurnWorld['deps']): TurnWorld['deps'] => {
    const read = ((name: string, args: never) => {
      if (name === 'entries.path') reads.push(name);
      return deps.store.read(name as never, args);
    }) as Store['read'];
    return { ...deps, store: { ...deps.store, write: deps.store.write.bind(deps.store), read } };
  };
}

const MESSAGES = ['messages', 'entries', 'entriesToSummarize'];
const without = (name: HookName) => !Object.keys(hookRow(name).event.properties).some((field) => MESSAGES.includes(field));

test('no history is read for hooks that do not ask for messages', async () => {
  verifies('seams:A11');
  const steps = [{ calls: [{ name: 'look', arguments: { value: 'x' } }] }, { text: 'Done.' }];
  const readsWith = async (names: readonly HookName[]) => {
    const reads: string[] = [];
    await using world = await openTurns({ steps, wrap: counting(reads) });
    for (const name of names) world.hooks.add(name, { plugin: 'p', handler: (() => undefined) as HookHandler<typeof name> });
    await world.say('Hi');
    return reads.length;
  };
  assert.equal(await readsWith(hookNames.filter(without)), await readsWith([]));

  for (const [name, expected] of [
    ['session_start', 0],
    ['before_reset', 1],
  ] as const) {
    const reads: string[] = [];
    await using world = await openTurns({ steps });
    await world.say('Hi');
    world.hooks.add(name, { plugin: 'p', handler: () => undefined });
    const deps = counting(reads)(world.deps);
    await resetSession(KEY, { ...deps, turns: world.turns, endJobs() {} }, (args) => world.store.write('sessions.reset', args));
    assert.equal(reads.length, expected, name);
  }
});

test('a list of messages is made only where a handler takes part that is given one', async () => {
  verifies('seams:A11');
  await using world = await openTurns({ steps: [{ text: 'Done.' }] });
  const seen: unknown[] = [];
  world.hooks.add('before_model_resolve', { plugin: 'p', handler: (event) => void seen.push('messages' in event) });
  world.hooks.add('agent_end', { plugin: 'p', handler: ({ messages }) => void seen.push(messages.length) });
  await world.say('Hi');
  await world.deps.hooks.drain(10_000);
  assert.deepEqual(seen, [false, 2]);
});

test('a call that comes to other arguments while it runs is judged again, and goes no further than it may', async () => {
  verifies('S73');
  const tool = noteTool([], {
    name: 'follow',
    async run({ value }, { judgeAgain }) {
      await judgeAgain?.({ value: `${value} and on` });
      return 'arrived';
    },
  });
  const call = (value: string) => ({ calls: [{ name: 'follow', arguments: { value } }] });
  await using world = await openTurns({ steps: [call('good'), call('evil'), call('asked'), { text: 'Done.' }], tools: [tool] });
  const seen: unknown[] = [];
  world.hooks.add('before_tool_call', {
    plugin: 'judge',
    handler: ({ params }) => {
      seen.push(params.value);
      if (params.value === 'evil and on') return { block: true, blockReason: 'not there' };
      return params.value === 'asked and on' ? { requireApproval: { title: 'May it?', description: '' } } : undefined;
    },
  });
  await world.say('Go');
  const results = (await world.messages()).flatMap((message) => (message.role === 'toolResult' ? [message] : []));
  assert.deepEqual(seen, ['good', 'good and on', 'evil', 'evil and on', 'asked', 'asked and on']);
  assert.match(JSON.stringify(results[0]?.content), /arrived/);
  assert.match(JSON.stringify(results[1]?.content), /which is not allowed. Blocked by judge: not there/);
  assert.match(JSON.stringify(results[2]?.content), /judge wants to be asked first/);
  assert.deepEqual(
    results.map(({ isError }) => isError),
    [false, true, true],
  );
});

test('a hook with a matcher is asked for calls of these tools only, and a bad matcher is refused', async () => {
  await using world = await openTurns({
    steps: [{ calls: [{ name: 'look', arguments: {} }] }, { calls: [{ name: 'change', arguments: {} }] }, { text: 'Done.' }],
  });
  const seen: string[] = [];
  for (const name of ['before_tool_call', 'after_tool_call'] as const)
    world.hooks.add(name, { plugin: 'p', matcher: ['change'], handler: ({ toolName }) => void seen.push(`${name} ${toolName}`) });
  await world.say('Go');
  await world.deps.hooks.drain(10_000);
  assert.deepEqual(seen, ['before_tool_call change', 'after_tool_call change']);
  const add = (name: HookName, matcher: unknown) => () =>
    void world.hooks.add(name, { plugin: 'p', matcher: matcher as string[], handler: (() => undefined) as HookHandler<typeof name> });
  for (const matcher of [[], ['*'], ['bash'], ['Write'], [''], 'exec', [5]]) assert.throws(add('before_tool_call', matcher), /matcher/i);
  assert.throws(add('agent_end', ['exec']), /for before_tool_call and after_tool_call/);
});
