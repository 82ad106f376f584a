// A plugin that registers one of everything, driven over the socket and the port only: every kind of the table does something.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type ContributionKind, contributionKinds } from '@tenon/protocol';
import { mintToken } from '../security/harness.ts';
import { type Conversation, openConversation } from '../support/conversation.ts';
import { temporaryHome } from '../support/gateway.ts';
import { connectRaw } from '../support/raw-client.ts';
import { verifies } from '../support/verifies.ts';

const SECRET = 'canary-of-the-fixture';
const home = temporaryHome();
let world: Conversation;
let count = 0;

before(async () => {
  mkdirSync(join(home, 'secrets'), { recursive: true, mode: 0o700 });
  writeFileSync(join(home, 'secrets', 'fixture-key'), `${SECRET}\n`, { mode: 0o600 });
  world = await openConversation({ plugins: true, home });
  const { plugin } = await ask('plugins.enable', { id: 'everything' });
  assert.equal(plugin.state, 'loaded', JSON.stringify(plugin));
});
after(() => world[Symbol.asyncDispose]());

const ask: Conversation['ask'] = (method, params) => world.ask(method, params);
const refused: Conversation['refused'] = (method, params) => world.refused(method, params);

const late = (call: string, what: object) => ask('plugin.everything.late', { call, with: what });
const seen = () => ask('plugin.everything.seen');
const newSession = async () => (await ask('sessions.create', { key: `agent:main:all-${++count}` })).session.key as string;

/** The deliveries of a session, once none waits any more. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into payloads of every method
async function settled(sessionKey: string): Promise<any> {
  for (;;) {
    const listed = await ask('deliveries.list', { sessionKey });
    if (listed.deliveries.length > 0 && listed.deliveries.every(({ state }: { state: string }) => state !== 'waiting')) return listed;
  }
}

async function callTool(name: string, args: object): Promise<string> {
  const key = `agent:main:all-${++count}`;
  world.server.next({ calls: [{ id: `call-${count}`, name, arguments: args }] }, { text: 'Done.' });
  const { end } = await world.say('Go', { sessionKey: key });
  assert.equal(end.kind, 'completed', JSON.stringify(end));
  return (await world.results(key)).at(-1)!.text;
}

const url = (path: string) => `${world.gateway.url}/plugins/everything${path}`;

/** What each kind does when somebody uses it. */
const uses: Readonly<Record<ContributionKind, () => Promise<void>>> = {
  async sessionExtension() {
    const key = await newSession();
    await late('patch', { sessionKey: key, namespace: 'box', value: { from: 'test' } });
    const { session } = await ask('sessions.get', { key });
    assert.deepEqual(session.pluginExtensions, [{ pluginId: 'everything', namespace: 'box', value: { shown: 'test' } }]);
  },
  async sessionAction() {
    const answer = await ask('plugins.sessionAction', {
      pluginId: 'everything',
      actionId: 'press',
      sessionKey: await newSession(),
      payload: { how: 'state', value: 1 },
    });
    assert.deepEqual([answer.ok, answer.result], [true, { before: null }]);
  },
  async sessionsPatchAction() {
    const key = await newSession();
    const { session } = await ask('sessions.patch', { key, extension: { plugin: 'everything', action: 'noop', payload: 1 } });
    assert.equal(session.label, 'patched');
  },
  async tool() {
    assert.equal(await callTool('shout', { text: 'louder' }), 'LOUDER');
  },
  async toolFactory() {
    assert.equal(await callTool('made', {}), 'made for main');
  },
  async toolMetadata() {
    const { groups } = await ask('tools.catalog');
    const own = groups.find(({ id }: { id: string }) => id === 'plugin:everything').tools;
    assert.equal(own.find(({ id }: { id: string }) => id === 'shout').label, 'Megaphone');
  },
  async toolPolicy() {
    assert.match(await callTool('shout', { text: 'forbidden' }), /No such words/);
  },
  async toolResultMiddleware() {
    assert.equal(await callTool('shout', { text: 'x', how: 'polish' }), 'polished');
  },
  async command() {
    const { reply } = await ask('commands.invoke', { sessionKey: await newSession(), text: '/wave there' });
    assert.equal(reply, 'waves at there');
  },
  async uiDescriptor() {
    const { descriptors } = await ask('plugins.uiDescriptors');
    assert.ok(descriptors.some(({ pluginId, id }: Record<string, string>) => pluginId === 'everything' && id === 'panel'));
  },
  async eventSubscription() {
    await callTool('shout', { text: 'x', how: 'emit' });
    assert.ok((await seen()).events.some(({ name }: { name: string }) => name === 'everything.voice'));
  },
  async lifecycle() {
    const key = await newSession();
    await ask('sessions.delete', { key });
    // Told after the commit: the next answer of the plugin may come before.
    while (
      !(await seen()).life.some((each: { reason: string; sessionKey: string }) => each.reason === 'delete' && each.sessionKey === key)
    );
  },
  async schedulerJob() {
    await ask('sessions.create', { key: 'agent:main:jobs' });
    await ask('sessions.delete', { key: 'agent:main:jobs' });
    while (!(await seen()).life.some(({ reason }: { reason: string }) => reason === 'job delete'));
  },
  async scheduledTurn() {
    const sessionKey = await newSession();
    const { ok } = await late('schedule', { sessionKey, message: 'look', delayMs: 0, tag: 'own' });
    assert.equal(ok, true);
    await world.admin.find(({ event, payload }) => event === 'chat' && payload.sessionKey === sessionKey && payload.kind === 'ended');
    const { entries } = await ask('chat.history', { sessionKey });
    assert.ok(entries.some(({ data }: { data?: { text?: string } }) => data?.text === 'alone: look'));
  },
  async gatewayMethod() {
    assert.deepEqual(await ask('plugin.everything.late', {}), { greeting: null });
    const { code, message, details } = await refused('plugin.everything.late', { call: 'throw' });
    assert.deepEqual([code, details?.code], ['PLUGIN', 'PLUGIN_FAILED']);
    assert.doesNotMatch(message, /secret/);
    assert.equal((await refused('plugin.everything.nothing')).code, 'UNKNOWN_METHOD');
  },
  async gatewayEvent() {
    const { token } = await mintToken(world.admin, ['operator.read']);
    await using reader = await connectRaw(world.gateway.socketUrl, token);
    const hello = await reader.find(({ payload }) => payload?.type === 'hello-ok');
    assert.ok(hello.payload.features.events.includes('plugin.everything.news'));
    assert.ok(!hello.payload.features.events.includes('plugin.everything.inside'));
    assert.ok(hello.payload.features.methods.includes('plugin.everything.seen'));
    assert.ok(!hello.payload.features.methods.includes('plugin.everything.late'));
    assert.deepEqual(await late('say', { name: 'inside', data: 1 }), { ok: true });
    assert.deepEqual(await late('say', { name: 'news', data: { n: 2 } }), { ok: true });
    const { payload } = await reader.find(({ event }) => event === 'plugin.everything.news');
    assert.deepEqual(payload, { pluginId: 'everything', data: { n: 2 } });
    await world.admin.find(({ event }) => event === 'plugin.everything.inside');
    assert.ok(!reader.frames.some(({ event }) => event === 'plugin.everything.inside'), 'its scope is the operator’s');
  },
  async interactiveHandler() {
    const sessionKey = await newSession();
    const press = (data: string, more: object = {}) => ask('plugins.interact', { sessionKey, data, ...more });
    assert.deepEqual(await press('everything:say', { callbackId: 'c1' }), { pluginId: 'everything', text: 'Ouch' });
    assert.deepEqual(await press('everything:say', { callbackId: 'c1' }), { pluginId: 'everything', duplicate: true });
    assert.deepEqual(await press('everything:with:colons'), { pluginId: 'everything' });
    const { presses } = await seen();
    assert.deepEqual(
      presses.map(({ payload, callbackId, channel }: Record<string, string>) => [payload, callbackId, channel]),
      [
        ['say', 'c1', 'webchat'],
        ['with:colons', null, 'webchat'],
      ],
    );
    const failed = await refused('plugins.interact', { sessionKey, data: 'everything:fail', callbackId: 'c2' });
    assert.deepEqual([failed.details?.code, /secret/.test(failed.message)], ['PLUGIN_FAILED', false]);
    assert.equal(
      (await refused('plugins.interact', { sessionKey, data: 'everything:fail', callbackId: 'c2' })).details?.code,
      'PLUGIN_FAILED',
      'what failed was not told',
    );
    assert.equal((await refused('plugins.interact', { sessionKey, data: 'nobody:x' })).details?.code, 'UNKNOWN_BUTTON');
    assert.equal((await refused('plugins.interact', { sessionKey, data: 'nocolon' })).code, 'INVALID_REQUEST');
    assert.equal((await refused('plugins.interact', { sessionKey: 'agent:main:none', data: 'everything:x' })).code, 'NOT_FOUND');
    const { token } = await mintToken(world.admin, ['operator.read']);
    await using reader = await connectRaw(world.gateway.socketUrl, token);
    assert.equal((await reader.request('plugins.interact', { sessionKey, data: 'everything:x' })).error?.code, 'SCOPE');
  },
  async channel() {
    world.server.next({ text: 'Hello, Ada.' });
    const came = await late('receive', { channel: 'echo', from: 'ada', text: 'Hello', messageId: 'm1' });
    assert.deepEqual([came.ok, came.sessionKey], [true, 'agent:main:echo:ada']);
    const { deliveries } = await settled(came.sessionKey);
    assert.deepEqual(
      deliveries.map(({ channel, to, by }: Record<string, string>) => [channel, to, by]),
      [['echo', 'ada', 'agent']],
    );
    assert.ok((await seen()).sent.some(({ to, text }: Record<string, string>) => to === 'ada' && text === 'Hello, Ada.'));
    const again = await late('receive', { channel: 'echo', from: 'ada', text: 'Hello', messageId: 'm1' });
    assert.equal(again.duplicate, true);
    assert.equal((await late('receive', { channel: 'webchat', from: 'ada', text: 'x' })).reason, 'invalid');
    const refusedSend = await late('send', {
      sessionKey: came.sessionKey,
      presentation: { title: 'x', buttons: ['a', 'b', 'c'].map((id) => ({ id, label: id, action: { actionId: 'press' } })) },
    });
    assert.deepEqual([refusedSend.reason, /takes 2 buttons/.test(refusedSend.message)], ['limit', true]);
    const { deliveryId } = await late('send', {
      sessionKey: came.sessionKey,
      presentation: { title: 'x', buttons: [{ id: 'a', label: 'a', action: { actionId: 'press', payload: {} } }] },
    });
    const press = { deliveryId, buttonId: 'a', from: 'ada', isAuthorizedSender: true };
    assert.equal((await late('press', { ...press, isAuthorizedSender: false })).reason, 'not-granted');
    assert.equal((await late('press', press)).pluginId, 'everything');
    assert.equal((await late('press', press)).reason, 'conflict');
  },
  async httpRoute() {
    const open = await fetch(url('/hook/a/b'), { method: 'POST', body: 'hello' });
    assert.deepEqual(await open.json(), { method: 'POST', rest: 'a/b', text: 'hello', scopes: [] });
    assert.match(open.headers.get('content-security-policy') ?? '', /^sandbox/);
    assert.equal((await fetch(url('/kept'))).status, 401);
    const { token } = await mintToken(world.admin, ['operator.read']);
    const kept = await fetch(url('/kept'), { headers: { authorization: `Bearer ${token}` } });
    assert.deepEqual([kept.status, await kept.text()], [200, 'operator.read']);
    assert.equal((await fetch(`${world.gateway.url}/plugins/second/hook`)).status, 404);
  },
  async modelProvider() {
    const { models } = await ask('models.list');
    const { usable, provider } = models.find(({ id }: { id: string }) => id === 'everything/echo');
    assert.deepEqual([usable, provider], [true, 'everything']);
    const sessionKey = await newSession();
    const { end, text } = await world.say('Hello', { sessionKey, model: 'everything/echo' });
    assert.deepEqual([end.kind, text], ['completed', 'You said: Hello']);
    const last = (await world.history(sessionKey)).at(-1);
    assert.ok(last?.type === 'message' && last.message.role === 'assistant');
    assert.deepEqual([last.message.model, last.message.usage.output], ['everything/echo', 3]);
  },
  async service() {
    const { plugin } = await ask('plugins.get', { id: 'everything' });
    assert.deepEqual(plugin.services, [{ id: 'pulse', state: 'running' }]);
    assert.ok((await seen()).life.some(({ reason }: { reason: string }) => reason === 'started'));
  },
  async startupCheck() {
    const { findings } = await ask('doctor.run', {});
    assert.ok(findings.some(({ message }: { message: string }) => message.includes('The voice is hoarse')));
  },
};

for (const kind of contributionKinds) {
  test(`${kind}: what the plugin registered does something`, async () => {
    await uses[kind]();
  });
}

test('the plugin has registered one of every kind', async () => {
  const { plugin } = await ask('plugins.get', { id: 'everything' });
  const taken = plugin.registrations.filter(({ accepted }: { accepted: boolean }) => accepted);
  const kinds = new Set(taken.map(({ kind }: { kind: string }) => kind));
  kinds.delete('hook');
  assert.deepEqual([...kinds].sort(), [...contributionKinds].sort());
});

test('a question of the plugin is listed with its name, and the answer reaches it', async () => {
  verifies('seams:W18');
  const sessionKey = await newSession();
  const asking = late('ask', { sessionKey, title: 'May it shout?', description: 'It is late', idempotencyKey: 'shout' });
  const { payload } = await world.admin.find(
    ({ event, payload: each }) => event === 'approval.requested' && each.sessionKey === sessionKey,
  );
  assert.deepEqual([payload.approval.pluginId, payload.approval.reason], ['everything', 'everything: It is late']);
  await ask('approvals.resolve', { id: payload.approval.id, decision: 'allow-once' });
  assert.deepEqual(await asking, { ok: true, decision: 'allow-once', by: 'person' });
  const again = await late('ask', { sessionKey, title: 'May it shout?', description: 'It is late', idempotencyKey: 'shout' });
  assert.deepEqual(again, { ok: true, decision: 'allow-once', by: 'person' });
});

test('people are told that they are needed, and only while the plugin may', async () => {
  const sessionKey = await newSession();
  const need = { sessionKey, title: 'Look here', actions: [{ label: 'Press', actionId: 'press' }] };
  assert.equal((await late('notify', need)).ok, true);
  const { payload } = await world.admin.find(({ event }) => event === 'action.required');
  assert.deepEqual([payload.pluginId, payload.title], ['everything', 'Look here']);
  await ask('plugins.revoke', { id: 'everything', grants: ['people.notify'] });
  assert.equal((await late('notify', need)).reason, 'not-granted');
});

test('a secret is used by its name, and is in no log, audit record or answer', async () => {
  verifies('S81');
  assert.deepEqual(await late('secret', { name: 'fixture-key' }), { ok: true, length: SECRET.length });
  assert.equal((await late('secret', { name: 'other' })).reason, 'not-granted');
  const { records } = await ask('audit.list', { limit: 50 });
  assert.ok(records.some(({ action, target }: Record<string, string>) => action === 'secret.use' && target === 'fixture-key'));
  const { plugin } = await ask('plugins.get', { id: 'everything' });
  const { records: logged } = await ask('logs.tail', { limit: 500 });
  assert.ok(logged.length > 0);
  assert.ok(!JSON.stringify([records, plugin, logged, world.admin.frames]).includes(SECRET));
});

test('where an answer says that the log says how, the log does', async () => {
  const sessionKey = await newSession();
  const press = { pluginId: 'everything', actionId: 'press', sessionKey, payload: { how: 'throw' } };
  const { message } = await refused('plugins.sessionAction', press);
  assert.match(message, /the log of the gateway says how/);
  assert.doesNotMatch(message, /secret/);
  const { records } = await ask('logs.tail', { limit: 500 });
  const { at, ...fields } = records.findLast((record: { message: string }) => record.message === 'a plugin failed').fields;
  assert.match(at, /everything\/index\.js:\d+$/);
  assert.deepEqual(fields, { plugin: 'everything', place: 'session_action', kind: 'threw', reason: 'secret of the action' });
});

test('a right that is revoked is gone from the port and the socket at once', async () => {
  const sessionKey = await newSession();
  await ask('plugins.revoke', { id: 'everything', grants: ['http.routes', 'ui.interact', 'events.emit'] });
  assert.equal((await fetch(url('/hook'))).status, 404);
  assert.equal((await refused('plugins.interact', { sessionKey, data: 'everything:say' })).details?.code, 'UNKNOWN_BUTTON');
  assert.equal((await late('say', { name: 'news', data: 1 })).reason, 'not-granted');
});

test('a policy that may not ask the operator blocks what it wants asked', async () => {
  await ask('plugins.revoke', { id: 'everything', grants: ['approvals.request'] });
  assert.match(await callTool('shout', { text: 'ask' }), /Blocked by everything: .*approvals\.request/);
  const sessionKey = await newSession();
  assert.equal((await late('ask', { sessionKey, title: 'x', description: 'y' })).reason, 'not-granted');
});
