// Short messages at the edge. What went well goes by itself, unless somebody points at it or has focus in it; errors and
// anything with an action stay.
import { type ReactNode, useEffect, useState } from 'react';
import { useApp, usePage } from '../hooks/page-context.ts';
import { Icon } from '../icons.tsx';
import type { Toast } from '../state/app-state.ts';
import { Button, IconButton } from './button.tsx';

const SHOWN_MS = 6_000;
/** What a timer of the browser can count. */
const LONGEST_TIMER_MS = 2_147_483_647;
const icons = { ok: 'check-circle', bad: 'x-circle', info: 'shield' } as const;

export function Toasts(): ReactNode {
  const toasts = useApp((state) => state.toasts);
  return (
    <section className="toasts" aria-label="Messages of the page" aria-live="polite">
      {toasts.map((toast) => (
        <ToastCard key={toast.id} toast={toast} />
      ))}
    </section>
  );
}

function ToastCard({ toast }: { readonly toast: Toast }): ReactNode {
  const { toasts } = usePage();
  const [held, setHeld] = useState(false);
  const stays = toast.tone === 'bad' || toast.action !== undefined;
  useEffect(() => {
    if (stays || held) return;
    const timer = setTimeout(() => toasts.close(toast.id), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [stays, held, toast.id, toasts]);
  // Also without a connection, when nobody tells that it has expired.
  useEffect(() => {
    if (toast.until === undefined) return;
    const timer = setTimeout(() => toasts.close(toast.id), Math.min(LONGEST_TIMER_MS, Math.max(0, toast.until - Date.now())));
    return () => clearTimeout(timer);
  }, [toast.until, toast.id, toasts]);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: pointing at it only holds it; nothing can be done by that alone
    <div
      className={`toast toast-${toast.tone}`}
      data-about={toast.about?.split(':', 1)[0]}
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
    >
      <Icon name={toast.icon ?? icons[toast.tone]} />
      <div className="toast-text">
        <p className="toast-title">{toast.title}</p>
        {toast.detail && <p className="toast-detail">{toast.detail}</p>}
      </div>
      {toast.action && (
        <Button
          small
          look="quiet"
          onClick={() => {
            toast.action?.run();
            toasts.close(toast.id);
          }}
        >
          {toast.action.label}
        </Button>
      )}
      <IconButton icon="x" label={`Close: ${toast.title}`} onClick={() => toasts.close(toast.id)} />
    </div>
  );
}
