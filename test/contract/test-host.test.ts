// The test host of the SDK: what it shows of a plugin is what a gateway would do with it, in milliseconds and without files.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { definePluginEntry, type RegisterApi } from '@tenon/plugin-sdk';
import type { TestHost, TestHostOptions } from '@tenon/plugin-sdk/testing';
import { createTestHost } from '../../packages/gateway/src/testing/test-host.ts';
import { verifies } from '../support/verifies.ts';

const root = join(import.meta.dirname, '..', '..');

function open(register: (api: RegisterApi) => void, options: TestHostOptions = {}): Promise<TestHost> {
  return createTestHost(definePluginEntry({ id: 'one', name: 'The one', register }), options);
}

/** Counts in every session: by a tool, by a button, by a command. */
function counter(api: RegisterApi): void {
  const add = (sessionKey: string) =>
    api.session.state.update(sessionKey, 'count', (current) => (typeof current === 'number' ? current : 0) + 1);
  api.session.state.registerSessionExtension({ namespace: 'count', description: 'A count', project: ({ state }) => ({ count: state }) });
  api.registerTool({
    name: 'count',
    description: 'Counts',
    parameters: { type: 'object', properties: {}, additionalProperties: false },
    risk: 'read',
    execute: async (_, { sessionKey }) => ({ content: JSON.stringify(await add(sessionKey)) }),
  });
  api.session.controls.registerSessionAction({
    id: 'set',
    schema: { type: 'object', properties: { to: { type: 'integer' } }, required: ['to'] },
    handler: ({ payload = null }) => ({ result: payload, statePatch: { count: (payload as { to: number }).to } }),
  });
  api.session.controls.registerControlUiDescriptor({
    id: 'chip',
    label: 'Count',
    surface: 'session',
    actions: [{ label: 'Set', actionId: 'set' }],
  });
  api.registerCommand({
    name: 'count',
    description: 'Counts',
    handler: async ({ sessionKey, args }) => ({ text: `${args}: ${JSON.stringify(await add(sessionKey))}` }),
  });
}
const COUNTER = ['tools.register', 'commands.register', 'ui.descriptors'];

test('a turn, a button, a command and a restart, on the state of one session', async () => {
  await using host = await open(counter, { grants: COUNTER, model: [{ calls: [{ name: 'count' }] }, 'counted'] });
  assert.deepEqual(
    host.registrations().map(({ key, accepted }) => [key, accepted]),
    [
      ['count', true],
      ['count', true],
      ['set', true],
      ['chip', true],
      ['count', true],
    ],
  );
  const { reply, end, entries } = await host.send('count once');
  assert.deepEqual([reply, end.kind], ['counted', 'completed']);
  assert.deepEqual(
    entries.flatMap((entry) => (entry.type === 'message' ? [entry.message.role] : [])),
    ['user', 'assistant', 'toolResult', 'assistant'],
  );
  assert.equal(await host.state('count'), 1);
  assert.deepEqual(await host.press('set', { to: 5 }), { ok: true, result: { to: 5 } });
  assert.deepEqual(await host.shown('count'), { count: 5 });
  assert.match(await host.command('/count up'), /^up: /);
  await host.restart();
  assert.equal(await host.state('count'), 6);
  await host.reload();
  assert.equal(await host.state('count'), 6);
  assert.equal(await host.state('count', 'agent:main:other'), undefined);
  assert.deepEqual(
    (await host.descriptors()).map(({ id, pluginId }) => [pluginId, id]),
    [['one', 'chip']],
  );
  assert.ok(host.events.some(({ event, payload }) => event === 'chat' && payload.kind === 'ended'));
  assert.deepEqual(host.requests[0]?.tools, ['count']);
  assert.equal(host.requests[1]?.messages.at(-1)?.role, 'toolResult');
});

test('what a client would be refused is refused here, with the same code', async () => {
  await using host = await open(counter, { grants: COUNTER });
  const refused = (work: Promise<unknown>, code: string, detail?: string) =>
    assert.rejects(work, (error: { code: string; details?: { code?: string } }) => {
      assert.deepEqual([error.code, error.details?.code], [code, detail]);
      return true;
    });
  await refused(host.press('set', { to: 'x' }), 'INVALID_REQUEST', 'INVALID_PAYLOAD');
  await refused(host.press('nothing'), 'UNAVAILABLE', 'UNKNOWN_ACTION');
  await refused(host.press('set', { to: 1 }, { scopes: ['operator.read'] }), 'SCOPE', 'MISSING_SCOPE');
  await refused(host.command('/nothing'), 'NOT_FOUND');
  await refused(host.patch('nothing'), 'INVALID_REQUEST', 'UNKNOWN_ACTION');
  await refused(host.call('no.such.method'), 'UNKNOWN_METHOD');
  await assert.rejects(host.send('/count'), /use command\(\)/);
  await host.revoke('commands.register');
  await refused(host.command('/count'), 'NOT_FOUND');
  assert.equal(host.registrations().find(({ kind }) => kind === 'command')?.code, 'NOT_GRANTED');
});

test('what the plugin wants told is told once, if it is told in time; the clock is the test’s', async () => {
  let api: RegisterApi | undefined;
  await using host = await open(
    (given) => {
      api = given;
    },
    { grants: ['prompt.inject'] },
  );
  const { sessionKey } = host;
  const say = (text: string, ttlMs: number) => api!.session.workflow.enqueueNextTurnInjection({ sessionKey, text, ttlMs });
  const told = () =>
    host.requests
      .at(-1)!
      .messages.map(({ text }) => text)
      .join('\n');
  assert.equal((await say('remember the milk', 60_000)).enqueued, true);
  await host.advance(59_000);
  await host.send('hello');
  assert.match(told(), /remember the milk/);
  await say('forget the milk', 1_000);
  await host.advance(2_000);
  await host.send('hello again');
  assert.doesNotMatch(told(), /forget the milk/);
  assert.equal(host.now(), 1_700_000_061_000);
});

test('a person answers as the test says, and no without a word', async () => {
  for (const [approve, expected] of [
    ['deny', /refused|denied|not allowed/i],
    ['allow-once', /^ran ls$/],
  ] as const) {
    await using host = await open(() => {}, {
      approve,
      tools: { exec: { risk: 'write', run: ({ command }) => `ran ${command}` } },
      model: [{ calls: [{ name: 'exec', arguments: { command: 'ls' } }] }, 'done'],
    });
    await host.send('look');
    const result = host.requests[1]!.messages.at(-1)!;
    assert.deepEqual(result.role, 'toolResult');
    assert.match(result.text, expected, approve);
  }
});

test('hooks take part, and the trace says which handler changed what', async () => {
  await using host = await open(
    (api) => {
      api.on('before_prompt_build', () => ({ appendSystemContext: 'Answer in rhymes.' }));
    },
    { grants: ['hooks.intercept:before_prompt_build', 'conversation.read', 'prompt.inject'] },
  );
  await host.send('hello');
  assert.match(host.requests[0]!.system, /Answer in rhymes\./);
  const records = await host.trace();
  assert.deepEqual(
    records.filter(({ place }) => place === 'before_prompt_build').map(({ plugin, outcome }) => [plugin, outcome]),
    [['one', 'changed']],
  );
});

test('a change of a session and what a plugin does with it', async () => {
  const plugin = definePluginEntry({
    id: 'one',
    register: (api) => api.session.state.registerSessionExtension({ namespace: 'box', description: 'A box' }),
    sessionsPatchExtensions: {
      put: ({ payload, entry }) =>
        payload === null
          ? { ok: false, error: 'nothing to put' }
          : { ok: true, statePatch: { box: { payload: payload as string, title: entry.title } } },
    },
  });
  await using host = await createTestHost(plugin);
  const session = await host.patch('put', 'hat', { fields: { title: 'Hats' } });
  assert.equal(session.title, 'Hats');
  assert.deepEqual(await host.state('box'), { payload: 'hat', title: 'Hats' });
  await assert.rejects(host.patch('put', null), { code: 'INVALID_REQUEST', message: /nothing to put/ });
});

test('a plugin that cannot be loaded says why', async () => {
  verifies('seams:W12');
  const manifest = { id: 'one', name: 'One', version: '1.0.0', api: 1, grants: [] };
  await assert.rejects(
    open(() => {
      throw new Error('no luck');
    }),
    /not loaded: its register threw: no luck/,
  );
  await assert.rejects(
    open(() => {}, { manifest: { ...manifest, api: 2 } }),
    /it wants level 2 of the plugin API; this gateway has level 1/,
  );
  await assert.rejects(
    open(() => {}, { manifest: { ...manifest, id: 'two' } }),
    /its module says that its id is "one", its manifest "two"/,
  );
  await assert.rejects(
    open(() => {}, { grants: ['do.everything'] }),
    /asks for the grant "do.everything", which does not exist/,
  );
  await assert.rejects(
    open(() => {}, { manifest, grants: ['turns.start'] }),
    /its manifest does not ask for it/,
  );
  const configSchema = { type: 'object', properties: { size: { type: 'integer' } }, additionalProperties: false };
  await assert.rejects(
    open(() => {}, { manifest: { ...manifest, configSchema }, config: { size: 'large' } }),
    /size/,
  );
});

test('a handler that never answers does not hang the test, and time ends it as in a gateway', async () => {
  await using host = await open((api) => api.session.controls.registerSessionAction({ id: 'hang', handler: () => new Promise(() => {}) }), {
    patienceMs: 50,
  });
  await assert.rejects(
    host.press('hang'),
    /plugins\.sessionAction is not done after 50 ms; what waits for time to pass goes on with advance/,
  );
  await host.advance(120_000);
  assert.ok(host.warnings.some(({ plugin, kind }) => plugin === 'one' && kind === 'timed-out'));
});

test('the built host that plugins import works, and leaves no file behind', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tenon-host-'));
  try {
    for (const name of ['home', 'tmp']) mkdirSync(join(folder, name));
    const code = `
      const { createTestHost } = await import('@tenon/plugin-sdk/testing');
      const { definePluginEntry } = await import('@tenon/plugin-sdk');
      const host = await createTestHost(definePluginEntry({ id: 'one', register() {} }), { model: ['hello there'] });
      console.log((await host.send('hello')).reply);
      await host.close();`;
    const printed = execFileSync(process.execPath, ['--input-type=module', '--eval', code], {
      cwd: root,
      env: { ...process.env, HOME: join(folder, 'home'), TMPDIR: join(folder, 'tmp') },
      encoding: 'utf8',
    });
    assert.equal(printed, 'hello there\n');
    assert.deepEqual(readdirSync(folder, { recursive: true }).sort(), ['home', 'tmp']);
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  }
});
