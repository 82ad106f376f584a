// The seam inspector as clients see it: a real gateway with plugins that get in each other's way, driven over the socket only.
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { explain, methodRow, type TraceRecord } from '@tenon/protocol';
import { mintToken } from '../security/harness.ts';
import { call, type Conversation, MODEL_KEY, openConversation } from '../support/conversation.ts';
import { temporaryHome } from '../support/gateway.ts';
import { writePlugin } from '../support/plugins.ts';
import { connectRaw } from '../support/raw-client.ts';
import { verifies } from '../support/verifies.ts';

const SECRET = 'hunter2hunter2hunter2';

const gate = {
  id: 'gate',
  grants: ['hooks.intercept:before_tool_call', 'policy.tools'],
  register: `
    api.on('before_tool_call', ({ params }) => {
      if (String(params.path).includes('forbidden')) return { block: true, blockReason: 'not that one; apiKey=${SECRET}' };
      return { params: { ...params, path: 'notes/' + params.path } };
    }, { priority: 50 });
    api.registerTrustedToolPolicy({ id: 'doors', description: 'Judges', evaluate: ({ params }) => {
      if (params.path === 'policy-no') return { allow: false, reason: 'the door is closed' };
      if (params.path === 'policy-throws') throw new Error('lost my way');
    } });`,
};

const second = {
  id: 'aside',
  grants: [
    'hooks.intercept:before_tool_call',
    'hooks.observe:agent_end',
    'conversation.read',
    'hooks.intercept:before_prompt_build',
    'prompt.inject',
  ],
  register: `
    api.on('before_tool_call', async () => { await new Promise((done) => setTimeout(done, 15)); });
    api.on('before_prompt_build', () => ({ prependContext: 'Mind the gap. password: ${SECRET}' }));
    api.on('agent_end', () => {});`,
};

const doer = {
  id: 'doer',
  grants: ['tools.register', 'commands.register'],
  register: `
    api.registerSessionExtension({ namespace: 'box', description: 'A box' });
    api.registerSessionAction({ id: 'put', handler: async ({ sessionKey, payload, state }) => {
      if (payload === 'no') return { ok: false, error: 'the box is full' };
      if (payload === 'go-on') return { continueAgent: true };
      if (payload === 'tell') return { result: await api.session.workflow.enqueueNextTurnInjection({ sessionKey, text: 'psst' }) };
      return { statePatch: { box: { ...state('box'), item: payload, token: '${SECRET}' } }, reply: 'done' };
    } });
    api.registerCommand({ name: 'fill', description: 'Fill it', handler: async ({ sessionKey }) => {
      await api.session.state.update(sessionKey, 'box', (box) => ({ ...box, filled: true }));
      return { text: 'filled' };
    } });
    api.registerTool({ name: 'weigh', description: 'Weigh', parameters: { type: 'object' }, risk: 'read', execute: () => ({ content: '3 kg' }) });`,
  more: `sessionsPatchExtensions: { rename: ({ payload }) => (payload === 'no' ? { ok: false, error: 'keep the name' } : { ok: true, entryPatch: { title: 'New' } }) },`,
};

let world: Conversation;
const home = temporaryHome();
let count = 0;

before(async () => {
  for (const source of [gate, second, doer]) writePlugin(join(home, 'plugins'), source);
  world = await openConversation({ home, plugins: true });
  for (const { id } of [gate, second, doer]) {
    const { plugin } = await ask('plugins.enable', { id });
    assert.equal(plugin.state, 'loaded', JSON.stringify(plugin));
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

async function newSession(): Promise<string> {
  return (await ask('sessions.create', { key: `agent:main:trace-${++count}` })).session.key;
}

async function records(sessionKey: string, more: object = {}): Promise<TraceRecord[]> {
  const page = await ask('hooks.trace', { sessionKey, ...more });
  assert.equal(explain(methodRow('hooks.trace').result, page, 'result'), undefined);
  return page.records;
}

/** One turn that calls a tool once. */
async function turn(sessionKey: string, name: string, args: object): Promise<string> {
  world.server.next(call(name, args), { text: 'Done.' });
  const { run, end } = await world.say('Go', { sessionKey });
  assert.equal(end.kind, 'completed', JSON.stringify(end));
  return run.runId;
}

/** The recording of so many turns is over. */
async function recorded(sessionKey: string): Promise<TraceRecord[]> {
  const { frames, find } = world.admin;
  for (;;) {
    const seen = frames.length;
    const { recording, records: all } = await ask('hooks.trace', { sessionKey });
    if (!recording) return all;
    await find((frame) => frame.event === 'hooks.traced' && frame.payload.sessionKey === sessionKey && frames.indexOf(frame) >= seen);
  }
}

test('a key of the gateway that a plugin comes across is hidden by its value, whatever it is part of', async () => {
  verifies('S81');
  const sessionKey = await newSession();
  await ask('hooks.trace.record', { sessionKey });
  for (const key of [MODEL_KEY, world.gateway.token])
    await ask('plugins.sessionAction', { pluginId: 'doer', actionId: 'put', sessionKey, payload: `it says ${key}, does it` });
  const kept = JSON.stringify(await records(sessionKey));
  assert.match(kept, /it says \*\*\*, does it/);
  for (const key of [MODEL_KEY, world.gateway.token]) assert.ok(!kept.includes(key));
});

const told = ({ place, plugin, outcome }: TraceRecord) => `${place} ${plugin} ${outcome}`;

test('it is off by default, and a turn leaves nothing behind', async () => {
  const sessionKey = await newSession();
  await turn(sessionKey, 'read', { path: 'a' });
  assert.deepEqual(await ask('hooks.trace', { sessionKey }), { recording: false, records: [], dropped: 0 });
});

test('a turn is told handler by handler: order, priority, duration, what each changed; secrets are not', async () => {
  const sessionKey = await newSession();
  const began = await ask('hooks.trace.record', { sessionKey, turns: 1 });
  assert.deepEqual([began.recording, began.turnsLeft], [true, 1]);
  const runId = await turn(sessionKey, 'read', { path: 'a' });
  const all = await recorded(sessionKey);
  assert.ok(all.every((each) => each.runId === runId && each.sessionKey === sessionKey));

  const [first, other] = all.filter(({ place }) => place === 'before_tool_call');
  assert.deepEqual([first!.plugin, first!.order, first!.priority, first!.outcome], ['gate', 1, 50, 'changed']);
  assert.deepEqual(
    first!.changes?.find(({ path }) => path === '/params/path'),
    { path: '/params/path', before: 'a', after: 'notes/a' },
  );
  assert.deepEqual([other!.plugin, other!.order, other!.outcome], ['aside', 2, 'unchanged']);
  assert.equal(other!.dispatch, first!.dispatch);
  assert.ok(other!.durationMs >= 10, `${other!.durationMs} ms`);
  assert.ok(first!.durationMs < other!.durationMs);

  const prompt = all.find(({ place }) => place === 'before_prompt_build')!;
  assert.equal(prompt.outcome, 'changed');
  assert.match(JSON.stringify(prompt.changes), /Mind the gap\. password: \*\*\*/);
  assert.ok(
    all.some(({ place, plugin }) => place === 'agent_end' && plugin === 'aside'),
    'what is called after the end is part of it',
  );
  assert.ok(!JSON.stringify(all).includes(SECRET));

  await turn(sessionKey, 'read', { path: 'b' });
  assert.equal((await records(sessionKey)).length, all.length, 'the next turn is not recorded');
});

test('what was refused is told with the reason: a block, a policy, a policy that fails, a missing grant', async () => {
  verifies('seams:W7');
  const sessionKey = await newSession();
  await ask('hooks.trace.record', { sessionKey });
  await turn(sessionKey, 'read', { path: 'forbidden' });
  await turn(sessionKey, 'read', { path: 'policy-no' });
  await turn(sessionKey, 'read', { path: 'policy-throws' });
  const all = await records(sessionKey);
  const refusals = all.filter(({ outcome }) => outcome === 'refused' || outcome === 'failed');
  assert.deepEqual(
    refusals.map(({ place, outcome, reason }) => [place, outcome, reason]),
    [
      ['before_tool_call', 'refused', 'not that one; apiKey=***'],
      ['tool_policy', 'refused', 'the door is closed'],
      ['tool_policy', 'failed', 'lost my way; the call is denied'],
    ],
  );
  assert.ok(
    !all.some(({ place, dispatch, plugin }) => place === 'before_tool_call' && plugin === 'aside' && dispatch === refusals[0]!.dispatch),
  );

  const { ok, error } = await world.admin.request('plugins.sessionAction', {
    pluginId: 'doer',
    actionId: 'put',
    sessionKey,
    payload: 'go-on',
  });
  assert.deepEqual([ok, error?.details?.code], [false, 'NOT_GRANTED']);
  assert.match(
    (await records(sessionKey)).at(-1)!.reason ?? '',
    /needs the grant turns\.start; the operator gives it with: tenon plugin grant \S+ turns\.start/,
  );
  await ask('plugins.sessionAction', { pluginId: 'doer', actionId: 'put', sessionKey, payload: 'tell' });
  const late = (await records(sessionKey)).findLast(({ place }) => place === 'api.session.workflow.enqueueNextTurnInjection')!;
  assert.deepEqual([late.plugin, late.outcome], ['doer', 'refused']);
  assert.match(late.reason ?? '', /not-granted.*prompt\.inject/);
});

test('actions, changes of a session, commands, state and tools are told with what came of them', async () => {
  const sessionKey = await newSession();
  await ask('hooks.trace.record', { sessionKey });
  const put = (payload: string) => ask('plugins.sessionAction', { pluginId: 'doer', actionId: 'put', sessionKey, payload });
  await put('apple');
  await put('pear');
  await put('no');
  await ask('sessions.patch', { key: sessionKey, extension: { plugin: 'doer', action: 'rename' } });
  await world.admin.request('sessions.patch', { key: sessionKey, extension: { plugin: 'doer', action: 'rename', payload: 'no' } });
  await ask('commands.invoke', { sessionKey, text: '/fill' });
  await turn(sessionKey, 'weigh', {});
  const all = await records(sessionKey);
  const own = all.filter(({ plugin, place }) => plugin === 'doer' && place !== 'session_projection');
  assert.deepEqual(own.map(told), [
    'session_action doer changed',
    'session_action doer changed',
    'session_action doer refused',
    'sessions_patch doer changed',
    'sessions_patch doer refused',
    'state.update doer changed',
    'command doer claimed',
    'tool doer claimed',
  ]);
  assert.deepEqual(own[1]!.changes, [
    { path: '/state/box/item', before: 'apple', after: 'pear' },
    { path: '/reply', after: 'done' },
  ]);
  assert.deepEqual(own[0]!.changes?.[0], { path: '/state/box', after: { item: 'apple', token: '***' } });
  assert.deepEqual([own[2]!.reason, own[4]!.reason], ['the box is full', 'keep the name']);
  assert.deepEqual(own[3]!.changes, [{ path: '/title', after: 'New' }]);
  assert.deepEqual(own[5]!.changes, [{ path: '/box/filled', after: true }]);
  assert.deepEqual(own[6]!.changes, [{ path: '/text', after: 'filled' }]);
  assert.match(JSON.stringify(own[7]!.changes), /3 kg/);
  assert.ok(!JSON.stringify(all).includes(SECRET));
});

test('whoever may see it is told that there is more, and reads on from where it was', async () => {
  const sessionKey = await newSession();
  const { seq } = await ask('hooks.trace.record', { sessionKey });
  await turn(sessionKey, 'read', { path: 'a' });
  const { payload } = await world.admin.find(
    ({ event, payload: more }) => event === 'hooks.traced' && more.sessionKey === sessionKey && more.seq > seq,
  );
  assert.ok(payload.seq > seq);
  const first = await ask('hooks.trace', { sessionKey, limit: 2 });
  assert.equal(first.records.length, 2);
  assert.equal(first.next, first.records[1].seq);
  const rest = await records(sessionKey, { after: first.next });
  assert.equal(rest[0]!.seq > first.next, true);
  assert.deepEqual(await records(sessionKey, { runId: 'another-run' }), []);
  assert.deepEqual(await ask('hooks.trace.record', { sessionKey, off: true }).then(({ recording }) => recording), false);
  const before = await records(sessionKey);
  await turn(sessionKey, 'read', { path: 'b' });
  assert.deepEqual(await records(sessionKey), before);
});

test('a deleted session takes its trace with it, and one that is not there cannot be recorded', async () => {
  const sessionKey = await newSession();
  await ask('hooks.trace.record', { sessionKey });
  await ask('plugins.sessionAction', { pluginId: 'doer', actionId: 'put', sessionKey, payload: 'apple' });
  assert.ok((await records(sessionKey)).length > 0);
  await ask('sessions.delete', { key: sessionKey });
  assert.deepEqual(await ask('hooks.trace', { sessionKey }), { recording: false, records: [], dropped: 0 });
  const { error } = await world.admin.request('hooks.trace.record', { sessionKey: 'agent:main:nowhere' });
  assert.equal(error?.code, 'NOT_FOUND');
  const both = await world.admin.request('hooks.trace.record', { sessionKey, off: true, turns: 1 });
  assert.equal(both.error?.code, 'INVALID_REQUEST');
});

test('only an admin may record, read, or hear of it', async () => {
  const sessionKey = await newSession();
  const { token } = await mintToken(world.admin, ['operator.write', 'operator.approvals']);
  const client = await connectRaw(world.gateway.socketUrl, token);
  for (const [method, params] of [
    ['hooks.trace', { sessionKey }],
    ['hooks.trace.record', { sessionKey, turns: 1 }],
  ] as const) {
    const { error } = await client.request(method, params);
    assert.deepEqual([error?.code, error?.details?.missingScope], ['SCOPE', 'operator.admin']);
  }
  await ask('hooks.trace.record', { sessionKey });
  await ask('plugins.sessionAction', { pluginId: 'doer', actionId: 'put', sessionKey, payload: 'apple' });
  await world.admin.find(({ event, payload }) => event === 'hooks.traced' && payload.sessionKey === sessionKey);
  // Whatever comes after the event would have come after it on this connection, too.
  await client.request('health', {});
  assert.ok(!client.frames.some(({ event }) => event === 'hooks.traced'));
  await client.close();
});
