// What a view shows in place of its content: still loading, nothing there, failed.
import type { ReactNode } from 'react';
import { useDelay } from '../hooks/use-browser.ts';
import { Icon, type IconName } from '../icons.tsx';
import type { Trouble } from '../state/trouble.ts';
import { Button } from './button.tsx';

const lineNumbers = [0, 1, 2, 3, 4, 5, 6, 7];

/** In the shape of what comes; nothing at all where that is quick. */
export function Skeleton({ lines = 4, label }: { readonly lines?: number; readonly label: string }): ReactNode {
  const isSlow = useDelay(200);
  return (
    <div className="skeleton" role="status">
      <span className="visually-hidden">{isSlow ? label : ''}</span>
      {isSlow && lineNumbers.slice(0, lines).map((line) => <span key={line} className={`skeleton-line skeleton-line-${line % 4}`} />)}
    </div>
  );
}

export function Empty({
  icon,
  title,
  children,
  action,
}: {
  icon: IconName;
  title: string;
  children?: ReactNode;
  action?: ReactNode;
}): ReactNode {
  return (
    <div className="empty">
      <span className="empty-icon">
        <Icon name={icon} />
      </span>
      <p className="empty-title">{title}</p>
      {children && <p className="empty-text">{children}</p>}
      {action}
    </div>
  );
}

export function Failed({
  title,
  error,
  onRetry,
}: {
  readonly title: string;
  readonly error: Trouble;
  readonly onRetry?: () => void;
}): ReactNode {
  return (
    <div className="empty" role="alert">
      <span className="empty-icon empty-icon-bad">
        <Icon name="x-circle" />
      </span>
      <p className="empty-title">{title}</p>
      <p className="empty-text">
        <Words text={error.message} />
        {error.code && <code className="empty-code">{error.code}</code>}
      </p>
      {onRetry && (
        <Button icon="retry" onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  );
}

/** Text in which backquotes mark what is typed. */
export function Words({ text }: { readonly text: string }): ReactNode {
  return text.split('`').map((part, index) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one text never move
    index % 2 === 1 ? <code key={index}>{part}</code> : part,
  );
}
