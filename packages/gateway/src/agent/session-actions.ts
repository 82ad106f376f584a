// Actions of plugins in a session: a button was pressed, or a program asks. Who asks needs the scopes of the action, what is
// asked must fit its schema, and what comes back must be one of two forms, whole. What the plugin changes, queues and says is
// committed together with the answer.
import { GatewayError, type JsonValue, matches, type Scope } from '@tenon/protocol';
import { placed } from '../host/call-plugin.ts';
import { Type, type Static } from 'typebox';
import type { RegisteredItem } from '../host/contribution-registry.ts';
import { compileSchema, type SchemaOutcome } from '../host/json-schema.ts';
import { copyPlain } from '../host/plain-data.ts';
import type { WriteArgs } from '../store/operations.ts';
import { agentIdOf } from './agents.ts';
import { requireScopes } from './plugin-commands.ts';
import { askLooking, type EffectDeps, effectFields, effectsOf, type Looked, wrongIn } from './plugin-effects.ts';
import { openChildRuns, type PluginParts } from './plugin-tools.ts';

const MAX_REPLY = 65_536;

export interface ActionRequest {
  readonly pluginId: string;
  readonly actionId: string;
  readonly sessionKey: string;
  readonly payload?: JsonValue;
  readonly held: ReadonlySet<Scope>;
  /** The turn that runs in the session. */
  readonly runId?: string;
}

const closed = { additionalProperties: false };
const Json = Type.Unknown();
const Success = Type.Object(
  {
    ok: Type.Optional(Type.Literal(true)),
    result: Type.Optional(Json),
    reply: Type.Optional(Type.String({ maxLength: MAX_REPLY })),
    ...effectFields,
  },
  closed,
);
const Failure = Type.Object(
  {
    ok: Type.Literal(false),
    error: Type.String({ minLength: 1, maxLength: 4_096 }),
    code: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
    details: Type.Optional(Json),
  },
  closed,
);
type ActionOutcome = Static<typeof Success> | Static<typeof Failure>;

/** The action, if whoever asks may ask it and it can be asked this. */
export function findAction(request: ActionRequest, plugins: PluginParts): RegisteredItem<'sessionAction'> {
  const { pluginId, actionId, held, payload } = request;
  const registered = plugins.registry.find('sessionAction', pluginId, actionId);
  if (!registered?.isLive)
    throw new GatewayError('UNAVAILABLE', `Plugin "${pluginId}" has no action "${actionId}", or is not loaded`, {
      details: { code: 'UNKNOWN_ACTION', plugin: pluginId, action: actionId },
    });
  const { requiredScopes, schema } = registered.item;
  requireScopes(`The action ${pluginId}.${actionId}`, requiredScopes?.length ? (requiredScopes as Scope[]) : ['operator.write'], held);
  const wrong = schema === undefined ? undefined : checkPayload(registered.item, schema, payload);
  if (wrong) throw new GatewayError('INVALID_REQUEST', wrong, { details: { code: 'INVALID_PAYLOAD', plugin: pluginId, action: actionId } });
  return registered;
}

const compiled = new WeakMap<object, SchemaOutcome>();

function checkPayload(item: object, schema: unknown, payload: JsonValue | undefined): string | undefined {
  let outcome = compiled.get(item);
  if (!outcome) {
    outcome = compileSchema(schema);
    compiled.set(item, outcome);
  }
  if (!outcome.ok) return outcome.message;
  return payload === undefined ? outcome.check(null, 'params/payload') : outcome.check(payload, 'params/payload');
}

/** Asks the plugin, and says what is to be committed. Contract: throws only GatewayError. */
export async function performAction(
  registered: RegisteredItem<'sessionAction'>,
  { sessionKey, payload, held, runId }: ActionRequest,
  deps: EffectDeps,
  at: number,
): Promise<{ readonly looked: Looked; readonly act: WriteArgs<'plugins.act'> }> {
  const { plugin, key: action, item } = registered;
  const { plugins } = deps;
  const { answer, looked } = await askLooking(plugin, sessionKey, deps, (state) =>
    plugins.caller.call(
      placed(plugin, 'session_action', registered),
      (given: JsonValue | undefined, own) =>
        item.handler({
          sessionKey,
          agentId: agentIdOf(sessionKey),
          payload: given,
          client: { scopes: [...held] },
          state,
          getSessionExtension: state,
          ...(runId === undefined ? {} : { runId }),
          openChildRuns: () => openChildRuns(plugins, plugin, sessionKey, runId),
          get signal() {
            return own.signal;
          },
        }),
      frozenCopy(payload),
      acceptOutcome,
      undefined,
      { sessionKey, runId },
    ),
  );
  if (!answer.ok) {
    const details = { plugin, action };
    if (answer.kind === 'wrong-shape')
      throw new GatewayError('INVALID_REQUEST', `The action ${plugin}.${action} gave something that is no result: ${answer.message}`, {
        details: { ...details, code: 'INVALID_RESULT' },
      });
    throw new GatewayError('UNAVAILABLE', `The action ${plugin}.${action} failed; the log of the gateway says how`, {
      details: { ...details, code: 'PLUGIN_FAILED' },
    });
  }
  if (!registered.isLive)
    throw new GatewayError('UNAVAILABLE', `Plugin "${plugin}" was unloaded meanwhile; nothing was changed`, {
      details: { code: 'UNKNOWN_ACTION', plugin, action },
    });
  const said = answer.value;
  if (said.ok === false) {
    const { error, code, details } = said;
    const refusal = { ok: false, error, ...(code === undefined ? {} : { code }), ...(details === undefined ? {} : { details }) };
    return { looked, act: { key: sessionKey, pluginId: plugin, puts: [], drafts: [], answer: refusal, at } };
  }
  const { result, reply, continueAgent } = said;
  const effects = effectsOf(answer, said, registered, looked, deps, { result, reply });
  return {
    looked,
    act: {
      ...effects,
      key: sessionKey,
      at,
      drafts: reply === undefined || reply === '' ? [] : [{ type: 'custom', customType: 'reply', data: { plugin, text: reply } }],
      answer: {
        ok: true,
        ...(result === undefined ? {} : { result }),
        ...(reply === undefined ? {} : { reply }),
        ...(continueAgent === undefined ? {} : { continueAgent }),
      },
    },
  };
}

function acceptOutcome(raw: unknown): { readonly value: ActionOutcome } | { readonly wrong: string } {
  if (raw === undefined) return { value: {} };
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return { wrong: 'it is no object' };
  const copied = copyPlain(raw);
  if ('wrong' in copied) return copied;
  if (matches(Success, copied.value) || matches(Failure, copied.value)) return wrongInside(copied.value) ?? { value: copied.value };
  return {
    wrong: 'it is neither {ok?: true, result?, reply?, continueAgent?, statePatch?, inject?} nor {ok: false, error, code?, details?}',
  };
}

/** Values of the plugin's own are bounded like all that it keeps or says. */
function wrongInside(outcome: ActionOutcome): { readonly wrong: string } | undefined {
  return wrongIn(outcome.ok === false ? [outcome.details] : [outcome.result, ...Object.values(outcome.statePatch ?? {})]);
}

/** What a plugin is given, it may keep: nobody else has the same object. */
export function frozenCopy(value: JsonValue | undefined): JsonValue | undefined {
  const copied = value === undefined ? undefined : copyPlain(value);
  return copied && 'value' in copied ? (copied.value as JsonValue) : undefined;
}
