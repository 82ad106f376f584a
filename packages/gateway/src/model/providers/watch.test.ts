import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Clock } from '../../kernel/clock.ts';
import { openWatch, watchBounds, watchedFetch, type Watch, type Watches } from './watch.ts';

/** Time that a test moves; the one timer of a watch fires when it is due. */
function handClock() {
  let now = 0;
  let timer: { due: number; call: () => void } | undefined;
  const clock: Clock = {
    now: () => now,
    monotonic: () => now,
    after(delayMs, call) {
      const mine = { due: now + delayMs, call };
      timer = mine;
      return {
        cancel() {
          if (timer === mine) timer = undefined;
        },
      };
    },
    every: () => assert.fail('not used'),
  };
  return {
    clock,
    armed: () => timer !== undefined,
    move(ms: number) {
      const until = now + ms;
      while (timer && timer.due <= until) {
        const due = timer;
        now = due.due;
        timer = undefined;
        due.call();
      }
      now = until;
    },
  };
}

const never = new AbortController().signal;

const kindOf = ({ fault }: Watch) => fault?.kind;

test('silence is measured from the last byte, and only while somebody waits', () => {
  const { clock, move, armed } = handClock();
  const watch = openWatch(clock, 1_000, never);
  move(900);
  watch.bytes(1, false);
  move(900);
  assert.equal(kindOf(watch), undefined);
  watch.waiting(false);
  move(50_000);
  assert.equal(kindOf(watch), undefined);
  watch.waiting(true);
  move(999);
  assert.equal(kindOf(watch), undefined);
  move(1_001);
  assert.deepEqual([kindOf(watch), watch.signal.aborted, armed()], ['timeout', true, false]);
});

test('a stream that keeps talking is cut in the end', () => {
  const { clock, move } = handClock();
  const watch = openWatch(clock, 60_000, never);
  for (let passed = 0; passed < watchBounds.totalMs; passed += 30_000) {
    assert.equal(watch.fault, undefined);
    watch.bytes(10, false);
    watch.progress();
    move(30_000);
  }
  move(60_000);
  assert.match(watch.fault?.message ?? '', /still answering/);
});

test('bytes that say nothing, too many bytes and a long refusal are cut', () => {
  const cases: [(watch: Watch) => void, RegExp][] = [
    [(watch) => watch.bytes(watchBounds.idleBytes + 1, false), /say nothing/],
    [(watch) => watch.bytes(watchBounds.refusalBytes + 1, true), /refusal/],
    [
      (watch) => {
        for (let sent = 0; sent <= watchBounds.wireBytes; sent += watchBounds.refusalBytes) {
          watch.bytes(watchBounds.refusalBytes, false);
          watch.progress();
        }
      },
      /more than/,
    ],
  ];
  for (const [send, reason] of cases) {
    const watch = openWatch(handClock().clock, 1_000, never);
    send(watch);
    assert.equal(watch.fault?.kind, 'bad_output');
    assert.match(watch.fault.message, reason);
  }
});

test('a watch that has ended gives nothing up and leaves nothing behind', () => {
  const { clock, armed } = handClock();
  const stop = new AbortController();
  const watch = openWatch(clock, 1_000, stop.signal);
  watch.end();
  stop.abort();
  assert.deepEqual([watch.fault, armed(), watch.signal.aborted], [undefined, false, false]);
  watch.bytes(watchBounds.refusalBytes + 1, false);
  assert.equal(watch.signal.aborted, true, 'a server that goes on talking is hung up on');
});

test('an abort is told to whoever reads, also one that came before', async () => {
  const stop = new AbortController();
  const watch = openWatch(handClock().clock, 1_000, stop.signal);
  let cuts = 0;
  watch.onGiveUp(() => cuts++);
  stop.abort();
  await watch.givenUp;
  assert.deepEqual([cuts, watch.fault?.kind], [1, 'aborted']);
  openWatch(handClock().clock, 1_000, stop.signal).onGiveUp(() => cuts++);
  assert.equal(cuts, 2);
});

test('fetch counts what comes in, follows no redirect, and leaves a response without a watch alone', async () => {
  const watches: Watches = new WeakMap();
  const watch = openWatch(handClock().clock, 1_000, never);
  watches.set(watch.signal, watch);
  let counted = 0;
  watch.bytes = (count) => {
    counted += count;
  };
  const asked: (RequestInit | undefined)[] = [];
  const answering = (response: () => Response) =>
    watchedFetch(async (_input, init) => {
      asked.push(init);
      return response();
    }, watches);
  const response = await answering(() => new Response('hello', { status: 418, headers: { 'x-a': 'b' } }))('http://x', {
    signal: watch.signal,
  });
  assert.deepEqual([response.status, response.headers.get('x-a'), await response.text(), counted], [418, 'b', 'hello', 5]);
  assert.equal(asked[0]?.redirect, 'manual');
  assert.equal(await (await answering(() => new Response('plain'))('http://x')).text(), 'plain');
  const redirect = answering(() => new Response(null, { status: 302, headers: { location: 'http://evil' } }));
  await assert.rejects(redirect('http://x', { signal: watch.signal }), { kind: 'unreachable' });
});
