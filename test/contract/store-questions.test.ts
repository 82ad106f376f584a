// Questions of extensions in the store, on both engines: kept before anybody sees them, settled once, and on record afterwards.
import assert from 'node:assert/strict';
import type { UiReply } from '@tenon/protocol';
import type { Store } from '../../packages/gateway/src/store/store.ts';
import { keepAll, onBothEngines } from '../support/stores.ts';
import { verifies } from '../support/verifies.ts';

const at = 1_000;
const key = 'agent:main:talk';
let count = 0;

interface Given {
  readonly kind?: 'select' | 'confirm' | 'input';
  readonly key?: string;
  readonly extension?: string;
  readonly via?: string;
  readonly confirmedBy?: string;
}

async function ask(store: Store, { kind = 'confirm', key: session = key, extension = 'notes', ...more }: Given = {}): Promise<string> {
  const asked = { prompt: 'Go on?', ...(kind === 'select' ? { options: ['a', 'b'] } : {}) };
  const id = `question-${String(++count).padStart(8, '0')}`;
  const { question } = await store.write('ui.ask', { key: session, id, extension, kind, asked, expiresAt: at + 120, at, ...more });
  return question.id;
}

async function open(store: Store, ...keys: string[]): Promise<void> {
  for (const each of [key, ...keys]) await store.write('sessions.create', { key: each, fields: {}, at });
}

const give = (store: Store, id: string, reply: UiReply, more: { by?: string; boundTo?: string; at?: number } = {}) =>
  store.write('ui.answer', { id, reply, by: 'token:a', at: at + 1, ...more });

async function codeOf(work: Promise<unknown>): Promise<string> {
  const error = (await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )) as { code: string; details?: { code: string } } | undefined;
  return error ? [error.code, error.details?.code].filter(Boolean).join(' ') : 'done';
}

onBothEngines('of many answers to a question of an extension the first counts; the answer of an input is not kept', async (world) => {
  verifies('sep:ui', 'sep:G19');
  const { store } = world;
  await open(store, 'agent:main:other');
  const id = await ask(store, { kind: 'select' });
  assert.equal(await codeOf(give(store, id, { value: 'c' })), 'INVALID_REQUEST WRONG_REPLY');
  assert.equal(await codeOf(give(store, id, { confirmed: true })), 'INVALID_REQUEST WRONG_REPLY');
  assert.equal(await codeOf(give(store, id, { value: 'a' }, { boundTo: 'agent:main:other' })), 'NOT_FOUND');
  const outcomes = await Promise.all(
    Array.from({ length: 8 }, (_, n) => codeOf(give(store, id, { value: n % 2 === 0 ? 'a' : 'b' }, { by: `token:${n}` }))),
  );
  assert.deepEqual(outcomes.toSorted(), [...Array(7).fill('GONE ALREADY_ANSWERED'), 'done']);
  const { question } = await store.read('ui.get', { id });
  assert.equal(question?.state, 'answered');
  assert.ok(question?.answeredBy?.startsWith('token:'));
  const secret = await ask(store, { kind: 'input' });
  await give(store, secret, { text: 'hunter2' });
  const kept = await store.read('ui.get', { id: secret });
  assert.deepEqual([kept.question?.state, kept.question?.answer], ['answered', undefined]);
  assert.ok(!JSON.stringify([world.told.events, kept]).includes('hunter2'));
  assert.deepEqual((await store.read('ui.pending', { limit: 10 })).questions, []);
});

onBothEngines('a question survives a restart, is settled once when nobody waits for it, and is forgotten after a while', async (world) => {
  verifies('sep:ui', 'sep:G19');
  await open(world.store, 'agent:main:other');
  const first = await ask(world.store);
  const second = await ask(world.store, { key: 'agent:main:other', extension: 'other' });
  await world.reopen();
  const { store } = world;
  assert.deepEqual(
    (await store.read('ui.pending', { limit: 10 })).questions.map(({ id }) => id),
    [first, second],
  );
  assert.deepEqual(
    (await store.read('ui.pending', { key, limit: 10 })).questions.map(({ id }) => id),
    [first],
  );
  const gone = { state: 'cancelled', reason: 'the gateway was restarted', at: at + 2 } as const;
  assert.deepEqual(await store.write('ui.settle', { which: { extension: 'other' }, ...gone }), { settled: 1 });
  assert.deepEqual(await store.write('ui.settle', { which: { all: true }, ...gone }), { settled: 1 });
  assert.deepEqual(await store.write('ui.settle', { which: { id: first }, ...gone }), { settled: 0 });
  assert.equal(await codeOf(give(store, first, { confirmed: true })), 'GONE ALREADY_ANSWERED');
  const { question } = await store.read('ui.get', { id: first });
  assert.deepEqual([question?.state, question?.reason, question?.settledAt], ['cancelled', gone.reason, at + 2]);
  const swept = await store.write('retention.sweep', { at: at + 100, keep: { ...keepAll, approvalMs: 10 } });
  assert.equal(swept.questions, 2);
});

onBothEngines(
  'what waits is bounded for an extension and for a credential; time, a reset and a deleted session end it',
  async ({ store, told }) => {
    verifies('sep:G12', 'sep:ui');
    await open(store, 'agent:main:other');
    for (let n = 0; n < 16; n++) await ask(store);
    assert.equal(await codeOf(ask(store)), 'TOO_LARGE');
    for (let n = 0; n < 16; n++) await ask(store, { via: 'token:run', extension: `far-${n}` });
    assert.equal(await codeOf(ask(store, { via: 'token:run', extension: 'one-more' })), 'TOO_LARGE');
    const late = await ask(store, { extension: 'late', key: 'agent:main:other' });
    assert.equal(await codeOf(give(store, late, { confirmed: true }, { at: at + 120 })), 'GONE EXPIRED');
    await store.write('sessions.reset', { key, at: at + 3 });
    await store.write('sessions.delete', { key: 'agent:main:other', at: at + 4 });
    assert.deepEqual((await store.read('ui.pending', { limit: 100 })).questions, []);
    assert.equal((await store.read('ui.get', { id: late })).question, undefined);
    const reasons = told.events.flatMap(({ event, payload }) => (event === 'ui.resolved' ? (JSON.parse(payload).reason as string) : []));
    assert.deepEqual([reasons.filter((each) => each === 'the session was reset').length, reasons.at(-1)], [32, 'the session was deleted']);
    assert.equal(await codeOf(ask(store, { key: 'agent:main:nowhere' })), 'NOT_FOUND');
  },
);

onBothEngines('a yes that a setting gives is on record and in the audit log', async ({ store }) => {
  verifies('sep:ui');
  await open(store);
  const id = await ask(store, { confirmedBy: 'setting:extensions.autoConfirm' });
  const { question } = await store.read('ui.get', { id });
  assert.deepEqual(
    [question?.state, question?.answer, question?.answeredBy],
    ['answered', { confirmed: true }, 'setting:extensions.autoConfirm'],
  );
  const records = await store.read('audit.list', { limit: 5 });
  assert.deepEqual(
    records.map(({ action, actor, target }) => [action, actor, target]),
    [['ui.autoConfirm', 'setting:extensions.autoConfirm', id]],
  );
});
