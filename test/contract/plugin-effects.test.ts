// What results of plugins come to, over the socket: state that is bound to what the handler has read, injections and turns
// that are committed with it, answers that are the same after a kill, and the tests that the first seed asks for.
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type Conversation, openConversation, told } from '../support/conversation.ts';
import { temporaryHome } from '../support/gateway.ts';
import { type ModelServer, startModelServer } from '../support/model-server.ts';
import { writePlugin } from '../support/plugins.ts';
import { createDatabase } from '../support/postgres.ts';
import { connectRaw } from '../support/raw-client.ts';
import { type Engine, engines } from '../support/stores.ts';
import { verifies } from '../support/verifies.ts';

const GRANTS = ['prompt.inject', 'turns.start', 'people.notify', 'gateway.methods', 'commands.register'];

/** Actions that do one thing each. `gate` is opened from outside, so that a test decides what happens meanwhile. */
const deeds = {
  id: 'deeds',
  grants: GRANTS,
  register: `
    let gate = Promise.withResolvers();
    const seen = [];
    const n = (state) => state('box')?.n ?? 0;
    const wait = async (sessionKey) => {
      const mine = gate.promise;
      api.session.workflow.notifyActionRequired({ sessionKey, title: 'waits' });
      await mine;
    };
    api.registerGatewayMethod({ name: 'open', handler: () => { const was = gate; gate = Promise.withResolvers(); was.resolve(); return seen; } });
    api.registerSessionExtension({ namespace: 'box', description: 'd', sessionEntrySlotKey: 'deedsBox', project: ({ state }) => state });
    api.registerSessionExtension({ namespace: 'side', description: 'd' });
    const act = (id, handler) => api.registerSessionAction({ id, handler });
    act('count', ({ state }) => ({ result: n(state) + 1, reply: 'counted', statePatch: { box: { n: n(state) + 1 } },
      inject: [{ text: 'count is ' + (n(state) + 1) }], continueAgent: true }));
    act('slow', async ({ sessionKey, state }) => {
      const before = n(state);
      seen.push(before);
      await wait(sessionKey);
      return { result: before + 1, statePatch: { box: { n: before + 1 } } };
    });
    act('reads', async ({ sessionKey, state }) => {
      const before = n(state);
      await wait(sessionKey);
      return { result: before, statePatch: { side: before } };
    });
    act('updates', async ({ sessionKey, state }) => {
      const made = await api.session.state.update(sessionKey, 'box', (now) => ({ n: (now?.n ?? 0) + 10 }));
      return { result: [made.ok, n(state)], statePatch: { box: { n: n(state) + 1 } } };
    });
    act('updates-slowly', async ({ sessionKey }) => {
      await api.session.state.update(sessionKey, 'box', () => ({ n: 10 }));
      await wait(sessionKey);
      return { statePatch: { box: { n: 11 } } };
    });
    act('queue', ({ payload }) => ({ inject: payload.inject, ...(payload.go === undefined ? {} : { continueAgent: payload.go }) }));
    act('enqueue', async ({ sessionKey }) => {
      await api.session.workflow.enqueueNextTurnInjection({ sessionKey, text: 'by a call' });
      return {};
    });
    api.registerCommand({ name: 'deed', description: 'd', handler: async ({ sessionKey, args, state }) => {
      if (args === 'patch') return { text: 'kept', statePatch: { box: { n: (state('box')?.n ?? 0) + 1 } }, inject: [{ text: 'told by a command' }], continueAgent: false };
      if (args === 'foreign') return { text: 'kept', statePatch: { box: { n: 99 }, nowhere: 1 }, inject: [{ text: 'never' }] };
      await api.session.workflow.enqueueNextTurnInjection({ sessionKey, text: 'by a command' });
      return { text: 'done', ...(args === 'wait' ? { continueAgent: false } : {}) };
    } });`,
  more: `sessionsPatchExtensions: {
    noop: ({ payload, state, getSessionExtension, client, signal, entry }) => ({ ok: true, entryPatch: { label: 'patched' },
      statePatch: { box: { n: (state('box')?.n ?? 0) + payload.x, same: state('box') === getSessionExtension('box'),
        scopes: client.scopes.length > 0, live: signal.aborted === false, slot: entry.slots?.deedsBox ?? null } } }),
    slot: () => ({ ok: true, entryPatch: { title: 'By the slot', deedsBox: { n: 7 } } }),
    twice: () => ({ ok: true, entryPatch: { deedsBox: 1 }, statePatch: { box: 2 } }),
    foreign: () => ({ ok: true, entryPatch: { permissions: 'bypass' } }),
    unknown: () => ({ ok: true, entryPatch: { somebodyElse: 1 } }),
    tell: () => ({ ok: true, inject: [{ text: 'told by a patch' }], continueAgent: true }),
    fail: () => { throw new Error('a secret of the plugin'); },
    refuse: () => ({ ok: false, error: 'Not today' }),
    judged: { handler: () => ({ ok: true }), requiredScopes: ['operator.approvals'] },
  },`,
} as const;

interface Opened {
  readonly home: string;
  readonly server?: ModelServer;
  readonly env?: Record<string, string>;
  readonly config?: string;
}

async function open({ home, server, env = {}, config = '' }: Opened): Promise<Conversation> {
  writePlugin(join(home, 'plugins'), deeds);
  const world = await openConversation({ home, env, config: `plugins.paths = ["plugins"]\n${config}`, ...(server ? { server } : {}) });
  const { plugin } = await world.ask('plugins.get', { id: 'deeds' });
  if (plugin.state !== 'loaded') await world.ask('plugins.enable', { id: 'deeds' });
  const { registrations } = (await world.ask('plugins.get', { id: 'deeds' })).plugin;
  assert.deepEqual(
    registrations.filter(({ accepted }: { accepted: boolean }) => !accepted),
    [],
  );
  return world;
}

let world: Conversation;
let count = 0;
const home = temporaryHome();

before(async () => {
  world = await open({ home });
});
after(async () => {
  await world[Symbol.asyncDispose]();
  rmSync(home, { recursive: true, force: true, maxRetries: 10 });
});

const press = (sessionKey: string, actionId: string, payload?: unknown, more: object = {}) =>
  world.ask('plugins.sessionAction', { pluginId: 'deeds', actionId, sessionKey, ...(payload === undefined ? {} : { payload }), ...more });

async function newSession(): Promise<string> {
  return (await world.ask('sessions.create', { key: `agent:main:deeds-${++count}` })).session.key;
}

const boxOf = async (key: string) => (await world.ask('sessions.get', { key })).session.slots?.deedsBox;

/** Resolves when a handler waits in the session; the nth time, from 0. */
async function waits(key: string, nth = 0): Promise<void> {
  let seen = 0;
  await world.admin.find(({ event, payload }) => event === 'action.required' && payload.sessionKey === key && seen++ === nth);
}

const openGate = () => world.ask('plugin.deeds.open');
const put = (key: string, n: number) => world.ask('sessions.pluginPatch', { key, pluginId: 'deeds', namespace: 'box', value: { n } });

test('what a command changes and queues is committed together, or not at all', async () => {
  verifies('seams:W1');
  const key = await newSession();
  const type = (args: string) => world.admin.request('commands.invoke', { sessionKey: key, text: `/deed ${args}` });
  assert.equal((await type('patch')).payload.reply, 'kept');
  assert.equal((await type('patch')).payload.reply, 'kept');
  const shown = async () => (await world.ask('sessions.get', { key })).session;
  assert.equal((await boxOf(key)).n, 2);
  assert.equal((await shown()).pendingInjections, 2);
  const refused = await type('foreign');
  assert.deepEqual([refused.ok, refused.error?.code, refused.error?.details?.code], [false, 'PLUGIN', 'PLUGIN_FAILED']);
  assert.equal((await boxOf(key)).n, 2);
  assert.equal((await shown()).pendingInjections, 2);
});

describe('state of an action', () => {
  test('is bound to what the handler has read: it is asked again about what somebody else has made of it', async () => {
    verifies('R07', 'seams:W1');
    const key = await newSession();
    const pressed = press(key, 'slow');
    await waits(key);
    await put(key, 5);
    await openGate();
    await waits(key, 1);
    const seen = await openGate();
    assert.deepEqual(await pressed, { ok: true, result: 6 });
    assert.deepEqual(seen.slice(-2), [0, 5]);
    assert.deepEqual(await boxOf(key), { n: 6 });
  });

  test('is refused after three tries, and then nothing is changed', async () => {
    const key = await newSession();
    const pressed = world.refused('plugins.sessionAction', { pluginId: 'deeds', actionId: 'slow', sessionKey: key });
    for (let n = 0; n < 3; n++) {
      await waits(key, n);
      await put(key, 100 + n);
      await openGate();
    }
    const error = await pressed;
    assert.deepEqual([error.code, error.details?.code], ['CONFLICT', 'STALE_REVISION']);
    assert.deepEqual(await boxOf(key), { n: 102 });
  });

  test('is bound to what was only read, too', async () => {
    const key = await newSession();
    const pressed = press(key, 'reads');
    await waits(key);
    await put(key, 1);
    await openGate();
    await waits(key, 1);
    await openGate();
    assert.equal((await pressed).result, 1);
  });

  test('may be updated by the handler itself, which neither waits for itself nor stands in its own way', async () => {
    verifies('compat:C17', 'R07');
    const key = await newSession();
    await put(key, 1);
    assert.deepEqual(await press(key, 'updates'), { ok: true, result: [true, 11] });
    assert.deepEqual(await boxOf(key), { n: 12 });
    const pressed = world.refused('plugins.sessionAction', { pluginId: 'deeds', actionId: 'updates-slowly', sessionKey: key });
    await waits(key);
    await put(key, 50);
    await openGate();
    assert.equal((await pressed).details?.code, 'STALE_REVISION', 'who has written by itself is not asked twice');
    assert.deepEqual(await boxOf(key), { n: 50 });
  });

  test('of many at once: each sees what the one before it left', async () => {
    verifies('R07', 'R17');
    const key = await newSession();
    world.server.next(...Array.from({ length: 20 }, () => ({ text: 'Heard.' })));
    const pressed = await Promise.all(Array.from({ length: 8 }, () => press(key, 'count')));
    assert.deepEqual(
      pressed.map(({ result }) => result),
      [1, 2, 3, 4, 5, 6, 7, 8],
    );
    for (const { runId } of pressed) await world.ended(runId);
    assert.deepEqual(await boxOf(key), { n: 8 });
  });
});

describe('what an action queues', () => {
  test('is told in the turn that it asks for, in order of priority, and is gone', async () => {
    verifies('R06', 'compat:C4', 'seams:W6', 'seams:W14');
    const key = await newSession();
    world.server.next({ text: 'Heard.' });
    const inject = [{ text: 'second' }, { text: 'first', priority: 5 }, { text: 'last', placement: 'append_context' }];
    const { runId } = await press(key, 'queue', { inject, go: true });
    assert.equal((await world.ended(runId)).text, 'Heard.');
    assert.match(told(world.server, 'user').join('|'), /first[\s\S]*second[\s\S]*the plugin The deeds asks the agent to go on[\s\S]*last/);
    assert.equal((await world.ask('sessions.get', { key })).session.pendingInjections, undefined);
  });

  test('waits where it says so; counted for everybody, listed for admins', async () => {
    const key = await newSession();
    const asked = world.server.requests.length;
    const given = { text: 'later', idempotencyKey: 'k', metadata: { why: 1 }, ttlMs: 600_000 };
    assert.deepEqual(await press(key, 'queue', { inject: [given], go: false }), { ok: true, continueAgent: false });
    await press(key, 'queue', { inject: [{ ...given, text: 'another' }], go: false });
    assert.equal((await world.ask('sessions.get', { key })).session.pendingInjections, 1, 'one key waits once');
    const { injections } = await world.ask('sessions.injections', { key });
    const [{ createdAt, expiresAt, ...rest }] = injections;
    assert.equal(expiresAt - createdAt, 600_000);
    assert.deepEqual(rest, { id: 'k', pluginId: 'deeds', text: 'later', placement: 'prepend_context', priority: 0, metadata: { why: 1 } });
    assert.equal(world.server.requests.length, asked, 'nobody was woken');
    assert.equal((await world.refused('sessions.injections', { key: 'agent:main:nowhere' })).code, 'NOT_FOUND');
  });

  test('wakes an idle session where it says nothing: by its result, by a call, by a command', async () => {
    verifies('compat:C5');
    for (const way of ['result', 'call', 'command']) {
      const key = await newSession();
      world.server.next({ text: `Heard ${way}.` });
      if (way === 'command') {
        assert.equal((await world.ask('commands.invoke', { sessionKey: key, text: '/deed wait' })).reply, 'done');
        assert.equal((await world.ask('sessions.get', { key })).session.pendingInjections, 1);
        await world.ask('commands.invoke', { sessionKey: key, text: '/deed' });
      } else if (way === 'call') await press(key, 'enqueue');
      else assert.equal(typeof (await press(key, 'queue', { inject: [{ text: 'by a result' }] })).runId, 'string');
      await world.admin.find(({ event, payload }) => event === 'chat' && payload.kind === 'ended' && payload.sessionKey === key);
      assert.match(told(world.server, 'user').join('|'), new RegExp(`by a ${way}`));
    }
  });

  test('is refused whole where one of it is not fit, or there is no room', async () => {
    verifies('seams:A19');
    const key = await newSession();
    for (const inject of [
      [{ text: '' }],
      [{ text: 'x', priority: 5_000 }],
      [{ text: 'x', ttlMs: -1 }],
      [{ text: 'x', placement: 'up' }],
      'x',
    ]) {
      const params = { pluginId: 'deeds', actionId: 'queue', sessionKey: key, payload: { inject: inject as never } };
      assert.equal((await world.refused('plugins.sessionAction', params)).details?.code, 'INVALID_RESULT', JSON.stringify(inject));
    }
    const many = Array.from({ length: 32 }, (_, n) => ({ text: `${n}` }));
    await press(key, 'queue', { inject: many, go: false });
    const full = { pluginId: 'deeds', actionId: 'queue', sessionKey: key, payload: { inject: [{ text: 'one more' }], go: true } };
    assert.equal((await world.refused('plugins.sessionAction', full)).details?.code, 'INJECTIONS_FULL');
    assert.deepEqual((await world.ask('chat.history', { sessionKey: key })).runs, [], 'nor is a turn begun');
  });

  test('needs its grants, and without them nothing is changed', async () => {
    const key = await newSession();
    for (const grant of ['prompt.inject', 'turns.start']) {
      await world.ask('plugins.revoke', { id: 'deeds', grants: [grant] });
      const error = await world.refused('plugins.sessionAction', { pluginId: 'deeds', actionId: 'count', sessionKey: key });
      assert.deepEqual([error.details?.code, error.details?.grant], ['NOT_GRANTED', grant]);
      assert.ok(error.message.includes(`tenon plugin grant deeds ${grant}`), error.message);
      await world.ask('plugins.grant', { id: 'deeds', grants: [grant] });
    }
    assert.equal(await boxOf(key), undefined);
    assert.deepEqual(await world.history(key), []);
  });
});

describe('sessions.patch with an extension, as the first seed asks for it', () => {
  const patch = (key: string, action: string, payload?: unknown) => ({
    key,
    title: 'After',
    extension: { plugin: 'deeds', action, ...(payload === undefined ? {} : { payload }) },
  });

  test('Round-trip: the handler receives the raw payload and returns ok with entryPatch; the next entry contains the patch', async () => {
    verifies('seed0:round-trip', 'compat:C12');
    const key = await newSession();
    await put(key, 1);
    const { session } = await world.ask('sessions.patch', patch(key, 'noop', { x: 1 }));
    assert.deepEqual([session.title, session.label], ['After', 'patched']);
    assert.deepEqual(await boxOf(key), { n: 2, same: true, scopes: true, live: true, slot: { n: 1 } });
    const patched = (await world.ask('sessions.patch', patch(key, 'slot'))).session;
    assert.deepEqual(patched, (await world.ask('sessions.get', { key })).session, 'the same row that a read gives');
    assert.deepEqual(await boxOf(key), { n: 7 }, 'its own slot is its own state');
    assert.equal((await world.ask('sessions.get', { key })).session.title, 'By the slot');
  });

  test('Unknown plugin: 400 with a clear error', async () => {
    verifies('seed0:unknown-plugin');
    const key = await newSession();
    const error = await world.refused('sessions.patch', { key, extension: { plugin: 'test-plugin', action: 'noop' } });
    assert.deepEqual([error.code, error.details?.code], ['INVALID_REQUEST', 'UNKNOWN_PLUGIN']);
    assert.match(error.message, /Unknown extension: there is no plugin "test-plugin"/);
  });

  test('Unknown action for a known plugin: 400', async () => {
    verifies('seed0:unknown-action');
    const error = await world.refused('sessions.patch', patch(await newSession(), 'nothing'));
    assert.deepEqual([error.code, error.details?.code], ['INVALID_REQUEST', 'UNKNOWN_ACTION']);
  });

  test('Plugin handler throws: 500 surfaced cleanly, not silent', async () => {
    verifies('seed0:handler-throws');
    const key = await newSession();
    for (const action of ['fail', 'foreign', 'unknown', 'twice']) {
      const error = await world.refused('sessions.patch', patch(key, action));
      assert.deepEqual([error.code, error.details?.code, error.details?.plugin], ['PLUGIN', 'PLUGIN_FAILED', 'deeds'], action);
      assert.ok(!JSON.stringify(error).includes('secret'));
    }
    const { session } = await world.ask('sessions.get', { key });
    assert.deepEqual([session.title, session.revision, session.permissions], ['', 1, null]);
  });

  test('Plugin returns ok=false: mutation rejected, error surfaced', async () => {
    verifies('seed0:handler-refuses', 'compat:C15');
    const key = await newSession();
    const error = await world.refused('sessions.patch', patch(key, 'refuse'));
    assert.deepEqual([error.code, error.message, error.details?.code], ['INVALID_REQUEST', 'Not today', 'PLUGIN_REFUSED']);
    assert.equal((await world.ask('sessions.get', { key })).session.title, '');
  });

  test('it tells the agent, which goes on, in the same commit; and asks for the scopes that it declares', async () => {
    verifies('compat:C15', 'compat:C4');
    const key = await newSession();
    world.server.next({ text: 'Heard.' });
    const { session, runId } = await world.ask('sessions.patch', patch(key, 'tell'));
    assert.deepEqual([session.title, session.status], ['After', 'queued']);
    assert.equal((await world.ended(runId)).text, 'Heard.');
    assert.match(told(world.server, 'user').join('|'), /told by a patch/);
    assert.equal((await world.ask('sessions.patch', patch(key, 'judged'))).session.title, 'After');
    const { token } = await world.ask('tokens.create', { name: `writer-${++count}`, scopes: ['operator.write'] });

    await using writer = await connectRaw(world.gateway.socketUrl, token);
    const { error } = await writer.request('sessions.patch', patch(key, 'judged'));
    assert.deepEqual([error?.code, error?.details?.missingScope], ['SCOPE', 'operator.approvals']);
  });
});

for (const engine of engines) {
  test(`${engine}: what was committed before a kill is answered the same after it, and done once`, async () => {
    verifies('R07', 'R06', 'compat:C6', 'seams:W14');
    await killed(engine);
  });
}

test('a gateway that dies right after the end of a turn goes on, when it is back, with what was queued in it', async () => {
  verifies('compat:C5', 'compat:C6', 'R06');
  const place = temporaryHome();
  const server = await startModelServer();
  const sessionKey = 'agent:main:woken';
  try {
    const gate = Promise.withResolvers<void>();
    {
      await using dying = await open({ home: place, server, env: { TENON_FAULT: 'turn.ended' } });
      server.next({ text: ['First', '.'], gate: () => gate.promise });
      const runId = await dying.send('Go', { sessionKey });
      await dying.admin.find(({ event, payload }) => event === 'agent' && payload.stream === 'assistant' && payload.runId === runId);
      const queued = { pluginId: 'deeds', actionId: 'queue', sessionKey, payload: { inject: [{ text: 'kept' }], go: false } };
      await dying.ask('plugins.sessionAction', queued);
      gate.resolve();
      await dying.gateway.exited;
    }
    server.next({ text: 'Second.' });
    const asked = server.requests.length;
    await using back = await open({ home: place, server });
    await server.arrived(asked + 1);
    assert.match(told(server, 'user').join('|'), /kept/);
    const { runs } = await back.ask('chat.history', { sessionKey });
    for (const { run } of runs) await back.ended(run.runId);
    assert.equal((await back.ask('sessions.get', { key: sessionKey })).session.pendingInjections, undefined);
    assert.equal(server.requests.length, asked + 1, 'once');
  } finally {
    await server.close();
    rmSync(place, { recursive: true, force: true, maxRetries: 10 });
  }
});

test('where the operator has switched it off, what is queued waits for the next message', async () => {
  verifies('compat:C5');
  const place = temporaryHome();
  try {
    await using quiet = await open({ home: place, config: 'plugins.wake = false' });
    const sessionKey = 'agent:main:quiet';
    await quiet.ask('sessions.create', { key: sessionKey });
    const pressed = { pluginId: 'deeds', actionId: 'queue', sessionKey, payload: { inject: [{ text: 'patient' }] } };
    assert.deepEqual(await quiet.ask('plugins.sessionAction', pressed), { ok: true });
    await quiet.ask('commands.invoke', { sessionKey, text: '/deed' });
    assert.equal((await quiet.ask('sessions.get', { key: sessionKey })).session.pendingInjections, 2);
    assert.equal(quiet.server.requests.length, 0);
    quiet.server.next({ text: 'Heard.' });
    await quiet.say('Hello', { sessionKey });
    assert.match(told(quiet.server, 'user').join('|'), /patient[\s\S]*by a command[\s\S]*Hello/);
  } finally {
    rmSync(place, { recursive: true, force: true, maxRetries: 10 });
  }
});

/** The gateway dies between the commit and the answer; whoever asked asks again. */
async function killed(engine: Engine): Promise<void> {
  const place = temporaryHome();
  const server = await startModelServer();
  const database = engine === 'postgres' ? await createDatabase() : undefined;
  const config = database ? `store.engine = "postgres"\nstore.url = "${database.url}"` : '';
  try {
    const key = 'agent:main:killed';
    const calls = [
      ['plugins.sessionAction', { pluginId: 'deeds', actionId: 'count', sessionKey: key, idempotencyKey: 'act' }],
      ['sessions.patch', { key, title: 'T', extension: { plugin: 'deeds', action: 'tell' }, idempotencyKey: 'patch' }],
    ] as const;
    {
      await using first = await open({ home: place, server, config });
      await first.ask('sessions.create', { key });
    }
    for (const [method, params] of calls) {
      // Of the answers: connect is none, and each start asks twice what became of the plugin.
      await using dying = await open({ home: place, server, config, env: { TENON_FAULT: 'dispatch.before-reply:3' } });
      await assert.rejects(dying.admin.request(method, params));
    }
    server.next(...Array.from({ length: 4 }, () => ({ text: 'Heard.' })));
    await using back = await open({ home: place, server, config });
    const answers = [];
    for (const [method, params] of calls) {
      const answer = await back.ask(method, params);
      assert.deepEqual(await back.ask(method, params), answer);
      answers.push(answer);
    }
    assert.equal(answers[0].result, 1);
    assert.equal(answers[1].session.title, 'T');
    for (const { runId } of answers) assert.equal((await back.ended(runId)).end.kind, 'completed');
    const { session } = await back.ask('sessions.get', { key });
    assert.deepEqual([session.slots.deedsBox, session.pendingInjections], [{ n: 1 }, undefined]);
    const replies = (await back.history(key)).filter((entry) => entry.type === 'custom');
    assert.equal(replies.length, 1);
    const sent = server.requests.map(({ body }) => JSON.stringify(body?.messages.at(-1)));
    // A turn that was killed at the model asks it again: the same words are the same turn.
    for (const text of ['count is 1', 'told by a patch'])
      assert.equal(new Set(sent.filter((messages) => messages?.includes(text))).size, 1, `${text} is in one turn`);
  } finally {
    await server.close();
    await database?.drop();
    rmSync(place, { recursive: true, force: true, maxRetries: 10 });
  }
}
