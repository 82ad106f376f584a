// What a test knows of a job that it made: since when which schedule holds, when the job rested, when the gateway was down. From
// that alone it says which times there must be a record of, and which of them are missed; the gateway is not asked.
import assert from 'node:assert/strict';
import type { Job, Occurrence, OnMiss, Schedule } from '@tenon/protocol';
import { dueBetween } from './schedule-oracle.ts';

/** So late is not late. */
const GRACE_MS = 60_000;

export interface Outage {
  readonly from: number;
  readonly to: number;
}

export interface JobModel {
  readonly id: string;
  readonly name: string;
  readonly onMiss: OnMiss;
  readonly overlap: Job['overlap'];
  readonly attempts: number;
  readonly isRemoved: boolean;
  readonly isPaused: boolean;
  readonly schedule: Schedule;
  pause(at: number): void;
  resume(at: number): void;
  change(schedule: Schedule, at: number): void;
  remove(at: number): void;
  /** Every time until then. */
  due(until: number): number[];
}

export function createJobModel(
  facts: Pick<JobModel, 'id' | 'name' | 'onMiss' | 'overlap' | 'attempts'>,
  first: Schedule,
  madeAt: number,
): JobModel {
  const past: number[] = [];
  let schedule = first;
  let since: number | undefined = madeAt;
  let isRemoved = false;

  function close(at: number): void {
    if (since !== undefined) past.push(...dueBetween(schedule, since, at));
    since = undefined;
  }

  return {
    ...facts,
    get schedule() {
      return schedule;
    },
    get isRemoved() {
      return isRemoved;
    },
    get isPaused() {
      return since === undefined && !isRemoved;
    },
    pause: close,
    resume(at) {
      since = at;
    },
    change(next, at) {
      const rests = since === undefined;
      close(at);
      schedule = next;
      if (!rests) since = at;
    },
    remove(at) {
      close(at);
      isRemoved = true;
    },
    due: (until) => (since === undefined ? [...past] : [...past, ...dueBetween(schedule, since, until)]),
  };
}

/** Which times the rule for late ones leaves out: those that were noticed together count as one, and it is the last of them. */
export function checkMissed(model: JobModel, rows: readonly Occurrence[], due: readonly number[], outages: readonly Outage[]): number {
  const missed = new Set<number>();
  let at = 0;
  for (const { state, count = 1, manual } of rows.toSorted((a, b) => a.dueAt - b.dueAt)) {
    if (manual) continue;
    for (const end = at + count; at < end; at++) if (state === 'missed') missed.add(due[at]!);
  }
  let checked = 0;
  for (const { from, to } of outages) {
    // What is due in the very moment of the end may have been taken on, or not.
    if (due.includes(from)) continue;
    const late = due.filter((time) => time > from && time <= to);
    const last = late.pop();
    if (last === undefined) continue;
    const isRun = to - last <= GRACE_MS || model.onMiss === 'run' || (model.onMiss !== 'skip' && to - last <= model.onMiss.within);
    for (const time of late) assert.ok(missed.has(time), `${model.name}: ${time} came while the gateway was down, and not last`);
    assert.equal(missed.has(last), !isRun, `${model.name}: the last time while the gateway was down, ${to - last} ms late`);
    checked += late.length + 1;
  }
  for (const time of missed)
    assert.ok(
      outages.some(({ from, to }) => time >= from && time <= to),
      `${model.name}: ${time} is missed though the gateway was up`,
    );
  return checked;
}

/** One at a time, unless it says otherwise; no more attempts than it says; and it has ended. */
export function checkRuns(model: JobModel, rows: readonly Occurrence[]): void {
  let freeAt = 0;
  for (const { state, attempt, dueAt, startedAt, endedAt } of rows.toSorted((a, b) => (a.startedAt ?? 0) - (b.startedAt ?? 0))) {
    assert.ok(!['running', 'waiting'].includes(state), `${model.name}: what was due at ${dueAt} has ended`);
    assert.ok(attempt <= model.attempts, `${model.name}: no more attempts than its rule says`);
    if (state === 'done' || state === 'failed') assert.ok(attempt > 0 && startedAt !== undefined, `${model.name}: ${state} was begun`);
    if (startedAt === undefined || model.overlap === 'allow') continue;
    assert.ok(startedAt >= freeAt, `${model.name}: begun at ${startedAt} beside one that ended at ${freeAt}`);
    freeAt = endedAt ?? assert.fail(`${model.name}: has ended and says when`);
  }
}
