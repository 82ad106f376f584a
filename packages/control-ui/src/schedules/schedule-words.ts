// Schedules in words: when a job runs, what became of an occurrence and why, and what a rule does. Pure; times are said in the
// zone of the person who looks, and the zone of a job is named where it is another one.
import { visible } from '@tenon/protocol';
import { duration, plural } from '../chat/format.ts';
import type { IconName } from '../icons.tsx';
import type { Tone } from '../parts/button.tsx';
import type { Job, Occurrence } from './schedule-types.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export const ownZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

/** When it runs, such as `Every day at 02:00`. */
export function whenWords(schedule: Job['schedule'], zone = ownZone()): string {
  switch (schedule.kind) {
    case 'at':
      return `Once, ${moment(schedule.at)}`;
    case 'every':
      return `Every ${lengthWords(schedule.everyMs)}`;
    case 'cron': {
      const words = cronWords(schedule.cron);
      const tz = schedule.tz ?? zone;
      return tz === zone ? words : `${words}, ${visible(tz)} time`;
    }
  }
}

const units = [
  [7 * DAY, 'week'],
  [DAY, 'day'],
  [HOUR, 'hour'],
  [MINUTE, 'minute'],
  [1_000, 'second'],
] as const;

/** `hour`, `15 minutes`, `2 days`: in the largest unit that says it whole. */
export function lengthWords(ms: number): string {
  const [size, name] = units.find(([each]) => ms >= each && ms % each === 0) ?? [1, 'millisecond'];
  const count = ms / size;
  return count === 1 ? name : plural(count, name);
}

const days = ['Sundays', 'Mondays', 'Tuesdays', 'Wednesdays', 'Thursdays', 'Fridays', 'Saturdays', 'Sundays'];
const dayNames = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const isNumber = (text: string) => /^\d{1,2}$/.test(text);

/** The plain forms in words; anything else as it was written. */
export function cronWords(expression: string): string {
  const fields = expression.trim().split(/\s+/);
  const [minute = '', hour = '', date = '', month = '', weekday = ''] = fields;
  const asWritten = `At ${visible(expression.trim())}`;
  if (fields.length !== 5 || month !== '*') return asWritten;
  const step = /^\*\/(\d{1,2})$/.exec(minute)?.[1];
  if (date === '*' && weekday === '*' && hour === '*') {
    if (minute === '*') return 'Every minute';
    if (step !== undefined) return `Every ${lengthWords(Number(step) * MINUTE)}`;
    if (isNumber(minute)) return minute === '0' ? 'Every hour' : `Every hour, ${plural(Number(minute), 'minute')} past`;
  }
  if (!isNumber(minute) || !isNumber(hour)) return asWritten;
  const clock = `${hour.padStart(2, '0')}:${minute.padStart(2, '0')}`;
  if (date === '*' && weekday === '*') return `Every day at ${clock}`;
  if (isNumber(date) && weekday === '*') return `On day ${Number(date)} of every month at ${clock}`;
  const names = date === '*' ? weekdayWords(weekday.toLowerCase()) : undefined;
  return names === undefined ? asWritten : `${names} at ${clock}`;
}

function weekdayWords(text: string): string | undefined {
  const numbered = dayNames.reduce((left, name, index) => left.replaceAll(name, String(index)), text);
  const range = /^([0-7])-([0-7])$/.exec(numbered);
  if (range) return `${days[Number(range[1])]} to ${days[Number(range[2])]}`;
  const listed = numbered.split(',');
  if (!listed.every((each) => /^[0-7]$/.test(each))) return undefined;
  const named = listed.map((each) => days[Number(each)]!);
  return named.length === 1 ? named[0] : `${named.slice(0, -1).join(', ')} and ${named.at(-1)}`;
}

const dateAndTime = new Intl.DateTimeFormat('en-GB', {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
});
const withSeconds = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const withYear = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit' });

/** `Mon 16 Nov, 02:00`; with the year where it is another one. */
export function moment(at: number, now = Date.now()): string {
  const isNear = Math.abs(at - now) < 300 * DAY;
  return (isNear ? dateAndTime : withYear).format(at).replace(/^(\w+),/, '$1');
}

/** `in 12 h 17 min`, `4 min ago`; coarse where it is far. */
export function fromNow(at: number, now: number): string {
  const away = Math.abs(at - now);
  if (away < 10_000) return at >= now ? 'in a moment' : 'just now';
  const words = awayWords(away);
  return at >= now ? `in ${words}` : `${words} ago`;
}

function awayWords(ms: number): string {
  if (ms < MINUTE) return `${Math.round(ms / 1_000)} s`;
  const minutes = Math.round(ms / MINUTE);
  if (minutes < 60) return `${minutes} min`;
  if (minutes < 24 * 60)
    return minutes % 60 === 0 || minutes >= 600 ? `${Math.floor(minutes / 60)} h` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  return plural(Math.round(ms / DAY), 'day');
}

export interface StateWords {
  readonly icon: IconName;
  readonly tone: Tone;
  readonly word: string;
}

const occurrenceStates: Readonly<Record<Occurrence['state'], StateWords>> = {
  waiting: { icon: 'hourglass', tone: 'accent', word: 'Waits' },
  running: { icon: 'spinner', tone: 'accent', word: 'Running' },
  done: { icon: 'check', tone: 'ok', word: 'Ran' },
  failed: { icon: 'warning', tone: 'bad', word: 'Failed' },
  missed: { icon: 'missed', tone: 'bad', word: 'Missed' },
  skipped: { icon: 'minus', tone: 'plain', word: 'Skipped' },
  interrupted: { icon: 'warning', tone: 'warn', word: 'Interrupted' },
};

export function occurrenceWords({ state }: Pick<Occurrence, 'state'>): StateWords {
  return occurrenceStates[state];
}

const jobStates: Readonly<Record<Job['state'], StateWords>> = {
  active: { icon: 'clock', tone: 'plain', word: 'Waits' },
  paused: { icon: 'pause', tone: 'warn', word: 'Paused' },
  finished: { icon: 'check', tone: 'plain', word: 'Finished' },
};

export function jobWords({ state }: Pick<Job, 'state'>): StateWords {
  return jobStates[state];
}

/** Within this it was on time for a person. */
const ON_TIME_MS = 2_000;

/** The sentence that stands below an occurrence: how long and how late, or the cause. */
export function causeWords({ state, reason, dueAt, startedAt, endedAt, attempt, manual, count, until, retryAt }: Occurrence): string {
  const late = startedAt === undefined ? 0 : startedAt - dueAt;
  const parts: string[] = [];
  if (manual) parts.push('asked for by somebody');
  if (count !== undefined && count > 1 && until !== undefined) parts.push(`${plural(count, 'time')} in a row, the last ${moment(until)}`);
  if (startedAt !== undefined && endedAt !== undefined) parts.push(`took ${duration(endedAt - startedAt)}`);
  if (startedAt !== undefined && !manual) parts.push(late <= ON_TIME_MS ? 'on time' : `started ${awayWords(late)} late`);
  if (attempt > 1) parts.push(`attempt ${attempt}`);
  if (retryAt !== undefined) parts.push(`the next attempt is at ${exactClock(retryAt)}`);
  const facts = sentence(parts.join(', '));
  const cause = sentence(visible(reason ?? ''));
  if (state === 'done') return [facts, cause].filter(Boolean).join(' ');
  return [cause, facts].filter(Boolean).join(' ');
}

/** All of it in one line. */
export function stripWords(occurrence: Occurrence): string {
  return [`${occurrenceWords(occurrence).word} ${moment(occurrence.dueAt)}`, causeWords(occurrence)].filter(Boolean).join(': ');
}

export function sentence(text: string): string {
  const trimmed = text.trim();
  if (trimmed === '') return '';
  return `${trimmed[0]!.toUpperCase()}${trimmed.slice(1)}${/[.!?]$/.test(trimmed) ? '' : '.'}`;
}

export function missWords(onMiss: Job['onMiss']): string {
  if (onMiss === 'run') return 'runs as soon as the gateway is back';
  if (onMiss === 'skip') return 'is not made up for, and told as missed';
  return `runs if it is at most ${lengthWords(onMiss.within).replace(/^(?=\D)/, '1 ')} late, else it is told as missed`;
}

const overlaps: Readonly<Record<Job['overlap'], string>> = {
  skip: 'is skipped',
  queue: 'waits until that one has ended',
  allow: 'runs beside it',
};

export function overlapWords(overlap: Job['overlap']): string {
  return overlaps[overlap];
}

export function retryWords(retry: Job['retry']): string {
  if (!retry) return 'is not tried again';
  return `is tried up to ${plural(retry.attempts, 'time')} in all, again first after ${lengthWords(retry.backoffMs).replace(/^(?=\D)/, '1 ')}`;
}

/** Who it belongs to: you, a plugin, or a credential by its name. */
export function ownerWords(owner: string, principal: string | undefined, names: ReadonlyMap<string, string>): string {
  if (owner === principal) return 'you';
  if (owner.startsWith('plugin:')) return visible(owner.slice('plugin:'.length));
  return visible(names.get(owner) ?? owner);
}

/** Down to the second, for people who point at it. */
export function exactClock(at: number): string {
  return withSeconds.format(at);
}

/** What needs a person first, then what comes next, then what is over. */
export function inOrder(jobs: readonly Job[]): Job[] {
  const rank = ({ state, last }: Job) =>
    last?.state === 'missed' || last?.state === 'failed' ? 0 : state === 'active' ? 1 : state === 'paused' ? 2 : 3;
  return [...jobs].sort(
    (a, b) =>
      rank(a) - rank(b) || (a.nextAt ?? Number.MAX_SAFE_INTEGER) - (b.nextAt ?? Number.MAX_SAFE_INTEGER) || b.updatedAt - a.updatedAt,
  );
}
