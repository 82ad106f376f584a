// A scheduler over a real store with a clock that is moved by hand, and turns that a test ends. "Killing" it leaves whatever was
// under way behind, as the end of the process does: nothing more of it reaches the store, and it learns no answer. The next life
// has the store and nothing else.
import assert from 'node:assert/strict';
import type { Job, Occurrence, RunEnd } from '@tenon/protocol';
import { pino } from 'pino';
import { createScheduler, type Scheduler } from '../../packages/gateway/src/agent/scheduler.ts';
import { createMetrics } from '../../packages/gateway/src/kernel/metrics.ts';
import type { Store } from '../../packages/gateway/src/store/store.ts';
import { createManualClock, type ManualClock } from './clock.ts';
import { dueBetween } from './schedule-oracle.ts';
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
  /** Moves time on; of what the scheduler then asks of the store only so many writes arrive there. Then it is to die. */
  cutOff(ms: number, writes: number): Promise<void>;
  start(): Promise<void>;
}

export async function openScheduleWorld(engine: Engine, startAt?: number): Promise<ScheduleWorld> {
  const world: StoreWorld = await openWorld(engine);
  const clock = createManualClock(startAt);
  const accepted: string[] = [];
  let scheduler: Scheduler | undefined;
  let link: Link | undefined;
  let seen = 0;

  function cut(): void {
    link?.cutAfter(0);
    void scheduler?.stop();
    scheduler = undefined;
  }

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
    kill: cut,
    async die() {
      cut();
      await world.reopen();
      seen = 0;
    },
    async cutOff(ms, writes) {
      const isCut = link?.cutAfter(writes);
      clock.advance(ms);
      await Promise.race([isCut, scheduler?.idle()]);
    },
    async start() {
      seen = world.told.events.length;
      link = linkTo(world.store);
      scheduler = createScheduler({
        ...{ store: link.store, clock, log: pino({ level: 'silent' }), metrics: createMetrics() },
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

interface Link {
  readonly store: Store;
  /** Only so many writes arrive from now on, and nothing is answered any more then; resolves when that is so. */
  cutAfter(writes: number): Promise<void>;
}

/** What one life of a scheduler has of the store. */
function linkTo(store: Store): Link {
  let left = Number.POSITIVE_INFINITY;
  let isCut: PromiseWithResolvers<void> | undefined;
  const never = new Promise<never>(() => {});
  return {
    store: {
      ...store,
      read: (name, args) => (left > 0 ? store.read(name, args) : never),
      async write(name, args, slot) {
        if (left <= 0) return never;
        left--;
        const answer = await store.write(name, args, slot);
        if (left > 0) return answer;
        isCut?.resolve();
        return never;
      },
    },
    cutAfter(writes) {
      left = writes;
      isCut = Promise.withResolvers();
      if (writes === 0) isCut.resolve();
      return isCut.promise;
    },
  };
}

/** Every time of the job from its first to its next one is in the ledger exactly once. */
export async function checkLedger(store: Store, job: Job, firstAt: number): Promise<Counted> {
  const until = job.nextAt ?? assert.fail(`${job.name} is over`);
  const due = dueBetween(job.schedule, firstAt - 1, until - 1);
  assert.equal(dueBetween(job.schedule, until - 1, until).length, 1, `${job.name}: the next time is one of its times`);
  return checkTimes(await ledger(store), job, due);
}

export interface Counted {
  readonly times: number;
  readonly byState: Record<string, number>;
}

/** `due`: every time that there must be a record of, and no other. */
export function checkTimes(all: readonly Occurrence[], { id, name }: Pick<Job, 'id' | 'name'>, due: readonly number[]): Counted {
  const rows = all.filter(({ jobId, manual }) => jobId === id && !manual).toSorted((a, b) => a.dueAt - b.dueAt);
  const byState: Record<string, number> = {};
  let times = 0;
  for (const { dueAt, until, count = 1, state, reason, startedAt } of rows) {
    assert.equal(dueAt, due[times], `${name}: no time is left out and none comes twice`);
    times += count;
    if (until !== undefined) assert.equal(until, due[times - 1], `${name}: a record says how many it is about`);
    if (state !== 'done' && state !== 'running') assert.ok(reason, `${name}: ${state} says why`);
    if (startedAt !== undefined) assert.ok(startedAt >= dueAt, `${name}: nothing begins early`);
    byState[state] = (byState[state] ?? 0) + count;
  }
  assert.equal(times, due.length, `${name}: all of its times are there`);
  return { times, byState };
}
