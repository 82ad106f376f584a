// The rows of runs, and what is read of them. A run is one message and what comes of it; its id is the idempotency key.
import { requireSession, type SessionRow } from './session-row.ts';
import { all, type Dialect, one, type Operation, refuse, type Row, sql } from './sql.ts';
import { parseUsage, totalOf } from './usage.ts';
import type { ImageBlock, JsonObject, Run, RunEnd, TextBlock } from '@tenon/protocol';

export type Content = (TextBlock | ImageBlock)[];

export interface RunRow extends Row {
  readonly ord: number;
  readonly run_id: string;
  readonly session_key: string;
  readonly session_id: string;
  readonly state: string;
  /** What triggered it. */
  readonly origin: string;
  readonly message: string;
  readonly options: string;
  readonly joined: string | null;
  readonly created_at: number;
  readonly usage: string;
}

/** A run with what only the agent needs of it. */
export interface OpenRun {
  readonly run: Run;
  readonly content: Content;
  readonly options: JsonObject;
  readonly principal: string;
}

export function* lockRun(runId: string, dialect: Dialect): Operation<RunRow> {
  const row = yield* one<RunRow>(
    dialect === 'sqlite' ? sql`select * from runs where run_id = ${runId}` : sql`select * from runs where run_id = ${runId} for update`,
  );
  return row ?? noRun(runId);
}

/** The session and the run, both locked. A run that has ended, or whose session was reset, can do nothing any more. */
export function* requireRunning(key: string, runId: string, dialect: Dialect): Operation<{ session: SessionRow; run: RunRow }> {
  const session = yield* requireSession(key, dialect);
  const run = yield* lockRun(runId, dialect);
  if (run.state !== 'running' || run.session_id !== session.session_id) runOver(runId);
  return { session, run };
}

export function runOver(runId: string): never {
  refuse('CONFLICT', `Run "${runId}" is not running`, { code: 'RUN_OVER' });
}

function noRun(runId: string): never {
  refuse('NOT_FOUND', `Cannot find run "${runId}"`, { code: 'NO_RUN' });
}

export function* getRun(args: { runId: string }): Operation<{ run: Run }> {
  return { run: toRun((yield* one<RunRow>(sql`select * from runs where run_id = ${args.runId}`)) ?? noRun(args.runId)) };
}

export function* getRunMessage(args: { runId: string }): Operation<OpenRun> {
  return toOpenRun((yield* one<RunRow>(sql`select * from runs where run_id = ${args.runId}`)) ?? noRun(args.runId));
}

/** All runs that have not ended, in the order in which they were accepted; `next` is the `after` of the next page. */
export function* listOpenRuns(args: { limit: number; after?: number }): Operation<{ runs: OpenRun[]; next?: number }> {
  const rows = yield* all<RunRow>(sql`
    select * from runs where state <> 'ended' and ord > ${args.after ?? 0} order by ord limit ${args.limit}`);
  const last = rows.length === args.limit ? rows.at(-1) : undefined;
  return { runs: rows.map(toOpenRun), ...(last ? { next: last.ord } : {}) };
}

/** Those of one session that wait, in order. */
export function* listQueuedRuns(args: { key: string }): Operation<{ runs: OpenRun[] }> {
  const rows = yield* all<RunRow>(sql`
    select * from runs where session_key = ${args.key} and state = 'queued' order by ord limit 1000`);
  return { runs: rows.map(toOpenRun) };
}

/** Those of one session that run or wait, in order. */
export function* listRunsOf(args: { key: string }): Operation<{ runs: OpenRun[] }> {
  const rows = yield* all<RunRow>(sql`
    select * from runs where session_key = ${args.key} and state in ('queued', 'running') order by ord limit 1000`);
  return { runs: rows.map(toOpenRun) };
}

export function toRun(row: Row): Run {
  const { calls: _, ...usage } = totalOf(parseUsage(row.usage as string));
  return {
    runId: row.run_id as string,
    sessionKey: row.session_key as string,
    sessionId: row.session_id as string,
    state: row.state as Run['state'],
    mode: row.mode as Run['mode'],
    trigger: row.origin as Run['trigger'],
    ...(row.joined === null ? {} : { joined: row.joined as string }),
    createdAt: row.created_at as number,
    ...(row.started_at === null ? {} : { startedAt: row.started_at as number }),
    ...(row.ended_at === null ? {} : { endedAt: row.ended_at as number }),
    ...(row.outcome === null ? {} : { end: JSON.parse(row.outcome as string) as RunEnd }),
    usage,
  };
}

export function contentOf(row: RunRow): Content {
  return JSON.parse(row.message) as Content;
}

function toOpenRun(row: RunRow): OpenRun {
  return {
    run: toRun(row),
    content: contentOf(row),
    options: JSON.parse(row.options as string) as JsonObject,
    principal: row.principal as string,
  };
}
