// What a plugin does together with a change of a session: `sessions.patch` with an extension. The plugin sees the session as
// it would be after the other fields, and what it adds is committed with them, or nothing is.
import { explain, GatewayError, type JsonValue, matches, type Scope, type Session, sessionFields } from '@tenon/protocol';
import { placed } from '../host/call-plugin.ts';
import { Type } from 'typebox';
import type { RegisteredItem } from '../host/contribution-registry.ts';
import { copyPlain, freezeDeep } from '../host/plain-data.ts';
import type { WriteArgs } from '../store/operations.ts';
import { askLooking, type EffectDeps, effectFields, effectsOf, type Looked, type SaidEffects, wrongIn } from './plugin-effects.ts';
import { pluginFailed, requireScopes } from './plugin-commands.ts';
import type { PluginParts } from './plugin-tools.ts';
import { frozenCopy } from './session-actions.ts';

export interface Extension {
  readonly plugin: string;
  readonly action: string;
  readonly payload?: JsonValue;
}

export type Fields = WriteArgs<'sessions.patch'>['fields'];

export function findExtension(
  { plugin, action }: Extension,
  held: ReadonlySet<Scope>,
  plugins: PluginParts,
  isLoaded: (id: string) => boolean,
) {
  const registered = plugins.registry.find('sessionsPatchAction', plugin, action);
  if (!registered?.isLive) {
    const [code, message] = isLoaded(plugin)
      ? ['UNKNOWN_ACTION', `Unknown extension: plugin "${plugin}" has no action "${action}" for a change of a session`]
      : ['UNKNOWN_PLUGIN', `Unknown extension: there is no plugin "${plugin}", or it is not loaded`];
    throw new GatewayError('INVALID_REQUEST', message, { details: { code, plugin, action } });
  }
  requireScopes(`The action ${plugin}.${action}`, (registered.item.requiredScopes ?? []) as Scope[], held);
  return registered;
}

/** Asks the plugin, and says what is to be committed. Contract: throws only GatewayError. */
export async function askExtension(
  registered: RegisteredItem<'sessionsPatchAction'>,
  session: Session,
  fields: Fields,
  { payload, held }: { readonly payload: JsonValue | undefined; readonly held: ReadonlySet<Scope> },
  deps: EffectDeps,
): Promise<{ readonly looked: Looked; readonly fields: Fields; readonly plugin: NonNullable<WriteArgs<'sessions.patch'>['plugin']> }> {
  const { plugin, key: action, item } = registered;
  const { plugins } = deps;
  const entry = freezeDeep({ ...session, ...fields }) as Session;
  const { answer, looked } = await askLooking(plugin, session.key, deps, (state) =>
    plugins.caller.call(
      placed(plugin, 'sessions_patch', registered),
      (given: unknown, own) =>
        item.handler({
          key: session.key,
          agentId: session.agentId,
          entry,
          payload: given,
          client: { scopes: [...held] },
          state,
          getSessionExtension: state,
          get signal() {
            return own.signal;
          },
        }),
      frozenCopy(payload),
      acceptorFor(slotsOf(plugin, plugins)),
      undefined,
      { sessionKey: session.key },
    ),
  );
  if (!answer.ok) throw pluginFailed(plugin, `The action ${plugin}.${action} failed, and nothing was changed`);
  if (!registered.isLive) throw pluginFailed(plugin, `Plugin ${plugin} was unloaded meanwhile, and nothing was changed`);
  if (!answer.value.ok)
    throw new GatewayError('INVALID_REQUEST', answer.value.error, { details: { code: 'PLUGIN_REFUSED', plugin, action } });
  const { fields: own, said } = answer.value;
  return { looked, fields: { ...fields, ...own }, plugin: effectsOf(answer, said, registered, looked, deps, own) };
}

const closed = { additionalProperties: false };

const { permissions: _, ...entryFields } = sessionFields;
/** What `sessions.patch` itself may set, but for what a session may do without asking. */
const EntryPatch = Type.Object(entryFields, closed);

const ExtensionResult = Type.Union([
  Type.Object({ ok: Type.Literal(true), entryPatch: Type.Optional(Type.Record(Type.String(), Type.Unknown())), ...effectFields }, closed),
  Type.Object({ ok: Type.Literal(false), error: Type.String({ minLength: 1, maxLength: 4_096 }) }, closed),
]);

type Said = { readonly ok: true; readonly fields: Fields; readonly said: SaidEffects } | { readonly ok: false; readonly error: string };

/** The namespace behind each slot of the plugin. */
function slotsOf(plugin: string, { registry }: PluginParts): ReadonlyMap<string, string> {
  const extensions = registry.all('sessionExtension').filter((each) => each.plugin === plugin);
  return new Map(extensions.flatMap(({ key, item: { sessionEntrySlotKey: slot } }) => (slot === undefined ? [] : [[slot, key] as const])));
}

function acceptorFor(slots: ReadonlyMap<string, string>): (raw: unknown) => { readonly value: Said } | { readonly wrong: string } {
  return (raw) => {
    const copied = copyPlain(raw);
    if ('wrong' in copied) return copied;
    if (!matches(ExtensionResult, copied.value))
      return { wrong: 'it is neither {ok: true, entryPatch?, statePatch?, inject?, continueAgent?} nor {ok: false, error}' };
    if (!copied.value.ok) return { value: copied.value };
    const { ok: _, entryPatch = {}, ...said } = copied.value;
    const fields: Record<string, unknown> = {};
    const statePatch: Record<string, unknown> = { ...said.statePatch };
    for (const [name, value] of Object.entries(entryPatch)) {
      const namespace = slots.get(name);
      if (namespace === undefined) fields[name] = value;
      else if (Object.hasOwn(statePatch, namespace)) return { wrong: `it changes "${namespace}" twice, in entryPatch and in statePatch` };
      else statePatch[namespace] = value;
    }
    if (!matches(EntryPatch, fields)) return { wrong: `entryPatch: ${explain(EntryPatch, fields, 'entryPatch') ?? 'it does not fit'}` };
    return wrongIn(Object.values(statePatch)) ?? { value: { ok: true, fields: fields as Fields, said: { ...said, statePatch } } };
  };
}
