// A conversation: its bar, the transcript, what waits for a decision, and the composer. The parts are drawn by `chat/`;
// this file gives them the state and turns what they say back into actions.
import { type ReactNode, useEffect, useEffectEvent, useMemo, useRef, useState } from 'react';
import { type ClosedComposer, parseCommand, type Session, visible } from '@tenon/protocol';
import { Composer } from '../chat/composer.tsx';
import { StatusLine } from '../chat/status-line.tsx';
import { Transcript } from '../chat/transcript.tsx';
import type { NoticeItem, PluginItem, UserItem } from '../chat/types.ts';
import { useApp, usePage } from '../hooks/page-context.ts';
import { useFiles } from '../hooks/use-files.ts';
import { usePeopleUi } from '../hooks/use-people-ui.ts';
import { usePluginUi } from '../hooks/use-plugin-ui.ts';
import { useMedia, useNow, usePreferences, widths } from '../hooks/use-browser.ts';
import { navigate } from '../hooks/use-route.ts';
import type { IconName } from '../icons.tsx';
import { Confirm } from '../parts/dialog.tsx';
import { Failed, Skeleton } from '../parts/states.tsx';
import { may } from '../state/app-state.ts';
import { named } from '../state/approval-words.ts';
import { isBusy } from '../state/chat-state.ts';
import { closedByPlugin, closedReason, runPill, usageWords } from '../state/chat-words.ts';
import { createDrafts } from '../state/drafts.ts';
import { toolOwners } from '../state/plugin-trouble.ts';
import { agentOf } from '../state/session-words.ts';
import { transcriptItems } from '../state/transcript-items.ts';
import { ChatBar } from './chat-bar.tsx';
import { FirstRun } from './first-run.tsx';

const drafts = createDrafts({
  getItem: (key) => sessionStorage.getItem(key),
  setItem: (key, value) => sessionStorage.setItem(key, value),
});

type Choices = Partial<Pick<Session, 'model' | 'thinking' | 'permissions'>>;

interface ChatViewProps {
  /** Without one: a session that is made with its first message. */
  readonly sessionKey: string | undefined;
  readonly onShowSessions: (() => void) | undefined;
  readonly sessionsIcon: IconName;
}

export function ChatView({ sessionKey, onShowSessions, sessionsIcon }: ChatViewProps): ReactNode {
  const page = usePage();
  const chat = useApp((state) => (sessionKey === undefined ? undefined : state.chats.get(sessionKey)));
  const session = useApp((state) => (sessionKey === undefined ? undefined : state.sessions.byKey.get(sessionKey)));
  const approvals = useApp((state) => state.approvals);
  const usage = useApp((state) => (sessionKey === undefined ? undefined : state.usage.get(sessionKey)));
  const mayDecide = useApp((state) => may(state, 'operator.approvals'));
  const { preferences } = usePreferences();
  const isPhone = useMedia(widths.phone);
  const agent = useAgent(sessionKey);
  const principal = useApp((state) => state.identity?.principal);
  const names = useApp((state) => state.names);
  const own = useMemo(
    () => [...approvals.byId.values()].filter((each) => each.sessionKey === sessionKey).map((each) => named(each, principal, names)),
    [approvals, sessionKey, principal, names],
  );
  const waits = own.some((approval) => approval.state === 'pending');
  const busy = chat !== undefined && isBusy(chat);
  const isOffline = useApp((state) => state.connection.kind === 'offline');
  const now = useNow(true, busy || waits || isOffline ? 1_000 : 20_000);

  // Also when it was deleted elsewhere while it is open: it is an empty one then.
  const isKnown = chat !== undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: opened again when it was forgotten
  useEffect(() => {
    if (sessionKey !== undefined) page.chat.open(sessionKey);
  }, [sessionKey, page, isKnown]);

  const listed = useApp((state) => state.plugins);
  const owners = useMemo(() => toolOwners(listed), [listed]);
  const said = useMemo(
    () => (chat ? transcriptItems({ chat, approvals: own, deciding: approvals.deciding, agent: agent.name, owners }) : []),
    [chat, own, approvals.deciding, agent.name, owners],
  );
  const plugins = usePlugins(sessionKey);
  const items = useMemo(() => (plugins.cards.length === 0 ? said : [...said, ...plugins.cards]), [said, plugins.cards]);
  const people = usePeople(sessionKey);
  const composer = useComposer(sessionKey, agent);
  const { closed, Ui } = plugins;
  useEscapeTwice(busy && sessionKey !== undefined, () => void page.chat.stop(sessionKey ?? ''));

  function retry(item: UserItem | NoticeItem): void {
    if (sessionKey === undefined) return;
    if (item.kind === 'user') page.chat.resend(sessionKey, item.key.replace(/^user:/, ''));
    else void sendLastAgain(sessionKey);
  }

  // What failed is left behind on its own branch, and the same message is told once more.
  async function sendLastAgain(key: string): Promise<void> {
    const last = items.findLast((item) => item.kind === 'user');
    if (last?.kind !== 'user') return;
    const text = await page.chat.rewind(key, last.entryId);
    if (text !== undefined) await page.chat.send(key, { text: text || last.text, images: last.images ?? [], files: last.files });
  }

  return (
    <div className="chat-view">
      <ChatBar
        session={session}
        sessionKey={sessionKey}
        subtitle={[agent.name, composer.modelName].filter(Boolean).join(' · ')}
        pill={runPill(chat, waits || closed?.mode === 'disabled' || plugins.isNeeded, now)}
        onShowSessions={onShowSessions}
        sessionsIcon={sessionsIcon}
        panel={plugins.panel}
      />
      <h2 className="visually-hidden">Conversation</h2>
      {sessionKey === undefined ? (
        <FirstRun agent={agent.name} onExample={(text) => void composer.send(text)} />
      ) : !chat || (chat.loaded.kind === 'loading' && items.length === 0) ? (
        <div className="chat-loading">
          <Skeleton lines={8} label="Loading the conversation" />
        </div>
      ) : chat.loaded.kind === 'failed' ? (
        <Failed title="The conversation could not be read" error={chat.loaded.error} onRetry={() => page.chat.open(sessionKey)} />
      ) : items.length === 0 ? (
        <FirstRun agent={agent.name} onExample={(text) => void composer.send(text)} />
      ) : (
        <Transcript
          items={items}
          now={now}
          label={`Conversation with ${agent.name}`}
          hasOlder={chat.more !== undefined}
          loadingOlder={chat.loadingOlder}
          onLoadOlder={() => void page.chat.loadOlder(sessionKey)}
          onDecide={(approval, decision) => void page.chat.decide(approval, decision)}
          decideReason={isOffline ? 'Not connected: decisions wait' : mayDecide ? undefined : 'Deciding needs the scope operator.approvals'}
          onFork={(entryId) =>
            void page.sessions.fork(sessionKey, entryId).then((key) => {
              if (key !== undefined) navigate({ view: 'chat', sessionKey: key });
            })
          }
          onRewind={(entryId) => void composer.editFrom(entryId)}
          onRetry={retry}
          onUnqueue={(item) => void page.chat.unqueue(sessionKey, item.key.replace(/^user:/, ''))}
          quiet={preferences.quiet}
          shortcuts={preferences.singleKeys}
        />
      )}
      {Ui && plugins.panel?.isOpen && <Ui.SessionPanel sessionKey={sessionKey} onClose={plugins.panel.onToggle} />}
      <div className="chat-foot">
        {people.Ui && <people.Ui.Widgets shown={people.shown} />}
        {Ui && <Ui.InputBars sessionKey={sessionKey} />}
        <Composer
          {...composer.props}
          chips={Ui && <Ui.Chips sessionKey={sessionKey} />}
          hint={closed && (closed.mode === 'confirm' || composer.isCommand) ? `${closed.reason} (${closed.pluginId})` : undefined}
          busy={busy}
          stopping={chat?.stopping}
          queuedCount={[...(chat?.runs.values() ?? [])].filter((run) => run.state === 'queued').length}
          waitingForApproval={waits}
          placeholder={
            !waits ? `Message ${agent.name}` : isPhone ? 'Sent after your decision' : `Message ${agent.name}, sent after your decision`
          }
          disabledReason={
            closedReason(page.store.get(), now, () => page.link().retry()) ??
            (closed?.mode === 'disabled' && !composer.isCommand
              ? closedByPlugin(closed, () => showWhatCloses(closed), composer.beginCommand)
              : undefined)
          }
          onStop={sessionKey === undefined ? undefined : () => void page.chat.stop(sessionKey)}
          onEditLast={sessionKey === undefined || busy ? undefined : () => void composer.editFrom(undefined)}
        />
        <StatusLine usage={usageWords(usage)}>
          {(people.hasStatus || plugins.hasStatus) && (
            <>
              {people.Ui && <people.Ui.Statuses shown={people.shown} />}
              {Ui && plugins.hasStatus && <Ui.StatusParts sessionKey={sessionKey} />}
            </>
          )}
        </StatusLine>
        {composer.asked && closed && (
          <Confirm
            title="Send it all the same?"
            action="Send it"
            onConfirm={() => void composer.send(undefined, true)}
            onClose={composer.leave}
          >
            <p>
              {visible(closed.reason)} <b>{closed.pluginId}</b> wants you to know this before the agent is told anything else.
            </p>
          </Confirm>
        )}
      </div>
    </div>
  );
}

/** What plugins show around the conversation. The parts that draw it come later. */
function usePlugins(sessionKey: string | undefined) {
  const shown = useApp((state) => state.pluginUi.byKey.get(sessionKey ?? ''));
  const isNeeded = useApp((state) => state.pluginUi.required.some((each) => each.sessionKey === sessionKey));
  const { preferences, set } = usePreferences();
  const isWide = useMedia(widths.wide);
  const [isDrawn, setDrawn] = useState(false);
  const active = shown?.active;
  const Ui = usePluginUi(isNeeded || (active?.length ?? 0) > 0);
  const cards = useMemo<PluginItem[]>(() => {
    if (!Ui) return [];
    return (active ?? [])
      .filter(({ surface }) => surface === 'chat-message')
      .map((descriptor) => ({
        kind: 'plugin',
        key: `plugin:${descriptor.pluginId}/${descriptor.id}`,
        from: descriptor.pluginId,
        label: descriptor.label,
        draw: () => <Ui.PluginCard descriptor={descriptor} sessionKey={sessionKey} />,
      }));
  }, [Ui, active, sessionKey]);
  // Beside the conversation it stays as it was chosen; where it would lie over it, it is opened each time.
  const isOpen = isWide ? preferences.panel : isDrawn;
  const toggle = () => (isWide ? set({ panel: !isOpen }) : setDrawn(!isOpen));
  const has = (surface: string) => active?.some((each) => each.surface === surface) ?? false;
  return {
    Ui,
    cards,
    closed: shown?.closed,
    isNeeded,
    hasStatus: has('status'),
    panel: has('session') ? { isOpen, onToggle: toggle } : undefined,
  };
}

/** What extensions show in this session. */
function usePeople(sessionKey: string | undefined) {
  const all = useApp((state) => state.people.shown);
  const shown = useMemo(() => all.filter((each) => each.sessionKey === sessionKey), [all, sessionKey]);
  return { shown, hasStatus: shown.some(({ status }) => status !== undefined), Ui: usePeopleUi(shown.length > 0) };
}

function showWhatCloses({ pluginId, descriptorId }: ClosedComposer): void {
  const place = document.querySelector<HTMLElement>(`[data-descriptor="${CSS.escape(`${pluginId}/${descriptorId}`)}"]`);
  place?.scrollIntoView({ block: 'nearest' });
  place?.focus({ preventScroll: true });
}

/** Stops the turn from anywhere in the view; inside the composer, the composer sees to it. */
function useEscapeTwice(active: boolean, onStop: () => void): void {
  const stop = useEffectEvent(onStop);
  useEffect(() => {
    if (!active) return;
    let lastAt = Number.NEGATIVE_INFINITY;
    function onKeyDown(event: KeyboardEvent): void {
      const isElsewhere = event.target instanceof Element && event.target.closest('.composer, dialog, [role="menu"], input');
      if (event.key !== 'Escape' || event.defaultPrevented || event.repeat || isElsewhere || document.querySelector('dialog[open]')) return;
      if (event.timeStamp - lastAt < ESCAPE_TWICE_MS) stop();
      lastAt = event.timeStamp;
    }
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, [active]);
}

const ESCAPE_TWICE_MS = 800;

interface Agent {
  readonly id: string;
  readonly name: string;
  readonly model: string | undefined;
  readonly thinking: Session['thinking'] | undefined;
  readonly permissions: Session['permissions'] | undefined;
}

function useAgent(sessionKey: string | undefined): Agent {
  const agents = useApp((state) => state.agents);
  return useMemo(() => {
    const list = agents.kind === 'ready' ? agents.value : [];
    const id = sessionKey === undefined ? list.find((each) => each.isDefault)?.id : agentOf(sessionKey);
    const found = list.find((each) => each.id === id);
    return {
      id: id ?? agentOf(undefined),
      name: found?.name || id || agentOf(undefined),
      model: found?.model,
      thinking: found?.thinking,
      permissions: found?.permissions,
    };
  }, [agents, sessionKey]);
}

/** The composer's own state: text, images, and what was chosen for a session that does not exist yet. */
function useComposer(sessionKey: string | undefined, agent: Agent) {
  const page = usePage();
  const place = sessionKey ?? 'new';
  const session = useApp((state) => (sessionKey === undefined ? undefined : state.sessions.byKey.get(sessionKey)));
  const models = useApp((state) => state.models);
  const commands = useApp((state) => state.commands);
  const [text, setText] = useState(() => drafts.get(place));
  const [choices, setChoices] = useState<Choices>({});
  /** A command that is typed while the composer is closed; what was typed before waits. */
  const [command, setCommand] = useState<string>();
  const [asked, setAsked] = useState(false);
  const sending = useRef(false);
  const files = useFiles(place);
  const closed = useApp((state) => state.pluginUi.byKey.get(place === 'new' ? '' : place)?.closed);
  const isCommand = command !== undefined && closed?.mode === 'disabled';

  function change(next: string): void {
    setText(next);
    drafts.set(place, next);
  }

  function sendCommand(): void {
    if (sessionKey === undefined || parseCommand(command ?? '') === undefined) return;
    setCommand(undefined);
    void page.chat.send(sessionKey, { text: command ?? '', images: [] }).then((key) => {
      if (key !== undefined && key !== sessionKey) navigate({ view: 'chat', sessionKey: key });
    });
  }

  async function send(given?: string, override = false): Promise<void> {
    if (isCommand && given === undefined) return sendCommand();
    const isTyped = given === undefined;
    if (((given ?? text).trim() === '' && !(isTyped && files.count > 0)) || sending.current) return;
    if (closed?.mode === 'confirm' && !override && given === undefined && parseCommand(text) === undefined) return setAsked(true);
    const draft = { text: given ?? text, images: [], files: isTyped ? files.take() : [] };
    sending.current = sessionKey === undefined;
    const from = location.hash;
    if (isTyped) change('');
    const key = await page.chat.send(sessionKey, draft, choices, override);
    sending.current = false;
    if (key === undefined) {
      // It was not made: the text comes back.
      change(draft.text);
      files.giveBack(draft.files);
    } else if (key !== sessionKey && location.hash === from) {
      // What was typed meanwhile belongs to the session that was being made.
      if (sessionKey === undefined) drafts.move(place, key);
      navigate({ view: 'chat', sessionKey: key }, sessionKey === undefined ? 'replace' : 'push');
      // The session has its address now; who typed its first message goes on typing.
      requestAnimationFrame(() => requestAnimationFrame(() => document.querySelector<HTMLElement>('.composer textarea')?.focus()));
    }
  }

  async function editFrom(entryId: string | undefined): Promise<void> {
    if (sessionKey === undefined) return;
    const taken = await page.chat.goBack(sessionKey, entryId, (said) => {
      // What was changed since then is the person's own.
      if (drafts.get(place) === said) change('');
    });
    if (taken === undefined) return;
    change(taken);
    document.querySelector<HTMLElement>('.composer textarea')?.focus();
  }

  function choose(fields: Choices): void {
    if (sessionKey === undefined) setChoices({ ...choices, ...fields });
    else void page.sessions.patch(sessionKey, fields);
  }

  const onComplete = useMemo(() => {
    if (sessionKey === undefined) return undefined;
    return async (typed: string) => (await page.link().call('commands.complete', { sessionKey, text: typed })).completions;
  }, [page, sessionKey]);
  const list = models.kind === 'ready' ? models.value : [];
  const chosen = sessionKey === undefined ? choices : (session ?? {});
  const modelId = chosen.model ?? agent.model ?? list.find((each) => each.isDefault)?.id;
  const model = list.find((each) => each.id === modelId);
  return {
    send,
    editFrom,
    isCommand,
    asked,
    leave: () => setAsked(false),
    beginCommand() {
      setCommand('/');
      requestAnimationFrame(() => {
        const field = document.querySelector<HTMLTextAreaElement>('.composer textarea');
        field?.focus();
        field?.setSelectionRange(1, 1);
      });
    },
    modelName: model?.id === 'demo' ? 'demo model' : (model?.id ?? modelId),
    props: {
      value: isCommand ? command : text,
      onChange: isCommand ? setCommand : change,
      onLeave: isCommand ? () => setCommand(undefined) : undefined,
      onSend: () => void send(),
      commands: commands.kind === 'ready' ? commands.value : [],
      onComplete,
      models: list,
      model: modelId,
      onModel: (id: string) => choose({ model: id }),
      thinking: chosen.thinking ?? agent.thinking ?? 'off',
      onThinking: (thinking: NonNullable<Session['thinking']>) => choose({ thinking }),
      permissions: chosen.permissions ?? agent.permissions ?? 'ask',
      onPermissions: (permissions: NonNullable<Session['permissions']>) => choose({ permissions }),
      ...(isCommand ? {} : files.props(model && !model.images ? model.id : undefined)),
      // On a phone the keyboard would cover what there is to read first.
      focusOnMount: sessionKey === undefined && !matchMedia('(pointer: coarse)').matches,
    },
  };
}
