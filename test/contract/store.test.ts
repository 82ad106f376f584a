// One suite for both engines. What an operation answers, refuses, emits and leaves behind must not depend on the engine.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError, type Scope } from '@tenon/protocol';
import type { AnswerSlot } from '../../packages/gateway/src/store/answers.ts';
import { reads, type WriteName, writes } from '../../packages/gateway/src/store/operations.ts';
import type { Store } from '../../packages/gateway/src/store/store.ts';
import { engines, keepAll, onBothEngines, openWorld } from '../support/stores.ts';
import { attachmentScript } from '../support/stores-attachments.ts';
import { jobScript } from '../support/stores-jobs.ts';
import { pluginScript } from '../support/stores-plugins.ts';
import { questionScript } from '../support/stores-questions.ts';
import { settled, type Step, turnScript } from '../support/stores-turns.ts';
import { verifies } from '../support/verifies.ts';

const at = 1_000_000;
const all: readonly Scope[] = ['operator.read', 'operator.write', 'operator.approvals', 'operator.pairing', 'operator.admin'];
const admin = { actor: 'token:admin', at, held: all };
const pairer = { actor: 'token:pairer', at, held: ['operator.pairing', 'operator.read'] as Scope[] };
const slot = (key: string, digest = 'd', principal = 'token:a'): AnswerSlot => ({ principal, key, method: 'm', digest, at });
const keep = { ...keepAll, answerMs: 100, eventCount: 5, auditCount: 2 };
const pairing = (n: number, scopes: Scope[] = ['operator.read']) => ({
  requestId: `request-${n}-0123456789`,
  deviceId: String(n).repeat(64),
  publicKey: `key ${n}`,
  name: `device ${n}`,
  platform: 'test',
  scopes,
  address: '127.0.0.1',
  requestedAt: at,
  expiresAt: at + 1_000 * n,
  limit: 3,
});
const token = (n: number, scopes: Scope[] = ['operator.read']) => ({
  id: `token-${n}-0123456789ab`,
  name: `token ${n}`,
  digest: `digest ${n}`,
  salt: `salt ${n}`,
  scopes,
  sessionKey: null,
  expiresAt: n === 2 ? at + 5_000 : null,
  limit: 3,
});

const script: readonly Step[] = [
  ['write', 'sessions.create', { key: 'agent:main:one', fields: { title: 'One', label: 'red', pinned: true }, at }, slot('k1')],
  ['write', 'sessions.create', { key: 'agent:main:one', fields: { title: 'One', label: 'red', pinned: true }, at }, slot('k1')],
  ['write', 'sessions.create', { key: 'agent:main:one', fields: {}, at }, slot('k1', 'another body')],
  ['write', 'sessions.create', { key: 'agent:main:one', fields: {}, at }],
  ['write', 'sessions.create', { key: 'agent:other:two', fields: { archived: true }, at: at + 1 }],
  ['write', 'sessions.patch', { key: 'agent:main:one', fields: { title: 'Uno', label: null }, at: at + 2 }],
  ['write', 'sessions.patch', { key: 'agent:main:one', fields: { pinned: false }, ifRevision: 2, at: at - 50 }],
  ['write', 'sessions.patch', { key: 'agent:main:one', fields: { pinned: true }, ifRevision: 2, at }],
  ['write', 'sessions.patch', { key: 'agent:main:none', fields: {}, at }],
  ['write', 'sessions.reset', { key: 'agent:main:one', at: at + 3 }, slot('k2')],
  ['write', 'sessions.reset', { key: 'agent:main:one', at: at - 1_000 }],
  ['write', 'sessions.reset', { key: 'agent:main:none', at }],
  ['read', 'sessions.get', { key: 'agent:main:one' }],
  ['read', 'sessions.get', { key: 'agent:main:none' }],
  ['read', 'sessions.list', { limit: 10 }],
  ['read', 'sessions.list', { limit: 10, archived: true }],
  ['read', 'sessions.list', { limit: 10, agentId: 'other', archived: true }],
  ['read', 'sessions.list', { limit: 10, search: 'uno' }],
  ['read', 'sessions.list', { limit: 10, cursor: 'nonsense' }],
  ['write', 'sessions.delete', { key: 'agent:other:two', at: at + 4 }, slot('k3')],
  ['write', 'sessions.delete', { key: 'agent:other:two', at: at + 4 }, slot('k3')],
  ['write', 'sessions.delete', { key: 'agent:other:two', at: at + 4 }],
  ['write', 'tokens.putShared', { digest: 'shared', scopes: ['operator.admin'], at }],
  ['write', 'tokens.putShared', { digest: 'shared', scopes: ['operator.admin'], at: at + 1 }],
  ['write', 'tokens.create', { ...admin, ...token(1) }, slot('k4')],
  ['write', 'tokens.create', { ...admin, ...token(1) }, slot('k4')],
  ['write', 'tokens.create', { ...pairer, ...token(2, ['operator.write', 'operator.admin']) }],
  ['write', 'tokens.create', { ...pairer, ...token(2) }],
  ['write', 'tokens.create', { ...admin, ...token(3) }],
  ['write', 'tokens.create', { ...admin, at: at + 6_000, ...token(3, ['operator.admin']) }],
  ['write', 'tokens.rotate', { ...admin, id: token(1).id, digest: 'digest 1b', salt: 'salt 1b' }],
  ['write', 'tokens.rotate', { ...pairer, id: token(3).id, digest: 'x', salt: 'x' }],
  ['write', 'tokens.rotate', { ...admin, id: 'shared-token-file', digest: 'x', salt: 'x' }],
  ['write', 'tokens.rotate', { ...admin, id: 'token-9-0123456789ab', digest: 'x', salt: 'x' }],
  ['write', 'tokens.touch', { id: token(1).id, at: at + 7 }],
  ['read', 'tokens.find', { digest: 'digest 1', at }],
  ['read', 'tokens.find', { digest: 'digest 1b', at }],
  ['read', 'tokens.find', { digest: 'digest 2', at: at + 6_000 }],
  ['write', 'tokens.revoke', { ...pairer, id: token(3).id }],
  ['write', 'tokens.revoke', { ...admin, id: token(1).id }],
  ['write', 'tokens.revoke', { ...admin, at: at + 9, id: token(1).id }],
  ['write', 'tokens.rotate', { ...admin, id: token(1).id, digest: 'x', salt: 'x' }],
  ['read', 'tokens.find', { digest: 'digest 1b', at }],
  ['read', 'tokens.list', {}],
  ['write', 'pairing.request', pairing(1)],
  ['write', 'pairing.request', { ...pairing(1), requestId: 'request-1b-0123456789' }],
  ['write', 'pairing.request', pairing(2, ['operator.read', 'operator.admin'])],
  ['write', 'pairing.request', { ...pairing(2), requestId: 'request-2b-0123456789' }],
  ['write', 'pairing.request', pairing(3)],
  ['write', 'pairing.request', pairing(4)],
  ['read', 'pairing.list', { at }],
  ['read', 'pairing.list', { at: at + 2_500 }],
  ['write', 'pairing.approve', { ...pairer, requestId: pairing(1).requestId, scopes: ['operator.write'], limit: 2 }],
  ['write', 'pairing.approve', { ...admin, requestId: pairing(1).requestId, scopes: ['operator.write'], limit: 2 }],
  ['write', 'pairing.approve', { ...pairer, requestId: pairing(1).requestId, name: 'renamed', limit: 2 }, slot('k5')],
  ['write', 'pairing.approve', { ...pairer, requestId: pairing(1).requestId, name: 'renamed', limit: 2 }, slot('k5')],
  ['write', 'pairing.approve', { ...pairer, requestId: pairing(1).requestId, limit: 2 }],
  ['write', 'pairing.approve', { ...pairer, at: at + 60_000, requestId: 'request-2b-0123456789', limit: 2 }],
  ['write', 'pairing.approve', { ...pairer, requestId: 'request-2b-0123456789', limit: 1 }],
  ['write', 'pairing.reject', { ...pairer, requestId: 'request-2b-0123456789' }],
  ['write', 'pairing.reject', { ...pairer, requestId: 'request-2b-0123456789' }],
  ['write', 'device.touch', { id: '1'.repeat(64), at: at + 8 }],
  ['write', 'device.rename', { ...pairer, id: '1'.repeat(64), name: 'new name' }],
  ['write', 'device.rename', { ...pairer, id: '9'.repeat(64), name: 'new name' }],
  ['read', 'device.find', { id: '1'.repeat(64) }],
  ['read', 'device.list', {}],
  ['write', 'device.revoke', { ...admin, held: [], id: '1'.repeat(64) }],
  ['write', 'device.revoke', { ...pairer, id: '1'.repeat(64) }],
  ['write', 'device.revoke', { ...pairer, at: at + 1, id: '1'.repeat(64) }],
  ['read', 'device.find', { id: '1'.repeat(64) }],
  ['write', 'audit.append', { actor: 'a', action: 'b', target: 'c', details: { deep: ['x', 1, null] }, at }],
  ['read', 'audit.list', { limit: 3 }],
  ['read', 'audit.list', { limit: 2, before: 3 }],
  ['read', 'audit.verifyPage', { limit: 4 }],
  ['write', 'answer.record', { answer: { stopping: true } }, slot('k6')],
  ['write', 'answer.record', { answer: { stopping: false } }, slot('k6')],
  ['write', 'answer.record', { answer: { half: true } }, { ...slot('k8'), isDraft: true }],
  ['write', 'answer.complete', { slot: slot('k8'), lane: 'k8', answer: { whole: 1 } }],
  ['write', 'answer.complete', { slot: slot('k8'), lane: 'k8', answer: { whole: 2 } }],
  ['write', 'answer.complete', { slot: slot('k8', 'another body'), lane: 'k8', answer: {} }],
  ['read', 'answer.find', slot('k8')],
  ['read', 'answer.find', slot('k6')],
  ['read', 'answer.find', slot('k6', 'another body')],
  ['read', 'answer.find', slot('k7')],
  ['read', 'stream.read', { after: 0, limit: 100 }],
  ['read', 'stream.state', {}],
  ['write', 'retention.sweep', { at: at + 60_000, keep }],
  ['write', 'retention.sweep', { at: at + 60_000, keep }],
  ['read', 'stream.read', { after: 0, limit: 2 }],
  ['read', 'stream.state', {}],
  ['read', 'audit.verifyPage', { limit: 10 }],
  ['read', 'tables.count', {}],
  ['write', 'probe', { at }],
];

test('every operation answers, refuses and emits the same on both engines', async () => {
  verifies('foundation:two-engines', 'foundation:sessions', 'foundation:tokens', 'foundation:devices', 'foundation:audit');
  for (const steps of [script, turnScript, pluginScript, jobScript, attachmentScript, questionScript]) {
    const played: unknown[][] = [];
    for (const engine of engines) {
      await using world = await openWorld(engine);
      played.push(withoutRandomness(await play(world.store, steps)) as unknown[]);
    }
    const [sqlite = [], postgres = []] = played;
    for (const [index, outcome] of sqlite.entries()) assert.deepEqual(postgres[index], outcome);
  }
});

test('the scripts have every operation of the table', () => {
  const names = new Set(
    [...script, ...turnScript, ...pluginScript, ...jobScript, ...attachmentScript, ...questionScript].map(([, name]) => name),
  );
  assert.deepEqual(
    [...Object.keys(writes), ...Object.keys(reads)].filter((name) => !names.has(name as WriteName)),
    [],
  );
});

onBothEngines('what the operations answer is what the caller asked for', async ({ store }) => {
  const { session } = await store.write('sessions.create', { key: 'agent:main:a', fields: { title: 'A', label: 'x' }, at });
  assert.deepEqual(
    { ...session, sessionId: '' },
    {
      key: 'agent:main:a',
      sessionId: '',
      agentId: 'main',
      title: 'A',
      label: 'x',
      pinned: false,
      archived: false,
      model: null,
      thinking: null,
      permissions: null,
      queue: null,
      status: 'idle',
      revision: 1,
      createdAt: at,
      updatedAt: at,
    },
  );
  const reset = await store.write('sessions.reset', { key: session.key, at: at + 1 });
  assert.notEqual(reset.session.sessionId, session.sessionId);
  assert.deepEqual(await store.read('sessions.get', { key: session.key }), reset);
  const stale = store.write('sessions.patch', { key: session.key, fields: { title: 'B' }, ifRevision: 1, at });
  await assert.rejects(stale, { code: 'CONFLICT', details: { code: 'STALE_REVISION', revision: 2 } });
  assert.deepEqual(await store.write('sessions.delete', { key: session.key, at }), { key: session.key, deleted: true });
  await assert.rejects(store.read('sessions.get', { key: session.key }), { code: 'NOT_FOUND' });
});

onBothEngines('a repeat gets the first answer, also at the same time, also after a restart', async (world) => {
  verifies('R03', 'foundation:idempotency-conflict');
  const create = (key: string, who?: AnswerSlot) => world.store.write('sessions.create', { key, fields: {}, at }, who);
  const together = await Promise.all(Array.from({ length: 20 }, () => create('agent:main:a', slot('k'))));
  assert.equal(new Set(together.map((answer) => JSON.stringify(answer))).size, 1);
  await world.reopen();
  assert.deepEqual(await create('agent:main:a', slot('k')), together[0]);
  await assert.rejects(create('agent:main:b', slot('k', 'other')), { code: 'IDEMPOTENCY_CONFLICT' });
  await assert.rejects(world.store.read('sessions.get', { key: 'agent:main:b' }), { code: 'NOT_FOUND' });
  const { session } = await create('agent:main:b', slot('k', 'd', 'token:b'));
  assert.equal(session.key, 'agent:main:b', 'the key of another principal is another key');
  assert.equal((await world.store.read('stream.state', {})).head, 2);
});

onBothEngines('a refused request leaves nothing: no row, no event, no position, and its key is free', async ({ store, told }) => {
  await store.write('sessions.create', { key: 'agent:main:a', fields: {}, at });
  const before = await store.read('stream.state', {});
  const refused = store.write('sessions.create', { key: 'agent:main:a', fields: { title: 'second' }, at }, slot('free'));
  await assert.rejects(refused, { code: 'CONFLICT' });
  const wide = { ...pairer, ...token(1, ['operator.admin']) };
  await assert.rejects(store.write('tokens.create', wide), {
    code: 'SCOPE',
    details: { code: 'MISSING_SCOPE', missingScopes: ['operator.admin'] },
  });
  assert.deepEqual(await store.read('stream.state', {}), before);
  assert.deepEqual(await store.read('tokens.list', {}), []);
  assert.deepEqual(await store.read('audit.list', { limit: 10 }), []);
  await store.write('sessions.create', { key: 'agent:main:b', fields: {}, at }, slot('free', 'other'));
  await settled(() => told.events.length === 2);
  assert.deepEqual(
    told.events.map(({ seq, sessionKey }) => [seq, sessionKey]),
    [
      [1, 'agent:main:a'],
      [2, 'agent:main:b'],
    ],
  );
});

onBothEngines('a failing operation does not harm those beside it', async ({ store }) => {
  const outcomes = await Promise.allSettled(
    Array.from({ length: 60 }, (_, n) =>
      n % 3 === 0
        ? store.write('sessions.patch', { key: `agent:main:none${n}`, fields: {}, at })
        : // A title that is no text is a bug of the caller, and stays with the caller.
          store.write('sessions.create', { key: `agent:main:s${n}`, fields: { title: n % 3 === 1 ? `t${n}` : (n as never) }, at }),
    ),
  );
  const kinds = outcomes.map((outcome) => (outcome.status === 'fulfilled' ? 'ok' : (outcome.reason as { code?: string }).code));
  assert.deepEqual(
    kinds.map((kind, n) => [n % 3, kind === 'ok' ? 'ok' : kind === 'NOT_FOUND' ? 'NOT_FOUND' : 'failed']),
    kinds.map((_, n) => [n % 3, n % 3 === 0 ? 'NOT_FOUND' : n % 3 === 1 ? 'ok' : 'failed']),
  );
  const { sessions } = await store.read('sessions.list', { limit: 100 });
  assert.equal(sessions.length, 20);
  assert.equal((await store.read('stream.state', {})).head, 20);
});

onBothEngines('close waits for what was accepted and refuses what comes after', async (world) => {
  const accepted = Array.from({ length: 300 }, (_, n) =>
    world.store.write('sessions.create', { key: `agent:main:${n % 2 ? 'a' : 'b'}${n}`, fields: {}, at }),
  );
  const sameLane = Array.from({ length: 50 }, (_, n) =>
    world.store.write('sessions.patch', { key: 'agent:main:b0', fields: { title: `t${n}` }, at }),
  );
  const closed = world.store.close();
  await assert.rejects(world.store.write('probe', { at }), { code: 'UNAVAILABLE' });
  await closed;
  const outcomes = await Promise.allSettled([...accepted, ...sameLane]);
  assert.deepEqual(
    outcomes.filter((outcome) => outcome.status === 'rejected').map((outcome) => outcome.reason),
    [],
  );
  await world.reopen();
  const { session } = await world.store.read('sessions.get', { key: 'agent:main:b0' });
  assert.deepEqual([session.title, session.revision], ['t49', 51]);
  assert.equal((await world.store.read('stream.state', {})).head, 350);
});

async function play(store: Store, steps: readonly Step[]): Promise<object[]> {
  const outcomes: object[] = [];
  const answers = new Map<string, unknown>();
  const last = (name: string) => answers.get(name) as never;
  for (const [kind, name, given, who] of steps as readonly (readonly ['write' | 'read', never, unknown, AnswerSlot?])[]) {
    const args = (typeof given === 'function' ? given(last) : given) as never;
    const step = `${name} ${JSON.stringify(args)}`;
    try {
      const answer: unknown = kind === 'write' ? await store.write(name, args, who) : await store.read(name, args);
      answers.set(name, answer);
      outcomes.push({ step, answer });
    } catch (error) {
      // A fault of ours has no place here: only what is refused is an outcome.
      if (!(error instanceof GatewayError) || error.code === 'INTERNAL') throw new Error(step, { cause: error });
      outcomes.push({ step, refused: error.code, message: error.message, details: error.details });
    }
  }
  return outcomes;
}

/**
 * Random ids become the order in which they appear, so that who shares one with whom still shows. The number of a row
 * says nothing: PostgreSQL does not give one again that it gave to a request which was refused.
 */
function withoutRandomness(value: unknown): unknown {
  const seen = new Map<string, string>();
  const text = JSON.stringify(value, (name, inner: unknown) => {
    if (typeof inner === 'string') return inner.replaceAll(/[\w-]{22}/g, named);
    return name === 'next' && typeof inner === 'number' ? '<number>' : inner;
  });
  function named(id: string): string {
    if (/^[0-9]+$/.test(id) || id.includes('0123456789')) return id;
    if (!seen.has(id)) seen.set(id, `<id ${seen.size}>`);
    return seen.get(id) as string;
  }
  return JSON.parse(text);
}
