// Said wherever plugins are shown while the gateway runs without any.
import type { ReactNode } from 'react';
import { Icon } from '../icons.tsx';

export function SafeMode(): ReactNode {
  return (
    <div className="plugins-safe" role="status">
      <Icon name="pause" />
      <div>
        <p className="plugins-safe-title">Safe mode: no plugin is loaded</p>
        <p>
          The gateway was started with <code>--safe</code>. What you have enabled is kept, and is loaded again when you start it without.
        </p>
      </div>
    </div>
  );
}
