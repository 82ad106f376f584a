// The end of a run is the end of the time that a job was due, in the same commit: or of one attempt, where the job's rule says
// that it is tried again. What waits behind it may then begin.
import type { RunEnd } from '@tenon/protocol';
import { readColumns } from './job-columns.ts';
import { announceJob, finishIfOver, type JobRow, lockJob, type OccurrenceRow, wakeNext } from './job-row.ts';
import { type Dialect, one, type Operation, sql } from './sql.ts';

/** The longest wait before another attempt. */
const MAX_BACKOFF_MS = 86_400_000;

const FAILURES: ReadonlySet<RunEnd['kind']> = new Set(['failed', 'internal_error', 'step_limit', 'cost_limit', 'refused']);
/** What may go better another time. A turn that was not allowed, or cost too much, would end the same way. */
const TRIED_AGAIN: ReadonlySet<RunEnd['kind']> = new Set(['failed', 'internal_error']);

export function* settleOccurrences(runIds: readonly string[], end: RunEnd, at: number, dialect: Dialect): Operation<void> {
  for (const runId of runIds) {
    const found = yield* one<OccurrenceRow>(sql`select * from occurrences where run_id = ${runId} and state = 'running'`);
    if (found) yield* settle(found, end, at, dialect);
  }
}

function* settle(found: OccurrenceRow, end: RunEnd, at: number, dialect: Dialect): Operation<void> {
  const job = yield* lockJob(found.job_id, dialect);
  const retryAt = job && TRIED_AGAIN.has(end.kind) ? nextAttempt(job, found.attempt, at) : undefined;
  const state = retryAt !== undefined ? 'waiting' : stateOf(end);
  const row = yield* one<OccurrenceRow>(sql`
    update occurrences set state = ${state}, reason = ${reasonOf(end)}, wake_at = ${retryAt ?? null},
      ended_at = ${retryAt === undefined ? at : null}
    where ord = ${found.ord} and state = 'running' returning *`);
  if (!row || !job) return;
  if (retryAt === undefined) {
    yield* wakeNext(job.id, at);
  }
  yield* announceJob('occurrence', yield* finishIfOver(job, at), at, row);
}

function nextAttempt(job: JobRow, attempt: number, at: number): number | undefined {
  const { retry } = readColumns(job);
  if (!retry || job.state === 'paused') return undefined;
  const { attempts, backoffMs } = retry;
  return attempt < attempts ? at + Math.min(backoffMs * 2 ** (attempt - 1), MAX_BACKOFF_MS) : undefined;
}

function stateOf({ kind }: RunEnd): 'done' | 'failed' | 'interrupted' {
  if (kind === 'completed' || kind === 'handled') return 'done';
  return FAILURES.has(kind) ? 'failed' : 'interrupted';
}

function reasonOf({ kind, code, reason }: RunEnd): string | null {
  if (kind === 'completed' || kind === 'handled') return null;
  return [kind, code, reason].filter((each) => each !== undefined).join(': ');
}
