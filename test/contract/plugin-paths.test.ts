// The same plugin, whichever way a turn comes in: a message, a program, the OpenAI endpoint, a turn that a plugin asked for, a
// command of a person. And the two observers of stored tool calls, with everything that they were promised.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { hookNames, hookNeeds, limits } from '@tenon/protocol';
import { type Conversation, openConversation } from '../support/conversation.ts';
import { temporaryHome } from '../support/gateway.ts';
import { writePlugin } from '../support/plugins.ts';
import { verifies } from '../support/verifies.ts';

const home = temporaryHome();
const tenonBin = join(import.meta.dirname, '..', '..', 'packages', 'gateway', 'bin', 'tenon.js');
let world: Conversation;
let count = 0;

const watcher = `
  const seen = { hooks: [], before: [], after: [], order: [], children: null, action: null };
  for (const name of ${JSON.stringify(hookNames)}) {
    api.on(name, (event) => {
      if (seen.hooks.length < 5000) seen.hooks.push({ name, runId: event.runId ?? null, sessionKey: event.sessionKey ?? null, trigger: event.trigger ?? null });
    });
  }
  api.on('before_tool_call_persist', async (event) => {
    await new Promise((resolve) => setImmediate(resolve));
    seen.before.push(event);
    seen.order.push('watcher before ' + event.toolCallId);
    if (event.toolInput.text === 'observe') throw new Error('an observer that throws');
  });
  api.on('after_tool_call_persist', async (event) => {
    await new Promise((resolve) => setImmediate(resolve));
    seen.after.push(event);
    seen.order.push('watcher after ' + event.toolCallId);
    if (event.toolInput.text === 'observe') throw new Error('an observer that throws');
  });
  api.registerTool({ name: 'echo', description: 'Echo', risk: 'read',
    parameters: { type: 'object', properties: { text: { type: 'string' } }, additionalProperties: false },
    async execute({ text }, call) {
      if (text === 'fail') throw new Error('broken');
      if (text === 'go on') {
        await api.session.workflow.continueAgent({ sessionKey: call.sessionKey, force: true });
        seen.children = { own: call.runId, open: await call.openChildRuns() };
      }
      return { content: text ?? '' };
    } });
  api.registerTrustedToolPolicy({ id: 'no', description: 'No', matcher: ['echo'],
    evaluate: ({ params }) => params.text === 'forbidden' ? { allow: false, reason: 'no' } : undefined });
  api.registerCommand({ name: 'again', description: 'Goes on', handler: () => ({ text: 'On.', continueAgent: true }) });
  api.registerSessionAction({ id: 'look', handler: async (call) => ({ result: { runId: call.runId ?? null, open: await call.openChildRuns() } }) });
  api.registerGatewayMethod({ name: 'seen', scope: 'operator.read', handler: () => JSON.parse(JSON.stringify(seen)) });
`;
const later = `
  const order = [];
  api.on('before_tool_call_persist', (event) => void order.push(event.toolCallId));
  api.on('after_tool_call_persist', (event) => void order.push(event.toolCallId));
  api.registerGatewayMethod({ name: 'seen', scope: 'operator.read', handler: () => [...order] });
`;
// Goes on at the end of every turn of one session, which would never end.
const eager = `
  const answers = [];
  api.on('agent_end', async ({ sessionKey }) => {
    if (!sessionKey.endsWith(':eager')) return;
    answers.push(await api.session.workflow.continueAgent({ sessionKey, force: true }));
  });
  api.registerGatewayMethod({ name: 'answers', scope: 'operator.read', handler: () => JSON.parse(JSON.stringify(answers)) });
`;

before(async () => {
  const grants = ['tools.register', 'policy.tools', 'commands.register', 'turns.start', 'gateway.methods'];
  const needs = [...new Set(hookNames.flatMap((name) => hookNeeds(name)))];
  const place = join(home, 'plugins');
  writePlugin(place, { id: 'watcher', grants: [...grants, ...needs], register: watcher });
  const persist = ['hooks.observe:before_tool_call_persist', 'hooks.observe:after_tool_call_persist', 'gateway.methods'];
  writePlugin(place, { id: 'zlater', grants: persist, register: later });
  writePlugin(place, { id: 'eager', grants: [...hookNeeds('agent_end'), 'turns.start', 'gateway.methods'], register: eager });
  world = await openConversation({ home, plugins: true });
  for (const id of ['watcher', 'zlater', 'eager']) {
    const { plugin } = await ask('plugins.enable', { id });
    assert.deepEqual(
      plugin.registrations.filter(({ accepted }: { accepted: boolean }) => !accepted),
      [],
    );
  }
});
after(async () => {
  await world[Symbol.asyncDispose]();
  rmSync(home, { recursive: true, force: true, maxRetries: 10 });
});

const ask: Conversation['ask'] = (method, params) => world.ask(method, params);

const seen = () => ask('plugin.watcher.seen');

interface Fired {
  readonly name: string;
  readonly runId: string | null;
  readonly sessionKey: string | null;
}

/** The hooks of one run, sorted: some are told without being waited for. */
async function hooksOf(runId: string): Promise<string[]> {
  for (;;) {
    const fired = ((await seen()).hooks as Fired[]).filter((each) => each.runId === runId).map(({ name }) => name);
    if (fired.includes('agent_end')) return fired.sort();
  }
}

const script = () => world.server.next({ calls: [{ name: 'echo', arguments: { text: 'hi' } }] }, { text: 'Done.' });

async function endedRun(sessionKey: string, nth = 0): Promise<string> {
  let at = 0;
  const frame = await world.admin.find(
    ({ event, payload }) => event === 'chat' && payload.kind === 'ended' && payload.sessionKey === sessionKey && at++ === nth,
  );
  return frame.payload.runId as string;
}

test('every way to run a turn fires the same hooks', async () => {
  verifies('seams:W4', 'seams:W20');
  script();
  const key = () => `agent:main:way-${++count}`;
  const reference = await world.send('Hi', { sessionKey: key() });
  await world.ended(reference);
  const expected = await hooksOf(reference);
  for (const name of [
    'input',
    'before_model_resolve',
    'agent_turn_prepare',
    'before_prompt_build',
    'before_agent_run',
    'before_agent_reply',
  ])
    assert.ok(expected.includes(name), name);
  for (const name of ['before_tool_call', 'after_tool_call', 'tool_result_persist', 'before_agent_finalize', 'llm_input', 'llm_output'])
    assert.ok(expected.includes(name), name);

  const ways: Record<string, () => Promise<string>> = {
    async agent() {
      const runId = `way-run-${++count}`;
      await ask('agent', { sessionKey: key(), message: 'Hi', idempotencyKey: runId });
      return runId;
    },
    async '/v1'() {
      const sessionKey = key();
      const response = await fetch(`${world.gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${world.gateway.token}`,
          'content-type': 'application/json',
          'x-tenon-session-key': sessionKey,
        },
        body: JSON.stringify({ model: 'tenon', messages: [{ role: 'user', content: 'Hi' }] }),
      });
      assert.equal(response.status, 200, await response.clone().text());
      return endedRun(response.headers.get('x-tenon-session-key') ?? sessionKey);
    },
    async 'tenon run'() {
      const sessionKey = key();
      const child = spawn(process.execPath, [tenonBin, 'run', 'Hi', '--session', sessionKey, '--home', home], { stdio: 'ignore' });
      const [code] = await once(child, 'exit');
      assert.equal(code, 0);
      return endedRun(sessionKey);
    },
    async 'a turn that a plugin asked for'() {
      const sessionKey = (await ask('sessions.create', { key: key() })).session.key;
      await ask('commands.invoke', { sessionKey, text: '/again' });
      return endedRun(sessionKey);
    },
  };
  for (const [way, run] of Object.entries(ways)) {
    script();
    const runId = await run();
    await world.ended(runId);
    assert.deepEqual(await hooksOf(runId), expected, way);
  }
});

test('a command of a person is a turn with the hooks of its own, and a slash command is none', async () => {
  verifies('seams:W4');
  const sessionKey = (await ask('sessions.create', { key: `agent:main:bash-${++count}`, permissions: 'bypass' })).session.key;
  const runId = await world.send('!true', { sessionKey });
  const approval = await Promise.race([world.question(runId), world.ended(runId).then(() => undefined)]);
  if (approval) await world.answer(approval, 'allow-once');
  await world.ended(runId);
  assert.deepEqual(await hooksOf(runId), ['agent_end', 'input', 'resolve_exec_env', 'user_bash']);
  const before = (await seen()).hooks.length;
  await ask('commands.invoke', { sessionKey, text: '/status' });
  assert.equal((await seen()).hooks.length, before);
});

interface Told {
  readonly sessionKey: string;
  readonly agentId: string;
  readonly toolName: string;
  readonly toolCallId: string;
  readonly toolInput: unknown;
  readonly messageId: string;
  readonly runId: string;
  readonly toolResult?: { readonly toolCallId: string; readonly isError: boolean; readonly content: { readonly text: string }[] };
}

const calls: readonly [kind: string, name: string, args: object, isError: boolean][] = [
  ['of the gateway', 'ls', {}, false],
  ['of the gateway that fails', 'read', { path: 'not-there' }, true],
  ['of a plugin', 'echo', { text: 'plain' }, false],
  ['of a plugin that fails', 'echo', { text: 'fail' }, true],
  ['that a policy blocks', 'echo', { text: 'forbidden' }, true],
  ['of no tool at all', 'nothing', { text: 'x' }, true],
  ['with arguments that do not fit', 'echo', { words: 'x' }, true],
];

async function callOnce(name: string, args: object): Promise<{ runId: string; callId: string; key: string }> {
  const callId = `call-${++count}`;
  const key = `agent:main:persist-${count}`;
  world.server.next({ calls: [{ id: callId, name, arguments: args }] }, { text: 'Done.' });
  const runId = await world.send('Go', { sessionKey: key });
  await world.ended(runId);
  return { runId, callId, key };
}

test('Plugin subscribes to before_tool_call_persist; event dispatched with all fields populated for any tool call', async () => {
  verifies('seed2:before-persist', 'compat:C16', 'seams:W16');
  for (const [kind, name, args] of calls) {
    const { runId, callId, key } = await callOnce(name, args);
    const told = ((await seen()).before as Told[]).find(({ toolCallId }) => toolCallId === callId);
    assert.ok(told, kind);
    const message = (await world.history(key)).find((entry) => entry.id === told.messageId);
    assert.ok(message?.type === 'message' && message.message.role === 'assistant', `${kind}: the message that made the call`);
    assert.deepEqual(
      told,
      { sessionKey: key, agentId: 'main', toolName: name, toolCallId: callId, toolInput: args, messageId: told.messageId, runId },
      kind,
    );
  }
});

test('Plugin subscribes to after_tool_call_persist; dispatched after persist completes with toolResult populated', async () => {
  verifies('seed2:after-persist', 'compat:C16', 'seams:W16');
  for (const [kind, name, args, isError] of calls) {
    const { runId, callId, key } = await callOnce(name, args);
    const told = ((await seen()).after as Told[]).find(({ toolCallId }) => toolCallId === callId);
    assert.ok(told?.toolResult, kind);
    const { toolResult, messageId, ...rest } = told;
    assert.deepEqual(rest, { sessionKey: key, agentId: 'main', toolName: name, toolCallId: callId, toolInput: args, runId }, kind);
    const kept = (await world.history(key)).flatMap((entry) =>
      entry.type === 'message' && entry.message.role === 'toolResult' ? [entry.message] : [],
    );
    assert.equal(toolResult.isError, isError, kind);
    assert.deepEqual(toolResult, JSON.parse(JSON.stringify(kept[0])), `${kind}: what was kept`);
    assert.ok(messageId);
  }
});

test('Plugin handler throws: host logs and continues (best-effort observer pattern)', async () => {
  verifies('seed2:observer-throws');
  const { callId, key } = await callOnce('echo', { text: 'observe' });
  assert.deepEqual((await world.results(key)).at(-1)?.text, 'observe', 'the result is kept');
  const order = await ask('plugin.zlater.seen');
  assert.equal(order.filter((each: string) => each === callId).length, 2, 'and the next one is told');
  const { counts } = (await ask('plugins.get', { id: 'watcher' })).plugin;
  for (const name of ['before_tool_call_persist', 'after_tool_call_persist'])
    assert.ok(counts.find(({ place }: { place: string }) => place === name).errors > 0, name);
});

test('Multiple plugins subscribed: all dispatched (registration order)', async () => {
  verifies('seed2:registration-order');
  const { callId } = await callOnce('echo', { text: 'many' });
  const { order } = await seen();
  const own = order.filter((each: string) => each.endsWith(callId));
  assert.deepEqual(own, [`watcher before ${callId}`, `watcher after ${callId}`], 'each once, after what was kept');
  assert.equal((await ask('plugin.zlater.seen')).filter((each: string) => each === callId).length, 2);
  const { hooks } = await ask('hooks.status');
  const handlers = hooks.find(({ hook }: { hook: string }) => hook === 'before_tool_call_persist').handlers;
  assert.deepEqual(
    handlers.map(({ plugin }: { plugin: string }) => plugin),
    ['watcher', 'watcher', 'zlater'],
  );
});

test('a tool knows its run and the turns that its plugin has asked for; an action the turn that is at work', async () => {
  verifies('compat:C20');
  const sessionKey = `agent:main:children-${++count}`;
  const gate = Promise.withResolvers<void>();
  world.server.next(
    { calls: [{ name: 'echo', arguments: { text: 'go on' } }] },
    { text: ['Do', 'ne.'], gate: () => gate.promise },
    { text: 'On.' },
  );
  const runId = await world.send('Go', { sessionKey });
  let children: { own: string; open: { runId: string; state: string }[] } | null = null;
  while (children === null) ({ children } = await seen());
  assert.equal(children.own, runId);
  assert.deepEqual(
    children.open.map(({ state }) => state),
    ['queued'],
  );
  const look = () => ask('plugins.sessionAction', { pluginId: 'watcher', actionId: 'look', sessionKey });
  assert.deepEqual((await look()).result, { runId, open: children.open });
  gate.resolve();
  await world.ended(children.open[0]!.runId);
  assert.deepEqual((await look()).result.open, []);
});

test('a plugin that goes on at the end of every turn is refused with the reason limit', async () => {
  verifies('compat:C4');
  const most = limits.pluginTurns.value;
  world.server.next(...Array.from({ length: most + 1 }, () => ({ text: 'Done.' })));
  await world.ended(await world.send('Hi', { sessionKey: 'agent:main:eager' }));
  for (;;) {
    const answers = (await ask('plugin.eager.answers')) as { ok: boolean; reason?: string; message?: string }[];
    if (answers.length <= most) continue;
    assert.deepEqual(
      answers.map(({ ok }) => ok),
      [...Array.from({ length: most }, () => true), false],
    );
    assert.equal(answers.at(-1)?.reason, 'limit');
    assert.match(answers.at(-1)?.message ?? '', /send a message/);
    return;
  }
});
