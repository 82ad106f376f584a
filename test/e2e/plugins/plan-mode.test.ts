// The bundled plugin `plan-mode`, whole: the agent plans behind a lock, proposes and waits; a person decides in every way that
// there is, before and after the gateway is killed; and the agent goes on with what was decided.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { openWithPlugin, type PluginTalk } from '../../support/bundled-plugin.ts';
import { cleanEnv, temporaryHome, tenonBin } from '../../support/gateway.ts';
import { startModelServer } from '../../support/model-server.ts';
import { verifies } from '../../support/verifies.ts';

let talk: PluginTalk;
let count = 0;

before(async () => {
  talk = await openWithPlugin('plan-mode');
});
after(() => talk[Symbol.asyncDispose]());

const PLAN = '1. Write out.md\n2. Be done';

async function newSession(world = talk): Promise<string> {
  const { session } = await world.ask('sessions.create', { key: `agent:main:plan-${++count}`, permissions: 'bypass' });
  return session.key;
}

/** One call of a tool in a turn of its own; its result. */
async function use(sessionKey: string, name: string, args: object, world = talk, more: object = {}) {
  world.server.next({ calls: [{ name, arguments: args }] }, { text: 'Done.' });
  const { end } = await world.say('Go', { sessionKey, ...more });
  assert.equal(end.kind, 'completed', JSON.stringify(end));
  const { text, isError } = (await world.results(sessionKey)).at(-1)!;
  return { text, isError };
}

async function waitingSession(more: object = {}, world = talk): Promise<string> {
  const key = await newSession(world);
  await world.type(key, '/plan on');
  const { isError } = await use(key, 'propose_plan', { plan: PLAN, ...more }, world);
  assert.equal(isError, false);
  assert.equal((await world.shown(key)).mode, 'waiting');
  return key;
}

/** People who must speak while a plan waits say so. */
const override = { override: true };

/** What the model was sent last. */
const told = (world = talk) => JSON.stringify(world.server.requests.at(-1)?.body?.messages);

const write = (path: string) => ({ calls: [{ name: 'write', arguments: { path, content: 'written' } }] });

/** A command of the command line, on the gateway of these tests. */
function runTenon(...words: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const args = [tenonBin, ...words, '--home', talk.gateway.home];
  return new Promise((resolve) => {
    execFile(process.execPath, args, { env: cleanEnv(), encoding: 'utf8' }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    );
  });
}

describe('while the agent plans', () => {
  test('only reading is possible, the agent is told so, and the mode is seen', async () => {
    const key = await newSession();
    assert.equal(await talk.type(key, '/plan'), 'Plan mode is off.');
    assert.match(await talk.type(key, '/plan on'), /Plan mode is on/);
    assert.equal((await talk.shown(key)).mode, 'planning');
    writeFileSync(join(talk.workspace(), 'in.md'), 'what is there');
    assert.match((await use(key, 'read', { path: 'in.md' })).text, /what is there/);
    assert.match(told(), /Plan mode is on\. Look around/);
    for (const [name, args] of [
      ['write', { path: 'locked.md', content: 'x' }],
      ['exec', { command: 'touch locked.md' }],
      ['web_fetch', { url: 'https://example.com/' }],
    ] as const) {
      const { text, isError } = await use(key, name, args);
      assert.deepEqual(
        [isError, text.startsWith('Blocked by plan-mode: Plan mode is on, and only reading is possible')],
        [true, true],
        text,
      );
    }
    assert.ok(!existsSync(join(talk.workspace(), 'locked.md')));
    assert.equal((await talk.press(key, 'toggle')).ok, true);
    assert.equal((await talk.shown(key)).mode, 'off');
    assert.equal((await use(key, 'write', { path: 'free.md', content: 'x' })).isError, false);
    assert.match(told(), /Plan mode is off: no plan is needed/);
  });

  test('turning it on wakes nobody, and another session stays as it was', async () => {
    const key = await newSession();
    const asked = talk.server.requests.length;
    const sent = await talk.ask('chat.send', { sessionKey: key, message: '/plan on', idempotencyKey: `on-${++count}` });
    assert.equal(sent.status, 'handled');
    assert.match(await talk.type(key, '/plan on'), /Plan mode is on/, 'twice is once');
    assert.equal((await use(await newSession(), 'write', { path: 'other.md', content: 'x' })).isError, false);
    assert.equal(talk.server.requests.length, asked + 2);
  });

  test('a plan is proposed only then', async () => {
    const key = await newSession();
    assert.deepEqual(await use(key, 'propose_plan', { plan: PLAN }), {
      text: 'Plan mode is off: there is nothing to propose, go ahead',
      isError: true,
    });
    assert.equal(await talk.shown(key), undefined);
  });
});

describe('a plan that waits', () => {
  test('is shown with its question, closes the composer, and asks for a person', async () => {
    verifies('compat:C8');
    const key = await waitingSession({ question: 'Which name?' });
    const { mode, plan, question } = await talk.shown(key);
    assert.deepEqual([mode, plan, question], ['waiting', PLAN, 'Which name?']);
    const { payload } = await talk.admin.find(({ event, payload }) => event === 'action.required' && payload.sessionKey === key);
    assert.deepEqual(
      [payload.pluginId, payload.actions.map(({ actionId }: { actionId: string }) => actionId)],
      ['plan-mode', ['approve', 'reject']],
    );
    const { descriptors } = await talk.ask('plugins.uiDescriptors');
    const [chip, card] = descriptors;
    assert.deepEqual([chip.id, chip.surface], ['mode', 'chat-input-toolbar-chip']);
    assert.deepEqual([card.id, card.surface, card.composer.mode], ['card', 'chat-message', 'disabled']);
    assert.deepEqual(card.activeWhen, { namespace: 'plan', path: '/mode', equals: 'waiting' });
    const actions = card.actions.map(({ actionId }: { actionId: string }) => actionId);
    assert.deepEqual(actions, ['approve', 'answer', 'edit', 'auto', 'reject']);
    assert.deepEqual(
      [...(await use(key, 'propose_plan', { plan: 'another' }, talk, override)).text.matchAll(/waits/g)].length,
      1,
      'a second one is refused',
    );
    assert.equal((await talk.shown(key)).plan, PLAN);
    assert.equal((await use(key, 'write', { path: 'early.md', content: 'x' }, talk, override)).isError, true);
  });

  test('closes the composer for every way in until it is decided; commands and who insists get through', async () => {
    verifies('compat:C10');
    const key = await waitingSession();
    const reason = 'A plan waits for your decision';
    const details = { code: 'INPUT_SUPPRESSED', pluginId: 'plan-mode', descriptorId: 'card', mode: 'disabled', reason };
    const said = { sessionKey: key, message: 'Hello' };
    const asked = talk.server.requests.length;
    for (const [method, more] of [
      ['chat.send', {}],
      ['chat.send', { mode: 'steer' }],
      ['chat.send', { mode: 'interrupt' }],
      ['chat.send', { message: '!ls' }],
      ['agent', {}],
      ['agent', { trigger: 'heartbeat' }],
    ] as const) {
      const error = await talk.refused(method, { ...said, ...more, idempotencyKey: `closed-${++count}` });
      assert.deepEqual([error.code, error.details], ['CONFLICT', details], `${method} ${JSON.stringify(more)}`);
    }
    const complete = (headers: Record<string, string> = {}) =>
      fetch(`${talk.gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${talk.gateway.token}`,
          'content-type': 'application/json',
          'x-tenon-session-key': key,
          ...headers,
        },
        body: JSON.stringify({ model: 'tenon', messages: [{ role: 'user', content: 'Hello' }] }),
      });
    const closed = await complete();
    assert.equal(closed.status, 409);
    assert.equal(((await closed.json()) as { error: { code: string } }).error.code, 'INPUT_SUPPRESSED');
    assert.equal((await talk.ask('chat.send', { ...said, message: '/plan', idempotencyKey: `c-${++count}` })).status, 'handled');
    assert.equal(talk.server.requests.length, asked, 'nobody asked the model anything');
    talk.server.next({ text: 'Yes?' }, { text: 'Yes??' });
    const insisting = { ...said, ...override, idempotencyKey: `insists-${++count}` };
    const { runId } = await talk.ask('chat.send', insisting);
    assert.equal((await talk.ended(runId)).text, 'Yes?');
    assert.equal((await talk.ask('chat.send', insisting)).runId, runId, 'a repeat gets the first answer');
    assert.equal((await complete({ 'x-tenon-override': 'true' })).status, 200);
    const typed = await runTenon('run', '--session', key, 'Hello');
    assert.deepEqual([typed.code !== 0, typed.stderr.includes(reason)], [true, true], typed.stderr);
    talk.server.next({ text: 'Yes???' });
    assert.equal((await runTenon('run', '--session', key, '--override', 'Hello')).stdout.trim(), 'Yes???');
    assert.equal((await use(await newSession(), 'write', { path: 'open.md', content: 'x' })).isError, false, 'another session is open');
    talk.server.next({ text: 'On it.' }, { text: 'Hello.' });
    await talk.ended((await talk.press(key, 'approve')).runId);
    assert.equal((await talk.say('Hello', { sessionKey: key })).text, 'Hello.', 'decided, it is open');
  });

  test('a card of an older plan decides nothing about a newer one', async () => {
    const key = await waitingSession();
    const old = (await talk.shown(key)).offers;
    talk.server.next({ text: 'I see.' });
    await talk.ended((await talk.press(key, 'reject', old.reject)).runId);
    await use(key, 'propose_plan', { plan: 'Another plan' });
    for (const decision of ['approve', 'reject', 'edit', 'answer', 'auto']) {
      const { ok, code } = await talk.press(key, decision, { ...old[decision], ...(decision === 'answer' ? { answer: 'x' } : {}) });
      assert.deepEqual([ok, code], [false, 'CHANGED'], decision);
    }
    const { mode, plan, offers } = await talk.shown(key);
    assert.deepEqual([mode, plan], ['waiting', 'Another plan']);
    talk.server.next({ text: 'On it.' });
    assert.equal((await talk.press(key, 'approve', offers.approve)).ok, true);
    assert.equal((await talk.shown(key)).offers, undefined);
  });

  test('approved: the lock opens, the agent is told and goes on by itself, once', async () => {
    verifies('compat:C4');
    const key = await waitingSession();
    talk.server.next(write('approved.md'), { text: 'Carried out.' });
    const answer = await talk.press(key, 'approve');
    assert.deepEqual([answer.ok, answer.continueAgent, answer.result], [true, true, { mode: 'approved', auto: false }]);
    assert.equal((await talk.ended(answer.runId)).text, 'Carried out.');
    assert.ok(existsSync(join(talk.workspace(), 'approved.md')));
    assert.match(told(), /The plan is approved: carry it out now\.\\n\\n1\. Write out\.md/);
    const again = await talk.press(key, 'approve');
    assert.deepEqual([again.ok, again.code], [false, 'NOT_WAITING']);
    assert.equal((await talk.ask('sessions.get', { key })).session.pendingInjections, undefined);
  });

  test('rejected: the agent reads why, and plans again behind the lock', async () => {
    const key = await waitingSession();
    talk.server.next(write('rejected.md'), { text: 'I see.' });
    const { runId } = await talk.press(key, 'reject', { feedback: 'Too short' });
    await talk.ended(runId);
    assert.match(told(), /The plan is rejected\. The reason: Too short/);
    assert.ok(!existsSync(join(talk.workspace(), 'rejected.md')));
    assert.equal((await talk.shown(key)).mode, 'planning');
    await use(key, 'propose_plan', { plan: 'A longer plan' });
    assert.equal((await talk.shown(key)).plan, 'A longer plan');
  });

  test('edited: it is approved as the person wrote it', async () => {
    const key = await waitingSession();
    talk.server.next({ text: 'As you wish.' });
    const { runId } = await talk.press(key, 'edit', { plan: '1. Only this' });
    await talk.ended(runId);
    assert.match(told(), /The plan is approved with changes: carry it out now\.\\n\\n1\. Only this/);
    assert.deepEqual([(await talk.shown(key)).mode, (await talk.shown(key)).plan], ['approved', '1. Only this']);
  });

  test('answered: the agent plans on with the answer; without a question there is none', async () => {
    const key = await waitingSession({ question: 'Which name?' });
    talk.server.next({ text: 'Thank you.' });
    const { runId } = await talk.press(key, 'answer', { answer: 'out.md' });
    await talk.ended(runId);
    assert.match(told(), /Your question was: Which name\?\\nThe answer: out\.md/);
    const { mode, question } = await talk.shown(key);
    assert.deepEqual([mode, question], ['planning', undefined]);
    assert.equal((await talk.press(await waitingSession(), 'answer', { answer: 'x' })).code, 'NO_QUESTION');
  });

  test('auto: this one and the next are approved, but for one with a question', async () => {
    const key = await waitingSession();
    talk.server.next({ text: 'Fine.' });
    const { runId } = await talk.press(key, 'auto', { enabled: true });
    await talk.ended(runId);
    assert.equal((await talk.shown(key)).mode, 'approved');
    await talk.type(key, '/plan on');
    assert.match((await use(key, 'propose_plan', { plan: 'Next' })).text, /approved, as all plans in this session are/);
    assert.equal((await talk.shown(key)).mode, 'approved');
    await talk.type(key, '/plan on');
    await use(key, 'propose_plan', { plan: 'Next', question: 'Sure?' });
    assert.equal((await talk.shown(key)).mode, 'waiting');
    assert.match(await talk.type(await newSession(), '/plan auto on'), /approved as they are proposed/);
  });

  test('commands decide too, and say what they cannot do', async () => {
    const key = await waitingSession();
    assert.match(await talk.type(key, '/plan'), /A plan waits for your decision\.\n\n1\. Write out\.md/);
    assert.match(await talk.type(key, '/plan edit'), /edit needs plan/);
    assert.match(await talk.type(key, '/plan auto maybe'), /true or false/);
    assert.match(await talk.type(key, '/plan burn'), /There is no \/plan burn/);
    talk.server.next({ text: 'On it.' });
    const asked = talk.server.requests.length;
    assert.equal(await talk.type(key, '/plan approve'), 'The plan is approved.');
    await talk.server.arrived(asked + 1);
    assert.match(told(), /The plan is approved: carry it out/);
    assert.match(await talk.type(key, '/plan reject'), /No plan waits for a decision/);
  });

  test('a payload that does not fit changes nothing', async () => {
    const key = await waitingSession();
    for (const [actionId, payload] of [
      ['edit', {}],
      ['answer', { answer: '' }],
      ['auto', { enabled: 'yes' }],
      ['reject', { feedback: 5 }],
    ] as const) {
      const error = await talk.refused('plugins.sessionAction', { pluginId: 'plan-mode', actionId, sessionKey: key, payload });
      assert.equal(error.details?.code, 'INVALID_PAYLOAD', actionId);
    }
    assert.equal((await talk.shown(key)).mode, 'waiting');
  });
});

describe('sessions.patch', () => {
  const extension = (action: string, payload?: object) => ({ plugin: 'plan-mode', action, ...(payload === undefined ? {} : { payload }) });

  test('decides together with its other fields, and the agent goes on', async () => {
    verifies('compat:C15');
    for (const [action, payload, mode, expected] of [
      ['approve', undefined, 'approved', /The plan is approved: carry/],
      ['reject', { feedback: 'No' }, 'planning', /The plan is rejected\. The reason: No/],
      ['edit', { plan: 'Mine' }, 'approved', /approved with changes: carry it out now\.\\n\\nMine/],
      ['answer', { answer: 'Blue' }, 'planning', /The answer: Blue/],
      ['auto', { enabled: true }, 'approved', /The plan is approved: carry/],
    ] as const) {
      const key = await waitingSession({ question: 'Which?' });
      talk.server.next({ text: `After ${action}.` });
      const asked = talk.server.requests.length;
      const patch = { key, title: `By ${action}`, extension: extension(action, payload), idempotencyKey: `patch-${++count}` };
      const { session, runId } = await talk.ask('sessions.patch', patch);
      assert.equal(session.title, `By ${action}`);
      assert.equal((await talk.ask('sessions.patch', patch)).runId, runId, 'a repeat decides nothing anew');
      assert.equal((await talk.shown(key)).mode, mode, action);
      assert.equal((await talk.ended(runId)).text, `After ${action}.`);
      assert.equal(talk.server.requests.length, asked + 1);
      assert.match(told(), expected);
    }
  });

  test('changes nothing where there is nothing to decide', async () => {
    const key = await newSession();
    const error = await talk.refused('sessions.patch', { key, title: 'x', extension: extension('approve') });
    assert.deepEqual([error.details?.code, error.message], ['PLUGIN_REFUSED', 'No plan waits for a decision (plan mode: off)']);
    assert.equal((await talk.ask('sessions.get', { key })).session.title, '', 'nor the other fields');
    const waiting = await waitingSession();
    const wrong = await talk.refused('sessions.patch', { key: waiting, extension: extension('edit', { plan: 7 }) });
    assert.equal(wrong.details?.code, 'PLUGIN_REFUSED');
    assert.equal((await talk.shown(waiting)).mode, 'waiting');
  });
});

test('a plan waits through a kill of the gateway, behind the lock, and is approved afterwards', async () => {
  const home = temporaryHome();
  const server = await startModelServer();
  try {
    let key: string;
    {
      await using first = await openWithPlugin('plan-mode', { home, server });
      key = await waitingSession({}, first);
      await first.gateway.kill();
    }
    await using second = await openWithPlugin('plan-mode', { home, server });
    assert.deepEqual([(await second.shown(key)).mode, (await second.shown(key)).plan], ['waiting', PLAN]);
    assert.equal(
      (await second.refused('chat.send', { sessionKey: key, message: 'Go', idempotencyKey: 'x' })).details?.code,
      'INPUT_SUPPRESSED',
    );
    assert.equal((await use(key, 'write', { path: 'killed.md', content: 'x' }, second, override)).isError, true);
    server.next(write('killed.md'), { text: 'Carried out.' });
    const { ok, runId } = await second.press(key, 'approve');
    assert.equal(ok, true);
    assert.equal((await second.ended(runId)).text, 'Carried out.');
    assert.match(told(second), /The plan is approved: carry it out now/);
    assert.ok(existsSync(join(second.workspace(), 'killed.md')));
  } finally {
    await server.close();
    rmSync(home, { recursive: true, force: true, maxRetries: 10 });
  }
});
