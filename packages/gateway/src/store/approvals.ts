// Questions to the operator, kept until they are answered. The first answer counts; a question of a run that is over, or
// of a credential that was taken away, is void. What is shown is kept as one JSON text: it is answered for as it stands.
import { randomId } from '../kernel/ids.ts';
import { appendAudit } from './audit.ts';
import { requireRunning } from './run-row.ts';
import { lockSession, settleStatus } from './session-row.ts';
import { all, change, type Dialect, emit, one, type Operation, raw, refuse, type Row, sql, type Sql } from './sql.ts';
import type { Approval, ApprovalRule, Decision } from '@tenon/protocol';

/** All that a question shows. */
type Shown = Pick<
  Approval,
  | 'agentId'
  | 'pluginId'
  | 'callId'
  | 'toolName'
  | 'title'
  | 'reason'
  | 'risk'
  | 'argv'
  | 'cwd'
  | 'env'
  | 'bound'
  | 'notBound'
  | 'args'
  | 'allowed'
>;

/** The run of a question that belongs to none. */
export const NO_RUN = '';

export type ApprovalRequest = Shown &
  Required<Pick<Approval, 'runId' | 'callId' | 'toolName' | 'risk'>> &
  Pick<Approval, 'digest' | 'principal' | 'expiresAt'>;

/** Asks once for the same thing of the same call: an earlier question, also an answered one, is given back. */
export function* requestApproval(
  args: { key: string; at: number } & ApprovalRequest,
  dialect: Dialect,
): Operation<{ approval: Approval; created: boolean }> {
  const { key, at, runId, digest, principal, expiresAt, ...rest } = args;
  yield* requireRunning(key, runId, dialect);
  const callId = idText(args.callId);
  const earlier = yield* one(sql`select * from approvals where run_id = ${runId} and call_id = ${callId} and digest = ${digest}`);
  if (earlier) return { approval: toApproval(earlier), created: false };
  const row = yield* one(sql`
    insert into approvals (id, session_key, run_id, call_id, digest, principal, state, shown, created_at, expires_at)
    values (${randomId()}, ${key}, ${runId}, ${callId}, ${digest}, ${principal}, 'pending', ${JSON.stringify(rest satisfies Shown)}, ${at},
      ${expiresAt})
    returning *`);
  const approval = toApproval(row as Row);
  yield* emit('approval.requested', { sessionKey: key, approval }, at, key);
  yield* settleStatus(key, at);
  return { approval, created: true };
}

export function* resolveApproval(
  args: { id: string; decision: Decision; by: string; at: number },
  dialect: Dialect,
): Operation<{ approval: Approval }> {
  const { id, decision, by, at } = args;
  const asked = yield* approvalById(id);
  yield* lockSession(asked.session_key as string, dialect);
  const approval = toApproval(
    dialect === 'sqlite' ? asked : ((yield* one(sql`select * from approvals where id = ${id} for update`)) ?? noApproval(id)),
  );
  if (approval.state !== 'pending') {
    refuse('GONE', `Approval "${id}" is settled already: ${approval.state}`, {
      code: 'ALREADY_DECIDED',
      state: approval.state,
      ...(approval.decision === undefined ? {} : { decision: approval.decision }),
      ...(approval.decidedBy === undefined ? {} : { decidedBy: approval.decidedBy }),
    });
  }
  // A refusal changes nothing: `approvals.expire` makes it expired.
  if (approval.expiresAt <= at) refuse('GONE', `Approval "${id}" has expired`, { code: 'EXPIRED', expiresAt: approval.expiresAt });
  if (!approval.allowed.includes(decision)) {
    refuse('INVALID_REQUEST', `Approval "${id}" cannot be answered with "${decision}"; it takes ${approval.allowed.join(', ')}`, {
      code: 'DECISION_NOT_ALLOWED',
      allowed: approval.allowed,
    });
  }
  const row = yield* one(sql`
    update approvals set state = ${decision === 'deny' ? 'denied' : 'allowed'}, decision = ${decision}, decided_by = ${by}, decided_at = ${at}
    where id = ${id} returning *`);
  if (decision === 'allow-always') yield* insertRule(approval, by, at);
  yield* announceSettled(row as Row, at);
  yield* settleStatus(approval.sessionKey, at);
  const { sessionKey, runId = null, toolName = ruleNameOf(approval), digest } = approval;
  yield* appendAudit(
    { actor: by, action: 'approvals.resolve', target: id, details: { decision, sessionKey, runId, toolName, digest }, at },
    dialect,
  );
  return { approval: toApproval(row as Row) };
}

/** Rows that one step settles at most. */
const STEP = 500;

/** Settles what nobody answered in time. `more`: call again. */
export function* expireApprovals(args: { at: number }, dialect: Dialect): Operation<{ approvals: Approval[]; more: boolean }> {
  const due = yield* all<{ ord: number; session_key: string }>(sql`
    select ord, session_key from approvals where state = 'pending' and expires_at <= ${args.at} order by ord limit ${STEP}`);
  const last = due.at(-1);
  if (!last) return { approvals: [], more: false };
  const approvals = yield* settlePending(
    'expired',
    due.map((each) => each.session_key),
    sql`expires_at <= ${args.at} and ord <= ${last.ord}`,
    args.at,
    dialect,
  );
  return { approvals, more: due.length === STEP };
}

/** Makes the pending questions of a run or of a credential void, those that a plugin asks by itself, or one. */
export function* voidApprovals(
  args: { principal?: string; runId?: string; ofPlugin?: string; id?: string; at: number },
  dialect: Dialect,
): Operation<{ approvals: Approval[] }> {
  const whose = whoseAre(args);
  const keys = yield* all<{ session_key: string }>(sql`select session_key from approvals where state = 'pending' and ${whose}`);
  if (keys.length === 0) return { approvals: [] };
  return {
    approvals: yield* settlePending(
      'voided',
      keys.map((each) => each.session_key),
      whose,
      args.at,
      dialect,
    ),
  };
}

function whoseAre({ principal, runId, ofPlugin, id }: { principal?: string; runId?: string; ofPlugin?: string; id?: string }): Sql {
  if (id !== undefined) return sql`id = ${id}`;
  if (runId !== undefined) return sql`run_id = ${runId}`;
  if (ofPlugin !== undefined) return sql`run_id = ${NO_RUN} and principal = ${ruleNameOf({ pluginId: ofPlugin })}`;
  return sql`principal = ${principal ?? ''}`;
}

/** As `voidApprovals`, for a session that the caller has locked and whose status it settles itself. */
export function* voidPendingOf(whose: { sessionKey: string } | { runId: string }, at: number): Operation<void> {
  const condition = 'runId' in whose ? sql`run_id = ${whose.runId}` : sql`session_key = ${whose.sessionKey}`;
  yield* settleWhere('voided', condition, at);
}

function* settlePending(
  state: 'expired' | 'voided',
  sessionKeys: readonly string[],
  which: Sql,
  at: number,
  dialect: Dialect,
): Operation<Approval[]> {
  const keys = [...new Set(sessionKeys)].sort();
  for (const key of keys) yield* lockSession(key, dialect);
  const rows = yield* settleWhere(state, which, at);
  for (const key of keys) yield* settleStatus(key, at);
  return rows.map(toApproval);
}

function* settleWhere(state: 'expired' | 'voided', which: Sql, at: number): Operation<Row[]> {
  const rows = yield* all<Row & { ord: number }>(sql`
    update approvals set state = ${state}, decided_at = ${at} where state = 'pending' and ${which} returning *`);
  rows.sort((a, b) => a.ord - b.ord);
  for (const row of rows) yield* announceSettled(row, at);
  return rows;
}

function* announceSettled(row: Row, at: number): Operation<void> {
  const { sessionKey, id, state, decision, decidedBy } = toApproval(row);
  if (state === 'pending') return;
  yield* emit(
    'approval.resolved',
    { sessionKey, id, state, ...(decision === undefined ? {} : { decision }), ...(decidedBy === undefined ? {} : { decidedBy }) },
    at,
    sessionKey,
  );
}

function* insertRule(approval: Approval, by: string, at: number): Operation<void> {
  const { agentId, toolName = ruleNameOf(approval), digest, title, args } = approval;
  yield* change(sql`
    insert into approval_rules (id, agent_id, tool_name, digest, shown, created_at, created_by)
    values (${randomId()}, ${agentId}, ${toolName}, ${digest}, ${JSON.stringify({ title, args })}, ${at}, ${by})
    on conflict (agent_id, tool_name, digest) do nothing`);
}

export function* removeRule(args: { id: string; by: string; at: number }, dialect: Dialect): Operation<{ rule: ApprovalRule }> {
  const row = yield* one(sql`delete from approval_rules where id = ${args.id} returning *`);
  if (!row) refuse('NOT_FOUND', `Cannot find approval rule "${args.id}"`);
  const rule = toRule(row);
  const { agentId, toolName, digest } = rule;
  yield* appendAudit(
    { actor: args.by, action: 'approvals.forget', target: args.id, details: { agentId, toolName, digest }, at: args.at },
    dialect,
  );
  return { rule };
}

export function* findRule(args: { agentId: string; toolName: string; digest: string }): Operation<{ rule?: ApprovalRule }> {
  const row = yield* one(sql`
    select * from approval_rules where agent_id = ${args.agentId} and tool_name = ${args.toolName} and digest = ${args.digest}`);
  return row ? { rule: toRule(row) } : {};
}

/** Newest first. */
export function* listRules(args: { limit: number; cursor?: string }): Operation<{ rules: ApprovalRule[]; nextCursor?: string }> {
  const before = args.cursor === undefined ? Number.MAX_SAFE_INTEGER : (parseCursor(args.cursor, 'approvals.rules')[1] ?? 0);
  const rows = yield* all(sql`select * from approval_rules where ord < ${before} order by ord desc limit ${args.limit + 1}`);
  const page = rows.slice(0, args.limit);
  return { rules: page.map(toRule), ...nextCursor(rows, page, 'created_at') };
}

export function* getApproval(args: { id: string }): Operation<{ approval: Approval }> {
  return { approval: toApproval(yield* approvalById(args.id)) };
}

/** What waits, oldest first; or what was settled, newest first. */
export function* listApprovals(args: {
  state?: 'pending' | 'decided';
  sessionKey?: string;
  cursor?: string;
  limit: number;
}): Operation<{ approvals: Approval[]; nextCursor?: string }> {
  const [time = 0, ord = 0] = args.cursor === undefined ? [] : parseCursor(args.cursor, 'approvals.list');
  const ofSession = args.sessionKey === undefined ? raw('') : sql` and session_key = ${args.sessionKey}`;
  const isPending = args.state !== 'decided';
  const after = args.cursor === undefined ? raw('') : isPending ? sql` and ord > ${ord}` : sql` and (decided_at, ord) < (${time}, ${ord})`;
  const rows = yield* all(
    isPending
      ? sql`select * from approvals where state = 'pending'${ofSession}${after} order by ord limit ${args.limit + 1}`
      : sql`select * from approvals where state <> 'pending'${ofSession}${after} order by decided_at desc, ord desc limit ${args.limit + 1}`,
  );
  const page = rows.slice(0, args.limit);
  return { approvals: page.map(toApproval), ...nextCursor(rows, page, isPending ? 'created_at' : 'decided_at') };
}

function nextCursor(rows: readonly Row[], page: readonly Row[], time: string): { nextCursor?: string } {
  const last = rows.length > page.length ? page.at(-1) : undefined;
  return last ? { nextCursor: Buffer.from(`${last[time]}.${last.ord}`).toString('base64url') } : {};
}

function parseCursor(cursor: string, from: string): [number, number] {
  const match = /^(\d{1,16})\.(\d{1,16})$/.exec(Buffer.from(cursor, 'base64url').toString());
  if (!match) refuse('INVALID_REQUEST', `params/cursor is not one that ${from} gave`);
  return [Number(match[1]), Number(match[2])];
}

function* approvalById(id: string): Operation<Row> {
  return (yield* one(sql`select * from approvals where id = ${id}`)) ?? noApproval(id);
}

function noApproval(id: string): never {
  refuse('NOT_FOUND', `Cannot find approval "${id}"`);
}

/** An id that a model made up may have characters in it that an engine does not keep. */
export function idText(id: string): string {
  return JSON.stringify(id);
}

/** Who asks the question of a plugin, and what a rule for it stands under. */
export function ruleNameOf({ pluginId = '' }: Pick<Approval, 'pluginId'>): string {
  return `plugin:${pluginId}`;
}

export function toApproval(row: Row): Approval {
  return {
    id: row.id as string,
    sessionKey: row.session_key as string,
    ...(row.run_id === NO_RUN ? {} : { runId: row.run_id as string }),
    ...(JSON.parse(row.shown as string) as Shown),
    digest: row.digest as string,
    principal: row.principal as string,
    state: row.state as Approval['state'],
    ...(row.decision === null ? {} : { decision: row.decision as Decision }),
    ...(row.decided_by === null ? {} : { decidedBy: row.decided_by as string }),
    ...(row.decided_at === null ? {} : { decidedAt: row.decided_at as number }),
    createdAt: row.created_at as number,
    expiresAt: row.expires_at as number,
  };
}

function toRule(row: Row): ApprovalRule {
  return {
    id: row.id as string,
    agentId: row.agent_id as string,
    toolName: row.tool_name as string,
    digest: row.digest as string,
    ...(JSON.parse(row.shown as string) as Pick<ApprovalRule, 'title' | 'args'>),
    createdAt: row.created_at as number,
    createdBy: row.created_by as string,
  };
}
