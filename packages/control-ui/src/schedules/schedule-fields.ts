// What is typed into the form of a schedule, as text, and what it means. Pure, so that it can be tested without a browser; the
// gateway checks everything again and says what does not fit.
import type { Job, NewJob } from './schedule-types.ts';

export interface Fields {
  readonly name: string;
  readonly message: string;
  /** The key of a session, or `fresh:<agent>` for a new one each time. */
  readonly target: string;
  readonly kind: Job['schedule']['kind'];
  /** As `datetime-local` has it, in the zone of the browser. */
  readonly at: string;
  readonly every: string;
  readonly unit: Unit;
  readonly cron: string;
  readonly tz: string;
  readonly onMiss: 'run' | 'skip' | 'within';
  /** Minutes. */
  readonly within: string;
  readonly overlap: Job['overlap'];
  readonly attempts: string;
  readonly delivery: Job['delivery'];
}

export type Unit = 'minutes' | 'hours' | 'days';
const unitMs: Readonly<Record<Unit, number>> = { minutes: 60_000, hours: 3_600_000, days: 86_400_000 };

export type Wrong = Partial<Record<keyof Fields, string>>;

const FIRST_BACKOFF_MS = 60_000;

export function emptyFields(target: string, zone: string, now: number): Fields {
  return {
    name: '',
    message: '',
    target,
    kind: 'at',
    at: localTime(Math.ceil((now + 3_600_000) / 300_000) * 300_000),
    every: '1',
    unit: 'hours',
    cron: '0 9 * * *',
    tz: zone,
    onMiss: 'run',
    within: '60',
    overlap: 'skip',
    attempts: '0',
    delivery: 'announce',
  };
}

export function fieldsOf(job: Job, zone: string, now: number): Fields {
  const empty = emptyFields('', zone, now);
  const { schedule, session, onMiss } = job;
  const everyMs = schedule.kind === 'every' ? schedule.everyMs : 3_600_000;
  const unit = (['days', 'hours', 'minutes'] as const).find((each) => everyMs % unitMs[each] === 0) ?? 'minutes';
  return {
    ...empty,
    name: job.name,
    message: job.message,
    target: 'key' in session ? session.key : freshTarget(session.agentId),
    kind: schedule.kind,
    at: schedule.kind === 'at' ? localTime(schedule.at) : empty.at,
    every: String(everyMs / unitMs[unit]),
    unit,
    cron: schedule.kind === 'cron' ? schedule.cron : empty.cron,
    tz: schedule.kind === 'cron' ? (schedule.tz ?? zone) : zone,
    onMiss: typeof onMiss === 'string' ? onMiss : 'within',
    within: typeof onMiss === 'string' ? empty.within : String(onMiss.within / 60_000),
    overlap: job.overlap,
    attempts: String((job.retry?.attempts ?? 1) - 1),
    delivery: job.delivery,
  };
}

export const freshTarget = (agentId: string): string => `fresh:${agentId}`;

/** The schedule alone, for the preview; a sentence where it is none yet. */
export function readSchedule(fields: Fields): { readonly schedule: Job['schedule'] } | { readonly wrong: Wrong } {
  switch (fields.kind) {
    case 'at': {
      const at = new Date(fields.at).getTime();
      return Number.isFinite(at) ? { schedule: { kind: 'at', at } } : { wrong: { at: 'Say a day and a time.' } };
    }
    case 'every': {
      const count = Number(fields.every);
      const everyMs = Math.round(count * unitMs[fields.unit]);
      return fields.every.trim() !== '' && Number.isFinite(count) && everyMs >= 1_000
        ? { schedule: { kind: 'every', everyMs } }
        : { wrong: { every: 'Say a number above zero.' } };
    }
    case 'cron': {
      const cron = fields.cron.trim();
      if (cron === '') return { wrong: { cron: 'Say five fields: minute, hour, day, month, day of the week.' } };
      return { schedule: { kind: 'cron', cron, ...(fields.tz.trim() === '' ? {} : { tz: fields.tz.trim() }) } };
    }
  }
}

/** @param before The job that is changed: what the form does not show stays as it is. */
export function readFields(fields: Fields, before?: Job): { readonly job: NewJob } | { readonly wrong: Wrong } {
  const read = readSchedule(fields);
  const wrong: { -readonly [Name in keyof Wrong]: Wrong[Name] } = 'wrong' in read ? { ...read.wrong } : {};
  if (fields.name.trim() === '') wrong.name = 'Say what it is called.';
  if (fields.message.trim() === '') wrong.message = 'Say what the agent is told.';
  if (fields.target === '') wrong.target = 'Choose where it runs.';
  const within = Number(fields.within);
  if (fields.onMiss === 'within' && (fields.within.trim() === '' || !Number.isFinite(within) || within <= 0))
    wrong.within = 'Say a number of minutes above zero.';
  const attempts = Number(fields.attempts);
  if (fields.attempts.trim() === '' || !Number.isInteger(attempts) || attempts < 0 || attempts > 9)
    wrong.attempts = 'Say a whole number from 0, for never, to 9.';
  if ('wrong' in read || Object.keys(wrong).length > 0) return { wrong };
  let { schedule } = read;
  // What stays the same is told in the same words, to the second: `datetime-local` knows minutes only.
  if (schedule.kind === 'at' && before?.schedule.kind === 'at' && localTime(before.schedule.at) === fields.at) schedule = before.schedule;
  // Where an interval begins is not shown: it goes on from where it was while the interval stays the same.
  if (schedule.kind === 'every' && before?.schedule.kind === 'every' && before.schedule.everyMs === schedule.everyMs)
    schedule = before.schedule;
  return {
    job: {
      name: fields.name.trim(),
      message: fields.message.trim(),
      session: fields.target.startsWith('fresh:') ? { agentId: fields.target.slice('fresh:'.length), fresh: true } : { key: fields.target },
      schedule,
      onMiss: fields.onMiss === 'within' ? { within: Math.round(within * 60_000) } : fields.onMiss,
      overlap: fields.overlap,
      ...(attempts > 0 ? { retry: { attempts: attempts + 1, backoffMs: before?.retry?.backoffMs ?? FIRST_BACKOFF_MS } } : {}),
      delivery: fields.delivery,
    },
  };
}

/** `2026-11-15T09:30`, in the zone of the browser. */
export function localTime(at: number): string {
  const date = new Date(at);
  const two = (value: number) => String(value).padStart(2, '0');
  const day = `${String(date.getFullYear()).padStart(4, '0')}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day}T${two(date.getHours())}:${two(date.getMinutes())}`;
}
