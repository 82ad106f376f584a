// Absurd times and numbers of jobs, asked for by an operator: each is a typed refusal that says what is wrong, and nothing is kept.
// And the titles of the scheduled-turns contract that plugin-schedules.test.ts leaves.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { definePluginEntry, type RuntimeApi } from '@tenon/plugin-sdk';
import { createTestHost, type HostError } from '@tenon/plugin-sdk/testing';
import { type Job, type JsonObject, limits, matches, methods } from '@tenon/protocol';
import { verifies } from '../support/verifies.ts';

const MINUTE = 60_000;
const sessionKey = 'agent:main:test';

async function planning() {
  let api: RuntimeApi | undefined;
  const plugin = definePluginEntry({
    id: 'planner',
    name: 'Planner',
    register(given) {
      api = given;
    },
  });
  const host = await createTestHost(plugin, { grants: ['schedule.turns'] });
  const jobs = async (more: JsonObject = {}) => (await host.call<{ jobs: Job[] }>('cron.list', { limit: 200, ...more })).jobs;
  const dispose = () => host[Symbol.asyncDispose]();
  return { host, jobs, workflow: api!.session.workflow, [Symbol.asyncDispose]: dispose };
}

test('an operator who asks for a time that cannot be is told what is wrong, and nothing is planned', async () => {
  verifies('S62:time', 'seams:A2');
  await using plans = await planning();
  const { host, jobs } = plans;
  const bad: readonly (readonly [unknown, RegExp])[] = [
    [{ kind: 'at', at: Number.NaN }, /schedule/],
    [{ kind: 'at', at: Number.POSITIVE_INFINITY }, /schedule/],
    [{ kind: 'at', at: -1 }, /schedule/],
    [{ kind: 'at', at: Date.UTC(275_760, 8, 13) }, /schedule/],
    [{ kind: 'at', at: 8.64e15 + 1 }, /schedule/],
    [{ kind: 'at', at: '+275761-01-01T00:00:00Z' }, /schedule/],
    [{ kind: 'at', at: 'not a date' }, /schedule/],
    [{ kind: 'at', at: 0 }, /schedule\/at has passed: 1970-01-01/],
    [{ kind: 'in', delayMs: Number.NaN }, /schedule/],
    [{ kind: 'in', delayMs: -1 }, /schedule/],
    [{ kind: 'in', delayMs: Number.MAX_SAFE_INTEGER }, /schedule/],
    [{ kind: 'in', delayMs: 253_402_300_799_999 }, /delayMs leads beyond the year 9999/],
    [{ kind: 'every', everyMs: 0 }, /schedule/],
    [{ kind: 'every', everyMs: 999 }, /schedule/],
    [{ kind: 'every', everyMs: 1e300 }, /schedule/],
    [{ kind: 'every', everyMs: MINUTE, anchorAt: Number.NaN }, /schedule/],
    [{ kind: 'cron', cron: '' }, /schedule/],
    [{ kind: 'cron', cron: '* * * * * *' }, /schedule/],
    [{ kind: 'cron', cron: '61 * * * *' }, /cannot be read: Invalid value for minute: 61/],
    [{ kind: 'cron', cron: '0 0 31 2 *' }, /no such time ever comes/],
    [{ kind: 'cron', cron: `${'1,'.repeat(200)}1 * * * *` }, /schedule/],
    [{ kind: 'cron', cron: '* * * * *', tz: 'Mars/Olympus' }, /is not a time zone/],
    [{ kind: 'cron', cron: '* * * * *', tz: 'x'.repeat(1_000) }, /schedule/],
    [{ kind: 'never' }, /schedule/],
    [null, /schedule/],
  ];
  for (const [schedule, why] of bad) {
    for (const method of ['cron.add', 'cron.preview']) {
      const params = method === 'cron.add' ? { session: { key: sessionKey }, schedule, message: 'x' } : { schedule };
      await assert.rejects(host.call(method, params as JsonObject), (error) => {
        const { code, message } = error as HostError;
        assert.equal(code, 'INVALID_REQUEST', `${method} ${JSON.stringify(schedule)}: ${message}`);
        assert.match(message, why);
        return true;
      });
    }
  }
  assert.deepEqual(await jobs({ state: 'all' }), []);
});

test('an operator who plans without end meets a limit that says so', async () => {
  verifies('S62:time');
  await using plans = await planning();
  const { host } = plans;
  const most = limits.jobsPerSession.value;
  const schedule = { kind: 'in', delayMs: MINUTE };
  const asked = Array.from({ length: most + 5 }, () => host.call('cron.add', { session: { key: sessionKey }, schedule, message: 'x' }));
  const refused = (await Promise.allSettled(asked)).flatMap((each) => (each.status === 'rejected' ? [each.reason as HostError] : []));
  assert.equal(refused.length, 5);
  for (const { code, message, details } of refused) {
    assert.deepEqual([code, (details as JsonObject).code], ['CONFLICT', 'JOB_LIMIT']);
    assert.match(message, /1000 that are not finished; remove some first/);
  }
  // The plugin plans in the same session, and is told so with a value.
  const outcome = await plans.workflow.scheduleSessionTurn({ sessionKey, message: 'x', delayMs: 1 });
  assert.equal(!outcome.ok && outcome.reason, 'limit');
});

test('name prefix, payload valid for cron.add: a job has fields for its owner, tag and session, and no name is read', async () => {
  // Where the contract finds jobs again by a name such as plugin:<id>:tag:<tag>:<session>, they are found by these fields: a name
  // is for people, and one that looks like that of another plugin gives no right over its jobs.
  verifies('seed1:scheduled-turns');
  await using plans = await planning();
  const { host, jobs, workflow } = plans;
  const operators = await host.call<{ job: Job }>('cron.add', {
    ...{ session: { key: sessionKey }, schedule: { kind: 'in', delayMs: MINUTE }, message: 'x', tag: 'daily' },
    name: `plugin:planner:tag:daily:${sessionKey}:1`,
  });
  const turn = { sessionKey, message: 'look', cron: '0 8 * * 1', tz: 'Europe/Berlin', tag: 'daily', name: 'Mondays' } as const;
  assert.ok((await workflow.scheduleSessionTurn(turn)).ok);
  const own = (await jobs({ owner: 'plugin:planner', tag: 'daily' }))[0]!;
  const { session, schedule, message, onMiss, overlap, delivery, tag, name } = own;
  const again = { idempotencyKey: 'again-123', session, schedule, message, onMiss, overlap, delivery, tag, name };
  assert.ok(matches(methods['cron.add'].params, again), 'what a plugin has planned an operator could have');
  assert.deepEqual(await workflow.unscheduleSessionTurnsByTag({ sessionKey, tag: 'daily' }), { ok: true, removed: 1 });
  assert.deepEqual(
    (await jobs()).map(({ id }) => id),
    [operators.job.id],
    'its name did not make it the plugin’s',
  );
});

test('malformed cron is refused, and no delay is taken instead', async () => {
  // The contract lets a delay stand in for an expression that cannot be read: a turn at another time than was asked for is worse.
  await using plans = await planning();
  for (const wish of [{ cron: 'soon', delayMs: MINUTE }, { cron: '', delayMs: MINUTE }, { cron: '99 * * * *' }]) {
    const outcome = await plans.workflow.scheduleSessionTurn({ sessionKey, message: 'x', ...wish });
    assert.equal(!outcome.ok && outcome.reason, 'invalid', JSON.stringify(wish));
  }
  assert.deepEqual(await plans.jobs({ state: 'all' }), []);
});

test('prunes one-shot records when they are over, and not before for very long delays; records pruned after unschedule', async () => {
  verifies('seams:A5', 'seed1:scheduled-turns');
  await using plans = await planning();
  const { host, jobs, workflow } = plans;
  const year = 365 * 24 * 60 * MINUTE;
  assert.ok((await workflow.scheduleSessionTurn({ sessionKey, message: 'far', delayMs: 2 * year, tag: 'far' })).ok);
  assert.ok((await workflow.scheduleSessionTurn({ sessionKey, message: 'near', delayMs: MINUTE })).ok);
  assert.ok((await workflow.scheduleSessionTurn({ sessionKey, message: 'kept', delayMs: MINUTE, deleteAfterRun: false })).ok);
  await host.advance(MINUTE);
  assert.deepEqual(
    (await jobs()).map(({ message }) => message),
    ['far'],
    'at once, and not a minute later',
  );
  assert.deepEqual((await jobs({ state: 'finished' })).map(({ message }) => message).toSorted(), ['kept', 'near']);
  assert.deepEqual(await workflow.unscheduleSessionTurnsByTag({ sessionKey, tag: 'far' }), { ok: true, removed: 1 });
  assert.deepEqual(await jobs(), []);
});

test('already-missing job = success: what an operator has removed, or is over, is as good as taken back', async () => {
  // Jobs that cannot be removed are not counted as `failed`: all of them go, page by page, each page in one commit, or the
  // answer is a refusal with its reason.
  await using plans = await planning();
  const { host, workflow } = plans;
  const removed = await workflow.scheduleSessionTurn({ sessionKey, message: 'x', delayMs: MINUTE, tag: 'x' });
  assert.ok(removed.ok);
  await host.call('cron.remove', { id: removed.id });
  assert.deepEqual(await workflow.unscheduleSessionTurnsByTag({ sessionKey, tag: 'x' }), { ok: true, removed: 0 });
  assert.ok((await workflow.scheduleSessionTurn({ sessionKey, message: 'x', delayMs: 1, tag: 'x' })).ok);
  await host.advance(MINUTE);
  assert.deepEqual(await workflow.unscheduleSessionTurnsByTag({ sessionKey, tag: 'x' }), { ok: true, removed: 0 });
});

test('who adds, changes, pauses, resumes and removes a job is in the audit log; what a plugin plans for itself is not', async () => {
  await using plans = await planning();
  const { host, workflow } = plans;
  const wish = { session: { key: sessionKey }, schedule: { kind: 'in', delayMs: MINUTE }, message: 'a secret', name: 'Mail' };
  const { id, owner } = (await host.call<{ job: Job }>('cron.add', wish)).job;
  await host.call('cron.update', { id, message: 'another secret', tag: 'daily' });
  for (const method of ['cron.pause', 'cron.pause', 'cron.resume', 'cron.remove']) await host.call(method, { id });
  assert.ok((await workflow.scheduleSessionTurn({ sessionKey, message: 'x', delayMs: MINUTE })).ok);
  type Records = { records: { actor: string; action: string; target: string; details: object }[] };
  const { records } = await host.call<Records>('audit.list', { limit: 50 });
  const found = records.filter(({ action }) => action.startsWith('cron.')).toReversed();
  const about = { name: 'Mail', owner };
  assert.deepEqual(
    found.map(({ actor, action, target, details }) => [actor, action, target, details]),
    [
      [owner, 'cron.add', id, about],
      [owner, 'cron.update', id, { ...about, changed: ['message', 'tag'] }],
      [owner, 'cron.pause', id, about],
      [owner, 'cron.resume', id, about],
      [owner, 'cron.remove', id, about],
    ],
  );
});
