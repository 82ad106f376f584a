// What plan mode knows of a session, and what each decision of a person makes of it. Pure: what is kept and what the agent is
// told follow from the state and the decision alone.

export interface Plan {
  readonly mode: 'off' | 'planning' | 'waiting' | 'approved';
  readonly plan: string;
  /** What the agent wants to know before it goes on. */
  readonly question?: string;
  /** Plans are approved as they are proposed. */
  readonly auto: boolean;
  /** Grows with every change, so that what the agent is told has a name of its own. */
  readonly step: number;
}

export const decisions = ['approve', 'reject', 'edit', 'answer', 'auto'] as const;
export type Decision = (typeof decisions)[number];

/** `tell` is for the agent; without it there is nothing to tell. */
export type Kept = { readonly ok: true; readonly next: Plan; readonly tell?: string };
export type Decided = Kept | { readonly ok: false; readonly code: string; readonly error: string };

export const MAX_PLAN = 20_000;
const MAX_WORDS = 4_000;
const MODES = ['off', 'planning', 'waiting', 'approved'];

export const planningRules =
  'Plan mode is on. Look around and think, and change nothing: only tools that read work. When you know what to do, call propose_plan with the whole plan and end your turn. Somebody then approves it, rejects it or answers your question.';

/** What cannot be read locks: it is not taken for a plan that was approved. */
export function readPlan(value: unknown): Plan {
  if (value === undefined || value === null) return { mode: 'off', plan: '', auto: false, step: 0 };
  const { mode, plan, question, auto, step } = value as Partial<Record<keyof Plan, unknown>>;
  return {
    mode: MODES.includes(mode as string) ? (mode as Plan['mode']) : 'planning',
    plan: typeof plan === 'string' ? plan : '',
    ...(typeof question === 'string' ? { question } : {}),
    auto: auto === true,
    step: typeof step === 'number' && Number.isSafeInteger(step) ? step : 0,
  };
}

export function toJson({ mode, plan, question, auto, step }: Plan) {
  return { mode, plan, ...(question === undefined ? {} : { question }), auto, step };
}

export function isLocked({ mode }: Plan): boolean {
  return mode === 'planning' || mode === 'waiting';
}

export function begin({ auto, step }: Plan): Plan {
  return { mode: 'planning', plan: '', auto, step: step + 1 };
}

export function stop({ plan, auto, step }: Plan): Plan {
  return { mode: 'off', plan, auto, step: step + 1 };
}

export function propose(before: Plan, plan: string, question: string | undefined): Decided {
  if (before.mode === 'waiting') return no('WAITING', 'A plan waits for a decision already; end your turn');
  if (before.mode !== 'planning') return no('NOT_PLANNING', 'Plan mode is off: there is nothing to propose, go ahead');
  const { auto, step } = before;
  const isApproved = auto && question === undefined;
  return {
    ok: true,
    next: { mode: isApproved ? 'approved' : 'waiting', plan, ...(question === undefined ? {} : { question }), auto, step: step + 1 },
  };
}

export function decide(before: Plan, decision: Decision, payload: unknown): Decided {
  const given = (typeof payload === 'object' && payload !== null ? payload : {}) as Readonly<Record<string, unknown>>;
  const { plan, question, auto, step } = before;
  if (given.step !== undefined && given.step !== step) return no('CHANGED', 'This is not the plan that waits now; look at it again');
  if (decision === 'auto') {
    if (typeof given.enabled !== 'boolean') return no('INVALID_PAYLOAD', 'auto needs enabled: true or false');
    const next = { ...before, auto: given.enabled, step: step + 1 };
    return given.enabled && before.mode === 'waiting' ? approved({ ...next, mode: 'approved' }) : { ok: true, next };
  }
  if (before.mode !== 'waiting') return no('NOT_WAITING', `No plan waits for a decision (plan mode: ${before.mode})`);
  const planning: Plan = { mode: 'planning', plan, auto, step: step + 1 };
  switch (decision) {
    case 'approve':
      return approved({ mode: 'approved', plan, auto, step: step + 1 });
    case 'edit': {
      const changed = words(given.plan, MAX_PLAN);
      if (changed === undefined) return no('INVALID_PAYLOAD', `edit needs plan: the whole plan, up to ${MAX_PLAN} characters`);
      return approved({ mode: 'approved', plan: changed, auto, step: step + 1 }, ' with changes');
    }
    case 'reject': {
      const feedback = given.feedback === undefined ? '' : words(given.feedback, MAX_WORDS);
      if (feedback === undefined) return no('INVALID_PAYLOAD', `feedback is text of up to ${MAX_WORDS} characters`);
      const why = feedback === '' ? 'No reason was given.' : `The reason: ${feedback}`;
      return { ok: true, next: planning, tell: `The plan is rejected. ${why}\nPlan mode stays on: propose another plan.` };
    }
    case 'answer': {
      if (question === undefined) return no('NO_QUESTION', 'The agent has not asked anything; approve, edit or reject the plan');
      const answer = words(given.answer, MAX_WORDS);
      if (answer === undefined) return no('INVALID_PAYLOAD', `answer needs answer: text of up to ${MAX_WORDS} characters`);
      return {
        ok: true,
        next: planning,
        tell: `Your question was: ${question}\nThe answer: ${answer}\nPlan mode stays on: propose the plan anew.`,
      };
    }
  }
}

function approved(next: Plan, how = ''): Decided {
  const { question: _, ...rest } = next;
  return { ok: true, next: rest, tell: `The plan is approved${how}: carry it out now.\n\n${next.plan}` };
}

function no(code: string, error: string): Decided {
  return { ok: false, code, error };
}

function words(value: unknown, most: number): string | undefined {
  return typeof value === 'string' && value.trim() !== '' && value.length <= most ? value.trim() : undefined;
}
