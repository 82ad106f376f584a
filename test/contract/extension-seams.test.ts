// The seams of plugins as an extension has them: which session a call is about, what it is refused with and in which words, what binds
// the answer of an action to what it has read, and what holds while the process is down. A real process, the host of plugins, the store.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { test } from 'node:test';
import { errors } from '@tenon/protocol/sep/wire';
import { performAction } from '../../packages/gateway/src/agent/session-actions.ts';
import type { PluginHost } from '../../packages/gateway/src/host/plugin-host.ts';
import { type Clock, systemClock } from '../../packages/gateway/src/kernel/clock.ts';
import { type DeskStep, writeDesk } from '../support/extensions.ts';
import { type HostWorld, openHostWorld, SESSION } from '../support/plugins.ts';
import { verifies } from '../support/verifies.ts';
import { until, writeExtension } from '../support/written-extension.ts';

const options = { extensions: { version: '0.0.1', env: process.env, node: process.execPath, spawn, random: () => 0.5 } };
const BY = { by: 'test' };
/** Restarts come soon. */
const clock: Clock = { ...systemClock, after: (delayMs, call) => systemClock.after(delayMs === 1_100 ? 5 : delayMs, call) };
/** They do not come while a test looks. */
const down: Clock = { ...systemClock, after: (delayMs, call) => systemClock.after(delayMs === 1_100 ? 3_600_000 : delayMs, call) };

async function does(host: PluginHost, ...steps: DeskStep[]): Promise<unknown[]> {
  const place = { sessionKey: SESSION, agentId: 'main', runId: 'r1', callId: 'c1', state: () => undefined };
  const call = { ...place, getSessionExtension: () => undefined, signal: new AbortController().signal, openChildRuns: async () => [] };
  const tool = host.registry.findAny('tool', 'desk__do')?.item;
  assert.ok(tool, 'the desk is not there');
  return JSON.parse(String((await tool.execute({ steps: steps as never }, { ...call, onUpdate: () => {} })).content)) as unknown[];
}

/** What an extension said on its standard error. */
function noted({ logged }: HostWorld): Record<string, unknown>[] {
  return logged.flatMap(({ stderr }) => (typeof stderr === 'string' && stderr.startsWith('{') ? [JSON.parse(stderr) as never] : []));
}

const refusedAs = (given: unknown) => {
  const { code, data } = given as { code: number; data?: { reason?: string; grant?: string } };
  return data?.reason ?? data?.grant ?? code;
};

test('a call is about the session of its context or the one that it names; what is refused says why', async () => {
  verifies('sep:seams', 'sep:errors', 'sep:G28');
  await using world = await openHostWorld(clock);
  writeDesk(world.home, { capabilities: 'state = true\ninjections = true\nschedules = true\nstreams = true', state: ['box'] });
  const host = await world.open(options);
  const on = await host.enable('desk', BY);
  assert.equal(on.state, 'loaded', on.reason);
  const other = 'agent:main:other';
  await world.store.write('sessions.create', { key: other, fields: {}, at: 1 });
  assert.deepEqual(
    await does(
      host,
      ['keep', 'mine'],
      ['state.patch', 'box', { n: 1 }],
      ['state.patch', 'box', { n: 2 }, { session_key: other }],
      ['state.get', 'box'],
      ['state.list', 'box'],
      ['state.patch', 'box', null],
      ['state.get', 'box'],
      ['state.patch', 'box', { n: 3 }, { if_revision: 2 }],
    ),
    [
      null,
      { revision: 1 },
      { revision: 1 },
      { value: { n: 1 }, revision: 1 },
      [
        { session_key: SESSION, value: { n: 1 }, revision: 1 },
        { session_key: other, value: { n: 2 }, revision: 1 },
      ],
      { revision: 2 },
      { value: null, revision: 2 },
      { revision: 3 },
    ],
  );
  const long = 'x'.repeat(1_000);
  const refused = await does(
    host,
    ['with', 'mine', 'state/get', { namespace: 'box' }],
    ['call', 'state/get', { namespace: 'box', context: { token: 'guessed', tier: 'command' } }],
    ['state.patch', 'box', 1, { if_revision: 1 }],
    ['state.patch', 'box', 1, { session_key: 'agent:main:nobody' }],
    ['state.get', 'never-registered'],
    ['state.get', 'box', { session_key: 'no key' }],
    ['injections.enqueue', { text: 'Once.', idempotency_key: 'once' }],
    ['injections.enqueue', { text: 'Twice.', idempotency_key: 'once' }],
    ['injections.enqueue', { text: 'To nobody.', session_key: 'agent:main:nobody' }],
    ['schedules.turn', { message: 'When?' }],
    ['schedules.remove', { tag: 'a:b' }],
    ['streams.emit', { stream: 'somebody-else', data: 1 }],
    ['streams.emit', { stream: 'desk.mine', data: long }],
    ['streams.emitEvent', { name: 'never-registered', data: 1 }],
    ['turns.continue'],
  );
  const { ContextViolation: context, InvalidParams: invalid, CapabilityDisabled: disabled } = errors;
  assert.deepEqual(refused.slice(0, 6).map(refusedAs), [context.code, context.code, 'conflict', 'no-session', invalid.code, invalid.code]);
  assert.deepEqual((refused[6] as { id: string }).id, 'once');
  assert.deepEqual(refused.slice(7, 12).map(refusedAs), ['conflict', 'no-session', invalid.code, invalid.code, invalid.code]);
  assert.deepEqual(refused[12], null);
  assert.equal((world.said.at(-1) as { name?: string }).name, 'desk.mine');
  assert.equal(refusedAs(refused[13]), invalid.code);
  assert.equal((refused[14] as { code: number }).code, disabled.code, 'the group is not declared');
  await host.revoke('desk', ['sessions.list'], BY);
  assert.deepEqual((await does(host, ['state.list', 'box'], ['state.get', 'box'])).map(refusedAs), ['sessions.list', undefined]);
});

test('what an action has read under its context is bound to what it answers; what it wrote itself is in nobody’s way', async () => {
  verifies('sep:seams');
  await using world = await openHostWorld(clock);
  writeDesk(world.home, { capabilities: 'state = true\nactions = true', state: ['box', 'seen'], actions: ['act'] });
  const host = await world.open(options);
  await host.enable('desk', BY);
  const registered = host.registry.find('sessionAction', 'desk', 'act');
  assert.ok(registered);
  const parts = { ...host, holds: () => true } as never;
  const act = async (steps: readonly DeskStep[], answer: object) => {
    const request = {
      pluginId: 'desk',
      actionId: 'act',
      sessionKey: SESSION,
      held: new Set(['operator.write']),
      payload: { steps, answer },
    };
    const asked = await performAction(
      registered,
      request as never,
      { store: world.store, plugins: parts, wake: { afterCall: () => undefined } as never },
      1,
    );
    return { asked, commit: () => world.store.write('plugins.act', asked.act) };
  };
  const own = await act(
    [
      ['state.get', 'box'],
      ['state.patch', 'box', 1, { if_revision: 0 }],
    ],
    { state_patch: { box: 2 } },
  );
  await own.commit();
  assert.deepEqual(await does(host, ['state.get', 'box']), [{ value: 2, revision: 2 }]);
  const late = await act([['state.get', 'seen']], { state_patch: { box: 3 } });
  await does(host, ['state.patch', 'seen', 'changed']);
  await assert.rejects(late.commit(), /is at revision 1, not 0/);
  const careless = await act([], { state_patch: { box: 4 } });
  await does(host, ['state.patch', 'seen', 'changed again']);
  await careless.commit();
  assert.deepEqual(await does(host, ['state.get', 'box']), [{ value: 4, revision: 3 }]);
});

test('hooks beyond SEP are asked by their own names, with what they may answer, and fail as they declare while it is down', async () => {
  verifies('sep:seams', 'sep:hooks', 'sep:G2');
  await using world = await openHostWorld(down);
  const retry = { instruction: 'Test it.', max_attempts: 2 };
  writeDesk(world.home, {
    capabilities:
      'policies = true\nhooks = ["before_agent_finalize", "before_agent_run", "after_tool_call_persist"]\nevents = ["llm_input"]',
    answers: {
      before_agent_finalize: { patch: { action: 'revise', retry } },
      before_agent_run: { block: true, reason: 'not now' },
      after_tool_call_persist: null,
    },
    events: ['llm_input'],
    more: { policies: [{ id: 'careful', description: 'Careful.', matcher: ['exec'] }], decision: { decision: 'deny', reason: 'no' } },
  });
  const host = await world.open(options);
  const on = await host.enable('desk', BY);
  assert.deepEqual(
    on.asked.filter((grant) => /^(hooks|conversation|policy)/.test(grant)),
    [
      'policy.tools',
      'hooks.intercept:before_agent_finalize',
      'conversation.read',
      'hooks.intercept:before_agent_run',
      'hooks.observe:after_tool_call_persist',
      'hooks.observe:llm_input',
    ],
  );
  const where = { sessionKey: SESSION, agentId: 'main', runId: 'r1' };
  const finish = () =>
    world.hooks.run('before_agent_finalize', { ...where, stopHookActive: false, attemptIndex: 0, madeToolCall: false, toolCalls: [] });
  const start = () => world.hooks.run('before_agent_run', { ...where, prompt: 'go', messages: [] });
  const finished = await finish();
  assert.deepEqual((finished as { event: { candidates?: unknown } }).event.candidates, [
    { instruction: 'Test it.', maxAttempts: 2, plugin: 'desk' },
  ]);
  assert.match(JSON.stringify(await start()), /not now/);
  const persisted = {
    ...where,
    toolName: 'ls',
    toolCallId: 'c1',
    toolInput: { aPath: '.' },
    messageId: 'm1',
    toolResult: { isError: false },
  };
  await world.hooks.run('after_tool_call_persist', persisted as never);
  await world.hooks.run('llm_input', { ...where, callId: 'c', provider: 'p', model: 'm', systemPrompt: 's', messages: [], tools: ['ls'] });
  await until(() => noted(world).some(({ event }) => event === 'llm_input'));
  const told = noted(world).find(({ asked }) => asked === 'after_tool_call_persist')?.input as Record<string, unknown>;
  assert.deepEqual([told.tool_name, told.tool_input], ['ls', { aPath: '.' }], 'names are of the wire, data stays as it is');
  const heard = noted(world).find(({ event }) => event === 'llm_input')?.payload as Record<string, unknown>;
  assert.deepEqual([heard.system_prompt, heard.session_key], ['s', SESSION]);

  const policy = host.registry.find('toolPolicy', 'desk', 'careful')?.item;
  assert.deepEqual(policy?.matcher, ['exec']);
  const judged = { ...where, toolName: 'exec', params: {}, toolCallId: 'c', risk: 'exec', workspaceDir: '/' } as const;
  const judging = { signal: new AbortController().signal, state: () => undefined, getSessionExtension: () => undefined };
  assert.deepEqual(await policy?.evaluate(judged, judging), { allow: false, reason: 'no' });
  process.kill(host.get('desk')!.process!.pid!, 'SIGKILL');
  await until(() => host.get('desk')?.process?.state !== 'ready');
  await assert.rejects(async () => policy?.evaluate(judged, judging), 'a failure denies');
  assert.doesNotMatch(JSON.stringify(await finish()), /revise/, 'it fails open');
  const { kind, reason } = (await start()) as { kind: string; reason?: string };
  assert.deepEqual([kind, /before_agent_run handler of desk failed/.test(reason ?? '')], ['refused', true], 'it fails closed');
});

test('what a group that is off registers is left out and named; tool facts, checks and jobs hold, and a job ends with the extension', async () => {
  verifies('sep:seams', 'sep:G15', 'sep:G26', 'sep:G29');
  await using world = await openHostWorld(clock);
  const told = {
    state: ['box'],
    actions: ['act'],
    jobs: [{ id: 'watch', session_key: SESSION, kind: 'watcher' }],
    more: {
      tool_facts: [{ name: 'do', label: 'The desk', risk: 'read', tags: ['desk'], idempotent: true }],
      startup_checks: [{ id: 'room' }],
    },
  };
  writeDesk(world.home, {
    capabilities: 'schedules = true\ntool_facts = true\nstartup_checks = true\nactions = true\nstate = true',
    ...told,
  });
  const host = await world.open(options);
  await host.enable('desk', BY);
  const { label, risk, tags, idempotent } = host.registry.findAny('tool', 'desk__do')!.item;
  assert.deepEqual([label, risk, tags, idempotent], ['The desk', 'read', ['desk'], true]);
  assert.deepEqual(await host.check(), [{ plugin: 'desk', id: 'room', ok: false, message: 'All is not well.' }]);
  await host.disable('desk', BY);
  await until(() => noted(world).some(({ cleanUp, reason }) => cleanUp === 'watch' && reason === 'disable'));
  await until(() => host.get('desk')?.process?.state === 'stopped' || host.get('desk')?.process === undefined);

  // One that says it all the same.
  const descriptor = { id: 'chip', label: 'Chip', surface: 'session' };
  const registrations = { actions: [{ id: 'act' }], state: [{ namespace: 'box', description: 'A box.' }], descriptors: [descriptor] };
  writeExtension(world, 'notes', { fixture: 'notes.mjs', files: { 'registrations.json': JSON.stringify(registrations) } });
  await host.reload(undefined, BY);
  await host.enable('notes', BY);
  assert.equal(host.registry.find('sessionAction', 'notes', 'act'), undefined);
  assert.equal(host.registry.find('sessionExtension', 'notes', 'box'), undefined);
  assert.deepEqual(
    host.get('notes')?.process?.leftOut?.map(({ kind, message }) => `${kind}: ${message}`),
    ["state: capability 'state' is disabled", "actions: capability 'actions' is disabled"],
  );
  const refused = host.get('notes')?.registrations.find(({ kind }) => kind === 'uiDescriptor');
  assert.deepEqual([refused?.accepted, refused?.code], [false, 'NOT_DECLARED']);
});
