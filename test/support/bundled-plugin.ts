// A conversation with a real gateway in which one of the bundled plugins is on, with everything that it asks for.
import assert from 'node:assert/strict';
import type { JsonValue } from '@tenon/protocol';
import { type Conversation, type ConversationOptions, openConversation } from './conversation.ts';

export interface PluginTalk extends Conversation {
  /** The reply to a slash command. */
  type(sessionKey: string, text: string): Promise<string>;
  // biome-ignore lint/suspicious/noExplicitAny: each action answers in its own way
  press(sessionKey: string, actionId: string, payload?: JsonValue): Promise<any>;
  // biome-ignore lint/suspicious/noExplicitAny: each plugin shows state of its own
  shown(sessionKey: string): Promise<any>;
}

export async function openWithPlugin(id: string, options: ConversationOptions & { readonly config?: string } = {}): Promise<PluginTalk> {
  const talk = await openConversation(options);
  const own = {
    type: async (sessionKey: string, text: string) => (await talk.ask('commands.invoke', { sessionKey, text })).reply as string,
    press: (sessionKey: string, actionId: string, payload?: JsonValue) =>
      talk.ask('plugins.sessionAction', { pluginId: id, actionId, sessionKey, ...(payload === undefined ? {} : { payload }) }),
    async shown(sessionKey: string) {
      const { session } = await talk.ask('sessions.get', { key: sessionKey });
      return session.pluginExtensions?.find(({ pluginId }: { pluginId: string }) => pluginId === id)?.value;
    },
  };
  const { plugin } = await talk.ask('plugins.get', { id });
  if (plugin.state !== 'loaded') await talk.ask('plugins.enable', { id });
  const { plugin: loaded } = await talk.ask('plugins.get', { id });
  assert.deepEqual([loaded.state, loaded.origin], ['loaded', 'bundled'], loaded.reason);
  assert.deepEqual(
    loaded.registrations.filter(({ accepted }: { accepted: boolean }) => !accepted),
    [],
  );
  return { ...talk, ...own };
}
