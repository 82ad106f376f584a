// Buttons that people press in a conversation, on their way to the plugin that they belong to: by the namespace in their
// data, from somebody who may write there, and once for each press, however often a client repeats it.
import { GatewayError, matches, type Scope } from '@tenon/protocol';
import { placed } from '../host/call-plugin.ts';
import { Type } from 'typebox';
import { copyPlain } from '../host/plain-data.ts';
import type { Clock } from '../kernel/clock.ts';
import { agentIdOf } from './agents.ts';
import { pluginFailed } from './plugin-commands.ts';
import { type PluginParts, readState } from './plugin-tools.ts';

export interface Press {
  readonly sessionKey: string;
  readonly channel: string;
  readonly data: string;
  readonly callbackId?: string;
  readonly held: ReadonlySet<Scope>;
}

export interface Pressed {
  readonly pluginId: string;
  readonly duplicate?: true;
  readonly text?: string;
}

const REMEMBERED_MS = 300_000;
const MAX_REMEMBERED = 4_096;
const MAX_TEXT = 4_096;

/** Presses that were told, by plugins of one gateway. */
const told = new WeakMap<PluginParts['registry'], Map<string, number>>();

/** Contract: throws only GatewayError, and what the store throws. */
export async function tellOfPress(press: Press, plugins: PluginParts, clock: Clock): Promise<Pressed> {
  const { sessionKey, channel, data, callbackId, held } = press;
  const cut = data.indexOf(':');
  const namespace = data.slice(0, cut);
  const registered = plugins.registry.all('interactiveHandler').find(({ key }) => key === namespace);
  const isForIt = registered && (registered.item.channel === '*' || registered.item.channel === channel);
  if (!registered || !isForIt || !plugins.holds(registered.plugin, 'ui.interact'))
    throw new GatewayError('NOT_FOUND', `No plugin is told of buttons of "${namespace}"`, {
      details: { code: 'UNKNOWN_BUTTON', namespace },
    });
  const { plugin, item } = registered;
  const known = callbackId === undefined ? undefined : JSON.stringify([plugin, sessionKey, namespace, callbackId]);
  const presses = pressesOf(plugins, clock.monotonic());
  if (known !== undefined && presses.has(known)) return { pluginId: plugin, duplicate: true };
  if (known !== undefined) presses.set(known, clock.monotonic());
  const state = await readState(plugins, plugin, sessionKey);
  const answer = await plugins.caller.call(
    placed(plugin, 'interactive'),
    (payload: string, own) =>
      item.handler({
        sessionKey,
        agentId: agentIdOf(sessionKey),
        channel,
        payload,
        ...(callbackId === undefined ? {} : { callbackId }),
        client: { scopes: [...held] },
        getSessionExtension: state,
        get signal() {
          return own.signal;
        },
      }),
    data.slice(cut + 1),
    acceptReply,
  );
  if (answer.ok) return { pluginId: plugin, ...answer.value };
  // It was not done: whoever presses once more is not told that it was.
  if (known !== undefined) presses.delete(known);
  throw pluginFailed(plugin, 'The plugin failed when it was told of the button');
}

/** Those of the last minutes, and no more than can be remembered. */
function pressesOf({ registry }: PluginParts, now: number): Map<string, number> {
  const presses = told.get(registry) ?? new Map<string, number>();
  told.set(registry, presses);
  for (const [known, at] of presses) {
    if (now - at < REMEMBERED_MS && presses.size < MAX_REMEMBERED) break;
    presses.delete(known);
  }
  return presses;
}

const Reply = Type.Object({ text: Type.Optional(Type.String({ maxLength: MAX_TEXT })) }, { additionalProperties: false });

function acceptReply(raw: unknown): { readonly value: { text?: string } } | { readonly wrong: string } {
  if (raw === undefined) return { value: {} };
  const copied = copyPlain(raw);
  if ('wrong' in copied) return copied;
  return matches(Reply, copied.value) ? { value: copied.value } : { wrong: 'it is not {text?}' };
}
