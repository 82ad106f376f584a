// What an extension registers beyond SEP, registered with the api that plugins have: each handler is a request to the process, in
// the words of the wire. What may be registered at all, the registry decides; nothing of it is looked at twice.
import type { ActionResult, PolicyDecision, RegisterApi, SessionsPatchExtension, SessionsPatchExtensionResult } from '@tenon/plugin-sdk';
import { answerFields, ApprovalRequest, contributions, type JsonObject, type JsonValue, Session, shownValue } from '@tenon/protocol';
import { fromSnake, type ReadResult, type Registrations, type SepParams, type SepRequestName, toSnake } from '@tenon/protocol/sep';
import type { DispatchPlace } from '../serve/dispatches.ts';
import { shownTool } from './tool-names.ts';

/** Asks the process, within the time of the method and for as long as somebody waits; the context is put in on the way. */
export type Ask = <Method extends SepRequestName>(
  method: Method,
  place: DispatchPlace,
  signal: AbortSignal,
  params: Omit<SepParams<Method>, 'context'>,
) => Promise<ReadResult<Method>>;

type Kind = keyof Registrations;
type Item<Of extends Kind> = NonNullable<Registrations[Of]>[number];
type ActionAnswer = ReadResult<'action/execute'>;

interface SeamDeps {
  readonly extension: string;
  readonly ask: Ask;
  /** What a scheduler job stands for has ended, or it was not taken. */
  readonly cleaned: (job: string) => void;
}

/** One function for each kind that goes through the api; what else there is stands below. */
export const seamKinds = {
  state(api: RegisterApi, { namespace, description, session_entry_slot_key: slot, project }: Item<'state'>, { extension }: SeamDeps): void {
    api.session.state.registerSessionExtension({
      namespace,
      description,
      ...(slot === undefined ? {} : { sessionEntrySlotKey: slot }),
      ...(project === undefined
        ? {}
        : {
            project: ({ state }) => shownValue(extension, { namespace, path: project }, [{ pluginId: extension, namespace, value: state }]),
          }),
    });
  },
  actions(api: RegisterApi, item: Item<'actions'>, { ask }: SeamDeps): void {
    api.session.controls.registerSessionAction({
      ...fromSnake(contributions.sessionAction.schema, item),
      async handler(call) {
        const { sessionKey, agentId, payload, runId, client, signal } = call;
        const answer = await ask('action/execute', { ...call, asked: true }, signal, {
          ...{ session_key: sessionKey, agent_id: agentId, action: item.id, client: { scopes: [...client.scopes] } },
          ...(payload === undefined ? {} : { payload }),
          ...(runId === undefined ? {} : { run_id: runId }),
        });
        return actionResult(answer);
      },
    });
  },
  interactions(api: RegisterApi, item: Item<'interactions'>, { ask }: SeamDeps): void {
    api.registerInteractiveHandler({
      ...fromSnake(contributions.interactiveHandler.schema, item),
      async handler(press) {
        const { sessionKey, agentId, channel, payload, callbackId, client, signal } = press;
        const { text } = await ask('interaction/press', { ...press, asked: true }, signal, {
          ...{ session_key: sessionKey, agent_id: agentId, channel, namespace: item.namespace, payload },
          ...(callbackId === undefined ? {} : { callback_id: callbackId }),
          client: { scopes: [...client.scopes] },
        });
        return text === undefined ? {} : { text };
      },
    });
  },
  descriptors(api: RegisterApi, item: Item<'descriptors'>): void {
    api.session.controls.registerControlUiDescriptor(fromSnake(contributions.uiDescriptor.schema, item));
  },
  policies(api: RegisterApi, item: Item<'policies'>, { ask }: SeamDeps): void {
    api.registerTrustedToolPolicy({
      ...fromSnake(contributions.toolPolicy.schema, item),
      async evaluate(event, call) {
        const { derivedPaths, commandWords, hosts } = event;
        const answer = await ask('policy/decide', event, call.signal, {
          ...{ policy: item.id, tool: shownTool(event.toolName), arguments: event.params, call_id: event.toolCallId },
          ...{ session_key: event.sessionKey, agent_id: event.agentId, run_id: event.runId, risk: event.risk },
          workspace_dir: event.workspaceDir,
          ...(derivedPaths === undefined ? {} : { derived_paths: [...derivedPaths] }),
          ...(commandWords === undefined ? {} : { command_words: [...commandWords] }),
          ...(hosts === undefined ? {} : { hosts: [...hosts] }),
        });
        return policyDecision(answer);
      },
    });
  },
  scheduled_turns(api: RegisterApi, { id, description }: Item<'scheduled_turns'>, { ask }: SeamDeps): void {
    api.registerScheduledTurnHandler({
      id,
      ...(description === undefined ? {} : { description }),
      async handler(turn) {
        const { sessionKey, agentId, runId, jobId, name, tag, message, dueAt, signal } = turn;
        const { handled, reply } = await ask('schedule/due', turn, signal, {
          ...{ session_key: sessionKey, agent_id: agentId, handler: id, run_id: runId, job_id: jobId, name },
          ...(tag === undefined ? {} : { tag }),
          ...{ message, due_at: dueAt },
        });
        return reply === undefined ? { handled } : { handled, reply };
      },
    });
  },
  scheduler_jobs(api: RegisterApi, item: Item<'scheduler_jobs'>, { ask, cleaned }: SeamDeps): void {
    const { id } = item;
    const taken = api.session.workflow.registerSessionSchedulerJob({
      ...fromSnake(contributions.schedulerJob.schema, item),
      async cleanup({ reason, sessionKey }) {
        await ask('schedule/clean_up', { sessionKey }, never, {
          ...{ job: id, reason },
          ...(sessionKey === undefined ? {} : { session_key: sessionKey }),
        });
        cleaned(id);
      },
    });
    if (!taken) cleaned(id);
  },
  gateway_methods(api: RegisterApi, item: Item<'gateway_methods'>, { ask }: SeamDeps): void {
    api.registerGatewayMethod({
      ...fromSnake(contributions.gatewayMethod.schema, item),
      async handler(params, { client, signal }) {
        const { result } = await ask('gateway_method/call', {}, signal, {
          ...{ name: item.name, params, client: { scopes: [...client.scopes] } },
        });
        return result as JsonValue;
      },
    });
  },
  gateway_events(api: RegisterApi, item: Item<'gateway_events'>): void {
    api.registerGatewayEvent(fromSnake(contributions.gatewayEvent.schema, item));
  },
  startup_checks(api: RegisterApi, { id, description }: Item<'startup_checks'>, { ask }: SeamDeps): void {
    api.registerStartupCheck({
      id,
      ...(description === undefined ? {} : { description }),
      async check({ signal }) {
        const { ok, message } = await ask('startup_check/run', {}, signal, { check: id });
        return { ok, message };
      },
    });
  },
} satisfies { readonly [Of in Kind]?: (api: RegisterApi, item: Item<Of>, deps: SeamDeps) => void };

/** The kinds that are made something of here or with the tools and the module. */
export const takenSeams: readonly Kind[] = [...(Object.keys(seamKinds) as Kind[]), 'tool_facts', 'patch_actions'];

export function registerSeams(api: RegisterApi, registrations: Registrations, deps: SeamDeps): void {
  for (const [kind, register] of Object.entries(seamKinds)) {
    const add = register as (api: RegisterApi, item: unknown, deps: SeamDeps) => void;
    for (const item of registrations[kind as Kind] ?? []) add(api, item, deps);
  }
}

/** What of a tool it says beside what the agent is told. */
export function toolFacts({ tool_facts: all = [] }: Registrations, name: string): Partial<Item<'tools'>> & object {
  const facts = all.find((each) => each.name === name);
  if (!facts) return {};
  const { label, risk, tags, idempotent, parallel_safe: parallelSafe, optional } = facts;
  const said = { label, risk, tags, idempotent, parallelSafe, optional };
  return Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined));
}

/** What the module of a plugin has as `sessionsPatchExtensions`. */
export function patchActions(
  { patch_actions: all = [] }: Registrations,
  { ask }: Pick<SeamDeps, 'ask'>,
): Readonly<Record<string, SessionsPatchExtension>> {
  return Object.fromEntries(
    all.map((item): [string, SessionsPatchExtension] => {
      const { action, requiredScopes } = fromSnake(contributions.sessionsPatchAction.schema, item);
      const handler: SessionsPatchExtension['handler'] = async ({ key, agentId, entry, payload, client, state, signal }) => {
        const answer = await ask('patch_action/execute', { sessionKey: key, agentId, state }, signal, {
          ...{ session_key: key, agent_id: agentId, action, entry: toSnake(Session, entry) },
          ...(payload === undefined ? {} : { payload }),
          client: { scopes: [...client.scopes] },
        });
        if (!answer.ok) return { ok: false, error: answer.error };
        const { entry_patch: entryPatch } = answer;
        return {
          ok: true,
          ...(entryPatch === undefined ? {} : { entryPatch }),
          ...effectsIn(answer),
        } as SessionsPatchExtensionResult;
      };
      return [action, { handler, ...(requiredScopes === undefined ? {} : { requiredScopes }) }];
    }),
  );
}

const never = new AbortController().signal;

function actionResult(answer: ActionAnswer): ActionResult {
  if (answer.ok === false) {
    const { error, code, details } = answer;
    return {
      ok: false,
      error,
      ...(code === undefined ? {} : { code }),
      ...(details === undefined ? {} : { details: details as JsonValue }),
    };
  }
  const { result, reply } = answer;
  return {
    ok: true,
    ...(result === undefined ? {} : { result: result as JsonValue }),
    ...(reply === undefined ? {} : { reply }),
    ...effectsIn(answer),
  };
}

/** What is committed together with an answer. */
function effectsIn({
  continue_agent: continueAgent,
  state_patch: statePatch,
  inject,
}: Pick<Extract<ActionAnswer, { ok?: true }>, 'continue_agent' | 'state_patch' | 'inject'>) {
  return {
    ...(continueAgent === undefined ? {} : { continueAgent }),
    ...(statePatch === undefined ? {} : { statePatch: statePatch as Record<string, JsonValue | null> }),
    ...(inject === undefined ? {} : { inject: inject.map((each) => fromSnake(answerFields.inject, each)) }),
  } as Pick<Extract<ActionResult, { ok?: true }>, 'continueAgent' | 'statePatch' | 'inject'>;
}

function policyDecision(answer: ReadResult<'policy/decide'>): PolicyDecision {
  if (answer.decision === 'deny') return { allow: false, ...(answer.reason === undefined ? {} : { reason: answer.reason }) };
  const params = answer.arguments === undefined ? {} : { params: answer.arguments as JsonObject };
  if (answer.decision === 'ask') return { ...params, requireApproval: fromSnake(ApprovalRequest, answer.approval) };
  return { allow: true, ...params };
}
