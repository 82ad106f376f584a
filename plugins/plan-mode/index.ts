// Plan mode: the agent looks, proposes a plan and waits; nothing but reading is possible until somebody approves. People decide
// with the card in the chat, with `/plan`, or with `sessions.patch`. All of it is state of the session, so it outlives restarts.
import {
  type ActionResult,
  definePluginEntry,
  type RegisterApi,
  type RuntimeApi,
  type SessionsPatchExtensionHandler,
} from '@tenon/plugin-sdk';
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
/** How long a decision of `sessions.patch` may take to be kept. */
const LOOKS = 80;
const LOOK_MS = 25;

/** A module is loaded once for each load of the plugin, so this is the api of the same load. */
let loaded: RuntimeApi | undefined;

// biome-ignore lint/style/noDefaultExport: the host looks for the default export of a plugin
export default definePluginEntry({
  id: 'plan-mode',
  name: 'Plan mode',
  sessionsPatchExtensions: Object.fromEntries(decisions.map((decision) => [decision, patchFor(decision)])),
  register(api) {
    loaded = api;
    api.registerSessionExtension({
      namespace: NAMESPACE,
      description: 'Whether the agent plans, and the plan that it has proposed',
      project: ({ state }) => toJson(readPlan(state)),
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
      const notified = api.session.workflow.notifyActionRequired({
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
      if (word === 'on' || word === 'off') return { text: await turn(api, sessionKey, word === 'on'), continueAgent: false };
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

const textField = (name: string, maxLength: number, isRequired = true) => ({
  type: 'object',
  properties: { [name]: { type: 'string', minLength: 1, maxLength } },
  ...(isRequired ? { required: [name] } : {}),
  additionalProperties: false,
});

const schemas: Readonly<Partial<Record<Decision, object>>> = {
  reject: { anyOf: [{ type: 'null' }, textField('feedback', 4_000, false)] },
  edit: textField('plan', MAX_PLAN),
  answer: textField('answer', 4_000),
  auto: { type: 'object', properties: { enabled: { type: 'boolean' } }, required: ['enabled'], additionalProperties: false },
};

function registerActions(api: RegisterApi): void {
  for (const decision of decisions) {
    const schema = schemas[decision];
    api.registerSessionAction({
      id: decision,
      ...(schema === undefined ? {} : { schema: schema as never }),
      async handler({ sessionKey, payload, state }): Promise<ActionResult> {
        const decided = decide(readPlan(state(NAMESPACE)), decision, payload);
        if (!decided.ok) return decided;
        const wrong = await queue(api, sessionKey, decided);
        if (wrong !== undefined) return { ok: false, code: 'NOT_QUEUED', error: wrong };
        return {
          result: { mode: decided.next.mode, auto: decided.next.auto },
          statePatch: { [NAMESPACE]: toJson(decided.next) },
          ...(decided.tell === undefined ? {} : { continueAgent: true }),
        };
      },
    });
  }
  api.registerSessionAction({
    id: 'toggle',
    description: 'Turns plan mode on, or off',
    async handler({ sessionKey, state }) {
      return { result: { text: await turn(api, sessionKey, readPlan(state(NAMESPACE)).mode === 'off') }, continueAgent: false };
    },
  });
}

function registerControls(api: RegisterApi): void {
  api.registerControlUiDescriptor({
    id: 'mode',
    label: 'Plan mode',
    surface: 'chat-input-toolbar-chip',
    description: 'The agent plans and waits for approval before it changes anything',
    view: [{ kind: 'status', from: { namespace: NAMESPACE, path: '/mode' } }],
    actions: [{ label: 'Plan mode', actionId: 'toggle' }],
  });
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
      { label: 'Approve', style: 'primary', actionId: 'approve' },
      { label: 'Reject', style: 'danger', actionId: 'reject' },
      { label: 'Edit', actionId: 'edit' },
      { label: 'Answer', actionId: 'answer', when: { namespace: NAMESPACE, path: '/question' } },
      { label: 'Approve all plans here', actionId: 'auto', payload: { enabled: true } },
    ],
    composer: { mode: 'disabled', reason: 'A plan waits for your decision' },
  });
}

/** What `sessions.patch` asks for. The state is kept together with the rest of the patch; then the agent goes on. */
function patchFor(decision: Decision): SessionsPatchExtensionHandler {
  return async ({ key, payload }) => {
    const api = loaded;
    if (!api) return { ok: false, error: 'Plan mode is not loaded' };
    const decided = decide(readPlan((await api.session.state.get(key, NAMESPACE))?.value), decision, payload);
    if (!decided.ok) return { ok: false, error: decided.error };
    const wrong = await queue(api, key, decided);
    if (wrong !== undefined) return { ok: false, error: wrong };
    if (decided.tell !== undefined) void goOnOnceKept(api, key, decided.next.step);
    return { ok: true, statePatch: { [NAMESPACE]: toJson(decided.next) } };
  };
}

/** The answer of a patch cannot say that the agent goes on, and before the state is kept it would find itself locked still. */
async function goOnOnceKept(api: RuntimeApi, sessionKey: string, step: number): Promise<void> {
  for (let look = 0; look < LOOKS && !api.lifecycle.signal.aborted; look++) {
    if (readPlan((await api.session.state.get(sessionKey, NAMESPACE))?.value).step >= step) {
      const gone = await api.session.workflow.continueAgent({ sessionKey });
      if (!gone.ok) api.logger.warn('the agent does not go on by itself', { sessionKey, reason: gone.message });
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  api.logger.warn('a decision was not kept; the agent does not go on', { sessionKey });
}

/** Before the state is kept, so that nothing decided stays untold; a second try of the same step is told once. */
async function queue(api: RuntimeApi, sessionKey: string, decided: Pick<Kept, 'next' | 'tell'>): Promise<string | undefined> {
  if (decided.tell === undefined) return undefined;
  const idempotencyKey = `step-${decided.next.step}`;
  const queued = await api.session.workflow.enqueueNextTurnInjection({ sessionKey, text: decided.tell, idempotencyKey });
  return queued.enqueued || queued.reason.startsWith('duplicate') ? undefined : `The agent cannot be told: ${queued.reason}`;
}

async function turn(api: RuntimeApi, sessionKey: string, isOn: boolean): Promise<string> {
  const changed = await change(api, sessionKey, (before) => {
    if (isOn ? isLocked(before) : before.mode === 'off') return { ok: false, code: 'SAME', error: describe(before) };
    return { ok: true, next: isOn ? begin(before) : stop(before) };
  });
  if (!changed.ok) return changed.error;
  const tell = isOn ? planningRules : 'Plan mode is off: no plan is needed any more.';
  const wrong = await queue(api, sessionKey, { next: changed.next, tell });
  return wrong === undefined ? describe(changed.next) : `${describe(changed.next)}\n${wrong}`;
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
