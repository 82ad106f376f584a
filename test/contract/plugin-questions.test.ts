// Questions that plugins ask the operator from their own code: durable, attributed, bounded, and never a yes by silence.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createApprovals } from '../../packages/gateway/src/agent/approvals.ts';
import { askPerson } from '../../packages/gateway/src/agent/plugin-questions.ts';
import type { AskedPerson, PersonQuestion } from '../../packages/gateway/src/host/plugin-questions.ts';
import { openStore } from '../../packages/gateway/src/store/open.ts';
import type { Store } from '../../packages/gateway/src/store/store.ts';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { createManualClock } from '../support/clock.ts';
import { openHostWorld, SESSION, writePlugin } from '../support/plugins.ts';
import { onBothEngines } from '../support/stores.ts';
import { at, begin, key, settled, spoken } from '../support/stores-turns.ts';
import { verifies } from '../support/verifies.ts';
import type { RegisterApi } from '@tenon/plugin-sdk';

const asked = (more: object = {}) => ({
  key,
  pluginId: 'one',
  askId: 'ask-1',
  agentId: 'main',
  title: 'May I?',
  reason: 'one: because',
  digest: 'of the question',
  allowed: ['allow-once' as const, 'deny' as const],
  expiresAt: at + 1_000,
  at,
  ...more,
});

onBothEngines('a question of a plugin is asked once, is its own, and its answer stands when it is asked again', async (world) => {
  verifies('seams:W18');
  const { store } = world;
  await store.write('sessions.create', { key, fields: {}, at });
  const first = await store.write('approvals.askForPlugin', asked());
  assert.ok('approval' in first);
  const { approval } = first;
  assert.deepEqual(
    [approval.pluginId, approval.principal, approval.state, approval.runId, approval.toolName, approval.callId],
    ['one', 'plugin:one', 'pending', undefined, undefined, undefined],
  );
  await settled(() => spoken(world.told.events).includes('approval.requested'));
  await world.reopen();
  const again = await world.store.write('approvals.askForPlugin', asked({ expiresAt: at + 9_000 }));
  assert.deepEqual(again, { approval }, 'also after a restart, and no longer than it was said first');
  await assert.rejects(world.store.write('approvals.askForPlugin', asked({ digest: 'another', title: 'Another?' })), { code: 'CONFLICT' });
  await world.store.write('approvals.resolve', { id: approval.id, decision: 'allow-once', by: 'token:operator', at: at + 1 });
  const decided = await world.store.write('approvals.askForPlugin', asked());
  assert.ok('approval' in decided);
  assert.deepEqual([decided.approval.id, decided.approval.state, decided.approval.decision], [approval.id, 'allowed', 'allow-once']);
  const other = await world.store.write('approvals.askForPlugin', asked({ pluginId: 'two' }));
  assert.ok('approval' in other && other.approval.state === 'pending', 'the key of another plugin is another key');
  await assert.rejects(world.store.write('approvals.askForPlugin', asked({ key: 'agent:main:none' })), { code: 'NOT_FOUND' });
  await world.store.write('sessions.reset', { key, at: at + 2 });
  const anew = await world.store.write('approvals.askForPlugin', asked({ at: at + 3 }));
  assert.ok(
    'approval' in anew && anew.approval.state === 'pending' && anew.approval.id !== approval.id,
    'in another conversation it is another question',
  );
});

onBothEngines(
  'a plugin has so many questions waiting and no more, and they say nothing about the turns of the session',
  async ({ store }) => {
    verifies('seams:W18');
    const other = 'agent:main:other';
    for (const each of [key, other]) await store.write('sessions.create', { key: each, fields: {}, at });
    for (let n = 0; n < 8; n++) await store.write('approvals.askForPlugin', asked({ askId: `a${n}`, digest: `d${n}` }));
    await assert.rejects(store.write('approvals.askForPlugin', asked({ askId: 'b', digest: 'b' })), { code: 'TOO_LARGE' });
    await store.write('approvals.askForPlugin', asked({ askId: 'b', digest: 'b', key: other }));
    await begin(store, 'r1');
    assert.equal((await store.read('sessions.get', { key })).session.status, 'running', 'the turn does not wait for it');
    const { approvals } = await store.write('approvals.voidFor', { ofPlugin: 'one', at: at + 1 });
    assert.equal(approvals.length, 9);
    const [voided] = approvals;
    const anew = await store.write('approvals.askForPlugin', asked({ askId: 'a0', digest: 'd0' }));
    assert.ok('approval' in anew && anew.approval.state === 'pending' && anew.approval.id !== voided?.id, 'withdrawn is not answered');
  },
);

onBothEngines('"always" is a rule for exactly this question of this plugin', async ({ store }) => {
  await store.write('sessions.create', { key, fields: {}, at });
  const allowed = ['allow-once', 'allow-always', 'deny'] as const;
  const first = await store.write('approvals.askForPlugin', asked({ allowed: [...allowed] }));
  assert.ok('approval' in first);
  await store.write('approvals.resolve', { id: first.approval.id, decision: 'allow-always', by: 'token:operator', at });
  const { rules } = await store.read('approvals.rules', { limit: 10 });
  assert.deepEqual(
    rules.map(({ toolName, digest }) => [toolName, digest]),
    [['plugin:one', 'of the question']],
  );
  assert.deepEqual(await store.write('approvals.askForPlugin', asked({ askId: 'next', allowed: [...allowed] })), { always: true });
  const narrower = await store.write('approvals.askForPlugin', asked({ askId: 'narrow' }));
  assert.ok('approval' in narrower, 'who does not offer "always" wants to be answered each time');
  const foreign = await store.write('approvals.askForPlugin', asked({ pluginId: 'two', allowed: [...allowed] }));
  assert.ok('approval' in foreign);
  await store.write('approvals.removeRule', { id: rules[0]!.id, by: 'token:operator', at });
  const after = await store.write('approvals.askForPlugin', asked({ askId: 'later', allowed: [...allowed] }));
  assert.ok('approval' in after);
});

/** The part of the agents that waits, over a real store, with a clock that the test moves. */
async function openAsking(maxWaitMs = 60_000) {
  const home = mkdtempSync(join(tmpdir(), 'tenon-questions-'));
  const clock = createManualClock();
  const log = pino({ enabled: false });
  const listeners: ((batch: Parameters<typeof approvals.committed>[0]) => void)[] = [];
  const store: Store = await openStore(
    { home, engine: 'sqlite', url: '', maxBytes: 0, now: clock.now() },
    {
      events: (batch) => {
        for (const listen of listeners) listen(batch);
      },
      auditHead() {},
      health() {},
    },
  );
  const approvals = createApprovals({ store, clock, log });
  listeners.push((batch) => approvals.committed(batch));
  await store.write('sessions.create', { key, fields: {}, at: clock.now() });
  const leaving = new AbortController();
  return {
    store,
    clock,
    leaving,
    ask: (more: Partial<PersonQuestion> = {}): Promise<AskedPerson> =>
      askPerson({ plugin: 'one', sessionKey: key, title: 'May I?', description: 'because', ...more }, leaving.signal, {
        store,
        clock,
        approvals,
        maxWaitMs,
      }),
    async pending() {
      for (;;) {
        const { approvals: found } = await store.read('approvals.list', { state: 'pending', limit: 10 });
        if (found[0]) return found[0];
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
    async [Symbol.asyncDispose]() {
      approvals.close();
      await store.close();
      rmSync(home, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

// "attributes trusted policy approval requests to the owning plugin" holds for what its code asks, too.
test('a plugin that asks is told what a person decided, and the question names it', async () => {
  verifies('seams:W18');
  await using world = await openAsking();
  for (const decision of ['allow-once', 'deny'] as const) {
    const asking = world.ask({ idempotencyKey: `of ${decision}` });
    const { id, pluginId, reason, allowed, expiresAt } = await world.pending();
    assert.deepEqual([pluginId, reason, allowed, expiresAt], ['one', 'one: because', ['allow-once', 'deny'], world.clock.now() + 60_000]);
    await world.store.write('approvals.resolve', { id, decision, by: 'token:operator', at: world.clock.now() });
    assert.deepEqual(await asking, { kind: 'decided', decision, by: 'person' });
    assert.deepEqual(await world.ask({ idempotencyKey: `of ${decision}` }), { kind: 'decided', decision, by: 'person' }, 'again');
  }
});

test('nobody answers: that is a no, at the time that the operator allows at most', async () => {
  verifies('seams:W18');
  await using world = await openAsking(10_000);
  const asking = world.ask({ timeoutMs: 999_999, idempotencyKey: 'k', allowedDecisions: ['allow-once'] });
  const { expiresAt, allowed } = await world.pending();
  assert.equal(expiresAt, world.clock.now() + 10_000);
  assert.deepEqual(allowed, ['allow-once', 'deny'], 'to say no is always possible');
  world.clock.advance(10_001);
  assert.deepEqual(await asking, { kind: 'decided', decision: 'deny', by: 'timeout' });
  assert.deepEqual(await world.ask({ allowedDecisions: ['allow-once'], idempotencyKey: 'k' }), {
    kind: 'decided',
    decision: 'deny',
    by: 'timeout',
  });
});

test('a load that ends leaves a question that it can ask for again, and withdraws one that nobody could', async () => {
  await using world = await openAsking();
  const kept = world.ask({ idempotencyKey: 'k', title: 'Kept?' });
  const first = await world.pending();
  const lost = world.ask({ title: 'Lost?' });
  while ((await world.store.read('approvals.list', { state: 'pending', limit: 10 })).approvals.length < 2)
    await new Promise((resolve) => setImmediate(resolve));
  world.leaving.abort();
  assert.deepEqual([await kept, await lost], [{ kind: 'left' }, { kind: 'left' }]);
  const { approvals } = await world.store.read('approvals.list', { state: 'pending', limit: 10 });
  assert.deepEqual(
    approvals.map(({ id }) => id),
    [first.id],
  );
});

test('what a plugin asks is checked and bounded before anybody sees it, and its outcome is a value', async () => {
  verifies('seams:W7');
  await using world = await openHostWorld();
  writePlugin(world.place, { id: 'one', grants: ['approvals.request'], register: 'note(api);' });
  const waiting = Promise.withResolvers<AskedPerson>();
  let outcome: () => Promise<AskedPerson> = () => Promise.resolve({ kind: 'decided', decision: 'deny', by: 'timeout' });
  const shown: PersonQuestion[] = [];
  const host = await world.open({
    askPerson: (question) => {
      shown.push(question);
      return outcome();
    },
  });
  await host.enable('one', { by: 'token:admin' });
  const api = world.notes.at(-1) as RegisterApi;
  const { requestApproval } = api.session.workflow;
  const good = { sessionKey: SESSION, title: 'May I?\u202e', description: 'because' };
  assert.deepEqual(await requestApproval(good), { ok: true, decision: 'deny', by: 'timeout' });
  assert.doesNotMatch(shown[0]?.title ?? '', /\u202e/);
  assert.equal(shown[0]?.plugin, 'one');
  const bad = [
    { ...good, title: ' ' },
    { ...good, title: 'x'.repeat(81) },
    { ...good, description: 'x'.repeat(513) },
    { ...good, sessionKey: 'nowhere' },
    { ...good, allowedDecisions: [] },
    { ...good, allowedDecisions: ['deny'] },
    { ...good, allowedDecisions: ['maybe'] },
    { ...good, timeoutMs: 0 },
    { ...good, plugin: 'two' },
    { ...good, idempotencyKey: '' },
  ];
  for (const each of bad) {
    const refused = await requestApproval(each as typeof good);
    assert.equal(!refused.ok && refused.reason, 'invalid', JSON.stringify(each).slice(0, 120));
  }
  assert.equal(shown.length, 1);
  outcome = () => Promise.resolve({ kind: 'withdrawn' });
  const withdrawn = await requestApproval(good);
  assert.equal(!withdrawn.ok && withdrawn.reason, 'unavailable');

  outcome = () => waiting.promise;
  const many = Array.from({ length: 64 }, () => requestApproval(good));
  const over = await requestApproval(good);
  assert.equal(!over.ok && over.reason, 'limit');
  await host.revoke('one', ['approvals.request'], { by: 'token:admin' });
  waiting.resolve({ kind: 'decided', decision: 'allow-once', by: 'person' });
  for (const each of await Promise.all(many)) assert.equal(!each.ok && each.reason, 'not-granted', 'a yes that comes too late is none');
});
