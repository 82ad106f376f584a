// Questions that a plugin asks the operator by itself, beside the calls of tools. Each is known by the key that the plugin gave
// it, in the conversation that it was asked in: asked again, also after a restart, it is the same question, and an answer that there is
// stands. They are rows of the approvals, without a run.
import { randomId } from '../kernel/ids.ts';
import { findRule, idText, NO_RUN, ruleNameOf, toApproval } from './approvals.ts';
import { requireSession } from './session-row.ts';
import { change, type Dialect, emit, one, type Operation, refuse, type Row, sql } from './sql.ts';
import type { Approval } from '@tenon/protocol';

export interface PluginQuestion {
  readonly key: string;
  readonly pluginId: string;
  /** By which the plugin knows it. */
  readonly askId: string;
  readonly agentId: string;
  readonly title: string;
  readonly reason: string;
  readonly digest: string;
  /** Of a tool that it uses by itself: exactly what would be done. */
  readonly call?: Pick<Approval, 'callId' | 'toolName' | 'risk' | 'argv' | 'cwd' | 'env' | 'bound' | 'notBound' | 'args'>;
  readonly allowed: Approval['allowed'];
  readonly expiresAt: number;
  readonly at: number;
}

/** What one plugin may have waiting. */
const MAX_PENDING = 64;
const MAX_PENDING_IN_SESSION = 8;

/** `always`: a rule of the operator answers it, and nobody is asked. */
export function* askForPlugin(args: PluginQuestion, dialect: Dialect): Operation<{ approval: Approval } | { always: true }> {
  const { key, pluginId, askId, agentId, title, reason, digest, call, allowed, expiresAt, at } = args;
  const { session_id: sessionId } = yield* requireSession(key, dialect);
  const principal = ruleNameOf({ pluginId });
  const known = idText(JSON.stringify([pluginId, sessionId, askId]));
  const earlier = yield* one(sql`select * from approvals where run_id = ${NO_RUN} and call_id = ${known}`);
  // One that was withdrawn was never answered: it can be asked anew.
  if (earlier && earlier.state !== 'voided') {
    if (earlier.digest === digest) return { approval: toApproval(earlier) };
    refuse('CONFLICT', `Another question was asked under the key "${askId}"`);
  }
  const { rule } = yield* findRule({ agentId, toolName: principal, digest });
  if (rule && allowed.includes('allow-always')) return { always: true };
  yield* checkNumber(principal, key);
  if (earlier) yield* change(sql`delete from approvals where id = ${earlier.id as string}`);
  const shown = { agentId, pluginId, title, reason, args: {}, ...call, allowed };
  const row = yield* one(sql`
    insert into approvals (id, session_key, run_id, call_id, digest, principal, state, shown, created_at, expires_at)
    values (${randomId()}, ${key}, ${NO_RUN}, ${known}, ${digest}, ${principal}, 'pending', ${JSON.stringify(shown)}, ${at}, ${expiresAt})
    returning *`);
  const approval = toApproval(row as Row);
  yield* emit('approval.requested', { sessionKey: key, approval }, at, key);
  return { approval };
}

function* checkNumber(principal: string, key: string): Operation<void> {
  const counts = yield* one<{ total: number; here: number }>(sql`
    select count(*) as total, coalesce(sum(case when session_key = ${key} then 1 else 0 end), 0) as here
    from approvals where state = 'pending' and run_id = ${NO_RUN} and principal = ${principal}`);
  if (Number(counts?.here) >= MAX_PENDING_IN_SESSION)
    refuse('TOO_LARGE', `${MAX_PENDING_IN_SESSION} questions wait in this session already`);
  if (Number(counts?.total) >= MAX_PENDING) refuse('TOO_LARGE', `${MAX_PENDING} questions wait already`);
}
