// What a plugin wants told with the next turn, checked and copied: the same rules whether it is queued by a call of its own or
// comes with the result of an action.
import { answerFields, lateParams } from '@tenon/protocol';
import type { Refused } from '@tenon/plugin-sdk';
import { randomId } from '../kernel/ids.ts';
import type { NewInjection } from '../store/injections.ts';
import { refuse, take } from './late-call.ts';
import { takeJson } from './plugin-json.ts';

/** One that goes with a result. */
export const ResultInjection = answerFields.inject;
const Injection = lateParams['session.workflow.enqueueNextTurnInjection'];

export type TakenInjection = { readonly value: NewInjection } | { readonly refused: Refused };

/** Contract: does not throw, whatever it is. */
export function takeInjection(given: unknown, kind: 'call' | 'result', name: string): TakenInjection {
  const taken = take(kind === 'call' ? Injection : ResultInjection, trimmed(given), name);
  if ('refused' in taken) return taken;
  const { text, idempotencyKey, placement = 'prepend_context', ttlMs, priority = 0, metadata } = taken.value;
  const wholeText = takeJson([text, idempotencyKey ?? '']);
  if ('wrong' in wholeText) return { refused: refuse('invalid', `the text cannot be kept: ${wholeText.wrong}`) };
  const kept = metadata === undefined ? undefined : takeJson(metadata);
  if (kept && 'wrong' in kept) return { refused: refuse('invalid', `the metadata cannot be kept: ${kept.wrong}`) };
  return {
    value: {
      id: idempotencyKey ?? randomId(),
      text,
      placement,
      priority,
      ...(ttlMs === undefined ? {} : { ttlMs: Math.floor(ttlMs) }),
      ...(kept ? { metadata: kept.value } : {}),
    },
  };
}

/** Its names and its text without white space around them; everything else as it is. Does not throw. */
function trimmed(given: unknown): unknown {
  try {
    if (typeof given !== 'object' || given === null || Array.isArray(given)) return given;
    const copy: Record<string, unknown> = { ...given };
    for (const field of ['sessionKey', 'text', 'idempotencyKey']) if (typeof copy[field] === 'string') copy[field] = copy[field].trim();
    return copy;
  } catch {
    return undefined;
  }
}

/** The session that it names, as far as it can be read. */
export function sessionKeyIn(given: unknown): string {
  const key = (trimmed(given) as { sessionKey?: unknown } | null | undefined)?.sessionKey;
  return typeof key === 'string' ? key.slice(0, 512) : '';
}
