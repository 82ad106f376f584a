// What can be done with a session as a whole, the same wherever one is listed: rename, pin, fork, export, archive, delete.
import { type FormEvent, type ReactNode, useId, useState } from 'react';
import type { Session } from '@tenon/protocol';
import { usePage } from '../hooks/page-context.ts';
import { navigate } from '../hooks/use-route.ts';
import { Button } from '../parts/button.tsx';
import { Confirm, Dialog } from '../parts/dialog.tsx';
import type { MenuEntry } from '../parts/menu-entry.ts';
import { sessionTitle } from '../state/session-words.ts';

interface SessionMenu {
  readonly entries: readonly MenuEntry[];
  /** The dialog that is open, to be drawn by the caller. */
  readonly dialog: ReactNode;
  readonly exportSession: () => void;
}

/** @param where In `chat` the session that goes away leaves the view. */
export function useSessionMenu(session: Session | undefined, where: 'chat' | 'list'): SessionMenu {
  const page = usePage();
  const [open, setOpen] = useState<'rename' | 'delete' | undefined>();
  if (!session) return { entries: [], dialog: null, exportSession: () => {} };
  const { key } = session;
  const title = sessionTitle(session);

  async function exportSession(): Promise<void> {
    const lines = await page.sessions.exportLines(key);
    if (lines !== undefined) download(`${fileName(title)}.jsonl`, lines);
  }
  async function archive(): Promise<void> {
    const archived = !session?.archived;
    if (!(await page.sessions.patch(key, { archived }))) return;
    if (archived && where === 'chat') navigate({ view: 'chat', sessionKey: undefined });
    page.toasts.say({
      tone: 'ok',
      title: archived ? `Archived ${title}` : `${title} is back`,
      ...(archived ? { action: { label: 'Undo', run: () => void page.sessions.patch(key, { archived: false }) } } : {}),
    });
  }
  async function fork(): Promise<void> {
    const made = await page.sessions.fork(key);
    if (made !== undefined) navigate({ view: 'chat', sessionKey: made });
  }
  async function copyCommand(): Promise<void> {
    const command = `npx tenon chat --session ${key}`;
    try {
      await navigator.clipboard.writeText(command);
      page.toasts.say({ tone: 'ok', title: 'Copied', detail: command });
    } catch {
      // The browser refuses on an origin that is not safe: then it can be read and typed.
      page.toasts.say({ tone: 'info', title: 'The browser does not allow copying here', detail: command });
    }
  }
  async function remove(): Promise<void> {
    if (!(await page.sessions.remove(key))) return;
    if (where === 'chat') navigate({ view: 'chat', sessionKey: undefined });
    // Its row is gone, and the button with it.
    else document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true });
    page.toasts.say({ tone: 'ok', title: `Deleted ${title}` });
  }

  const entries: MenuEntry[] = [
    { id: 'rename', label: 'Rename', icon: 'edit', run: () => setOpen('rename') },
    {
      id: 'pin',
      label: session.pinned ? 'Unpin' : 'Pin',
      icon: 'pin',
      run: () => void page.sessions.patch(key, { pinned: !session.pinned }),
    },
    { id: 'fork', label: 'Fork', icon: 'branch', run: () => void fork() },
    { id: 'command', label: 'Copy terminal command', icon: 'terminal', run: () => void copyCommand() },
    {
      id: 'inspect',
      label: 'What plugins do here',
      icon: 'inspector',
      run: () => navigate({ view: 'inspector', sessionKey: key, plugin: undefined }),
    },
    {
      id: 'schedules',
      label: 'Schedules of this session',
      icon: 'clock',
      run: () => navigate({ view: 'schedules', id: undefined, sessionKey: key }),
    },
    { id: 'export', label: 'Export', icon: 'download', run: () => void exportSession() },
    { id: 'archive', label: session.archived ? 'Take out of the archive' : 'Archive', icon: 'archive', run: () => void archive() },
    { id: 'delete', label: 'Delete', icon: 'trash', danger: true, run: () => setOpen('delete') },
  ];
  const close = () => setOpen(undefined);
  const dialog =
    open === 'rename' ? (
      <RenameDialog title={session.title} onClose={close} onRename={(next) => void page.sessions.patch(key, { title: next })} />
    ) : open === 'delete' ? (
      <Confirm title={`Delete “${title}”?`} action="Delete the session" danger onClose={close} onConfirm={() => void remove()}>
        <p>Everything that was said in it goes, for everybody. This cannot be undone. Archive it to keep it out of the way.</p>
      </Confirm>
    ) : null;
  return { entries, dialog, exportSession: () => void exportSession() };
}

interface RenameProps {
  readonly title: string;
  readonly onRename: (title: string) => void;
  readonly onClose: () => void;
}

function RenameDialog({ title, onRename, onClose }: RenameProps): ReactNode {
  const [text, setText] = useState(title);
  const id = useId();
  function submit(event: FormEvent): void {
    event.preventDefault();
    onClose();
    if (text.trim() !== title) onRename(text.trim());
  }
  return (
    <Dialog title="Rename the session" onClose={onClose}>
      <form onSubmit={submit}>
        <label htmlFor={id}>Title</label>
        <div className="field">
          <input id={id} autoFocus value={text} maxLength={200} onChange={(event) => setText(event.target.value)} />
        </div>
        <div className="dialog-foot">
          <button type="submit" className="btn btn-primary">
            Rename
          </button>
          <Button look="quiet" onClick={onClose}>
            Cancel
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function fileName(title: string): string {
  return (
    title
      .normalize('NFKD')
      .replace(/[^\w -]/g, '')
      .trim()
      .replace(/\s+/g, '-')
      .slice(0, 60) || 'session'
  );
}

function download(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/x-ndjson' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
