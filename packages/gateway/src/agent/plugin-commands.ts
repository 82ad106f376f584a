// Slash commands of plugins. They act with the rights of whoever typed them and with the grants of the plugin; what they
// answer is text, and whether the agent goes on is for the gateway to see to, not part of it.
import { grantedFields, GatewayError, matches, type CommandInfo, type Scope } from '@tenon/protocol';
import type { PluginCommand } from '@tenon/plugin-sdk';
import { placed } from '../host/call-plugin.ts';
import { Type } from 'typebox';
import type { RegisteredItem } from '../host/contribution-registry.ts';
import { missingGrant } from '../host/missing-grant.ts';
import { notingWrites } from '../host/own-writes.ts';
import { copyPlain } from '../host/plain-data.ts';
import type { Clock } from '../kernel/clock.ts';
import { randomId } from '../kernel/ids.ts';
import type { Store } from '../store/store.ts';
import { agentIdOf } from './agents.ts';
import { type PluginParts, readState } from './plugin-tools.ts';
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

export function findPluginCommand(name: string, plugins: PluginParts | undefined): RegisteredItem<'command'> | undefined {
  const found = plugins?.registry.findAny('command', name);
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
  readonly wake: Pick<Wake, 'called'>;
}

/** Contract: throws only GatewayError. */
export async function runPluginCommand(
  { item, plugin, pluginName }: RegisteredItem<'command'>,
  rest: string,
  call: CommandCall,
  { store, clock, turns, wake }: PluginCommandDeps,
  plugins: PluginParts,
): Promise<CommandReply> {
  const { sessionKey, principal } = call;
  requireScopes(`/${item.name}`, scopesOf(item), principal.held);
  if (rest.length > MAX_ARGS)
    throw new GatewayError('TOO_LARGE', `/${item.name} takes up to ${MAX_ARGS} characters, and was given ${rest.length}`);
  const state = await readState(plugins, plugin, sessionKey);
  const { result: answer, own } = await notingWrites(plugin, sessionKey, () =>
    plugins.caller.call(
      placed(plugin, 'command'),
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
      rest.replace(/[^\P{Cc}\t\n]/gu, ''),
      acceptReply,
      undefined,
      { sessionKey },
    ),
  );
  // What it threw is for the log, not for whoever typed it.
  if (!answer.ok) throw pluginFailed(plugin, `The command /${item.name} of ${pluginName} failed`);
  const { text, continueAgent } = answer.value;
  const { trace } = plugins.caller;
  trace.became(answer, { outcome: 'claimed', before: {}, after: answer.value });
  if (continueAgent) {
    const { grant } = grantedFields.continueAgent;
    if (!plugins.holds(plugin, grant)) {
      trace.became(answer, {
        outcome: 'claimed',
        reason: `the agent does not go on: ${missingGrant(plugin, grant)}`,
        before: {},
        after: { text },
      });
      return { reply: `${text}\n(The agent does not go on: ${missingGrant(plugin, grant)})`.trimStart(), sessionKey };
    }
    const wish = { runId: `p${randomId()}`, pluginId: plugin, pluginName, asked: true };
    await store.write('runs.continue', { key: sessionKey, wish, force: true, at: clock.now() });
    turns.accepted(sessionKey);
  } else if (continueAgent === undefined && own.hasQueued) await wake.called(plugin, sessionKey);
  return { reply: text, sessionKey };
}

export function pluginFailed(plugin: string, message: string): GatewayError {
  return new GatewayError('PLUGIN', `${message}; the log of the gateway says how`, { details: { code: 'PLUGIN_FAILED', plugin } });
}

const Reply = Type.Object(
  { text: Type.String({ maxLength: MAX_REPLY }), continueAgent: Type.Optional(Type.Boolean()) },
  { additionalProperties: false },
);

function acceptReply(raw: unknown): { readonly value: { text: string; continueAgent?: boolean } } | { readonly wrong: string } {
  const copied = copyPlain(raw);
  if ('wrong' in copied) return copied;
  return matches(Reply, copied.value) ? { value: copied.value } : { wrong: 'it is not {text, continueAgent?}' };
}
