// Whether an answer is the last word. Plugins may ask for another try; how often is bounded per wish and per turn. The
// counts are a local of the turn, so nothing is left when it ends.
import { sha256 } from '../kernel/ids.ts';

export interface RetryWish {
  readonly instruction: string;
  readonly idempotencyKey?: string;
  readonly maxAttempts?: number;
}

/** What all plugins together said. */
export interface FinalizeAnswer {
  readonly action?: 'continue' | 'revise' | 'finalize';
  readonly reason?: string;
  readonly candidates?: readonly RetryWish[];
}

/** Revisions of one turn, whoever asks for them. */
const MAX_REVISIONS = 3;

export interface FinalizeBudget {
  revisions: number;
  readonly attempts: Map<string, number>;
}

export function createFinalizeBudget(): FinalizeBudget {
  return { revisions: 0, attempts: new Map() };
}

/** What the agent is told to do again; undefined when the answer stands. */
export function revisionOf(answer: FinalizeAnswer, budget: FinalizeBudget): string | undefined {
  if (answer.action !== 'revise' || budget.revisions >= MAX_REVISIONS) return undefined;
  const reason = answer.reason?.trim() ?? '';
  const wishes = (answer.candidates ?? []).filter((wish) => wish.instruction.trim() !== '');
  if (wishes.length === 0) {
    if (reason === '') return undefined;
    budget.revisions++;
    return reason;
  }
  for (const wish of wishes) {
    const key = wish.idempotencyKey ?? sha256(wish.instruction);
    const attempt = (budget.attempts.get(key) ?? 0) + 1;
    if (attempt > Math.max(1, Math.floor(wish.maxAttempts ?? 1))) continue;
    budget.attempts.set(key, attempt);
    budget.revisions++;
    return reason.includes(wish.instruction) ? reason : [reason, wish.instruction].filter((part) => part !== '').join('\n\n');
  }
  return undefined;
}
