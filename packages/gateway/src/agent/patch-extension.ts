// What a plugin does together with a change of a session: `sessions.patch` with an extension. The plugin sees the session as
// it would be after the other fields, and what it adds is committed with them, or nothing is.
import { GatewayError, type JsonValue, matches, type Scope, type Session, sessionFields } from '@tenon/protocol';
import { Type, type Static } from 'typebox';
import type { RegisteredItem } from '../host/contribution-registry.ts';
import { copyPlain, freezeDeep } from '../host/plain-data.ts';
import type { WriteArgs } from '../store/operations.ts';
import { pluginFailed, requireScopes } from './plugin-commands.ts';
import { type PluginParts, readState } from './plugin-tools.ts';
import { frozenCopy, putsOf } from './session-actions.ts';

const TIMEOUT_MS = 10_000;
/** How often what the plugin said is asked anew because somebody else changed the session meanwhile. */
export const MAX_ATTEMPTS = 3;

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

/** Asks the plugin. Contract: throws only GatewayError. */
export async function askExtension(
  registered: RegisteredItem<'sessionsPatchAction'>,
  session: Session,
  fields: Fields,
  { payload, held }: { readonly payload: JsonValue | undefined; readonly held: ReadonlySet<Scope> },
  plugins: PluginParts,
): Promise<{ fields: Fields; plugin: NonNullable<WriteArgs<'sessions.patch'>['plugin']> }> {
  const { plugin, key: action, item } = registered;
  const entry = freezeDeep({ ...session, ...fields }) as Session;
  const state = await readState(plugins, plugin, session.key);
  const answer = await plugins.caller.call(
    { plugin, place: 'sessions_patch', timeoutMs: TIMEOUT_MS },
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
    acceptResult,
  );
  if (!answer.ok) throw pluginFailed(plugin, `The action ${plugin}.${action} failed, and nothing was changed`);
  if (!registered.isLive) throw pluginFailed(plugin, `Plugin ${plugin} was unloaded meanwhile, and nothing was changed`);
  if (!answer.value.ok)
    throw new GatewayError('INVALID_REQUEST', answer.value.error, { details: { code: 'PLUGIN_REFUSED', plugin, action } });
  const { entryPatch = {}, statePatch } = answer.value;
  return { fields: { ...fields, ...entryPatch }, plugin: { pluginId: plugin, puts: putsOf(statePatch, plugin, plugins) } };
}

const closed = { additionalProperties: false };

const { permissions: _, ...entryFields } = sessionFields;
/** What `sessions.patch` itself may set, but for what a session may do without asking. */
const EntryPatch = Type.Object(entryFields, closed);

const ExtensionResult = Type.Union([
  Type.Object(
    {
      ok: Type.Literal(true),
      entryPatch: Type.Optional(EntryPatch),
      statePatch: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    },
    closed,
  ),
  Type.Object({ ok: Type.Literal(false), error: Type.String({ minLength: 1, maxLength: 4_096 }) }, closed),
]);

function acceptResult(raw: unknown): { readonly value: Static<typeof ExtensionResult> } | { readonly wrong: string } {
  const copied = copyPlain(raw);
  if ('wrong' in copied) return copied;
  return matches(ExtensionResult, copied.value)
    ? { value: copied.value }
    : { wrong: 'it is neither {ok: true, entryPatch?, statePatch?} nor {ok: false, error}' };
}
