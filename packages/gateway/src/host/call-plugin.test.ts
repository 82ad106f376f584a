import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createManualClock } from '../../../../test/support/clock.ts';
import { createMetrics } from '../kernel/metrics.ts';
import { createPluginCaller, type Accept, type PluginCall, type PluginFailure } from './call-plugin.ts';

const where = { plugin: 'notes', place: 'input', timeoutMs: 100 };
const any: Accept<unknown> = (value) => ({ value });

function world() {
  const clock = createManualClock();
  const metrics = createMetrics();
  const failures: PluginFailure[] = [];
  const caller = createPluginCaller({ clock, metrics, reportFailure: (failure) => failures.push(failure) });
  const failed = (kind: string) => metrics.value('tenon_plugin_failures_total', { plugin: 'notes', place: 'input', kind });
  return { clock, metrics, failures, caller, failed };
}

test('an answer that is no promise comes back at once, with no timer', () => {
  const { caller, clock, metrics } = world();
  assert.deepEqual(
    caller.call(where, (n: number) => n + 1, 1, any),
    { ok: true, value: 2 },
  );
  assert.equal(clock.pending, 0);
  assert.equal(metrics.value('tenon_plugin_calls_total', { plugin: 'notes', place: 'input' }), 1);
});

test('what is thrown or rejected is a counted failure that names the plugin', async () => {
  const { caller, failures, failed } = world();
  const thrower = () => {
    throw new Error('broken\nnews');
  };
  assert.deepEqual(caller.call(where, thrower, undefined, any), { ok: false, kind: 'threw', message: 'broken\\u{a}news' });
  await caller.call(where, () => Promise.reject(new Error('later')), undefined, any);
  assert.deepEqual(failures[1], { plugin: 'notes', place: 'input', kind: 'threw', message: 'later' });
  assert.equal(failed('threw'), 2);
});

test('a thrown value that cannot be read is still only a failure', () => {
  const { caller } = world();
  const hostile = {
    toString() {
      throw new Error('no');
    },
  };
  const answer = caller.call(
    where,
    () => {
      throw hostile;
    },
    undefined,
    any,
  );
  assert.deepEqual(answer, { ok: false, kind: 'threw', message: 'something that cannot be shown' });
});

test('a promise that hangs times out, its signal aborts, and its late result is discarded', async () => {
  const { caller, clock, failures, failed } = world();
  let call: PluginCall | undefined;
  const late = Promise.withResolvers<string>();
  const pending = caller.call(
    where,
    (_, given) => {
      call = given;
      return late.promise;
    },
    undefined,
    any,
  );
  clock.advance(99);
  assert.equal(call?.signal.aborted, false);
  clock.advance(1);
  const answer = await pending;
  late.resolve('too late');
  await late.promise;
  assert.deepEqual(answer, { ok: false, kind: 'timed-out', message: 'no answer within 100 ms' });
  assert.equal(call?.signal.aborted, true);
  assert.equal(failures.length, 1);
  assert.equal(failed('timed-out'), 1);
});

test('a signal that is asked for only after the timeout is aborted already', async () => {
  const { caller, clock } = world();
  let call: PluginCall | undefined;
  const pending = caller.call(
    where,
    (_, given) => {
      call = given;
      return new Promise(() => {});
    },
    undefined,
    any,
  );
  clock.advance(100);
  await pending;
  assert.equal(call?.signal.aborted, true);
});

test('a late rejection after the timeout disturbs nobody', async () => {
  const { caller, clock, failures } = world();
  const late = Promise.withResolvers<void>();
  const pending = caller.call(where, () => late.promise, undefined, any);
  clock.advance(100);
  await pending;
  late.reject(new Error('late'));
  await late.promise.catch(() => {});
  assert.deepEqual(
    failures.map(({ kind }) => kind),
    ['timed-out'],
  );
});

test("the caller's signal ends the wait and is nobody's failure", async () => {
  const { caller, failures } = world();
  const controller = new AbortController();
  let inner: AbortSignal | undefined;
  const pending = caller.call(
    where,
    (_, { signal }) => {
      inner = signal;
      return new Promise(() => {});
    },
    undefined,
    any,
    controller.signal,
  );
  controller.abort();
  assert.deepEqual(await pending, { ok: false, kind: 'aborted', message: 'the wait was aborted' });
  assert.equal(inner?.aborted, true);
  assert.deepEqual(failures, []);
});

test('an answer of the wrong shape, or that throws while it is read, is a failure', async () => {
  const { caller, failed } = world();
  const refuses: Accept<never> = () => ({ wrong: 'not that' });
  assert.deepEqual(
    caller.call(where, () => 5, undefined, refuses),
    { ok: false, kind: 'wrong-shape', message: 'not that' },
  );
  assert.deepEqual(await caller.call(where, async () => 5, undefined, refuses), { ok: false, kind: 'wrong-shape', message: 'not that' });
  const throwing: Accept<never> = () => {
    throw new Error('trap');
  };
  assert.deepEqual(
    caller.call(where, () => 5, undefined, throwing),
    { ok: false, kind: 'wrong-shape', message: 'trap' },
  );
  assert.equal(failed('wrong-shape'), 3);
});

test('a thenable that answers twice or throws is answered once', async () => {
  const { caller, failures } = world();
  const twice = {
    // biome-ignore lint/suspicious/noThenProperty: a plugin may return such a thing.
    then(resolve: (value: number) => void) {
      resolve(1);
      resolve(2);
      throw new Error('and throws');
    },
  };
  assert.deepEqual(await caller.call(where, () => twice, undefined, any), { ok: true, value: 1 });
  assert.deepEqual(failures, []);
});
