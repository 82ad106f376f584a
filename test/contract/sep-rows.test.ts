// The protocol as others speak it, row by row, between the host and a real process that says what it is told to, as it stands.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { errors, limits, texts } from '@tenon/protocol/sep/wire';
import { openHostWorld, SESSION } from '../support/plugins.ts';
import { BY, clock, frame, openPuppet, TOOLS, writePuppet } from '../support/puppet.ts';
import { verifies } from '../support/verifies.ts';
import { toolCall, until, withExtensions } from '../support/written-extension.ts';

test('ids are whole numbers or text and come back as they are, also where the host uses the same; a null id wants no answer', async () => {
  verifies('sep:ids', 'sep:null-id', 'sep:empty-result');
  await using puppet = await openPuppet();
  const ids = [1, 2, 3, 'a', '1', 0, -7];
  const replies = await puppet.write(
    [
      ...ids.map((id) => frame({ id, method: 'ping', params: {} })),
      frame({ id: 1.5, method: 'ping' }),
      frame({ id: null, method: 'ping' }),
      frame({ id: 'last', method: 'ping' }),
    ],
    ids.length + 1,
  );
  assert.deepEqual(
    replies,
    [...ids, 'last'].map((id) => ({ id, result: {} })),
  );
  const found = puppet.world.metrics.render();
  assert.match(found, /tenon_extension_faults_total\{[^}]*kind="invalid"[^}]*\} 1/);
});

test('an unknown request is refused by its name, and an unknown notification is passed over', async () => {
  verifies('sep:unknown-method');
  await using puppet = await openPuppet();
  const replies = await puppet.write(
    [
      frame({ method: 'no/such', params: {} }),
      frame({ id: 1, method: 'no/such', params: {} }),
      frame({ id: 3, method: 'registry/update', params: [] }),
      frame({ id: 4, method: 5 }),
    ],
    3,
  );
  const [unknown, list, noMethod] = replies.map(({ error }) => error as { code: number; message: string });
  assert.deepEqual(unknown, { code: errors.MethodNotFound.code, message: texts.methodNotFound('no/such') });
  assert.equal(list?.code, errors.InvalidParams.code);
  assert.equal(noMethod?.code, errors.InvalidRequest.code);
});

test('a line that is no frame is dropped and recorded, and ends nobody', async () => {
  verifies('sep:odd-lines', 'sep:G34');
  await using puppet = await openPuppet();
  const { pid } = puppet.host.get('puppet')!.process!;
  const odd = [
    '',
    '   ',
    'null',
    'true',
    '5',
    '"text"',
    '[]',
    '[{"jsonrpc":"2.0","id":1,"method":"ping"}]',
    '{',
    'TypeError: x',
    '{}',
    '\u0000',
  ];
  assert.deepEqual(await puppet.write([...odd, frame({ id: 999, result: {} }), frame({ id: 'p', method: 'ping' })], 1), [
    { id: 'p', result: {} },
  ]);
  assert.equal(puppet.host.get('puppet')!.process!.pid, pid);
  const metrics = puppet.world.metrics.render();
  for (const kind of ['malformed', 'not-an-object', 'batch', 'unknown-reply'])
    assert.match(metrics, new RegExp(`tenon_extension_faults_total\\{[^}]*kind="${kind}"`), kind);
});

test('what is said about a call comes before its answer; of a call that is over it is passed over', async () => {
  verifies('sep:order', 'sep:tool-update');
  await using puppet = await openPuppet();
  const updates: string[] = [];
  const update = (callId: string, message: string) => frame({ method: 'tool/update', params: { call_id: callId, message } });
  const lines = [
    update('c1', 'one'),
    update('nobody', 'of another'),
    frame({ method: 'tool/update', params: { call_id: 'c1', progress: 0.5 } }),
    '{"jsonrpc":"2.0","id":$id,"result":{"content":"done"}}',
    update('c1', 'too late'),
  ];
  const { content } = await puppet.use('raw', { lines }, { onUpdate: (text: string) => void updates.push(text) } as never);
  assert.equal(content, 'done');
  await puppet.write([frame({ id: 'p', method: 'ping' })], 1);
  assert.deepEqual(updates, ['one', '50 %']);
});

test('an unknown tool is a result that says so, and what a tool must answer with is its content', async () => {
  verifies('sep:unknown-tool');
  await using puppet = await openPuppet({ registrations: { commands: [{ name: 'hear', description: 'Hears.' }] }, manifest: BOTH });
  const { content, isError } = await puppet.use('gone');
  assert.deepEqual([content, isError], [texts.unknownTool('gone'), true]);
  await assert.rejects(puppet.use('raw', { lines: ['{"jsonrpc":"2.0","id":$id,"result":{}}'] }), new RegExp(texts.noContent));
  await assert.rejects(puppet.use('raw', { lines: ['{"jsonrpc":"2.0","id":$id,"error":{"code":-32000,"message":"not now"}}'] }), /not now/);
  const command = puppet.host.registry.findAny('command', 'hear')!.item;
  const said = { ...toolCall(), args: '', client: { scopes: [] } };
  assert.deepEqual(await command.handler(said), { text: texts.commandDone('hear') }, 'nothing to say is an empty object');
});

const BOTH = '[capabilities]\ntools = true\ncommands = true';

test('a cancelled request ends at once with its own error, the other side is told, and its late answer is dropped', async () => {
  verifies('sep:cancel');
  await using puppet = await openPuppet();
  const controller = new AbortController();
  const waits = puppet.use('wait', {}, { signal: controller.signal });
  await until(() => puppet.noted().some(({ waits: id }) => id !== undefined));
  controller.abort();
  await assert.rejects(waits, /cancelled/);
  await until(() => puppet.noted().some(({ cancelled }) => cancelled !== undefined));
  assert.equal(
    puppet.noted().find(({ cancelled }) => cancelled !== undefined)?.cancelled,
    puppet.noted().find(({ waits: id }) => id)?.waits,
  );
  await until(() => /kind="late-reply"/.test(puppet.world.metrics.render()));
  assert.deepEqual(await puppet.write([frame({ id: 1, method: '$/cancel' }), frame({ method: '$/cancel', params: { id: 'nobody' } })]), []);
});

test('every kind of registration is taken item by item: what cannot be read is left out, and the rest stands', async () => {
  verifies('sep:registrations');
  await using puppet = await openPuppet({
    manifest: `${BOTH}\nproviders = true\nhooks = ["tool_call"]`,
    registrations: {
      tools: [...TOOLS, { name: 5 }, 'text', { name: 'bad name!', description: 'x', parameters: {} }],
      commands: [{ name: 'hear', description: 'Hears.' }, { description: 'no name' }],
      hooks: ['tool_call', 7],
      subscriptions: ['session_start', null],
      flags: ['loud', {}],
      shortcuts: [{ key: 'ctrl+x', command: 'hear' }, 1],
      message_renderers: [{ name: 'r', template: '{{text}}' }],
      nothing_of_ours: [{ a: 1 }],
    },
  });
  const { registrations } = puppet.host.get('puppet')!;
  const accepted = registrations.filter((each) => each.accepted).map(({ kind, key }) => `${kind} ${key}`);
  for (const each of ['tool puppet__write', 'command hear', 'hook before_tool_call'])
    assert.ok(accepted.includes(each), `${each}: ${accepted}`);
  const left = puppet.world.logged.filter(({ message }) => message === 'a registration was left out');
  assert.ok(left.length >= 6, JSON.stringify(left));
  assert.ok(left.every(({ reason }) => typeof reason === 'string' && reason !== ''));
});

test('a reload is told to the old process and to the new one, subscribed or not; a stop waits for the process to end', async () => {
  verifies('sep:reload-events', 'sep:shutdown', 'seed3:lifecycle', 'seed3:reload');
  await using world = await openHostWorld(clock);
  const mark = join(world.home, 'mark');
  writePuppet(world, { answers: { mark, leavesAfterMs: 200 } });
  const host = await world.open(withExtensions);
  await host.enable('puppet', BY);
  const events = () =>
    world.logged.flatMap(({ stderr }) => {
      if (typeof stderr !== 'string' || !stderr.startsWith('{"event"')) return [];
      const { event, payload } = JSON.parse(stderr) as { event: string; payload: { reason?: string } };
      return [`${event} ${payload.reason}`];
    });
  await host.reload('puppet', BY);
  await until(() => events().length === 2);
  assert.deepEqual(events().sort(), ['session_shutdown reload', 'session_start reload']);
  const { pid } = host.get('puppet')!.process!;
  await host.disable('puppet', BY);
  assert.ok(existsSync(mark), 'what it does after its answer to shutdown is waited for');
  assert.throws(() => process.kill(pid!, 0));
});

test('of more events than can wait the oldest are shed, the rest keep their numbers, and how many are gone is told', async () => {
  verifies('sep:events-lost', 'sep:events');
  await using puppet = await openPuppet({
    manifest: '[capabilities]\ntools = true\nevents = ["session_start"]',
    registrations: { subscriptions: ['session_start'] },
  });
  const blocked = puppet.use('block', { forMs: 300 });
  await until(() => puppet.noted().some(({ blocks }) => blocks));
  const start = { sessionKey: SESSION, sessionId: 's'.repeat(22), agentId: 'main', reason: 'new' } as const;
  // More than the pipe and the queue hold together.
  const COUNT = 4_000;
  for (let at = 0; at < COUNT; at++) await puppet.world.hooks.run('session_start', start);
  await blocked;
  type Told = { event: string; seq?: number; payload: { lost?: number } };
  const told: Told[] = [];
  await until(async () => {
    told.push(...(JSON.parse(String((await puppet.use('events')).content)) as Told[]));
    return told.some(({ seq }) => seq === COUNT - 1);
  });
  const numbers = told.flatMap(({ event, seq }) => (event === 'session_start' ? [seq!] : []));
  assert.ok(
    numbers.every((seq, at) => at === 0 || seq > numbers[at - 1]!),
    'in their order',
  );
  const lost = told.reduce((sum, { event, payload }) => sum + (event === 'events_lost' ? payload.lost! : 0), 0);
  assert.ok(lost > 0);
  assert.equal(numbers.length + lost, COUNT, 'each was told, or is counted');
});

test('an outcome that is none has failed: what guards is closed then, and the rest goes on', async () => {
  verifies('sep:hook-outcomes', 'seed3:hook-chain', 'R18:extensions');
  for (const outcome of [{ action: 'maybe' }, { action: 'block', reason: 5 }, 'block', {}, { action: 'modify' }]) {
    await using puppet = await openPuppet({
      manifest: '[capabilities]\ntools = true\nhooks = ["tool_call", "input"]',
      registrations: { hooks: ['tool_call', 'input'] },
      answers: { hooks: { tool_call: outcome, input: outcome } },
    });
    const { hooks } = puppet.world;
    const closed = await hooks.run('before_tool_call', { sessionKey: SESSION, toolName: 'exec', toolCallId: 'c', params: {} });
    assert.equal(closed.kind, 'refused', JSON.stringify(outcome));
    await until(() => puppet.noted().some(({ hook }) => hook === 'tool_call'));
  }
});

test('hooks of extensions are asked in the order of their names, each sees what the last one left, and a block is not lifted', async () => {
  verifies('seed3:hook-chain', 'R18:extensions');
  const outcomes: unknown[] = [];
  for (const order of [
    ['a', 'b', 'c'],
    ['c', 'a', 'b'],
    ['b', 'c', 'a'],
  ]) {
    await using world = await openHostWorld(clock);
    for (const name of order) {
      const answer = name === 'b' ? { action: 'block', reason: 'b says no' } : { action: 'continue' };
      writePuppet(
        world,
        { manifest: HOOKED, registrations: { tools: [], hooks: ['tool_call'] }, answers: { hooks: { tool_call: answer } } },
        name,
      );
    }
    const host = await world.open(withExtensions);
    for (const name of order) await host.enable(name, BY);
    const outcome = await world.hooks.run('before_tool_call', { sessionKey: SESSION, toolName: 'exec', toolCallId: 'c', params: {} });
    outcomes.push(outcome);
  }
  for (const outcome of outcomes) assert.deepEqual(outcome, outcomes[0]);
  assert.match(JSON.stringify(outcomes[0]), /b says no/);
});

const HOOKED = '[capabilities]\nhooks = ["tool_call"]';

test('G31: however long an extension wants to be waited for, a hook waits no longer than the host allows', async () => {
  verifies('sep:G31');
  await using world = await openHostWorld(clock);
  writePuppet(world, { manifest: `hook_timeout_ms = 900000000\n${HOOKED}`, registrations: { hooks: ['tool_call'] } });
  const host = await world.open(withExtensions);
  await host.enable('puppet', BY);
  const [handler] = world.hookRegistry.handlers('before_tool_call');
  assert.equal(handler?.timeoutMs, limits.hookTimeoutMaxMs.value);
});

test('log records stand under the name of the extension with their level and fields, and a flood of them is held back', async () => {
  verifies('sep:log');
  await using puppet = await openPuppet();
  const log = (level: string, message: string) => frame({ method: 'log', params: { level, message, fields: { a: 1 } } });
  await puppet.write([
    ...['trace', 'debug', 'info', 'warn', 'error'].map((level) => log(level, `said ${level}`)),
    log('loud', 'not a level'),
  ]);
  const found = puppet.world.logged.filter(({ message }) => String(message).startsWith('said '));
  assert.ok(found.length >= 2, JSON.stringify(puppet.world.logged.slice(-5)));
  assert.ok(found.every(({ plugin }) => plugin === 'puppet'));
  assert.equal(
    puppet.world.logged.some(({ message }) => message === 'not a level'),
    false,
  );
});

test('the manifest is that of others, as TOML or in package.json; the process gets what is listed and what it says, expanded once', async () => {
  verifies('sep:environment', 'sep:manifest', 'seed3:manifest', 'seed3:subprocess');
  await using world = await openHostWorld(clock);
  const of = (name: string) => `\${env:${name}}`;
  writePuppet(world, { run: `env = { ONE = "${of('TENON_TEST_ONE')}", TWO = "${of('ONCE')}", THREE = "plain" }` });
  const env = { PATH: process.env.PATH, HOME: '/nowhere', LANG: 'C', SECRET: 'hidden', ONCE: of('SECRET'), TENON_TEST_ONE: 'no' };
  const host = await world.open({ extensions: { ...withExtensions.extensions, env } });
  const on = await host.enable('puppet', BY);
  assert.equal(on.state, 'loaded', on.reason);
  const [hello] = world.logged.flatMap(({ stderr }) => (/^{"initialize"/.test(String(stderr)) ? [JSON.parse(String(stderr))] : []));
  const { SECRET, TWO, THREE, ONE, HOME, ONCE } = hello.env as Record<string, string | undefined>;
  assert.deepEqual([SECRET, ONCE, TWO, THREE, HOME], [undefined, undefined, of('SECRET'), 'plain', '/nowhere']);
  assert.ok(ONE === undefined || ONE === '', 'variables of the gateway are not handed on');
});
