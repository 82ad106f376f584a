// Jobs and what became of them, as people read them: the time, why something was missed, and which job is meant.
import { IntervalMs, type Job, LAST_TIME, matches, type Occurrence, type Schedule, type ScheduleWish } from '@tenon/protocol';
import { relative, spell } from '../amounts.ts';
import { describeFailure, quoted, usageError } from '../failure.ts';
import type { Output } from '../output.ts';
import { BadValue } from '../spec.ts';
import { renderPairs } from '../table.ts';
import { choice, duration, parseDuration, text } from '../values.ts';
import { pick } from './pick.ts';

type Visible = (text: string) => string;

/** `every 2h`, `0 8 * * 1-5 in Europe/Berlin`. */
export function scheduleText(schedule: Schedule): string {
  if (schedule.kind === 'at') return `once, ${timeText(schedule.at)}`;
  return schedule.kind === 'every' ? `every ${spell(schedule.everyMs)}` : `${schedule.cron} in ${schedule.tz ?? 'UTC'}`;
}

/** In the time of the person who reads it. */
export function timeText(at: number): string {
  const date = new Date(at);
  const two = (value: number) => String(value).padStart(2, '0');
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/** So late is not late. */
const LATE_MS = 60_000;

/** Why it is as it is; of one that was run late, by how much. */
export function whyOf({ reason, dueAt, startedAt, attempt }: Occurrence): string | undefined {
  if (reason !== undefined || startedAt === undefined || attempt !== 1 || startedAt - dueAt <= LATE_MS) return reason;
  return `begun ${spell(startedAt - dueAt)} late`;
}

export function occurrenceText(occurrence: Occurrence, now: number): string {
  const { state, dueAt, count, retryAt } = occurrence;
  const reason = whyOf(occurrence);
  const times = count === undefined ? '' : ` (${count} times)`;
  const again = retryAt === undefined ? '' : `; tried again ${relative(retryAt, now)}`;
  return `${state}${times}, due ${relative(dueAt, now)}${reason === undefined ? '' : `: ${reason}`}${again}`;
}

export function jobLines(job: Job, out: Output, visible: Visible, now: number): string[] {
  const pairs: [string, string][] = [
    ['id', job.id],
    ['name', visible(job.name)],
    ['when', visible(scheduleText(job.schedule))],
    ['next', job.nextAt === undefined ? '-' : `${timeText(job.nextAt)} (${relative(job.nextAt, now)})`],
    ['state', job.note === undefined ? job.state : `${job.state}: ${visible(job.note)}`],
    ['session', 'key' in job.session ? visible(job.session.key) : `a new one of ${visible(job.session.agentId)} each time`],
    ['message', visible(job.message)],
    ['if missed', typeof job.onMiss === 'string' ? job.onMiss : `run within ${spell(job.onMiss.within)}`],
    ['overlap', job.overlap],
    ['retry', job.retry ? `${job.retry.attempts} attempts, first after ${spell(job.retry.backoffMs)}` : '-'],
    ['delivery', job.delivery],
    ['owner', visible(job.owner)],
    ['tag', visible(job.tag ?? '-')],
    ['last', job.last ? visible(occurrenceText(job.last, now)) : '-'],
    ['created', relative(job.createdAt, now)],
  ];
  return renderPairs(pairs, (name) => out.style('dim', name));
}

interface Lister {
  call(
    method: 'cron.list',
    params: { state: 'all'; limit: number; cursor?: string | undefined },
  ): Promise<{ jobs: Job[]; nextCursor?: string }>;
}

const PAGE = 200;
/** Pages that are looked through for a name. */
const MOST_PAGES = 50;

/** The job that an id, the beginning of one, or a name means. */
export async function findJob(typed: string, { call }: Lister): Promise<Job> {
  const jobs: Job[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MOST_PAGES; page++) {
    const found = await call('cron.list', { state: 'all', limit: PAGE, cursor });
    const exact = found.jobs.find(({ id }) => id === typed);
    if (exact) return exact;
    jobs.push(...found.jobs);
    cursor = found.nextCursor;
    if (cursor === undefined) break;
  }
  return pick(jobs, typed, 'job', 'tenon cron list --state all');
}

/** When, and by which rules: for making and for changing a job. */
export const whenOptions = {
  at: text('<time>', 'Once, at a date and time: 2030-01-31T08:00 (your time zone), or with Z or +01:00'),
  in: duration('Once, so long from now: 20m, 2h'),
  every: duration('Again and again: every 30m'),
  cron: text('<fields>', 'Again and again: minute, hour, day of the month, month, day of the week'),
  tz: text('<zone>', 'The time zone of --cron, such as Europe/Berlin; yours where nothing is said'),
} as const;

export const ruleOptions = {
  name: text('<text>', 'A name'),
  onMiss: text('<rule>', 'When it is noticed late: run, skip, or a duration within which it is still run'),
  overlap: choice(['skip', 'queue', 'allow'], 'When the time before has not ended'),
  retry: text('<n>', 'How often in all it is tried when it fails; with a colon the first wait: 3:30s'),
  delivery: choice(['announce', 'none'], 'Whether the answer goes to where the session came from'),
  tag: text('<tag>', 'What it belongs to'),
} as const;

const CRON_FIELDS = 5;
const MAX_CRON = 256;

interface When {
  readonly at: string | undefined;
  readonly in: number | undefined;
  readonly every: number | undefined;
  readonly cron: string | undefined;
  readonly tz: string | undefined;
}

/** Nothing where nothing is said of when. */
export function wishOf({ at, in: delayMs, every: everyMs, cron, tz }: When): ScheduleWish | undefined {
  const wishes: ScheduleWish[] = [];
  if (at !== undefined) wishes.push({ kind: 'at', at: parseTime(at) });
  if (delayMs !== undefined) wishes.push({ kind: 'in', delayMs });
  if (everyMs !== undefined && !matches(IntervalMs, everyMs))
    throw usageError(`--every cannot be ${everyMs} ms; it must be from 1s to 366d`);
  if (everyMs !== undefined) wishes.push({ kind: 'every', everyMs });
  if (cron !== undefined)
    wishes.push({ kind: 'cron', cron: parseCron(cron), tz: tz ?? new Intl.DateTimeFormat().resolvedOptions().timeZone });
  else if (tz !== undefined) throw usageError('--tz goes with --cron');
  if (wishes.length > 1) throw usageError('Only one of --at, --in, --every and --cron can say when');
  return wishes[0];
}

function parseCron(given: string): string {
  if (given.trim().split(/\s+/).length === CRON_FIELDS && given.length <= MAX_CRON) return given;
  throw usageError(`--cron cannot be ${quoted(given)}; it must be five fields: minute, hour, day of the month, month, day of the week`);
}

export const INTERVAL = 'a duration from 1s to 366d, such as 30m';

export function parseInterval(given: string): number {
  const ms = parseDuration(given);
  if (!matches(IntervalMs, ms)) throw new BadValue(INTERVAL);
  return ms;
}

const TIME = /^(\d{4})-(\d\d)-(\d\d)(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d)?)?$/i;

/** A day alone begins at midnight of the person who types it. A day that its month does not have is none: `Date` would take the next. */
export function parseTime(given: string): number {
  const [, year, month, day] = TIME.exec(given.trim()) ?? [];
  const exists = Number(day) >= 1 && Number(day) <= new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate();
  const time = exists ? Date.parse(given.trim().length === 10 ? `${given.trim()}T00:00` : given.trim().replace(' ', 'T')) : Number.NaN;
  if (Number.isNaN(time) || time < 0 || time > LAST_TIME)
    throw usageError(`--at cannot be ${quoted(given)}; it must be a date and time such as 2030-01-31T08:00`);
  return time;
}

const FLAGS: Readonly<Record<string, string>> = { at: '--at', delayMs: '--in', everyMs: '--every', cron: '--cron', tz: '--tz' };

/** The same; what the gateway finds wrong with a schedule is said of the flag that was typed. */
export async function inFlags<Answer>(work: Promise<Answer>): Promise<Answer> {
  try {
    return await work;
  } catch (error) {
    const { code, message } = describeFailure(error);
    const [, field = '', wrong = ''] = /^params\/schedule\/(\w+)(.*)$/s.exec(message) ?? [];
    throw code === 'INVALID_REQUEST' && field in FLAGS ? usageError(`${FLAGS[field]}${wrong}`) : error;
  }
}
