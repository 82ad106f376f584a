// Begins what is due. The store knows when: what is due now and what is due next are reads of an index, so that a tick costs
// what it does and not what there is. The wall clock says what is due; waiting is by the monotonic clock and never longer than a
// minute, so that a clock that was moved is noticed. Nothing about a job is remembered here.
import type { Job, Occurrence } from '@tenon/protocol';
import type { Clock, Timer } from '../kernel/clock.ts';
import { faultpoint } from '../kernel/fault.ts';
import type { Log } from '../kernel/log.ts';
import type { Metrics } from '../kernel/metrics.ts';
import type { DueJob } from '../store/occurrences.ts';
import type { Store } from '../store/store.ts';
import type { StoredEvent } from '../store/stream.ts';
import { type DuePlan, planDue } from './due-plan.ts';
import { newRunOf } from './job-wishes.ts';

export interface SchedulerDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Something was accepted for this session. */
  readonly accepted: (sessionKey: string) => void;
  /** What was due while nobody looked has been dealt with. */
  readonly reconciled?: (facts: Reconciled) => void;
}

export interface Reconciled {
  readonly reason: 'start' | 'clock';
  /** Times that were missed, and jobs that were due and are not any more. */
  readonly missed: number;
  readonly due: number;
  readonly nextAt?: number;
}

export interface Scheduler {
  /** Begins to look; what was due meanwhile is dealt with first. */
  start(): void;
  /** From the store, after the commit: a job may be due earlier than was thought. */
  committed(batch: readonly StoredEvent[]): void;
  /** Begins nothing any more; resolves when nothing is under way. */
  stop(): Promise<void>;
  /** Resolves when it has nothing to do but wait. */
  idle(): Promise<void>;
}

const LONGEST_WAIT_MS = 60_000;
/** What one tick takes on at most; then others have their turn. */
const PER_TICK = 50;
const AFTER_FAILURE_MS = 5_000;

export function createScheduler({ store, clock, log, metrics, accepted, reconciled }: SchedulerDeps): Scheduler {
  const upSince = clock.now();
  let state: 'new' | 'on' | 'off' = 'new';
  let timer: Timer | undefined;
  let ticking: Promise<void> | undefined;
  /** Something was committed since the tick began to look. */
  let hasNews = false;
  /** Since it was last told that all was dealt with. */
  let since = { missed: 0, due: 0 };
  let isFirst = true;

  function wake(): void {
    if (state !== 'on') return;
    if (ticking) {
      hasNews = true;
      return;
    }
    timer?.cancel();
    timer = undefined;
    ticking = tick().finally(() => {
      ticking = undefined;
    });
  }

  function wait(ms: number): void {
    if (state !== 'on') return;
    timer?.cancel();
    timer = clock.after(Math.max(0, Math.min(ms, LONGEST_WAIT_MS)), wake);
  }

  /** Contract: must not throw. */
  async function tick(): Promise<void> {
    let failed = false;
    const attempt = async (work: () => Promise<void>): Promise<void> => {
      if (state !== 'on') return;
      try {
        await work();
      } catch (error) {
        failed = true;
        log.error({ error }, 'cannot begin what is due; it is tried again soon');
      }
    };
    try {
      do {
        hasNews = false;
        const { jobs, waiting } = await store.read('jobs.due', { at: clock.now(), limit: PER_TICK });
        // Together: the store writes what arrives together in one commit.
        await Promise.all([
          ...jobs.map((due) => attempt(() => begin(due))),
          ...waiting.map((occurrence) => attempt(() => beginWaiting(occurrence))),
        ]);
        if (failed) break;
        if (jobs.length === PER_TICK || waiting.length === PER_TICK) hasNews = true;
        // Others have their turn between two pages.
        if (hasNews) await new Promise((resolve) => setImmediate(resolve));
      } while (hasNews && state === 'on');
      const { at } = await store.read('jobs.nextDue', {});
      if (!failed && !hasNews) tellReconciled(at);
      // What was committed while this was read is looked at again.
      if (failed) wait(AFTER_FAILURE_MS);
      else if (hasNews) wait(0);
      else wait(at === undefined ? LONGEST_WAIT_MS : at - clock.now());
    } catch (error) {
      log.error({ error }, 'cannot look at what is due; it is looked at again soon');
      wait(AFTER_FAILURE_MS);
    }
  }

  function tellReconciled(nextAt: number | undefined): void {
    if (state === 'on' && (isFirst || since.missed > 0))
      reconciled?.({ reason: isFirst ? 'start' : 'clock', ...since, ...(nextAt === undefined ? {} : { nextAt }) });
    since = { missed: 0, due: 0 };
    isFirst = false;
  }

  async function begin({ job, revision, damage }: DueJob): Promise<void> {
    const now = clock.now();
    if (job.nextAt === undefined || job.nextAt > now) return;
    const plan = damage === undefined ? planOf({ ...job, nextAt: job.nextAt }, now, upSince) : { wrong: damage };
    if ('wrong' in plan) return letRest(job, revision, plan.wrong);
    const { key, runId } = newRunOf(job);
    faultpoint('schedule.due');
    const { claimed, occurrence } = await store.write('jobs.claim', {
      ...{ key, jobId: job.id, revision, nextAt: plan.nextAt, at: now },
      ...(plan.missed ? { missed: plan.missed } : {}),
      ...(plan.due ? { due: { ...plan.due, runId } } : {}),
    });
    faultpoint('schedule.claimed');
    // Somebody has changed it, or was faster: it is looked at anew.
    if (!claimed) {
      hasNews = true;
      return;
    }
    since.due += plan.due ? 1 : 0;
    if (plan.missed) {
      since.missed += plan.missed.count;
      metrics.count('tenon_schedule_occurrences_total', { state: 'missed' }, plan.missed.count);
      log.warn({ jobId: job.id, name: job.name, ...plan.missed }, 'a job has missed its time');
    }
    if (!occurrence) return;
    metrics.count('tenon_schedule_occurrences_total', { state: occurrence.state });
    if (occurrence.state === 'running') accepted(key);
    else log.info({ jobId: job.id, name: job.name, occurrence }, 'a job was due and has not begun');
  }

  /** It would fail at every look, and hold up the others. */
  async function letRest({ id, name }: Job, revision: number, note: string): Promise<void> {
    await store.write('jobs.pause', { id, revision, note, by: 'gateway', at: clock.now() });
    log.error({ jobId: id, name, note }, 'a job is paused, because nobody can tell when it is due');
  }

  async function beginWaiting({ jobId, dueAt, sessionKey }: Occurrence): Promise<void> {
    if (sessionKey === undefined) return;
    const { runId } = newRunOf({ session: { key: sessionKey } });
    const begun = await store.write('jobs.startWaiting', { key: sessionKey, jobId, dueAt, runId, at: clock.now() });
    if (begun.runId !== undefined) accepted(sessionKey);
  }

  return {
    start() {
      if (state !== 'new') return;
      state = 'on';
      wake();
    },
    committed(batch) {
      if (batch.some(({ event }) => event === 'cron')) wake();
    },
    async stop() {
      state = 'off';
      timer?.cancel();
      await ticking;
    },
    async idle() {
      while (ticking) await ticking;
    },
  };
}

/** A time zone may be gone since the schedule was taken. */
function planOf(job: Parameters<typeof planDue>[0], now: number, upSince: number): DuePlan | { readonly wrong: string } {
  try {
    return planDue(job, now, upSince);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { wrong: `When it is due cannot be worked out any more (${why.slice(0, 200)}); give it another schedule, then resume it` };
  }
}
