// Slash commands of plugins. They act with the rights of whoever typed them and with the grants of the plugin; what they
// answer is text; what they change, queue and ask for is committed as it is for an action.
import { grantedFields, GatewayError, matches, type CommandInfo, type Scope } from '@tenon/protocol';
import type { PluginCommand } from '@tenon/plugin-sdk';
import { placed } from '../host/call-plugin.ts';
import { Type } from 'typebox';
import type { RegisteredItem } from '../host/contribution-registry.ts';
import { missingGrant } from '../host/missing-grant.ts';
import { copyPlain } from '../host/plain-data.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Store } from '../store/store.ts';
import { agentIdOf } from './agents.ts';
import {
  type Asked,
  askLooking,
  askUntilFresh,
  changesNothing,
  effectFields,
  effectsOf,
  type SaidEffects,
  wrongIn,
} from './plugin-effects.ts';
import type { PluginParts } from './plugin-tools.ts';
import type { Turns } from './service.ts';
import type { Wake } from './wake.ts';

export interface CommandCall {
  readonly sessionKey: string;
  readonly text: string;
  readonly principal: { readonly id: string; readonly held: ReadonlySet<Scope>; readonly sessionKey?: string };
}

export interface CommandReply {
  readonly reply: string;
  /** Where the conversation goes on: another session after `/new`. */
  readonly sessionKey: string;
}

const MAX_ARGS = 4_096;
const MAX_REPLY = 65_536;
const DEFAULT_SCOPE: Scope = 'operator.write';

/** By its name, or by that of its plugin and its own, as in `notes:add`. */
export function findPluginCommand(typed: string, plugins: PluginParts | undefined): RegisteredItem<'command'> | undefined {
  const colon = typed.indexOf(':');
  const own = colon < 0 ? undefined : plugins?.registry.find('command', typed.slice(0, colon), typed.slice(colon + 1));
  const found = own ?? plugins?.registry.findAny('command', typed);
  return found?.isLive && plugins?.holds(found.plugin, 'commands.register') ? found : undefined;
}

export function scopesOf({ requiredScopes }: Pick<PluginCommand, 'requiredScopes'>): readonly Scope[] {
  return requiredScopes && requiredScopes.length > 0 ? (requiredScopes as Scope[]) : [DEFAULT_SCOPE];
}

/** Those that the holder of these scopes may use. */
export function pluginCommandInfos(plugins: PluginParts | undefined, held: ReadonlySet<Scope>): CommandInfo[] {
  if (!plugins) return [];
  return plugins.registry.all('command').flatMap(({ item, plugin }) => {
    const scopes = scopesOf(item);
    if (scopes.some((scope) => !held.has(scope)) || !plugins.holds(plugin, 'commands.register')) return [];
    return [
      {
        name: item.name,
        summary: item.description,
        usage: item.usage ?? `/${item.name}`,
        scope: scopes.join(' '),
        source: 'plugin' as const,
        pluginId: plugin,
        ...(item.aliases && item.aliases.length > 0 ? { aliases: [...item.aliases] } : {}),
      },
    ];
  });
}

/** What plugins want the agent to know of their commands; only of those that may add to what it is told. */
export function commandGuidance(plugins: PluginParts | undefined): string {
  const lines = (plugins?.registry.all('command') ?? []).flatMap(({ item, plugin, isLive }) =>
    isLive &&
    item.agentPromptGuidance &&
    plugins?.holds(plugin, 'commands.register') &&
    plugins.holds(plugin, grantedFields.agentPromptGuidance.grant)
      ? item.agentPromptGuidance.map((text) => `- /${item.name} (${plugin}): ${text}`)
      : [],
  );
  return lines.length === 0 ? '' : ['Commands that a person can type here:', ...lines].join('\n');
}

export function requireScopes(what: string, wanted: readonly Scope[], held: ReadonlySet<Scope>): void {
  const missing = wanted.filter((scope) => !held.has(scope));
  if (missing.length === 0) return;
  throw new GatewayError('SCOPE', `${what} needs the scope ${missing.join(' and ')}`, {
    details: { code: 'MISSING_SCOPE', missingScope: missing[0]!, missingScopes: missing, requiredScopes: [...wanted] },
  });
}

export interface PluginCommandDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly turns: Pick<Turns, 'accepted'>;
  readonly wake: Pick<Wake, 'afterCall'>;
}

/** Contract: throws only GatewayError. What the plugin changes, queues and asks for is committed together. */
export async function runPluginCommand(
  registered: RegisteredItem<'command'>,
  rest: string,
  call: CommandCall,
  deps: PluginCommandDeps,
  plugins: PluginParts,
): Promise<CommandReply> {
  const { item } = registered;
  requireScopes(`/${item.name}`, scopesOf(item), call.principal.held);
  if (rest.length > MAX_ARGS)
    throw new GatewayError('TOO_LARGE', `/${item.name} takes up to ${MAX_ARGS} characters, and was given ${rest.length}`);
  return askUntilFresh(() => askCommand(registered, rest.replace(/[^\P{Cc}\t\n]/gu, ''), call, deps, plugins));
}

async function askCommand(
  registered: RegisteredItem<'command'>,
  given: string,
  { sessionKey, principal }: CommandCall,
  { store, clock, turns, wake }: PluginCommandDeps,
  plugins: PluginParts,
): Promise<Asked<CommandReply>> {
  const { item, plugin, pluginName } = registered;
  const effectDeps = { store, plugins, wake };
  const { answer, looked } = await askLooking(plugin, sessionKey, effectDeps, (state) =>
    plugins.caller.call(
      item.timeoutMs === undefined ? placed(plugin, 'command') : { ...placed(plugin, 'command'), timeoutMs: item.timeoutMs },
      (args: string, context) =>
        item.handler({
          sessionKey,
          agentId: agentIdOf(sessionKey),
          args,
          client: { scopes: [...principal.held] },
          state,
          getSessionExtension: state,
          get signal() {
            return context.signal;
          },
        }),
      given,
      acceptReply,
      undefined,
      { sessionKey },
    ),
  );
  // What it threw is for the log, not for whoever typed it.
  if (!answer.ok) throw pluginFailed(plugin, `The command /${item.name} of ${pluginName} failed`);
  const { text, ...said } = answer.value;
  const { grant } = grantedFields.continueAgent;
  const missing =
    said.continueAgent && !plugins.holds(plugin, grant) ? `the agent does not go on: ${missingGrant(plugin, grant)}` : undefined;
  const effects = effectsOf(answer, missing === undefined ? said : { ...said, continueAgent: false }, registered, looked, effectDeps, {
    text,
  });
  const trace = { outcome: 'claimed', before: {}, after: missing === undefined ? answer.value : { text } } as const;
  plugins.caller.trace.became(answer, { ...trace, ...(missing === undefined ? {} : { reason: missing }) });
  const reply = missing === undefined ? text : `${text}\n(${missing[0]!.toUpperCase()}${missing.slice(1)})`.trimStart();
  const act = { ...effects, key: sessionKey, drafts: [], answer: { reply, sessionKey }, at: clock.now() };
  return {
    looked,
    async commit() {
      if (changesNothing(act)) return act.answer;
      if (!registered.isLive) throw pluginFailed(plugin, `${pluginName} was unloaded meanwhile, and nothing was changed`);
      const { runId } = (await store.write('plugins.act', act)) as { runId?: string };
      if (runId !== undefined) turns.accepted(sessionKey);
      return act.answer;
    },
  };
}

export function pluginFailed(plugin: string, message: string): GatewayError {
  return new GatewayError('PLUGIN', `${message}; the log of the gateway says how`, { details: { code: 'PLUGIN_FAILED', plugin } });
}

const Reply = Type.Object({ text: Type.String({ maxLength: MAX_REPLY }), ...effectFields }, { additionalProperties: false });

function acceptReply(raw: unknown): { readonly value: { text: string } & SaidEffects } | { readonly wrong: string } {
  const copied = copyPlain(raw);
  if ('wrong' in copied) return copied;
  if (!matches(Reply, copied.value)) return { wrong: 'it is not {text, continueAgent?, statePatch?, inject?}' };
  return wrongIn(Object.values(copied.value.statePatch ?? {})) ?? { value: copied.value };
}
