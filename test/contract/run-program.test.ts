// Programs that plugins run, without processes: what waits for a person outlives the gateway as the agent's own calls do.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Type } from 'typebox';
import { createPrograms, type Programs } from '../../packages/gateway/src/agent/run-program.ts';
import type { Tool } from '../../packages/gateway/src/agent/tools/tool.ts';
import type { ProgramOutcome } from '../../packages/gateway/src/host/plugin-programs.ts';
import type { ScriptedStep } from '../../packages/gateway/src/model/scripted.ts';
import { KEY, type NotedCall, noteTool, openTurns, type TurnWorld } from '../support/turns.ts';
import { verifies } from '../support/verifies.ts';

/** As the tool for programs, without any. */
function execTool(calls: NotedCall[]): Tool {
  const noted = noteTool(calls, { name: 'exec', risk: 'exec' });
  return {
    ...noted,
    parameters: Type.Object({ argv: Type.Array(Type.String(), { maxItems: 3 }) }),
    async prepare(args, place) {
      const prepared = await noted.prepare(args, place);
      return { ...prepared, run: async (io) => ({ ...(await prepared.run(io)), details: { exitCode: 5, signal: null, timedOut: false } }) };
    },
  };
}

/** One life of a gateway, whose tool `ask` has a plugin run a program. */
async function live(options: { after?: TurnWorld; steps: readonly ScriptedStep[] }) {
  const calls: NotedCall[] = [];
  const outcomes: ProgramOutcome[] = [];
  let programs: Programs | undefined;
  const ask = noteTool(calls, {
    name: 'ask',
    idempotent: true,
    async run({ value = '' }, { signal }, callId) {
      const wish = { plugin: 'asker', sessionKey: KEY, runId: 'r1', id: `${callId}/asker-1`, about: callId };
      outcomes.push(await programs!.run({ ...wish, argv: String(value).split(' ') }, signal));
      return JSON.stringify(outcomes.at(-1));
    },
  });
  const world = await openTurns({
    ...options,
    permissions: 'ask',
    wrap(deps) {
      const wrapped = { ...deps, tools: [ask, execTool(calls)], live: new Map() };
      programs = createPrograms(wrapped);
      return wrapped;
    },
  });
  const ran = () => calls.filter(({ name }) => name === 'exec').length;
  return { world, outcomes, ran };
}

async function pending({ store }: TurnWorld) {
  for (;;) {
    const { approvals } = await store.read('approvals.list', { state: 'pending', limit: 5 });
    if (approvals.length > 0) return approvals;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test('a question about a program outlives the gateway: asked again by the same call it is the same one, and its answer counts', async () => {
  verifies('sep:exec');
  const steps = [{ calls: [{ id: 'c1', name: 'ask', arguments: { value: 'make all' } }] }, { text: 'Made.' }];
  const first = await live({ steps });
  await using world = first.world;
  await world.send('go', { runId: 'r1' });
  const [asked] = await pending(world);
  assert.deepEqual([asked?.pluginId, asked?.runId], ['asker', 'r1']);
  await world.abandon();
  const [still] = await pending(world);
  assert.equal(still?.id, asked?.id, 'it waits on while nobody runs');

  const second = await live({ after: world, steps: steps.slice(1) });
  await second.world.turns.resume();
  await world.store.write('approvals.resolve', { id: asked!.id, decision: 'allow-once', by: 'token:operator', at: 1 });
  assert.equal((await second.world.end('r1')).kind, 'completed');
  assert.deepEqual(second.outcomes, [{ kind: 'ran', stdout: '', stderr: '', exitCode: 5 }]);
  assert.deepEqual([first.ran(), second.ran()], [0, 1]);
  await second.world.abandon();
});

test('what does not fit the tool for programs is refused before anybody is asked', async () => {
  verifies('sep:exec');
  const { world, outcomes, ran } = await live({
    steps: [{ calls: [{ id: 'c1', name: 'ask', arguments: { value: 'far too many words' } }] }, { text: 'No.' }],
  });
  await using _ = world;
  await world.say('go', { runId: 'r1' });
  assert.ok(outcomes[0]?.kind === 'invalid' && /argv/.test(outcomes[0].message), JSON.stringify(outcomes));
  assert.equal(ran(), 0);
});
