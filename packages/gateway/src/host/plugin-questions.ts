// `api.session.workflow.requestApproval`: what is checked of a question before the operator sees it, and what its outcome is
// for the plugin.
import { type Decision, lateParams, visible } from '@tenon/protocol';
import type { ApprovalOutcome, ApprovalQuestion, Refused } from '@tenon/plugin-sdk';
import { barrier, refusalOf, refuse, take } from './late-call.ts';
import type { PluginLoad } from './plugin-load.ts';

/** A question of a plugin to the operator. */
export interface PersonQuestion extends ApprovalQuestion {
  readonly plugin: string;
}

export type AskedPerson =
  | { readonly kind: 'decided'; readonly decision: Decision; readonly by: 'person' | 'rule' | 'timeout' }
  /** Nobody waits for the answer any more; or there will be none. */
  | { readonly kind: 'left' | 'withdrawn' };

export interface QuestionDeps {
  readonly askPerson: (question: PersonQuestion, signal: AbortSignal) => Promise<AskedPerson>;
}

/** Of one load, at the same time. */
const MAX_WAITING = 64;

const Question = lateParams['session.workflow.requestApproval'];

export function createRequestApproval(load: PluginLoad, { askPerson }: QuestionDeps): (given: unknown) => Promise<ApprovalOutcome> {
  const { plugin } = load.facts;
  const call = 'session.workflow.requestApproval';
  let waiting = 0;

  function check(given: unknown): PersonQuestion | Refused {
    const blocked = barrier(load, call);
    if (blocked) return blocked;
    const taken = take(Question, given, 'request');
    if ('refused' in taken) return taken.refused;
    const { title, description, allowedDecisions } = taken.value;
    if (title.trim() === '') return refuse('invalid', 'request/title must not be empty');
    if (allowedDecisions && !allowedDecisions.some((decision) => decision !== 'deny'))
      return refuse('invalid', 'request/allowedDecisions must have something to allow');
    if (waiting >= MAX_WAITING) return refuse('limit', `${MAX_WAITING} questions of plugin ${plugin} are waited for already`);
    // Nothing in it may look like something else.
    return { ...taken.value, title: visible(title), description: visible(description), plugin };
  }

  return async (given) => {
    const question = check(given);
    if ('ok' in question) return question;
    waiting++;
    try {
      const asked = await askPerson(question, load.signal);
      const blocked = barrier(load, call);
      if (blocked) return blocked;
      if (asked.kind !== 'decided') return refuse('unavailable', 'the question was withdrawn before it was answered');
      return Object.freeze({ ok: true, decision: asked.decision, by: asked.by });
    } catch (error) {
      return refusalOf(error);
    } finally {
      waiting--;
    }
  };
}
