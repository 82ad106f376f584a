// A turn in the store, step by step, on both engines: what is left after each step is enough to go on from, and no step
// happens twice.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits } from '@tenon/protocol';
import { IMPORT_ENTRIES } from '../../packages/gateway/src/store/entry-copies.ts';
import { QUEUED_RUNS } from '../../packages/gateway/src/store/runs.ts';
import { onBothEngines } from '../support/stores.ts';
import { answer, at, begin, call, completed, key, message, note, result, settled, spoken, usage } from '../support/stores-turns.ts';

test('the bounds of the store are those that the protocol states', () => {
  assert.equal(QUEUED_RUNS, limits.queuedRuns.value);
  assert.equal(IMPORT_ENTRIES, limits.importEntries.value);
});

onBothEngines('a turn with one tool call is told step by step, and leaves its transcript and its cost', async ({ store, told }) => {
  const { run, created } = await store.write('runs.accept', message('r1', 'list the files'));
  assert.deepEqual([run.state, run.mode, run.trigger, created], ['queued', 'collect', 'user', true]);
  const begun = await store.write('runs.begin', { key, leadRunId: 'r1', runIds: ['r1'], at: at + 1 });
  assert.deepEqual([begun.run.state, begun.run.startedAt, begun.entries.length], ['running', at + 1, 1]);
  const spent = { model: 'demo', usage };
  const drafts = [answer('looking', ['c1'])];
  const { entries } = await store.write('runs.append', { key, runId: 'r1', drafts, calls: [call('c1')], usage: spent, at: at + 2 });
  const entryId = entries[0]?.id ?? '';
  const ofCall = { key, runId: 'r1', entryId, callId: 'c1', at: at + 3 };
  assert.deepEqual(await store.write('calls.start', { ...ofCall, args: { path: '.' } }), { attempts: 1 });
  const finished = await store.write('calls.finish', { ...ofCall, draft: result('c1', 'a.txt') });
  await store.write('runs.append', { key, runId: 'r1', drafts: [answer('there is a.txt')], usage: spent, at: at + 4 });
  const ended = await store.write('runs.end', { key, runId: 'r1', end: completed, at: at + 5 });
  assert.deepEqual([ended.ended, ended.run.state, ended.run.endedAt, ended.run.end], [true, 'ended', at + 5, completed]);

  const path = await store.read('entries.path', { key, limit: 100 });
  assert.deepEqual(
    path.entries.map((entry) => entry.type === 'message' && entry.message.role),
    ['user', 'assistant', 'toolResult', 'assistant'],
  );
  assert.deepEqual(path.entries[2], finished.entry);
  assert.deepEqual(
    path.entries.map((entry) => entry.parentId),
    [null, ...path.entries.slice(0, -1).map((entry) => entry.id)],
  );
  assert.equal(path.leafId, path.entries.at(-1)?.id);
  assert.equal(path.session.status, 'idle');
  const { sessionId } = path.session;
  assert.deepEqual(await store.read('entries.lastAnswer', { sessionId, runId: 'r1' }), { entry: path.entries.at(-1) });
  const twice = { input: 20, output: 10, cacheRead: 4, cacheWrite: 2, costUsd: 0.5 };
  assert.deepEqual(ended.run.usage, twice);
  const sum = { total: { ...twice, calls: 2 }, byModel: [{ model: 'demo', ...twice, calls: 2 }] };
  assert.deepEqual(await store.read('usage.sum', { runId: 'r1' }), sum);
  assert.deepEqual(await store.read('usage.sum', { sessionKey: key }), sum);
  assert.deepEqual((await store.read('tables.count', {})).calls, 0);

  await settled(() => told.events.length === 10);
  assert.deepEqual(spoken(told.events), [
    'sessions.changed create queued',
    'chat queued r1',
    'chat started r1',
    'chat entry r1',
    'sessions.changed activity running',
    'chat entry r1',
    'chat entry r1',
    'chat entry r1',
    'chat ended r1 completed',
    'sessions.changed activity idle',
  ]);
});

onBothEngines('what was under way when the store was closed is there when it is opened again', async (world) => {
  await begin(world.store, 'r1');
  await world.store.write('runs.accept', message('r2'));
  const drafts = [answer('looking', ['c1', 'c2', 'c3'])];
  const calls = [call('c1'), call('c2'), call('c3')];
  const { entries } = await world.store.write('runs.append', { key, runId: 'r1', drafts, calls, at });
  const entryId = entries[0]?.id ?? '';
  const ofCall = (callId: string) => ({ key, runId: 'r1', entryId, callId, at });
  await world.store.write('calls.start', { ...ofCall('c1'), args: {} });
  const { entry } = await world.store.write('calls.finish', { ...ofCall('c1'), draft: result('c1') });
  await world.store.write('calls.start', { ...ofCall('c2'), args: { path: 'as it ran' } });
  await world.reopen();
  const { runs } = await world.store.read('runs.open', { limit: 10 });
  assert.deepEqual(
    runs.map(({ run, content, options, principal }) => [run.runId, run.state, content, options, principal]),
    [
      ['r1', 'running', [{ type: 'text', text: 'say r1' }], { thinking: 'low', startsSession: true }, 'token:asker'],
      ['r2', 'queued', [{ type: 'text', text: 'say r2' }], { thinking: 'low' }, 'token:asker'],
    ],
  );
  assert.deepEqual((await world.store.read('calls.open', { runId: 'r1' })).calls, [
    { entryId, callId: 'c2', name: 'ls', args: { path: 'as it ran' }, state: 'started', attempts: 1 },
    { entryId, callId: 'c3', name: 'ls', args: { path: 'c3' }, state: 'pending', attempts: 0 },
  ]);
  const again = await world.store.write('calls.finish', { ...ofCall('c1'), draft: result('c1', 'another') });
  assert.deepEqual(again.entry, entry, 'a call keeps its first result');
  assert.deepEqual(await world.store.write('calls.start', { ...ofCall('c2'), args: {} }), { attempts: 2 });
  const { entries: path } = await world.store.read('entries.path', { key, limit: 100 });
  assert.equal(path.length, 3);
  const repeated = await world.store.write('runs.begin', { key, leadRunId: 'r1', runIds: ['r1'], at });
  assert.deepEqual([repeated.entries, repeated.run.state], [[], 'running'], 'a message is told once');
});

onBothEngines('a run ends once, whoever says so, and those that joined it end with it', async ({ store, told }) => {
  await begin(store, 'r1');
  for (const runId of ['r2', 'r3', 'r4']) await store.write('runs.accept', message(runId));
  const steered = await store.write('runs.begin', { key, leadRunId: 'r1', runIds: ['r3', 'r2', 'r3', 'r1'], at });
  assert.deepEqual(
    steered.entries.map((entry) => [entry.runId, entry.type === 'message' && entry.message.content]),
    [
      ['r2', [{ type: 'text', text: 'say r2' }]],
      ['r3', [{ type: 'text', text: 'say r3' }]],
    ],
  );
  assert.equal((await store.read('runs.get', { runId: 'r2' })).run.joined, 'r1');
  const ends = await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      store.write('runs.end', { key, runId: 'r1', end: { kind: n % 2 ? 'aborted' : 'completed' }, at: at + n }),
    ),
  );
  assert.equal(ends.filter(({ ended }) => ended).length, 1);
  assert.equal(new Set(ends.map(({ run }) => JSON.stringify(run))).size, 1, 'all learn of the same end');
  for (const runId of ['r2', 'r3']) {
    const { run } = await store.read('runs.get', { runId });
    assert.deepEqual([run.state, run.end], ['ended', ends[0]?.run.end]);
  }
  assert.equal((await store.read('runs.get', { runId: 'r4' })).run.state, 'queued');
  assert.equal((await store.read('sessions.get', { key })).session.status, 'queued');
  const kind = ends[0]?.run.end?.kind;
  await settled(() => told.events.filter(({ payload }) => payload.includes('"ended"')).length === 3);
  assert.deepEqual(
    spoken(told.events).filter((event) => event.includes('ended')),
    ['r1', 'r2', 'r3'].map((runId) => `chat ended ${runId} ${kind}`),
  );
});

onBothEngines('one turn at a time: of many that begin together one does', async ({ store }) => {
  const ids = Array.from({ length: 8 }, (_, n) => `r${n}`);
  for (const runId of ids) await store.write('runs.accept', message(runId));
  const begun = await Promise.allSettled(ids.map((runId) => store.write('runs.begin', { key, leadRunId: runId, runIds: [runId], at })));
  assert.equal(begun.filter(({ status }) => status === 'fulfilled').length, 1);
  for (const outcome of begun) {
    if (outcome.status === 'rejected') assert.equal((outcome.reason as { details: { code: string } }).details.code, 'SESSION_BUSY');
  }
  assert.equal((await store.read('entries.path', { key, limit: 100 })).entries.length, 1);
});

onBothEngines('a run id is taken once, and a session takes a bounded number of messages', async ({ store }) => {
  const together = await Promise.allSettled(
    Array.from({ length: 10 }, (_, n) => store.write('runs.accept', message('same', 'x', { key: `agent:main:s${n}` }))),
  );
  const refused = together.filter((outcome) => outcome.status === 'rejected').map((outcome) => outcome.reason as { details: unknown });
  assert.equal(refused.length, 9);
  for (const reason of refused) assert.deepEqual(reason.details, { code: 'RUN_EXISTS' });
  assert.equal((await store.read('sessions.list', { limit: 20 })).sessions.length, 1, 'a refused message makes no session');

  const many = await Promise.allSettled(Array.from({ length: QUEUED_RUNS + 5 }, (_, n) => store.write('runs.accept', message(`m${n}`))));
  const full = many
    .filter((outcome) => outcome.status === 'rejected')
    .map((outcome) => outcome.reason as { code: string; details: unknown });
  assert.deepEqual(
    full.map(({ code, details }) => ({ code, details })),
    Array.from({ length: 5 }, () => ({ code: 'CONFLICT', details: { code: 'QUEUE_FULL' } })),
  );
  const { runs } = await store.read('runs.queued', { key });
  assert.deepEqual(
    runs.map(({ run }) => run.runId),
    Array.from({ length: QUEUED_RUNS }, (_, n) => `m${n}`),
  );
  const cancelled = await store.write('runs.cancelQueued', { key, at });
  assert.deepEqual([cancelled.runs.length, cancelled.runs[0]?.end], [QUEUED_RUNS, { kind: 'aborted' }]);
  assert.equal((await store.read('sessions.get', { key })).session.status, 'idle');
});

onBothEngines(
  'a message takes the mode of its session where it names none, and names a session that has no title',
  async ({ store, told }) => {
    const { mode: _, ...open } = message('r1');
    const first = await store.write('runs.accept', open);
    assert.deepEqual([first.run.mode, first.created, first.busy], ['followup', true, false]);
    await store.write('sessions.patch', { key, fields: { queue: 'steer' }, at });
    const second = await store.write('runs.accept', { ...open, runId: 'r2', title: 'Of files' });
    assert.deepEqual([second.run.mode, second.created, second.busy], ['steer', false, true]);
    const third = await store.write('runs.accept', { ...message('r3'), title: 'Another' });
    assert.equal(third.run.mode, 'collect');
    assert.equal((await store.read('sessions.get', { key })).session.title, 'Of files');
    assert.equal((await store.read('sessions.list', { limit: 5, search: 'files' })).sessions.length, 1);
    await settled(() => told.events.length === 6);
    assert.ok(
      told.events.some(({ payload }) => payload.includes('"title":"Of files"')),
      'the title is announced',
    );
  },
);

onBothEngines('a run that is over writes nothing any more', async ({ store }) => {
  await begin(store, 'r1');
  const { entries } = await store.write('runs.append', {
    key,
    runId: 'r1',
    drafts: [answer('looking', ['c1'])],
    calls: [call('c1')],
    at,
  });
  await store.write('runs.end', { key, runId: 'r1', end: { kind: 'failed', code: 'OVERLOADED', reason: 'too much' }, at });
  const before = await store.read('stream.state', {});
  const over = { code: 'CONFLICT', details: { code: 'RUN_OVER' } };
  const ofCall = { key, runId: 'r1', entryId: entries[0]?.id ?? '', callId: 'c1', at };
  await assert.rejects(store.write('runs.append', { key, runId: 'r1', drafts: [note('late')], at }), over);
  await assert.rejects(store.write('calls.start', { ...ofCall, args: {} }), over);
  await assert.rejects(store.write('calls.finish', { ...ofCall, draft: result('c1') }), over);
  await assert.rejects(store.write('runs.begin', { key, leadRunId: 'r1', runIds: [], at }), over);
  assert.deepEqual(await store.read('stream.state', {}), before);
  assert.equal((await store.read('sessions.get', { key })).session.status, 'failed');
  await store.write('runs.accept', message('r2'));
  await store.write('runs.cancelQueued', { key, at });
  assert.equal((await store.read('sessions.get', { key })).session.status, 'idle', 'a new message is a new beginning');
});

onBothEngines('a repeat with the same idempotency key gets the first answer, and the message is there once', async ({ store }) => {
  const slot = { principal: 'token:asker', key: 'r1', method: 'chat.send', digest: 'd', at };
  const answers = await Promise.all(Array.from({ length: 10 }, () => store.write('runs.accept', message('r1'), slot)));
  assert.equal(new Set(answers.map((each) => JSON.stringify(each))).size, 1);
  assert.equal((await store.read('runs.queued', { key })).runs.length, 1);
});

onBothEngines('an entry or a message that is large is announced without its content', async ({ store, told }) => {
  const large = 'x'.repeat(70_000);
  await store.write('runs.accept', message('r1', large));
  await store.write('runs.begin', { key, leadRunId: 'r1', runIds: ['r1'], at });
  await store.write('runs.append', { key, runId: 'r1', drafts: [answer('small')], at });
  await settled(() => told.events.length >= 6);
  const chat = told.events.filter(({ event }) => event === 'chat').map(({ payload }) => JSON.parse(payload) as Record<string, unknown>);
  assert.deepEqual(
    chat.map((each) => [each.kind, 'content' in each, 'entry' in each, typeof each.entryId]),
    [
      ['queued', false, false, 'undefined'],
      ['started', false, false, 'undefined'],
      ['entry', false, false, 'string'],
      ['entry', false, true, 'string'],
    ],
  );
});
