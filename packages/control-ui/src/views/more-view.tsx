// The rest of the ways through the page, for a phone.
import type { ReactNode } from 'react';
import { useApp } from '../hooks/page-context.ts';
import { Icon, type IconName } from '../icons.tsx';
import { CountBadge } from '../parts/button.tsx';
import { troubledPlugins } from '../state/plugin-trouble.ts';
import { formatRoute } from '../state/route.ts';

interface MoreProps {
  readonly onHelp: () => void;
  readonly onPalette: () => void;
  readonly onSignOut: () => void;
}

export function MoreView({ onHelp, onPalette, onSignOut }: MoreProps): ReactNode {
  const troubled = useApp((state) => troubledPlugins(state.plugins));
  return (
    <div className="page-view">
      <header className="bar">
        <div className="bar-title">
          <h1 tabIndex={-1}>More</h1>
        </div>
      </header>
      <div className="page-body page-body-narrow">
        <ul className="card rows more-list">
          <li>
            <a href={formatRoute({ view: 'overview' })} className="more-row">
              <Icon name="overview" /> Overview
            </a>
          </li>
          <li>
            <a href={formatRoute({ view: 'plugins', id: undefined })} className="more-row">
              <Icon name="joint" /> Plugins
              <CountBadge count={troubled} label={troubled === 1 ? ', 1 needs a look' : `, ${troubled} need a look`} />
            </a>
          </li>
          <li>
            <a href={formatRoute({ view: 'schedules', id: undefined, sessionKey: undefined })} className="more-row">
              <Icon name="clock" /> Schedules
            </a>
          </li>
          <li>
            <a href={formatRoute({ view: 'inspector', sessionKey: undefined, plugin: undefined })} className="more-row">
              <Icon name="inspector" /> Inspector
            </a>
          </li>
          <li>
            <a href={formatRoute({ view: 'settings' })} className="more-row">
              <Icon name="settings" /> Settings
            </a>
          </li>
          <MoreButton icon="search" label="Search or run" onPress={onPalette} />
          <MoreButton icon="keyboard" label="Keyboard map" onPress={onHelp} />
          <MoreButton icon="sign-out" label="Sign out" onPress={onSignOut} />
        </ul>
      </div>
    </div>
  );
}

function MoreButton({
  icon,
  label,
  onPress,
}: {
  readonly icon: IconName;
  readonly label: string;
  readonly onPress: () => void;
}): ReactNode {
  return (
    <li>
      <button type="button" className="more-row" onClick={onPress}>
        <Icon name={icon} /> {label}
      </button>
    </li>
  );
}
