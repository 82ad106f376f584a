// All sessions on a page of their own, with what can be done with each, the archive, and the way in for files.
import { type ReactNode, useRef, useState } from 'react';
import type { Session } from '@tenon/protocol';
import { limits } from '@tenon/protocol';
import { bytes } from '../chat/format.ts';
import { useApp, usePage } from '../hooks/page-context.ts';
import { useNow } from '../hooks/use-browser.ts';
import { navigate } from '../hooks/use-route.ts';
import { Button, IconButton } from '../parts/button.tsx';
import { MenuButton } from '../parts/menu-button.tsx';
import { Failed, Skeleton } from '../parts/states.tsx';
import { may } from '../state/app-state.ts';
import { sessionTitle } from '../state/session-words.ts';
import { newSession } from '../shell/new-session.ts';
import { SessionRow, SessionRows, SessionSearch } from '../shell/session-list.tsx';
import { useSessionMenu } from './session-menu.tsx';

export function SessionsView(): ReactNode {
  const page = usePage();
  const [archive, setArchive] = useState(false);
  const mayWrite = useApp((state) => may(state, 'operator.write'));
  return (
    <div className="page-view">
      <header className="bar">
        <div className="bar-title">
          <h1 tabIndex={-1}>Sessions</h1>
        </div>
        {mayWrite && <ImportButton />}
        {mayWrite && <IconButton framed icon="plus" label="New session" onClick={newSession} />}
      </header>
      <div className="page-body page-body-narrow">
        <div className="sessions-tools">
          <SessionSearch />
          <Button
            icon="archive"
            aria-pressed={archive}
            onClick={() => {
              setArchive(!archive);
              if (!archive) void page.sessions.loadArchived();
            }}
          >
            Archive
          </Button>
        </div>
        {archive ? <ArchivedRows /> : <SessionRows current={undefined} actions={(session) => <RowMenu session={session} />} />}
      </div>
    </div>
  );
}

function RowMenu({ session }: { readonly session: Session }): ReactNode {
  const { entries, dialog } = useSessionMenu(session, 'list');
  return (
    <>
      <MenuButton label={`More for ${sessionTitle(session)}`} entries={entries} className="session-row-menu" />
      {dialog}
    </>
  );
}

function ArchivedRows(): ReactNode {
  const page = usePage();
  const archived = useApp((state) => state.sessions.archived);
  const now = useNow(true, 30_000);
  if (!archived || archived.kind === 'loading') return <Skeleton label="Loading the archive" />;
  if (archived.kind === 'failed')
    return <Failed title="The archive could not be read" error={archived.error} onRetry={() => void page.sessions.loadArchived()} />;
  const list = archived.value.filter((session) => session.archived);
  if (list.length === 0) return <p className="session-list-empty">The archive is empty.</p>;
  return (
    <section aria-label="Archived">
      <p className="list-group">Archived</p>
      <ul>
        {list.map((session) => (
          <SessionRow
            key={session.key}
            session={session}
            isCurrent={false}
            waits={false}
            now={now}
            onPicked={undefined}
            actions={(each) => <RowMenu session={each} />}
          />
        ))}
      </ul>
    </section>
  );
}

function ImportButton(): ReactNode {
  const page = usePage();
  const input = useRef<HTMLInputElement>(null);
  const [busy, setBusy] = useState(false);

  async function take(file: File | undefined): Promise<void> {
    if (!file) return;
    const most = limits.importBytes.value;
    if (file.size > most) {
      page.toasts.say({
        tone: 'bad',
        title: `${file.name} is too large`,
        detail: `It has ${bytes(file.size)}; ${bytes(most)} can be imported.`,
      });
      return;
    }
    setBusy(true);
    const key = await page.sessions.importLines(file.name, await file.text());
    setBusy(false);
    if (key !== undefined) navigate({ view: 'chat', sessionKey: key });
  }

  return (
    <>
      <input
        ref={input}
        type="file"
        hidden
        accept=".jsonl,.ndjson,application/x-ndjson"
        aria-label="File to import"
        onChange={(event) => {
          void take(event.target.files?.[0]);
          event.target.value = '';
        }}
      />
      <Button icon="upload" reason={busy ? 'An import is under way' : undefined} onClick={() => input.current?.click()}>
        {busy ? 'Importing' : 'Import'}
      </Button>
    </>
  );
}
