// A question that a plugin asks the operator from its own code. It is shown and answered as every other; nobody's silence is
// a yes, and the plugin waits no longer than the operator has said that questions wait.
import type { Decision } from '@tenon/protocol';
import type { AskedPerson, PersonQuestion } from '../host/plugin-questions.ts';
import { canonical } from '../kernel/canonical.ts';
import type { Clock } from '../kernel/clock.ts';
import { randomId, sha256 } from '../kernel/ids.ts';
import type { Store } from '../store/store.ts';
import { agentIdOf } from './agents.ts';
import type { Approvals } from './approvals.ts';

export interface QuestionDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly approvals: Approvals;
  /** How long a question waits at most, as the operator has set it. */
  readonly maxWaitMs: number;
}

/** Contract: throws only what the store throws. */
export async function askPerson(question: PersonQuestion, signal: AbortSignal, deps: QuestionDeps): Promise<AskedPerson> {
  const { store, clock, approvals, maxWaitMs } = deps;
  const { plugin, sessionKey, title, description, idempotencyKey } = question;
  const allowed = decisionsOf(question.allowedDecisions);
  const at = clock.now();
  const asked = await approvals.askForPlugin(
    {
      key: sessionKey,
      pluginId: plugin,
      askId: idempotencyKey ?? randomId(),
      agentId: agentIdOf(sessionKey),
      title,
      reason: `${plugin}: ${description}`.slice(0, 512),
      digest: sha256(canonical({ plugin, title, description, allowed })),
      allowed,
      expiresAt: at + Math.min(question.timeoutMs ?? maxWaitMs, maxWaitMs),
      at,
    },
    signal,
  );
  if ('always' in asked) return { kind: 'decided', decision: 'allow-always', by: 'rule' };
  const { id, state, decision } = asked.approval;
  if (state === 'expired') return { kind: 'decided', decision: 'deny', by: 'timeout' };
  if (decision !== undefined) return { kind: 'decided', decision, by: 'person' };
  // Nobody can ask for it again: what is decided would reach nobody.
  if (state === 'pending' && idempotencyKey === undefined) await store.write('approvals.voidFor', { id, at: clock.now() });
  return { kind: state === 'pending' ? 'left' : 'withdrawn' };
}

/** To say no is always possible. */
function decisionsOf(offered: readonly Decision[] = ['allow-once', 'deny']): Decision[] {
  return offered.includes('deny') ? [...offered] : [...offered, 'deny'];
}
