// The page's connection against a gateway that a test plays, frame by frame.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Session } from '@tenon/protocol';
import { createPage, type Page } from './page.ts';

interface Request {
  readonly id: string;
  readonly method: string;
  readonly params: Record<string, unknown>;
}

/** One socket: what the page sent, and the ways to answer. */
class FakeSocket {
  static readonly opened: FakeSocket[] = [];
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: string }) => void) | null = null;
  onerror: ((event: object) => void) | null = null;
  onclose: ((event: { code: number; reason: string }) => void) | null = null;
  readonly url: string;
  readonly sent: Request[] = [];

  constructor(url: string) {
    this.url = url;
    FakeSocket.opened.push(this);
    queueMicrotask(() => this.onopen?.());
  }
  send(text: string): void {
    this.sent.push(JSON.parse(text) as Request);
  }
  close(): void {
    queueMicrotask(() => this.onclose?.({ code: 1000, reason: '' }));
  }
  say(frame: object): void {
    this.onmessage?.({ data: JSON.stringify(frame) });
  }
  event(event: string, payload: object, position?: { seq: number; prev: number }): void {
    this.say({ type: 'event', event, payload, ...(position ? { ...position, epoch: 'epoch-0001' } : {}) });
  }
  requests(method: string): Request[] {
    return this.sent.filter((request) => request.method === method);
  }
  answer(method: string, payload: object): void {
    const request = this.requests(method).at(-1);
    assert.ok(request, `the page asked for ${method}`);
    this.say({ type: 'res', id: request.id, ok: true, payload });
  }
  refuse(method: string, code: string, message: string): void {
    this.say({ type: 'res', id: this.requests(method).at(-1)!.id, ok: false, error: { code, message } });
  }
  hello(scopes = ['operator.admin']): void {
    this.answer('connect', {
      type: 'hello-ok',
      protocol: 3,
      server: { version: '1.0.0', connId: 'c' },
      features: { methods: [], events: [] },
      snapshot: { presence: [], health: { ok: true }, stateVersion: { presence: 0, health: 0 }, uptimeMs: 1 },
      policy: { maxPayload: 1_000_000, maxBufferedBytes: 1_000_000, tickIntervalMs: 0 },
      auth: { method: 'token', principal: 'token:me', scopes },
      events: { epoch: 'epoch-0001', seq: 10 },
    });
  }
}

const KEY = 'agent:main:a';
const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, costUsd: 0 };
const session: Session = {
  key: KEY,
  sessionId: 's'.repeat(16),
  agentId: 'main',
  title: 'A',
  label: null,
  pinned: false,
  archived: false,
  model: null,
  thinking: null,
  permissions: null,
  queue: null,
  status: 'idle',
  revision: 1,
  createdAt: 1,
  updatedAt: 1,
};
const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

interface World {
  readonly page: Page;
  readonly socket: () => FakeSocket;
  /** Runs what waits for the next frame. */
  frame(): void;
}

async function open(scopes?: string[]): Promise<World> {
  FakeSocket.opened.length = 0;
  const frames: (() => void)[] = [];
  const kept = new Map<string, string>();
  const shelf = {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
    clear: () => kept.clear(),
  };
  const page = createPage({
    socketUrl: 'ws://here/ws',
    shelves: { lasting: shelf, tab: { ...shelf, getItem: () => null } },
    post: async () => ({ status: 200, body: {} }),
    fetch,
    now: () => 1_000,
    soon: (run) => void frames.push(run),
    version: '0',
    WebSocket: FakeSocket as never,
  });
  page.signInWithToken('tok', true);
  await settle();
  const socket = () => FakeSocket.opened.at(-1)!;
  socket().hello(scopes);
  return {
    page,
    socket,
    frame() {
      for (const run of frames.splice(0)) run();
    },
  };
}

const history = (entries: object[] = [], runs: object[] = []) => ({ session, entries, leafId: null, runs });

test('the page signs in on the first frame, then reads what it shows', async () => {
  const { page, socket } = await open();
  assert.equal(socket().url, 'ws://here/ws');
  assert.deepEqual(socket().requests('connect')[0]?.params.auth, { token: 'tok' });
  socket().answer('sessions.list', { sessions: [session] });
  await settle();
  const state = page.store.get();
  assert.deepEqual([state.connection.kind, state.identity?.principal, state.sessions.byKey.size], ['online', 'token:me', 1]);
  assert.equal(socket().requests('approvals.list').length, 2);
  await page.link().close();
});

test('without the scope, approvals are not asked for', async () => {
  const { page, socket } = await open(['operator.read']);
  assert.equal(socket().requests('approvals.list').length, 0);
  await page.link().close();
});

test('a refused token signs out with the reason, and nothing tries again', async () => {
  FakeSocket.opened.length = 0;
  const { page } = await open();
  await page.link().close();
  page.signInWithToken('bad', true);
  await settle();
  FakeSocket.opened.at(-1)!.refuse('connect', 'UNAUTHORIZED', 'The token is not known');
  await settle();
  const { connection } = page.store.get();
  assert.equal(connection.kind === 'signed-out' && connection.error?.code, 'UNAUTHORIZED');
});

test('many deltas are one change per frame, in order', async () => {
  const { page, socket, frame } = await open();
  page.chat.open(KEY);
  await settle();
  socket().answer('chat.history', history());
  await settle();
  frame();
  let changes = 0;
  page.store.subscribe(() => changes++);
  for (const [seq, delta] of ['a', 'b', 'c'].entries()) {
    socket().event('agent', { runId: 'r', sessionKey: KEY, seq, ts: 5, stream: 'assistant', delta });
  }
  assert.equal(changes, 0);
  frame();
  assert.equal(changes, 1);
  assert.equal(page.store.get().chats.get(KEY)?.runs.get('r')?.segments[0]?.text, 'abc');
  await page.link().close();
});

test('an entry that arrives while the conversation is being read is not lost', async () => {
  const { page, socket, frame } = await open();
  page.chat.open(KEY);
  await settle();
  const entry = { id: 'e001', parentId: null, at: 1, type: 'message', message: { role: 'user', content: [], timestamp: 1 } };
  socket().event('chat', { sessionKey: KEY, kind: 'entry', entryId: 'e001', entry }, { seq: 11, prev: 10 });
  socket().answer('chat.history', history());
  await settle();
  frame();
  assert.deepEqual(
    page.store
      .get()
      .chats.get(KEY)
      ?.entries.map((each) => each.id),
    ['e001'],
  );
  await page.link().close();
});

test('after a lost connection the stream is forgotten and the conversation read again; a snapshot reads everything', async () => {
  const { page, socket, frame } = await open();
  socket().answer('sessions.list', { sessions: [session] });
  page.chat.open(KEY);
  await settle();
  const run = {
    runId: 'r',
    sessionKey: KEY,
    sessionId: 's'.repeat(16),
    state: 'running',
    mode: 'collect',
    trigger: 'user',
    createdAt: 1,
    usage,
  };
  socket().answer('chat.history', history([], [{ run }]));
  await settle();
  socket().event('agent', { runId: 'r', sessionKey: KEY, seq: 0, ts: 5, stream: 'assistant', delta: 'half' });
  frame();
  const first = socket();
  first.onclose?.({ code: 1006, reason: '' });
  await settle();
  const { connection } = page.store.get();
  assert.equal(connection.kind, 'offline');
  page.link().retry();
  await settle();
  assert.notEqual(socket(), first);
  assert.deepEqual(socket().requests('connect')[0]?.params.resume, { epoch: 'epoch-0001', seq: 10 });
  socket().hello();
  await settle();
  const chat = page.store.get().chats.get(KEY)!;
  assert.deepEqual([page.store.get().connection.kind, chat.runs.get('r')?.segments], ['online', []]);
  assert.equal(socket().requests('chat.history').length, 1);
  assert.equal(socket().requests('sessions.list').length, 0, 'a resume replays the rest');
  socket().event('snapshot-required', { reason: 'too-old', epoch: 'epoch-0001', seq: 99 });
  await settle();
  assert.equal(socket().requests('sessions.list').length, 1);
  await page.link().close();
});

test('a message that failed is sent again under the same id', async () => {
  const { page, socket } = await open();
  page.chat.open(KEY);
  await settle();
  socket().answer('chat.history', history());
  const sending = page.chat.send(KEY, { text: 'hi', images: [] });
  await settle();
  const [first] = socket().requests('chat.send');
  socket().refuse('chat.send', 'UNAVAILABLE', 'The store is busy');
  await sending;
  const [outgoing] = page.store.get().chats.get(KEY)!.outgoing;
  assert.equal(outgoing?.state, 'failed');
  page.chat.resend(KEY, outgoing.runId);
  await settle();
  assert.equal(socket().requests('chat.send')[1]?.params.idempotencyKey, first?.params.idempotencyKey);
  await page.link().close();
});

test('a session that is not there is an empty one, and is read when it appears', async () => {
  const { page, socket, frame } = await open();
  page.chat.open(KEY);
  await settle();
  socket().refuse('chat.history', 'NOT_FOUND', 'Cannot find session');
  await settle();
  assert.equal(page.store.get().chats.get(KEY)?.loaded.kind, 'ready');
  socket().event('sessions.changed', { key: KEY, reason: 'create', session });
  frame();
  await settle();
  assert.equal(socket().requests('chat.history').length, 2);
  socket().answer('chat.history', history());
  await page.link().close();
});

test('going back offers a way to where the conversation was, until the next message', async () => {
  const { page, socket } = await open();
  page.chat.open(KEY);
  await settle();
  const said = {
    id: 'e001',
    parentId: null,
    at: 1,
    type: 'message',
    message: { role: 'user', content: [{ type: 'text', text: 'hi' }], timestamp: 1 },
  };
  socket().answer('chat.history', history([said]));
  await settle();
  const undone: string[] = [];
  const goBack = async () => {
    const going = page.chat.goBack(KEY, 'e001', (text) => void undone.push(text));
    await settle();
    socket().answer('sessions.rewind', { leafId: null, text: 'hi' });
    await settle();
    socket().answer('chat.history', history());
    assert.equal(await going, 'hi');
  };
  await goBack();
  page.store.get().toasts.at(-1)?.action?.run();
  await settle();
  assert.equal(socket().requests('sessions.branch')[0]?.params.entryId, 'e001');
  assert.deepEqual(undone, [], 'not before it is undone');
  socket().answer('sessions.branch', { leafId: 'e001' });
  await settle();
  assert.deepEqual(undone, ['hi'], 'the text is taken back before the messages are there again');
  socket().answer('chat.history', history([said]));
  await settle();
  await goBack();
  assert.equal(page.store.get().toasts.length, 1);
  void page.chat.send(KEY, { text: 'on', images: [] });
  assert.equal(page.store.get().toasts.length, 0);
  await page.link().close();
});

test('signing out forgets everything and revokes', async () => {
  const { page } = await open();
  await page.signOut();
  assert.deepEqual([page.store.get().connection.kind, page.store.get().sessions.byKey.size], ['signed-out', 0]);
  assert.throws(() => page.link(), /Nobody is signed in/);
});

test('a message that a plugin keeps from being sent comes back, and the page knows who closes the composer', async () => {
  const { page, socket } = await open();
  page.chat.open(KEY);
  socket().answer('chat.history', history());
  await settle();
  const sent = page.chat.send(KEY, { text: 'hello', images: [] });
  await settle();
  const details = { code: 'INPUT_SUPPRESSED', pluginId: 'one', descriptorId: 'card', mode: 'disabled', reason: 'It waits' };
  const { id } = socket().requests('chat.send').at(-1)!;
  socket().say({ type: 'res', id, ok: false, error: { code: 'CONFLICT', message: 'No', details } });
  assert.equal(await sent, undefined, 'nothing was taken: the text goes back into the composer');
  const state = page.store.get();
  assert.deepEqual(state.chats.get(KEY)?.outgoing, []);
  assert.equal(state.pluginUi.byKey.get(KEY)?.closed?.reason, 'It waits');
  void page.chat.send(KEY, { text: 'hello', images: [] }, {}, true);
  await settle();
  assert.equal(socket().requests('chat.send').at(-1)!.params.override, true);
  await page.link().close();
});

test('what plugins show is read for what is open, and again when an event says so', async () => {
  const { page, socket } = await open();
  page.chat.open(KEY);
  const when = { namespace: 'box', path: '/on' };
  const descriptor = { pluginId: 'one', pluginName: 'One', id: 'card', label: 'Card', surface: 'chat-message', activeWhen: when };
  const asked = async (method: string, times: number) => {
    for (let n = 0; n < 500 && socket().requests(method).length < times; n++) await settle();
    assert.equal(socket().requests(method).length, times, method);
  };
  await asked('plugins.uiDescriptors', 1);
  socket().answer('plugins.uiDescriptors', { descriptors: [descriptor], generation: 1 });
  await asked('sessions.get', 1);
  socket().answer('sessions.get', { session });
  await settle();
  const shown = () =>
    page.store
      .get()
      .pluginUi.byKey.get(KEY)
      ?.active.map(({ id }) => id);
  assert.deepEqual(shown(), []);
  socket().event('sessions.changed', { key: KEY, reason: 'plugin-patch', session }, { seq: 11, prev: 10 });
  await asked('sessions.get', 2);
  socket().answer('sessions.get', {
    session: { ...session, pluginExtensions: [{ pluginId: 'one', namespace: 'box', value: { on: true } }] },
  });
  await settle();
  assert.deepEqual(shown(), ['card']);
  socket().event('sessions.changed', { key: KEY, reason: 'activity', session }, { seq: 12, prev: 11 });
  await settle();
  assert.deepEqual(shown(), ['card'], 'a row without their state says nothing about it');
  socket().event('plugins.changed', { generation: 2 });
  await asked('plugins.uiDescriptors', 2);
  socket().answer('plugins.uiDescriptors', { descriptors: [], generation: 2 });
  await settle();
  assert.deepEqual(shown(), []);
  await page.link().close();
});
