// The frame around the views: navigation, the list of sessions beside the chat, keyboard, palette, help, messages. It
// moves focus to the title of a view when the view changes, and keeps the count of what waits in the title of the page.
import { lazy, type ReactNode, type RefObject, Suspense, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { type Approval, type EventPayload, visible } from '@tenon/protocol';
import { useApp, usePage } from '../hooks/page-context.ts';
import { useMedia, usePreferences, widths } from '../hooks/use-browser.ts';
import { usePeopleUi } from '../hooks/use-people-ui.ts';
import { navigate, useRoute, wasReplaced } from '../hooks/use-route.ts';
import { Skeleton } from '../parts/states.tsx';
import { Toasts } from '../parts/toasts.tsx';
import { pendingApprovals } from '../state/app-state.ts';
import { troubledPlugins } from '../state/plugin-trouble.ts';
import type { Route } from '../state/route.ts';
import { createShortcuts, type Shortcut } from '../state/shortcuts.ts';
import { sessionTitle } from '../state/session-words.ts';
import { ChatView } from '../views/chat-view.tsx';
import { Banner } from './banner.tsx';
import { newSession } from './new-session.ts';
import { BottomNavigation, SideNavigation } from './navigation.tsx';
import { SessionList } from './session-list.tsx';

const ApprovalsView = lazy(() => import('../views/approvals-view.tsx').then((module) => ({ default: module.ApprovalsView })));
const OverviewView = lazy(() => import('../views/overview-view.tsx').then((module) => ({ default: module.OverviewView })));
const SessionsView = lazy(() => import('../views/sessions-view.tsx').then((module) => ({ default: module.SessionsView })));
const PluginsView = lazy(() => import('../plugins/plugins-view.tsx').then((module) => ({ default: module.PluginsView })));
const SchedulesView = lazy(() => import('../schedules/schedules-view.tsx').then((module) => ({ default: module.SchedulesView })));
const InspectorView = lazy(() => import('../plugins/inspector-view.tsx').then((module) => ({ default: module.InspectorView })));
const SettingsView = lazy(() => import('../views/settings-view.tsx').then((module) => ({ default: module.SettingsView })));
const MoreView = lazy(() => import('../views/more-view.tsx').then((module) => ({ default: module.MoreView })));
const Palette = lazy(() => import('./palette.tsx').then((module) => ({ default: module.Palette })));
const Help = lazy(() => import('./help.tsx').then((module) => ({ default: module.Help })));

export function Shell({ onSignOut }: { readonly onSignOut: () => void }): ReactNode {
  const route = useRoute();
  const isPhone = useMedia(widths.phone);
  const isNarrow = useMedia(widths.narrow);
  const [overlay, setOverlay] = useState<'palette' | 'help' | undefined>();
  const [drawer, setDrawer] = useState(false);
  const approvals = useApp((state) => state.approvals);
  const pending = useMemo(() => pendingApprovals(approvals), [approvals]);
  const required = useApp((state) => state.pluginUi.required);
  const isAsked = useApp((state) => state.people.questions.length > 0);
  const People = usePeopleUi(isAsked);
  const troubled = useApp((state) => troubledPlugins(state.plugins));
  const main = useRef<HTMLElement>(null);
  const lastKey = useRef<string | undefined>(undefined);
  if (route.view === 'chat' && route.sessionKey !== undefined) lastKey.current = route.sessionKey;
  const chatRoute: Route = { view: 'chat', sessionKey: lastKey.current };

  const isEntering = useEntry(route);
  useTitle(route, pending.length + required.length);
  useFocusOnTitle(route, main);
  useApprovalToasts(route);
  useNeedToasts(route);
  useKeyboard(
    useCallback((shortcut: Shortcut) => {
      if (shortcut === 'palette' || shortcut === 'help') setOverlay(shortcut);
      else if (shortcut === 'new-session') newSession();
      else if (shortcut === 'next' || shortcut === 'previous') moveInList(shortcut === 'next' ? 1 : -1);
      else if (shortcut === 'search') focusSearch();
      else if (shortcut === 'compose') toComposer(lastKey.current);
      else if (shortcut === 'go-chat') navigate({ view: 'chat', sessionKey: lastKey.current });
      else navigate(goTo(shortcut));
    }, []),
  );

  const rail = useRef<HTMLElement>(null);
  const listOpen = route.view === 'chat' && isNarrow && !isPhone && drawer;
  useEffect(() => {
    if (!listOpen) return;
    const before = document.activeElement;
    rail.current?.querySelector<HTMLElement>('input, a, button')?.focus();
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true });
    };
  }, [listOpen]);

  const withList = route.view === 'chat' && !isNarrow;
  return (
    <div className="shell" data-view={route.view} data-phone={isPhone}>
      {/* A button, because the address after the # is the view. */}
      <button type="button" className="skip-link" onClick={() => main.current?.focus()}>
        Skip to the content
      </button>
      {route.view === 'chat' && (
        <button type="button" className="skip-link" onClick={focusComposer}>
          Skip to the message box
        </button>
      )}
      {!isPhone && (
        <SideNavigation
          iconsOnly={isNarrow || route.view === 'chat'}
          current={route.view}
          pending={pending.length}
          troubled={troubled}
          chatRoute={chatRoute}
          onPalette={() => setOverlay('palette')}
        />
      )}
      {(withList || listOpen) && (
        <aside
          ref={rail}
          className={`rail${listOpen ? ' rail-drawer' : ''}`}
          aria-label="Sessions"
          onKeyDown={(event) => {
            if (listOpen && event.key === 'Escape' && !event.defaultPrevented) setDrawer(false);
          }}
        >
          <SessionList current={route.view === 'chat' ? route.sessionKey : undefined} onPicked={() => setDrawer(false)} />
        </aside>
      )}
      {listOpen && (
        <button type="button" className="drawer-scrim" aria-label="Close the list of sessions" onClick={() => setDrawer(false)} />
      )}
      <main id="main" ref={main} className="main" tabIndex={-1}>
        <Banner />
        <Toasts />
        <Suspense fallback={<ViewLoading />}>
          {isEntering && <ViewLoading />}
          {route.view === 'chat' && !isEntering && (
            <ChatView
              key={route.sessionKey ?? 'new'}
              sessionKey={route.sessionKey}
              sessionsIcon={isPhone ? 'chevron-left' : 'sessions'}
              onShowSessions={isPhone ? () => navigate({ view: 'sessions' }) : isNarrow ? () => setDrawer(!drawer) : undefined}
            />
          )}
          {route.view === 'approvals' && <ApprovalsView id={route.id} />}
          {route.view === 'overview' && <OverviewView />}
          {route.view === 'sessions' && <SessionsView />}
          {route.view === 'plugins' && <PluginsView id={route.id} />}
          {route.view === 'schedules' && <SchedulesView id={route.id} sessionKey={route.sessionKey} />}
          {route.view === 'inspector' && <InspectorView sessionKey={route.sessionKey} plugin={route.plugin} />}
          {route.view === 'settings' && <SettingsView onSignOut={onSignOut} />}
          {route.view === 'more' && (
            <MoreView onHelp={() => setOverlay('help')} onPalette={() => setOverlay('palette')} onSignOut={onSignOut} />
          )}
        </Suspense>
      </main>
      {isPhone && <BottomNavigation current={route.view} pending={pending.length} troubled={troubled} chatRoute={chatRoute} />}
      {People && <People.Questions sessionKey={route.view === 'chat' ? route.sessionKey : undefined} />}
      <Suspense fallback={null}>
        {overlay === 'palette' && <Palette onClose={() => setOverlay(undefined)} onHelp={() => setOverlay('help')} onSignOut={onSignOut} />}
        {overlay === 'help' && <Help onClose={() => setOverlay(undefined)} />}
      </Suspense>
    </div>
  );
}

function ViewLoading(): ReactNode {
  return (
    <div className="view-loading">
      <Skeleton label="Loading the view" />
    </div>
  );
}

/**
 * The address without a session opens the latest one, so that people are where they left off; a link that names one stays.
 * True until it is known which: an empty conversation that takes the first keys and goes away is worse than none.
 */
function useEntry(route: Route): boolean {
  const { store } = usePage();
  const [done, setDone] = useState(() => route.view !== 'chat' || route.sessionKey !== undefined || location.hash.startsWith('#/'));
  const isReady = useApp((state) => state.sessions.loaded.kind !== 'loading');
  useEffect(() => {
    if (done || !isReady) return;
    setDone(true);
    const latest = [...store.get().sessions.byKey.values()]
      .filter((session) => !session.archived)
      .sort((a, b) => b.updatedAt - a.updatedAt)[0];
    if (latest && location.hash === '') navigate({ view: 'chat', sessionKey: latest.key }, 'replace');
  }, [done, isReady, store]);
  return !done && location.hash === '';
}

const viewTitles = {
  chat: 'Chat',
  sessions: 'Sessions',
  approvals: 'Approvals',
  plugins: 'Plugins',
  schedules: 'Schedules',
  inspector: 'Inspector',
  overview: 'Overview',
  settings: 'Settings',
  more: 'More',
} as const;

function useTitle(route: Route, pending: number): void {
  const key = route.view === 'chat' ? route.sessionKey : undefined;
  const session = useApp((state) => (key === undefined ? undefined : state.sessions.byKey.get(key)));
  const shown = useApp((state) =>
    key === undefined ? undefined : state.people.shown.findLast((each) => each.sessionKey === key && each.title),
  );
  const own = shown?.title === undefined ? undefined : `${visible(shown.title)} (${shown.extension})`;
  const name = route.view === 'chat' ? (own ?? sessionTitle(session)) : viewTitles[route.view];
  useEffect(() => {
    document.title = `${pending > 0 ? `(${pending}) ` : ''}${name} · Tenon`;
  }, [name, pending]);
}

const MOST_FRAMES_FOR_A_VIEW = 300;
/** Who sends the first message of a session gets the cursor back within these. */
const FRAMES_OF_A_SENDER = 6;

function useFocusOnTitle(route: Route, main: RefObject<HTMLElement | null>): void {
  const place = route.view === 'chat' ? `chat ${route.sessionKey ?? ''}` : route.view === 'plugins' ? `plugins ${route.id}` : route.view;
  const before = useRef<string | undefined>(undefined);
  useEffect(() => {
    if (before.current === place) return;
    // At first nobody has moved: only a session that the address names says where the person wants to be.
    const isFirst = before.current === undefined;
    before.current = place;
    if (isFirst && !place.startsWith('chat agent:')) return;
    const isOwn = wasReplaced();
    let frame = 0;
    let framesOfOthers = isOwn ? FRAMES_OF_A_SENDER : 0;
    let triesLeft = MOST_FRAMES_FOR_A_VIEW;
    // The view may still be loading, and the one before it is hidden until then: the focus waits for a title that is seen.
    const isSeen = (element: Element | null | undefined) => element != null && element.getClientRects().length > 0;
    const look = (): void => {
      const title = main.current?.querySelector<HTMLElement>('h1');
      if (isSeen(document.activeElement?.closest('.composer'))) return;
      // The page itself moved on: the focus is only picked up where it has fallen to nothing.
      if (isOwn && document.activeElement !== document.body) return;
      if (framesOfOthers-- > 0) {
        frame = requestAnimationFrame(look);
        return;
      }
      if (title && isSeen(title) && !document.querySelector('dialog[open]')) title.focus({ preventScroll: true });
      else if (--triesLeft > 0) frame = requestAnimationFrame(look);
    };
    frame = requestAnimationFrame(look);
    return () => cancelAnimationFrame(frame);
  }, [place, main]);
}

/** A question that comes up in a session that is not open is said wherever the person is, until it is answered or seen. */
function useApprovalToasts(route: Route): void {
  const { store, toasts } = usePage();
  const approvals = useApp((state) => state.approvals);
  const known = useRef<Set<string> | undefined>(undefined);
  const shown = route.view === 'approvals' ? '*' : route.view === 'chat' ? route.sessionKey : undefined;
  useEffect(() => {
    if (approvals.loaded.kind !== 'ready') return;
    const pending = pendingApprovals(approvals);
    const fresh = known.current ? pending.filter((approval) => !known.current?.has(approval.id)) : [];
    known.current = new Set(approvals.byId.keys());
    const isSeen = ({ sessionKey }: Approval) => shown === '*' || shown === sessionKey;
    const unseen = new Set(pending.filter((approval) => !isSeen(approval)).map((approval) => toastOf(approval.id)));
    toasts.closeAbout((about) => about.startsWith(APPROVAL_TOAST) && !unseen.has(about));
    for (const approval of fresh) {
      if (isSeen(approval)) continue;
      toasts.say({
        tone: 'info',
        title: approval.title,
        detail: `${approval.agentId}, ${sessionTitle(store.get().sessions.byKey.get(approval.sessionKey))}`,
        action: { label: 'Open', run: () => navigate({ view: 'approvals', id: approval.id }) },
        about: toastOf(approval.id),
        until: approval.expiresAt,
      });
    }
  }, [approvals, shown, toasts, store]);
}

/** The same for what plugins need a person for. */
function useNeedToasts(route: Route): void {
  const { store, toasts } = usePage();
  const required = useApp((state) => state.pluginUi.required);
  const known = useRef(required);
  const shown = route.view === 'chat' ? route.sessionKey : undefined;
  useEffect(() => {
    const fresh = required.filter((need) => !known.current.includes(need) && need.sessionKey !== shown);
    known.current = required;
    const unseen = new Set(required.filter((need) => need.sessionKey !== shown).map(toastOfNeed));
    toasts.closeAbout((about) => about.startsWith(NEED_TOAST) && !unseen.has(about));
    for (const need of fresh) {
      toasts.say({
        tone: 'info',
        title: visible(`${need.pluginId}: ${need.title}`),
        detail: sessionTitle(store.get().sessions.byKey.get(need.sessionKey)),
        action: { label: 'Open', run: () => navigate({ view: 'chat', sessionKey: need.sessionKey }) },
        about: toastOfNeed(need),
      });
    }
  }, [required, shown, toasts, store]);
}

const NEED_TOAST = 'needed:';
const toastOfNeed = ({ id }: EventPayload<'action.required'>) => NEED_TOAST + id;
const APPROVAL_TOAST = 'approval:';
const toastOf = (id: string) => `${APPROVAL_TOAST}${id}`;

function useKeyboard(onShortcut: (shortcut: Shortcut) => void): void {
  const { preferences } = usePreferences();
  const reader = useRef(createShortcuts());
  useEffect(() => {
    function onKeyDown(event: KeyboardEvent): void {
      if (event.defaultPrevented || document.querySelector('dialog[open]')) return;
      const target = event.target instanceof Element ? event.target : undefined;
      const typing = target?.closest('input, textarea, select, [contenteditable], [role="menu"]') != null;
      const shortcut = reader.current(event, { typing, singleKeys: preferences.singleKeys, now: performance.now() });
      if (!shortcut) return;
      event.preventDefault();
      onShortcut(shortcut);
    }
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, [onShortcut, preferences.singleKeys]);
}

function goTo(
  shortcut: Exclude<Shortcut, 'palette' | 'help' | 'search' | 'compose' | 'new-session' | 'next' | 'previous' | 'go-chat'>,
): Route {
  return { view: shortcut.slice('go-'.length) } as Route;
}

function moveInList(step: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>('[data-row]')].filter((row) => row.offsetParent !== null);
  const at = rows.findIndex((row) => row === document.activeElement || row.contains(document.activeElement));
  // From where the focus is, else from what is open, else from the top.
  const from = at >= 0 ? at : rows.findIndex((row) => row.getAttribute('aria-current') === 'page');
  rows[Math.min(rows.length - 1, Math.max(0, from < 0 ? 0 : from + step))]?.focus();
}

function focusComposer(): boolean {
  // Without a text field it is closed, and says why.
  const place = document.querySelector<HTMLElement>('.composer textarea') ?? document.querySelector<HTMLElement>('.composer-closed');
  place?.focus();
  return place !== null;
}

function toComposer(lastKey: string | undefined): void {
  if (focusComposer()) return;
  navigate({ view: 'chat', sessionKey: lastKey });
  let triesLeft = MOST_FRAMES_FOR_A_VIEW;
  const look = (): void => {
    if (!focusComposer() && --triesLeft > 0) requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}

function focusSearch(): void {
  const input = document.querySelector<HTMLInputElement>('[data-search]');
  if (input) input.focus();
  else {
    navigate({ view: 'sessions' });
    setTimeout(() => document.querySelector<HTMLInputElement>('[data-search]')?.focus(), 50);
  }
}
