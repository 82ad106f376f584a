// What a job keeps as JSON. A row that was damaged must not keep anybody from the other jobs: what cannot be read is said
// by name, and something that does nothing by itself stands in its place until the job is given a new one.
import type { Job, OnMiss, Schedule } from '@tenon/protocol';
import type { Row } from './sql.ts';

export interface JobColumns {
  readonly schedule: Schedule;
  readonly onMiss: OnMiss;
  readonly retry?: NonNullable<Job['retry']>;
  /** What is wrong, and what mends it. */
  readonly damage?: string;
}

export function readColumns(row: Row): JobColumns {
  const schedule = parse(row.schedule);
  const onMiss = parse(row.on_miss);
  const retry = row.retry === null ? undefined : parse(row.retry);
  const wrong = [
    ...(isSchedule(schedule) ? [] : ['schedule']),
    ...(isOnMiss(onMiss) ? [] : ['rule for missed times']),
    ...(retry === undefined || isRetry(retry) ? [] : ['rule for retries']),
  ];
  return {
    // The one time that is known of it.
    schedule: isSchedule(schedule) ? schedule : { kind: 'at', at: Number(row.next_at ?? row.created_at) },
    onMiss: isOnMiss(onMiss) ? onMiss : 'skip',
    ...(isRetry(retry) ? { retry } : {}),
    ...(wrong.length === 0 ? {} : { damage: `Its ${wrong.join(' and its ')} cannot be read; give it a new one, then resume it` }),
  };
}

function parse(text: unknown): unknown {
  try {
    return JSON.parse(text as string);
  } catch {
    return null;
  }
}

function isSchedule(value: unknown): value is Schedule {
  const { kind, at, everyMs, anchorAt = 0, cron, tz = '' } = fieldsOf(value);
  if (kind === 'at') return Number.isSafeInteger(at);
  if (kind === 'every') return Number.isSafeInteger(everyMs) && (everyMs as number) >= 1_000 && Number.isSafeInteger(anchorAt);
  return kind === 'cron' && typeof cron === 'string' && typeof tz === 'string';
}

function isOnMiss(value: unknown): value is OnMiss {
  return value === 'run' || value === 'skip' || Number.isSafeInteger(fieldsOf(value).within);
}

function isRetry(value: unknown): value is NonNullable<Job['retry']> {
  const { attempts, backoffMs } = fieldsOf(value);
  return Number.isSafeInteger(attempts) && Number.isSafeInteger(backoffMs);
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
