// Plugins as clients see them: a real gateway with a plugin that registers one of everything, driven over the socket only.
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { ActionAnswer, matches, methodRow } from '@tenon/protocol';
import { mintToken } from '../security/harness.ts';
import { type Conversation, openConversation } from '../support/conversation.ts';
import { startGatewayProcess, temporaryHome } from '../support/gateway.ts';
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

/** The session says something, the agent calls the tool with these arguments, and the result is given. */
async function callTool(args: object, { name = 'shout', key = `agent:main:tools-${++count}` } = {}) {
  world.server.next({ calls: [{ id: `call-${++count}`, name, arguments: args }] }, { text: 'Done.' });
  const callId = `call-${count}`;
  const { end } = await world.say('Go', { sessionKey: key });
  assert.equal(end.kind, 'completed', JSON.stringify(end));
  const result = (await world.results(key)).at(-1)!;
  return { ...result, key, callId };
}

describe('what is registered', () => {
  test('is listed with what was not taken, and why', async () => {
    verifies('seams:A3', 'seams:A13', 'seams:W3', 'seams:W19');
    const { plugin } = await ask('plugins.get', { id: 'everything' });
    const refusals = plugin.registrations.filter(({ accepted }: { accepted: boolean }) => !accepted);
    const codes = Object.fromEntries(refusals.map(({ kind, key, code }: Record<string, string>) => [`${kind} ${key}`, code]));
    assert.deepEqual(codes, {
      'tool read': 'RESERVED',
      'tool dotted.name': 'INVALID',
      'tool textual': 'INVALID',
      'toolMetadata read': 'NOT_OWN',
      'command reset': 'RESERVED',
      'command sneaky': 'RESERVED',
      'sessionAction broken': 'BAD_SCHEMA',
      'httpRoute /hook/kept': 'DUPLICATE',
    });
    for (const { message } of refusals) assert.ok(message.length > 0);
    const second = (await ask('plugins.get', { id: 'second' })).plugin;
    const taken = second.registrations.filter(({ accepted }: { accepted: boolean }) => !accepted);
    assert.deepEqual(
      taken.map(({ kind, key, code }: Record<string, string>) => [kind, key, code]),
      [
        ['tool', 'shout', 'TAKEN'],
        ['command', 'wave', 'TAKEN'],
        ['toolMetadata', 'shout', 'NOT_OWN'],
      ],
    );
  });

  test('is looked over by the doctor', async () => {
    verifies('seams:W3');
    const { findings } = await ask('doctor.run', {});
    const about = findings.filter(({ check }: { check: string }) => check === 'plugins');
    for (const part of ['tool read', 'BAD_SCHEMA', 'command sneaky', 'Plugin second: command wave'])
      assert.ok(
        about.some(({ message }: { message: string }) => message.includes(part)),
        part,
      );
  });

  test('tools are in the catalogue in a group of their plugin, and only its own metadata shows', async () => {
    verifies('seams:A7', 'seed1:tool-metadata');
    const { groups } = await ask('tools.catalog');
    const own = groups.find(({ id }: { id: string }) => id === 'plugin:everything');
    assert.equal(own.source, 'plugin');
    const shout = own.tools.find(({ id }: { id: string }) => id === 'shout');
    assert.deepEqual([shout.label, shout.riskLevel, shout.tags, shout.pluginId], ['Megaphone', 'high', ['loud'], 'everything']);
    const core = groups.find(({ id }: { id: string }) => id === 'core').tools;
    assert.ok(core.every(({ label, source }: Record<string, string>) => label !== 'Mine now' && source === 'core'));
    const { tools } = await ask('tools.effective', { sessionKey: await newSession() });
    const names = tools.map(({ id }: { id: string }) => id);
    assert.ok(names.includes('shout') && !names.includes('rare'), 'an optional tool is for agents that list it');
  });

  test('descriptors are shown to those who may use them, and nothing but their fields', async () => {
    verifies('seed1:ui-descriptors');
    const { descriptors } = await ask('plugins.uiDescriptors');
    assert.deepEqual(
      descriptors.map(({ pluginId, id }: Record<string, string>) => [pluginId, id]),
      [
        ['everything', 'panel'],
        ['everything', 'admin'],
      ],
    );
    assert.ok(matches(methodRow('plugins.uiDescriptors').result, { descriptors, generation: 1 }));
    const { token } = await mintToken(world.admin, ['operator.read']);
    await using reader = await connectRaw(world.gateway.socketUrl, token);
    const { payload } = await reader.request('plugins.uiDescriptors', {});
    assert.deepEqual(
      payload.descriptors.map(({ id }: { id: string }) => id),
      ['panel'],
    );
  });

  test('hooks.status says who takes part, in order, and counts', async () => {
    await callTool({ text: 'count me' });
    const { hooks } = await ask('hooks.status');
    const handlers = hooks.find(({ hook }: { hook: string }) => hook === 'before_tool_call_persist').handlers;
    assert.deepEqual(
      handlers.map(({ plugin }: { plugin: string }) => plugin),
      ['everything', 'second'],
    );
    assert.ok(handlers.every(({ calls }: { calls: number }) => calls > 0));
  });
});

describe('tools of plugins', () => {
  test('work in a turn, with the plugin named in what is kept', async () => {
    const { text, isError, provenance, key } = await callTool({ text: 'hello' });
    assert.deepEqual([text, isError, provenance], ['HELLO', false, 'plugin everything']);
    const { executed } = await seen();
    const last = executed.at(-1);
    assert.deepEqual(last.args, { text: 'hello' });
    assert.ok(last.runId && last.callId && key);
  });

  test('that throw, answer nonsense or are called wrongly are results that name the plugin', async () => {
    assert.match((await callTool({ text: 'x', how: 'throw' })).text, /Plugin everything failed: no voice/);
    assert.match((await callTool({ text: 'x', how: 'garbage' })).text, /Plugin everything gave a result that cannot be used/);
    const wrong = await callTool({ words: 'x' });
    assert.ok(wrong.isError);
    assert.match(wrong.text, /do not fit the tool "shout"/);
  });
});

describe('policies of plugins', () => {
  test('run before hooks and can only tighten', async () => {
    verifies('seams:A10', 'seams:A15');
    const denied = await callTool({ text: 'forbidden' });
    assert.deepEqual([denied.isError, denied.text], [true, 'Blocked by everything: No such words']);
    const gate = (await seen()).gate as { params: { text?: string } }[];
    assert.ok(!gate.some(({ params }) => params.text === 'forbidden'), 'no hook is asked about what a policy has denied');

    world.server.next({ calls: [{ name: 'shout', arguments: '["no", "object"]' }] }, { text: 'Done.' });
    await world.say('Go', { sessionKey: `agent:main:array-${++count}` });
    const told = (await seen()).gate as { params: unknown }[];
    assert.ok(told.every(({ params }) => typeof params === 'object' && params !== null && !Array.isArray(params)));
    assert.equal(told.length, gate.length, 'what is no object is refused before any hook');

    assert.equal((await callTool({ text: 'soften' })).text, 'SOFTLY', 'params that fit are taken');
    assert.equal((await callTool({ text: 'string-params' })).text, 'STRING-PARAMS', 'params that are no object are not');
    assert.equal((await callTool({ text: 'misfit' })).text, 'MISFIT', 'nor those that do not fit the tool');
    const { policies } = await seen('second');
    assert.ok(
      policies.some(({ text }: { text: string }) => text === 'softly'),
      'the next policy sees what the first one left',
    );
    assert.ok((await seen()).policies.every(({ frozen }: { frozen: boolean }) => frozen));
  });

  test('that throw or answer nonsense deny, and say nothing of why', async () => {
    for (const text of ['explode', 'nonsense']) {
      const { text: told, isError } = await callTool({ text });
      assert.ok(isError);
      assert.equal(told, 'Blocked by everything: its policy could not judge this call');
    }
  });

  test('ask the operator in the name of the plugin, and the answer decides', async () => {
    verifies('seams:W18');
    for (const [decision, expected] of [
      ['deny', /operator denied/],
      ['allow-once', /^ASK$/],
    ] as const) {
      const key = `agent:main:ask-${++count}`;
      world.server.next({ calls: [{ name: 'shout', arguments: { text: 'ask' } }] }, { text: 'Done.' });
      const runId = await world.send('Go', { sessionKey: key });
      const approval = await world.question(runId);
      assert.deepEqual([approval.title, approval.reason], ['May it shout?', 'everything: It is late']);
      await world.answer(approval, decision);
      await world.ended(runId);
      assert.match((await world.results(key)).at(-1)!.text, expected);
    }
  });
});

describe('what observers of stored calls are told', () => {
  test('every field, for calls of the gateway and of plugins, that worked, failed and were blocked', async () => {
    verifies('seed2:before-persist', 'seed2:after-persist', 'seed2:observer-throws', 'seed2:registration-order', 'compat:C16');
    const done = [
      await callTool({ text: 'observed' }),
      await callTool({ text: 'x', how: 'throw' }),
      await callTool({ text: 'forbidden' }),
      await callTool({ path: '.' }, { name: 'ls' }),
    ];
    const { before: early, after: late } = await seen();
    const second = await seen('second');
    for (const { callId, key } of done) {
      const [one, two] = [early, late].map((list) => list.find((event: { toolCallId: string }) => event.toolCallId === callId));
      for (const event of [one, two]) {
        assert.equal(event.sessionKey, key);
        assert.equal(event.agentId, 'main');
        assert.ok(event.toolName && event.toolInput && event.messageId && event.runId, JSON.stringify(event));
      }
      assert.equal(one.toolResult, undefined);
      assert.equal(two.toolResult.toolCallId, callId);
      assert.ok(second.before.includes(callId) && second.after.includes(callId), 'one that throws stops nobody');
    }
  });
});

describe('commands of plugins', () => {
  test('work as the first word in a session too', async () => {
    const sent = await ask('chat.send', { sessionKey: `agent:main:first-${++count}`, message: '/wave', idempotencyKey: `first-${count}` });
    assert.equal(sent.reply, 'waves at you');
  });

  test('are listed, typed in a chat, and run', async () => {
    const { commands } = await ask('commands.list');
    const wave = commands.find(({ name }: { name: string }) => name === 'wave');
    assert.deepEqual([wave.source, wave.pluginId, wave.usage, wave.aliases], ['plugin', 'everything', '/wave [at whom]', ['hi']]);
    const sessionKey = await newSession();
    assert.equal((await ask('commands.invoke', { sessionKey, text: '/wave there' })).reply, 'waves at there');
    assert.equal((await ask('commands.invoke', { sessionKey, text: '/hi' })).reply, 'waves at you');
    const sent = await ask('chat.send', { sessionKey, message: '/wave', idempotencyKey: `wave-${++count}` });
    assert.deepEqual([sent.status, sent.reply], ['handled', 'waves at you']);
  });

  test('that let the agent go on start one turn, and the reply says nothing of it', async () => {
    verifies('seams:A12');
    const sessionKey = await newSession();
    world.server.next({ text: 'I went on.' });
    const answer = await ask('commands.invoke', { sessionKey, text: '/wave on' });
    assert.deepEqual(answer, { reply: 'waves at on', sessionKey });
    await world.admin.find(({ event, payload }) => event === 'chat' && payload.kind === 'ended' && payload.sessionKey === sessionKey);
    const entries = await world.history(sessionKey);
    assert.ok(JSON.stringify(entries).includes('I went on.'));
  });

  test('need their scopes, and a failure says which plugin but not what it threw', async () => {
    verifies('seams:A14');
    const sessionKey = await newSession();
    assert.equal((await ask('commands.invoke', { sessionKey, text: '/judge' })).reply, 'judged', 'admin passes');
    const { token } = await mintToken(world.admin, ['operator.write']);
    await using writer = await connectRaw(world.gateway.socketUrl, token);
    const { error } = await writer.request('commands.invoke', { sessionKey, text: '/judge' });
    assert.deepEqual([error?.code, error?.details?.missingScope], ['SCOPE', 'operator.approvals']);
    for (const how of ['fail', 'garbage']) {
      const failure = await refused('commands.invoke', { sessionKey, text: `/wave ${how}` });
      assert.deepEqual([failure.code, failure.details?.code, failure.details?.plugin], ['PLUGIN', 'PLUGIN_FAILED', 'everything']);
      assert.ok(!failure.message.includes('secret'));
    }
  });
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

describe('events and methods of plugins', () => {
  test('a plugin follows runs, and what it says in its own stream reaches clients', async () => {
    verifies('seed1:plugin-events');
    const { text, key } = await callTool({ text: 'x', how: 'emit' });
    assert.deepEqual(JSON.parse(text), { emitted: true, stream: 'everything.voice' });
    const frame = await world.admin.find(
      ({ event, payload }) => event === 'agent' && payload.stream === 'plugin' && payload.sessionKey === key,
    );
    assert.deepEqual([frame.payload.plugin, frame.payload.name], ['everything', 'everything.voice']);
    const { events } = await seen();
    assert.ok(events.some(({ stream, phase }: Record<string, string>) => stream === 'lifecycle' && phase === 'started'));
    assert.ok(events.some(({ name }: Record<string, string>) => name === 'everything.voice'));
    assert.ok(!events.some(({ stream }: Record<string, string>) => stream === 'tool'), 'only what it asked for');
  });

  test('methods need their scope, and a failure names the plugin', async () => {
    assert.equal((await refused('plugin.everything.nothing')).code, 'UNKNOWN_METHOD');
    assert.equal((await refused('plugin.nobody.seen')).code, 'UNKNOWN_METHOD');
    const failure = await refused('plugin.everything.late', { call: 'throw' });
    assert.deepEqual([failure.code, failure.details?.plugin], ['PLUGIN', 'everything']);
    assert.ok(!JSON.stringify(failure).includes('secret'));
    const { token } = await mintToken(world.admin, ['operator.write']);
    await using writer = await connectRaw(world.gateway.socketUrl, token);
    assert.equal((await writer.request('plugin.everything.seen', {})).ok, true);
    const { error } = await writer.request('plugin.everything.late', {});
    assert.deepEqual([error?.code, error?.details?.missingScope], ['SCOPE', 'operator.admin'], 'without a word it is for the operator');
  });
});

describe('what the operator decides', () => {
  test('a right that is revoked holds at once, and comes back when it is granted', async () => {
    verifies('S21', 'seams:W2');
    const sessionKey = await newSession();
    await ask('plugins.revoke', { id: 'everything', grants: ['commands.register', 'tools.register', 'turns.start'] });
    assert.equal((await refused('commands.invoke', { sessionKey, text: '/judge' })).code, 'NOT_FOUND');
    // The other one that wants these names has them now, as it would after a start.
    assert.equal((await ask('commands.invoke', { sessionKey, text: '/wave' })).reply, 'second');
    assert.match((await callTool({ text: 'x' })).text, /second/);
    const refusedTurn = await refused('plugins.sessionAction', press(sessionKey, 'continue'));
    assert.equal(refusedTurn.details?.code, 'NOT_GRANTED');
    await ask('plugins.grant', { id: 'everything', grants: ['commands.register', 'tools.register', 'turns.start'] });
    await ask('plugins.reload', { id: 'everything' });
    assert.equal((await ask('commands.invoke', { sessionKey, text: '/wave' })).reply, 'waves at you');
    const unasked = await refused('plugins.grant', { id: 'everything', grants: ['secrets.use:x'] });
    assert.equal(unasked.code, 'INVALID_REQUEST');
    const { records } = await ask('audit.list', { limit: 50 });
    assert.ok(
      records.some(({ action, target }: Record<'action' | 'target', string>) => action.startsWith('plugins.') && target === 'everything'),
    );
  });

  test('a call without its grant is refused with that reason', async () => {
    verifies('S41');
    const sessionKey = await newSession();
    const late = (call: string, params: object) => ask('plugin.everything.late', { call, with: params });
    const grants = ['prompt.inject', 'events.emit', 'turns.start', 'sessions.list'];
    await ask('plugins.revoke', { id: 'everything', grants });
    const injected = await late('enqueue', { sessionKey, text: 'x' });
    assert.equal(injected.enqueued, false);
    assert.match(injected.reason, /grant/);
    const emitted = await late('emit', { runId: 'r', sessionKey, stream: 'everything', data: {} });
    assert.equal(emitted.emitted, false);
    assert.match(emitted.reason, /grant/);
    assert.equal((await late('continue', { sessionKey, force: true })).reason, 'not-granted');
    assert.equal((await late('list', { namespace: 'box' })).reason, 'not-granted');
    await ask('plugins.grant', { id: 'everything', grants });
  });

  test('configuration is checked and reaches the plugin', async () => {
    await ask('plugins.config', { id: 'everything', config: { greeting: 'moin' } });
    assert.deepEqual(await ask('plugin.everything.late', {}), { greeting: 'moin' });
    assert.equal((await refused('plugins.config', { id: 'everything', config: { greeting: 5 } })).code, 'INVALID_REQUEST');
    assert.deepEqual(await ask('plugin.everything.late', {}), { greeting: 'moin' });
  });

  test('a plugin that is off has nothing any more, and what it kept is gone', async () => {
    const key = await newSession();
    await ask('sessions.pluginPatch', { key, pluginId: 'everything', namespace: 'box', value: { from: 'x' } });
    const { plugin } = await ask('plugins.disable', { id: 'everything' });
    assert.equal(plugin.state, 'off');
    assert.equal((await refused('plugin.everything.seen')).code, 'UNKNOWN_METHOD');
    assert.equal((await ask('sessions.get', { key })).session.pluginExtensions, undefined);
    assert.equal((await ask('plugins.enable', { id: 'everything' })).plugin.state, 'loaded');
    assert.equal((await ask('sessions.get', { key })).session.pluginExtensions, undefined);
    assert.equal((await refused('plugins.enable', { id: 'nobody' })).code, 'NOT_FOUND');
  });

  test('what was decided and kept is there after a kill, and the button works', async () => {
    const home = temporaryHome();
    try {
      const sessionKey = 'agent:main:kept';
      const answers: unknown[] = [];
      for (const life of [1, 2]) {
        await using gateway = await startGatewayProcess({ home, plugins: true });
        await using admin = await connectRaw(gateway.socketUrl, gateway.token);
        if (life === 1) {
          await admin.request('plugins.enable', { id: 'everything' });
          await admin.request('sessions.create', { key: sessionKey });
        } else {
          const { payload } = await admin.request('sessions.get', { key: sessionKey });
          assert.deepEqual(payload.session.pluginExtensions, [{ pluginId: 'everything', namespace: 'box', value: { shown: 'action' } }]);
          const { payload: again } = await admin.request('plugins.sessionAction', press(sessionKey, 'state'));
          assert.deepEqual(again.result.before, { from: 'action', value: null });
        }
        const pressed = await admin.request('plugins.sessionAction', press(sessionKey, 'state', { idempotencyKey: 'once' }));
        answers.push(pressed.payload);
        await gateway.kill();
      }
      assert.deepEqual(answers[1], answers[0], 'a repeat after the kill gets the first answer');
    } finally {
      rmSync(home, { recursive: true, force: true, maxRetries: 5 });
    }
  });

  test('--safe starts with none', async () => {
    await using gateway = await startGatewayProcess({ plugins: true, args: ['--safe'] });
    await using admin = await connectRaw(gateway.socketUrl, gateway.token);
    await admin.request('plugins.enable', { id: 'everything' });
    const { payload } = await admin.request('plugins.list', {});
    assert.equal(payload.safe, true);
    assert.ok(payload.plugins.every(({ state }: { state: string }) => state !== 'loaded'));
    assert.equal((await admin.request('plugin.everything.seen', {})).error?.code, 'UNKNOWN_METHOD');
  });
});
