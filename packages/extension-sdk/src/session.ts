// Writing into the session in which a handler was called, and the values that the host keeps for the extension.
import type { AskHost, DispatchContext } from './host.ts';

export type DeliverAs = 'steer' | 'follow_up' | 'followUp' | 'next_turn' | 'nextTurn';

export interface SessionFacade {
  sendMessage(text: string, options?: { readonly role?: 'user' | 'assistant' }): Promise<void>;
  sendUserMessage(text: string, options?: { readonly deliverAs?: DeliverAs }): Promise<void>;
  /** Kept in the transcript, and not told to the model. With a `tag` a message renderer can show it. */
  appendEntry(entry: Readonly<Record<string, unknown>>): Promise<void>;
  setModel(model: string, options?: { readonly provider?: string; readonly thinking?: string }): Promise<void>;
  /** What the host says of the session. */
  state(): Promise<Readonly<Record<string, unknown>>>;
}

/** `contextOf` throws where there is no session to write into. */
export function createSession(ask: AskHost, contextOf: () => DispatchContext): SessionFacade {
  return {
    async sendMessage(text, { role } = {}) {
      await ask('session/send_message', { context: contextOf(), text, role });
    },
    async sendUserMessage(text, { deliverAs } = {}) {
      await ask('session/send_user_message', { context: contextOf(), text, deliver_as: deliverAs && (spellings[deliverAs] ?? deliverAs) });
    },
    async appendEntry(entry) {
      await ask('session/append_entry', { context: contextOf(), entry });
    },
    async setModel(model, { provider, thinking } = {}) {
      await ask('session/set_model', { context: contextOf(), model, provider, thinking });
    },
    async state() {
      return (await ask<{ state?: Readonly<Record<string, unknown>> }>('session/state', { context: contextOf() })).state ?? {};
    },
  };
}

/** pi's spelling → that of the wire. */
const spellings: Readonly<Partial<Record<DeliverAs, string>>> = { followUp: 'follow_up', nextTurn: 'next_turn' };

export interface KeyValues {
  /** Null where there is nothing. */
  get(key: string): Promise<unknown>;
  set(key: string, value: unknown): Promise<void>;
  delete(key: string): Promise<void>;
  list(prefix?: string): Promise<readonly string[]>;
  /** Sets it only if what is there is `expected` (null: nothing); says whether it did. Tenon's, not of every host. */
  compareAndSet(key: string, expected: unknown, value: unknown): Promise<boolean>;
}

export function createKeyValues(ask: AskHost): KeyValues {
  return {
    get: async (key) => (await ask<{ value?: unknown }>('kv/get', { key })).value ?? null,
    async set(key, value) {
      await ask('kv/set', { key, value });
    },
    async delete(key) {
      await ask('kv/delete', { key });
    },
    list: async (prefix) => (await ask<{ keys: readonly string[] }>('kv/list', { prefix })).keys,
    compareAndSet: async (key, expected, value) =>
      (await ask<{ swapped: boolean }>('kv/compare_and_set', { key, expected, value })).swapped,
  };
}
