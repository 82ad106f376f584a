// The bar of a conversation: what it is called, who answers, how it stands, and what can be done with it as a whole.
import type { ReactNode } from 'react';
import type { Session } from '@tenon/protocol';
import { useApp } from '../hooks/page-context.ts';
import type { IconName } from '../icons.tsx';
import { IconButton, Pill } from '../parts/button.tsx';
import { MenuButton } from '../parts/menu-button.tsx';
import type { RunPill } from '../state/chat-words.ts';
import { sessionTitle } from '../state/session-words.ts';
import { useSessionMenu } from './session-menu.tsx';

interface ChatBarProps {
  readonly session: Session | undefined;
  readonly sessionKey: string | undefined;
  readonly subtitle: string;
  readonly pill: RunPill | undefined;
  readonly onShowSessions: (() => void) | undefined;
  readonly sessionsIcon: IconName;
  /** The panel beside the conversation, where there is one. */
  readonly panel: { readonly isOpen: boolean; readonly onToggle: () => void } | undefined;
}

export function ChatBar({ session, sessionKey, subtitle, pill, onShowSessions, sessionsIcon, panel }: ChatBarProps): ReactNode {
  const { entries, dialog, exportSession } = useSessionMenu(session, 'chat');
  const isReady = useApp((state) => state.connection.kind === 'online' && state.health?.ok !== false);
  return (
    <header className="bar">
      {onShowSessions && <IconButton icon={sessionsIcon} label="Sessions" className="bar-back" onClick={onShowSessions} />}
      <div className="bar-title">
        <h1 tabIndex={-1}>{sessionTitle(session)}</h1>
        <p className="meta">{subtitle}</p>
      </div>
      <div className="bar-state">
        {pill?.kind === 'waiting' && (
          <Pill icon="shield" tone="warn">
            {pill.words}
          </Pill>
        )}
        {pill?.kind === 'answering' && (
          <Pill icon="spinner" tone="accent" spin>
            {pill.words}
          </Pill>
        )}
        {pill?.kind === 'queued' && (
          <Pill icon="queue" tone="accent">
            {pill.words}
          </Pill>
        )}
        {sessionKey === undefined && isReady && (
          <Pill icon="check-circle" tone="ok">
            Gateway ready
          </Pill>
        )}
      </div>
      {session && (
        <>
          <IconButton icon="download" label="Export this session" className="bar-export" onClick={exportSession} />
          <MenuButton label="More for this session" entries={entries} />
        </>
      )}
      {panel && (
        <IconButton
          icon="panel"
          label={panel.isOpen ? 'Close the panels of plugins' : 'Open the panels of plugins'}
          aria-expanded={panel.isOpen}
          onClick={panel.onToggle}
        />
      )}
      {dialog}
    </header>
  );
}
