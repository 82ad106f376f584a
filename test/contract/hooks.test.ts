// Every row of the hook table happens: a reference turn or a named scenario fires it. And whatever a handler does wrong, the
// row's own failure policy decides what that means for the turn.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type HookName, hookNames, hookRow, matches } from '@tenon/protocol';
import { chooseModel } from '../../packages/gateway/src/agent/choose-model.ts';
import { createTranscripts } from '../../packages/gateway/src/agent/transcripts.ts';
import { createScheduler } from '../../packages/gateway/src/agent/scheduler.ts';
import { resetSession } from '../../packages/gateway/src/agent/session-life.ts';
import type { HookHandler } from '../../packages/gateway/src/host/hook-registry.ts';
import { createMetrics } from '../../packages/gateway/src/kernel/metrics.ts';
import type { ScriptedStep } from '../../packages/gateway/src/model/scripted.ts';
import { cleanUp, removeFolder } from '../support/clean-up.ts';
import { createManualClock } from '../support/clock.ts';
import { loadConfig } from '../../packages/gateway/src/config.ts';
import { startGateway } from '../../packages/gateway/src/gateway.ts';
import { temporaryHome } from '../support/gateway.ts';
import { job } from '../support/stores-jobs.ts';
import { verifies } from '../support/verifies.ts';
import { KEY, noteTool, openTurns, type TurnWorld, type TurnWorldOptions } from '../support/turns.ts';

const reference: readonly ScriptedStep[] = [{ calls: [{ name: 'look', arguments: { value: 'x' } }] }, { text: 'Done.' }];

interface Scenario {
  readonly options?: TurnWorldOptions;
  run(world: TurnWorld): Promise<unknown>;
}

const turn: Scenario = { options: { steps: reference }, run: (world) => world.say('Hi') };

const compaction: Scenario = {
  options: { model: { contextWindow: 4_096 }, steps: [{ text: 'word '.repeat(2_600) }, { text: 'Summary.' }, { text: 'Answer.' }] },
  async run(world) {
    await world.say('Tell me a lot');
    await world.say('And more');
  },
};

const bash: Scenario = {
  options: { tools: [], execPolicy: { policy: 'allow-list', allow: ['exec *'] } },
  run: (world) => world.say('!anything'),
};

/** A job that is made, and a scheduler that begins to look. */
const schedules: Scenario = {
  async run({ store, deps, turns }) {
    const { clock, log, hooks } = deps;
    const at = clock.now();
    await store.write('sessions.create', { key: KEY, fields: {}, at });
    await store.write('jobs.add', job('one', { session: { key: KEY } }, { nextAt: at + 3_600_000, at }));
    const scheduler = createScheduler({
      ...{ store, clock, log, metrics: createMetrics() },
      accepted: (key) => turns.accepted(key),
      reconciled: (facts) => hooks.run('cron_reconciled', facts),
    });
    scheduler.start();
    await scheduler.idle();
    await scheduler.stop();
  },
};

const move: Scenario = {
  options: { steps: reference },
  async run(world) {
    await world.say('Hi');
    const [first] = await world.path();
    await createTranscripts({ ...world.deps, hooks: world.deps.hooks }).branch(KEY, first!.id, false);
  },
};

/** Hooks that the reference turn does not come by. */
const scenarios: Readonly<Partial<Record<HookName, Scenario>>> = {
  heartbeat_prompt_contribution: { options: { steps: reference }, run: (world) => world.say('Beat', { trigger: 'heartbeat' }) },
  resolve_exec_env: bash,
  user_bash: bash,
  session_before_compact: compaction,
  before_compaction: compaction,
  after_compaction: compaction,
  session_before_tree: move,
  session_tree: move,
  model_select: {
    options: { steps: reference },
    async run(world) {
      await world.say('Hi');
      await chooseModel(KEY, { model: null, thinking: 'low' }, world.deps);
    },
  },
  before_reset: { options: { steps: reference }, run: reset },
  session_end: { options: { steps: reference }, run: reset },
  cron_changed: schedules,
  cron_reconciled: schedules,
};

async function reset(world: TurnWorld): Promise<void> {
  await world.say('Hi');
  await resetSession(KEY, { ...world.deps, turns: world.turns, endJobs() {} }, (args) => world.store.write('sessions.reset', args));
}

/** Those of the process itself; the last test of this file sees to them. */
const ofTheGateway: ReadonlySet<HookName> = new Set(['gateway_start', 'gateway_stop']);
/** Those of channels: channel-deliveries.test.ts sees to them. */
const ofMessages: ReadonlySet<HookName> = new Set(['message_received', 'message_sending', 'message_sent']);
const ofATurn = hookNames.filter((name) => !ofTheGateway.has(name) && !ofMessages.has(name));

function optionsOf(name: HookName, more: TurnWorldOptions = {}): TurnWorldOptions {
  const scenario = scenarios[name] ?? turn;
  if (scenario !== bash) return { ...scenario.options, ...more };
  return { ...scenario.options, tools: [noteTool([], { name: 'exec', risk: 'exec' })].map(withCommand), ...more };
}

/** The argument of `exec`. */
function withCommand(tool: ReturnType<typeof noteTool>): ReturnType<typeof noteTool> {
  return { ...tool, prepare: (args, place) => tool.prepare({ value: String(args.command) }, place) };
}

for (const name of ofATurn) {
  test(`${name} is fired, with an event that fits its row`, async () => {
    verifies('turns:hooks-fire');
    const events: unknown[] = [];
    await using world = await openTurns(optionsOf(name));
    world.hooks.add(name, { plugin: 'watcher', handler: ((event) => void events.push(event)) as HookHandler<typeof name> });
    await (scenarios[name] ?? turn).run(world);
    await drained(world);
    assert.ok(events.length > 0, 'nobody was told');
    for (const event of events) assert.ok(matches(hookRow(name).event, event), `the event does not fit: ${JSON.stringify(event)}`);
    assert.deepEqual(world.failures, []);
  });
}

const faults: Readonly<Record<string, HookHandler<HookName>>> = {
  throw: () => {
    throw new Error('on purpose');
  },
  hang: () => new Promise(() => {}),
  'wrong shape': () => ({ nonsense: true }) as never,
};

for (const name of ofATurn) {
  for (const [kind, handler] of Object.entries(faults)) {
    const row = hookRow(name);
    // An observer has no say, so it cannot say anything wrong.
    if (kind === 'wrong shape' && row.kind === 'observe') continue;
    test(`${name}: ${kind} means ${row.onFailure}`, async () => {
      verifies('turns:hook-failure-policy', 'R18');
      const clock = createManualClock();
      await using world = await openTurns(optionsOf(name, { clock }));
      world.hooks.add(name, { plugin: 'faulty', handler: handler as HookHandler<typeof name> });
      const ticking = setInterval(() => clock.advance(1_000), 1);
      try {
        await (scenarios[name] ?? turn).run(world);
        await drained(world);
      } finally {
        clearInterval(ticking);
      }
      assert.ok(world.failures.length > 0, 'the failure is on record');
      assert.ok(world.failures.every(({ plugin, place }) => plugin === 'faulty' && place === name));
      const ends = world.ended.map(({ end }) => end.kind);
      const refused = ends.includes('refused') || (await refusedACall(world));
      assert.equal(refused, row.onFailure === 'closed', `ended as ${ends.join(', ')}`);
      if (!refused)
        assert.ok(
          ends.every((end) => end === 'completed'),
          ends.join(', '),
        );
    });
  }
}

test('gateway_start and gateway_stop are fired by the gateway itself', async (t) => {
  const home = temporaryHome();
  cleanUp(t, () => removeFolder(home));
  const told: [string, unknown][] = [];
  const config = loadConfig({ home, env: {}, flags: { 'gateway.port': 0 } });
  const gateway = await startGateway({
    config,
    version: 'test',
    env: {},
    register(hooks) {
      for (const name of ofTheGateway) hooks.add(name, { plugin: 'watcher', handler: (event) => void told.push([name, event]) });
    },
  });
  await gateway.stop('the test is over');
  assert.deepEqual(told, [
    ['gateway_start', { port: gateway.port }],
    ['gateway_stop', { reason: 'the test is over' }],
  ]);
});

async function refusedACall(world: TurnWorld): Promise<boolean> {
  const path = await world.path();
  return path.some(
    (entry) =>
      entry.type === 'message' && entry.message.role === 'toolResult' && /Blocked by faulty/.test(JSON.stringify(entry.message.content)),
  );
}

/** Observers are not waited for by the turn. */
async function drained(world: TurnWorld): Promise<void> {
  const { unfinished } = await world.deps.hooks.drain(600_000);
  assert.equal(unfinished, 0);
}
