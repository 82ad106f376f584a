// The sessions as a list: what needs the person first, then what is pinned, then by day. Search asks the gateway.
import { type ReactNode, useEffect, useMemo, useState } from 'react';
import type { Session } from '@tenon/protocol';
import { useApp, usePage } from '../hooks/page-context.ts';
import { useNow } from '../hooks/use-browser.ts';
import { Icon } from '../icons.tsx';
import { Button, IconButton, Kbd } from '../parts/button.tsx';
import { Failed, Skeleton } from '../parts/states.tsx';
import { pendingApprovals } from '../state/app-state.ts';
import { sessionOrder } from '../state/changes.ts';
import { formatRoute } from '../state/route.ts';
import { groupSessions, listTime, sessionStatus, sessionTitle } from '../state/session-words.ts';
import { newSession } from './new-session.ts';

const SEARCH_AFTER_MS = 200;

export function SessionList({ current, onPicked }: { readonly current: string | undefined; readonly onPicked: () => void }): ReactNode {
  return (
    <div className="session-list">
      <div className="session-list-head">
        <h2>Sessions</h2>
        <IconButton
          framed
          icon="plus"
          label="New session"
          onClick={() => {
            onPicked();
            newSession();
          }}
        />
      </div>
      <SessionSearch />
      <nav className="session-list-body" aria-label="Sessions">
        <SessionRows current={current} onPicked={onPicked} />
      </nav>
    </div>
  );
}

export function SessionSearch(): ReactNode {
  const { sessions } = usePage();
  const [text, setText] = useState(() => '');
  const isEmpty = useApp((state) => state.sessions.byKey.size === 0);
  useEffect(() => {
    const timer = setTimeout(() => void sessions.search(text), text === '' ? 0 : SEARCH_AFTER_MS);
    return () => clearTimeout(timer);
  }, [text, sessions]);
  useEffect(() => () => void sessions.search(''), [sessions]);
  if (isEmpty && text === '') return null;
  return (
    <div className="search-field">
      <Icon name="search" />
      <input
        type="search"
        data-search=""
        placeholder="Search sessions"
        aria-label="Search sessions"
        value={text}
        maxLength={256}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape' && text !== '') {
            event.preventDefault();
            setText('');
          }
        }}
      />
      <Kbd>/</Kbd>
    </div>
  );
}

interface RowsProps {
  readonly current: string | undefined;
  readonly onPicked?: () => void;
  /** Beside each row. */
  readonly actions?: ((session: Session) => ReactNode) | undefined;
}

export function SessionRows({ current, onPicked, actions }: RowsProps): ReactNode {
  const page = usePage();
  const sessions = useApp((state) => state.sessions);
  const approvals = useApp((state) => state.approvals);
  const required = useApp((state) => state.pluginUi.required);
  const now = useNow(true, 30_000);
  const waiting = useMemo(
    () => new Set([...pendingApprovals(approvals), ...required].map(({ sessionKey }) => sessionKey)),
    [approvals, required],
  );
  const groups = useMemo(() => groupSessions(sessionOrder(sessions), now), [sessions, now]);
  const row = (session: Session) => (
    <SessionRow
      key={session.key}
      session={session}
      isCurrent={session.key === current}
      waits={waiting.has(session.key)}
      {...{ now, onPicked, actions }}
    />
  );

  const { search, loaded } = sessions;
  if (search) {
    if (search.results.kind === 'loading') return <Skeleton label="Searching" />;
    if (search.results.kind === 'failed') return <Failed title="The search failed" error={search.results.error} />;
    const found = search.results.value;
    return (
      <>
        <p className="list-group" role="status">
          {found.length === 0 ? `Nothing found for “${search.text.trim()}”` : `${found.length} found`}
        </p>
        <ul>{found.map(row)}</ul>
      </>
    );
  }
  if (loaded.kind === 'loading') return <Skeleton lines={6} label="Loading sessions" />;
  if (loaded.kind === 'failed' && sessions.byKey.size === 0) {
    return <Failed title="The sessions could not be read" error={loaded.error} onRetry={() => void page.link().readSessions()} />;
  }
  if (groups.length === 0) {
    return <p className="session-list-empty">Your sessions appear here. The first one starts with your first message.</p>;
  }
  return (
    <>
      {groups.map((group) => (
        <section key={group.title} aria-label={group.title}>
          <p className="list-group">{group.title}</p>
          <ul>{group.sessions.map(row)}</ul>
        </section>
      ))}
      {sessions.nextCursor !== undefined && (
        <Button small look="quiet" className="list-more" onClick={() => void page.sessions.loadMore()}>
          {sessions.loadingMore ? 'Loading' : 'Show older sessions'}
        </Button>
      )}
    </>
  );
}

interface RowProps extends Pick<RowsProps, 'actions'> {
  readonly session: Session;
  readonly isCurrent: boolean;
  readonly waits: boolean;
  readonly now: number;
  readonly onPicked: (() => void) | undefined;
}

export function SessionRow({ session, isCurrent, waits, now, onPicked, actions }: RowProps): ReactNode {
  const end = useApp((state) => state.ends.get(session.key));
  const status = sessionStatus(session, waits, end);
  const isNow = status.tone === 'accent' || status.tone === 'warn';
  return (
    <li className="session-row-place">
      <a
        className="session-row"
        data-row=""
        href={formatRoute({ view: 'chat', sessionKey: session.key })}
        aria-current={isCurrent ? 'page' : undefined}
        onClick={onPicked}
      >
        <span className="session-row-title">
          {session.pinned && <Icon name="pin" size={14} className="session-pin" />}
          <span>{sessionTitle(session)}</span>
        </span>
        <span className="session-row-line">
          <span className="session-row-status">
            <Icon name={status.icon} size={14} className={`tone-${status.tone}${status.turning ? ' turning' : ''}`} />
            <span>{status.words}</span>
          </span>
          <span className="session-row-time">{isNow && now - session.updatedAt < 60_000 ? 'now' : listTime(session.updatedAt, now)}</span>
        </span>
      </a>
      {actions?.(session)}
    </li>
  );
}
