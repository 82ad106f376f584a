// Methods that plugins bring: `plugin.<id>.<name>`. Each says which scope it needs, the operator's without a word; params
// and result are plain JSON, and what the plugin does wrong is an error that names it.
import { GatewayError, isMethodName, type JsonValue, type Scope } from '@tenon/protocol';
import { placed } from '../host/call-plugin.ts';
import { pluginFailed, requireScopes } from '../agent/plugin-commands.ts';
import type { PluginParts } from '../agent/plugin-tools.ts';
import { frozenCopy } from '../agent/session-actions.ts';
import { takeJson } from '../host/plugin-json.ts';
import type { Principal } from './principal.ts';

const PREFIX = 'plugin.';

export function isPluginMethod(name: string): boolean {
  return name.startsWith(PREFIX) && !isMethodName(name);
}

/** Contract: throws and rejects only with GatewayError. */
export async function callPluginMethod(
  method: string,
  params: JsonValue,
  principal: Principal,
  plugins: PluginParts | undefined,
): Promise<JsonValue> {
  const [, id = '', name = ''] = /^plugin\.([^.]+)\.(.+)$/.exec(method) ?? [];
  const registered = plugins?.registry.find('gatewayMethod', id, name);
  if (!plugins || !registered?.isLive || !plugins.holds(id, 'gateway.methods'))
    throw new GatewayError('UNKNOWN_METHOD', `There is no method "${method.slice(0, 128)}"`);
  requireScopes(method, [(registered.item.scope ?? 'operator.admin') as Scope], principal.held);
  // What a plugin does with a session is not known here: a credential for one session has no business with it.
  if (principal.sessionKey !== undefined)
    throw new GatewayError('SCOPE', 'This credential is bound to one session', { details: { code: 'SESSION_BOUND' } });
  const answer = await plugins.caller.call(
    placed(id, 'gateway_method'),
    (given: JsonValue, own) =>
      registered.item.handler(given, {
        client: { scopes: [...principal.held] },
        get signal() {
          return own.signal;
        },
      }),
    frozenCopy(params) ?? null,
    (raw) => takeJson(raw ?? null),
  );
  if (!answer.ok) throw pluginFailed(id, `The method ${method} failed`);
  return answer.value;
}

/** What the plugins of this moment add for this client: the methods that it may call and the events that it may hear. */
export function pluginFeatures(
  { registry, holds }: Pick<PluginParts, 'registry' | 'holds'>,
  principal: Principal,
): { readonly methods: string[]; readonly events: string[] } {
  const named = (kind: 'gatewayMethod' | 'gatewayEvent', grant: string): string[] =>
    registry.all(kind).flatMap(({ plugin, key, item }) => {
      const scope = (item.scope ?? 'operator.admin') as Scope;
      return holds(plugin, grant) && principal.held.has(scope) ? [`${PREFIX}${plugin}.${key}`] : [];
    });
  return {
    methods: principal.sessionKey === undefined ? named('gatewayMethod', 'gateway.methods') : [],
    events: named('gatewayEvent', 'events.emit'),
  };
}
