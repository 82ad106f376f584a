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
}

export function Dialog({ title, onClose, children, className = '', hideTitle = false }: DialogProps): ReactNode {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  useLayoutEffect(() => {
    const dialog = ref.current;
    const before = document.activeElement;
    dialog?.showModal();
    dialog?.querySelector<HTMLElement>('[data-first]')?.focus();
    return () => {
      dialog?.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true });
    };
  }, []);
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
      onClick={(event) => {
        if (event.target === event.currentTarget) onClose();
      }}
    >
      <div className="dialog-box">
        <h2 id={id} className={hideTitle ? 'visually-hidden' : 'dialog-title'}>
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
