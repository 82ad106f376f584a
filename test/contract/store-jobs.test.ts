// Jobs and what becomes of each time that they are due, on both engines: it is taken on with the run that it becomes, in one
// commit, and it ends with it, in one commit; so it is there once, whoever looks and however often.
import assert from 'node:assert/strict';
import { GatewayError, limits } from '@tenon/protocol';
import { JOB_LIMITS } from '../../packages/gateway/src/store/jobs.ts';
import { JOBS_WAITING } from '../../packages/gateway/src/store/occurrences.ts';
import type { Store } from '../../packages/gateway/src/store/store.ts';
import { claim, DAY, due, HOUR, idOf, job, ledger, MINUTE, once, states } from '../support/stores-jobs.ts';
import { keepAll, onBothEngines } from '../support/stores.ts';
import { at, completed, key } from '../support/stores-turns.ts';
import { verifies } from '../support/verifies.ts';

async function end(
  store: Store,
  runId: string,
  more: { end?: { kind: 'completed' | 'failed' | 'aborted' | 'refused'; reason?: string }; at?: number } = {},
) {
  await store.write('runs.begin', { key, leadRunId: runId, runIds: [], at });
  return store.write('runs.end', { key, runId, end: completed, at: due, ...more });
}

function code(error: unknown): unknown {
  assert.ok(error instanceof GatewayError);
  return (error.details as { code?: string } | undefined)?.code ?? error.code;
}

onBothEngines('a time that is due is taken on once, with its run and the next time in one commit, and ends with the run', async (world) => {
  verifies('R04');
  const { store } = world;
  await store.write('jobs.add', job('a'));
  const [found] = (await store.read('jobs.due', { at: due, limit: 10 })).jobs;
  assert.equal(found?.job.nextAt, due);
  const args = { key, jobId: idOf('a'), revision: found.revision, nextAt: due + MINUTE, at: due };
  const both = await Promise.all([
    store.write('jobs.claim', { ...args, due: { dueAt: due, runId: 'run-1' } }),
    store.write('jobs.claim', { ...args, due: { dueAt: due, runId: 'run-2' } }),
  ]);
  assert.deepEqual(both.map(({ claimed }) => claimed).toSorted(), [false, true], 'two who see the same are one');
  const { runs } = await store.read('runs.queued', { key });
  assert.deepEqual(
    runs.map(({ run, content, principal }) => [run.trigger, run.mode, content, principal]),
    [['schedule', 'followup', [{ type: 'text', text: 'do a' }], 'token:asker']],
  );
  assert.deepEqual(await states(store, 'a'), ['running']);
  const runId = runs[0]!.run.runId;
  await world.reopen();
  assert.equal((await world.store.read('jobs.get', { id: idOf('a') })).job.nextAt, due + MINUTE, 'the next time was moved with it');
  await end(world.store, runId, { at: due + 5 });
  const [first] = await ledger(world.store, 'a');
  assert.deepEqual(first, {
    jobId: idOf('a'),
    dueAt: due,
    state: 'done',
    sessionKey: key,
    runId,
    attempt: 1,
    startedAt: due,
    endedAt: due + 5,
    jobName: 'a',
  });
  assert.equal((await world.store.read('jobs.get', { id: idOf('a') })).job.last?.state, 'done');
  const told = world.told.events.filter(({ event }) => event === 'cron').map(({ payload }) => JSON.parse(payload));
  assert.deepEqual(
    told.map(({ kind, occurrence }) => [kind, occurrence?.state]),
    [['occurrence', 'done']],
  );
});

onBothEngines('each way in which a run can end is one way in which the time ends, with its reason', async ({ store }) => {
  verifies('R04');
  const ways = [
    ['completed', 'done', undefined],
    ['failed', 'failed', 'failed: no answer'],
    ['refused', 'failed', 'refused: no answer'],
    ['aborted', 'interrupted', 'aborted: no answer'],
  ] as const;
  for (const [kind, state, reason] of ways) {
    await store.write('jobs.add', job(kind));
    await claim(store, kind, `run-${kind}`);
    await end(store, `run-${kind}`, { end: { kind, reason: 'no answer' } });
    const [only, ...others] = await ledger(store, kind);
    assert.deepEqual([only?.state, only?.reason, others], [state, reason, []], kind);
  }
  await store.write('jobs.add', job('cancelled'));
  await claim(store, 'cancelled', 'run-cancelled');
  await store.write('runs.cancelQueued', { key, reason: 'Not now', at: due });
  assert.deepEqual(
    (await ledger(store, 'cancelled')).map(({ state, reason }) => [state, reason]),
    [['interrupted', 'aborted: Not now']],
  );
});

onBothEngines('what is due while the time before has not ended is skipped, waits, or runs beside it', async ({ store }) => {
  verifies('R04');
  for (const overlap of ['skip', 'queue', 'allow'] as const) {
    await store.write('jobs.add', job(overlap, { overlap }));
    for (const time of [1, 2, 3]) await claim(store, overlap, `${overlap}-${time}`);
  }
  assert.deepEqual(await states(store, 'skip'), ['running', 'skipped', 'skipped']);
  assert.match((await ledger(store, 'skip'))[1]!.reason!, /had not ended/);
  assert.deepEqual(await states(store, 'allow'), ['running', 'running', 'running']);
  assert.deepEqual(await states(store, 'queue'), ['running', 'waiting', 'waiting']);
  assert.deepEqual((await store.read('jobs.due', { at: due + DAY, limit: 10 })).waiting, [], 'they wait for the one before');
  await end(store, 'queue-1', { at: due + HOUR });
  const { waiting } = await store.read('jobs.due', { at: due + HOUR, limit: 10 });
  assert.deepEqual(
    waiting.map(({ dueAt }) => dueAt),
    [due + MINUTE],
    'one after the other',
  );
  const next = { key, jobId: idOf('queue'), dueAt: due + MINUTE, at: due + HOUR };
  const begun = await Promise.all([
    store.write('jobs.startWaiting', { ...next, runId: 'queue-2a' }),
    store.write('jobs.startWaiting', { ...next, runId: 'queue-2b' }),
  ]);
  assert.equal(begun.filter(({ runId }) => runId !== undefined).length, 1, 'it begins once');
  assert.deepEqual(await states(store, 'queue'), ['done', 'running', 'waiting']);
  for (let time = 0; time < JOBS_WAITING; time++) await claim(store, 'queue', `more-${time}`);
  assert.equal((await ledger(store, 'queue')).at(-1)?.state, 'skipped', 'no more than so many wait');
});

onBothEngines('one that waits and finds its session full is skipped, and those behind it do not wait for ever', async ({ store }) => {
  verifies('R04');
  await store.write('jobs.add', job('queue', { overlap: 'queue' }));
  for (const time of [1, 2, 3]) await claim(store, 'queue', `queue-${time}`);
  await end(store, 'queue-1', { at: due + HOUR });
  for (let n = 0; n < limits.queuedRuns.value; n++) {
    await store.write('runs.accept', { key, runId: `other-${n}`, content: [], trigger: 'user', principal: 'token:asker', options: {}, at });
  }
  const next = { key, jobId: idOf('queue'), runId: 'queue-2', at: due + HOUR };
  assert.deepEqual(await store.write('jobs.startWaiting', { ...next, dueAt: due + MINUTE }), {});
  assert.deepEqual(await states(store, 'queue'), ['done', 'skipped', 'waiting']);
  const { waiting } = await store.read('jobs.due', { at: due + HOUR, limit: 10 });
  assert.deepEqual(
    waiting.map(({ dueAt }) => dueAt),
    [due + 2 * MINUTE],
  );
});

onBothEngines('a finished job that is given another name goes in its time all the same', async ({ store }) => {
  await store.write('jobs.add', once('over'));
  await claim(store, 'over', 'over-1', { nextAt: null });
  await end(store, 'over-1');
  const { job: named } = await store.write('jobs.update', { id: idOf('over'), fields: { name: 'other' }, at: due });
  assert.deepEqual([named.name, named.state], ['other', 'finished']);
  await store.write('retention.sweep', { at: due + 2 * DAY, keep: { ...keepAll, occurrenceMs: DAY } });
  assert.deepEqual((await store.read('jobs.list', { state: 'all', limit: 10 })).jobs, []);
});

onBothEngines('a turn that failed is tried again as the rule says, and then has failed', async ({ store }) => {
  verifies('R04');
  await store.write('jobs.add', once('again', { retry: { attempts: 3, backoffMs: MINUTE } }));
  await claim(store, 'again', 'try-1', { nextAt: null });
  const failed = { end: { kind: 'failed' as const, reason: 'no model' } };
  await end(store, 'try-1', { ...failed, at: due });
  let [only] = await ledger(store, 'again');
  assert.deepEqual([only?.state, only?.attempt, only?.retryAt, only?.reason], ['waiting', 1, due + MINUTE, 'failed: no model']);
  assert.equal((await store.read('jobs.nextDue', {})).at, due + MINUTE);
  const start = { key, jobId: idOf('again'), dueAt: due };
  assert.deepEqual(await store.write('jobs.startWaiting', { ...start, runId: 'early', at: due + 1 }), {}, 'not before its time');
  await store.write('jobs.startWaiting', { ...start, runId: 'try-2', at: due + MINUTE });
  await end(store, 'try-2', { ...failed, at: due + MINUTE });
  [only] = await ledger(store, 'again');
  assert.deepEqual([only?.state, only?.attempt, only?.retryAt], ['waiting', 2, due + 3 * MINUTE], 'the wait doubles');
  assert.equal((await store.read('jobs.get', { id: idOf('again') })).job.state, 'active');
  await store.write('jobs.startWaiting', { ...start, runId: 'try-3', at: due + 3 * MINUTE });
  await end(store, 'try-3', { ...failed, at: due + 3 * MINUTE });
  assert.deepEqual(
    (await ledger(store, 'again')).map(({ state, attempt }) => [state, attempt]),
    [['failed', 3]],
  );
  assert.equal((await store.read('jobs.get', { id: idOf('again') })).job.state, 'finished');
  assert.deepEqual(await store.read('jobs.nextDue', {}), {});
});

onBothEngines('times that were missed in a row are one record that says how many, and the job goes on', async ({ store }) => {
  verifies('R04');
  await store.write('jobs.add', job('late'));
  const late = due + 9 * MINUTE;
  const missed = { dueAt: due, until: due + 8 * MINUTE, count: 9, reason: 'The gateway was not running' };
  await claim(store, 'late', 'late-1', { missed, due: { dueAt: late, runId: 'late-1' }, nextAt: late + MINUTE, at: late });
  assert.deepEqual(
    (await ledger(store, 'late')).map(({ state, dueAt, count, until, reason }) => [state, dueAt, count, until, reason]),
    [
      ['missed', due, 9, due + 8 * MINUTE, 'The gateway was not running'],
      ['running', late, undefined, undefined, undefined],
    ],
  );
});

onBothEngines('a job rests, goes on, is run beside its schedule, changed and removed', async ({ store }) => {
  const id = idOf('b');
  await store.write('jobs.add', job('b', { overlap: 'queue', tag: 'one' }));
  await claim(store, 'b', 'b-1');
  await claim(store, 'b', 'b-2');
  const rests = await store.write('jobs.pause', { id, at: due });
  assert.deepEqual([rests.job.state, rests.job.nextAt], ['paused', undefined]);
  assert.deepEqual(await states(store, 'b'), ['running', 'skipped'], 'what waited does not begin');
  assert.deepEqual((await store.read('jobs.due', { at: due + DAY, limit: 10 })).jobs, []);
  const changed = await store.write('jobs.update', {
    id,
    fields: { message: 'other', tag: null, session: { agentId: 'main', fresh: true } },
    nextAt: due + DAY,
    at: due,
  });
  assert.deepEqual(
    [changed.job.message, changed.job.tag, changed.job.state, changed.job.nextAt],
    ['other', undefined, 'paused', undefined],
  );
  const goesOn = await store.write('jobs.resume', { id, nextAt: due + HOUR, at: due });
  assert.deepEqual([goesOn.job.state, goesOn.job.nextAt], ['active', due + HOUR]);
  await end(store, 'b-1');
  const now = await store.write('jobs.runNow', { key: 'agent:main:fresh', jobId: id, runId: 'now', at: due + 7 });
  assert.deepEqual([now.occurrence.manual, now.occurrence.state, now.job.nextAt], [true, 'running', due + HOUR]);
  assert.equal((await store.read('sessions.get', { key: 'agent:main:fresh' })).session.title, 'b');
  await store.write('jobs.remove', { id, at: due });
  await assert.rejects(store.read('jobs.get', { id }), (error) => code(error) === 'NO_JOB');
  await assert.rejects(store.write('jobs.remove', { id, at: due }), (error) => code(error) === 'NO_JOB');
  await store.write('runs.end', { key: 'agent:main:fresh', runId: 'now', end: completed, at: due + 9 });
  assert.deepEqual(await states(store, 'b'), ['done', 'skipped', 'done'], 'what became of it can be read, and a turn that ran has ended');
});

onBothEngines('jobs go with what they belong to: the session, the plugin, the credential', async ({ store }) => {
  verifies('seams:A20');
  await store.write('sessions.create', { key, fields: {}, at });
  const plugin = { owner: 'plugin:one' };
  await store.write('jobs.add', job('mine'));
  await store.write('jobs.add', job('of-plugin', { tag: 'x' }, plugin));
  await store.write('jobs.add', job('other-tag', { tag: 'y' }, plugin));
  await store.write('jobs.add', job('elsewhere', { tag: 'x', session: { key: 'agent:main:else' } }, plugin));
  await store.write('jobs.add', job('of-other', { tag: 'x' }, { owner: 'plugin:two' }));
  const names = async () => (await store.read('jobs.list', { limit: 50 })).jobs.map(({ name }) => name).toSorted();
  const byTag = { owner: 'plugin:one', sessionKey: key, tag: 'x', at };
  assert.deepEqual(await store.write('jobs.removeOf', byTag), { removed: 1, more: false });
  assert.deepEqual(await store.write('jobs.removeOf', byTag), { removed: 0, more: false });
  assert.deepEqual(await names(), ['elsewhere', 'mine', 'of-other', 'other-tag']);
  await store.write('sessions.reset', { key, at });
  assert.deepEqual(await names(), ['elsewhere', 'mine'], 'a reset takes those of plugins');
  await store.write('plugins.setEnabled', { pluginId: 'one', enabled: false, by: 'operator', at });
  await store.write('plugins.forget', { pluginId: 'one', keepDecisions: true, by: 'operator', at });
  assert.deepEqual(await names(), ['mine']);
  await assert.rejects(store.write('jobs.add', job('late', {}, plugin)), (error) => code(error) === 'PLUGIN_OFF');
  await claim(store, 'mine', 'mine-1');
  await store.write('sessions.delete', { key, at: due });
  assert.deepEqual(await names(), []);
  assert.deepEqual(
    (await ledger(store, 'mine')).map(({ state, reason }) => [state, reason]),
    [['interrupted', 'aborted: The session was deleted']],
  );
  await store.write('tokens.create', {
    id: 'asker',
    name: 'x',
    digest: 'd',
    salt: 's',
    scopes: ['operator.write'],
    sessionKey: null,
    expiresAt: null,
    actor: 'a',
    held: ['operator.admin', 'operator.write'],
    at,
  } as never);
  await store.write('jobs.add', job('revoked'));
  await store.write('tokens.revoke', { id: 'asker', actor: 'a', held: ['operator.admin', 'operator.write'], at } as never);
  const { job: left } = await store.read('jobs.get', { id: idOf('revoked') });
  assert.deepEqual([left.state, left.note], ['paused', 'The credential that made it was revoked']);
});

onBothEngines('jobs are bounded per plugin, per session and in all', async ({ store }) => {
  verifies('S62:time');
  const { jobsPerPlugin, jobsPerSession, jobs, jobsWaiting } = limits;
  assert.deepEqual(JOB_LIMITS, { jobsPerPlugin: jobsPerPlugin.value, jobsPerSession: jobsPerSession.value, jobs: jobs.value });
  assert.equal(JOBS_WAITING, jobsWaiting.value);
  const fresh = { session: { agentId: 'main', fresh: true as const } };
  await Promise.all(
    Array.from({ length: jobsPerPlugin.value }, (_, n) => store.write('jobs.add', job(`p${n}`, fresh, { owner: 'plugin:many' }))),
  );
  await assert.rejects(store.write('jobs.add', job('one-more', fresh, { owner: 'plugin:many' })), (error) => {
    assert.equal(code(error), 'JOB_LIMIT');
    assert.match((error as Error).message, /many has 1000 that are not finished; remove some first/);
    return true;
  });
  await store.write('jobs.add', job('other', fresh, { owner: 'plugin:few' }));
  await Promise.all(Array.from({ length: jobsPerSession.value }, (_, n) => store.write('jobs.add', job(`s${n}`))));
  await assert.rejects(store.write('jobs.add', job('s-more')), (error) => code(error) === 'JOB_LIMIT');
  let removed = 0;
  for (let more = true; more; ) {
    const step = await store.write('jobs.removeOf', { owner: 'plugin:many', at });
    removed += step.removed;
    more = step.more;
  }
  assert.equal(removed, jobsPerPlugin.value);
  await store.write('jobs.add', job('one-more', fresh, { owner: 'plugin:many' }));
});

onBothEngines('finished jobs and what became of them are kept for a while', async ({ store }) => {
  await store.write('jobs.add', once('gone'));
  await store.write('jobs.add', once('kept', {}, { keep: true }));
  for (const name of ['gone', 'kept']) {
    await claim(store, name, `run-${name}`, { nextAt: null });
    await end(store, `run-${name}`);
  }
  assert.deepEqual((await store.read('jobs.list', { limit: 10 })).jobs, [], 'finished ones are listed where they are asked for');
  assert.equal((await store.read('jobs.list', { limit: 10, state: 'finished' })).jobs.length, 2);
  const sweep = (later: number) => store.write('retention.sweep', { at: due + later, keep: { ...keepAll, occurrenceMs: DAY } });
  assert.deepEqual([(await sweep(DAY)).jobs, (await sweep(DAY)).occurrences], [0, 0]);
  const swept = await sweep(DAY + 1);
  assert.deepEqual([swept.jobs, swept.occurrences], [1, 2]);
  assert.deepEqual(
    (await store.read('jobs.list', { limit: 10, state: 'all' })).jobs.map(({ name }) => name),
    ['kept'],
  );
});

onBothEngines('lists go page by page', async ({ store }) => {
  for (let n = 0; n < 5; n++) await store.write('jobs.add', job(`n${n}`, n % 2 === 0 ? { tag: 'even' } : {}));
  const first = await store.read('jobs.list', { limit: 3 });
  const second = await store.read('jobs.list', { limit: 3, cursor: first.nextCursor! });
  assert.deepEqual(
    [...first.jobs, ...second.jobs].map(({ name }) => name),
    ['n4', 'n3', 'n2', 'n1', 'n0'],
  );
  assert.equal(second.nextCursor, undefined);
  assert.equal(
    (await store.read('jobs.list', { limit: 9, tag: 'even', sessionKey: key, owner: 'token:asker', state: 'active' })).jobs.length,
    3,
  );
  await assert.rejects(store.read('jobs.list', { limit: 3, cursor: 'x' }), (error) => code(error) === 'INVALID_REQUEST');
  for (let n = 0; n < 5; n++) await claim(store, 'n0', `r${n}`);
  const history = await store.read('jobs.history', { limit: 2, id: idOf('n0'), state: 'skipped' });
  assert.deepEqual(
    history.occurrences.map(({ dueAt }) => dueAt),
    [due + 4 * MINUTE, due + 3 * MINUTE],
  );
  assert.equal((await store.read('jobs.history', { limit: 9, cursor: history.nextCursor! })).occurrences.length, 3);
});
