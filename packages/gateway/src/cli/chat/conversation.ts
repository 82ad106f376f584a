// One session as a client is in it: connected, in step with every other surface, across restarts of the gateway. What is
// published goes to the follower; what was missed is read anew.
import type { Client, ClientState } from '@tenon/client';
import { type CommandInfo, type Decision, type Entry, type EventPayload, type JsonValue, limits, type Result } from '@tenon/protocol';
import { bytes } from '../amounts.ts';
import { usageError } from '../failure.ts';
import { checkFiles, uploadFile } from '../upload.ts';
import { createOpenDeliveries } from './delivery.ts';
import { createFollower, type Follower, type Show } from './follow.ts';
import { type Control, createPluginReader, noPlugins, type PluginsShown } from './plugin-view.ts';

export const followedEvents = [
  'agent',
  'chat',
  'approval.requested',
  'approval.resolved',
  'sessions.changed',
  'resumed',
  'snapshot-required',
  'plugins.changed',
  'action.required',
] as const;

export interface Sent {
  readonly runId: string;
  readonly status: Result<'chat.send'>['status'];
  readonly reply?: string;
}

export interface Conversation {
  readonly sessionKey: string;
  readonly follower: Follower;
  /** Shows the last messages, and what is under way. */
  open(messages: number): Promise<void>;
  /** `shown`: the text stands on the screen and is not shown again when it comes back as an entry. */
  send(text: string, shown: boolean, override?: boolean): Promise<Sent>;
  /** The answer of a slash command; `/new` leads to another session. */
  command(text: string): Promise<string>;
  commands(): Promise<CommandInfo[]>;
  /** Whole lines that may become of this one. */
  complete(line: string): Promise<readonly { readonly text: string; readonly description?: string }[]>;
  /** The file goes with the next message; gives what there is to say of it. Throws where it cannot be sent. */
  attach(file: string): Promise<string>;
  /** Nothing goes with it; gives how many would have. */
  detach(): number;
  /** Names of files that go with the next message. */
  readonly attached: readonly string[];
  abort(): Promise<readonly string[]>;
  answer(id: string, decision: Decision): Promise<void>;
  /** What plugins show here now. */
  readonly plugins: PluginsShown;
  /** Reads it anew: a line of a script comes before the event of the line above it. */
  refreshPlugins(): Promise<void>;
  /** Presses one of their controls. */
  press(control: Control, payload?: JsonValue): Promise<Result<'plugins.sessionAction'>>;
  /** Resolves when the run has ended. */
  ended(runId: string, signal?: AbortSignal): Promise<Result<'agent.wait'>>;
}

export interface ConversationOptions {
  readonly client: Client;
  readonly sessionKey: string;
  readonly show: Show;
  readonly newId: () => string;
  readonly callMs: number;
  /** What plugins show has changed. */
  readonly onPlugins?: (shown: PluginsShown) => void;
}

const WAIT_MS = 60_000;
/** How long a gateway may be away while somebody waits for the end of a run. */
const PATIENCE_MS = 300_000;
const SLOW_MS = 600_000;
/** Who waits for Tab does not wait long. */
const COMPLETE_MS = 3_000;
const MOST_HELD = 1_000;
const RELOADED = 100;
const MOST_NEEDS = 20;

export function createConversation({ client, sessionKey: first, show, newId, callMs, onPlugins }: ConversationOptions): Conversation {
  let sessionKey = first;
  /** Until the history is on the screen, what comes in the meantime waits. */
  let held: (() => void)[] | undefined = [];
  let follower = follow();
  /** As far as we know. */
  let exists = false;
  const readPlugins = createPluginReader();
  let plugins = noPlugins;
  let needs: EventPayload<'action.required'>[] = [];
  const deliveries = createOpenDeliveries();
  let attached: { readonly name: string; readonly handle: string }[] = [];
  /** What is being read may be old by now. */
  let pluginsStale = false;
  let refreshing: Promise<void> | undefined;

  function follow(): Follower {
    return createFollower({ sessionKey, show, fetchEntry: (entryId) => void fetchEntry(entryId) });
  }

  function take(work: () => void): void {
    if (held && held.length < MOST_HELD) held.push(work);
    else work();
  }

  client.on('chat', (event) => take(() => follower.chat(event)));
  client.on('agent', (said) => take(() => follower.run(said)));
  client.on('approval.requested', ({ approval }) => take(() => follower.asked(approval)));
  client.on('approval.resolved', (settled) => take(() => follower.settled(settled)));
  client.on('sessions.changed', (event) => {
    take(() => follower.session(event));
    if (event.key === sessionKey && event.reason !== 'activity' && event.reason !== 'delete') void refreshPlugins();
  });
  client.on('plugins.changed', () => void refreshPlugins());
  client.on('action.required', (need) => {
    if (need.sessionKey !== sessionKey) return;
    needs = [...needs, need].slice(-MOST_NEEDS);
    void refreshPlugins();
  });
  client.on('chat', ({ sessionKey: key, entry }) => {
    if (key === sessionKey && entry) heed([entry]);
  });
  client.on('chat', ({ kind, sessionKey: key }) => {
    // The agent goes on: what was needed was given.
    if (kind !== 'started' || key !== sessionKey || needs.length === 0) return;
    needs = [];
    void refreshPlugins();
  });
  client.on('snapshot-required', () => void reload());
  client.onGap(({ action }) => action === 'lost' && void reload());
  client.onState(connectionNotes(show, () => follower.interrupted()));
  client.onState(({ kind }) => kind === 'connected' && !held && void refreshPlugins());

  /** The latest messages; nothing for a session that nobody has spoken in yet. */
  async function history(limit: number): Promise<Result<'chat.history'> | undefined> {
    try {
      const page = await client.call('chat.history', { sessionKey, limit }, { timeoutMs: callMs });
      exists = true;
      return page;
    } catch (error) {
      if ((error as { code?: unknown }).code === 'NOT_FOUND') return undefined;
      throw error;
    }
  }

  /** Buttons may have come, or gone. */
  function heed(entries: readonly Entry[]): void {
    const changed = entries.map((entry) => deliveries.take(entry));
    if (changed.includes(true)) void refreshPlugins();
  }

  /** Resolves when `plugins` is what they show now, also where it is being read already. */
  function refreshPlugins(): Promise<void> {
    pluginsStale = true;
    refreshing ??= readAgain().finally(() => {
      refreshing = undefined;
    });
    return refreshing;
  }

  async function readAgain(): Promise<void> {
    do {
      pluginsStale = false;
      const key = sessionKey;
      // Who may not read them, and a session that is not there yet, has none.
      const [found, row] = await Promise.all([
        client.call('plugins.uiDescriptors', {}, { timeoutMs: callMs }).catch(() => undefined),
        client.call('sessions.get', { key }, { timeoutMs: callMs }).catch(() => undefined),
      ]);
      if (key !== sessionKey) pluginsStale = true;
      else
        plugins = readPlugins({
          descriptors: found?.descriptors ?? [],
          extensions: row?.session.pluginExtensions ?? [],
          needs,
          deliveries: deliveries.all,
        });
    } while (pluginsStale);
    onPlugins?.(plugins);
  }

  async function fetchEntry(entryId: string): Promise<void> {
    try {
      const found = (await history(RELOADED))?.entries.find(({ id }) => id === entryId);
      if (found) {
        follower.entry(found);
        heed([found]);
      }
    } catch (error) {
      show.problem(`A message could not be read: ${(error as Error).message}`);
    }
  }

  /** What was missed cannot be replayed: the state is read instead. */
  async function reload(): Promise<void> {
    try {
      const page = await history(RELOADED);
      const entries = page?.entries ?? [];
      heed(entries);
      for (const entry of entries.slice(entries.findLastIndex(({ id }) => follower.hasSeen(id)) + 1)) follower.entry(entry);
      const open = new Set((page?.runs ?? []).map(({ run }) => run.runId));
      for (const runId of [...follower.running].filter((each) => !open.has(each))) {
        const { run, end } = await client.call('agent.wait', { runId, timeoutMs: 0 }, { timeoutMs: callMs });
        if (run.state === 'ended') follower.ended(runId, end ?? run.end);
      }
      await askPending();
    } catch (error) {
      show.problem(`What was missed could not be read: ${(error as Error).message}`);
    }
  }

  async function askPending(): Promise<void> {
    try {
      const { approvals } = await client.call('approvals.list', { state: 'pending', sessionKey }, { timeoutMs: callMs });
      for (const approval of approvals) follower.asked(approval);
    } catch (error) {
      // Without the scope there is nothing to be asked; somebody else answers.
      if ((error as { code?: unknown }).code !== 'SCOPE') throw error;
    }
  }

  async function open(messages: number): Promise<void> {
    held ??= [];
    try {
      const page = await history(Math.max(1, messages));
      const entries = page?.entries ?? [];
      for (const entry of entries) deliveries.take(entry);
      if (messages > 0) for (const entry of entries) follower.entry(entry);
      for (const { run } of page?.runs ?? []) if (run.state === 'running') follower.began(run.runId);
      await askPending();
      await refreshPlugins();
    } finally {
      const waiting = held ?? [];
      held = undefined;
      for (const work of waiting) work();
    }
  }

  /** A session that does not exist yet is made by the first thing that is said in it. */
  async function inSession<Answer>(call: () => Promise<Answer>): Promise<Answer> {
    try {
      return await call();
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'NOT_FOUND' || exists) throw error;
      exists = true;
      await client.call('sessions.create', { key: sessionKey, idempotencyKey: newId() }, { timeoutMs: callMs });
      return call();
    }
  }

  async function moveTo(key: string): Promise<void> {
    sessionKey = key;
    needs = [];
    deliveries.clear();
    exists = true;
    follower = follow();
    await open(0);
  }

  return {
    get sessionKey() {
      return sessionKey;
    },
    get follower() {
      return follower;
    },
    open,
    get plugins() {
      return plugins;
    },
    refreshPlugins,
    async press({ pluginId, actionId = '', button }, payload) {
      if (button) {
        const pressed = await client.call('deliveries.press', { sessionKey, ...button, idempotencyKey: newId() }, { timeoutMs: callMs });
        const done = pressed.answer ?? { ok: true, ...(pressed.text === undefined ? {} : { reply: pressed.text }) };
        if (done.ok) deliveries.settle(button.entryId);
        await refreshPlugins();
        return done;
      }
      const params = { pluginId, actionId, idempotencyKey: newId(), ...(payload === undefined ? {} : { payload }) };
      const answer = await inSession(() => client.call('plugins.sessionAction', { ...params, sessionKey }, { timeoutMs: callMs }));
      if (answer.ok)
        needs = needs.filter((need) => need.pluginId !== pluginId || !need.actions?.some((each) => each.actionId === actionId));
      await refreshPlugins();
      return answer;
    },
    async send(text, shown, override = false) {
      if (shown) follower.own(text);
      const handles = attached.map(({ handle }) => handle);
      const params = {
        sessionKey,
        message: text,
        idempotencyKey: newId(),
        ...(override ? { override } : {}),
        ...(handles.length > 0 ? { attachments: handles } : {}),
      };
      const sent = await inSession(() => client.call('chat.send', params, { timeoutMs: callMs }));
      attached = attached.filter(({ handle }) => !handles.includes(handle));
      if (sent.sessionKey !== sessionKey) await moveTo(sent.sessionKey);
      return { runId: sent.runId, status: sent.status, ...(sent.reply === undefined ? {} : { reply: sent.reply }) };
    },
    async command(text) {
      follower.own(text);
      // As a message, so that every surface sees it; who may only look can still give the commands that look.
      const params = { sessionKey, message: text, idempotencyKey: newId() };
      const answer = await inSession(() => client.call('chat.send', params, { timeoutMs: SLOW_MS })).catch((error: unknown) => {
        if ((error as { code?: unknown }).code !== 'SCOPE') throw error;
        return client.call('commands.invoke', { sessionKey, text, idempotencyKey: newId() }, { timeoutMs: SLOW_MS });
      });
      if (answer.sessionKey !== sessionKey) await moveTo(answer.sessionKey);
      return answer.reply ?? '';
    },
    commands: async () => (await client.call('commands.list', {}, { timeoutMs: callMs })).commands,
    complete: async (text) => (await client.call('commands.complete', { sessionKey, text }, { timeoutMs: COMPLETE_MS })).completions,
    async attach(file) {
      await checkFiles([file], '/attach');
      if (attached.length >= limits.messageAttachments.value)
        throw usageError(`A message carries ${limits.messageAttachments.value} files at most; /detach leaves those that wait`);
      const { handle, name, bytes: size } = await uploadFile(client, file);
      attached = [...attached, { handle, name }];
      return `${name} (${bytes(size)}) goes with the next message`;
    },
    detach() {
      const count = attached.length;
      attached = [];
      return count;
    },
    get attached() {
      return attached.map(({ name }) => name);
    },
    abort: async () => (await client.call('chat.abort', { sessionKey }, { timeoutMs: callMs })).aborted,
    async answer(id, decision) {
      await client.call('approvals.resolve', { id, decision, idempotencyKey: newId() }, { timeoutMs: callMs });
    },
    ended: (runId, signal) => waitForEnd(client, runId, signal),
  };
}

/** Resolves when the run has ended, however often the gateway is restarted meanwhile. */
export async function waitForEnd(client: Client, runId: string, signal?: AbortSignal): Promise<Result<'agent.wait'>> {
  for (;;) {
    const options = { timeoutMs: WAIT_MS + PATIENCE_MS, ...(signal ? { signal } : {}) };
    const result = await client.call('agent.wait', { runId, timeoutMs: WAIT_MS }, options);
    if (result.run.state === 'ended') return result;
  }
}

/** Says once that the connection is gone, and once that it is back. */
export function connectionNotes(show: Pick<Show, 'note' | 'problem'>, onLost: () => void): (state: ClientState) => void {
  let lost = false;
  return (state) => {
    if (state.kind === 'waiting' && !lost) {
      lost = true;
      onLost();
      show.problem(`The connection to the gateway is gone: ${state.error.message}; trying again`);
    }
    if (state.kind === 'connected' && lost) {
      lost = false;
      show.note('Connected again');
    }
  };
}
