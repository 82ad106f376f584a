// The bundled plugin `todo` as people and agents use it: a real gateway, a real turn, commands and the button of its panel.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openWithPlugin, type PluginTalk } from '../../support/bundled-plugin.ts';

let talk: PluginTalk;
let count = 0;

before(async () => {
  talk = await openWithPlugin('todo');
});
after(() => talk[Symbol.asyncDispose]());

const newSession = async (): Promise<string> => (await talk.ask('sessions.create', { key: `agent:main:todo-${++count}` })).session.key;

async function useTool(sessionKey: string, args: object) {
  talk.server.next({ calls: [{ name: 'todo', arguments: args }] }, { text: 'Done.' });
  const { end } = await talk.say('Go', { sessionKey });
  assert.equal(end.kind, 'completed', JSON.stringify(end));
  const { text, isError } = (await talk.results(sessionKey)).at(-1)!;
  return { text, isError };
}

test('the agent, a command and the panel change one list', async () => {
  const key = await newSession();
  assert.equal(await talk.type(key, '/todo'), 'There is nothing to do.');
  assert.deepEqual(await useTool(key, { action: 'add', text: 'Write it' }), { text: '1. [ ] Write it', isError: false });
  assert.equal(await talk.type(key, '/todo add Test it, well'), '1. [ ] Write it\n2. [ ] Test it, well');
  assert.deepEqual(await useTool(key, { action: 'done', id: 1 }), { text: '1. [x] Write it\n2. [ ] Test it, well', isError: false });
  assert.deepEqual(await talk.press(key, 'toggle', { id: 2 }), { ok: true, result: { id: 2, done: true } });
  assert.deepEqual(await talk.press(key, 'toggle', { id: 1 }), { ok: true, result: { id: 1, done: false } });
  assert.deepEqual(await talk.shown(key), [
    { id: 1, text: 'Write it', done: false },
    { id: 2, text: 'Test it, well', done: true },
  ]);
  assert.deepEqual(await useTool(key, { action: 'list' }), { text: '1. [ ] Write it\n2. [x] Test it, well', isError: false });
  assert.equal(await talk.type(key, '/todo remove 1'), '2. [x] Test it, well');
  assert.equal(await talk.type(await newSession(), '/todo list'), 'There is nothing to do.', 'each session has a list of its own');
});

test('the first word in a session may be a command that keeps something', async () => {
  const key = `agent:main:todo-first-${++count}`;
  const sent = await talk.ask('chat.send', { sessionKey: key, message: '/todo add One', idempotencyKey: key });
  assert.equal(sent.reply, '1. [ ] One');
  assert.deepEqual(await talk.shown(key), [{ id: 1, text: 'One', done: false }]);
});

test('what cannot be done is said, and changes nothing', async () => {
  const key = await newSession();
  await talk.type(key, '/todo add One');
  assert.match(await talk.type(key, '/todo done 7'), /nothing with the number "7"/);
  assert.match(await talk.type(key, '/todo done'), /nothing with the number ""/);
  assert.match(await talk.type(key, '/todo add'), /Say what there is to do/);
  assert.match(await talk.type(key, '/todo burn 1'), /There is no "burn"/);
  assert.match(await talk.type(key, `/todo add ${'x'.repeat(501)}`), /501 characters; 500 are possible/);
  assert.deepEqual(await useTool(key, { action: 'add' }), { text: '"add" needs text', isError: true });
  assert.equal((await useTool(key, { action: 'remove', id: 9 })).isError, true);
  assert.deepEqual(await talk.press(key, 'toggle', { id: 9 }), {
    ok: false,
    error: 'There is nothing with the number "9" in the list',
    code: 'NOT_CHANGED',
  });
  const wrong = await talk.refused('plugins.sessionAction', { pluginId: 'todo', actionId: 'toggle', sessionKey: key, payload: {} });
  assert.equal(wrong.details?.code, 'INVALID_PAYLOAD');
  assert.deepEqual(await talk.shown(key), [{ id: 1, text: 'One', done: false }]);
});

test('changes at the same time all count, up to the bound of the list', async () => {
  const key = await newSession();
  const replies = await Promise.all(Array.from({ length: 102 }, (_, index) => talk.type(key, `/todo add number ${index}`)));
  assert.equal(replies.filter((reply) => reply.includes('100 things already')).length, 2);
  const items = await talk.shown(key);
  assert.equal(items.length, 100);
  assert.equal(new Set(items.map(({ id }: { id: number }) => id)).size, 100);
});

test('a press of the panel loses nothing that somebody else adds meanwhile', async () => {
  const key = await newSession();
  await talk.type(key, '/todo add first');
  const adds = Array.from({ length: 30 }, (_, index) => talk.type(key, `/todo add more ${index}`));
  const presses = Array.from({ length: 30 }, () => talk.press(key, 'toggle', { id: 1 }));
  await Promise.all([...adds, ...presses]);
  const items = await talk.shown(key);
  assert.equal(items.length, 31);
  assert.equal(items[0].done, false, 'an even number of presses');
});

test('the panel is described for the page', async () => {
  const { descriptors } = await talk.ask('plugins.uiDescriptors');
  const [{ view, actions }] = descriptors;
  assert.deepEqual([view[0].itemAction.actionId, view[0].itemAction.fields], ['toggle', ['id']]);
  assert.deepEqual([actions[0].actionId, actions[0].schema.required], ['add', ['text']]);
  assert.deepEqual(
    descriptors.map(({ pluginId, id, surface }: Record<string, unknown>) => [pluginId, id, surface]),
    [['todo', 'list', 'session']],
  );
});
