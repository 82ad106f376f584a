// The command palette: one line to type in, a list to choose from. The input keeps the focus and its lower edge shows it.
import { type KeyboardEvent, type ReactNode, useEffect, useId, useMemo, useRef, useState } from 'react';
import type { Session } from '@tenon/protocol';
import { useApp, usePage } from '../hooks/page-context.ts';
import { usePreferences } from '../hooks/use-browser.ts';
import { navigate } from '../hooks/use-route.ts';
import { Icon } from '../icons.tsx';
import { Kbd } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { sessionOrder } from '../state/changes.ts';
import { filterEntries, markHits, type PaletteEntry } from '../state/palette-entries.ts';
import { sessionStatus, sessionTitle } from '../state/session-words.ts';
import { newSession } from './new-session.ts';

interface PaletteProps {
  readonly onClose: () => void;
  readonly onHelp: () => void;
  readonly onSignOut: () => void;
}

const SEARCH_AFTER_MS = 150;

export function Palette({ onClose, onHelp, onSignOut }: PaletteProps): ReactNode {
  const [typed, setTyped] = useState('');
  const [chosen, setChosen] = useState(0);
  const places = usePlaces(onHelp, onSignOut);
  const sessions = useSessionEntries(typed);
  const shown = useMemo(() => filterEntries([...sessions, ...places], typed), [sessions, places, typed]);
  const listId = useId();
  const listRef = useRef<HTMLDivElement>(null);
  const at = Math.min(chosen, shown.length - 1);

  function run(entry: PaletteEntry | undefined): void {
    if (!entry) return;
    onClose();
    entry.run();
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (event.nativeEvent.isComposing) return;
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step !== 0 && shown.length > 0) {
      event.preventDefault();
      setChosen((at + step + shown.length) % shown.length);
    } else if (event.key === 'Enter') {
      event.preventDefault();
      run(shown[at]);
    }
  }

  useEffect(() => {
    listRef.current?.querySelector(`[data-index="${at}"]`)?.scrollIntoView({ block: 'nearest' });
  }, [at]);

  return (
    <Dialog title="Search or run" hideTitle onClose={onClose} className="palette">
      <div className="palette-input">
        <Icon name="search" />
        <input
          autoFocus
          type="text"
          role="combobox"
          aria-label="Search or run"
          aria-expanded="true"
          aria-controls={listId}
          aria-activedescendant={shown[at] ? `${listId}-${at}` : undefined}
          aria-autocomplete="list"
          placeholder="Search or run"
          value={typed}
          maxLength={256}
          onChange={(event) => {
            setTyped(event.target.value);
            setChosen(0);
          }}
          onKeyDown={onKeyDown}
        />
        <Kbd>Esc</Kbd>
      </div>
      <div id={listId} ref={listRef} className="palette-list" role="listbox" aria-label="What was found" tabIndex={-1}>
        {shown.map((entry, index) => (
          <div key={entry.id} role="presentation">
            {entry.group !== shown[index - 1]?.group && (
              <p className="list-group" role="presentation">
                {entry.group}
              </p>
            )}
            {/* biome-ignore lint/a11y/useKeyWithClickEvents: the input has the keys */}
            <div
              id={`${listId}-${index}`}
              data-index={index}
              role="option"
              tabIndex={-1}
              aria-selected={index === at}
              className="palette-row"
              onClick={() => run(entry)}
              onPointerMove={() => setChosen(index)}
            >
              <Icon name={entry.icon} className="palette-icon" />
              <span className="palette-label">
                {markHits(entry.label, typed).map((part) => (part.hit ? <mark key={part.text}>{part.text}</mark> : part.text))}
              </span>
              {entry.detail && <span className="palette-detail">{entry.detail}</span>}
              <span className="palette-keys">{index === at ? <Kbd>Enter</Kbd> : entry.keys?.map((key) => <Kbd key={key}>{key}</Kbd>)}</span>
            </div>
          </div>
        ))}
      </div>
      {shown.length === 0 && (
        <p className="palette-none" role="status">
          Nothing found for “{typed}”
        </p>
      )}
      <div className="palette-foot">
        <span>
          <Kbd>↑</Kbd> <Kbd>↓</Kbd> move
        </span>
        <span>
          <Kbd>Enter</Kbd> open
        </span>
        <span className="palette-foot-end">
          <Kbd>&gt;</Kbd> commands only
        </span>
      </div>
    </Dialog>
  );
}

function usePlaces(onHelp: () => void, onSignOut: () => void): PaletteEntry[] {
  const { preferences, set } = usePreferences();
  return useMemo(() => {
    const go = (id: string, label: string, icon: PaletteEntry['icon'], keys: string[] | undefined, run: () => void): PaletteEntry => ({
      id,
      group: 'Go to',
      label,
      icon,
      keys,
      run,
    });
    const act = (id: string, label: string, icon: PaletteEntry['icon'], run: () => void, keys?: string[]): PaletteEntry => ({
      id,
      group: 'Commands',
      label,
      icon,
      run,
      keys,
    });
    return [
      act('new', 'New session', 'plus', newSession, ['N']),
      go('approvals', 'Approvals', 'shield', ['G', 'A'], () => navigate({ view: 'approvals', id: undefined })),
      go('overview', 'Overview', 'overview', ['G', 'O'], () => navigate({ view: 'overview' })),
      go('sessions', 'Sessions', 'sessions', ['G', 'S'], () => navigate({ view: 'sessions' })),
      go('plugins', 'Plugins', 'joint', ['G', 'P'], () => navigate({ view: 'plugins', id: undefined })),
      go('schedules', 'Schedules', 'clock', ['G', 'T'], () => navigate({ view: 'schedules', id: undefined, sessionKey: undefined })),
      go('inspector', 'Inspector', 'inspector', ['G', 'I'], () =>
        navigate({ view: 'inspector', sessionKey: undefined, plugin: undefined }),
      ),
      go('settings', 'Settings', 'settings', ['G', ','], () => navigate({ view: 'settings' })),
      ...(['light', 'dark', 'system'] as const)
        .filter((theme) => theme !== preferences.theme)
        .map((theme) =>
          act(
            `theme-${theme}`,
            theme === 'system' ? 'Theme of the system' : `${theme === 'light' ? 'Light' : 'Dark'} theme`,
            theme === 'light' ? 'sun' : theme === 'dark' ? 'moon' : 'monitor',
            () => set({ theme }),
          ),
        ),
      act('help', 'Keyboard map', 'keyboard', onHelp, ['?']),
      act('sign-out', 'Sign out', 'sign-out', onSignOut),
    ];
  }, [preferences, set, onHelp, onSignOut]);
}

function useSessionEntries(typed: string): PaletteEntry[] {
  const page = usePage();
  const sessions = useApp((state) => state.sessions);
  const [found, setFound] = useState<readonly Session[]>([]);
  const text = typed.startsWith('>') ? '' : typed.trim();
  useEffect(() => {
    if (text === '') return setFound([]);
    const timer = setTimeout(() => {
      page
        .link()
        .call('sessions.list', { search: text.slice(0, 256), limit: 20 })
        .then(
          (result) => setFound(result.sessions),
          () => setFound([]), // what is in memory is searched either way
        );
    }, SEARCH_AFTER_MS);
    return () => clearTimeout(timer);
  }, [text, page]);
  const ends = useApp((state) => state.ends);
  return useMemo(() => {
    const all = new Map([...sessionOrder(sessions), ...found].map((session) => [session.key, session]));
    return [...all.values()].map((session) => ({
      id: session.key,
      group: 'Sessions',
      label: sessionTitle(session),
      detail: sessionStatus(session, false, ends.get(session.key)).words,
      icon: 'chat' as const,
      run: () => navigate({ view: 'chat', sessionKey: session.key }),
    }));
  }, [sessions, found, ends]);
}
