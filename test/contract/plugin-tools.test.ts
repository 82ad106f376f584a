// Tools that plugins make for each session, middleware on what tools answer, and what plugins say of their commands: a real
// gateway, plugins of the test's own, driven over the socket.
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { mintToken } from '../security/harness.ts';
import { type Conversation, openConversation, told } from '../support/conversation.ts';
import { temporaryHome } from '../support/gateway.ts';
import { writePlugin } from '../support/plugins.ts';
import { connectRaw } from '../support/raw-client.ts';
import { verifies } from '../support/verifies.ts';

const maker = `
  api.registerSessionExtension({ namespace: 'mode', description: 'Which tools there are' });
  const parameters = { type: 'object', properties: { text: { type: 'string' } }, additionalProperties: false };
  const make = (more = {}) => ({ name: 'session_tool', description: 'Of this session', parameters, risk: 'read',
    execute: ({ text }, call) => ({ content: 'made: ' + text + ' in ' + call.sessionKey }), ...more });
  api.registerTool(({ sessionKey, workspaceDir, agentId, getSessionExtension }) => {
    if (sessionKey.endsWith(':without')) return null;
    if (sessionKey.endsWith(':throws')) throw new Error('secret of the factory');
    if (sessionKey.endsWith(':renames')) return make({ name: 'other_tool' });
    if (sessionKey.endsWith(':nonsense')) return make({ parameters: { type: 'string' } });
    const mode = getSessionExtension('mode');
    return make({ description: 'Of ' + agentId + ' in ' + (mode ?? 'no') + ' mode', ...(workspaceDir ? {} : { name: 'nowhere' }) });
  }, { name: 'session_tool', description: 'Depends on the session', risk: 'read' });
  api.registerTool(() => make({ name: 'seldom' }), { name: 'seldom', optional: true });
  api.registerTool(() => make({ name: 'read' }), { name: 'read' });
  api.registerTool(() => null);
  api.registerToolMetadata({ toolName: 'session_tool', displayName: 'Session tool', risk: 'low', tags: ['made'] });
  api.registerTool({ ...make(), name: 'session_tool' });
  api.registerTool({ ...make(), name: 'raw', execute: ({ text }) => {
    if (text === 'fail') throw new Error('it broke: sk-secret');
    return { content: text, isError: text === 'bad' };
  } });
  api.registerSessionAction({ id: 'mode', handler: ({ payload }) => ({ statePatch: { mode: payload } }) });
  api.registerCommand({ name: 'paint', description: 'Paints', aliases: ['colour'],
    agentPromptGuidance: ['A person paints with it; you cannot.'],
    complete: (args, { client }) => {
      if (args.startsWith('fail')) throw new Error('x');
      if (args.startsWith('odd')) return 'red';
      return ['red', { text: 'green', description: 'Like grass' }, client.scopes.length > 0 ? 'grey' : 'none'];
    },
    handler: ({ args }) => ({ text: 'painted ' + args.length }) });
  api.registerCommand({ name: 'locked', description: 'For judges', requiredScopes: ['operator.approvals'],
    complete: () => ['secret-argument'], handler: () => ({ text: '' }) });
`;
const first = `
  api.registerToolResultMiddleware({ id: 'redact', matcher: ['raw', 'exec'], handler: ({ content, isError, toolName, params }, call) => {
    const text = content.map((block) => block.text).join('');
    if (text === 'throw') throw new Error('x');
    if (text === 'nonsense') return { words: text };
    if (text === 'better') return { isError: false, details: { by: 'first' } };
    return { content: text.replace(/sk-[a-z]+/g, '[redacted]') + ' (first)', isError: false };
  } });
  api.registerToolResultMiddleware({ id: 'redact', handler: () => undefined });
  api.registerToolResultMiddleware({ id: 'wrong', matcher: ['bash'], handler: () => undefined });
  api.registerCommand({ name: 'mute', description: 'Guidance without the right', agentPromptGuidance: ['NEVER TOLD'], handler: () => ({ text: '' }) });
  api.on('tool_result_persist', ({ content }) => content.some((block) => block.text.startsWith('Blocked by')) ? { isError: false } : undefined);
`;
const second = `
  api.registerToolResultMiddleware({ id: 'sign', handler: ({ content }) => ({ content: [...content, { type: 'text', text: '(second)' }] }) });
  api.registerTrustedToolPolicy({ id: 'no', description: 'No', matcher: ['raw'],
    evaluate: ({ params }) => params.text === 'blocked' ? { allow: false, reason: 'not that' } : undefined });
`;

const home = temporaryHome();
let world: Conversation;
let count = 0;

before(async () => {
  const place = join(home, 'plugins');
  writePlugin(place, { id: 'maker', grants: ['tools.register', 'commands.register', 'prompt.inject'], register: maker });
  writePlugin(place, {
    id: 'a-first',
    grants: ['tools.results', 'commands.register', 'hooks.intercept:tool_result_persist'],
    register: first,
  });
  writePlugin(place, { id: 'b-second', grants: ['tools.results', 'policy.tools'], register: second });
  const agents = '[[agents]]\nid = "special"\ntools = ["seldom", "raw"]';
  world = await openConversation({ home, plugins: true, model: agents });
  for (const id of ['maker', 'a-first', 'b-second']) assert.equal((await ask('plugins.enable', { id })).plugin.state, 'loaded');
});
after(async () => {
  await world[Symbol.asyncDispose]();
  rmSync(home, { recursive: true, force: true, maxRetries: 10 });
});

const ask: Conversation['ask'] = (method, params) => world.ask(method, params);

async function callTool(name: string, args: object, key = `agent:main:t-${++count}`) {
  world.server.next({ calls: [{ name, arguments: args }] }, { text: 'Done.' });
  const { end } = await world.say('Go', { sessionKey: key });
  assert.equal(end.kind, 'completed', JSON.stringify(end));
  return (await world.results(key)).at(-1)!;
}

const offered = () => (world.server.requests.at(-1)?.body?.tools ?? []).map((tool) => tool.function.name);

test('registrations of factories and middleware are taken or refused with codes', async () => {
  verifies('seams:W19');
  const refusals = async (id: string) =>
    (await ask('plugins.get', { id })).plugin.registrations.flatMap(({ accepted, kind, key, code }: Record<string, string>) =>
      accepted ? [] : [[kind, key, code]],
    );
  assert.deepEqual(await refusals('maker'), [
    ['toolFactory', 'read', 'RESERVED'],
    ['toolFactory', '', 'INVALID'],
    ['tool', 'session_tool', 'DUPLICATE'],
  ]);
  assert.deepEqual(await refusals('a-first'), [
    ['toolResultMiddleware', 'redact', 'DUPLICATE'],
    ['toolResultMiddleware', 'wrong', 'INVALID'],
  ]);
  const { registrations } = (await ask('plugins.get', { id: 'a-first' })).plugin;
  assert.match(registrations.find(({ key }: { key: string }) => key === 'mute').message, /prompt\.inject/);
});

test('a factory makes its tool for each session, from the state of its plugin, and says where there is none', async () => {
  verifies('compat:C12');
  const key = 'agent:main:made';
  const result = await callTool('session_tool', { text: 'x' }, key);
  assert.deepEqual([result.text, result.isError], [`made: x in ${key}\n(second)`, false]);
  await ask('plugins.sessionAction', { pluginId: 'maker', actionId: 'mode', sessionKey: key, payload: 'paint' });
  const tools = async (sessionKey: string) => (await ask('tools.effective', { sessionKey })).tools as Record<string, unknown>[];
  const made = (await tools(key)).find(({ id }) => id === 'session_tool');
  assert.deepEqual(
    [made?.description, made?.label, made?.riskLevel, made?.tags],
    ['Of main in paint mode', 'Session tool', 'low', ['made']],
  );
  for (const name of ['without', 'throws', 'renames', 'nonsense']) {
    const sessionKey = `agent:main:${name}`;
    world.server.next({ text: 'Done.' });
    await world.say('Go', { sessionKey });
    assert.ok(!offered().includes('session_tool') && !offered().includes('other_tool'), name);
    assert.ok(offered().includes('raw'), 'the others are there');
    assert.ok(!(await tools(sessionKey)).some(({ id }) => id === 'session_tool'), name);
  }
  const { counts } = (await ask('plugins.get', { id: 'maker' })).plugin;
  assert.ok(counts.find(({ place }: { place: string }) => place === 'tool_factory').errors >= 3, 'what went wrong is on record');
  const { groups } = await ask('tools.catalog');
  const own = groups.find(({ id }: { id: string }) => id === 'plugin:maker').tools;
  const listed = own.find(({ id }: { id: string }) => id === 'session_tool');
  assert.deepEqual([listed.perSession, listed.description, listed.riskLevel], [true, 'Depends on the session', 'low']);
  assert.equal(own.find(({ id }: { id: string }) => id === 'seldom').optional, true);
  assert.ok(!offered().includes('seldom'), 'an optional tool is for agents that list it');
  world.server.next({ text: 'Done.' });
  await world.say('Go', { sessionKey: 'agent:special:one' });
  assert.deepEqual(offered().sort(), ['raw', 'seldom'], 'and there it is, with nothing that is not listed');
});

test('middleware changes results one after another, fails open, and makes no success of what was refused', async () => {
  verifies('seams:W17');
  assert.equal((await callTool('raw', { text: 'key sk-abc' })).text, 'key [redacted] (first)\n(second)');
  assert.deepEqual((await callTool('raw', { text: 'bad' })).isError, false, 'what the tool itself gave can be changed');
  const failed = await callTool('raw', { text: 'fail' });
  assert.deepEqual([failed.isError, failed.text], [true, 'Plugin maker failed: it broke: [redacted] (first)\n(second)']);
  for (const text of ['throw', 'nonsense']) assert.equal((await callTool('raw', { text })).text, `${text}\n(second)`);
  const blocked = await callTool('raw', { text: 'blocked' });
  assert.deepEqual([blocked.isError, blocked.text], [true, 'Blocked by b-second: not that'], 'nor by a hook on what is kept');
  const metrics = await fetch(`${world.gateway.url}/metrics`, { headers: { authorization: `Bearer ${world.gateway.token}` } });
  assert.match(await metrics.text(), /tenon_plugin_conflicts_total\{place="tool_result",kept="b-second"\} [1-9]/);
});

test('a command tells the agent what it is for, while its plugin may add to what the agent is told', async () => {
  world.server.next({ text: 'Hi.' });
  await world.say('Hello', { sessionKey: `agent:main:g-${++count}` });
  assert.match(told(world.server, 'system').join('\n'), /- \/paint \(maker\): A person paints with it; you cannot\./);
  assert.ok(!told(world.server, 'system').join('\n').includes('NEVER TOLD'));
});

test('commands and their arguments are completed for those who may use them', async () => {
  verifies('seams:A14');
  const sessionKey = `agent:main:c-${++count}`;
  const lines = async (text: string, client = world.admin) =>
    (await client.request('commands.complete', { sessionKey, text })).payload.completions.map((each: { text: string }) => each.text);
  assert.deepEqual(await lines('/pai'), ['/paint ']);
  assert.deepEqual(await lines('/co'), ['/colour ', '/commands ', '/compact ']);
  assert.deepEqual(await lines('/paint g'), ['/paint green', '/paint grey']);
  assert.deepEqual(await lines('/colour re'), ['/colour red']);
  assert.deepEqual(await lines('/think me'), ['/think medium']);
  assert.deepEqual(await lines('/model def'), ['/model default']);
  for (const text of ['/paint fail', '/paint odd', '/nothing x', 'paint', '/locked-x ']) assert.deepEqual(await lines(text), [], text);
  assert.deepEqual(await lines('/locked '), ['/locked secret-argument']);
  const { token } = await mintToken(world.admin, ['operator.write']);
  await using writer = await connectRaw(world.gateway.socketUrl, token);
  assert.deepEqual(await lines('/locked ', writer), []);
  assert.deepEqual(await lines('/loc', writer), []);
});

test('a command that is given too much is refused, not cut', async () => {
  const sessionKey = (await ask('sessions.create', { key: `agent:main:long-${++count}` })).session.key;
  const { error } = await world.admin.request('commands.invoke', { sessionKey, text: `/paint ${'x'.repeat(4_097)}` });
  assert.equal(error?.code, 'TOO_LARGE');
  assert.equal(
    (await ask('commands.invoke', { sessionKey, text: `/paint a\u0007b` })).reply,
    'painted 2',
    'control characters are left out',
  );
});
