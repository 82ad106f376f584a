// Plugins that take their time, in a real gateway: what the operator says about deadlines holds, a turn has a budget, what is
// slow time after time is switched off where the gateway can do without, and all of it is told handler by handler.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { doer, openHostile, type HostileWorld } from '../support/hostile.ts';
import { verifies } from '../support/verifies.ts';

interface Handler {
  readonly plugin: string;
  readonly timeoutMs: number;
  readonly calls: number;
  readonly errors: number;
  readonly timeouts: number;
  readonly skipped: number;
  readonly lastAt?: number;
  readonly p50Ms?: number;
  readonly p95Ms?: number;
  readonly switchedOff?: { readonly reason: string };
}

async function handlersOf(world: HostileWorld, hook: string): Promise<Handler[]> {
  const { hooks } = await world.ask('hooks.status');
  return hooks.find((each: { hook: string }) => each.hook === hook)?.handlers ?? [];
}

const intercept = (...names: string[]) => names.map((name) => `hooks.intercept:${name}`);
const observe = (...names: string[]) => names.map((name) => `hooks.observe:${name}`);
const wait = (ms: number) => `await new Promise((resolve) => setTimeout(resolve, ${ms}));`;

describe('plugins that take their time', () => {
  verifies('seams:W5', 'seams:W3');

  test('the operator decides how long plugins may take: for plugin and place, then place, then plugin, then the author', async () => {
    const grants = ['conversation.read', ...intercept('before_agent_reply', 'before_prompt_build'), ...observe('agent_end')];
    const register = `api.on('before_agent_reply', () => undefined, { timeoutMs: 1234 });
      api.on('agent_end', () => undefined, { timeoutMs: 1234 });`;
    await using world = await openHostile(
      [doer('one', 'await new Promise(() => {});', { grants, register }), doer('two', '', { grants, register })],
      {
        config: `
[[plugins.timeouts]]
plugin = "one"
place = "before_agent_reply"
timeoutMs = 11
[[plugins.timeouts]]
place = "before_agent_reply"
timeoutMs = 12
[[plugins.timeouts]]
plugin = "one"
timeoutMs = 13
`,
      },
    );
    const timeouts = async (hook: string) => (await handlersOf(world, hook)).map(({ plugin, timeoutMs }) => [plugin, timeoutMs]);
    assert.deepEqual(await timeouts('before_agent_reply'), [
      ['one', 11],
      ['two', 12],
    ]);
    assert.deepEqual(await timeouts('agent_end'), [
      ['one', 13],
      ['two', 1234],
    ]);
    const { error } = await world.poke('one');
    assert.equal(error?.details?.code, 'PLUGIN_FAILED', 'it holds in every place: the method has ended');
    const counts = (await world.plugin('one')).counts.find(({ place }) => place === 'gateway_method');
    assert.equal(counts?.timeouts, 1);
  });

  test('hooks.status counts each handler by itself', async () => {
    const register = `api.on('agent_end', () => { throw new Error('always'); }, { priority: 2 });
      api.on('agent_end', () => undefined, { priority: 1 });`;
    await using world = await openHostile([doer('pair', '', { grants: ['conversation.read', ...observe('agent_end')], register })]);
    await world.say('hello');
    await world.say('hello again');
    for (let handlers: Handler[] = []; handlers.some(({ calls }) => calls < 2) || handlers.length === 0; )
      handlers = await handlersOf(world, 'agent_end');
    const [first, second] = await handlersOf(world, 'agent_end');
    assert.deepEqual([first?.calls, first?.errors, second?.calls, second?.errors], [2, 2, 2, 0]);
    for (const each of [first, second]) {
      assert.ok((each?.lastAt ?? 0) > 0);
      assert.ok((each?.p95Ms ?? -1) >= (each?.p50Ms ?? 0));
    }
  });

  test('when the hooks of a turn have used up their time, those that guard nothing are skipped, and those that guard are asked', async () => {
    const register = `api.on('before_agent_reply', async () => { ${wait(30)} });
      api.on('before_prompt_build', () => undefined);
      api.on('before_agent_run', () => undefined);`;
    const grants = ['conversation.read', 'prompt.inject', ...intercept('before_agent_reply', 'before_prompt_build', 'before_agent_run')];
    await using world = await openHostile([doer('slow', '', { grants, register }), doer('other', 'return "fine";')], {
      config: 'turnBudgetMs = 1\n',
    });
    const { registrations } = await world.plugin('slow');
    assert.ok(
      registrations.every(({ accepted }) => accepted),
      JSON.stringify(registrations),
    );
    const { end } = await world.say('hello');
    assert.equal(end.kind, 'completed');
    const [reply] = await handlersOf(world, 'before_agent_reply');
    const [build] = await handlersOf(world, 'before_prompt_build');
    const [run] = await handlersOf(world, 'before_agent_run');
    assert.equal(reply?.calls, 1, 'the first is asked: nothing is spent yet');
    assert.deepEqual([build?.calls, build?.skipped], [0, 1]);
    assert.deepEqual([run?.calls, run?.skipped], [1, 0], 'what is closed on failure is asked whatever is left');
    const told = readFileSync(join(world.home, 'logs', 'gateway.log'), 'utf8')
      .split('\n')
      .find((line) => line.includes('handlers are skipped'));
    assert.match(told ?? '', /"byPlugin":\{"slow":\d+\}/, 'it is told who has used it up');
    await world.say('hello again');
    assert.equal((await handlersOf(world, 'before_agent_reply'))[0]?.calls, 2, 'each turn has its own');
  });

  test('a subscription that is too slow time after time is switched off; a policy is not, and denies', async () => {
    const register = `api.registerAgentEventSubscription({ id: 'all', handle: () => new Promise(() => {}) });
      api.on('agent_end', () => new Promise(() => {}));
      api.on('before_agent_run', () => new Promise(() => {}));`;
    const grants = ['conversation.read', 'events.follow', ...observe('agent_end'), ...intercept('before_agent_run')];
    await using world = await openHostile([doer('hangs', '', { grants, register })], { config: '[[plugins.timeouts]]\ntimeoutMs = 5\n' });
    for (let turn = 0; turn < 6; turn++) {
      const { end } = await world.say('hello');
      assert.notEqual(end.kind, 'completed', 'the gate refuses what it does not answer');
    }
    const { switchedOff } = await world.until('hangs', (plugin) => plugin.switchedOff.length >= 2);
    assert.deepEqual(switchedOff.map(({ place }) => place).sort(), ['agent_end', 'agent_event']);
    const [gate] = await handlersOf(world, 'before_agent_run');
    assert.equal(gate?.switchedOff, undefined);
    assert.equal(gate?.timeouts, 6);
    const [off] = await handlersOf(world, 'agent_end');
    assert.match(off?.switchedOff?.reason ?? '', /too slow 5 times in a row \(5 ms\)/);
    const [reloaded] = (await world.ask('plugins.reload', { id: 'hangs' })).plugins;
    assert.deepEqual(reloaded.switchedOff, []);
    assert.equal((await handlersOf(world, 'agent_end'))[0]?.switchedOff, undefined, 'to load it anew puts it right');
  });
});
