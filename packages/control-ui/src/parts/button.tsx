// Buttons and links, and the small things on them. A button that cannot be used stays reachable and says why.
import { type ButtonHTMLAttributes, type ReactNode, type Ref, useId } from 'react';
import { Icon, type IconName } from '../icons.tsx';

export interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly icon?: IconName;
  readonly look?: 'primary' | 'default' | 'quiet' | 'danger';
  readonly small?: boolean;
  /** Why it does nothing now. */
  readonly reason?: string | undefined;
  readonly ref?: Ref<HTMLButtonElement>;
  /** In a dialog: it has the focus at first. */
  readonly 'data-first'?: '' | undefined;
}

export function Button({ icon, look = 'default', small, reason, className = '', children, onClick, ...rest }: ButtonProps): ReactNode {
  const id = useId();
  return (
    <>
      <button
        type="button"
        className={`btn btn-${look}${small ? ' btn-small' : ''} ${className}`}
        {...rest}
        {...(reason === undefined ? { onClick } : { 'aria-disabled': true, 'aria-describedby': id, title: reason })}
      >
        {icon && <Icon name={icon} size={small ? 14 : 16} />}
        {children}
      </button>
      {reason !== undefined && (
        <span id={id} className="visually-hidden">
          {reason}
        </span>
      )}
    </>
  );
}

export interface IconButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'aria-label'> {
  readonly icon: IconName;
  readonly label: string;
  readonly framed?: boolean;
  readonly ref?: Ref<HTMLButtonElement>;
}

export function IconButton({ icon, label, framed, className = '', ...rest }: IconButtonProps): ReactNode {
  return (
    <button type="button" className={`icon-btn${framed ? ' icon-btn-framed' : ''} ${className}`} aria-label={label} title={label} {...rest}>
      <Icon name={icon} />
    </button>
  );
}

export function Kbd({ children }: { readonly children: ReactNode }): ReactNode {
  return <kbd className="kbd">{children}</kbd>;
}

export type Tone = 'ok' | 'warn' | 'bad' | 'accent' | 'plain';

/** State with its sign and its word, always both. */
export function Pill({
  icon,
  tone,
  spin,
  bare,
  children,
}: {
  icon: IconName;
  tone: Tone;
  spin?: boolean;
  bare?: boolean;
  children: ReactNode;
}): ReactNode {
  return (
    <span className={`pill pill-${tone}${bare ? ' pill-bare' : ''}`}>
      <Icon name={icon} size={14} className={spin ? 'turning' : ''} />
      <span>{children}</span>
    </span>
  );
}

export function CountBadge({ count, label }: { readonly count: number; readonly label: string }): ReactNode {
  if (count === 0) return null;
  return (
    <span className="count-badge">
      <span aria-hidden="true">{count > 99 ? '99+' : count}</span>
      <span className="visually-hidden">{label}</span>
    </span>
  );
}
