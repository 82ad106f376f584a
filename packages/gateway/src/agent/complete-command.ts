// What may be typed next after a slash: names of commands, and what may follow one, as far as whoever types may use it. A
// plugin says itself what may follow its commands; one that is slow or answers nonsense offers nothing.
import { commandNames, commands, isCommandName, matches, thinkingLevels } from '@tenon/protocol';
import type { Completion } from '@tenon/plugin-sdk';
import { placed } from '../host/call-plugin.ts';
import { Type } from 'typebox';
import type { RegisteredItem } from '../host/contribution-registry.ts';
import { copyPlain } from '../host/plain-data.ts';
import { agentIdOf } from './agents.ts';
import type { CommandDeps } from './commands.ts';
import { type CommandCall, findPluginCommand, pluginCommandInfos, scopesOf } from './plugin-commands.ts';
import { type PluginParts, readState } from './plugin-tools.ts';

const MAX_OFFERED = 100;

type CompleteDeps = Pick<CommandDeps, 'plugins' | 'models' | 'store'>;

/** Whole lines that begin like this one; none where there is nothing to say. */
export async function completeCommand(call: CommandCall, deps: CompleteDeps): Promise<Completion[]> {
  const { text, principal } = call;
  const [, begun] = /^\/([a-z0-9_:-]*)$/.exec(text) ?? [];
  if (begun !== undefined) return namesLike(begun, call, deps).slice(0, MAX_OFFERED);
  const [, head = '', name = '', args = ''] = /^(\/((?:[a-z0-9][a-z0-9_-]{0,63}:)?[a-z][a-z0-9_-]{0,63})\s+)([\s\S]*)$/.exec(text) ?? [];
  if (name === '') return [];
  const found = isCommandName(name)
    ? principal.held.has(commands[name].scope)
      ? await coreArguments(name, call, deps)
      : []
    : await pluginArguments(name, args, call, deps);
  return found
    .filter((each) => each.text.startsWith(args))
    .slice(0, MAX_OFFERED)
    .map((each) => ({ ...each, text: `${head}${each.text}` }));
}

function namesLike(begun: string, { principal }: CommandCall, { plugins }: CompleteDeps): Completion[] {
  const own = commandNames
    .filter((name) => principal.held.has(commands[name].scope))
    .map((name) => ({ text: name as string, description: commands[name].summary }));
  const theirs = pluginCommandInfos(plugins(), principal.held).flatMap(({ name, aliases = [], summary, pluginId }) =>
    // Whose it is, where somebody begins with that.
    [name, ...aliases, ...(begun.includes(':') && !name.includes(':') ? [`${pluginId}:${name}`] : [])].map((each) => ({
      text: each,
      description: summary,
    })),
  );
  return [...own, ...theirs]
    .filter(({ text }) => text.startsWith(begun))
    .toSorted((a, b) => (a.text < b.text ? -1 : 1))
    .map((each) => ({ ...each, text: `/${each.text} ` }));
}

async function coreArguments(name: string, { sessionKey }: CommandCall, { models, store }: CompleteDeps): Promise<Completion[]> {
  const words = (list: readonly string[]): Completion[] => list.map((text) => ({ text }));
  if (name === 'model') return words([...models.list().map(({ id }) => id), 'default']);
  if (name === 'think') return words([...thinkingLevels, 'default']);
  if (name !== 'approve') return [];
  const { approvals } = await store.read('approvals.list', { state: 'pending', sessionKey, limit: 20 });
  return approvals.flatMap(({ id, title }) =>
    ['allow', 'deny', 'always'].map((word) => ({ text: `${word} ${id}`, description: title.slice(0, MAX_DESCRIPTION) })),
  );
}

async function pluginArguments(name: string, args: string, call: CommandCall, { plugins }: CompleteDeps): Promise<Completion[]> {
  const parts = plugins();
  const found = findPluginCommand(name, parts);
  if (!parts || !found?.item.complete || scopesOf(found.item).some((scope) => !call.principal.held.has(scope))) return [];
  return askPlugin(found, args, call, parts);
}

async function askPlugin(
  { item, plugin }: RegisteredItem<'command'>,
  args: string,
  { sessionKey, principal }: CommandCall,
  plugins: PluginParts,
): Promise<Completion[]> {
  const where = placed(plugin, 'command_complete');
  const state = await readState(plugins, plugin, sessionKey);
  const answer = await plugins.caller.call(
    where,
    (given: string, own) =>
      item.complete?.(given, {
        sessionKey,
        agentId: agentIdOf(sessionKey),
        args: given,
        client: { scopes: [...principal.held] },
        state,
        getSessionExtension: state,
        get signal() {
          return own.signal;
        },
      }),
    args,
    acceptOffered,
    undefined,
    { sessionKey },
  );
  return answer.ok ? answer.value : [];
}

const MAX_DESCRIPTION = 256;
const Line = Type.String({ minLength: 1, maxLength: 512, pattern: '^[^\\r\\n\\0]*$' });
const Offered = Type.Array(
  Type.Union([
    Line,
    Type.Object({ text: Line, description: Type.Optional(Type.String({ maxLength: MAX_DESCRIPTION })) }, { additionalProperties: false }),
  ]),
  { maxItems: 1_000 },
);

function acceptOffered(raw: unknown): { readonly value: Completion[] } | { readonly wrong: string } {
  const copied = copyPlain(raw ?? []);
  if ('wrong' in copied) return copied;
  if (!matches(Offered, copied.value)) return { wrong: 'it is not a list of up to 1000 texts of one line, or of {text, description?}' };
  return { value: copied.value.map((each) => (typeof each === 'string' ? { text: each } : each)) };
}
