// A scheduler over a real store with a clock that is moved by hand, and turns that a test ends. "Killing" it leaves whatever was
// under way behind, as the end of the process does; the next life has the store and nothing else.
import assert from 'node:assert/strict';
import type { Job, Occurrence, RunEnd } from '@tenon/protocol';
import { pino } from 'pino';
import { nextAfter } from '../../packages/gateway/src/agent/schedule-times.ts';
import { createScheduler, type Scheduler } from '../../packages/gateway/src/agent/scheduler.ts';
import { createMetrics } from '../../packages/gateway/src/kernel/metrics.ts';
import type { Store } from '../../packages/gateway/src/store/store.ts';
import { createManualClock, type ManualClock } from './clock.ts';
import { ledger } from './stores-jobs.ts';
import type { Engine } from './stores.ts';
import { openWorld, type StoreWorld } from './stores.ts';

export interface ScheduleWorld extends AsyncDisposable {
  readonly store: Store;
  readonly clock: ManualClock;
  /** Sessions for which something was accepted, in order. */
  readonly accepted: string[];
  /** Moves time on in steps, and lets the scheduler work after each. */
  advance(ms: number, step?: number): Promise<void>;
  /** Until it has nothing to do. */
  settled(): Promise<void>;
  /** Ends every run that waits, in this way. */
  endAll(end?: RunEnd): Promise<number>;
  /** The scheduler is gone in the middle of what it does. */
  kill(): void;
  /** The same, and the store is opened anew. */
  die(): Promise<void>;
  start(): Promise<void>;
}

export async function openScheduleWorld(engine: Engine, startAt?: number): Promise<ScheduleWorld> {
  const world: StoreWorld = await openWorld(engine);
  const clock = createManualClock(startAt);
  const accepted: string[] = [];
  let scheduler: Scheduler | undefined;
  let seen = 0;

  function tell(): void {
    const { events } = world.told;
    const batch = events.slice(seen);
    seen = events.length;
    if (batch.length > 0) scheduler?.committed(batch);
  }

  async function settled(): Promise<void> {
    for (let quiet = 0; quiet < 2; ) {
      const before = seen;
      tell();
      await scheduler?.idle();
      quiet = before === world.told.events.length ? quiet + 1 : 0;
      if (world.engine === 'postgres' && quiet === 1) await new Promise((resolve) => setImmediate(resolve));
    }
  }

  return {
    get store() {
      return world.store;
    },
    clock,
    accepted,
    settled,
    async advance(ms, step = ms) {
      for (let left = ms; left > 0; left -= step) {
        clock.advance(Math.min(step, left));
        await settled();
        // What it looked at in passing is over now: a timer of no length is due at once.
        clock.advance(0);
        await settled();
      }
    },
    async endAll(end = { kind: 'completed' }) {
      let ended = 0;
      for (;;) {
        const { runs } = await world.store.read('runs.open', { limit: 200 });
        if (runs.length === 0) break;
        for (const { run } of runs) {
          await world.store.write('runs.end', { key: run.sessionKey, runId: run.runId, end, at: clock.now() });
          ended++;
        }
      }
      await settled();
      return ended;
    },
    kill() {
      // What it has asked of the store still happens; it learns nothing of it and begins nothing more.
      void scheduler?.stop();
      scheduler = undefined;
    },
    async die() {
      void scheduler?.stop();
      scheduler = undefined;
      await world.reopen();
      seen = 0;
    },
    async start() {
      seen = world.told.events.length;
      scheduler = createScheduler({
        ...{ store: world.store, clock, log: pino({ level: 'silent' }), metrics: createMetrics() },
        accepted: (key) => accepted.push(key),
      });
      scheduler.start();
      await settled();
    },
    async [Symbol.asyncDispose]() {
      await scheduler?.stop();
      await world[Symbol.asyncDispose]();
    },
  };
}

/** Every time of the job from its first to its next one is in the ledger exactly once. */
export async function checkLedger(store: Store, job: Job, firstAt: number): Promise<Counted> {
  return checkTimes(await ledger(store), job, firstAt);
}

export interface Counted {
  readonly times: number;
  readonly byState: Record<string, number>;
}

export function checkTimes(all: readonly Occurrence[], job: Job, firstAt: number): Counted {
  const rows = all.filter(({ jobId, manual }) => jobId === job.id && !manual).toSorted((a, b) => a.dueAt - b.dueAt);
  const byState: Record<string, number> = {};
  let next: number | undefined = firstAt;
  let times = 0;
  for (const { dueAt, until, count = 1, state, reason } of rows) {
    assert.equal(dueAt, next, `${job.name}: no time is left out and none comes twice`);
    let last = dueAt;
    for (let n = 1; n < count; n++) last = nextAfter(job.schedule, last) ?? assert.fail('there is no such time');
    if (until !== undefined) assert.equal(last, until, `${job.name}: a record says how many it is about`);
    if (state !== 'done' && state !== 'running') assert.ok(reason, `${job.name}: ${state} says why`);
    byState[state] = (byState[state] ?? 0) + count;
    times += count;
    next = nextAfter(job.schedule, last);
  }
  assert.equal(job.nextAt, next, `${job.name}: the next time is the one after the last`);
  return { times, byState };
}
