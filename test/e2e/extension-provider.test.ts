// An extension as a provider of models, in whole turns: a real gateway, and real processes of extensions on the other side.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { scaffold } from '../../packages/create-tenon-extension/src/scaffold.ts';
import { removeFolder } from '../support/clean-up.ts';
import { call, type Conversation, openConversation } from '../support/conversation.ts';
import { notedBy, putExtension, until } from '../support/extension-home.ts';
import { temporaryHome } from '../support/gateway.ts';
import { verifies } from '../support/verifies.ts';

const MODEL = 'lines/one';
let talk: Conversation;
let sessions = 0;

before(async () => {
  const home = temporaryHome();
  putExtension(home, 'lines', { fixture: 'provider.mjs', capabilities: 'providers = true' });
  putExtension(home, 'plain', { fixture: 'provider.mjs', capabilities: 'tools = true' });
  for (const [name, template] of [
    ['echo', 'provider'],
    ['shouter', 'provider-less'],
  ] as const)
    scaffold({ name, template, into: join(home, 'extensions') });
  talk = await openConversation({ home, config: 'model.fallbacks = ["local"]\nmodel.attempts = 2\n' });
  const { plugin } = await talk.ask('plugins.enable', { id: 'lines' });
  assert.equal(plugin.state, 'loaded', plugin.reason);
});
after(async () => {
  await talk[Symbol.asyncDispose]();
  removeFolder(talk.gateway.home);
});

const freshSession = () => `agent:main:model-${++sessions}`;
const noted = () => notedBy(talk.gateway.home);
const say = (message: string, sessionKey = freshSession(), model = MODEL) => talk.say(message, { sessionKey, model });

async function faults(kind: string): Promise<number> {
  const text = await (await fetch(`${talk.gateway.url}/metrics`, { headers: { authorization: `Bearer ${talk.gateway.token}` } })).text();
  const line = text.split('\n').find((each) => each.startsWith('tenon_extension_faults_total') && each.includes(`kind="${kind}"`));
  return Number(line?.split(' ').at(-1) ?? 0);
}

test('its models stand beside those of the settings, under its own name; what has no models, or no right, is refused and shown', async () => {
  verifies('sep:provider');
  const { models } = await talk.ask('models.list');
  const own = models.filter(({ provider }: { provider: string }) => provider.startsWith('lines'));
  assert.deepEqual(
    own.map(({ id, name, usable }: { id: string; name: string; usable: boolean }) => [id, name, usable]),
    [
      ['lines/one', 'Line one', true],
      ['lines.second/deep/two', 'lines.second/deep/two', true],
    ],
  );
  const { plugin } = await talk.ask('plugins.get', { id: 'lines' });
  const refused = plugin.registrations.filter(({ accepted }: { accepted: boolean }) => !accepted);
  assert.deepEqual(
    refused.map(({ kind, key, code }: Record<string, string>) => [kind, key, code]),
    [['modelProvider', 'empty', 'INVALID']],
  );
  const { plugin: plain } = await talk.ask('plugins.enable', { id: 'plain' });
  assert.deepEqual([...new Set(plain.registrations.map(({ code }: Record<string, string>) => code))], ['NOT_DECLARED']);
  await talk.ask('plugins.disable', { id: 'plain' });
  assert.equal((await say('hello', freshSession(), 'lines.second/deep/two')).text, 'second deep/two heard hello');
  assert.equal((await talk.ask('models.probe', { id: MODEL })).ok, true);
});

test('G18: an answer in pieces, whole, or both is shown once, with thoughts and usage', async () => {
  verifies('sep:provider', 'sep:G18', 'sep:order');
  const sessionKey = freshSession();
  const { text, run } = await say('stream', sessionKey);
  assert.equal(text, 'Hello');
  const { total } = await talk.ask('usage.get', { runId: run.runId });
  assert.deepEqual([total.input, total.output, total.cacheRead], [5, 2, 4]);
  assert.equal((await say('whole', sessionKey)).text, 'All at once');
  assert.equal((await say('think', sessionKey)).text, 'Seen');
  const thoughts = (await talk.history(sessionKey)).flatMap((entry) =>
    entry.type === 'message' && entry.message.role === 'assistant'
      ? entry.message.content.flatMap((block) => (block.type === 'thinking' ? [block.thinking] : []))
      : [],
  );
  assert.deepEqual(thoughts, ['Hm', 'Let me see']);
  const asks = () => noted().flatMap(({ asked }) => (asked === undefined ? [] : [asked as Record<string, unknown>]));
  await until(() => asks().length > 0);
  const asked = asks().at(-1)!;
  assert.deepEqual([asked.provider, asked.model, asked.stream, asked.context], ['lines', 'one', true, 'command']);
});

test('a turn with tools: calls in pieces and calls in the result run once each, and the model is told what came of them', async () => {
  verifies('sep:provider', 'sep:G18');
  for (const word of ['list', 'list-at-end']) {
    const sessionKey = freshSession();
    const { end, text } = await say(word, sessionKey);
    assert.equal(end.kind, 'completed', JSON.stringify(end));
    assert.match(text ?? '', /^It lists: /);
    assert.equal((await talk.results(sessionKey)).length, 1);
  }
});

test('a failure that passes is tried again, one that does not goes to the next model', async () => {
  verifies('sep:provider', 'sep:errors');
  const sessionKey = freshSession();
  assert.equal((await say('limited', sessionKey)).text, 'Not yet, but now');
  talk.server.next({ text: 'From the other one' });
  assert.equal((await say('refuse')).text, 'From the other one');
});

test('a stop reaches the extension, and what it had said so far is kept', async () => {
  verifies('sep:provider', 'sep:cancel');
  const sessionKey = freshSession();
  const runId = await talk.send('hang', { sessionKey, model: MODEL });
  await talk.admin.find(({ event, payload }) => event === 'agent' && payload.runId === runId && payload.stream === 'assistant');
  await talk.ask('chat.abort', { sessionKey });
  assert.equal((await talk.ended(runId)).end.kind, 'aborted');
  await until(() => noted().some((each) => 'cancelled' in each));
  const last = (await talk.history(sessionKey)).at(-1);
  assert.ok(last?.type === 'message' && last.message.role === 'assistant');
  assert.deepEqual(last.message.content, [{ type: 'text', text: 'I am still' }]);
});

test('an answer without bounds is given up; deltas that are none, or come too late, are dropped and counted', async () => {
  verifies('sep:provider', 'sep:G12');
  talk.server.next({ text: 'Short' });
  assert.equal((await say('flood')).text, 'Short');
  const before = { late: await faults('late-delta'), unreadable: await faults('unreadable-delta') };
  assert.equal((await say('late')).text, 'In time');
  assert.equal((await say('afterwards')).text, 'Fine');
  await until(async () => (await faults('late-delta')) >= before.late + 2);
  assert.equal(await faults('unreadable-delta'), before.unreadable + 2);
});

test('an extension that dies in the middle of an answer costs the turn nothing but that model', async () => {
  verifies('sep:provider', 'sep:G2');
  talk.server.next({ text: 'I am here' });
  const { end, text } = await say('crash');
  assert.deepEqual([end.kind, text], ['completed', 'I am here']);
  await until(async () => (await talk.ask('plugins.get', { id: 'lines' })).plugin.process.state === 'ready');
  assert.equal((await say('stream')).text, 'Hello');
});

test('the operator signs in through the gateway; what that gave is kept, told to nobody, and renewed for each new process', async () => {
  verifies('sep:oauth');
  assert.equal((await talk.refused('models.signIn', { provider: 'line' })).code, 'NOT_FOUND');
  assert.equal((await talk.refused('models.signIn', { provider: 'lines.second' })).code, 'INVALID_REQUEST');
  const signedIn = await talk.ask('models.signIn', { provider: 'lines' });
  assert.deepEqual(signedIn, { provider: 'lines', renewable: true, expiresAt: 4_000_000_000_000 });
  const folder = join(talk.gateway.home, 'secrets');
  const [file = ''] = readdirSync(folder);
  assert.match(readFileSync(join(folder, file), 'utf8'), /canary-refresh-1/);
  assert.equal(statSync(join(folder, file)).mode & 0o077, 0);
  await say('stream');
  assert.ok(!noted().some((each) => 'refreshed' in each), 'the process that signed in knows it');

  await talk.ask('plugins.reload', { id: 'lines' });
  assert.equal((await say('stream')).text, 'Hello');
  await until(() => noted().some(({ refreshed }) => refreshed === 'lines'));
  assert.match(readFileSync(join(folder, file), 'utf8'), /canary-refresh-2/);
  const { records } = await talk.ask('audit.list', { limit: 50 });
  const noticed = records.filter(({ target }: { target: string }) => target === 'lines').map(({ action }: { action: string }) => action);
  assert.deepEqual(noticed.filter((action: string) => action.startsWith('models.')).sort(), ['models.renew', 'models.signIn']);
  const log = readFileSync(join(talk.gateway.home, 'logs', 'gateway.log'), 'utf8');
  assert.ok(!/canary-(access|next|refresh-2)/.test(log + JSON.stringify(records)));
  assert.deepEqual(await talk.ask('models.signOut', { provider: 'lines' }), { provider: 'lines', signedOut: true });
  assert.deepEqual(readdirSync(folder), []);
});

test('without the right its models are gone at once', async () => {
  verifies('sep:G26');
  await talk.ask('plugins.revoke', { id: 'lines', grants: ['models.serve'] });
  const ids = (await talk.ask('models.list')).models.map(({ id }: { id: string }) => id);
  assert.ok(!ids.some((id: string) => id.startsWith('lines')), ids.join());
  await talk.ask('plugins.grant', { id: 'lines', grants: ['models.serve'] });
  await until(async () => (await talk.ask('models.list')).models.some(({ id }: { id: string }) => id === MODEL));
});

test('what is scaffolded as a provider answers a turn, and what is scaffolded without one is used by a model', async () => {
  verifies('sep:G39', 'sep:provider');
  for (const id of ['echo', 'shouter']) {
    const { plugin } = await talk.ask('plugins.enable', { id });
    assert.equal(plugin.state, 'loaded', plugin.reason);
  }
  assert.equal((await say('good morning', freshSession(), 'echo/echo-1')).text, 'You said: good morning');
  talk.server.next(call('shouter__shout', { text: 'hello' }), { text: 'Loud.' });
  const sessionKey = freshSession();
  const runId = await talk.send('shout', { sessionKey, model: 'local' });
  await talk.answer(await talk.question(runId), 'allow-once');
  assert.equal((await talk.ended(runId)).text, 'Loud.');
  assert.equal((await talk.results(sessionKey))[0]?.text, 'HELLO!');
});
