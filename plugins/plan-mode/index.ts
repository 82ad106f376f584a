// Plan mode: the agent looks, proposes a plan and waits; nothing but reading is possible until somebody approves. People decide
// with the card in the chat, with `/plan`, or with `sessions.patch`. All of it is state of the session, so it outlives restarts.
import { definePluginEntry, type RegisterApi, type RuntimeApi, type SessionsPatchExtensionHandler } from '@tenon/plugin-sdk';
import {
  begin,
  type Decided,
  type Decision,
  decide,
  decisions,
  isLocked,
  type Kept,
  MAX_PLAN,
  type Plan,
  planningRules,
  propose,
  readPlan,
  stop,
  toJson,
} from './plan.ts';

const NAMESPACE = 'plan';
const WAITING = { namespace: NAMESPACE, path: '/mode', equals: 'waiting' };
// biome-ignore lint/style/noDefaultExport: the host looks for the default export of a plugin
export default definePluginEntry({
  id: 'plan-mode',
  name: 'Plan mode',
  sessionsPatchExtensions: Object.fromEntries(decisions.map((decision) => [decision, patchFor(decision)])),
  register(api) {
    api.registerSessionExtension({
      namespace: NAMESPACE,
      description: 'Whether the agent plans, and the plan that it has proposed',
      project: ({ state }) => shown(readPlan(state)),
    });
    api.registerTrustedToolPolicy({
      id: 'look-only',
      description: 'While the agent plans, or a plan waits, only reading is possible',
      evaluate({ toolName, params, risk }, { state }) {
        const plan = readPlan(state(NAMESPACE));
        // To end a job changes something, whatever the tool is otherwise for.
        const isReading = risk === 'read' && !(toolName === 'process' && params.action === 'kill');
        if (!isLocked(plan) || isReading) return undefined;
        const what = plan.mode === 'waiting' ? 'a plan waits for a decision; end your turn' : 'look around, then call propose_plan';
        return { allow: false, reason: `Plan mode is on, and only reading is possible: ${what}` };
      },
    });
    registerTool(api);
    registerCommand(api);
    registerActions(api);
    registerControls(api);
  },
});

function registerTool(api: RegisterApi): void {
  api.registerTool({
    name: 'propose_plan',
    label: 'Propose a plan',
    description:
      'In plan mode: propose the whole plan, with a question if you need an answer first, and then end your turn. Somebody decides.',
    parameters: {
      type: 'object',
      properties: {
        plan: { type: 'string', minLength: 1, maxLength: MAX_PLAN, description: 'The whole plan, in Markdown' },
        question: { type: 'string', minLength: 1, maxLength: 2_000, description: 'What you must know before the plan can be approved' },
      },
      required: ['plan'],
      additionalProperties: false,
    },
    // It changes nothing but its own state.
    risk: 'read',
    tags: ['planning'],
    async execute({ plan, question }, { sessionKey }) {
      const proposed = await change(api, sessionKey, (before) =>
        propose(before, String(plan), question === undefined ? undefined : String(question)),
      );
      if (!proposed.ok) return { content: proposed.error, isError: true };
      if (proposed.next.mode === 'approved') return { content: 'The plan is approved, as all plans in this session are. Carry it out.' };
      const notified = await api.session.workflow.notifyActionRequired({
        sessionKey,
        title: question === undefined ? 'A plan waits for approval' : 'A plan waits, and the agent asks something',
        actions: [
          { label: 'Approve', actionId: 'approve' },
          { label: 'Reject', actionId: 'reject' },
        ],
      });
      if (!notified.ok) api.logger.warn('nobody was told that a plan waits', { reason: notified.message });
      return { content: 'The plan is shown and waits for a decision. End your turn now; you are told what was decided.' };
    },
  });
}

function registerCommand(api: RegisterApi): void {
  api.registerCommand({
    name: 'plan',
    description: 'Turns plan mode on or off, and decides about a plan that waits',
    usage: '/plan [on | off | approve | reject [why] | edit <plan> | answer <text> | auto on|off]',
    async handler({ sessionKey, args, state }) {
      const [, word = '', rest = ''] = /^(\S*)\s*([\s\S]*)$/.exec(args.trim()) ?? [];
      if (word === '') return { text: describe(readPlan(state(NAMESPACE))) };
      if (word === 'on' || word === 'off') return { text: await turnByCommand(api, sessionKey, word === 'on'), continueAgent: false };
      const decision = decisions.find((each) => each === word);
      if (decision === undefined) return { text: `There is no /plan ${word.slice(0, 64)}; there are on, off and ${decisions.join(', ')}` };
      const decided = decide(readPlan(state(NAMESPACE)), decision, payloadOf(decision, rest));
      const wrong = decided.ok ? await queue(api, sessionKey, decided) : decided.error;
      if (wrong !== undefined || !decided.ok) return { text: wrong ?? '' };
      const kept = await change(api, sessionKey, (now) => (now.step + 1 === decided.next.step ? decided : CHANGED));
      if (!kept.ok) return { text: kept.error };
      return { text: describe(decided.next), ...(decided.tell === undefined ? {} : { continueAgent: true }) };
    },
  });
}

const CHANGED: Decided = { ok: false, code: 'CHANGED', error: 'The plan has changed meanwhile; look at it again' };

function payloadOf(decision: Decision, rest: string): object {
  switch (decision) {
    case 'approve':
      return {};
    case 'reject':
      return rest === '' ? {} : { feedback: rest };
    case 'edit':
      return { plan: rest };
    case 'answer':
      return { answer: rest };
    case 'auto':
      return { enabled: rest === 'on' ? true : rest === 'off' ? false : rest };
  }
}

/** The plan that is meant: a card that shows an older one decides nothing about a newer one. */
const step = { type: 'integer', minimum: 0, title: 'The plan that is meant', readOnly: true };
const fields = (properties: object, ...required: string[]) => ({
  type: required.length === 0 ? ['object', 'null'] : 'object',
  properties: { ...properties, step },
  required,
  additionalProperties: false,
});
const text = (title: string, maxLength: number) => ({ type: 'string', minLength: 1, maxLength, title });

const schemas: Readonly<Record<Decision, object>> = {
  approve: fields({}),
  reject: fields({ feedback: text('Why', 4_000) }),
  edit: fields({ plan: text('The plan', MAX_PLAN) }, 'plan'),
  answer: fields({ answer: text('The answer', 4_000) }, 'answer'),
  auto: fields({ enabled: { type: 'boolean', title: 'Approve all plans here' } }, 'enabled'),
};

/** What a decision comes to: state, what the agent is told, and the turn, together. */
function resultOf({ next, tell }: Kept) {
  return {
    statePatch: { [NAMESPACE]: toJson(next) },
    ...(tell === undefined ? {} : { inject: [{ text: tell, idempotencyKey: `step-${next.step}` }], continueAgent: true }),
  };
}

function registerActions(api: RegisterApi): void {
  for (const decision of decisions) {
    api.registerSessionAction({
      id: decision,
      schema: schemas[decision] as never,
      handler({ payload, state }) {
        const decided = decide(readPlan(state(NAMESPACE)), decision, payload);
        if (!decided.ok) return decided;
        return { result: { mode: decided.next.mode, auto: decided.next.auto }, ...resultOf(decided) };
      },
    });
  }
  api.registerSessionAction({
    id: 'toggle',
    description: 'Turns plan mode on, or off',
    handler({ state }) {
      const before = readPlan(state(NAMESPACE));
      const turned = turn(before, before.mode === 'off');
      if (!turned.ok) return turned;
      // It is told with the next message: nobody has asked the agent anything.
      return { result: { text: describe(turned.next) }, ...resultOf(turned), continueAgent: false };
    },
  });
}

function registerControls(api: RegisterApi): void {
  api.registerControlUiDescriptor({
    id: 'mode',
    label: 'Plan mode',
    surface: 'chat-input-toolbar-chip',
    description: 'The agent plans and waits for approval before it changes anything',
    options: [
      { label: 'Act', action: { command: '/plan off' } },
      { label: 'Plan first', when: { namespace: NAMESPACE, path: '/isLocked' }, action: { command: '/plan on' } },
    ],
  });
  const offered = (decision: string) => ({ actionId: decision, payloadFrom: { namespace: NAMESPACE, path: `/offers/${decision}` } });
  api.registerControlUiDescriptor({
    id: 'card',
    label: 'Proposed plan',
    surface: 'chat-message',
    activeWhen: WAITING,
    view: [
      { kind: 'markdown', from: { namespace: NAMESPACE, path: '/plan' } },
      { kind: 'markdown', label: 'The agent asks', from: { namespace: NAMESPACE, path: '/question' } },
    ],
    actions: [
      { label: 'Approve', style: 'primary', ...offered('approve') },
      { label: 'Answer', when: { namespace: NAMESPACE, path: '/question' }, ...offered('answer') },
      { label: 'Edit', ask: true, ...offered('edit') },
      { label: 'Approve all plans here', ...offered('auto') },
      { label: 'Reject', style: 'danger', ask: true, ...offered('reject') },
    ],
    composer: { mode: 'disabled', reason: 'A plan waits for your decision' },
  });
}

/** What is seen of it; a plan that waits offers what each button of its card means. */
function shown(plan: Plan) {
  const { mode, plan: text, step } = plan;
  const offers = { approve: { step }, reject: { step }, edit: { plan: text, step }, answer: { step }, auto: { enabled: true, step } };
  return { ...toJson(plan), isLocked: isLocked(plan), ...(mode === 'waiting' ? { offers } : {}) };
}

/** What `sessions.patch` asks for: kept, told and gone on with together with the rest of the patch. */
function patchFor(decision: Decision): SessionsPatchExtensionHandler {
  return ({ payload, state }) => {
    const decided = decide(readPlan(state(NAMESPACE)), decision, payload);
    return decided.ok ? { ok: true, ...resultOf(decided) } : { ok: false, error: decided.error };
  };
}

/** Before the state is kept, so that nothing decided stays untold; a second try of the same step is told once. */
async function queue(api: RuntimeApi, sessionKey: string, decided: Pick<Kept, 'next' | 'tell'>): Promise<string | undefined> {
  if (decided.tell === undefined) return undefined;
  const idempotencyKey = `step-${decided.next.step}`;
  const queued = await api.session.workflow.enqueueNextTurnInjection({ sessionKey, text: decided.tell, idempotencyKey });
  return queued.enqueued || queued.reason.startsWith('duplicate') ? undefined : `The agent cannot be told: ${queued.reason}`;
}

function turn(before: Plan, isOn: boolean): Decided {
  if (isOn ? isLocked(before) : before.mode === 'off') return { ok: false, code: 'SAME', error: describe(before) };
  return isOn
    ? { ok: true, next: begin(before), tell: planningRules }
    : { ok: true, next: stop(before), tell: 'Plan mode is off: no plan is needed any more.' };
}

async function turnByCommand(api: RuntimeApi, sessionKey: string, isOn: boolean): Promise<string> {
  const turned = await change(api, sessionKey, (before) => turn(before, isOn));
  if (!turned.ok) return turned.error;
  const wrong = await queue(api, sessionKey, turned);
  return wrong === undefined ? describe(turned.next) : `${describe(turned.next)}\n${wrong}`;
}

/** On the freshest state; gives what is kept, or why nothing was changed. */
async function change(api: RuntimeApi, sessionKey: string, next: (before: Plan) => Decided): Promise<Decided> {
  let outcome: Decided = CHANGED;
  const written = await api.session.state.update(sessionKey, NAMESPACE, (current) => {
    outcome = next(readPlan(current));
    return outcome.ok ? toJson(outcome.next) : (current ?? null);
  });
  return written.ok ? outcome : { ok: false, code: 'NOT_KEPT', error: `Nothing was changed: ${written.message}` };
}

function describe({ mode, plan, question, auto }: Plan): string {
  const how = auto ? ' Plans are approved as they are proposed.' : '';
  switch (mode) {
    case 'off':
      return `Plan mode is off.${how}`;
    case 'planning':
      return `Plan mode is on: the agent looks and plans, and changes nothing.${how}`;
    case 'waiting':
      return `A plan waits for your decision.${question === undefined ? '' : ` The agent asks: ${question}`}\n\n${plan}`;
    case 'approved':
      return `The plan is approved.${how}`;
  }
}
