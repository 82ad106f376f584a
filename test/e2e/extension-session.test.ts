// What an extension does in sessions: a real gateway process, a real process made with the SDK, and the code of a provider with a
// server on the other side. Also what it is told of turns, and that no context is good for longer than its dispatch.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import type { Entry } from '@tenon/protocol';
import { errors, texts } from '@tenon/protocol/sep/wire';
import { cleanUp } from '../support/clean-up.ts';
import { call, type Conversation, openConversation, SESSION, told } from '../support/conversation.ts';
import { type DeskOptions, type DeskStep, removeHome, writeDesk } from '../support/extensions.ts';
import { cleanEnv, temporaryHome, tenonBin } from '../support/gateway.ts';
import { verifies } from '../support/verifies.ts';

const { ContextViolation, InvalidParams, Refused } = errors;

async function open(t: TestContext, options: DeskOptions, others: readonly string[] = []): Promise<Conversation> {
  const home = temporaryHome();
  cleanUp(t, () => removeHome(home));
  for (const name of ['desk', ...others]) writeDesk(home, options, name);
  const talk = await openConversation({ home });
  await talk.ask('sessions.create', { key: SESSION, permissions: 'bypass' });
  for (const id of ['desk', ...others]) {
    const { plugin } = await talk.ask('plugins.enable', { id });
    assert.equal(plugin.state, 'loaded', plugin.reason);
  }
  return talk;
}

/** By a command, in the session. */
async function does(talk: Conversation, ...steps: DeskStep[]): Promise<unknown[]> {
  const { reply } = await talk.ask('commands.invoke', { sessionKey: SESSION, text: `/desk ${JSON.stringify(steps)}` });
  return JSON.parse(reply) as unknown[];
}

/** By a tool, in a turn. */
const inTool = (...steps: DeskStep[]) => call('desk__do', { steps });

const textOf = (entry: Entry) => {
  if (entry.type === 'message')
    return entry.message.content.map((block) => (block.type === 'text' ? block.text : `<${block.type}>`)).join('');
  if (entry.type === 'custom_message') return entry.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
  return '';
};

async function until<Value>(look: () => Promise<Value | undefined> | Value | undefined): Promise<Value> {
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found as Value;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** What the extension has noted on its standard error, out of the log. */
function noted({ gateway }: Conversation): Record<string, unknown>[] {
  const folder = join(gateway.home, 'logs');
  // Without what is just being written.
  const lines = readdirSync(folder).flatMap((file) => readFileSync(join(folder, file), 'utf8').split('\n').slice(0, -1));
  return lines.flatMap((line) => {
    const { stderr = '' } = line === '' ? {} : (JSON.parse(line) as { stderr?: string });
    return stderr.startsWith('{') ? [JSON.parse(stderr) as Record<string, unknown>] : [];
  });
}

test('an extension writes into its session as people and plugins do, under its own name, and its tool never waits for its own turn', async (t) => {
  verifies('seed3:context-tiers', 'sep:tiers', 'sep:G37');
  await using talk = await open(t, { capabilities: 'session = true' });
  // Steered into the running turn by the tool of that very turn, then a turn of its own after it.
  talk.server.next(
    inTool(
      ['session.sendUserMessage', 'And be brief.', { deliverAs: 'steer' }],
      ['session.sendUserMessage', 'Then the other thing.'],
      ['session.sendMessage', 'I looked it up.'],
      ['session.appendEntry', { tag: 'looked', data: { n: 1 } }],
    ),
    { text: 'First.' },
    { text: 'Second.' },
  );
  assert.equal((await talk.say('go')).text, 'First.');
  assert.ok(
    told(talk.server, 'user').some((text) => text.includes('And be brief.')),
    'the running turn is told',
  );
  assert.ok(told(talk.server, 'user').some((text) => /\(desk has said in this conversation:\)\s+I looked it up\./.test(text)));
  assert.ok(!told(talk.server, 'user').some((text) => text.includes('looked"')), 'an entry is not told');
  const entries = await until(async () => {
    const all = await talk.history();
    return all.some((entry) => textOf(entry) === 'Second.') ? all : undefined;
  });
  const said = (text: string) => entries.find((entry) => textOf(entry) === text);
  for (const text of ['And be brief.', 'Then the other thing.']) {
    const entry = said(text);
    assert.ok(entry?.type === 'message' && entry.message.role === 'user', text);
    assert.deepEqual([entry.message.from, entry.message.via], ['desk', 'plugin'], 'nobody takes it for the word of a person');
  }
  assert.deepEqual(
    entries.flatMap((entry) => (entry.type === 'custom' && entry.customType === 'extension' ? [entry.data] : [])),
    [{ plugin: 'desk', entry: { tag: 'looked', data: { n: 1 } } }],
  );

  // With the next turn, and none begins because of it; what is said as the user is in the transcript at once.
  const before = talk.server.requests.length;
  assert.deepEqual(
    await does(
      talk,
      ['session.sendUserMessage', 'Mind the step.', { deliverAs: 'next_turn' }],
      ['session.sendMessage', 'Written down.', { role: 'user' }],
      ['session.sendMessage', '  '],
    ).then((results) => results.map((result) => (result as { code?: number } | null)?.code ?? result)),
    [null, null, InvalidParams.code],
  );
  assert.equal(talk.server.requests.length, before);
  talk.server.next({ text: 'Minded.' });
  assert.equal((await talk.say('and now')).text, 'Minded.');
  assert.ok(told(talk.server, 'user').some((text) => text.includes('Mind the step.')));
  assert.ok(told(talk.server, 'user').includes('Written down.'));

  // A command begins a turn, as the person who typed it would.
  talk.server.next({ text: 'Begun.' });
  assert.deepEqual(await does(talk, ['sendUserMessage', '!touch never-run']), [null]);
  await until(async () => (await talk.history()).find((entry) => textOf(entry) === 'Begun.'));
  assert.ok(!readdirSync(talk.workspace()).includes('never-run'), 'what it says is never a command of a person');

  await until(async () => (await talk.ask('sessions.get', { key: SESSION })).session.status === 'idle' || undefined);
  const [model, unknown, level, state] = await does(
    talk,
    ['session.setModel', 'demo', { thinking: 'low' }],
    ['setModel', 'nothing-like-it'],
    ['session.setModel', 'demo', { thinking: 'sideways' }],
    ['session.state'],
  );
  assert.deepEqual([model, unknown, (level as { code: number }).code], [null, false, InvalidParams.code]);
  const { title: _, workspace: __, session_id: id, ...rest } = state as Record<string, unknown>;
  assert.match(String(id), /^[\w-]{22}$/);
  assert.deepEqual(rest, {
    ...{ session_key: SESSION, agent_id: 'main', status: 'idle', model: 'demo', provider: 'demo', thinking: 'low' },
  });
  const { session } = await talk.ask('sessions.get', { key: SESSION });
  assert.deepEqual([session.model, session.thinking], ['demo', 'low']);
  const kinds = (await talk.history()).map(({ type }) => type);
  assert.ok(kinds.includes('model_change') && kinds.includes('thinking_level_change'));
});

test('G28: a context is worth nothing after its dispatch, in another process, for another extension, or where nobody may write', async (t) => {
  verifies('seed3:context-tiers', 'sep:tiers', 'sep:G28', 'sep:errors');
  await using talk = await open(t, { capabilities: 'session = true\nkv = true\nevents = ["session_start"]', events: ['session_start'] }, [
    'other',
  ]);
  const code = (result: unknown) => (result as { code?: number } | null)?.code;
  const message = (result: unknown) => (result as { message?: string } | null)?.message;
  await does(talk, ['keep', 'first']);
  const [after, forged, guessed, event, none] = await does(
    talk,
    ['with', 'first', 'session/send_message', { text: 'too late' }],
    ['call', 'session/send_message', { text: 'forged', context: { token: 'A'.repeat(22), tier: 'command' } }],
    ['call', 'session/state', { context: { token: 'epoch-1', tier: 'command' } }],
    ['call', 'session/state', { context: { token: 'epoch-1', tier: 'event' } }],
    ['call', 'session/state', { context: null }],
  );
  for (const each of [after, forged, guessed]) assert.deepEqual([code(each), message(each)], [ContextViolation.code, texts.staleContext]);
  assert.deepEqual([code(event), message(event)], [ContextViolation.code, texts.commandTier]);
  assert.equal(code(none), InvalidParams.code);

  // One that is under way is good for whoever was given it, and for nobody else.
  const waits = does(talk, ['keep', 'live'], ['waitFor', 'go']);
  const [context] = await until(async () => {
    const [kept] = await does(talk, ['kept', 'live']);
    return kept === null ? undefined : [kept];
  });
  const [own] = await does(talk, ['with', 'live', 'session/state', {}]);
  assert.equal((own as { state?: { session_key: string } }).state?.session_key, SESSION);
  talk.server.next(call('other__do', { steps: [['call', 'session/send_message', { text: 'stolen', context }]] }), { text: 'Tried.' });
  await talk.say('try');
  const [result] = await talk.results();
  assert.match(result?.text ?? '', new RegExp(`"code":${ContextViolation.code}`));
  await does(talk, ['kv.set', 'go', true]);
  await waits;
  assert.equal(code((await does(talk, ['with', 'live', 'session/state', {}]))[0]), ContextViolation.code);

  // A session that is deleted while the extension is asked in it.
  const sessionKey = 'agent:main:gone';
  await talk.ask('sessions.create', { key: sessionKey });
  const steps = [
    ['keep', 'gone'],
    ['waitFor', 'deleted'],
    ['session.state'],
    ['session.sendUserMessage', 'x'],
    ['session.appendEntry', {}],
  ];
  const inIt = talk.ask('commands.invoke', { sessionKey, text: `/desk ${JSON.stringify(steps)}` });
  await until(async () => (await does(talk, ['kept', 'gone']))[0] ?? undefined);
  await talk.ask('sessions.delete', { key: sessionKey });
  await does(talk, ['kv.set', 'deleted', true]);
  for (const each of (JSON.parse((await inIt).reply) as unknown[]).slice(2))
    assert.deepEqual([code(each), (each as { data: unknown }).data], [Refused.code, { reason: 'no-session' }]);

  // An event is told in a session, and writes nothing there.
  await talk.ask('sessions.create', { key: 'agent:main:fresh', idempotencyKey: 'fresh' });
  await until(() => noted(talk).some(({ event: name }) => name === 'session_start') || undefined);
  const [atEvent] = await does(talk, ['with', 'event', 'session/send_message', { text: 'from an event' }]);
  assert.deepEqual([code(atEvent), message(atEvent)], [ContextViolation.code, texts.commandTier]);
  for (const key of [SESSION, 'agent:main:fresh'])
    assert.ok(!(await talk.history(key)).some((entry) => /too late|forged|stolen|from an event/.test(textOf(entry))), key);
});

test('a hook that answers every message with a message is stopped after a bounded number of turns', async (t) => {
  verifies('sep:tiers');
  await using talk = await open(t, {
    capabilities: 'session = true\nhooks = ["input"]',
    hooks: { input: [['session.sendUserMessage', 'again']] },
  });
  talk.server.next(...Array.from({ length: 40 }, (_, n) => ({ text: `Turn ${n}.` })));
  await talk.say('begin');
  const refused = await until(() =>
    noted(talk)
      .flatMap(({ did }) => (did as { code?: number; data?: unknown }[] | undefined) ?? [])
      .find((each) => each?.code === Refused.code),
  );
  assert.deepEqual(refused.data, { reason: 'limit', limit: 'pluginTurns' });
});

test('an extension is told of turns, messages, tools, models and moves in the order in which they happen', async (t) => {
  verifies('sep:events');
  const events = [
    ...['agent_start', 'turn_start', 'message_start', 'message_update', 'message_end', 'tool_execution_start'],
    ...['tool_execution_update', 'tool_execution_end', 'agent_end', 'turn_end', 'model_select', 'session_tree'],
  ];
  await using talk = await open(t, { capabilities: `session = true\nhooks = []\nevents = ${JSON.stringify(events)}`, events });
  const { plugin } = await talk.ask('plugins.get', { id: 'desk' });
  assert.ok(plugin.asked.includes('events.follow') && plugin.asked.includes('hooks.observe:agent_start'));
  talk.server.next(inTool(['kv.get', 'x']), { text: 'Well done.' });
  await talk.say('go');
  await talk.ask('commands.invoke', { sessionKey: SESSION, text: '/model demo' });
  await talk.ask('sessions.patch', { key: SESSION, thinking: 'high', idempotencyKey: 'think' });
  const [first] = await talk.history();
  await talk.ask('sessions.branch', { key: SESSION, entryId: first!.id, idempotencyKey: 'branch' });
  const isSaid = (name: string, all: readonly Record<string, unknown>[]) => all.filter(({ event }) => event === name);
  const textIn = (all: readonly Record<string, unknown>[]) =>
    isSaid('message_update', all)
      .map(({ payload }) => (payload as { content: string }).content)
      .join('');
  // What runs say comes beside the rest.
  const told = await until(() => {
    const all = noted(talk).filter(({ event }) => event !== undefined);
    const isAll = isSaid('session_tree', all).length === 1 && isSaid('model_select', all).length === 2 && textIn(all) === 'Well done.';
    return isAll ? all : undefined;
  });
  const order = told.map(({ event }) => String(event));
  const place = (name: string) => order.indexOf(name);
  for (const [earlier, later] of [
    ['agent_start', 'message_start'],
    ['message_start', 'tool_execution_start'],
    ['tool_execution_start', 'tool_execution_end'],
    ['tool_execution_end', 'message_end'],
    ['message_end', 'turn_end'],
    ['turn_end', 'agent_end'],
    ['agent_end', 'session_tree'],
  ] as const)
    assert.ok(place(earlier) !== -1 && place(earlier) < place(later), `${earlier} before ${later}: ${order.join(' ')}`);
  const payloads = (name: string) => told.filter(({ event }) => event === name).map(({ payload }) => payload as Record<string, unknown>);
  assert.deepEqual(
    ['message_start', 'tool_execution_start', 'tool_execution_end', 'message_end', 'turn_end'].map((name) =>
      payloads(name).map(({ iteration, iterations, tool, is_error: isError, content }) => [
        iteration ?? iterations,
        tool ?? content,
        isError,
      ]),
    ),
    [
      [
        [1, undefined, undefined],
        [2, undefined, undefined],
      ],
      [[1, 'desk.do', undefined]],
      [[1, 'desk.do', false]],
      [[2, 'Well done.', undefined]],
      [[2, undefined, undefined]],
    ],
    'of the answers of a turn, the last one is its message',
  );
  assert.deepEqual(
    payloads('model_select').map(({ model, provider, thinking }) => [model, provider, thinking]),
    [
      ['demo', 'demo', 'off'],
      ['demo', 'demo', 'high'],
    ],
  );
  assert.equal(payloads('turn_start')[0]?.session_key, SESSION);
});

test('an extension narrows the tools of a session or of all, never beyond what the agent has, until it begins anew', async (t) => {
  verifies('sep:set-active');
  await using talk = await open(t, { capabilities: 'kv = true' }, ['other']);
  const offered = () => (talk.server.requests.at(-1)?.body?.tools ?? []).map(({ function: { name } }) => name).sort();
  const say = async (message: string, more: Record<string, unknown> = {}) => {
    talk.server.next({ text: 'Yes.' });
    await talk.say(message, more);
    return offered();
  };
  const whole = await say('what is there');
  assert.ok(whole.includes('read') && whole.includes('exec') && whole.includes('desk__do') && whole.includes('other__do'));
  assert.deepEqual(await does(talk, ['setActiveTools', ['read', 'desk.do', 'nothing.like', 'launch', 'read']]), [['read', 'desk.do']]);
  assert.deepEqual(await say('and now'), ['desk__do', 'read']);
  const elsewhere = { sessionKey: 'agent:main:elsewhere' };
  assert.deepEqual(await say('and there', elsewhere), whole, 'it is the session of the command alone');
  // What another one leaves is narrowed further, and what this one asks for again comes back no further than the other lets it.
  talk.server.next(call('desk__do', { steps: [['setActiveTools', ['read', 'ls', 'desk.do', 'other.do']]] }), { text: 'Back.' });
  await talk.say('widen');
  assert.deepEqual(offered(), ['desk__do', 'ls', 'other__do', 'read'], 'the turn that runs is told at its next step');
  talk.server.next(
    call('other__do', { steps: [['call', 'tools/set_active', { tools: ['ls', 'exec', 'other.do'], session_key: 'as no host knows it' }]] }),
    {
      text: 'Less.',
    },
  );
  await talk.say('narrow');
  assert.deepEqual(offered(), ['ls', 'other__do']);
  assert.match((await talk.results()).at(-1)?.text ?? '', /"active":\["ls","other\.do"\]/, 'what is asked, and what holds');
  // A call of a tool that is not active is refused, whatever the model knows of it.
  talk.server.next(call('read', { path: 'x' }), { text: 'Not so.' });
  await talk.say('read it');
  assert.match((await talk.results()).at(-1)?.text ?? '', /There is no tool "read"/);
  // A crash is no way out; a reload is a new beginning.
  await talk.admin.request('commands.invoke', { sessionKey: SESSION, text: `/desk ${JSON.stringify([['exit']])}` });
  assert.deepEqual(await say('after a crash'), ['ls', 'other__do']);
  await talk.ask('plugins.reload', { id: 'other' });
  assert.deepEqual(await say('after a reload'), ['desk__do', 'ls', 'other__do', 'read']);
  await talk.ask('plugins.disable', { id: 'desk' });
  assert.deepEqual(
    await say('without it'),
    whole.filter((name) => name !== 'desk__do'),
  );
});

test('flags that an extension declares have the values that the operator has set up, and a change is a new process', async (t) => {
  verifies('sep:flags', 'sep:initialize');
  await using talk = await open(t, { flags: [{ name: 'loud' }, { name: 'words', default: 3 }] });
  const flags = () => does(talk, ['getFlag', 'loud'], ['getFlag', 'words'], ['getFlag', 'odd']);
  assert.deepEqual(await flags(), [null, 3, null]);
  const { pid } = (await talk.ask('plugins.get', { id: 'desk' })).plugin.process;
  await talk.ask('plugins.config', { id: 'desk', config: { loud: true, words: 5, odd: 'x' } });
  assert.deepEqual(await flags(), [true, 5, 'x']);
  assert.notEqual((await talk.ask('plugins.get', { id: 'desk' })).plugin.process.pid, pid);
  const refused = await talk.refused('plugins.config', { id: 'desk', config: { loud: { deep: true } } });
  assert.match(refused.message, /config\/loud/);
  await talk.ask('plugins.reload', { id: 'desk' });
  assert.deepEqual(await flags(), [true, 5, 'x']);
  await talk.ask('plugins.config', { id: 'desk', config: null });
  assert.deepEqual(await flags(), [null, 3, null]);
});

test('what an extension keeps outlives kill -9, is in a backup, and goes when the extension is removed for good', async (t) => {
  verifies('sep:kv', 'sep:G13');
  const before = await open(t, { capabilities: 'kv = true' });
  const { home } = before.gateway;
  assert.deepEqual(await does(before, ['kv.set', 'kept', { n: 1 }], ['kv.set', 'more', 'words']), [null, null]);
  await before.gateway.kill();
  await before[Symbol.asyncDispose]();
  await using talk = await openConversation({ home });
  await until(async () => (await talk.ask('plugins.get', { id: 'desk' })).plugin.state === 'loaded' || undefined);
  assert.deepEqual(await does(talk, ['kv.get', 'kept'], ['kv.list']), [{ n: 1 }, ['kept', 'more']]);
  const file = join(home, 'copy.db');
  execFileSync(process.execPath, [tenonBin, 'backup', file, '--home', home], { env: cleanEnv() });
  const copy = new DatabaseSync(file, { readOnly: true });
  assert.deepEqual(
    copy
      .prepare('select plugin_id, name, value from extension_values order by name')
      .all()
      .map((row) => Object.values(row)),
    [
      ['desk', '"kept"', '{"n":1}'],
      ['desk', '"more"', '"words"'],
    ],
  );
  copy.close();
  await talk.ask('plugins.disable', { id: 'desk', forget: true });
  const { plugin } = await talk.ask('plugins.enable', { id: 'desk' });
  assert.equal(plugin.state, 'loaded', plugin.reason);
  assert.deepEqual(await does(talk, ['kv.get', 'kept'], ['kv.list']), [null, []]);
});
