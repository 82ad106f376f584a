// What a person does in a conversation. Each action shows its effect at once where that is certain, and says in words
// why it failed where it did.
import { GatewayError } from '@tenon/client';
import type { Approval, AttachmentRef, ClosedComposer, Decision, Session } from '@tenon/protocol';
import type { ChatImage } from '../chat/types.ts';
import { changeChat, touchChat, withApprovals, withSessions } from './changes.ts';
import { type Outgoing, withOlder } from './chat-state.ts';
import type { ActionDeps } from './actions.ts';
import type { AppState } from './app-state.ts';
import { randomId } from './ids.ts';
import { troubleOf } from './trouble.ts';

export interface Draft {
  readonly text: string;
  readonly images: readonly ChatImage[];
  /** Those that have arrived at the gateway. */
  readonly files?: readonly AttachmentRef[] | undefined;
}

export interface ChatActions {
  open(key: string): void;
  loadOlder(key: string): Promise<void>;
  /** Without a key a session is made. Resolves with the session to be shown; with nothing where it could not be made or nothing was taken. */
  send(
    key: string | undefined,
    draft: Draft,
    choices?: Partial<Pick<Session, 'model' | 'thinking' | 'permissions'>>,
    /** Although a plugin wants to be asked first. */
    override?: boolean,
  ): Promise<string | undefined>;
  /** Sends a message that failed once more, under the same id: what did arrive is not done twice. */
  resend(key: string, runId: string): void;
  discard(key: string, runId: string): void;
  stop(key: string): Promise<void>;
  unqueue(key: string, runId: string): Promise<void>;
  /** Goes back to before a message; resolves with what it said. */
  rewind(key: string, entryId: string | undefined): Promise<string | undefined>;
  /** Like `rewind`, with a way back in a message of the page; `onUndone` gets what the message said. */
  goBack(key: string, entryId: string | undefined, onUndone: (text: string) => void): Promise<string | undefined>;
  decide(approval: Approval, decision: Decision): Promise<void>;
}

const TITLE_LENGTH = 60;
/** A command may ask people something before it answers. */
const COMMAND_MS = 600_000;
const wentBack = (key: string) => `went-back:${key}`;

export function createChatActions({ store, link, toasts, now }: ActionDeps): ChatActions {
  function setOutgoing(key: string, runId: string, change: (each: Outgoing) => Outgoing | undefined): void {
    store.update(
      changeChat(key, (chat) => ({
        ...chat,
        outgoing: chat.outgoing.flatMap((each) => (each.runId === runId ? (change(each) ?? []) : [each])),
      })),
    );
  }

  async function deliver(key: string, { runId, text, images, files = [] }: Outgoing, override = false): Promise<string | undefined> {
    setOutgoing(key, runId, (each) => ({ ...each, state: 'sending', error: undefined }));
    try {
      const sent = link().call(
        'chat.send',
        {
          sessionKey: key,
          message: text,
          idempotencyKey: runId,
          ...(override ? { override } : {}),
          ...(images.length > 0
            ? { images: images.map(({ mimeType, data }) => ({ type: 'image', mimeType: mimeType as 'image/png', data })) }
            : {}),
          ...(files.length > 0 ? { attachments: files.map(({ handle }) => handle) } : {}),
        },
        text.startsWith('/') ? { timeoutMs: COMMAND_MS } : {},
      );
      const { status, sessionKey } = await sent;
      if (status === 'handled') setOutgoing(key, runId, () => undefined);
      else setOutgoing(key, runId, (each) => ({ ...each, state: 'sent' }));
      return sessionKey;
    } catch (error) {
      const closed = closedBy(error);
      if (closed) {
        // The page did not know yet. What was typed comes back.
        setOutgoing(key, runId, () => undefined);
        store.update((state) => withClosed(state, key, closed));
        return undefined;
      }
      const { message, code } = troubleOf(error);
      setOutgoing(key, runId, (each) => ({ ...each, state: 'failed', error: code === undefined ? message : `${message} (${code})` }));
      return key;
    }
  }

  async function sessionFor(draft: Draft, choices: Partial<Session>): Promise<string | undefined> {
    try {
      const title = draft.text.startsWith('/') ? undefined : titleOf(draft.text);
      const { session } = await link().call('sessions.create', { ...choices, ...(title ? { title } : {}) });
      store.update((state) => ({ ...state, sessions: withSessions(state.sessions, [session]) }));
      return session.key;
    } catch (error) {
      toasts.fail('The session could not be made', error);
      return undefined;
    }
  }

  async function rewind(key: string, entryId: string | undefined): Promise<string | undefined> {
    try {
      const { text } = await link().call('sessions.rewind', { key, ...(entryId === undefined ? {} : { entryId }) });
      await link().readChat(key);
      return text ?? '';
    } catch (error) {
      toasts.fail('The conversation could not go back', error);
      return undefined;
    }
  }

  async function goTo(key: string, entryId: string, onThere: () => void): Promise<void> {
    try {
      await link().call('sessions.branch', { key, entryId });
      // Before the messages are read: the page never shows what was said and the same text to be sent again.
      onThere();
      await link().readChat(key);
    } catch (error) {
      toasts.fail('The conversation could not be brought back', error);
    }
  }

  return {
    open(key) {
      const isKnown = store.get().chats.has(key);
      store.update(touchChat(key));
      if (!isKnown || store.get().chats.get(key)?.loaded.kind === 'failed') void link().readChat(key);
    },

    async loadOlder(key) {
      const chat = store.get().chats.get(key);
      if (chat?.more === undefined || chat.loadingOlder) return;
      store.update(changeChat(key, (each) => ({ ...each, loadingOlder: true })));
      try {
        const page = await link().call('chat.history', { sessionKey: key, before: chat.more, limit: 100 });
        store.update(changeChat(key, (each) => withOlder(each, page)));
      } catch (error) {
        store.update(changeChat(key, (each) => ({ ...each, loadingOlder: false })));
        toasts.fail('Older messages could not be read', error);
      }
    },

    async send(key, draft, choices = {}, override = false) {
      const target = key ?? (await sessionFor(draft, choices));
      if (target === undefined) return undefined;
      const outgoing: Outgoing = {
        runId: randomId(),
        text: draft.text,
        images: draft.images,
        files: draft.files,
        at: now(),
        state: 'sending',
      };
      if (!store.get().chats.has(target)) {
        store.update(touchChat(target));
        void link().readChat(target);
      }
      store.update(changeChat(target, (chat) => ({ ...chat, outgoing: [...chat.outgoing, outgoing] })));
      // The conversation goes on from there: the way back would leave this message behind.
      toasts.closeAbout((about) => about === wentBack(target));
      // Not awaited for a new session: the conversation is shown while its first message is on its way.
      const delivered = deliver(target, outgoing, override);
      return key === undefined ? target : delivered;
    },

    resend(key, runId) {
      const outgoing = store
        .get()
        .chats.get(key)
        ?.outgoing.find((each) => each.runId === runId);
      if (outgoing) void deliver(key, outgoing);
    },

    discard: (key, runId) => setOutgoing(key, runId, () => undefined),

    async stop(key) {
      store.update(changeChat(key, (chat) => ({ ...chat, stopping: true })));
      try {
        await link().call('chat.abort', { sessionKey: key });
      } catch (error) {
        toasts.fail('The turn could not be stopped', error);
      }
      store.update(changeChat(key, (chat) => ({ ...chat, stopping: false })));
    },

    async unqueue(key, runId) {
      try {
        await link().call('chat.abort', { sessionKey: key, runId });
      } catch (error) {
        toasts.fail('The message could not be taken back', error);
      }
    },

    rewind,

    async goBack(key, entryId, onUndone) {
      const leaf = store.get().chats.get(key)?.entries.at(-1)?.id;
      const text = await rewind(key, entryId);
      if (text === undefined || leaf === undefined) return text;
      toasts.closeAbout((about) => about === wentBack(key));
      toasts.say({
        tone: 'ok',
        title: 'Went back to before this message',
        detail: 'What came after it is kept in the session.',
        action: { label: 'Undo', run: () => void goTo(key, leaf, () => onUndone(text)) },
        about: wentBack(key),
      });
      return text;
    },

    async decide(approval, decision) {
      const { id } = approval;
      const setDeciding = (error?: string) =>
        store.update((state) => ({
          ...state,
          approvals: { ...state.approvals, deciding: new Map(state.approvals.deciding).set(id, { decision, error }) },
        }));
      if (store.get().approvals.deciding.get(id)?.error === undefined && store.get().approvals.deciding.has(id)) return;
      setDeciding();
      try {
        const result = await link().call('approvals.resolve', { id, decision });
        store.update((state) => ({ ...state, approvals: withApprovals(state.approvals, [result.approval]) }));
      } catch (error) {
        const { message, code } = troubleOf(error);
        setDeciding(code === undefined ? message : `${message} (${code})`);
        // Somebody else was first: the list says who.
        if (code === 'GONE' || code === 'CONFLICT' || code === 'NOT_FOUND') await readDecided(approval.sessionKey);
      }
    },
  };

  async function readDecided(sessionKey: string): Promise<void> {
    const result = await link()
      .call('approvals.list', { state: 'decided', sessionKey, limit: 50 })
      .catch(() => undefined);
    if (result) store.update((state) => ({ ...state, approvals: withApprovals(state.approvals, result.approvals) }));
  }
}

/** Who keeps a message from being sent, if that is why it was refused. */
function closedBy(error: unknown): ClosedComposer | undefined {
  const details = error instanceof GatewayError ? (error.details as Partial<Record<string, unknown>> | undefined) : undefined;
  return details?.code === 'INPUT_SUPPRESSED' ? (details as unknown as ClosedComposer) : undefined;
}

function withClosed(state: AppState, key: string, closed: ClosedComposer): AppState {
  const known = state.pluginUi.byKey.get(key) ?? { extensions: [], active: [] };
  return { ...state, pluginUi: { ...state.pluginUi, byKey: new Map(state.pluginUi.byKey).set(key, { ...known, closed }) } };
}

/** The first line, cut between words. */
export function titleOf(text: string): string {
  const line = text.trim().split('\n', 1)[0]!.replace(/\s+/g, ' ');
  if (line.length <= TITLE_LENGTH) return line;
  const cut = line.slice(0, TITLE_LENGTH);
  return `${cut.slice(0, Math.max(cut.lastIndexOf(' '), TITLE_LENGTH / 2)).trimEnd()}…`;
}
