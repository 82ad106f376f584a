// What plugins queue for the next turn, as the model sees it: every way to run a turn tells it, each is in exactly one turn
// that was answered, and a turn that is cut off goes on with what it was given.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Message } from '@tenon/protocol';
import type { ScriptedAnswer, ScriptedStep } from '../../packages/gateway/src/model/scripted.ts';
import type { ModelRequest } from '../../packages/gateway/src/model/types.ts';
import type { WriteArgs } from '../../packages/gateway/src/store/operations.ts';
import type { Store } from '../../packages/gateway/src/store/store.ts';
import { createRandom, type Random } from '../support/random.ts';
import { type Engine, engines } from '../support/stores.ts';
import { KEY, openTurns, type TurnWorld, type TurnWorldOptions } from '../support/turns.ts';
import { verifies } from '../support/verifies.ts';

const plugin = 'plan';
const at = 1_000_000;

test('what was queued stands around the message, before what hooks add, on either side', async () => {
  verifies('seams:W14');
  await using world = await open({ steps: [{ calls: [{ name: 'look' }] }, { text: 'Done.' }, { text: 'Next.' }] });
  const seen: unknown[] = [];
  world.hooks.add('agent_turn_prepare', {
    plugin: 'other',
    handler: (event) => {
      seen.push((event as { queuedInjections: unknown }).queuedInjections);
      return { prependContext: 'prepare before', appendContext: 'prepare after' };
    },
  });
  world.hooks.add('heartbeat_prompt_contribution', {
    plugin: 'other',
    handler: () => ({ prependContext: 'beat before', appendContext: 'beat after' }),
  });
  world.hooks.add('before_prompt_build', {
    plugin: 'other',
    handler: () => ({ prependContext: 'build before', appendContext: 'build after' }),
  });
  await enqueue(world.store, 'second', { metadata: { n: 2 } });
  await enqueue(world.store, 'first', { priority: 5 });
  await enqueue(world.store, 'last', { placement: 'append_context' });
  assert.deepEqual(await world.say('Hi', { trigger: 'heartbeat' }), { kind: 'completed' });
  const expected = [
    ...['first', 'second', 'prepare before', 'beat before', 'build before'],
    'Hi',
    ...['last', 'prepare after', 'beat after', 'build after'],
  ];
  for (const request of world.model.requests) assert.deepEqual(textsOf(request), expected, 'each step of the turn is told the same');
  assert.deepEqual(seen, [
    [
      { id: 'first', pluginId: plugin, text: 'first', placement: 'prepend_context' },
      { id: 'second', pluginId: plugin, text: 'second', placement: 'prepend_context', metadata: { n: 2 } },
      { id: 'last', pluginId: plugin, text: 'last', placement: 'append_context' },
    ],
  ]);
  const [first] = await world.messages();
  assert.deepEqual(first?.content, [{ type: 'text', text: 'Hi' }], 'the transcript keeps what the person said');
  assert.deepEqual(await world.say('And?'), { kind: 'completed' });
  assert.ok(!textsOf(world.model.requests.at(-1)!).includes('first'));
  assert.deepEqual(seen[1], []);
});

test('every way to run a turn takes what is queued, once', async () => {
  verifies('seams:A17');
  const ways: Record<string, (world: TurnWorld) => Promise<unknown>> = {
    followup: (world) => world.say('Hi'),
    steer: (world) => world.say('Hi', { mode: 'steer' }),
    interrupt: (world) => world.say('Hi', { mode: 'interrupt' }),
    api: (world) => world.say('Hi', { trigger: 'api' }),
    heartbeat: (world) => world.say('Hi', { trigger: 'heartbeat' }),
    async collect(world) {
      const runs = await Promise.all(['a', 'b', 'c'].map((text) => world.send(text, { mode: 'collect' })));
      for (const runId of runs) await world.end(runId);
    },
    async 'resumed before it was begun'(world) {
      await world.store.write('runs.accept', accepted('waits'));
      await world.turns.resume();
      await world.end('waits');
    },
    async 'resumed after it was begun'(world) {
      await world.store.write('runs.accept', accepted('begun'));
      await world.store.write('runs.begin', { key: KEY, leadRunId: 'begun', runIds: ['begun'], drain: { pluginIds: [plugin] }, at });
      await world.turns.resume();
      await world.end('begun');
    },
  };
  for (const [way, run] of Object.entries(ways)) {
    await using world = await open({ steps: Array.from({ length: 4 }, () => ({ text: 'Done.' })) });
    await enqueue(world.store, 'told');
    await run(world);
    const told = world.model.requests.filter((request) => textsOf(request).includes('told'));
    assert.equal(told.length, 1, way);
    assert.deepEqual((await world.store.read('injections.list', { key: KEY })).injections, [], way);
  }
});

test('plugins that may not inject are not heard, and what they have queued waits', async () => {
  await using world = await open({ injectors: ['other'], steps: [{ text: 'Done.' }] });
  await enqueue(world.store, 'told');
  await world.say('Hi');
  assert.deepEqual(textsOf(world.model.requests[0]!), ['Hi']);
  assert.equal((await world.store.read('injections.list', { key: KEY })).injections.length, 1);
});

test('what no model was told waits for the next turn: after a failure, a stop, a refusal, a plugin or a command', async () => {
  verifies('R06', 'compat:C6');
  const ways: Record<string, { steps?: ScriptedStep[]; run(world: TurnWorld): Promise<unknown> }> = {
    'the model fails': { steps: [{ failure: { kind: 'unauthorized', message: 'No' } }], run: (world) => world.say('Hi') },
    'it is stopped': {
      steps: [{ hang: true }],
      async run(world) {
        const runId = await world.send('Hi');
        await until(() => world.model.requests.length === 1);
        await world.turns.abort(KEY);
        await world.end(runId);
      },
    },
    'a plugin stops the turn': {
      run(world) {
        let calls = 0;
        world.hooks.add('before_agent_run', {
          plugin: 'gate',
          handler: () => (++calls === 1 ? { outcome: 'block', reason: 'Not now' } : undefined),
        });
        return world.say('Hi');
      },
    },
    'a plugin answers': {
      run(world) {
        let calls = 0;
        world.hooks.add('before_agent_reply', {
          plugin: 'answers',
          handler: () => (++calls === 1 ? { handled: true, reply: 'I did it' } : undefined),
        });
        return world.say('Hi');
      },
    },
    'a plugin takes the message': {
      run(world) {
        let calls = 0;
        world.hooks.add('input', { plugin: 'takes', handler: () => (++calls === 1 ? { handled: true } : undefined) });
        return world.say('Hi');
      },
    },
    'a command of the person': { run: (world) => world.say('!anything') },
  };
  for (const [way, { steps = [], run }] of Object.entries(ways)) {
    await using world = await open({ steps, bounds: { attempts: 1 } });
    await enqueue(world.store, 'one');
    await enqueue(world.store, 'two');
    await run(world);
    assert.equal((await world.store.read('injections.counts', { keys: [KEY], at })).counts[KEY], 2, way);
    world.model.add({ text: 'Done.' });
    assert.deepEqual(await world.say('Again'), { kind: 'completed' }, way);
    assert.deepEqual(textsOf(world.model.requests.at(-1)!).slice(-3), ['one', 'two', 'Again'], way);
  }
});

for (const engine of engines) {
  test(`${engine}: a turn that was cut off goes on with what it was given, wherever that was`, async () => {
    verifies('seams:A16', 'seams:W14');
    const cuts: Record<string, { steps: ScriptedStep[]; cut(world: TurnWorld): Promise<unknown> }> = {
      'while the model was asked': { steps: [{ hang: true }], cut: (world) => until(() => world.model.requests.length === 1) },
      'while the model answered': {
        steps: [{ text: ['Half'], hang: true }],
        cut: (world) => until(() => world.said.some((said) => said.stream === 'assistant')),
      },
      'after a step': {
        steps: [{ calls: [{ name: 'look' }] }, { hang: true }],
        cut: (world) => until(() => world.model.requests.length === 2),
      },
    };
    for (const [where, { steps, cut }] of Object.entries(cuts)) {
      await using world = await open({ engine, steps });
      await enqueue(world.store, 'mine');
      const runId = await world.send('Hi');
      await cut(world);
      await world.abandon();
      await enqueue(world.store, 'of the next');
      const next = await openTurns({ after: world, engine, injectors: [plugin], steps: [{ text: 'Whole.' }, { text: 'Next.' }] });
      await next.turns.resume();
      assert.deepEqual(await next.end(runId), { kind: 'completed' }, where);
      assert.deepEqual(textsOf(next.model.requests[0]!).slice(0, 2), ['mine', 'Hi'], where);
      await next.say('And?');
      const told = textsOf(next.model.requests[1]!);
      assert.ok(!told.includes('mine') && told.includes('of the next'), where);
      await next.abandon();
    }
  });

  test(`${engine}: whatever fails, stops or is cut off, each injection is in exactly one turn that was answered, in order`, async (t) => {
    verifies('R06', 'compat:C6');
    for (const seed of [1, 2, 3, 4]) {
      const story = await tellStory(engine, createRandom(seed));
      assert.deepEqual(story.told, story.queued, `seed ${seed}`);
      t.diagnostic(`seed ${seed}: ${story.queued.length} injections over ${story.turns} turns in ${story.lives} lives`);
    }
  });
}

test('a message that joins the turn takes nothing, and leaves what the turn was given where it is, also in another life', async () => {
  verifies('seams:A16');
  const joined = Promise.withResolvers<void>();
  const steps: ScriptedStep[] = [() => joined.promise.then(() => ({ calls: [{ name: 'look' }] })), { hang: true }];
  await using world = await open({ steps });
  await enqueue(world.store, 'mine');
  const runId = await world.send('Hi');
  await until(() => world.model.requests.length === 1);
  await enqueue(world.store, 'of the next');
  await world.send('By the way', { mode: 'steer' });
  joined.resolve();
  await until(() => world.model.requests.length === 2);
  await world.abandon();
  const next = await openTurns({ after: world, injectors: [plugin], steps: [{ text: 'Whole.' }] });
  await next.turns.resume();
  assert.deepEqual(await next.end(runId), { kind: 'completed' });
  for (const request of [world.model.requests[1]!, next.model.requests[0]!])
    assert.deepEqual(textsOf(request), ['mine', 'Hi', 'By the way']);
  await next.abandon();
});

test('whichever write of a turn fails, what was queued is in one turn that was answered', async (t) => {
  verifies('R06');
  for (let nth = 1; ; nth++) {
    let writes = 0;
    const failing = (store: Store): Store =>
      new Proxy(store, {
        get(target, name) {
          if (name !== 'write') return Reflect.get(target, name);
          return (...args: Parameters<Store['write']>) =>
            ++writes === nth ? Promise.reject(new Error('The disk is gone')) : target.write(...args);
        },
      });
    await using world = await open({
      steps: [{ calls: [{ name: 'look' }] }, { text: 'Done.' }],
      wrap: (deps) => ({ ...deps, store: failing(deps.store) }),
    });
    await enqueue(world.store, 'told');
    const first = await world.send('Hi');
    await world.end(first);
    const struck = writes >= nth;
    world.model.add({ text: 'Then.' }, { text: 'Then.' });
    const second = await world.send('Again');
    await world.end(second);
    const path = await world.path();
    const holders: string[] = [];
    for (const runId of [first, second]) {
      const { injections } = await world.store.read('injections.ofRun', { runId });
      if (injections.length > 0) holders.push(runId);
    }
    assert.equal(holders.length, 1, `write ${nth}`);
    assert.ok(
      path.some((entry) => entry.runId === holders[0] && entry.type === 'message' && entry.message.role === 'assistant'),
      `write ${nth}`,
    );
    if (!struck) return t.diagnostic(`${nth - 1} writes`);
  }
});

/** Injections come, turns are answered, fail, are stopped or cut off; in the end one more turn takes what is left. */
async function tellStory(engine: Engine, random: Random): Promise<{ queued: string[]; told: string[]; turns: number; lives: number }> {
  const queued: string[] = [];
  const told: string[] = [];
  const count = { turns: 0, lives: 1 };
  // What a request was told counts when its answer is in the transcript.
  const answers = (request: ModelRequest): ScriptedAnswer => {
    told.push(...textsOf(request).filter((text) => text.startsWith('i-')));
    return { text: 'Done.' };
  };
  const first = await open({ engine, bounds: { attempts: 1 } });
  await using _ = first;
  let world = first;
  for (let round = 0; round < 24; round++) {
    for (let n = random.below(3); n > 0; n--) {
      const id = `i-${queued.length}`;
      queued.push(id);
      await enqueue(world.store, id, { at: at + queued.length, ttlMs: 1e13 });
    }
    count.turns++;
    const outcome = random.pick(['answer', 'answer', 'fail', 'stop', 'cut', 'cut'] as const);
    const asked = world.model.requests.length;
    world.model.add(
      outcome === 'answer' ? answers : outcome === 'fail' ? { failure: { kind: 'unauthorized', message: 'No' } } : { hang: true },
    );
    const runId = await world.send(`message ${round}`);
    if (outcome === 'stop' || outcome === 'cut') await until(() => world.model.requests.length > asked);
    if (outcome === 'stop') await world.turns.abort(KEY);
    if (outcome === 'cut') {
      await world.abandon();
      count.lives++;
      world = await openTurns({ after: world, engine, injectors: [plugin], steps: [answers], bounds: { attempts: 1 } });
      await world.turns.resume();
    }
    await world.end(runId);
  }
  world.model.add(answers);
  await world.say('The last one');
  await world.abandon();
  return { queued, told, ...count };
}

async function open(options: TurnWorldOptions = {}): Promise<TurnWorld> {
  const world = await openTurns({ injectors: [plugin], ...options });
  await world.store.write('sessions.create', { key: KEY, fields: {}, at });
  return world;
}

async function enqueue(store: Store, id: string, more: Partial<WriteArgs<'injections.enqueue'>> = {}): Promise<void> {
  const injection = { key: KEY, pluginId: plugin, id, text: id, placement: 'prepend_context', priority: 0, at, ...more } as const;
  assert.deepEqual(await store.write('injections.enqueue', injection), { enqueued: true, id });
}

function accepted(runId: string): WriteArgs<'runs.accept'> {
  return { key: KEY, runId, content: [{ type: 'text', text: 'Hi' }], trigger: 'user', principal: 'token:test', options: {}, at };
}

/** Everything that users said, as the model was told it. */
function textsOf({ messages }: { messages: readonly Message[] }): string[] {
  return messages.flatMap((message) =>
    message.role === 'user' ? message.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])) : [],
  );
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve));
}
