// Whatever a turn touches may fail, at any time: the turn ends once, its transcript is well formed, and the session answers
// the next message. Each scenario is run again and again with the next thing failing, until a run goes through untouched.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type HookName, hookNames, type RunEnd } from '@tenon/protocol';
import type { HookHandler } from '../../packages/gateway/src/host/hook-registry.ts';
import type { TurnDeps } from '../../packages/gateway/src/agent/turn-context.ts';
import { createScriptedModel, type ScriptedModel, type ScriptedStep } from '../../packages/gateway/src/model/scripted.ts';
import { createManualClock } from '../support/clock.ts';
import { createFailures, type Failures, manners } from '../support/turn-failures.ts';
import { checkEnds, checkTranscript } from '../support/turn-oracle.ts';
import { type NotedCall, noteTool, openTurns, type TurnWorld, type TurnWorldOptions } from '../support/turns.ts';
import { verifies } from '../support/verifies.ts';

interface Place {
  readonly world: TurnWorld;
  readonly key: string;
  send(text: string, more?: { mode?: 'collect' | 'steer' | 'followup' | 'interrupt' }): Promise<string>;
  end(runId: string): Promise<unknown>;
}

interface Scenario {
  readonly steps: readonly ScriptedStep[];
  readonly options?: (place: () => Place) => TurnWorldOptions;
  readonly prepare?: (world: TurnWorld) => void;
  /** Things that an untouched run must have touched; else the scenario is not what its name says. */
  readonly touches: readonly string[];
  run(place: Place): Promise<void>;
}

const look = { name: 'look', arguments: { value: 'x' } };
const change = { name: 'change', arguments: { value: 'x' } };
const done = { text: 'Done.' };
const say: Scenario['run'] = async ({ send, end }) => void (await end(await send('Go')));
const long = 'word '.repeat(1_600);

const scenarios: Readonly<Record<string, Scenario>> = {
  'a tool call': {
    steps: [{ text: 'I look.', calls: [look] }, done],
    touches: ['store.write runs.begin', 'model.stream', 'run look', 'store.write calls.finish', 'store.write runs.end', 'publish'],
    run: say,
  },
  'two calls side by side': {
    steps: [{ calls: [look, { ...look }] }, done],
    touches: ['run look', 'store.write calls.finish'],
    run: say,
  },
  'two calls one after another': {
    steps: [{ calls: [change, { ...change }] }, done],
    touches: ['run change', 'store.write calls.start', 'store.write audit.append'],
    run: say,
  },
  'an approval in the way': {
    steps: [{ calls: [change] }, done],
    options: () => ({ permissions: 'ask' }),
    touches: ['approvals.ask', 'approvals.isAlwaysAllowed', 'execPolicy'],
    run: say,
  },
  'every hook with a handler': {
    steps: [{ calls: [look, change] }, done],
    prepare(world) {
      const handler: HookHandler<HookName> = () => undefined;
      for (const name of hookNames) world.hooks.add(name, { plugin: 'watcher', handler: handler as HookHandler<typeof name> });
    },
    touches: ['hook before_agent_finalize', 'hook tool_result_persist', 'hook agent_end', 'hook before_agent_reply'],
    run: say,
  },
  'an answer that is sent back': {
    steps: [done, { text: 'Better.' }],
    prepare(world) {
      const handler: HookHandler<'before_agent_finalize'> = ({ stopHookActive }) =>
        stopHookActive ? undefined : { action: 'revise', reason: 'Say more', retry: { instruction: 'Say more', maxAttempts: 1 } };
      world.hooks.add('before_agent_finalize', { plugin: 'critic', handler });
    },
    touches: ['hook before_agent_finalize', 'store.write runs.append'],
    run: say,
  },
  'a command of the person': {
    steps: [],
    options: execOptions,
    touches: ['hook user_bash', 'run exec'],
    run: async ({ send, end }) => void (await end(await send('!anything'))),
  },
  'a private command of the person': {
    steps: [],
    options: execOptions,
    touches: ['hook user_bash', 'run exec'],
    run: async ({ send, end }) => void (await end(await send('!!anything'))),
  },
  'a full window': {
    steps: [{ text: long, calls: [look] }, { text: long }, { text: 'The summary.' }, { text: 'Answer.' }],
    options: () => ({ model: { contextWindow: 4_096 } }),
    touches: ['hook session_before_compact', 'hook after_compaction'],
    async run({ send, end }) {
      await end(await send(long));
      await end(await send('And then?'));
    },
  },
  'a message that steers': {
    steps: [{ calls: [{ name: 'slow' }] }, done],
    options: (place) => ({ tools: [noteTool([], { name: 'slow', run: () => steerOnce(place()) })] }),
    touches: ['run slow', 'store.write runs.begin'],
    async run({ send, end, key }) {
      const runId = await send('Go');
      await end(runId);
      if (steered.has(key)) await end(steered.get(key)!);
    },
  },
  'messages that are told together': {
    steps: [done, done],
    touches: ['store.write runs.begin'],
    async run({ send, end }) {
      const runIds = await Promise.all([send('one', { mode: 'collect' }), send('two', { mode: 'collect' }), send('three')]);
      for (const runId of runIds) await end(runId);
    },
  },
  'a model that is overloaded': {
    steps: [{ failure: { kind: 'overloaded', message: 'Too busy', retryAfterMs: 0 } }, { text: ['Half'], failure: overloaded() }, done],
    touches: ['model.stream'],
    run: say,
  },
  'a turn that is stopped in a tool': {
    steps: [{ calls: [{ name: 'slow' }, { name: 'slow' }] }, done],
    options: (place) => ({ tools: [noteTool([], { name: 'slow', run: (_, { signal }) => stopOnce(place(), signal) })] }),
    touches: ['run slow', 'store.write calls.finish'],
    run: say,
  },
};

function overloaded() {
  return { kind: 'overloaded', message: 'Too busy', retryAfterMs: 0 } as const;
}

function execOptions(): TurnWorldOptions {
  const calls: NotedCall[] = [];
  const tool = noteTool(calls, { name: 'exec', risk: 'exec' });
  const exec = {
    ...tool,
    prepare: (args: object, at: Parameters<typeof tool.prepare>[1]) => tool.prepare({ value: String(Object.values(args)[0]) }, at),
  };
  return { tools: [exec], execPolicy: { policy: 'allow-list', allow: ['exec *'] } };
}

const steered = new Map<string, string>();

async function steerOnce({ key, send }: Place): Promise<string> {
  if (!steered.has(key)) steered.set(key, await send('But careful', { mode: 'steer' }));
  return 'done';
}

const stopped = new Set<string>();

async function stopOnce({ key, world }: Place, signal: AbortSignal): Promise<string> {
  if (stopped.has(key)) return 'done';
  stopped.add(key);
  void world.turns.abort(key);
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  return 'stopped';
}

/** The operator allows whatever is asked. */
function allowing(deps: TurnDeps): TurnDeps {
  const { store, clock, approvals } = deps;
  async function allow(runId: string): Promise<void> {
    for (;;) {
      const { approvals: pending } = await store.read('approvals.list', { state: 'pending', limit: 10 });
      const asked = pending.find((each) => each.runId === runId);
      if (asked)
        return void (await store.write('approvals.resolve', { id: asked.id, decision: 'allow-once', by: 'token:me', at: clock.now() }));
      if ((await store.read('runs.get', { runId })).run.state === 'ended') return;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
  return {
    ...deps,
    approvals: {
      ...approvals,
      ask(question, signal) {
        void allow(question.runId);
        return approvals.ask(question, signal);
      },
    },
  };
}

/** Steps of the script that are left over are used by the next message; what goes beyond it is answered too. */
const MORE: readonly ScriptedStep[] = Array.from({ length: 4 }, () => ({ text: 'And on.' }));
const NO_FAULT: ReadonlySet<RunEnd['kind']> = new Set(['completed', 'aborted']);
/** Far above what any scenario touches. */
const MOST = 400;

for (const [name, scenario] of Object.entries(scenarios)) {
  for (const manner of manners) {
    test(`${name}: with the Nth thing ${manner}, for every N, the turn ends once and the session goes on`, async (t) => {
      verifies('turns:fail-nth', 'turns:ends-once');
      let model: ScriptedModel | undefined;
      let place: Place | undefined;
      const failures: Failures = createFailures(() => model!);
      const clock = createManualClock();
      const options = scenario.options?.(() => place!) ?? {};
      // Nobody is asked for so long that a clock that runs fast lets it expire.
      const bounds = { approvalMs: 1e12 };
      await using world = await openTurns({ clock, bounds, ...options, wrap: (deps) => failures.wrap(allowing(deps)) });
      scenario.prepare?.(world);
      const ticking = setInterval(() => clock.advance(500), 1);
      try {
        let nth = 1;
        for (; nth < MOST; nth++) {
          const key = `agent:main:n${nth}-${manner}`;
          const runIds: string[] = [];
          model = createScriptedModel([...scenario.steps, ...MORE], { clock, info: world.model.info });
          place = {
            world,
            key,
            end: world.end,
            async send(text, more) {
              const runId = `${key}-${runIds.length}`;
              runIds.push(runId);
              return await world.send(text, { key, runId, ...more });
            },
          };
          failures.arm(nth, manner);
          await scenario.run(place);
          await settled(world, runIds);
          const { failed } = failures;
          failures.disarm();
          // Those who listen are no reason for a turn to fail.
          if (failed === 'publish') for (const runId of runIds) assert.ok(NO_FAULT.has((await world.end(runId)).kind), `${nth}: ${failed}`);
          await check(world, place, runIds, `${nth}: ${failed}`);
          if (failed === undefined) break;
        }
        t.diagnostic(`${nth - 1} things`);
        assert.ok(nth < MOST, 'no run went through');
        for (const what of scenario.touches) assert.ok(failures.touched.includes(what), `${what} was not touched: ${failures.touched}`);
      } finally {
        clearInterval(ticking);
      }
    });
  }
}

/** What is told after the end has been told. */
async function settled(world: TurnWorld, runIds: readonly string[]): Promise<void> {
  for (const runId of runIds) await world.end(runId);
  while (world.turns.active > 0) await new Promise((resolve) => setImmediate(resolve));
  await world.deps.hooks.drain(1_000);
}

async function check(world: TurnWorld, place: Place, runIds: readonly string[], why: string): Promise<void> {
  const { key } = place;
  const { runs } = await world.store.read('runs.openIn', { key });
  assert.deepEqual(runs, [], why);
  const { approvals } = await world.store.read('approvals.list', { state: 'pending', sessionKey: key, limit: 1 });
  assert.deepEqual(approvals, [], why);
  checkEnds(world.ended, runIds, why);
  checkTranscript(await world.path(key), why);
  stopped.add(key);
  const next = await place.send('Next?');
  assert.deepEqual(await world.end(next), { kind: 'completed' }, why);
  const path = await world.path(key);
  checkTranscript(path, why);
  const told = path.find((entry) => entry.type === 'message' && entry.message.role === 'user' && entry.runId === next);
  assert.ok(told, `${why}: the next message is not in the transcript`);
}

test('the end of a turn is written as often as it takes, and told once', async () => {
  verifies('turns:ends-once');
  const clock = createManualClock();
  let refusals = 6;
  await using world = await openTurns({
    clock,
    steps: [{ text: 'Hello' }, { text: 'Again' }],
    wrap: (deps) => ({
      ...deps,
      store: {
        ...deps.store,
        read: deps.store.read,
        async write(name, args, slot) {
          if (name === 'runs.end' && refusals-- > 0) throw new Error('no disk');
          return deps.store.write(name, args, slot);
        },
      },
    }),
  });
  const ticking = setInterval(() => clock.advance(1_000), 1);
  try {
    assert.deepEqual(await world.say('Hi'), { kind: 'completed' });
    assert.equal(refusals, -1);
    assert.deepEqual(await world.say('Hi again'), { kind: 'completed' });
    assert.equal(world.ended.length, 2);
    assert.equal(world.logged.filter(({ message }) => /cannot write the end of a turn/.test(message)).length, 6);
  } finally {
    clearInterval(ticking);
  }
});

test('what a plugin has answered is said and ended in one commit, also when the store fails at it', async () => {
  verifies('turns:kill-resumes', 'turns:ends-once');
  let failures = 1;
  await using world = await openTurns({
    steps: [{ text: 'Me instead.' }],
    wrap: (deps) => ({
      ...deps,
      store: {
        ...deps.store,
        read: deps.store.read,
        write: (name, args, slot) =>
          name === 'runs.handle' && failures-- > 0 ? Promise.reject(new Error('no disk')) : deps.store.write(name, args, slot),
      },
    }),
  });
  world.hooks.add('input', { plugin: 'clerk', handler: () => ({ handled: true, reply: 'Taken care of.' }) });
  assert.equal((await world.say('Please')).kind, 'internal_error');
  assert.deepEqual(await world.path(), [], 'nothing of it is there');
  assert.equal((await world.say('Please')).kind, 'handled');
  assert.equal(world.model.requests.length, 0);
  assert.deepEqual(
    (await world.path()).map(({ type }) => type),
    ['message', 'custom', 'context_edit'],
  );
  assert.deepEqual(await world.messages(), [], 'the agent is not told of it later');
  assert.equal(world.ended.length, 2);
});
