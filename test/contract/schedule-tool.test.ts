// The tool by which an agent plans: only in its own session, asked for as other tools that write, and told what cannot be.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type JsonObject, limits } from '@tenon/protocol';
import { scheduleTool } from '../../packages/gateway/src/agent/tools/schedule-tool.ts';
import { ToolError, type ToolPlace } from '../../packages/gateway/src/agent/tools/tool.ts';
import { createManualClock } from '../support/clock.ts';
import { job, MINUTE } from '../support/stores-jobs.ts';
import { openWorld } from '../support/stores.ts';
import { key, message } from '../support/stores-turns.ts';
import { verifies } from '../support/verifies.ts';

async function planning() {
  const world = await openWorld('sqlite');
  const clock = createManualClock();
  const { store } = world;
  await store.write('sessions.create', { key, fields: {}, at: 1 });
  await store.write('runs.accept', message('run-1'));
  const tool = scheduleTool({ store, clock });
  const place: ToolPlace = { sessionKey: key, agentId: 'main', runId: 'run-1', callId: 'call-1', workspace: '/nowhere' };
  const prepare = async (args: JsonObject) => tool.prepare(args, place);
  const run = async (args: JsonObject) => {
    const call = await prepare(args);
    const { content } = await call.run({ signal: new AbortController().signal, onUpdate() {} });
    return { call, text: content.map((block) => ('text' in block ? block.text : '')).join('') };
  };
  const jobs = async () => (await store.read('jobs.list', { limit: 50 })).jobs;
  return { store, clock, tool, prepare, run, jobs, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() };
}

test('the agent plans in its own session, for whoever asked, and is asked for as tools that write are', async () => {
  verifies('R04');
  await using plans = await planning();
  const { run, jobs, clock, tool } = plans;
  const { call, text } = await run({ action: 'add', message: 'Look at the oven', inMs: 20 * MINUTE });
  assert.deepEqual([call.risk, call.question], ['write', 'Be told later, in 1200 s?']);
  assert.deepEqual(call.exact.schedule, { kind: 'in', delayMs: 20 * MINUTE }, 'what is shown is what is done');
  const [only] = await jobs();
  assert.deepEqual(
    [only?.session, only?.owner, only?.nextAt, only?.message],
    [{ key }, 'token:asker', clock.now() + 20 * MINUTE, 'Look at the oven'],
  );
  assert.match(text, new RegExp(`^Planned: ${only?.id}`));
  assert.deepEqual(await tool.facts?.({ action: 'list' }, {} as never), { risk: 'read' });
  const listed = await run({ action: 'list' });
  assert.deepEqual([listed.call.risk, listed.text.includes(only!.id)], ['read', true]);
  await run({ action: 'remove', id: only!.id });
  assert.deepEqual(await jobs(), []);
  assert.equal((await run({ action: 'list' })).text, 'Nothing is planned in this conversation');
});

test('what is planned in other sessions is neither shown nor removed', async () => {
  await using plans = await planning();
  const { store, run, prepare, jobs } = plans;
  await store.write('jobs.add', job('theirs', { session: { key: 'agent:main:other' } }));
  assert.equal((await run({ action: 'list' })).text, 'Nothing is planned in this conversation');
  const [theirs] = await jobs();
  await assert.rejects(prepare({ action: 'remove', id: theirs!.id }), (error) => error instanceof ToolError && error.code === 'NOT_FOUND');
});

test('a time that cannot be is told to the model, and nothing is planned', async () => {
  verifies('S62:time');
  await using plans = await planning();
  const add = (more: JsonObject) => plans.prepare({ action: 'add', message: 'x', ...more });
  const wrong: readonly (readonly [JsonObject, RegExp])[] = [
    [{}, /exactly one of at, inMs, everyMs and cron/],
    [{ inMs: 1, everyMs: 60_000 }, /exactly one of/],
    [{ at: 'tomorrow-ish' }, /at is not a date/],
    [{ at: '1999-01-01T00:00:00Z' }, /at has passed/],
    [{ inMs: 1e300 }, /leads beyond the year 9999/],
    [{ cron: '99 * * * *' }, /Invalid value for minute/],
    [{ cron: '* * * * *', tz: 'Mars/Olympus' }, /not a time zone/],
  ];
  for (const [args, why] of wrong) {
    await assert.rejects(add(args), (error) => {
      assert.ok(error instanceof ToolError);
      assert.match(error.message, why);
      return true;
    });
  }
  await assert.rejects(plans.prepare({ action: 'add', inMs: 1 }), /message is missing/);
  assert.deepEqual(await plans.jobs(), []);
});

test('an agent that plans without end is told that there is no more room, and goes on', async () => {
  verifies('S62:time');
  await using plans = await planning();
  const { store, run } = plans;
  await Promise.all(Array.from({ length: limits.jobsPerSession.value }, (_, n) => store.write('jobs.add', job(`n${n}`))));
  await assert.rejects(run({ action: 'add', message: 'x', inMs: MINUTE }), (error) => {
    assert.ok(error instanceof ToolError, String(error));
    assert.match(error.message, /1000 that are not finished; remove some first/);
    return true;
  });
});
