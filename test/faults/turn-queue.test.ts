// What the lane of a session promises when the store cannot be read for a while, and when somebody stops what is already over.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTurnQueue, type TurnQueue } from '../../packages/gateway/src/agent/queue.ts';
import { runTurn } from '../../packages/gateway/src/agent/turn.ts';
import type { Store } from '../../packages/gateway/src/store/store.ts';
import { createManualClock, type ManualClock } from '../support/clock.ts';
import { createFailures, manners } from '../support/turn-failures.ts';
import { checkEnds, checkTranscript } from '../support/turn-oracle.ts';
import { KEY, noteTool, openTurns, type TurnWorld } from '../support/turns.ts';
import { verifies } from '../support/verifies.ts';

/** A queue of its own over the store of the world, which the world does not wake. */
function queueOver(world: TurnWorld, store: Store, clock: ManualClock): TurnQueue {
  const queue: TurnQueue = createTurnQueue({
    store,
    clock,
    log: world.deps.log,
    maxActive: 4,
    runTurn: (lead, others, control) => runTurn(lead, others, { ...world.deps, publish: (said) => queue.said(said) }, control),
  });
  return queue;
}

function accept(world: TurnWorld, runId: string, text: string, mode: 'collect' | 'steer' | 'followup' | 'interrupt', options = {}) {
  const content = [{ type: 'text' as const, text }];
  return world.store.write('runs.accept', {
    ...{ key: KEY, runId, content, mode, trigger: 'user', principal: 'token:test', options, at: world.deps.clock.now() },
  });
}

async function untilEnded(world: TurnWorld, count: number): Promise<void> {
  while (world.ended.length < count) await new Promise((resolve) => setImmediate(resolve));
}

for (const manner of manners) {
  test(`whatever the lane reads is ${manner}, for every read: each message that was taken in is answered`, async () => {
    verifies('turns:fail-nth', 'turns:ends-once', 'turns:queue-modes');
    for (let nth = 1; ; nth++) {
      const clock = createManualClock();
      const gate = Promise.withResolvers<void>();
      await using world = await openTurns({
        clock,
        steps: [{ text: 'One', gate: () => gate.promise }, ...Array.from({ length: 4 }, () => ({ text: 'More' }))],
      });
      const failures = createFailures(() => world.model);
      const queue = queueOver(world, failures.wrapStore(world.store), clock);
      failures.arm(nth, manner);
      const ticking = setInterval(() => clock.advance(500), 1);
      try {
        for (const [index, mode] of (['followup', 'collect', 'steer', 'interrupt', 'followup'] as const).entries()) {
          await accept(world, `run-${nth}-${index}`, `message ${index}`, mode);
          queue.accepted(KEY);
        }
        gate.resolve();
        await untilEnded(world, 5);
        while (queue.active > 0) await new Promise((resolve) => setImmediate(resolve));
      } finally {
        clearInterval(ticking);
      }
      const why = `${nth}: ${failures.failed}`;
      checkEnds(
        world.ended,
        Array.from({ length: 5 }, (_, index) => `run-${nth}-${index}`),
        why,
      );
      checkTranscript(await world.path(), why);
      await queue.park(0);
      if (failures.failed === undefined) {
        assert.ok(nth > 3, `the lane read only ${failures.touched}`);
        return;
      }
    }
  });
}

test('a command among collected messages is a turn of its own, and nobody is overtaken', async () => {
  verifies('turns:queue-modes');
  const exec = noteTool([], { name: 'exec', risk: 'exec' });
  const tool = {
    ...exec,
    prepare: (args: object, at: Parameters<typeof exec.prepare>[1]) => exec.prepare({ value: String(Object.values(args)[0]) }, at),
  };
  await using world = await openTurns({
    tools: [tool],
    execPolicy: { policy: 'allow-list', allow: ['exec *'] },
    steps: [{ text: 'a and b' }, { text: 'c' }, { text: 'd' }],
  });
  await accept(world, 'a', 'message a', 'collect');
  await accept(world, 'b', 'message b', 'collect');
  await accept(world, 'ls', '!ls', 'collect');
  await accept(world, 'c', 'message c', 'collect');
  await accept(world, 'd', 'message d', 'collect', { thinking: 'low' });
  world.turns.accepted(KEY);
  await untilEnded(world, 5);
  assert.deepEqual(
    world.ended.map(({ runId, end }) => [runId, end.kind]),
    ['a', 'b', 'ls', 'c', 'd'].map((runId) => [runId, 'completed']),
  );
  assert.equal(world.model.requests.length, 3);
  assert.deepEqual(
    (await world.path()).flatMap((entry) => (entry.type === 'message' && entry.message.role === 'user' ? [entry.runId] : [])),
    ['a', 'b', 'ls', 'c', 'd'],
  );
});

test('who stops a turn that is just over does not stop the next one', async () => {
  verifies('turns:abort');
  await using world = await openTurns({ steps: [{ text: 'One' }, { text: ['Two'], hang: true }] });
  let late: (() => Promise<void>) | undefined;
  // The store is read while the first runs, and answers when the second does.
  const store: Store = {
    ...world.store,
    write: world.store.write,
    async read(name, args) {
      const found = await world.store.read(name, args);
      if (name === 'runs.openIn') await late?.();
      return found;
    },
  };
  const queue = createTurnQueue({
    store,
    clock: world.deps.clock,
    log: world.deps.log,
    maxActive: 4,
    runTurn: (lead, others, control) => runTurn(lead, others, world.deps, control),
  });
  await accept(world, 'first', 'one', 'followup');
  await accept(world, 'second', 'two', 'followup');
  const begun = Promise.withResolvers<void>();
  late = async () => {
    begun.resolve();
    while (!world.said.some((said) => said.runId === 'second' && said.stream === 'assistant'))
      await new Promise((resolve) => setImmediate(resolve));
  };
  // Begun by hand, so that the store says that it runs before the lane is awake.
  await world.store.write('runs.begin', { key: KEY, leadRunId: 'first', runIds: ['first'], at: 1 });
  const stopping = queue.abort(KEY, 'first');
  await begun.promise;
  await queue.resume();
  await stopping;
  await queue.park(0);
  assert.deepEqual(
    world.ended.map(({ runId, end }) => [runId, end.kind]),
    [['first', 'completed']],
    'the second was at work until the end, and is left behind',
  );
});

test('a message that steers a turn which is being stopped gets a turn of its own', async () => {
  verifies('turns:queue-modes', 'turns:abort');
  let steer: (() => Promise<unknown>) | undefined;
  const tool = noteTool([], {
    name: 'slow',
    async run(_, { signal }) {
      await steer?.();
      void world.turns.abort(KEY);
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      return 'stopped';
    },
  });
  await using world = await openTurns({ tools: [tool], steps: [{ calls: [{ name: 'slow' }] }, { text: 'Careful.' }] });
  steer = () => world.send('But careful', { runId: 'steering', mode: 'steer' });
  const first = await world.send('Go');
  assert.equal((await world.end(first)).kind, 'aborted');
  assert.deepEqual(await world.end('steering'), { kind: 'completed' });
});

test('stopping and waiting are refused once the gateway stops, and nobody hangs', async () => {
  verifies('turns:park');
  await using world = await openTurns({ steps: [{ text: ['Half'], hang: true }] });
  const runId = await world.send('Hi');
  while (!world.said.some((said) => said.stream === 'assistant')) await new Promise((resolve) => setImmediate(resolve));
  const waiting = world.turns.wait(runId, 60_000);
  const refused = assert.rejects(waiting, /is stopping/);
  await world.turns.park(0);
  await refused;
  await assert.rejects(world.turns.wait(runId, 60_000), /is stopping/);
  await assert.rejects(world.turns.abort(KEY), /is stopping/);
  assert.equal((await world.turns.wait(runId, 0))?.run.state, 'running');
});
