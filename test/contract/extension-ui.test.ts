// What extensions ask and show people, from outside: a real gateway, real processes made with the SDK, clients over the socket and
// over HTTP.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { UiNotice, UiQuestion, UiShown } from '@tenon/protocol';
import { explain } from '../../packages/protocol/src/validate.ts';
import { mintToken } from '../security/harness.ts';
import { type DeskStep, writeDesk } from '../support/extensions.ts';
import { type GatewayProcess, startGatewayProcess, temporaryHome } from '../support/gateway.ts';
import { removeFolder } from '../support/clean-up.ts';
import { connectRaw, type Frame, type RawClient } from '../support/raw-client.ts';
import { verifies } from '../support/verifies.ts';

let gateway: GatewayProcess;
let admin: RawClient;
const home = temporaryHome();
const WATCHES = { caps: ['ui'] };
let sessions = 0;

before(async () => {
  for (const name of ['desk', 'yes', 'mute']) writeDesk(home, name === 'mute' ? {} : { capabilities: 'ui = true' }, name);
  gateway = await startGatewayProcess({ home, plugins: true, config: '[extensions]\nautoConfirm = ["yes"]\nanswerMs = 60000\n' });
  admin = await connectRaw(gateway.socketUrl, gateway.token);
  for (const id of ['desk', 'yes', 'mute', 'everything']) {
    const { payload, error } = await admin.request('plugins.enable', { id });
    assert.equal(payload?.plugin.state, 'loaded', JSON.stringify(error ?? payload));
  }
});

after(async () => {
  await gateway?.remove();
  removeFolder(home);
});

async function newSession(): Promise<string> {
  const key = `agent:main:people-${++sessions}`;
  const { ok } = await admin.request('sessions.create', { key });
  assert.equal(ok, true);
  return key;
}

const watch = (token = gateway.token) => connectRaw(gateway.socketUrl, token, WATCHES);

/** What came of each step, in the command of the extension. */
async function told(sessionKey: string, ...steps: DeskStep[]): Promise<unknown[]> {
  return toldTo('desk', sessionKey, ...steps);
}

async function toldTo(command: string, sessionKey: string, ...steps: DeskStep[]): Promise<unknown[]> {
  const { payload, error } = await admin.request('commands.invoke', { sessionKey, text: `/${command} ${JSON.stringify(steps)}` });
  assert.equal(error, undefined, JSON.stringify(error));
  return JSON.parse(payload.reply) as unknown[];
}

const asked = (client: RawClient, sessionKey: string, nth = 0) => {
  let seen = 0;
  return client.find(({ event, payload }) => event === 'ui.requested' && payload.sessionKey === sessionKey && seen++ === nth);
};
const settled = (client: RawClient, id: string) => client.find(({ event, payload }) => event === 'ui.resolved' && payload.id === id);
const answer = (client: RawClient, id: string, reply: object) => client.request('ui.answer', { id, reply });

function post(path: string, body: unknown, token = gateway.token, more: RequestInit = {}): Promise<Response> {
  return fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    ...more,
  });
}

test('G16, G19: every kind of question reaches the clients of its session, the first answer counts, and other frames go on meanwhile', async () => {
  verifies('seed3:ui-relay', 'sep:ui', 'sep:G16', 'sep:G19', 'sep:initialize');
  const key = await newSession();
  await using one = await watch();
  await using two = await watch();
  const results = told(
    key,
    ['ui.select', 'Which\u202e?', ['a', 'b']],
    ['together', ['ui.confirm', 'Sure?', 'Really.'], ['kv.get', 'x'], ['hasUI', 'select']],
    ['ui.input', 'Name?', { default: 'd' }],
  );
  const first = (await asked(one, key)).payload;
  assert.equal(explain(UiQuestion, first, 'question'), undefined);
  assert.deepEqual([first.extension, first.kind, first.prompt, first.options], ['desk', 'select', 'Which\\u{202e}?', ['a', 'b']]);
  assert.equal(first.expiresAt - first.createdAt, 60_000);
  await asked(two, key);
  assert.equal((await answer(two, first.id, { value: 'z' })).error?.details?.code, 'WRONG_REPLY');
  assert.equal((await answer(two, first.id, { value: 'b' })).ok, true);
  assert.equal((await answer(one, first.id, { value: 'a' })).error?.details?.code, 'ALREADY_ANSWERED');
  assert.deepEqual((await settled(one, first.id)).payload.state, 'answered');
  const second = (await asked(one, key, 1)).payload;
  assert.deepEqual([second.kind, second.prompt], ['confirm', 'Sure?\nReally.']);
  assert.equal((await answer(one, second.id, { confirmed: false })).ok, true);
  const third = (await asked(one, key, 2)).payload;
  assert.deepEqual([third.kind, third.default], ['input', 'd']);
  assert.equal((await answer(one, third.id, { text: 'Ada' })).ok, true);
  const [which, [sure, kept, has], name] = (await results) as [string, unknown[], string];
  assert.deepEqual([which, sure, has, name], ['b', false, true, 'Ada']);
  // Its own capability is off, and that was said while the question waited.
  assert.equal((kept as { code: number }).code, -32004);
});

test('G19: a client that comes later sees what is pending, of its own session alone; one that is put away is cancelled', async () => {
  verifies('sep:ui', 'sep:G19');
  const key = await newSession();
  const other = await newSession();
  const bound = await mintToken(admin, ['operator.write'], { sessionKey: other });
  await using first = await watch();
  await using stranger = await watch(bound.token);
  const results = told(key, ['ui.confirm', 'Still there?'], ['ui.select', 'Which?', ['a']]);
  const { id } = (await asked(first, key)).payload;
  await first.close();
  await using late = await watch();
  const { payload } = await late.request('ui.pending', { sessionKey: key });
  assert.deepEqual(
    payload.questions.map((each: { id: string; state: string }) => [each.id, each.state]),
    [[id, 'pending']],
  );
  assert.deepEqual((await stranger.request('ui.pending', {})).payload.questions, []);
  assert.equal((await stranger.request('ui.pending', { sessionKey: key })).error?.code, 'NOT_FOUND');
  assert.equal((await answer(stranger, id, { confirmed: true })).error?.code, 'NOT_FOUND');
  assert.equal((await answer(late, id, { cancelled: true })).ok, true);
  const next = (await asked(late, key)).payload;
  assert.equal((await answer(late, next.id, { cancelled: true })).ok, true);
  assert.deepEqual(await results, [false, null]);
  assert.ok(!stranger.frames.some(({ event }) => event?.startsWith('ui.')), 'nothing of another session');
});

test('nobody there: cancelled, and whoever cannot answer does not count; without the grant it is refused', async () => {
  verifies('seed3:ui-relay', 'sep:ui', 'sep:G26', 'S41');
  const key = await newSession();
  const reader = await mintToken(admin, ['operator.read']);
  await using looks = await watch(reader.token);
  assert.deepEqual(await told(key, ['ui.confirm', 'Anybody?'], ['ui.notify', 'Hello']), [false, null]);
  assert.ok(!looks.frames.some(({ event }) => event?.startsWith('ui.')));
  assert.deepEqual(
    (
      (await toldTo('mute:desk', key, ['hasUI'], ['call', 'ui/request', { kind: 'confirm', prompt: 'x' }])) as [boolean, { code: number }]
    ).map((each) => (typeof each === 'boolean' ? each : each.code)),
    [false, -32004],
  );
});

test('what cannot be asked is refused by name, and too much of it too', async () => {
  verifies('sep:ui', 'sep:G12');
  const key = await newSession();
  await using client = await watch();
  const results = (await told(
    key,
    ['ui.select', 'Which?', []],
    ['ui.select', 'Which?', ['a', 'a']],
    ['ui.select', 'Which?', Array.from({ length: 257 }, (_, n) => String(n))],
    ['call', 'ui/request', { kind: 'toast', message: 'x' }],
  )) as { code: number; message: string }[];
  assert.deepEqual(
    results.map(({ code }) => code),
    [-32602, -32602, -32602, -32602],
  );
  assert.match(results[2]?.message ?? '', /options has 257 choices; 256 are the most/);
  assert.ok(!client.frames.some(({ event }) => event === 'ui.requested'));
});

test('auto-confirm is a setting of the operator, for one extension and for confirm alone, and each yes is in the audit log', async () => {
  verifies('sep:ui');
  const key = await newSession();
  // Nobody is there, and nobody is asked.
  assert.deepEqual(await toldTo('yes:desk', key, ['ui.confirm', 'Delete it?'], ['ui.select', 'Which?', ['a']]), [true, null]);
  assert.deepEqual(await told(key, ['ui.confirm', 'Delete it?']), [false]);
  const { payload } = await admin.request('audit.list', { limit: 20 });
  const found = payload.records.filter(({ action }: { action: string }) => action === 'ui.autoConfirm');
  assert.deepEqual(
    found.map(({ actor, details }: { actor: string; details: object }) => [actor, details]),
    [['setting:extensions.autoConfirm', { extension: 'yes', sessionKey: key, prompt: 'Delete it?' }]],
  );
});

test('status, title and widget are shown to whoever watches the session, also later, and go with the process', async () => {
  verifies('sep:ui', 'sep:blocks');
  const key = await newSession();
  await using client = await watch();
  const widget = { kind: 'table', headers: ['a'], rows: [['<b>x</b>']] };
  await told(key, ['ui.setStatus', 'working'], ['ui.setTitle', 'A title'], ['ui.setWidget', widget], ['ui.notify', 'Look', 'warning']);
  const last = await client.find(
    ({ event, payload }) => event === 'ui.shown' && payload.sessionKey === key && payload.widget !== undefined,
  );
  assert.equal(explain(UiShown, last.payload, 'shown'), undefined);
  assert.deepEqual([last.payload.status, last.payload.title, last.payload.widget.columns], ['working', 'A title', ['a']]);
  const notice = await client.find(({ event, payload }) => event === 'ui.notified' && payload.sessionKey === key);
  assert.equal(explain(UiNotice, notice.payload, 'notice'), undefined);
  assert.deepEqual([notice.payload.level, notice.payload.message], ['warn', 'Look']);
  await using late = await watch();
  const shownIn = async () => (await late.request('ui.pending', { sessionKey: key })).payload.shown as UiShown[];
  assert.deepEqual(await shownIn(), [last.payload]);
  // Coalesced: many changes are few events, and the last one is told.
  const many = Array.from({ length: 100 }, (_, n): DeskStep => ['ui.setStatus', `step ${n}`]);
  await told(key, ['together', ...many]);
  const isLast = ({ event, payload }: Frame) => event === 'ui.shown' && payload.status === 'step 99';
  await client.find(isLast);
  assert.ok(client.frames.filter(({ event }) => event === 'ui.shown').length < 50);
  const wait = client.find(
    ({ event, payload }) =>
      event === 'ui.shown' && payload.sessionKey === key && payload.status === undefined && payload.widget === undefined,
  );
  await admin.request('plugins.reload', { id: 'desk' });
  await wait;
  assert.deepEqual(await shownIn(), []);
});

test('a question of a process that is gone is cancelled on record, and whoever shows it is told', async () => {
  verifies('sep:ui', 'S42');
  const key = await newSession();
  await using client = await watch();
  const results = admin.request('commands.invoke', { sessionKey: key, text: `/desk ${JSON.stringify([['ui.confirm', 'Wait?']])}` });
  const { id } = (await asked(client, key)).payload;
  const { payload } = await admin.request('plugins.get', { id: 'desk' });
  process.kill(payload.plugin.process.pid, 'SIGKILL');
  const end = (await settled(client, id)).payload;
  assert.deepEqual([end.state, end.reason], ['cancelled', 'the extension does not wait for it any more']);
  assert.equal((await answer(client, id, { confirmed: true })).error?.code, 'GONE');
  assert.equal((await results).ok, true);
  const isBack = async () => (await admin.request('plugins.get', { id: 'desk' })).payload.plugin.process.state === 'ready';
  while (!(await isBack())) await new Promise((resolve) => setTimeout(resolve, 20));
});

test('G19: over HTTP a run elsewhere asks the people of a session, with the credentials and scopes of the socket', async () => {
  verifies('sep:ui', 'sep:G19');
  const key = await newSession();
  const other = await newSession();
  const reader = await mintToken(admin, ['operator.read']);
  const bound = await mintToken(admin, ['operator.write'], { sessionKey: key });
  const question = { ext: 'far', kind: 'select', params: { prompt: 'Which?', options: ['a', 'b'] }, session_key: key };
  const status = async (response: Promise<Response>) => (await response).status;
  assert.equal(await status(post('/api/ui/request', question, 'tenon_nobody')), 401);
  assert.equal(await status(post('/api/ui/answer', { request_id: 'a'.repeat(22), confirmed: true }, 'tenon_nobody')), 401);
  assert.equal(await status(post('/api/ui/request', question, reader.token)), 403);
  assert.equal(await status(post('/api/ui/answer', { request_id: 'a'.repeat(22), confirmed: true }, reader.token)), 403);
  assert.equal(await status(post('/api/ui/request', { ...question, session_key: other }, bound.token)), 404);
  assert.equal(await status(post('/api/ui/request', { ...question, kind: 'toast' })), 400);
  assert.equal(await status(post('/api/ui/request', { ...question, params: { prompt: 'Which?' } })), 400);
  assert.equal(await status(post('/api/ui/request', { ...question, session_key: undefined })), 400);
  assert.deepEqual(await (await post('/api/ui/request', question)).json(), { cancelled: true }, 'nobody is there');

  await using client = await watch();
  const waiting = post('/api/ui/request', { ...question, session_key: undefined, task_id: key }, bound.token);
  const { id, via, extension } = (await asked(client, key)).payload;
  assert.deepEqual([extension, via], ['far', `token:${bound.id}`]);
  assert.equal(await status(post('/api/ui/answer', { request_id: id, value: 'a', confirmed: true })), 400);
  assert.equal(await status(post('/api/ui/answer', { request_id: id, value: 'z' })), 400);
  assert.deepEqual(await (await post('/api/ui/answer', { request_id: id, value: 'b' }, bound.token)).json(), { ok: true });
  assert.deepEqual(await (await post('/api/ui/answer', { request_id: id, value: 'a' })).json(), { ok: false });
  assert.deepEqual(await (await waiting).json(), { value: 'b' });

  // Who is gone does not wait, and a credential that is taken away asks nobody.
  const leaving = new AbortController();
  const left = post('/api/ui/request', question, gateway.token, { signal: leaving.signal });
  const { id: second } = (await asked(client, key, 1)).payload;
  leaving.abort();
  await assert.rejects(left);
  assert.equal((await settled(client, second)).payload.state, 'cancelled');
  const revoked = post('/api/ui/request', question, bound.token);
  const { id: third } = (await asked(client, key, 2)).payload;
  assert.equal((await admin.request('tokens.revoke', { id: bound.id })).ok, true);
  assert.equal(await status(revoked), 401);
  assert.equal((await settled(client, third)).payload.state, 'cancelled');
});

test('where a session came from a channel with buttons, a press answers, once; what buttons cannot say is refused as NoUI', async () => {
  verifies('sep:ui', 'compat:C2');
  const late = async (call: string, given: object) => (await admin.request('plugin.everything.late', { call, with: given })).payload;
  const received = await late('receive', { channel: 'echo', from: 'ada', text: 'What are you?' });
  assert.equal(received.ok, true, JSON.stringify(received));
  const key = received.sessionKey as string;
  await admin.request('agent.wait', { runId: received.runId, timeoutMs: 30_000 });
  const deliveries = async () =>
    (
      (await admin.request('deliveries.list', { sessionKey: key })).payload.deliveries as { id: string; by: string; state: string }[]
    ).filter(({ by }) => by === 'desk');
  const sent = async (count: number) => {
    for (;;) {
      const found = await deliveries();
      if (found.length === count && found[0]?.state === 'sent') return found[0].id;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };
  const press = (deliveryId: string, buttonId: string) => late('press', { deliveryId, buttonId, from: 'ada', isAuthorizedSender: true });

  const cannot = (await told(key, ['ui.input', 'Name?'], ['ui.select', 'Which?', ['a', 'b', 'c']])) as { code: number; message: string }[];
  assert.deepEqual(
    cannot.map(({ code, message }) => [code, message]),
    [
      [-32001, 'no UI capability for kind: input'],
      [-32001, 'no UI capability for kind: select'],
    ],
  );
  const chosen = told(key, ['ui.select', 'Which?', ['a', 'b']]);
  const first = await sent(1);
  assert.equal((await press(first, 'answer-1')).ok, true);
  assert.deepEqual(await chosen, ['b']);
  assert.equal((await press(first, 'answer-0')).ok, false, 'an answer counts once');

  // Somebody is there, too, and is faster: the buttons go.
  await using client = await watch();
  const sure = told(key, ['ui.confirm', 'Sure?']);
  const second = await sent(2);
  const { id } = (await asked(client, key)).payload;
  assert.equal((await answer(client, id, { confirmed: true })).ok, true);
  assert.deepEqual(await sure, [true]);
  assert.equal((await press(second, 'answer-1')).ok, false, 'too late, whether the buttons are gone yet or not');
});

test('a question that nobody answers before the gateway is killed is on record as cancelled when it is back', async () => {
  verifies('sep:ui', 'S47');
  const key = await newSession();
  await using client = await watch();
  admin.request('commands.invoke', { sessionKey: key, text: `/desk ${JSON.stringify([['ui.confirm', 'Wait?']])}` }).catch(() => undefined);
  const { id } = (await asked(client, key)).payload;
  await gateway.kill();
  gateway = await startGatewayProcess({ home });
  admin = await connectRaw(gateway.socketUrl, gateway.token, WATCHES);
  assert.deepEqual((await admin.request('ui.pending', {})).payload.questions, []);
  const late = await answer(admin, id, { confirmed: true });
  assert.deepEqual([late.error?.code, late.error?.details?.state], ['GONE', 'cancelled']);
});
