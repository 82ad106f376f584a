// Many jobs over many virtual days, with a gateway that is killed around the times at which they are due: before, in the middle
// of taking them on, and after. Meanwhile jobs are paused, resumed, changed, removed and run by hand, also in the very moment at
// which they are due. In the end every time of every job is accounted for exactly once, as a model that knows nothing of the
// gateway says.
import assert from 'node:assert/strict';
import type { RunEnd, Schedule } from '@tenon/protocol';
import { newRunOf } from '../../packages/gateway/src/agent/job-wishes.ts';
import { nextAfter } from '../../packages/gateway/src/agent/schedule-times.ts';
import { createRandom } from './random.ts';
import { checkMissed, checkRuns, createJobModel, type JobModel, type Outage } from './schedule-model.ts';
import { checkTimes, openScheduleWorld } from './schedule-world.ts';
import { DAY, HOUR, idOf, job, ledger, MINUTE } from './stores-jobs.ts';
import type { Engine } from './stores.ts';

export interface ScheduleChaos {
  readonly engine: Engine;
  readonly seed: number;
  readonly jobs: number;
  readonly days: number;
  readonly kills: number;
  /** With every so manieth kill the store is opened anew as well. */
  readonly reopenEvery?: number;
  readonly isOver?: () => boolean;
  readonly killed?: (count: number) => void;
}

export interface ScheduleStats {
  readonly kills: number;
  /** By hand: paused, resumed, changed, removed, run. */
  readonly changes: number;
  readonly runs: number;
  readonly times: number;
  /** That came while the gateway was down. */
  readonly down: number;
  readonly byState: Record<string, number>;
}

const ZONES = ['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Australia/Lord_Howe', 'America/St_Johns'];
/** Over a change of the clocks. */
const START = Date.parse('2026-10-20T00:00:00Z');
const PAGE = 200;
/** Of the steps from one time to the next, one in so many has somebody change a job. */
const CHANGE_EVERY = 12;

export async function runScheduleChaos(chaos: ScheduleChaos): Promise<ScheduleStats> {
  const { below, pick } = createRandom(chaos.seed);
  await using world = await openScheduleWorld(chaos.engine, START);
  const { clock } = world;
  const models: JobModel[] = [];
  const outages: Outage[] = [];
  const stats = { kills: 0, changes: 0, runs: 0 };
  const end = START + chaos.days * DAY;

  function scheduleOf(now: number): Schedule {
    const kind = below(3);
    // Mostly at a quarter of an hour, so that many are due together.
    const minute = below(8) === 0 ? below(60) : below(4) * 15;
    const whole = Math.ceil(now / HOUR) * HOUR + minute * MINUTE;
    if (kind === 0) return { kind: 'at', at: whole + (1 + below(chaos.days * 24)) * HOUR };
    if (kind === 1) return { kind: 'every', everyMs: HOUR * (6 + below(90)), anchorAt: whole };
    const cron = pick([
      ...[`${minute} ${below(24)} * * *`, `${minute} ${below(24)} * * *`, `${minute} */${4 + below(9)} * * *`],
      ...[`${minute} * ${1 + below(28)} * *`, `30 1-2 * * ${below(7)}`],
    ]);
    return { kind: 'cron', cron, tz: pick(ZONES) };
  }

  for (let n = 0; n < chaos.jobs; n++) {
    const schedule = scheduleOf(START);
    const retry = below(3) === 0 ? { attempts: 2 + below(2), backoffMs: 15 * MINUTE } : undefined;
    const [onMiss, overlap] = [pick(['run', 'skip', { within: 2 * HOUR }] as const), pick(['skip', 'queue', 'allow'] as const)];
    const session = below(2) === 0 ? { key: `agent:main:s${below(20)}` } : { agentId: 'main', fresh: true as const };
    const nextAt = nextAfter(schedule, START) ?? assert.fail('it is never due');
    models.push(createJobModel({ id: idOf(`n${n}`), name: `n${n}`, onMiss, overlap, attempts: retry?.attempts ?? 1 }, schedule, START));
    await world.store.write(
      'jobs.add',
      job(`n${n}`, { schedule, session, onMiss, overlap, ...(retry ? { retry } : {}) }, { nextAt, at: START }),
    );
  }

  await world.start();
  while (clock.now() < end && !chaos.isOver?.()) {
    const { at: due = end } = await world.store.read('jobs.nextDue', {});
    const left = Math.max(0, Math.min(due, end) - clock.now());
    // So that they are spread over the whole time, however often something is due.
    const share = (clock.now() - START) / (end - START);
    if (stats.kills < chaos.kills && stats.kills / chaos.kills <= share) {
      await killAround(left);
      stats.kills++;
      chaos.killed?.(stats.kills);
    } else if (below(CHANGE_EVERY) === 0) await changeAround(left);
    else await world.advance(left);
    await endSome();
  }
  return { ...stats, ...(await check()), runs: stats.runs };

  async function killAround(left: number): Promise<void> {
    const when = below(3);
    if (when === 0) await world.advance(Math.max(0, left - below(1_000)));
    // Of what it takes on, so much arrives.
    else if (when === 1) await world.cutOff(left, below(4));
    else await world.advance(left);
    if (stats.kills % (chaos.reopenEvery ?? 1) === 0) await world.die();
    else world.kill();
    const from = clock.now();
    clock.advance(pick([0, 1, below(MINUTE), below(HOUR), below(5 * HOUR), below(5 * HOUR)]));
    outages.push({ from, to: clock.now() });
    await world.start();
  }

  /** Somebody changes a job: in the moment in which something is due, before the scheduler could look, or after that. */
  async function changeAround(left: number): Promise<void> {
    if (below(2) === 0) await world.advance(left);
    else clock.advance(left);
    const due = models.filter((each) => !each.isRemoved && each.due(clock.now()).at(-1) === clock.now());
    const model = below(3) > 0 && due.length > 0 ? pick(due) : pick(models);
    if (!model.isRemoved) await changeJob(model);
    stats.changes++;
    await world.settled();
  }

  async function changeJob(model: JobModel): Promise<void> {
    const { store } = world;
    const [{ id }, at, what] = [model, clock.now(), below(10)];
    if (model.isPaused && what > 2) {
      model.resume(at);
      await store.write('jobs.resume', { id, nextAt: nextAfter(model.schedule, at) ?? null, at });
    } else if (what < 4) {
      const schedule = scheduleOf(at);
      model.change(schedule, at);
      await store.write('jobs.update', { id, fields: { schedule }, nextAt: nextAfter(schedule, at) ?? null, at });
    } else if (what < 7) {
      // One that is finished does not rest.
      const { job: before } = await store.read('jobs.get', { id });
      if (before.state === 'active') model.pause(at);
      await store.write('jobs.pause', { id, at });
    } else if (what < 9) {
      const { job: before } = await store.read('jobs.get', { id });
      await store.write('jobs.runNow', { jobId: id, ...newRunOf(before), at });
    } else {
      model.remove(at);
      await store.write('jobs.remove', { id, at });
    }
  }

  /** Turns end one way or another, and some are still at work when the next time comes. */
  async function endSome(): Promise<void> {
    const { runs } = await world.store.read('runs.open', { limit: PAGE });
    const over = runs.filter(() => below(4) > 0);
    await Promise.all(
      over.map(({ run }) => {
        const kind = pick<RunEnd['kind']>(['completed', 'completed', 'completed', 'failed', 'aborted']);
        return world.store.write('runs.end', { key: run.sessionKey, runId: run.runId, end: { kind, reason: 'as it is' }, at: clock.now() });
      }),
    );
    stats.runs += over.length;
    await world.settled();
  }

  async function check(): Promise<Omit<ScheduleStats, 'kills' | 'changes' | 'runs'>> {
    await world.settled();
    const until = clock.now();
    // What waits for another attempt waits no longer.
    for (const model of models) if (!model.isRemoved && !model.isPaused) await world.store.write('jobs.pause', { id: model.id, at: until });
    stats.runs += await world.endAll();
    const all = await ledger(world.store);
    const rows = Map.groupBy(all, ({ jobId }) => jobId);
    const byState: Record<string, number> = {};
    let [times, down] = [0, 0];
    for (const model of models) {
      const own = rows.get(model.id) ?? [];
      const due = model.due(until);
      const counted = checkTimes(own, model, due);
      down += checkMissed(model, own, due, outages);
      checkRuns(model, own);
      times += counted.times;
      for (const [state, count] of Object.entries(counted.byState)) byState[state] = (byState[state] ?? 0) + count;
    }
    const runIds = all.flatMap(({ runId }) => (runId === undefined ? [] : [runId]));
    assert.equal(new Set(runIds).size, runIds.length, 'no run is that of two times');
    const attempts = all.reduce((sum, { attempt }) => sum + attempt, 0);
    assert.equal(attempts, stats.runs, 'every run is an attempt of a time that is on record');
    return { times, down, byState };
  }
}
