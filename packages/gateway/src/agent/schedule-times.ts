// When a schedule is due. The wall clock decides, in the time zone of the schedule: a time that a change of the clocks leaves
// out is due as much later, one that comes twice is due the first time; what is due in every hour stays so through both.
// What cannot be is said as a value.
import { Cron } from 'croner';
import { LAST_TIME, type Schedule, type ScheduleWish } from '@tenon/protocol';
import { isTimeZone } from '../kernel/time-zone.ts';

export type TakenSchedule = { readonly schedule: Schedule; readonly nextAt: number } | { readonly wrong: string };

/** A time that has passed longer ago than this is a mistake rather than a wish. */
const PAST_MS = 60_000;

/** What was asked for, as it is kept, with the first time that it is due. `zone`: where no other is named. */
export function takeSchedule(wish: ScheduleWish, now: number, zone: string = hostZone()): TakenSchedule {
  switch (wish.kind) {
    case 'in':
      return takeAt(now + Math.max(1, Math.floor(wish.delayMs)), now, 'delayMs');
    case 'at':
      return takeAt(wish.at, now, 'at');
    case 'every':
      return firstOf({ ...wish, anchorAt: wish.anchorAt ?? now }, now, 'everyMs');
    case 'cron':
      return takeCron(wish.cron, wish.tz ?? zone, now);
  }
}

function takeAt(at: number, now: number, name: string): TakenSchedule {
  if (!Number.isSafeInteger(at) || at > LAST_TIME) return { wrong: `${name} leads beyond the year 9999` };
  if (at < now - PAST_MS) return { wrong: `${name} has passed: ${new Date(at).toISOString()}` };
  return { schedule: { kind: 'at', at }, nextAt: at };
}

function takeCron(text: string, tz: string, now: number): TakenSchedule {
  if (!isTimeZone(tz)) return { wrong: `tz "${tz}" is not a time zone, such as Europe/Berlin` };
  const cron = text.trim().replace(/\s+/g, ' ');
  if (cron.split(' ').length !== 5) return { wrong: 'cron needs five fields: minute, hour, day of the month, month, day of the week' };
  try {
    return firstOf({ kind: 'cron', cron, tz }, now, 'cron');
  } catch (error) {
    return { wrong: `cron "${cron}" cannot be read: ${(error as Error).message.replace(/^CronPattern: /, '')}` };
  }
}

function firstOf(schedule: Schedule, now: number, name: string): TakenSchedule {
  const nextAt = nextAfter(schedule, now);
  return nextAt === undefined ? { wrong: `${name}: no such time ever comes` } : { schedule, nextAt };
}

export function hostZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** The first time after this one. */
export function nextAfter(schedule: Schedule, after: number): number | undefined {
  const next = timesAfter(schedule)(after);
  return next !== undefined && next <= LAST_TIME ? next : undefined;
}

function timesAfter(schedule: Schedule): (after: number) => number | undefined {
  if (schedule.kind === 'at') return (after) => (schedule.at > after ? schedule.at : undefined);
  if (schedule.kind === 'every') {
    const { everyMs, anchorAt = 0 } = schedule;
    return (after) => anchorAt + (Math.floor((after - anchorAt) / everyMs) + 1) * everyMs;
  }
  return cronTimes(schedule.cron, schedule.tz ?? 'UTC');
}

function cronTimes(cron: string, tz: string): (after: number) => number | undefined {
  // The expression knows clocks only; what an instant is called in the time zone is worked out here.
  const rule = new Cron(cron, { utcOffset: 0, paused: true });
  const nextShown: NextShown = (shown) => rule.nextRun(new Date(shown))?.getTime();
  const ahead = aheadOf(tz);
  const isHourly = EVERY_HOUR.has(cron.split(' ')[1] ?? '');
  return (after) => (isHourly ? nextInEveryHour(after, nextShown, ahead) : nextOfDay(after, nextShown, ahead));
}

const EVERY_HOUR: ReadonlySet<string> = new Set(['*', '*/1', '0-23']);
/** Longer than the largest change of clocks there was: a whole day was left out. */
const AROUND_MS = 25 * 3_600_000;

/** The next time that clocks show after this one and the expression names. */
type NextShown = (shown: number) => number | undefined;
/** Milliseconds by which the clocks of the time zone are ahead of UTC. */
type Ahead = (at: number) => number;

/** In every hour: local time is only minutes and days then, and the hour that comes twice is two hours. */
function nextInEveryHour(after: number, nextShown: NextShown, ahead: Ahead): number | undefined {
  const nextWith = (offset: number, from: number): number | undefined => {
    const shown = nextShown(from + offset);
    return shown === undefined ? undefined : shown - offset;
  };
  const before = ahead(after);
  const next = nextWith(before, after);
  if (next === undefined || ahead(next) === before) return next;
  // The clocks change in between.
  const then = ahead(next);
  let found = nextWith(then, after);
  while (found !== undefined && found < next && ahead(found) !== then) found = nextWith(then, found);
  return found;
}

/** What clocks show twice is due the first time, and what they leave out as much later as they were put forward. */
function nextOfDay(after: number, nextShown: NextShown, ahead: Ahead): number | undefined {
  const offset = ahead(after);
  // After a change of the clocks, what was shown before it may still be due.
  let shown = nextShown(after + offset - Math.abs(offset - ahead(after - AROUND_MS)));
  let found: number | undefined;
  let until = Number.POSITIVE_INFINITY;
  while (shown !== undefined && shown <= until) {
    const { at, lateMs } = instantOf(shown, shown - offset, ahead);
    if (at > after) {
      if (found === undefined || at < found) found = at;
      if (lateMs === 0) break;
      // What comes after the change may be due before it.
      until = Math.min(until, shown + lateMs);
    }
    shown = nextShown(shown);
  }
  return found;
}

/** When clocks show this: for the first time, or, where it is left out, when they would have. `near`: about then. */
function instantOf(shown: number, near: number, ahead: Ahead): { readonly at: number; readonly lateMs: number } {
  const [before, then] = [ahead(near - AROUND_MS), ahead(near + AROUND_MS)];
  const [first, second] = [shown - before, shown - then];
  if (before === then || ahead(first) === before) return { at: first, lateMs: 0 };
  return ahead(second) === then ? { at: second, lateMs: 0 } : { at: first, lateMs: then - before };
}

function aheadOf(tz: string): Ahead {
  const format = new Intl.DateTimeFormat('en', { timeZone: tz, timeZoneName: 'longOffset' });
  return (at) => {
    const name = format.formatToParts(at).find(({ type }) => type === 'timeZoneName')?.value ?? 'GMT';
    const [, sign, hours = '0', minutes = '0'] = /GMT(?:([+-])(\d\d):(\d\d))?/.exec(name) ?? [];
    return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
  };
}

/** What was due from one time to another. */
export interface DueTimes {
  readonly first: number;
  /** The one before the last; there where there is more than one. */
  readonly before?: number;
  readonly last: number;
  readonly count: number;
  /** After the last; where more were due than are looked at, that is one of them. */
  readonly next: number | undefined;
}

/** From a time at which it is due up to now; of a cron expression no more than `most`, so that a long absence is worked off in steps. */
export function dueTimes(schedule: Schedule, first: number, now: number, most: number): DueTimes {
  if (schedule.kind === 'every') {
    const { everyMs } = schedule;
    const count = Math.floor((now - first) / everyMs) + 1;
    const last = first + (count - 1) * everyMs;
    return { first, ...(count > 1 ? { before: last - everyMs } : {}), last, count, next: nextAfter(schedule, last) };
  }
  const after = timesAfter(schedule);
  let [before, last, count] = [undefined as number | undefined, first, 1];
  let next = after(last);
  while (next !== undefined && next <= now && count < most) {
    [before, last, count] = [last, next, count + 1];
    next = after(last);
  }
  return {
    first,
    ...(before === undefined ? {} : { before }),
    last,
    count,
    next: next !== undefined && next <= LAST_TIME ? next : undefined,
  };
}

/** So much is not late: the gateway may just have been started again. */
export const GRACE_MS = 60_000;
