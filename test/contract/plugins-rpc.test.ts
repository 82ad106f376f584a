// Plugins as clients see them: a real gateway with a plugin that registers one of everything, driven over the socket only.
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { matches, methodRow } from '@tenon/protocol';
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
      rmSync(home, { recursive: true, force: true, maxRetries: 10 });
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
