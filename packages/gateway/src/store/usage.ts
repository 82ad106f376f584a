// Tokens and cost: of a run in its own row, of a session in one row per model and day, so that sums stay small however
// long a conversation gets.
import { all, change, one, type Operation, refuse, sql, joinSql, type Sql } from './sql.ts';
import type { Usage } from '@tenon/protocol';

export type UsageSum = Usage & { calls: number };
export type ModelUsage = UsageSum & { model: string };

const DAY_MS = 86_400_000;

/** Days since 1970, in UTC. */
export function dayOf(at: number): number {
  return Math.floor(at / DAY_MS);
}

export function* addUsage(args: { sessionKey: string; model: string; usage: Usage; at: number }): Operation<void> {
  const { sessionKey, model, usage, at } = args;
  yield* change(sql`
    insert into usage (session_key, model, day, calls, input, output, cache_read, cache_write, cost)
    values (${sessionKey}, ${model}, ${dayOf(at)}, 1, ${usage.input}, ${usage.output}, ${usage.cacheRead}, ${usage.cacheWrite}, ${usage.costUsd})
    on conflict (session_key, model, day) do update set calls = usage.calls + 1, input = usage.input + excluded.input,
      output = usage.output + excluded.output, cache_read = usage.cache_read + excluded.cache_read,
      cache_write = usage.cache_write + excluded.cache_write, cost = usage.cost + excluded.cost`);
}

/** Of one run, of one session, or of all; `since` counts from the beginning of its day. */
export function* sumUsage(args: {
  sessionKey?: string;
  runId?: string;
  since?: number;
}): Operation<{ total: UsageSum; byModel: ModelUsage[] }> {
  const byModel = args.runId === undefined ? yield* ofSessions(args) : yield* ofRun(args.runId, args.sessionKey);
  return { total: totalOf(byModel), byModel };
}

function* ofSessions(args: { sessionKey?: string; since?: number }): Operation<ModelUsage[]> {
  const conditions: Sql[] = [sql`day >= ${args.since === undefined ? 0 : dayOf(args.since)}`];
  if (args.sessionKey !== undefined) conditions.push(sql`session_key = ${args.sessionKey}`);
  const rows = yield* all<ModelUsage>(sql`
    select model, cast(sum(calls) as bigint) as calls, cast(sum(input) as bigint) as input, cast(sum(output) as bigint) as output,
      cast(sum(cache_read) as bigint) as "cacheRead", cast(sum(cache_write) as bigint) as "cacheWrite", sum(cost) as "costUsd"
    from usage where ${joinSql(conditions, ' and ')} group by model order by model`);
  return rows.map((row) => ({ ...row }));
}

function* ofRun(runId: string, sessionKey: string | undefined): Operation<ModelUsage[]> {
  const run = yield* one<{ usage: string; session_key: string }>(sql`select usage, session_key from runs where run_id = ${runId}`);
  if (!run || (sessionKey !== undefined && run.session_key !== sessionKey)) refuse('NOT_FOUND', `Cannot find run "${runId}"`);
  return parseUsage(run.usage);
}

export function parseUsage(text: string): ModelUsage[] {
  return JSON.parse(text) as ModelUsage[];
}

/** The list with one more call in it. */
export function withCall(list: readonly ModelUsage[], model: string, usage: Usage): ModelUsage[] {
  const before = list.find((each) => each.model === model);
  const sum = { model, ...plus(before ?? NONE, { ...usage, calls: 1 }) };
  return before ? list.map((each) => (each === before ? sum : each)) : [...list, sum];
}

export function totalOf(list: readonly ModelUsage[]): UsageSum {
  return list.reduce(plus, NONE);
}

const NONE: UsageSum = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, costUsd: 0, calls: 0 };

function plus(a: UsageSum, b: UsageSum): UsageSum {
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
    costUsd: a.costUsd + b.costUsd,
    calls: a.calls + b.calls,
  };
}
