// An extension in another language has every seam that plugins have: the reference in Python, as it is, under a real gateway, and
// beside it the one in JavaScript. One gateway for all of it; each test takes what the ones before have left.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { call, type Conversation, openConversation, SESSION, told } from '../support/conversation.ts';
import { temporaryHome } from '../support/gateway.ts';
import type { Frame } from '../support/raw-client.ts';
import { verifies } from '../support/verifies.ts';
import { until } from '../support/written-extension.ts';

const hasPython = spawnSync('python3', ['--version']).status === 0;
const reference = (language: string) => join(import.meta.dirname, '../../spec/sep/reference', language);
const PY = 'reference-py';
// What a payload has is looked into; each test says what it must be.
type Json = Frame['payload'];

function copyReference(home: string, language: string): void {
  const folder = join(home, 'extensions', language);
  mkdirSync(folder, { recursive: true });
  for (const path of [join(home, 'extensions'), folder]) chmodSync(path, 0o755);
  for (const file of readdirSync(reference(language)).filter((each) => /\.(py|mjs|toml)$/.test(each))) {
    cpSync(join(reference(language), file), join(folder, file));
    chmodSync(join(folder, file), 0o644);
  }
}

describe('the reference in Python under a real gateway', { skip: !hasPython && 'there is no python3 on this machine' }, () => {
  let talk: Conversation;

  before(async () => {
    const home = temporaryHome();
    for (const language of ['javascript', 'python']) copyReference(home, language);
    talk = await openConversation({ home });
  });
  after(() => talk?.[Symbol.asyncDispose]());

  let presses = 0;
  const press = (actionId: string, payload?: object) =>
    talk.ask('plugins.sessionAction', {
      ...{ pluginId: PY, actionId, sessionKey: SESSION, idempotencyKey: `press-${++presses}` },
      ...(payload ? { payload } : {}),
    });
  const typed = (text: string) => talk.ask('commands.invoke', { sessionKey: SESSION, text });
  const heard = (event: string, fits: (payload: Json) => boolean) =>
    talk.admin.find((frame) => frame.event === event && fits(frame.payload as Json));

  test('both references are enabled side by side, and everything that they register is taken', async () => {
    verifies('sep:seams', 'sep:references', 'sep:registrations');
    for (const id of ['reference-js', PY]) {
      const { plugin } = await talk.ask('plugins.enable', { id });
      assert.deepEqual([plugin.state, plugin.process.state], ['loaded', 'ready'], JSON.stringify(plugin));
      assert.deepEqual(
        plugin.registrations.filter(({ accepted }: { accepted: boolean }) => !accepted),
        [],
      );
    }
    await talk.ask('sessions.create', { key: SESSION });
    assert.deepEqual([(await typed('/js-echo hi')).reply, (await typed('/py-echo hi there')).reply], ['hi', 'hi there']);
  });

  test('an action that is pressed keeps state in the session, which others see as it says, and hear of', async () => {
    verifies('sep:seams');
    assert.deepEqual((await press('add', { by: 2 })).result, { n: 2 });
    assert.deepEqual((await press('add', { by: 3 })).result, { n: 5 });
    await heard(`plugin.${PY}.score`, ({ data }) => data.n === 5);
    const { sessions } = await talk.ask('sessions.list', {});
    assert.deepEqual(sessions[0].pluginExtensions, [{ pluginId: PY, namespace: 'score', value: { n: 5 } }]);
  });

  test('what an action wants told is seen by the model in the next turn, once; what it removed is begun anew', async () => {
    verifies('sep:seams');
    talk.server.next({ text: 'Noted.' }, { text: 'Hello.' });
    await press('reset');
    await talk.server.arrived(1);
    await isIdle();
    await talk.say('hello');
    const times = talk.server.requests.map(({ text }) => text.includes('The score was reset.'));
    assert.deepEqual(times, [true, false]);
    assert.deepEqual((await press('add', { by: 1 })).result, { n: 1 });
    assert.deepEqual(await talk.ask(`plugin.${PY}.scores`, {}), { [SESSION]: 1 });
  });

  test('a turn that would end is sent back, once', async () => {
    verifies('sep:seams', 'sep:hooks');
    talk.server.next({ text: 'It may rain.' }, { text: 'It rains.' });
    assert.equal((await talk.say('the weather?')).text, 'It rains.');
    assert.match(told(talk.server, 'user').join('\n'), /Say it for sure\./);
  });

  test('a policy denies what it must, and asks about what it may', async () => {
    verifies('sep:seams');
    writeFileSync(join(talk.workspace(), '.env'), 'KEY=1');
    talk.server.next(call('read', { path: '.env' }), { text: 'I was not let.' });
    assert.equal((await talk.say('the key?')).text, 'I was not let.');
    assert.match((await talk.results()).at(-1)?.text ?? '', /\.env files are secret/);
    talk.server.next(call('exec', { command: 'git push' }), { text: 'Not pushed.' });
    const runId = await talk.send('push it');
    const question = await talk.question(runId);
    assert.equal(question.title, 'Push?');
    await talk.answer(question, 'deny');
    assert.equal((await talk.ended(runId)).text, 'Not pushed.');
  });

  test('a command tells, goes on, schedules, sends, changes what it sent, asks and calls for people', async () => {
    verifies('sep:seams', 'sep:kv');
    talk.server.next({ text: 'Hello to you.' });
    const reply = typed('/py-seams');
    const { approval } = (await heard('approval.requested', (payload) => payload.approval.title === 'Go on?')).payload;
    await talk.answer(approval, 'allow-once');
    assert.equal((await reply).reply, 'allow-once by person; 1 session; first time');
    await until(() => talk.server.requests.at(-1)?.text.includes('The reference says hello.') === true);
    await isIdle();
    assert.deepEqual((await talk.ask('cron.list', {})).jobs, []);
    assert.deepEqual((await talk.ask('actions.pending', {})).actions, []);
  });

  test('what it has sent is delivered and changed, and a button of it comes back to it', async () => {
    verifies('sep:seams');
    const { deliveries } = await talk.ask('deliveries.list', { sessionKey: SESSION });
    const [{ id, entryId, state, edits }] = deliveries;
    assert.deepEqual([deliveries.length, state, edits.state], [1, 'sent', 'done']);
    assert.ok(JSON.stringify(await talk.history()).includes('A greeting, again.'));
    const pressed = await talk.ask('deliveries.press', { sessionKey: SESSION, entryId, buttonId: 'add', idempotencyKey: id });
    assert.equal(pressed.text, 'The score is 2.');
  });

  test('a turn that it has scheduled comes to it when it is due, and to the agent where it leaves it', async () => {
    verifies('sep:seams', 'sep:events');
    const before = talk.server.requests.length;
    assert.equal((await typed('/py-later Look again.')).reply, 'later: Look again.');
    await until(async () => JSON.stringify(await talk.history()).includes('Looked, and all is well.'));
    await heard('agent', ({ stream, name }) => stream === 'plugin' && name === `${PY}.look`);
    assert.equal(talk.server.requests.length, before, 'no model was asked');
    talk.server.next({ text: 'Roses are red.' });
    await typed('/py-later Write a poem.');
    await until(async () => JSON.stringify(await talk.history()).includes('Roses are red.'));
    await until(() => logged('a job was finished'));
  });

  test('a control of it is listed, and a change of a session asks it', async () => {
    verifies('sep:seams');
    const { descriptors } = await talk.ask('plugins.uiDescriptors', {});
    assert.deepEqual(
      descriptors.map(({ pluginId, id, actions }: Json) => [pluginId, id, actions[0].actionId]),
      [[PY, 'score', 'reset']],
    );
    const { session } = await talk.ask('sessions.patch', {
      ...{ key: SESSION, title: 'quiet' },
      extension: { plugin: PY, action: 'shout' },
    });
    assert.equal(session.title, 'QUIET');
  });

  test('what it runs elsewhere for a session ends with the session', async () => {
    verifies('sep:seams');
    const key = 'agent:main:main';
    await talk.ask('sessions.create', { key });
    await talk.ask('sessions.delete', { key });
    await until(() => logged('watch ends: delete'));
  });

  test('what the operator takes back is refused by its name, and the rest goes on', async () => {
    verifies('sep:seams', 'sep:errors');
    await talk.ask('plugins.revoke', { id: PY, grants: ['prompt.inject'] });
    await until(async () => (await talk.ask('plugins.get', { id: PY })).plugin.state === 'loaded');
    assert.equal((await typed('/py-seams')).reply, "failed: capability 'injections' is disabled");
    assert.deepEqual((await press('add', { by: 1 })).result, { n: 3 });
  });

  async function isIdle(): Promise<void> {
    await until(async () => (await talk.ask('sessions.get', { key: SESSION })).session.status === 'idle');
  }

  async function logged(message: string): Promise<boolean> {
    const { records = [], lines = [] } = await talk.ask('logs.tail', { limit: 500 });
    return JSON.stringify([records, lines]).includes(message);
  }
});
