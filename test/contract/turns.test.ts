// What a turn does, told by a scripted model over a real store.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createScriptedModel } from '../../packages/gateway/src/model/scripted.ts';
import { KEY, noteTool, openTurns } from '../support/turns.ts';
import { verifies } from '../support/verifies.ts';

test('a message is answered, and the transcript has both', async () => {
  await using world = await openTurns({ steps: [{ text: ['Hello', ' there'] }] });
  assert.deepEqual(await world.say('Hi'), { kind: 'completed' });
  const messages = await world.messages();
  assert.deepEqual(
    messages.map(({ role, content }) => [role, content]),
    [
      ['user', [{ type: 'text', text: 'Hi' }]],
      ['assistant', [{ type: 'text', text: 'Hello there' }]],
    ],
  );
  const deltas = world.said.flatMap((said) => (said.stream === 'assistant' ? [said.delta] : []));
  assert.deepEqual(deltas, ['Hello', ' there']);
  assert.deepEqual(
    world.said.map((said) => said.seq),
    world.said.map((_, index) => index),
    'what a run says is numbered without gaps',
  );
});

test('a tool call is run, and its result is told to the model', async () => {
  await using world = await openTurns({
    steps: [{ text: 'I look.', calls: [{ name: 'look', arguments: { value: 'there' } }] }, { text: 'Done.' }],
  });
  assert.deepEqual(await world.say('Look there'), { kind: 'completed' });
  assert.deepEqual(
    world.calls.map(({ name, args }) => [name, args]),
    [['look', { value: 'there' }]],
  );
  const told = world.model.requests[1]?.messages ?? [];
  assert.deepEqual(
    told.map(({ role }) => role),
    ['user', 'assistant', 'toolResult'],
  );
  assert.deepEqual(told[2]?.content, [{ type: 'text', text: 'look did there' }]);
});

test('calls that are all parallel-safe run side by side, and their results are written in order', async () => {
  const calls: Parameters<typeof noteTool>[0] = [];
  const both = Promise.withResolvers<void>();
  let inside = 0;
  const run = async () => {
    if (++inside === 2) both.resolve();
    await both.promise;
    return 'seen';
  };
  await using world = await openTurns({
    tools: [noteTool(calls, { name: 'look', parallelSafe: true, run })],
    steps: [
      {
        calls: [
          { id: 'a', name: 'look' },
          { id: 'b', name: 'look' },
        ],
      },
      { text: 'Both.' },
    ],
  });
  assert.deepEqual(await world.say('Look twice'), { kind: 'completed' });
  const results = (await world.messages()).flatMap((message) => (message.role === 'toolResult' ? [message.toolCallId] : []));
  assert.deepEqual(results, ['a', 'b']);
});

test('calls that are not all parallel-safe run one after another', async () => {
  const calls: Parameters<typeof noteTool>[0] = [];
  let inside = 0;
  let most = 0;
  const run = async () => {
    most = Math.max(most, ++inside);
    await new Promise((resolve) => setImmediate(resolve));
    inside--;
    return 'done';
  };
  await using world = await openTurns({
    tools: [noteTool(calls, { name: 'look', parallelSafe: true, run }), noteTool(calls, { name: 'change', risk: 'write', run })],
    steps: [{ calls: [{ name: 'look' }, { name: 'change' }, { name: 'look' }] }, { text: 'Done.' }],
  });
  assert.deepEqual(await world.say('Go'), { kind: 'completed' });
  assert.equal(most, 1);
  assert.deepEqual(
    calls.map(({ name }) => name),
    ['look', 'change', 'look'],
  );
});

test('a tool that does not exist, arguments that do not fit and arguments that are not JSON are errors that the model can read', async () => {
  await using world = await openTurns({
    steps: [
      { calls: [{ name: 'lok' }, { name: 'look', arguments: { value: 5 } }, { name: 'look', malformed: '{"value": ' }] },
      { text: 'I see.' },
    ],
  });
  assert.deepEqual(await world.say('Go'), { kind: 'completed' });
  assert.deepEqual(world.calls, []);
  const results = (await world.messages()).flatMap((message) => (message.role === 'toolResult' ? [message] : []));
  assert.deepEqual(
    results.map(({ isError }) => isError),
    [true, true, true],
  );
  const texts = results.map(({ content }) => (content[0]?.type === 'text' ? content[0].text : ''));
  assert.match(texts[0]!, /no tool "lok".*look/);
  assert.match(texts[1]!, /arguments\/value/);
  assert.match(texts[2]!, /not a JSON object/);
});

test('an overloaded model is asked again, then the fallback answers', async () => {
  verifies('turns:fallback');
  const overloaded = { failure: { kind: 'overloaded', message: 'Too busy', retryAfterMs: 0 } } as const;
  const other = createScriptedModel([{ text: 'Instead.' }], { info: { id: 'other' } });
  await using world = await openTurns({
    steps: [overloaded, overloaded, overloaded],
    others: [other],
    fallbacks: ['other'],
    bounds: { attempts: 2 },
  });
  assert.deepEqual(await world.say('Hi'), { kind: 'completed' });
  assert.equal(world.model.requests.length, 2);
  assert.equal(other.requests.length, 1);
  const phases = world.said.flatMap((said) => (said.stream === 'lifecycle' ? [said.phase] : []));
  assert.deepEqual(phases, ['started', 'model', 'retry', 'model', 'fallback', 'model', 'ended']);
});

test('a model that cannot answer ends the turn with its reason, and the next message is answered', async () => {
  await using world = await openTurns({ steps: [{ failure: { kind: 'unauthorized', message: 'The key is wrong' } }, { text: 'Now.' }] });
  assert.deepEqual(await world.say('Hi'), { kind: 'failed', code: 'unauthorized', reason: 'The key is wrong' });
  assert.equal((await world.store.read('sessions.get', { key: KEY })).session.status, 'failed');
  assert.deepEqual(await world.say('And now?'), { kind: 'completed' });
});

test('stopping reaches the stream of the model, and what had arrived is kept', async () => {
  await using world = await openTurns({ steps: [{ text: ['Half a '], hang: true }] });
  const runId = await world.send('Hi');
  while (!world.said.some((said) => said.stream === 'assistant')) await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(await world.turns.abort(KEY), [runId]);
  assert.equal((await world.end(runId)).kind, 'aborted');
  const last = (await world.path()).at(-1);
  assert.ok(last?.type === 'message' && last.message.role === 'assistant');
  assert.deepEqual([last.message.stopReason, last.message.content], ['aborted', [{ type: 'text', text: 'Half a ' }]]);
});

test('stopping reaches a tool, and every call has its result', async () => {
  const calls: Parameters<typeof noteTool>[0] = [];
  const entered = Promise.withResolvers<void>();
  const run = (_: unknown, { signal }: { signal: AbortSignal }) =>
    new Promise<string>((_, reject) => {
      entered.resolve();
      signal.addEventListener('abort', () => reject(new Error('stopped')), { once: true });
    });
  await using world = await openTurns({
    tools: [noteTool(calls, { name: 'slow', run })],
    steps: [
      {
        calls: [
          { id: 'a', name: 'slow' },
          { id: 'b', name: 'slow' },
        ],
      },
    ],
  });
  const runId = await world.send('Go');
  await entered.promise;
  await world.turns.abort(KEY);
  assert.equal((await world.end(runId)).kind, 'aborted');
  assert.equal(calls.length, 1);
  const results = (await world.path()).flatMap((entry) =>
    entry.type === 'message' && entry.message.role === 'toolResult' ? [entry.message.toolCallId] : [],
  );
  assert.deepEqual(results, ['a', 'b']);
});

test('what writes asks first, and runs only when it was allowed', async () => {
  await using world = await openTurns({
    permissions: 'ask',
    steps: [
      { calls: [{ name: 'change', arguments: { value: 'x' } }] },
      { text: 'Done.' },
      { calls: [{ name: 'change', arguments: { value: 'y' } }] },
      { text: 'Not done.' },
    ],
  });
  const first = await world.send('Change it');
  await untilWaiting(world);
  assert.deepEqual(world.calls, []);
  await world.decide('allow-once');
  assert.deepEqual(await world.end(first), { kind: 'completed' });
  assert.equal(world.calls.length, 1);
  const second = await world.send('And y');
  await untilWaiting(world);
  await world.decide('deny');
  assert.deepEqual(await world.end(second), { kind: 'completed' });
  assert.equal(world.calls.length, 1);
  const last = (await world.messages()).findLast((message) => message.role === 'toolResult');
  assert.match(JSON.stringify(last?.content), /denied/);
});

test('"always" holds for exactly this', async () => {
  const change = (value: string) => ({ calls: [{ name: 'change', arguments: { value } }] });
  await using world = await openTurns({
    permissions: 'ask',
    steps: [change('x'), { text: '1' }, change('x'), { text: '2' }, change('x '), { text: '3' }],
  });
  const first = await world.send('one');
  await untilWaiting(world);
  await world.decide('allow-always');
  await world.end(first);
  assert.deepEqual(await world.say('two'), { kind: 'completed' });
  assert.equal(world.calls.length, 2);
  const third = await world.send('three');
  await untilWaiting(world);
  await world.decide('deny');
  await world.end(third);
  assert.equal(world.calls.length, 2);
});

test('one turn at a time: a second message waits and is told in its own turn', async () => {
  const gate = Promise.withResolvers<void>();
  await using world = await openTurns({ steps: [{ text: 'One', gate: () => gate.promise }, { text: 'Two' }] });
  const first = await world.send('first');
  while (world.model.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
  const second = await world.send('second');
  assert.equal(world.model.requests.length, 1);
  gate.resolve();
  assert.deepEqual([await world.end(first), await world.end(second)], [{ kind: 'completed' }, { kind: 'completed' }]);
  assert.deepEqual(
    world.ended.map(({ runId }) => runId),
    [first, second],
  );
});

test('collected messages are told together, and each of their runs ends once', async () => {
  const gate = Promise.withResolvers<void>();
  await using world = await openTurns({ steps: [{ text: 'One', gate: () => gate.promise }, { text: 'Both' }] });
  const first = await world.send('first', { mode: 'collect' });
  while (world.model.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
  const more = [await world.send('second', { mode: 'collect' }), await world.send('third', { mode: 'collect' })];
  gate.resolve();
  for (const runId of [first, ...more]) assert.deepEqual(await world.end(runId), { kind: 'completed' });
  assert.equal(world.model.requests.length, 2);
  const told = world.model.requests[1]!.messages.filter(({ role }) => role === 'user').map(
    ({ content }) => (content[0] as { text: string }).text,
  );
  assert.deepEqual(told, ['first', 'second', 'third']);
  assert.deepEqual(world.ended.map(({ runId }) => runId).sort(), [first, ...more].sort());
});

test('a steering message is told to the running turn after its tool calls', async () => {
  const calls: Parameters<typeof noteTool>[0] = [];
  const entered = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const run = async () => {
    entered.resolve();
    await gate.promise;
    return 'done';
  };
  await using world = await openTurns({
    tools: [noteTool(calls, { name: 'look', run })],
    steps: [{ calls: [{ name: 'look' }] }, { text: 'As you say.' }],
  });
  const first = await world.send('Go');
  await entered.promise;
  const second = await world.send('But careful', { mode: 'steer' });
  gate.resolve();
  assert.deepEqual([await world.end(first), await world.end(second)], [{ kind: 'completed' }, { kind: 'completed' }]);
  assert.deepEqual(
    world.model.requests[1]!.messages.map(({ role }) => role),
    ['user', 'assistant', 'toolResult', 'user'],
  );
});

test('an interrupting message stops the running turn and is answered', async () => {
  await using world = await openTurns({ steps: [{ text: ['Long'], hang: true }, { text: 'New' }] });
  const first = await world.send('first');
  while (!world.said.some((said) => said.stream === 'assistant')) await new Promise((resolve) => setImmediate(resolve));
  const second = await world.send('second', { mode: 'interrupt' });
  assert.equal((await world.end(first)).kind, 'aborted');
  assert.deepEqual(await world.end(second), { kind: 'completed' });
});

test('steps and cost of a turn are limited', async () => {
  const again = { calls: [{ name: 'look' }], usage: { costUsd: 0.4 } };
  await using steps = await openTurns({ steps: [again, again, again], bounds: { maxSteps: 2 } });
  assert.equal((await steps.say('Go')).kind, 'step_limit');
  assert.equal(steps.model.requests.length, 2);
  await using cost = await openTurns({ steps: [again, again, again], bounds: { maxCostUsd: 0.7 } });
  assert.equal((await cost.say('Go')).kind, 'cost_limit');
  assert.equal(cost.model.requests.length, 2);
  const run = await cost.store.read('usage.sum', { sessionKey: KEY });
  assert.equal(Math.round(run.total.costUsd * 10), 8);
});

test('when the window fills, older messages are summed up, and no pair of call and result is torn', async () => {
  verifies('turns:compaction');
  const long = 'word '.repeat(800);
  await using world = await openTurns({
    model: { contextWindow: 4_096 },
    steps: [{ text: long, calls: [{ name: 'look' }] }, { text: long }, { text: 'The summary.' }, { text: 'Answer.' }],
  });
  assert.deepEqual(await world.say(long), { kind: 'completed' });
  assert.deepEqual(await world.say('And then?'), { kind: 'completed' });
  const compaction = (await world.path()).find((entry) => entry.type === 'compaction');
  assert.equal(compaction?.type === 'compaction' && compaction.summary, 'The summary.');
  const told = world.model.requests.at(-1)!.messages;
  assert.match(JSON.stringify(told[0]), /The summary/);
  assert.ok(!JSON.stringify(told).includes('no result'), 'every call has its own result');
});

test('a parked turn goes on in another life, and the model sees each message once', async () => {
  await using world = await openTurns({ steps: [{ calls: [{ name: 'look' }] }, { text: ['Half'], hang: true }] });
  const runId = await world.send('Hi');
  while (!world.said.some((said) => said.stream === 'assistant')) await new Promise((resolve) => setImmediate(resolve));
  await world.abandon();
  assert.deepEqual(world.ended, []);
  const next = await openTurns({ after: world, steps: [{ text: 'Whole.' }] });
  await next.turns.resume();
  assert.deepEqual(await next.end(runId), { kind: 'completed' });
  assert.deepEqual(
    next.model.requests[0]!.messages.map(({ role }) => role),
    ['user', 'assistant', 'toolResult'],
  );
  assert.equal(world.ended.length, 1);
});

async function untilWaiting(world: Awaited<ReturnType<typeof openTurns>>): Promise<void> {
  for (;;) {
    const { approvals } = await world.store.read('approvals.list', { state: 'pending', limit: 1 });
    if (approvals.length > 0) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test('a plugin that deals with one of several messages leaves the others to the agent', async () => {
  const gate = Promise.withResolvers<void>();
  await using world = await openTurns({ steps: [{ text: 'One', gate: () => gate.promise }, { text: 'Rest' }] });
  world.hooks.add('input', {
    plugin: 'clerk',
    handler: ({ text }) => (text === 'for the clerk' ? { handled: true, reply: 'Noted.' } : { text: `${text}!` }),
  });
  const first = await world.send('first', { mode: 'collect' });
  while (world.model.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
  const second = await world.send('second', { mode: 'collect' });
  const third = await world.send('for the clerk', { mode: 'collect' });
  gate.resolve();
  assert.deepEqual(await world.end(first), { kind: 'completed' });
  assert.deepEqual(await world.end(second), { kind: 'completed' });
  assert.equal((await world.end(third)).kind, 'handled');
  const told = world.model.requests[1]!.messages.filter(({ role }) => role === 'user').map(
    ({ content }) => (content[0] as { text: string }).text,
  );
  assert.deepEqual(told, ['first!', 'second!']);
});

test('a steering message passes the plugins too', async () => {
  const calls: Parameters<typeof noteTool>[0] = [];
  const entered = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const run = async () => {
    entered.resolve();
    await gate.promise;
    return 'done';
  };
  await using world = await openTurns({
    tools: [noteTool(calls, { name: 'look', run })],
    steps: [{ calls: [{ name: 'look' }] }, { text: 'As you say.' }],
  });
  world.hooks.add('input', { plugin: 'clerk', handler: ({ text }) => ({ text: text.toUpperCase() }) });
  const first = await world.send('go');
  await entered.promise;
  const second = await world.send('but careful', { mode: 'steer' });
  gate.resolve();
  assert.deepEqual([await world.end(first), await world.end(second)], [{ kind: 'completed' }, { kind: 'completed' }]);
  assert.deepEqual(world.model.requests[1]!.messages.at(-1)?.content, [{ type: 'text', text: 'BUT CAREFUL' }]);
});

test('a revoked credential stops its turn, and what it had queued is not told', async () => {
  await using world = await openTurns({ steps: [{ text: ['Long'], hang: true }] });
  const first = await world.send('first');
  while (!world.said.some((said) => said.stream === 'assistant')) await new Promise((resolve) => setImmediate(resolve));
  const second = await world.send('second');
  const record = {
    digest: 'd',
    salt: 's',
    id: 'test',
    name: 't',
    scopes: ['operator.write'] as const,
    sessionKey: null,
    expiresAt: null,
    limit: 9,
  };
  const actor = { actor: 'token:admin', held: ['operator.admin', 'operator.write', 'operator.read'] as const, at: 1 };
  await world.store.write('tokens.create', { ...actor, ...record, held: [...actor.held], scopes: [...record.scopes] });
  await world.store.write('tokens.revoke', { ...actor, id: 'test', held: [...actor.held] });
  assert.match((await world.end(second)).reason ?? '', /revoked/);
  world.turns.stopFor('token:test');
  assert.deepEqual(await world.end(first), { kind: 'aborted', reason: 'The credential that asked for it was revoked' });
  assert.equal(world.model.requests.length, 1);
});

test('a stop right after a message reaches its turn, and says only what it did', async () => {
  for (const named of [false, true]) {
    await using world = await openTurns({ steps: Array.from({ length: 10 }, () => ({ text: ['Long'], hang: true as const })) });
    for (let n = 0; n < 10; n++) {
      const runId = await world.send(`message ${n}`);
      assert.deepEqual(await world.turns.abort(KEY, named ? runId : undefined), [runId]);
      assert.equal((await world.end(runId)).kind, 'aborted');
    }
    assert.equal(world.ended.length, 10);
  }
});

test('a conversation that is many windows long is summed up with a question that fits', async () => {
  await using world = await openTurns({
    model: { contextWindow: 8_000 },
    steps: [
      (request) => {
        const size = JSON.stringify(request.messages).length;
        return size > 32_000 ? { failure: { kind: 'context_overflow', message: 'too long' } } : { text: 'The summary.' };
      },
      { text: 'Answer.' },
    ],
  });
  await world.send('first').then(world.end);
  const draft = (text: string) => ({
    type: 'custom_message' as const,
    customType: 'note',
    content: [{ type: 'text' as const, text }],
    display: true,
  });
  for (let n = 0; n < 60; n++) await world.store.write('entries.append', { key: KEY, draft: draft(`${n} ${'word '.repeat(800)}`), at: n });
  world.model.add(
    (request) =>
      JSON.stringify(request.messages).length > 32_000
        ? { failure: { kind: 'context_overflow', message: 'too long' } }
        : { text: 'Summed up.' },
    { text: 'Now.' },
  );
  assert.deepEqual(await world.say('And now?'), { kind: 'completed' });
});
