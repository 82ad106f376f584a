// What plugins keep in sessions and do there, as clients see it: changes of a session that a plugin takes part in, buttons,
// state and what the next turn is told. A real gateway with a plugin that registers one of everything.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { ActionAnswer, matches } from '@tenon/protocol';
import { mintToken } from '../security/harness.ts';
import { type Conversation, openConversation } from '../support/conversation.ts';
import { connectRaw } from '../support/raw-client.ts';
import { verifies } from '../support/verifies.ts';

let world: Conversation;
let count = 0;

before(async () => {
  world = await openConversation({ plugins: true });
  for (const id of ['everything', 'second']) {
    const { plugin } = await ask('plugins.enable', { id });
    assert.equal(plugin.state, 'loaded', JSON.stringify(plugin));
  }
});
after(() => world[Symbol.asyncDispose]());

const ask: Conversation['ask'] = (method, params) => world.ask(method, params);
const refused: Conversation['refused'] = (method, params) => world.refused(method, params);

const seen = (plugin = 'everything') => ask(`plugin.${plugin}.seen`);

async function newSession(fields: object = {}): Promise<string> {
  return (await ask('sessions.create', { key: `agent:main:plugins-${++count}`, ...fields })).session.key;
}

const press = (sessionKey: string, how?: string, more: object = {}) => ({
  pluginId: 'everything',
  actionId: 'press',
  sessionKey,
  ...(how === undefined ? {} : { payload: { how } }),
  ...more,
});

describe('sessions.patch with an extension', () => {
  const extension = (action: string, payload?: unknown) => ({
    plugin: 'everything',
    action,
    ...(payload === undefined ? {} : { payload }),
  });

  test('hands the raw payload over and stores what comes back, together with the other fields', async () => {
    verifies('seed0:round-trip', 'compat:C15');
    const key = await newSession();
    const { session } = await ask('sessions.patch', { key, title: 'New title', extension: extension('noop', { x: 1 }) });
    assert.deepEqual([session.title, session.label, session.pinned, session.revision], ['New title', 'patched', true, 2]);
    const told = (await seen()).patches.at(-1);
    assert.deepEqual(told, { key, agentId: 'main', title: 'New title', label: null, payload: { x: 1 } });
    const shown = (await ask('sessions.get', { key })).session;
    assert.deepEqual(shown.pluginExtensions, [{ pluginId: 'everything', namespace: 'box', value: { shown: 'patch' } }]);
  });

  test('refuses unknown plugins and actions', async () => {
    verifies('seed0:unknown-plugin', 'seed0:unknown-action');
    const key = await newSession();
    const plugin = await refused('sessions.patch', { key, title: 'x', extension: { plugin: 'nobody', action: 'noop' } });
    assert.deepEqual([plugin.code, plugin.details?.code], ['INVALID_REQUEST', 'UNKNOWN_PLUGIN']);
    assert.match(plugin.message, /"nobody"/);
    const action = await refused('sessions.patch', { key, title: 'x', extension: extension('nothing') });
    assert.deepEqual([action.code, action.details?.code], ['INVALID_REQUEST', 'UNKNOWN_ACTION']);
  });

  test('changes nothing where the plugin refuses, throws, or wants what it may not', async () => {
    verifies('seed0:handler-throws', 'seed0:handler-refuses');
    const key = await newSession({ title: 'Before' });
    const no = await refused('sessions.patch', { key, title: 'After', extension: extension('refuse') });
    assert.deepEqual([no.code, no.message, no.details?.code], ['INVALID_REQUEST', 'Not today', 'PLUGIN_REFUSED']);
    for (const action of ['fail', 'garbage']) {
      const failure = await refused('sessions.patch', { key, title: 'After', extension: extension(action) });
      assert.deepEqual([failure.code, failure.details?.code], ['PLUGIN', 'PLUGIN_FAILED']);
      assert.ok(!JSON.stringify(failure).includes('secret'));
    }
    const { session } = await ask('sessions.get', { key });
    assert.deepEqual([session.title, session.revision, session.permissions], ['Before', 1, null]);
  });

  test('is asked again when somebody else was faster, and loses nothing of theirs', async () => {
    const key = await newSession();
    const slow = ask('sessions.patch', { key, extension: extension('slow', 'mine') });
    await ask('sessions.patch', { key, title: 'Theirs' });
    const { session } = await slow;
    assert.deepEqual([session.title, session.label], ['Theirs', 'mine']);
    const stale = await refused('sessions.patch', { key, ifRevision: 1, extension: extension('noop') });
    assert.deepEqual([stale.code, stale.details?.code], ['CONFLICT', 'STALE_REVISION']);
  });

  test('is unnoticed by those who do not use it', async () => {
    verifies('seed0:additive');
    const key = await newSession();
    assert.equal((await ask('sessions.patch', { key, title: 'Plain' })).session.title, 'Plain');
  });
});

describe('actions of plugins', () => {
  test('commit their state with the answer, once, and show it in the session', async () => {
    verifies('seed1:session-actions', 'seams:W1', 'seams:A9');
    const sessionKey = await newSession();
    const params = press(sessionKey, 'state', { idempotencyKey: `press-${++count}` });
    const first = await ask('plugins.sessionAction', params);
    assert.deepEqual(first, { ok: true, result: { before: null } });
    assert.ok(matches(ActionAnswer, first));
    const actions = (await seen()).actions.length;
    assert.deepEqual(await ask('plugins.sessionAction', params), first, 'a repeat gets the first answer');
    assert.equal((await seen()).actions.length, actions, 'and the plugin is not asked again');
    const { session } = await ask('sessions.get', { key: sessionKey });
    assert.deepEqual(session.pluginExtensions, [{ pluginId: 'everything', namespace: 'box', value: { shown: 'action' } }]);
    assert.deepEqual((await ask('plugins.sessionAction', press(sessionKey, 'state'))).result.before, { from: 'action', value: null });
    await ask('plugins.sessionAction', press(sessionKey, 'unset'));
    assert.equal((await ask('sessions.get', { key: sessionKey })).session.pluginExtensions, undefined);
  });

  test('say no with an answer, not with an error', async () => {
    verifies('seams:A8', 'seams:A9');
    const answer = await ask('plugins.sessionAction', press(await newSession(), 'refuse'));
    assert.deepEqual(answer, { ok: false, error: 'Not now', code: 'BUSY', details: { retry: true } });
    assert.ok(matches(ActionAnswer, answer));
  });

  test('that give half a failure, a mixture or no JSON give no success', async () => {
    verifies('seams:A4');
    const sessionKey = await newSession();
    for (const how of ['half', 'half-code', 'text-ok', 'mixed', 'date']) {
      const error = await refused('plugins.sessionAction', press(sessionKey, how));
      assert.deepEqual([error.code, error.details?.code], ['INVALID_REQUEST', 'INVALID_RESULT'], how);
    }
    const thrown = await refused('plugins.sessionAction', press(sessionKey, 'throw'));
    assert.equal(thrown.code, 'UNAVAILABLE');
    assert.ok(!JSON.stringify(thrown).includes('secret'));
    assert.equal((await refused('plugins.sessionAction', press(sessionKey, 'foreign-state'))).code, 'PLUGIN');
  });

  test('are refused before the plugin is asked: unknown ones, no session, a payload that does not fit, missing scopes', async () => {
    const sessionKey = await newSession();
    const asked = (await seen()).actions.length;
    assert.equal((await refused('plugins.sessionAction', { ...press(sessionKey), actionId: 'nothing' })).code, 'UNAVAILABLE');
    assert.equal((await refused('plugins.sessionAction', { ...press(sessionKey), actionId: 'broken' })).code, 'UNAVAILABLE');
    assert.equal((await refused('plugins.sessionAction', press('agent:main:nowhere', 'reply'))).code, 'NOT_FOUND');
    const payload = await refused('plugins.sessionAction', { ...press(sessionKey), payload: { how: 5 } });
    assert.deepEqual([payload.code, payload.details?.code], ['INVALID_REQUEST', 'INVALID_PAYLOAD']);
    const { token } = await mintToken(world.admin, ['operator.read']);
    await using reader = await connectRaw(world.gateway.socketUrl, token);
    const { error } = await reader.request('plugins.sessionAction', press(sessionKey, 'reply'));
    assert.deepEqual([error?.code, error?.details?.missingScope], ['SCOPE', 'operator.write']);
    assert.equal((await seen()).actions.length, asked);
    const judge = await mintToken(world.admin, ['operator.approvals']);
    await using judging = await connectRaw(world.gateway.socketUrl, judge.token);
    const judged = await judging.request('plugins.sessionAction', { ...press(sessionKey), actionId: 'judged' });
    assert.deepEqual(judged.payload, { ok: true, result: 'ok' }, 'the scopes of the action are enough');
  });

  test('put their reply into the transcript and let the agent go on, once', async () => {
    verifies('seams:W6', 'compat:C4');
    const sessionKey = await newSession();
    await ask('plugins.sessionAction', press(sessionKey, 'reply'));
    const [entry] = await world.history(sessionKey);
    assert.deepEqual([entry?.type, (entry as { data?: unknown }).data], ['custom', { plugin: 'everything', text: 'Pressed.' }]);
    world.server.next({ text: 'Going on.' });
    const params = press(sessionKey, 'continue', { idempotencyKey: `go-${++count}` });
    const answer = await ask('plugins.sessionAction', params);
    assert.equal(answer.continueAgent, true);
    assert.equal((await ask('plugins.sessionAction', params)).runId, answer.runId);
    const { run, text } = await world.ended(answer.runId);
    assert.deepEqual([run.trigger, text], ['plugin', 'Going on.']);
  });
});

test('a button that is pressed again while the agent is busy is one turn', async () => {
  verifies('compat:C4');
  const sessionKey = `agent:main:busy-${++count}`;
  const gate = Promise.withResolvers<void>();
  world.server.next({ text: ['Busy', '.'], gate: () => gate.promise }, { text: 'Going on.' });
  const runId = await world.send('Go', { sessionKey });
  await world.admin.find(({ event, payload }) => event === 'agent' && payload.stream === 'assistant' && payload.runId === runId);
  const asked = await Promise.all(['a', 'b', 'c'].map(() => ask('plugins.sessionAction', press(sessionKey, 'continue'))));
  assert.equal(new Set(asked.map((answer) => answer.runId)).size, 1);
  gate.resolve();
  await world.ended(asked[0].runId);
  const entries = await world.history(sessionKey);
  assert.equal(entries.filter((entry) => entry.type === 'message' && entry.message.role === 'user').length, 2);
});

describe('state and injections', () => {
  test('sessions.pluginPatch sets, needs a word to remove, and knows only what is registered', async () => {
    const key = await newSession();
    const at = { key, pluginId: 'everything', namespace: 'box' };
    assert.deepEqual(await ask('sessions.pluginPatch', { ...at, value: { from: 'admin' } }), {
      key,
      value: { from: 'admin' },
      revision: 1,
    });
    assert.equal((await refused('sessions.pluginPatch', at)).code, 'INVALID_REQUEST');
    assert.equal((await refused('sessions.pluginPatch', { ...at, value: 1, unset: true })).code, 'INVALID_REQUEST');
    assert.equal((await refused('sessions.pluginPatch', { ...at, namespace: 'nothing', value: 1 })).code, 'NOT_FOUND');
    assert.deepEqual(await ask('sessions.pluginPatch', { ...at, unset: true }), { key, revision: 2 });
  });

  test('a projector that throws or answers later hides only itself, and raw state is not shown', async () => {
    const key = await newSession();
    await ask('sessions.pluginPatch', { key, pluginId: 'everything', namespace: 'hidden', value: 'raw' });
    for (const value of [{ broken: true }, { later: true }]) {
      await ask('sessions.pluginPatch', { key, pluginId: 'everything', namespace: 'box', value });
      assert.equal((await ask('sessions.get', { key })).session.pluginExtensions, undefined);
    }
    await ask('sessions.pluginPatch', { key, pluginId: 'everything', namespace: 'box', value: { from: 'x' } });
    const { sessions } = await ask('sessions.list', { limit: 200 });
    const listed = sessions.find((session: { key: string }) => session.key === key);
    assert.deepEqual(listed.pluginExtensions, [{ pluginId: 'everything', namespace: 'box', value: { shown: 'x' } }]);
    assert.ok(!JSON.stringify(listed).includes('raw'));
  });

  test('what is queued on an idle session wakes it once a turn has ended, and is told', async () => {
    verifies('compat:C5');
    const key = `agent:main:wake-${++count}`;
    world.server.next({ calls: [{ name: 'shout', arguments: { text: 'x', how: 'inject' } }] }, { text: 'First.' }, { text: 'Second.' });
    const { run } = await world.say('Go', { sessionKey: key });
    const woken = await world.admin.find(
      ({ event, payload }) => event === 'chat' && payload.kind === 'ended' && payload.sessionKey === key && payload.runId !== run.runId,
    );
    const { run: second, text } = await world.ended(woken.payload.runId);
    assert.deepEqual([second.trigger, text], ['plugin', 'Second.']);
    assert.match(JSON.stringify(world.server.requests.at(-1)?.body?.messages), /REMEMBER THE MILK/);
    assert.equal((await ask('sessions.get', { key })).session.pendingInjections, undefined);
  });

  test('a turn that a person has stopped does not go on by itself', async () => {
    const key = `agent:main:stopped-${++count}`;
    const gate = Promise.withResolvers<void>();
    world.server.next({ text: ['Busy', '.'], gate: () => gate.promise });
    const runId = await world.send('Go', { sessionKey: key });
    await world.admin.find(({ event, payload }) => event === 'agent' && payload.stream === 'assistant' && payload.runId === runId);
    await ask('plugin.everything.late', { call: 'enqueue', with: { sessionKey: key, text: 'later' } });
    await ask('chat.abort', { sessionKey: key });
    gate.resolve();
    assert.equal((await world.ended(runId)).end.kind, 'aborted');
    world.server.next({ text: 'Told.' });
    const { run } = await world.say('Now go on', { sessionKey: key });
    const { runs } = await ask('chat.history', { sessionKey: key });
    assert.deepEqual([run.trigger, runs], ['user', []]);
    const users = (await world.history(key)).filter((entry) => entry.type === 'message' && entry.message.role === 'user');
    assert.equal(users.length, 2, 'nothing came between');
    assert.match(JSON.stringify(world.server.requests.at(-1)?.body?.messages), /later/);
  });

  test('a plugin that always wants one more turn gets three after each message', async () => {
    verifies('compat:C5');
    const key = `agent:main:loop-${++count}`;
    const again = (text: string) => [{ calls: [{ name: 'shout', arguments: { text, how: 'inject' } }] }, { text: 'Done.' }];
    world.server.next(...['a', 'b', 'c', 'd'].flatMap(again));
    const asked = world.server.requests.length;
    await world.say('Go', { sessionKey: key });
    const ends = () =>
      world.admin.frames.filter(({ event, payload }) => event === 'chat' && payload.kind === 'ended' && payload.sessionKey === key).length;
    await world.admin.find(() => ends() === 4);
    assert.equal((await ask('sessions.get', { key })).session.pendingInjections, 1, 'the last one waits');
    world.server.next({ text: 'Told.' });
    assert.equal((await world.say('And now?', { sessionKey: key })).text, 'Told.');
    assert.equal((await ask('sessions.get', { key })).session.pendingInjections, undefined);
    assert.equal(world.server.requests.length, asked + 9);
  });

  test('what waits is counted, and late calls with bad input are refused as values', async () => {
    verifies('seams:A19', 'seams:W7');
    const sessionKey = await newSession();
    const late = (call: string, params: object) => ask('plugin.everything.late', { call, with: params });
    assert.equal((await late('enqueue', { sessionKey, text: 'wait' })).enqueued, true);
    assert.equal((await ask('chat.history', { sessionKey })).session.pendingInjections, 1);
    assert.equal((await late('enqueue', { sessionKey, text: '' })).enqueued, false);
    assert.equal((await late('enqueue', { sessionKey: 'agent:main:nowhere', text: 'x' })).enqueued, false);
    assert.equal((await late('emit', { runId: 'r', sessionKey, stream: 'lifecycle', data: {} })).emitted, false);
    assert.equal((await late('continue', { sessionKey: 'agent:main:nowhere', force: true })).ok, false);
    assert.equal((await late('patch', { sessionKey: 'agent:main:nowhere', namespace: 'box', value: 1 })).ok, false);
    assert.equal(await late('context', { runId: '', namespace: 'x', value: 1 }), false);
  });
});
