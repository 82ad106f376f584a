// Idempotent answers: the first answer to a key is kept in the same commit as its effect, and a repeat gets it back.
import { change, one, type Operation, refuse, sql } from './sql.ts';

export interface AnswerSlot {
  /** Who asks: keys of different credentials never meet. */
  readonly principal: string;
  readonly key: string;
  readonly method: string;
  /** Of the whole request, so that another request under the same key is noticed. */
  readonly digest: string;
  readonly at: number;
  /** What the commit gives is not the whole answer: it is kept as a draft until `completeAnswer` puts the whole one in its place. */
  readonly isDraft?: true;
}

/** An answer that lacks what is made after the commit. Nobody has seen it yet, so whoever finds it may complete it. */
export interface DraftAnswer<Result> {
  readonly $draft: Result;
}

export function isDraft(answer: unknown): answer is DraftAnswer<unknown> {
  return typeof answer === 'object' && answer !== null && '$draft' in answer;
}

/** Claims the key first: a concurrent repeat waits for this transaction and then finds the answer. */
export function* answerOnce<Result>(slot: AnswerSlot, operation: () => Operation<Result>): Operation<Result> {
  const claimed = yield* change(sql`
    insert into answers (principal, key, method, digest, answer, created_at)
    values (${slot.principal}, ${slot.key}, ${slot.method}, ${slot.digest}, null, ${slot.at})
    on conflict (principal, key) do nothing`);
  const earlier = claimed === 0 ? yield* findAnswer(slot) : undefined;
  if (earlier) return earlier.answer as Result;
  const made = yield* operation();
  const result = (slot.isDraft ? { $draft: made } : made) as Result;
  yield* change(sql`update answers set answer = ${JSON.stringify(result)} where principal = ${slot.principal} and key = ${slot.key}`);
  return result;
}

/** Puts the whole answer in place of its draft; gives the one that is kept, which a repeat may have completed before. */
export function* completeAnswer<Answer>({ slot, answer }: { slot: AnswerSlot; lane: string; answer: Answer }): Operation<Answer> {
  const earlier = yield* findAnswer(slot);
  if (earlier && !isDraft(earlier.answer)) return earlier.answer as Answer;
  yield* change(sql`update answers set answer = ${JSON.stringify(answer)} where principal = ${slot.principal} and key = ${slot.key}`);
  return answer;
}

/** The answer that the key has already; refuses another request under it. */
export function* findAnswer(slot: AnswerSlot): Operation<{ answer: unknown } | undefined> {
  const earlier = yield* one<{ digest: string; answer: string }>(sql`
    select digest, answer from answers where principal = ${slot.principal} and key = ${slot.key}`);
  if (!earlier) return undefined;
  if (earlier.digest !== slot.digest) {
    refuse('IDEMPOTENCY_CONFLICT', `The idempotency key "${slot.key}" was used for another request`);
  }
  return { answer: JSON.parse(earlier.answer) as unknown };
}
