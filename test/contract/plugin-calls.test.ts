// Tools and policies of plugins that hang, are cut off, or fight with each other, with a clock that the test moves.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PluginTool, ToolPolicy } from '@tenon/plugin-sdk';
import { pluginPlaces } from '@tenon/protocol';
import { createEventFollowers } from '../../packages/gateway/src/agent/follow-events.ts';
import { type PluginParts, pluginTools } from '../../packages/gateway/src/agent/plugin-tools.ts';
import { type Judgement, judgeByPolicies } from '../../packages/gateway/src/agent/tool-policies.ts';
import { ToolError } from '../../packages/gateway/src/agent/tools/tool.ts';
import { createPluginCaller, type PluginFailure } from '../../packages/gateway/src/host/call-plugin.ts';
import { createContributionRegistry } from '../../packages/gateway/src/host/contribution-registry.ts';
import { createMetrics } from '../../packages/gateway/src/kernel/metrics.ts';
import { createManualClock } from '../support/clock.ts';
import { KEY } from '../support/turns.ts';
import { verifies } from '../support/verifies.ts';

function open() {
  const clock = createManualClock();
  const failures: PluginFailure[] = [];
  const registry = createContributionRegistry();
  const held = new Set(['tools.register', 'policy.tools']);
  const parts: PluginParts = {
    registry,
    caller: createPluginCaller({ clock, metrics: createMetrics(), reportFailure: (failure) => failures.push(failure) }),
    generation: 1,
    list: () => [],
    get: (id) => ({ name: id }),
    holds: (_, grant) => held.has(grant),
    stateOf: () => undefined,
    isActive: () => true,
    missingGuard: () => undefined,
    openRuns: async () => [],
  };
  const add = (plugin: string, kind: 'tool' | 'toolPolicy' | 'eventSubscription', item: unknown) => {
    const added = registry.add({ plugin, pluginName: plugin, generation: 1 }, kind, item);
    assert.ok(added.ok, JSON.stringify(added));
    return added.dispose;
  };
  return { clock, failures, held, parts, add };
}

const place = { sessionKey: KEY, agentId: 'main', runId: 'run', callId: 'call', workspace: '/' };
const io = (signal = new AbortController().signal) => ({ signal, onUpdate: () => {} });

function tool(execute: PluginTool['execute'], more: Partial<PluginTool> = {}): PluginTool {
  return { name: 'hang', description: 'x', parameters: { type: 'object' }, risk: 'read', execute, ...more };
}

const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

test('a tool that never answers is a failure of the plugin when its time is over, and is told to stop', async () => {
  verifies('seams:W5');
  const { clock, parts, failures, add } = open();
  let signal: AbortSignal | undefined;
  add(
    'sleepy',
    'tool',
    tool((_, call) => {
      signal = call.signal;
      return new Promise(() => {});
    }),
  );
  const prepared = await pluginTools(parts)[0]!.prepare({}, place);
  const running = prepared.run(io());
  await settle();
  clock.advance(pluginPlaces.tool.timeoutMs - 1);
  assert.equal(signal?.aborted, false);
  clock.advance(1);
  await assert.rejects(running, (error) => error instanceof ToolError && /Plugin sleepy gave no answer/.test(error.message));
  assert.equal(signal?.aborted, true);
  assert.deepEqual(
    failures.map(({ plugin, place: at, kind }) => [plugin, at, kind]),
    [['sleepy', 'tool', 'timed-out']],
  );
});

test('a turn that is stopped stops waiting for the tool at once, and nothing that it says later is shown', async () => {
  const { parts, failures, add } = open();
  let say: ((text: string) => void) | undefined;
  add(
    'chatty',
    'tool',
    tool((_, call) => {
      say = call.onUpdate;
      say('first');
      return new Promise(() => {});
    }),
  );
  const shown: string[] = [];
  const stop = new AbortController();
  const prepared = await pluginTools(parts)[0]!.prepare({}, place);
  const running = prepared.run({ signal: stop.signal, onUpdate: (text) => shown.push(text) });
  await settle();
  stop.abort();
  await assert.rejects(running);
  say?.('second');
  assert.deepEqual(shown, ['first']);
  assert.deepEqual(failures, [], 'that is nobody’s failure');
});

test('a tool of a plugin that was unloaded or has lost its grant does not run', async () => {
  const { parts, held, add } = open();
  let ran = 0;
  const dispose = add(
    'gone',
    'tool',
    tool(() => ({ content: String(++ran) })),
  );
  const [mine] = pluginTools(parts);
  const prepared = await mine!.prepare({}, place);
  held.delete('tools.register');
  await assert.rejects(prepared.run(io()), /no longer/);
  held.add('tools.register');
  dispose();
  await assert.rejects(prepared.run(io()), /no longer/);
  assert.equal(ran, 0);
  assert.deepEqual(pluginTools(parts), []);
});

test('what a tool says of its details cannot hide whose it is', async () => {
  const { parts, add } = open();
  add(
    'honest',
    'tool',
    tool(() => ({ content: [{ type: 'text', text: 'x' }], details: { plugin: 'another' } })),
  );
  const prepared = await pluginTools(parts)[0]!.prepare({}, place);
  assert.deepEqual((await prepared.run(io())).details, { plugin: 'honest' });
});

test('a plugin that answers every event of its own with two more keeps nobody waiting, and loses what is too much', async () => {
  verifies('seams:A18');
  const { parts, failures, held, clock, add } = open();
  held.add('events.follow');
  let heard = 0;
  const said = { runId: 'run', sessionKey: KEY, seq: 0, ts: 0, stream: 'plugin' as const, plugin: 'echo', name: 'echo', data: null };
  const followers = createEventFollowers({ clock, metrics: createMetrics(), plugins: parts });
  const dispose = add('echo', 'eventSubscription', {
    id: 'ears',
    handle: (event: unknown) => {
      assert.ok(Object.isFrozen(event));
      heard++;
      followers.said(said);
      followers.said(said);
    },
  });
  followers.said(said);
  assert.equal(heard, 0, 'not while it is said');
  for (let turn = 0; turn < 20; turn++) await settle();
  assert.ok(heard > 256, String(heard));
  assert.ok(failures.some(({ plugin, kind }) => plugin === 'echo' && kind === 'dropped'));
  dispose();
  const before = heard;
  for (let turn = 0; turn < 5; turn++) await settle();
  assert.equal(heard, before, 'one that is unloaded hears nothing more');
});

function policy(id: string, evaluate: ToolPolicy['evaluate'], matcher?: string[]): ToolPolicy {
  return { id, description: 'x', evaluate, ...(matcher ? { matcher } : {}) };
}

function judge(parts: PluginParts, args = {}, signal = new AbortController().signal): Promise<Judgement> {
  const [judged] = pluginTools(parts);
  return judgeByPolicies({ tool: judged!, args, place, signal }, parts);
}

test('a policy that never answers denies, and says no more than that', async () => {
  const { clock, parts, add } = open();
  add(
    'tools',
    'tool',
    tool(() => ({ content: '' })),
  );
  add(
    'slow',
    'toolPolicy',
    policy('p', () => new Promise(() => {})),
  );
  const judged = judge(parts);
  await settle();
  clock.advance(5_000);
  assert.deepEqual(await judged, { kind: 'denied', plugin: 'slow', reason: 'its policy could not judge this call' });
});

test('a turn that is stopped while a policy thinks is stopped, not denied', async () => {
  const { parts, add } = open();
  add(
    'tools',
    'tool',
    tool(() => ({ content: '' })),
  );
  add(
    'slow',
    'toolPolicy',
    policy('p', () => new Promise(() => {})),
  );
  const stop = new AbortController();
  const judged = judge(parts, {}, stop.signal);
  await settle();
  stop.abort();
  assert.deepEqual(await judged, { kind: 'aborted' });
});

test('policies are asked by the id of their plugin, then as registered; a denial goes before a wish to ask', async () => {
  const { parts, add } = open();
  add(
    'tools',
    'tool',
    tool(() => ({ content: '' })),
  );
  const asked: string[] = [];
  const note = (name: string, decision?: ReturnType<ToolPolicy['evaluate']>) => () => {
    asked.push(name);
    return decision;
  };
  add('b', 'toolPolicy', policy('one', note('b.one', { requireApproval: { title: 'Second', description: '' } })));
  add('a', 'toolPolicy', policy('two', note('a.two', { requireApproval: { title: 'First', description: '' } })));
  add('a', 'toolPolicy', policy('one', note('a.one', { params: { changed: true } })));
  add('c', 'toolPolicy', policy('elsewhere', note('c', { allow: false }), ['other']));
  const passed = await judge(parts, { x: 1 });
  assert.deepEqual(asked, ['a.two', 'a.one', 'b.one']);
  assert.ok(passed.kind === 'passed');
  assert.deepEqual([passed.approval?.plugin, passed.approval?.title], ['a', 'First']);
  assert.deepEqual(passed.args, { x: 1 }, 'what the operator is asked about is not changed any more');
  add('z', 'toolPolicy', policy('no', note('z', { allow: false, reason: 'No' })));
  assert.deepEqual(await judge(parts), { kind: 'denied', plugin: 'z', reason: 'No' });
});
