// Many jobs over many virtual days, with a gateway that is killed around the times at which they are due: before, in the middle
// of taking them on, and after. In the end every time of every job is accounted for exactly once.
import assert from 'node:assert/strict';
import type { Job, Occurrence, RunEnd, Schedule } from '@tenon/protocol';
import { nextAfter } from '../../packages/gateway/src/agent/schedule-times.ts';
import { createRandom } from './random.ts';
import { checkTimes, openScheduleWorld } from './schedule-world.ts';
import { DAY, HOUR, idOf, job, ledger, MINUTE } from './stores-jobs.ts';
import type { Engine } from './stores.ts';

export interface ScheduleChaos {
  readonly engine: Engine;
  readonly seed: number;
  readonly jobs: number;
  readonly days: number;
  readonly kills: number;
  readonly isOver?: () => boolean;
  readonly killed?: (count: number) => void;
}

export interface ScheduleStats {
  kills: number;
  readonly times: number;
  readonly byState: Record<string, number>;
}

const ZONES = ['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Australia/Lord_Howe'];
/** Over a change of the clocks. */
const START = Date.parse('2026-10-20T00:00:00Z');
const PAGE = 200;

export async function runScheduleChaos(chaos: ScheduleChaos): Promise<ScheduleStats> {
  const { below, pick } = createRandom(chaos.seed);
  await using world = await openScheduleWorld(chaos.engine, START);
  const { clock } = world;
  const firsts = new Map<string, number>();

  function scheduleOf(): Schedule {
    const kind = below(3);
    if (kind === 0) return { kind: 'at', at: START + MINUTE + below(chaos.days * DAY) };
    if (kind === 1) return { kind: 'every', everyMs: HOUR * (3 + below(90)), anchorAt: START + below(HOUR) };
    const cron = pick([`${below(60)} ${below(24)} * * *`, `${below(60)} */${4 + below(9)} * * *`, `${below(60)} * ${1 + below(28)} * *`]);
    return { kind: 'cron', cron, tz: pick(ZONES) };
  }

  for (let n = 0; n < chaos.jobs; n++) {
    const schedule = scheduleOf();
    const nextAt = nextAfter(schedule, START) ?? assert.fail('it is never due');
    firsts.set(idOf(`n${n}`), nextAt);
    const fields = {
      schedule,
      session: below(2) === 0 ? { key: `agent:main:s${below(20)}` } : { agentId: 'main', fresh: true as const },
      onMiss: pick(['run', 'skip', { within: 2 * HOUR }] as const),
      overlap: pick(['skip', 'queue', 'allow'] as const),
      ...(below(3) === 0 ? { retry: { attempts: 2 + below(2), backoffMs: 10 * MINUTE } } : {}),
    };
    await world.store.write('jobs.add', job(`n${n}`, fields, { nextAt, at: START }));
  }

  const end = START + chaos.days * DAY;
  const stats = { kills: 0 };
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
    } else await world.advance(left);
    await endSome();
  }
  await world.settled();
  await world.endAll();
  return { ...stats, ...(await check()) };

  async function killAround(left: number): Promise<void> {
    const when = below(3);
    if (when === 0) await world.advance(Math.max(0, left - below(1_000)));
    else if (when === 1) {
      // It has begun to look, and perhaps to take on, what is due.
      clock.advance(left);
      for (let turns = below(6); turns > 0; turns--) await new Promise((resolve) => setImmediate(resolve));
    } else await world.advance(left);
    await world.die();
    clock.advance(pick([0, 1, below(MINUTE), below(HOUR), below(5 * HOUR)]));
    await world.start();
  }

  /** Turns end one way or another, and some are still at work when the next time comes. */
  async function endSome(): Promise<void> {
    const { runs } = await world.store.read('runs.open', { limit: PAGE });
    await Promise.all(
      runs
        .filter(() => below(4) > 0)
        .map(({ run }) => {
          const kind = pick<RunEnd['kind']>(['completed', 'completed', 'completed', 'failed', 'aborted']);
          return world.store.write('runs.end', {
            key: run.sessionKey,
            runId: run.runId,
            end: { kind, reason: 'as it is' },
            at: clock.now(),
          });
        }),
    );
    await world.settled();
  }

  async function check(): Promise<Omit<ScheduleStats, 'kills'>> {
    const rows = Map.groupBy(await ledger(world.store), ({ jobId }) => jobId);
    const byState: Record<string, number> = {};
    let times = 0;
    for (let cursor: string | undefined; ; ) {
      const page = await world.store.read('jobs.list', { limit: PAGE, state: 'all', ...(cursor === undefined ? {} : { cursor }) });
      for (const each of page.jobs) {
        const counted = checkTimes(rows.get(each.id) ?? [], each, firsts.get(each.id)!);
        checkEnds(each, rows.get(each.id) ?? []);
        times += counted.times;
        for (const [state, count] of Object.entries(counted.byState)) byState[state] = (byState[state] ?? 0) + count;
      }
      cursor = page.nextCursor;
      if (cursor === undefined) break;
    }
    const runIds = [...rows.values()].flat().flatMap(({ runId }) => (runId === undefined ? [] : [runId]));
    assert.equal(new Set(runIds).size, runIds.length, 'no run is that of two times');
    return { times, byState };
  }

  function checkEnds({ name, retry }: Job, occurrences: readonly Occurrence[]): void {
    for (const { state, attempt, dueAt } of occurrences) {
      assert.notEqual(state, 'running', `${name}: what was due at ${dueAt} has a run that has ended`);
      assert.ok(attempt <= (retry?.attempts ?? 1), `${name}: no more attempts than its rule says`);
      if (state === 'done') assert.ok(attempt > 0);
    }
  }
}
