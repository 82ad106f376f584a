import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits, TraceRecord, matches } from '@tenon/protocol';
import { createManualClock } from '../../../../test/support/clock.ts';
import { createMetrics } from '../kernel/metrics.ts';
import type { StoredEvent } from '../store/stream.ts';
import { createPluginCaller } from './call-plugin.ts';
import { createHookRegistry } from './hook-registry.ts';
import { createHookRunner } from './run-hook.ts';
import { createTrace } from './trace.ts';

const KEY = 'agent:main:one';

function openTrace() {
  const clock = createManualClock();
  const told: { sessionKey: string; seq: number }[] = [];
  const trace = createTrace({ clock, tell: (more) => told.push(more) });
  const metrics = createMetrics();
  const caller = createPluginCaller({ clock, metrics, reportFailure() {}, trace });
  const registry = createHookRegistry();
  const hooks = createHookRunner({ registry, caller, clock, metrics });
  const records = (options = {}) => trace.read(KEY, options).records;
  const gate = (more: object = {}) =>
    hooks.run('before_tool_call', {
      sessionKey: KEY,
      runId: 'run-1',
      toolName: 'exec',
      toolCallId: 'c1',
      params: { command: 'ls' },
      ...more,
    } as never);
  const chat = (kind: string, runId: string, sessionKey = KEY) =>
    trace.committed([{ event: 'chat', sessionKey, payload: JSON.stringify({ sessionKey, kind, runId }) } as StoredEvent]);
  return { clock, told, trace, caller, registry, hooks, records, gate, chat };
}

test('nothing is recorded unless somebody asked, and then only of that session', async () => {
  const { trace, registry, records, gate } = openTrace();
  registry.add('before_tool_call', { plugin: 'one', handler: () => undefined });
  await gate();
  assert.equal(trace.isOn, false);
  assert.deepEqual(trace.read(KEY, {}), { recording: false, records: [], dropped: 0 });
  assert.equal(trace.record(KEY, {}).recording, true);
  await gate({ sessionKey: 'agent:main:other' });
  assert.deepEqual(records(), []);
  await gate();
  assert.equal(records().length, 1);
  assert.ok(matches(TraceRecord, records()[0]));
  assert.deepEqual(trace.stop(KEY), { recording: false, seq: 1 });
  await gate();
  assert.equal(records().length, 1);
  assert.equal(trace.isOn, false);
});

test('handlers of one hook are one dispatch, in their order, with priority, duration and what each changed', async () => {
  const { clock, trace, registry, records, gate } = openTrace();
  registry.add('before_tool_call', { plugin: 'late', priority: -5, handler: () => ({ params: { command: 'ls -la' } }) });
  registry.add('before_tool_call', {
    plugin: 'early',
    priority: 5,
    handler: () => {
      clock.advance(7);
      return { params: { command: 'ls -l', apiKey: 'hunter2hunter2' } };
    },
  });
  registry.add('before_tool_call', { plugin: 'middle', handler: () => undefined });
  trace.record(KEY, {});
  await gate();
  await gate();
  const [first, second, third, next] = records();
  assert.deepEqual(
    [first, second, third].map((each) => [each!.plugin, each!.order, each!.priority, each!.durationMs, each!.outcome]),
    [
      ['early', 1, 5, 7, 'changed'],
      ['middle', 2, 0, 0, 'unchanged'],
      ['late', 3, -5, 0, 'changed'],
    ],
  );
  assert.deepEqual(first!.changes, [
    { path: '/params/command', before: 'ls', after: 'ls -l' },
    { path: '/params/apiKey', after: '***' },
  ]);
  assert.deepEqual(third!.changes?.[0], { path: '/params/command', before: 'ls -l', after: 'ls -la' });
  assert.equal(first!.dispatch, third!.dispatch);
  assert.notEqual(next!.dispatch, first!.dispatch);
});

test('a block, a failure that refuses and a claim say so, with their reasons', async () => {
  const { trace, registry, records, gate, hooks } = openTrace();
  registry.add('before_tool_call', { plugin: 'no', handler: () => ({ block: true, blockReason: 'not here; token=hunter2hunter2' }) });
  trace.record(KEY, {});
  await gate();
  assert.deepEqual([records()[0]!.outcome, records()[0]!.reason], ['refused', 'not here; token=***']);

  registry.add('before_tool_call', {
    plugin: 'broken',
    priority: 9,
    handler: () => {
      throw new Error('kaboom');
    },
  });
  await gate();
  assert.equal(records()[1]!.outcome, 'failed');
  assert.match(records()[1]!.reason ?? '', /^kaboom; on failure this hook refuses/);

  registry.add('input', { plugin: 'mine', handler: () => ({ handled: true, reply: 'hello' }) as never });
  await hooks.run('input', { sessionKey: KEY, runId: 'run-1', text: 'hi' } as never);
  const claimed = records()[2]!;
  assert.equal(claimed.outcome, 'claimed');
  assert.ok(claimed.changes?.some(({ path, after }) => path === '/reply' && after === 'hello'));
});

test('observers that are dropped, and handlers that are gone by their turn, are in the trace', async () => {
  const { trace, registry, records, hooks } = openTrace();
  trace.record(KEY, {});
  const never = new Promise<undefined>(() => {});
  registry.add('agent_end', { plugin: 'slow', handler: () => never });
  const event = { sessionKey: KEY, runId: 'run-1', messages: [], success: true, end: { kind: 'completed' }, durationMs: 1 };
  for (let index = 0; index < 16 + 256 + 2; index++) await hooks.run('agent_end', { ...event } as never);
  assert.deepEqual(
    records().map(({ outcome, plugin }) => [outcome, plugin]),
    [
      ['dropped', 'slow'],
      ['dropped', 'slow'],
    ],
  );

  const dispose: { it?: () => void } = {};
  registry.add('before_tool_call', { plugin: 'first', priority: 1, handler: () => void dispose.it?.() });
  dispose.it = registry.add('before_tool_call', { plugin: 'second', handler: () => undefined });
  await hooks.run('before_tool_call', { sessionKey: KEY, runId: 'run-1', toolName: 'x', toolCallId: 'c', params: {} } as never);
  assert.deepEqual(
    records()
      .slice(2)
      .map(({ outcome, plugin, order }) => [outcome, plugin, order]),
    [
      ['unchanged', 'first', 1],
      ['skipped', 'second', 2],
    ],
  );
});

test('calls outside hooks are recorded by what they are about, and by what their answer says', async () => {
  const { trace, caller, records } = openTrace();
  trace.record(KEY, {});
  const accept = (raw: unknown) => ({ value: raw });
  const about = { sessionKey: KEY, runId: 'run-1' };
  const where = (place: string) => ({ plugin: 'one', place, timeoutMs: 10 });
  await caller.call(
    where('session_action'),
    () => ({ statePatch: { box: { n: 1 } }, continueAgent: true }),
    undefined,
    accept,
    undefined,
    about,
  );
  await caller.call(where('session_action'), () => ({ ok: false, error: 'not now' }), undefined, accept, undefined, about);
  await caller.call(where('thing'), () => undefined, { sessionKey: KEY }, accept);
  await caller.call(where('thing'), () => undefined, 'no session', accept);
  const answer = await caller.call(where('tool_policy'), () => ({ allow: false }), undefined, accept, undefined, { ...about });
  trace.became(answer, { outcome: 'refused', reason: 'never' });
  assert.deepEqual(
    records().map(({ place, outcome, order, reason, changes }) => ({ place, outcome, order, reason, changes })),
    [
      {
        place: 'session_action',
        outcome: 'changed',
        order: 1,
        reason: undefined,
        changes: [
          { path: '/statePatch', after: { box: { n: 1 } } },
          { path: '/continueAgent', after: true },
        ],
      },
      { place: 'session_action', outcome: 'refused', order: 2, reason: 'not now', changes: undefined },
      { place: 'thing', outcome: 'unchanged', order: 1, reason: undefined, changes: undefined },
      { place: 'tool_policy', outcome: 'refused', order: 1, reason: 'never', changes: undefined },
    ],
  );
});

test('pieces of a stream are counted in one record as long as nothing comes of them', async () => {
  const { trace, caller, records } = openTrace();
  trace.record(KEY, {});
  const follow = (plugin: string, work: () => unknown = () => undefined) =>
    caller.call({ plugin, place: 'agent_event', timeoutMs: 10 }, work, { sessionKey: KEY, runId: 'run-1' }, () => ({ value: undefined }));
  for (let index = 0; index < 50; index++) for (const plugin of ['one', 'two']) await follow(plugin);
  await follow('one', () => {
    throw new Error('no');
  });
  assert.deepEqual(
    records().map(({ plugin, outcome, times }) => [plugin, outcome, times]),
    [
      ['one', 'unchanged', 50],
      ['two', 'unchanged', 50],
      ['one', 'failed', undefined],
    ],
  );
});

test('after the turns that were asked for it ends by itself, with what is called at the very end of the last one', async () => {
  const { clock, trace, registry, records, gate, chat, told } = openTrace();
  registry.add('before_tool_call', { plugin: 'one', handler: () => undefined });
  assert.deepEqual(trace.record(KEY, { turns: 2 }), { recording: true, turnsLeft: 2, until: clock.now() + limits.traceMs.value, seq: 0 });
  await gate();
  chat('started', 'run-1');
  chat('ended', 'run-1');
  assert.equal(trace.read(KEY, {}).turnsLeft, 1);
  // A turn in which no plugin took part counts, too.
  chat('started', 'run-2');
  chat('ended', 'run-2');
  await gate({ runId: 'run-2' });
  await gate({ runId: 'run-3' });
  assert.deepEqual(
    records().map(({ runId }) => runId),
    ['run-1', 'run-2'],
  );
  assert.deepEqual(
    records({ runId: 'run-2' }).map(({ runId }) => runId),
    ['run-2'],
  );
  told.length = 0;
  clock.advance(1_000);
  assert.equal(trace.read(KEY, {}).recording, false);
  assert.equal(trace.isOn, false);
  assert.equal(records().length, 2);
  assert.deepEqual(told.at(-1), { sessionKey: KEY, seq: records().at(-1)!.seq });
});

test('a call that is still under way when its turn ends is waited for', async () => {
  const { clock, trace, caller, records, chat } = openTrace();
  trace.record(KEY, { turns: 1 });
  const work = Promise.withResolvers<void>();
  const answer = caller.call(
    { plugin: 'one', place: 'agent_end', timeoutMs: 5_000 },
    () => work.promise,
    { sessionKey: KEY, runId: 'run-1' },
    () => ({
      value: undefined,
    }),
  );
  chat('ended', 'run-1');
  clock.advance(2_000);
  assert.equal(trace.read(KEY, {}).recording, true);
  work.resolve();
  await answer;
  clock.advance(2_000);
  assert.equal(trace.read(KEY, {}).recording, false);
  assert.equal(records()[0]!.durationMs, 2_000);
});

test('an hour ends a recording, another hour what it left, and a deleted session both', async () => {
  const { clock, trace, registry, records, gate } = openTrace();
  registry.add('before_tool_call', { plugin: 'one', handler: () => undefined });
  trace.record(KEY, {});
  await gate();
  clock.advance(limits.traceMs.value + 1);
  await gate();
  assert.equal(records().length, 1);
  assert.equal(trace.isOn, false);
  clock.advance(limits.traceMs.value + 1);
  assert.deepEqual(records(), []);
  trace.record(KEY, {});
  await gate();
  trace.committed([{ event: 'sessions.changed', sessionKey: KEY, payload: JSON.stringify({ key: KEY, reason: 'delete' }) } as StoredEvent]);
  assert.deepEqual(trace.read(KEY, {}), { recording: false, records: [], dropped: 0 });
  assert.equal(trace.isOn, false);
  clock.advance(limits.traceMs.value + 1);
  assert.equal(clock.pending, 0);
});

test('records, bytes and sessions are bounded, and what was left out is counted', async () => {
  const { trace, caller, records, gate, registry } = openTrace();
  registry.add('before_tool_call', { plugin: 'one', handler: () => undefined });
  trace.record(KEY, {});
  for (let index = 0; index < limits.traceRecords.value + 10; index++) await gate();
  const whole = trace.read(KEY, {});
  assert.equal(whole.dropped, 10);
  assert.equal(whole.records.length, limits.pageSize.value);
  assert.equal(whole.next, whole.records.at(-1)!.seq);
  assert.equal(trace.read(KEY, { after: whole.next! }).records[0]!.seq, whole.next! + 1);

  const large = Object.fromEntries(Array.from({ length: 64 }, (_, index) => [`k${index}`, 'z'.repeat(500)]));
  for (let index = 0; index < 500; index++)
    await caller.call(
      { plugin: 'one', place: 'thing', timeoutMs: 1 },
      () => large,
      { sessionKey: KEY },
      (raw) => ({ value: raw }),
    );
  let bytes = 0;
  for (let after: number | undefined = 0; after !== undefined; ) {
    const page = trace.read(KEY, { after });
    bytes += JSON.stringify(page.records).length;
    assert.ok(JSON.stringify(page.records).length < limits.maxPayload.value / 2);
    after = page.next;
  }
  assert.ok(bytes <= limits.traceBytes.value + 10_000, `${bytes} bytes are kept`);
  assert.ok(records().length > 0);

  for (let index = 1; index < limits.traceSessions.value; index++) trace.record(`agent:main:s${index}`, {});
  assert.throws(() => trace.record('agent:main:more', {}), /end one of them first/);
  trace.stop(KEY);
  assert.equal(trace.record('agent:main:more', {}).recording, true);
  assert.deepEqual(records(), [], 'the one that was not recorded any more made room');
});
