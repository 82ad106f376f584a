// The ways through the page: a column with words, a column of icons, or a bar at the bottom of a phone. Only what exists
// has an entry.
import type { ReactNode } from 'react';
import { useApp, usePage } from '../hooks/page-context.ts';
import { useNow } from '../hooks/use-browser.ts';
import { Icon, type IconName, Mark } from '../icons.tsx';
import { CountBadge, Kbd } from '../parts/button.tsx';
import { formatRoute, type Route, type ViewName } from '../state/route.ts';

interface Entry {
  readonly view: ViewName;
  readonly label: string;
  readonly icon: IconName;
}

const work: readonly Entry[] = [
  { view: 'chat', label: 'Chat', icon: 'chat' },
  { view: 'overview', label: 'Overview', icon: 'overview' },
  { view: 'approvals', label: 'Approvals', icon: 'shield' },
  { view: 'sessions', label: 'Sessions', icon: 'sessions' },
];
const extend: readonly Entry[] = [
  { view: 'plugins', label: 'Plugins', icon: 'joint' },
  { view: 'schedules', label: 'Schedules', icon: 'clock' },
  { view: 'inspector', label: 'Inspector', icon: 'inspector' },
];
const settings: Entry = { view: 'settings', label: 'Settings', icon: 'settings' };

/** On a phone. */
const bottom: readonly Entry[] = [
  { view: 'chat', label: 'Chat', icon: 'chat' },
  { view: 'approvals', label: 'Approvals', icon: 'shield' },
  { view: 'sessions', label: 'Sessions', icon: 'sessions' },
  { view: 'more', label: 'More', icon: 'menu' },
];

interface NavigationProps {
  readonly current: ViewName;
  readonly pending: number;
  /** Plugins that need somebody to look at them. */
  readonly troubled: number;
  readonly chatRoute: Route;
  readonly onPalette: () => void;
}

export function SideNavigation({
  iconsOnly,
  current,
  pending,
  troubled,
  chatRoute,
  onPalette,
}: NavigationProps & { readonly iconsOnly: boolean }): ReactNode {
  return (
    <nav className={`nav${iconsOnly ? ' nav-icons' : ''}`} aria-label="Main">
      <div className="nav-brand">
        <Mark />
        {!iconsOnly && (
          <div>
            <p className="nav-name">Tenon</p>
            <p className="nav-host">{location.hostname}</p>
          </div>
        )}
      </div>
      <button
        type="button"
        className="nav-search"
        onClick={onPalette}
        aria-label={iconsOnly ? 'Search or run' : undefined}
        title={iconsOnly ? 'Search or run, Ctrl K' : undefined}
      >
        <Icon name="search" />
        {!iconsOnly && (
          <>
            <span>Search or run</span>
            <Kbd>Ctrl K</Kbd>
          </>
        )}
      </button>
      <ul className="nav-list">
        {work.map((entry) => (
          <NavItem key={entry.view} entry={entry} {...{ iconsOnly, current, pending, troubled, chatRoute }} />
        ))}
      </ul>
      <ul className="nav-list nav-list-later">
        {extend.map((entry) => (
          <NavItem key={entry.view} entry={entry} {...{ iconsOnly, current, pending, troubled, chatRoute }} />
        ))}
      </ul>
      <ul className="nav-list nav-list-later">
        <NavItem entry={settings} {...{ iconsOnly, current, pending, troubled, chatRoute }} />
      </ul>
      <ConnectionLine iconsOnly={iconsOnly} />
    </nav>
  );
}

export function BottomNavigation({ current, pending, troubled, chatRoute }: Omit<NavigationProps, 'onPalette'>): ReactNode {
  const shown: ViewName = bottom.some(({ view }) => view === current) ? current : 'more';
  return (
    <nav className="bottom-nav" aria-label="Main">
      <ul>
        {bottom.map((entry) => (
          <li key={entry.view}>
            <a href={formatRoute(routeTo(entry.view, chatRoute))} aria-current={shown === entry.view ? 'page' : undefined}>
              <span className="bottom-nav-icon">
                <Icon name={entry.icon} size={20} />
                <Count view={entry.view} {...{ pending, troubled }} />
              </span>
              {entry.label}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function NavItem({
  entry,
  iconsOnly,
  current,
  pending,
  troubled,
  chatRoute,
}: Omit<NavigationProps, 'onPalette'> & { entry: Entry; iconsOnly: boolean }): ReactNode {
  return (
    <li>
      <a
        className="nav-item"
        href={formatRoute(routeTo(entry.view, chatRoute))}
        aria-current={current === entry.view ? 'page' : undefined}
        title={iconsOnly ? entry.label : undefined}
      >
        <Icon name={entry.icon} />
        <span className={iconsOnly ? 'visually-hidden' : ''}>{entry.label}</span>
        <Count view={entry.view} {...{ pending, troubled }} />
      </a>
    </li>
  );
}

function Count({ view, pending, troubled }: { readonly view: ViewName; readonly pending: number; readonly troubled: number }): ReactNode {
  if (view === 'approvals') return <CountBadge count={pending} label={`, ${pending} waiting`} />;
  const words = troubled === 1 ? ', 1 plugin needs a look' : `, ${troubled} plugins need a look`;
  return view === 'plugins' || view === 'more' ? <CountBadge count={troubled} label={words} /> : null;
}

function routeTo(view: ViewName, chatRoute: Route): Route {
  if (view === 'chat') return chatRoute;
  return { view } as Route;
}

const POSITION_EVERY_MS = 2_000;

function ConnectionLine({ iconsOnly }: { readonly iconsOnly: boolean }): ReactNode {
  const page = usePage();
  const kind = useApp((state) => state.connection.kind);
  const isWell = useApp((state) => state.health?.ok !== false && !state.health?.problems?.length);
  useNow(!iconsOnly && kind === 'online', POSITION_EVERY_MS);
  const online = kind === 'online';
  const words = !online ? 'Not connected' : isWell ? 'Connected' : 'Connected, needs a look';
  const position = online ? page.link().position() : undefined;
  const icon: IconName = !online ? 'offline' : isWell ? 'check-circle' : 'warning';
  return (
    <div className="nav-connection" title={iconsOnly ? words : undefined}>
      <Icon name={icon} className={`tone-${online ? (isWell ? 'ok' : 'warn') : 'bad'}`} />
      <div className={iconsOnly ? 'visually-hidden' : ''}>
        <p>{words}</p>
        <p className="nav-host">
          {location.host}
          {position !== undefined && `, seq ${position}`}
        </p>
      </div>
    </div>
  );
}
