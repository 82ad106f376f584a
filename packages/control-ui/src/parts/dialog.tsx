// A modal: the browser's own dialog element, which keeps focus inside, makes the rest inert, closes with Escape and gives
// focus back.
import { type ReactNode, useId, useLayoutEffect, useRef } from 'react';
import { Button } from './button.tsx';

export interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
  readonly className?: string;
  /** The title is read out but not shown. */
  readonly hideTitle?: boolean;
  /** Somebody asks: to point beside it is no answer. */
  readonly asks?: boolean;
}

export function Dialog({ title, onClose, children, className = '', hideTitle = false, asks = false }: DialogProps): ReactNode {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  const isLeaving = useRef(false);
  useLayoutEffect(() => {
    const dialog = ref.current;
    isLeaving.current = false;
    const before = document.activeElement;
    dialog?.showModal();
    // Where nothing is first, the question itself: nobody answers what they have not read.
    (dialog?.querySelector<HTMLElement>('[data-first]') ?? (asks ? dialog?.querySelector('h2') : undefined))?.focus();
    return () => {
      isLeaving.current = true;
      dialog?.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true });
    };
  }, [asks]);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the click is for those who point beside it; Escape is the keyboard's way
    <dialog
      ref={ref}
      className={`dialog ${className}`}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClose={() => {
        // A browser closes it at the second Escape, whatever the page says. Whether that is an answer is not the browser's to say.
        if (!asks || isLeaving.current) return;
        ref.current?.showModal();
        onClose();
      }}
      onClick={(event) => {
        if (event.target === event.currentTarget && !asks) onClose();
      }}
    >
      <div className="dialog-box">
        <h2 id={id} tabIndex={asks ? -1 : undefined} className={hideTitle ? 'visually-hidden' : 'dialog-title'}>
          {title}
        </h2>
        {children}
      </div>
    </dialog>
  );
}

export interface ConfirmProps {
  /** A question that names the object. */
  readonly title: string;
  readonly children: ReactNode;
  /** A verb. */
  readonly action: string;
  readonly danger?: boolean;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}

export function Confirm({ title, children, action, danger, onConfirm, onClose }: ConfirmProps): ReactNode {
  return (
    <Dialog title={title} onClose={onClose}>
      <div className="dialog-text">{children}</div>
      <div className="dialog-foot">
        <Button
          look={danger ? 'danger' : 'primary'}
          onClick={() => {
            onClose();
            onConfirm();
          }}
        >
          {action}
        </Button>
        {/* What cannot be undone is not one press of Enter away. */}
        <Button look="quiet" data-first={danger ? '' : undefined} onClick={onClose}>
          Cancel
        </Button>
      </div>
    </Dialog>
  );
}
