// Approvals in the store, on both engines: asked once, answered once, and never granted by anything but an answer.
import assert from 'node:assert/strict';
import type { Decision, Scope } from '@tenon/protocol';
import type { Store } from '../../packages/gateway/src/store/store.ts';
import { onBothEngines } from '../support/stores.ts';
import { at, begin, completed, key, message, question, settled, spoken } from '../support/stores-turns.ts';
import { verifies } from '../support/verifies.ts';

const held: readonly Scope[] = ['operator.read', 'operator.admin', 'operator.pairing'];
const admin = { actor: 'token:admin', at: at + 7, held };

async function ask(store: Store, runId = 'r1', callId = 'c1', more: Parameters<typeof question>[2] = {}): Promise<string> {
  return (await store.write('approvals.request', question(runId, callId, more))).approval.id;
}

async function statusOf(store: Store): Promise<string> {
  return (await store.read('sessions.get', { key })).session.status;
}

onBothEngines('a question is asked once, survives a restart, and is shown as it was asked', async (world) => {
  verifies('S56');
  await begin(world.store, 'r1');
  const asked = await Promise.all(Array.from({ length: 10 }, () => world.store.write('approvals.request', question('r1', 'c1'))));
  assert.equal(asked.filter(({ created }) => created).length, 1);
  assert.equal(new Set(asked.map(({ approval }) => approval.id)).size, 1);
  const { key: sessionKey, at: createdAt, ...shown } = question('r1', 'c1');
  const pending = { ...shown, id: asked[0]?.approval.id, sessionKey, createdAt, state: 'pending' };
  assert.equal(await statusOf(world.store), 'waiting');
  await settled(() => spoken(world.told.events).includes('sessions.changed activity waiting'));
  assert.equal(spoken(world.told.events).filter((event) => event === 'approval.requested').length, 1);
  await world.reopen();
  assert.deepEqual(await world.store.read('approvals.list', { limit: 10 }), { approvals: [pending] });
  assert.deepEqual(await world.store.read('approvals.list', { limit: 10, sessionKey: 'agent:main:other' }), { approvals: [] });
  const other = await world.store.write('approvals.request', question('r1', 'c1', { digest: 'of other bytes' }));
  assert.equal(other.created, true, 'another digest is another question');
});

onBothEngines('of many answers the first counts, and the others are told which it was', async ({ store, told }) => {
  verifies('S54');
  await begin(store, 'r1');
  const id = await ask(store);
  const answers: Decision[] = Array.from({ length: 12 }, (_, n) => (['allow-once', 'deny', 'allow-always'] as const)[n % 3] as Decision);
  const outcomes = await Promise.allSettled(
    answers.map((decision, n) => store.write('approvals.resolve', { id, decision, by: `token:${n}`, at: at + n })),
  );
  const won = outcomes.filter((outcome) => outcome.status === 'fulfilled').map((outcome) => outcome.value.approval);
  assert.equal(won.length, 1);
  const [approval] = won;
  assert.ok(approval);
  const { state, decision = 'deny', decidedBy = '' } = approval;
  assert.equal(state, decision === 'deny' ? 'denied' : 'allowed');
  for (const outcome of outcomes) {
    if (outcome.status === 'fulfilled') continue;
    const { code, details } = outcome.reason as { code: string; details: unknown };
    assert.deepEqual({ code, details }, { code: 'GONE', details: { code: 'ALREADY_DECIDED', state, decision, decidedBy } });
  }
  assert.deepEqual((await store.read('approvals.get', { id })).approval, approval);
  assert.equal(await statusOf(store), 'running');
  const { rules } = await store.read('approvals.rules', { limit: 10 });
  assert.equal(rules.length, decision === 'allow-always' ? 1 : 0);
  const audit = await store.read('audit.list', { limit: 10 });
  assert.deepEqual(
    audit.map(({ actor, action, target, details }) => ({ actor, action, target, details })),
    [
      {
        actor: decidedBy,
        action: 'approvals.resolve',
        target: id,
        details: { decision, sessionKey: key, runId: 'r1', toolName: 'exec', digest: approval.digest },
      },
    ],
  );
  await settled(() => told.events.some(({ event }) => event === 'approval.resolved'));
  const resolved = told.events.filter(({ event }) => event === 'approval.resolved').map(({ payload }) => JSON.parse(payload) as unknown);
  assert.deepEqual(resolved, [{ sessionKey: key, id, state, decision, decidedBy }]);
});

onBothEngines('an answer that comes too late, or that was not offered, decides nothing', async ({ store }) => {
  verifies('S54');
  await begin(store, 'r1');
  const id = await ask(store, 'r1', 'c1', { allowed: ['allow-once', 'deny'] });
  const resolve = (decision: Decision, when: number) => store.write('approvals.resolve', { id, decision, by: 'token:a', at: when });
  await assert.rejects(resolve('allow-always', at), {
    code: 'INVALID_REQUEST',
    details: { code: 'DECISION_NOT_ALLOWED', allowed: ['allow-once', 'deny'] },
  });
  await assert.rejects(resolve('allow-once', at + 1_000), { code: 'GONE', details: { code: 'EXPIRED', expiresAt: at + 1_000 } });
  assert.deepEqual(await store.write('approvals.expire', { at: at + 999 }), { approvals: [], more: false });
  const { approvals } = await store.write('approvals.expire', { at: at + 1_000 });
  assert.deepEqual(
    approvals.map((approval) => [approval.id, approval.state, approval.decision, approval.decidedAt]),
    [[id, 'expired', undefined, at + 1_000]],
  );
  assert.equal(await statusOf(store), 'running');
  await assert.rejects(resolve('allow-once', at), { code: 'GONE', details: { code: 'ALREADY_DECIDED', state: 'expired' } });
  const again = await store.write('approvals.request', question('r1', 'c1'));
  assert.deepEqual([again.created, again.approval.state], [false, 'expired'], 'the same thing is not asked until somebody gives in');
  assert.deepEqual(await store.read('approvals.rules', { limit: 10 }), { rules: [] });
});

onBothEngines('many that expire together do so in bounded steps', async ({ store }) => {
  await begin(store, 'r1');
  await Promise.all(Array.from({ length: 520 }, (_, n) => store.write('approvals.request', question('r1', `c${n}`))));
  const first = await store.write('approvals.expire', { at: at + 1_000 });
  const second = await store.write('approvals.expire', { at: at + 1_000 });
  assert.deepEqual([first.approvals.length, first.more, second.approvals.length, second.more], [500, true, 20, false]);
  let cursor: string | undefined;
  const ids = new Set<string>();
  do {
    const page = await store.read('approvals.list', { state: 'decided', limit: 200, ...(cursor === undefined ? {} : { cursor }) });
    for (const { id } of page.approvals) ids.add(id);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  assert.equal(ids.size, 520);
});

onBothEngines('always for exactly this is one rule, found by the exact bytes, and can be taken back', async ({ store }) => {
  verifies('S55');
  await begin(store, 'r1');
  for (const callId of ['c1', 'c2']) {
    const id = await ask(store, 'r1', callId, { digest: 'the same' });
    await store.write('approvals.resolve', { id, decision: 'allow-always', by: 'token:a', at });
  }
  const { rules } = await store.read('approvals.rules', { limit: 10 });
  assert.equal(rules.length, 1);
  const [rule] = rules;
  assert.ok(rule);
  const found = (more: object) =>
    store.read('approvals.findRule', { agentId: 'main', toolName: 'exec', digest: 'the same', ...more }).then((answer) => answer.rule);
  assert.deepEqual(await found({}), rule);
  assert.deepEqual([rule.title, rule.args, rule.createdBy], ['Run git status?', { command: 'git status' }, 'token:a']);
  for (const more of [{ agentId: 'other' }, { toolName: 'write' }, { digest: 'the same ' }]) assert.equal(await found(more), undefined);
  await store.write('approvals.removeRule', { id: rule.id, by: 'token:a', at });
  assert.equal(await found({}), undefined);
  await assert.rejects(store.write('approvals.removeRule', { id: rule.id, by: 'token:a', at }), { code: 'NOT_FOUND' });
  assert.equal((await store.read('audit.list', { limit: 1 }))[0]?.action, 'approvals.forget');
});

onBothEngines('taking a credential away makes what it asked for void, in the same commit', async ({ store, told }) => {
  verifies('S22:pending-approval');
  const secret = { digest: 'd1', salt: 's1' };
  await store.write('tokens.create', {
    ...admin,
    id: 'tok',
    name: 't',
    scopes: ['operator.read'],
    sessionKey: null,
    expiresAt: null,
    limit: 9,
    ...secret,
  });
  const scopes: Scope[] = ['operator.read'];
  const device = '1'.repeat(64);
  const requestId = 'request-1';
  const asks = { requestId, deviceId: device, name: 'd', platform: 'p', scopes, address: 'a', requestedAt: at, expiresAt: at + 9_000 };
  await store.write('pairing.request', { ...asks, publicKey: 'k', limit: 9 });
  await store.write('pairing.approve', { ...admin, requestId, limit: 9 });
  await begin(store, 'r1');
  const takeAway = [
    ['token:tok', () => store.write('tokens.rotate', { ...admin, id: 'tok', digest: 'd2', salt: 's2' })],
    ['token:tok', () => store.write('tokens.revoke', { ...admin, id: 'tok' })],
    [`device:${device}`, () => store.write('device.revoke', { ...admin, id: device })],
  ] as const;
  for (const [index, [principal, act]] of takeAway.entries()) {
    const id = await ask(store, 'r1', `c${index}`, { principal });
    const other = await ask(store, 'r1', `other ${index}`, { principal: 'token:another' });
    await act();
    const { approval } = await store.read('approvals.get', { id });
    assert.deepEqual([approval.state, approval.decidedAt], ['voided', at + 7]);
    await assert.rejects(store.write('approvals.resolve', { id, decision: 'allow-once', by: 'token:a', at }), { code: 'GONE' });
    assert.equal((await store.read('approvals.get', { id: other })).approval.state, 'pending');
    assert.equal(await statusOf(store), 'waiting');
    await store.write('approvals.resolve', { id: other, decision: 'deny', by: 'token:a', at });
    assert.equal(await statusOf(store), 'running');
  }
  await settled(() => spoken(told.events).filter((event) => event === 'approval.resolved voided').length === 3);
});

onBothEngines('what a run asked for is void when it ends, and a run that is over asks nothing', async ({ store }) => {
  await begin(store, 'r1');
  const id = await ask(store);
  await store.write('runs.end', { key, runId: 'r1', end: completed, at });
  assert.equal((await store.read('approvals.get', { id })).approval.state, 'voided');
  assert.equal(await statusOf(store), 'idle');
  await assert.rejects(ask(store, 'r1', 'c2'), { code: 'CONFLICT', details: { code: 'RUN_OVER' } });
  await store.write('runs.accept', message('r2'));
  await assert.rejects(ask(store, 'r2', 'c1'), { code: 'CONFLICT', details: { code: 'RUN_OVER' } });
});
