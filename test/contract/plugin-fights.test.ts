// Two plugins that want the same thing: a tool call, a field, a command, a name, a slot, a route. The tables say who has it, and
// whoever looks can see that they fought: in the registrations, the trace, the log and the metrics.
import assert from 'node:assert/strict';
import { appendFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type Conversation, openConversation } from '../support/conversation.ts';
import { temporaryHome } from '../support/gateway.ts';
import { writePlugin } from '../support/plugins.ts';
import { verifies } from '../support/verifies.ts';

const home = temporaryHome();
const place = join(home, 'plugins');
let world: Conversation;
let count = 0;

/** Both are the same plugin, but for what each says and how early it is asked. */
const fighter = (priority: number) => `
  const { id } = api;
  const seen = { policies: [], gates: [], results: [] };
  api.registerTool({ name: 'ring', description: 'The ring of ' + id, risk: 'read',
    parameters: { type: 'object', properties: { text: { type: 'string' } }, additionalProperties: false },
    execute: ({ text }) => ({ content: id + ' rings ' + text }) });
  api.registerTool({ name: id === 'blue' ? 'Ring2' : 'ring2', description: 'x', risk: 'read', parameters: { type: 'object' }, execute: () => ({ content: '' }) });
  api.registerToolMetadata({ toolName: 'ring', displayName: 'Of ' + id });
  api.registerCommand({ name: 'fight', description: 'Of ' + id, handler: () => ({ text: id + ' fights' }) });
  api.registerCommand({ name: id + '-duel', aliases: ['duel'], description: 'x', handler: () => ({ text: id + ' duels' }) });
  api.registerSessionExtension({ namespace: 'corner', description: 'x', sessionEntrySlotKey: 'corner', project: () => id });
  api.registerSessionAction({ id: 'hit', handler: () => ({ result: id }) });
  api.registerControlUiDescriptor({ id: 'panel', label: id, surface: 'session' });
  api.registerHttpRoute({ path: '/round', auth: 'plugin', handler: () => ({ status: 200, headers: { 'content-type': 'text/plain' }, body: id }) });
  api.registerGatewayMethod({ name: 'seen', scope: 'operator.read', handler: () => JSON.parse(JSON.stringify(seen)) });
  api.registerTrustedToolPolicy({ id: 'referee', description: 'x', matcher: ['ring'], evaluate: ({ params }) => {
    seen.policies.push(params.text);
    if (params.text === 'rewrite') return { params: { text: 'policy of ' + id } };
    if (params.text === 'ask') return { requireApproval: { title: id + ' asks', description: 'x' } };
    if (params.text === 'ask or block') return id === 'blue' ? { requireApproval: { title: 'x', description: 'x' } } : { allow: false, reason: 'red says no' };
    return undefined;
  } });
  api.on('before_tool_call', ({ toolName, params, approval }) => {
    if (toolName !== 'ring') return undefined;
    seen.gates.push([params.text, approval?.plugin ?? null]);
    if (params.text.startsWith('both')) return { params: { text: 'both ' + id } };
    if (params.text === 'block') return id === 'red' ? { block: true, blockReason: 'red blocks' } : { block: false, params: { text: 'block' } };
    return undefined;
  }, { priority: ${priority} });
  api.on('tool_result_persist', ({ toolName, content }) => {
    const text = content.map((block) => block.text).join('');
    return toolName === 'ring' && (text.includes('both') || text.startsWith('kept')) ? { content: [{ type: 'text', text: 'kept by ' + id }] } : undefined;
  });
  api.on('before_prompt_build', () => ({ systemPrompt: 'You belong to ' + id + '.', appendSystemContext: 'Also ' + id + '.' }));
`;
const grants = [
  ...[
    'tools.register',
    'commands.register',
    'policy.tools',
    'ui.descriptors',
    'http.routes',
    'gateway.methods',
    'prompt.inject',
    'approvals.request',
  ],
  ...[
    'conversation.read',
    'hooks.intercept:before_tool_call',
    'hooks.intercept:tool_result_persist',
    'hooks.intercept:before_prompt_build',
  ],
];

before(async () => {
  writePlugin(place, { id: 'blue', grants, register: fighter(0) });
  writePlugin(place, { id: 'red', grants, register: fighter(0) });
  world = await openConversation({ home, plugins: true });
  for (const id of ['blue', 'red']) assert.equal((await ask('plugins.enable', { id })).plugin.state, 'loaded');
});
after(async () => {
  await world[Symbol.asyncDispose]();
  rmSync(home, { recursive: true, force: true, maxRetries: 10 });
});

const ask: Conversation['ask'] = (method, params) => world.ask(method, params);

async function ring(text: string, sessionKey = `agent:main:fight-${++count}`) {
  world.server.next({ calls: [{ name: 'ring', arguments: { text } }] }, { text: 'Done.' });
  await world.say('Go', { sessionKey });
  return (await world.results(sessionKey)).at(-1)!;
}

test('names that all plugins share belong to the first; the other is refused with a code, and so is the metadata for them', async () => {
  verifies('seams:W19', 'seams:A7', 'seams:A13');
  const refusals = async (id: string) =>
    (await ask('plugins.get', { id })).plugin.registrations.flatMap(({ accepted, kind, key, code }: Record<string, string>) =>
      accepted ? [] : [[kind, key, code]],
    );
  assert.deepEqual(await refusals('blue'), []);
  assert.deepEqual(await refusals('red'), [
    ['tool', 'ring', 'TAKEN'],
    ['tool', 'ring2', 'TAKEN'],
    ['command', 'fight', 'TAKEN'],
    ['command', 'red-duel', 'TAKEN'],
    ['sessionExtension', 'corner', 'TAKEN'],
    ['toolMetadata', 'ring', 'NOT_OWN'],
  ]);
  const { registrations } = (await ask('plugins.get', { id: 'red' })).plugin;
  const taken = registrations.filter(({ code }: { code?: string }) => code === 'TAKEN');
  for (const { message } of taken) assert.match(message, /belongs to plugin blue/);
  assert.equal((await ring('x')).text, 'blue rings x');
  const sessionKey = (await ask('sessions.create', { key: `agent:main:fight-${++count}` })).session.key;
  for (const text of ['/fight', '/duel'])
    assert.match((await ask('commands.invoke', { sessionKey, text })).reply, /^blue /, 'also by an alias');
  const { findings } = await ask('doctor.run', {});
  assert.ok(
    findings.some(({ message }: { message: string }) => /Plugin red: .*fight/.test(message)),
    'the doctor says so too',
  );
});

test('names inside of a plugin are its own: routes, methods, actions, descriptors, policies of the same name live side by side', async () => {
  const sessionKey = (await ask('sessions.create', { key: `agent:main:fight-${++count}` })).session.key;
  for (const id of ['blue', 'red']) {
    const page = await fetch(`${world.gateway.url}/plugins/${id}/round`);
    assert.equal(await page.text(), id);
    assert.equal((await ask('plugins.sessionAction', { pluginId: id, actionId: 'hit', sessionKey })).result, id);
    assert.ok(Array.isArray((await ask(`plugin.${id}.seen`)).policies));
  }
  const { descriptors } = await ask('plugins.uiDescriptors');
  assert.deepEqual(
    descriptors.map(({ pluginId, id }: Record<string, string>) => [pluginId, id]),
    [
      ['blue', 'panel'],
      ['red', 'panel'],
    ],
  );
});

test('over one tool call: a block beats a wish to ask, whoever came first; the first wish names its plugin', async () => {
  assert.equal((await ring('ask or block')).text, 'Blocked by red: red says no');
  assert.equal((await ring('block')).text, 'Blocked by red: red blocks', '`block: false` lifts nothing');
  const sessionKey = `agent:main:fight-${++count}`;
  world.server.next({ calls: [{ name: 'ring', arguments: { text: 'ask' } }] }, { text: 'Done.' });
  const runId = await world.send('Go', { sessionKey });
  const approval = await world.question(runId);
  assert.deepEqual([approval.title, approval.reason], ['blue asks', 'blue: x']);
  await world.answer(approval, 'allow-once');
  await world.ended(runId);
  assert.equal((await world.results(sessionKey)).at(-1)?.text, 'blue rings ask');
  assert.deepEqual((await ask('plugin.red.seen')).gates.at(-1), ['ask', 'blue'], 'and later ones see whose wish it is');
});

test('over one field: who wins is the rule of the hook, and that they fought is in the trace, the log and the metrics', async () => {
  verifies('seams:W17');
  const sessionKey = (await ask('sessions.create', { key: `agent:main:fight-${++count}` })).session.key;
  await ask('hooks.trace.record', { sessionKey, turns: 1 });
  const { text } = await ring('both', sessionKey);
  assert.equal(text, 'kept by red', 'lastWins');
  const { records } = await ask('hooks.trace', { sessionKey });
  const reasonAt = (at: string, plugin: string) =>
    records.find((record: { place: string; plugin: string }) => record.place === at && record.plugin === plugin)?.reason;
  assert.equal(reasonAt('before_tool_call', 'red'), 'blue had set params and red wanted it otherwise; that of red stands');
  assert.equal(reasonAt('tool_result_persist', 'red'), 'blue had set content and red wanted it otherwise; that of red stands');
  assert.equal(reasonAt('before_prompt_build', 'red'), 'blue had set systemPrompt and red wanted it otherwise; that of blue stands');
  assert.equal(reasonAt('before_tool_call', 'blue'), undefined);
  const metrics = await (
    await fetch(`${world.gateway.url}/metrics`, { headers: { authorization: `Bearer ${world.gateway.token}` } })
  ).text();
  for (const [at, kept] of [
    ['before_tool_call', 'red'],
    ['tool_result_persist', 'red'],
    ['before_prompt_build', 'blue'],
  ])
    assert.match(metrics, new RegExp(`tenon_plugin_conflicts_total\\{place="${at}",kept="${kept}"\\} [1-9]`));
  const system = JSON.stringify(world.server.requests.at(-1)?.body?.messages[0]);
  assert.ok(system.includes('You belong to blue.') && !system.includes('You belong to red.'), 'the first system prompt stands');
  assert.ok(system.includes('Also blue.') && system.includes('Also red.'), 'what is joined is no fight');
  const log = JSON.stringify(await ask('logs.tail'));
  assert.match(log, /two plugins change the same field; that of red stands/);
});

test('policies rewrite in the order of their plugins, each on what the one before it left', async () => {
  assert.equal((await ring('rewrite')).text, 'blue rings policy of blue');
  assert.equal((await ask('plugin.red.seen')).policies.at(-1), 'policy of blue');
});

test('a tool whose text has changed is off until its plugin is trusted anew, and the other one gets nothing by it', async () => {
  verifies('S58', 'S49');
  appendFileSync(join(place, 'blue', 'index.js'), '\n// The ring tells everything to somebody else now.\n');
  await ask('plugins.reload', { id: 'blue' });
  assert.equal((await ask('plugins.get', { id: 'blue' })).plugin.state, 'changed');
  assert.match((await ring('x')).text, /There is no tool "ring"/);
  await ask('plugins.enable', { id: 'blue' });
  assert.equal((await ring('x')).text, 'blue rings x');
});
