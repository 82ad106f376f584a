// The line below the composer: what plugins say, and what the session has used.
import { visible } from '@tenon/protocol';
import type { ReactNode } from 'react';
import { Icon } from '../icons.tsx';
import type { StatusLineProps } from './types.ts';

export function StatusLine({ parts = [], usage, children }: StatusLineProps): ReactNode {
  if (parts.length === 0 && usage === undefined && !children) return null;
  return (
    <div className="status-line">
      {parts.map((part) => (
        <span key={part.key} className="status-part">
          {part.name !== undefined && (
            <>
              <Icon name="joint" size={14} />
              <b>{visible(part.name)}</b>
            </>
          )}
          <span>{visible(part.text)}</span>
        </span>
      ))}
      {children}
      {usage !== undefined && <span className="status-usage">{visible(usage)}</span>}
    </div>
  );
}
