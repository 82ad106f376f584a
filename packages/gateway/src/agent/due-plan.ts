// What is to be done about a job whose time has come: which of its times is run, which were missed and why, and when it is due
// next. Pure, so that every rule can be tried with any clock.
import type { Job } from '@tenon/protocol';
import type { DueTime, MissedTimes } from '../store/occurrences.ts';
import { dueTimes, GRACE_MS } from './schedule-times.ts';

/** Times of one job that are looked at together: those of a long absence are worked off in steps. */
const MOST_TIMES = 100;

export interface DuePlan {
  readonly missed?: MissedTimes;
  readonly due?: Pick<DueTime, 'dueAt'>;
  readonly nextAt: number | null;
}

/** `upSince`: when the gateway was started. The job has a `nextAt` that is not after now. */
export function planDue(job: Pick<Job, 'schedule' | 'onMiss'> & { readonly nextAt: number }, now: number, upSince: number): DuePlan {
  const times = dueTimes(job.schedule, job.nextAt, now, MOST_TIMES);
  const { first, before, last, count } = times;
  const nextAt = times.next ?? null;
  // More are due than one look takes: none of these is the last one.
  const isLast = nextAt === null || nextAt > now;
  const why = first < upSince ? 'The gateway was not running' : 'The clock moved, or the machine slept';
  if (isLast && isRun(job.onMiss, now - last)) {
    const made = `${why}; the time of ${new Date(last).toISOString()} makes up for it`;
    return {
      ...(before === undefined ? {} : { missed: { dueAt: first, until: before, count: count - 1, reason: made } }),
      due: { dueAt: last },
      nextAt,
    };
  }
  return { missed: { dueAt: first, until: last, count, reason: `${why}, and ${ruleOf(job.onMiss, isLast)}` }, nextAt };
}

function isRun(rule: Job['onMiss'], lateMs: number): boolean {
  if (lateMs <= GRACE_MS || rule === 'run') return true;
  return rule !== 'skip' && lateMs <= rule.within;
}

function ruleOf(rule: Job['onMiss'], isLast: boolean): string {
  if (rule === 'skip') return 'the job does not make up for what it misses';
  if (rule === 'run' || !isLast) return 'a later time makes up for it, if the job says so';
  return `it was later than the ${rule.within / 1_000} s within which the job makes up for it`;
}
