// All plugins, extensions among them: how each stands and why, what it was granted, and whether all of it was taken. What needs the person comes
// first. One of them has a page of its own.
// biome-ignore-all lint/a11y/noRedundantRoles: a table that looks like cards on a phone is otherwise none for some readers
import { type ReactNode, useMemo, useState } from 'react';
import { type PluginInfo, visible } from '@tenon/protocol';
import { VisibleText } from '../chat/visible-text.tsx';
import { useApp, usePage } from '../hooks/page-context.ts';
import { useNow } from '../hooks/use-browser.ts';
import { Icon } from '../icons.tsx';
import { Button, Pill } from '../parts/button.tsx';
import { Empty, Failed, Skeleton } from '../parts/states.tsx';
import { may } from '../state/app-state.ts';
import { needsALook } from '../state/plugin-trouble.ts';
import { formatRoute } from '../state/route.ts';
import { EnableDialog } from './enable-dialog.tsx';
import { canRetry, isExtension, nextTry, runsWords, sandboxWords } from './extension-words.ts';
import { usePluginActions } from './plugin-actions.ts';
import { PluginDetail } from './plugin-detail.tsx';
import { grantCount, grantWords, inOrder, stateWords } from './plugin-words.ts';
import { SafeMode } from './safe-mode.tsx';
import './plugins.later.css';

/** Its process, where it has one of its own, is there. */
function isRunning({ state, process }: PluginInfo): boolean {
  return state === 'loaded' && (process === undefined || process.state === 'ready');
}

const filters = {
  all: { label: 'All', fits: () => true },
  need: { label: 'Need a look', fits: needsALook },
  running: { label: 'Running', fits: isRunning },
  off: { label: 'Off', fits: ({ state }: PluginInfo) => state === 'off' },
  extensions: { label: 'Extensions', fits: isExtension },
} as const;
type Filter = keyof typeof filters;

export function PluginsView({ id }: { readonly id: string | undefined }): ReactNode {
  const page = usePage();
  const plugins = useApp((state) => state.plugins);
  if (plugins.kind === 'ready') {
    const found = id === undefined ? undefined : plugins.value.plugins.find((plugin) => plugin.id === id);
    if (found) return <PluginDetail key={found.id} plugin={found} safe={plugins.value.safe} />;
    return <PluginList plugins={plugins.value.plugins} safe={plugins.value.safe} missing={id} />;
  }
  return (
    <div className="page-view">
      <header className="bar">
        <div className="bar-title">
          <h1 tabIndex={-1}>Plugins</h1>
        </div>
      </header>
      {plugins.kind === 'loading' ? (
        <div className="pad">
          <Skeleton lines={6} label="Loading plugins" />
        </div>
      ) : (
        <Failed title="The plugins could not be read" error={plugins.error} onRetry={() => void page.link().readPlugins()} />
      )}
    </div>
  );
}

interface ListProps {
  readonly plugins: readonly PluginInfo[];
  readonly safe: boolean;
  /** The address names one that is not there. */
  readonly missing: string | undefined;
}

function PluginList({ plugins, safe, missing }: ListProps): ReactNode {
  const isAdmin = useApp((state) => may(state, 'operator.admin'));
  const { actions, busy } = usePluginActions();
  const [filter, setFilter] = useState<Filter>('all');
  const [typed, setTyped] = useState('');
  const [enabling, setEnabling] = useState<PluginInfo | undefined>();
  const ordered = useMemo(() => inOrder(plugins), [plugins]);
  const text = typed.trim().toLowerCase();
  const shown = ordered.filter((plugin) => filters[filter].fits(plugin) && (text === '' || isAbout(plugin, text)));
  const running = plugins.filter(isRunning).length;
  return (
    <div className="page-view">
      <header className="bar">
        <div className="bar-title bar-title-row">
          <h1 tabIndex={-1}>Plugins</h1>
          <p className="meta">
            {plugins.length} found, {running} running
          </p>
        </div>
        {isAdmin && plugins.length > 0 && (
          <Button icon="retry" reason={busy === 'reload' ? 'They are being loaded' : undefined} onClick={() => void actions.reloadAll()}>
            Reload all
          </Button>
        )}
      </header>
      <div className="page-body">
        {safe && <SafeMode />}
        {missing !== undefined && (
          <p className="plugins-note plugins-note-warn" role="status">
            <Icon name="warning" size={14} />
            <span>
              There is no plugin <VisibleText text={missing} />.
            </span>
          </p>
        )}
        {plugins.length === 0 ? (
          <Empty icon="joint" title="There are no plugins">
            Put the folder of one into a folder that the setting <code>plugins.paths</code> names, then reload. An extension is put there
            with <code>tenon ext install</code>.
          </Empty>
        ) : (
          <>
            <div className="plugins-tools">
              <div className="search-field">
                <Icon name="search" />
                <input
                  type="search"
                  aria-label="Search plugins by name, tool or hook"
                  placeholder="Name, tool or hook"
                  value={typed}
                  maxLength={128}
                  onChange={(event) => setTyped(event.target.value)}
                />
              </div>
              <fieldset className="plugins-filter">
                <legend className="visually-hidden">Which plugins</legend>
                <div className="segments">
                  {(Object.keys(filters) as Filter[]).map((each) => (
                    <label key={each} className="segment">
                      <input type="radio" name="plugins" checked={filter === each} onChange={() => setFilter(each)} />
                      <span>
                        {filters[each].label} <span className="segment-count">{plugins.filter(filters[each].fits).length}</span>
                      </span>
                    </label>
                  ))}
                </div>
              </fieldset>
              <p className="meta plugins-sorted">Sorted by what needs you</p>
            </div>
            {shown.length === 0 ? (
              <p className="plugins-none" role="status">
                No plugin fits.
              </p>
            ) : (
              <PluginTable
                plugins={shown}
                mayChange={isAdmin && !safe}
                onEnable={setEnabling}
                onRetry={(plugin) => void actions.retry(plugin)}
                busy={busy}
              />
            )}
            {!isAdmin && (
              <p className="plugins-note">
                <Icon name="lock" size={14} />
                <span>You can look. Enabling, granting and configuring plugins needs operator.admin, which your token does not have.</span>
              </p>
            )}
          </>
        )}
      </div>
      {enabling && <EnableDialog plugin={enabling} actions={actions} onClose={() => setEnabling(undefined)} />}
    </div>
  );
}

function isAbout(plugin: PluginInfo, text: string): boolean {
  const words = [plugin.id, plugin.name, plugin.description ?? '', ...plugin.registrations.map(({ key }) => key)];
  return words.some((word) => word.toLowerCase().includes(text));
}

interface TableProps {
  readonly plugins: readonly PluginInfo[];
  readonly mayChange: boolean;
  readonly onEnable: (plugin: PluginInfo) => void;
  readonly onRetry: (plugin: PluginInfo) => void;
  readonly busy: string | undefined;
}

function PluginTable({ plugins, ...row }: TableProps): ReactNode {
  return (
    <table className="plugins-table" role="table" aria-label="Plugins">
      <thead>
        <tr>
          <th scope="col">Plugin</th>
          <th scope="col">State</th>
          <th scope="col">Version</th>
          <th scope="col">Runs</th>
          <th scope="col">Grants</th>
          <th scope="col">
            <span className="visually-hidden">What to do</span>
          </th>
        </tr>
      </thead>
      <tbody role="rowgroup">
        {plugins.map((plugin) => (
          <PluginRow key={`${plugin.id} ${plugin.state}`} plugin={plugin} {...row} />
        ))}
      </tbody>
    </table>
  );
}

function PluginRow({ plugin, mayChange, onEnable, onRetry, busy }: Omit<TableProps, 'plugins'> & { plugin: PluginInfo }): ReactNode {
  const now = useNow(plugin.process?.restartAt !== undefined);
  const sandbox = sandboxWords(plugin);
  const next = nextTry(plugin, now);
  const { icon, tone, words, reasons } = stateWords(plugin);
  const wide = plugin.granted.filter((grant) => grantWords(grant).wide).length;
  const canEnable = mayChange && (plugin.state === 'off' || plugin.state === 'changed');
  return (
    <tr role="row">
      <th role="rowheader" scope="row">
        <span className="plugin-name">
          <span className={`tile tile-${tone}`}>
            <Icon name="joint" />
          </span>
          <span className="row-text">
            <span className="grant-name">
              <a className="plugin-link" data-row="" href={formatRoute({ view: 'plugins', id: plugin.id })}>
                <VisibleText text={plugin.name} />
              </a>
              {isExtension(plugin) && <span className="grant-tag">extension</span>}
            </span>
            {plugin.description !== undefined && (
              <span className="row-line row-line-wrap">
                <VisibleText text={plugin.description} />
              </span>
            )}
          </span>
        </span>
      </th>
      <td role="cell" className="plugin-state">
        <Pill icon={icon} tone={tone}>
          {words}
        </Pill>
        {reasons.map((reason) => (
          <span key={reason} className="plugin-reason">
            <VisibleText text={reason} />
          </span>
        ))}
        {next !== undefined && <span className="plugin-reason">{next}</span>}
      </td>
      <td role="cell" data-label="Version">
        <code>{visible(plugin.version)}</code>
      </td>
      <td role="cell" data-label="Runs" className="plugin-from">
        <span>
          {runsWords(plugin)}
          {sandbox && (
            <span className={sandbox.isOpen ? 'plugin-sandbox tone-warn' : 'plugin-sandbox'}>
              <Icon name={sandbox.icon} size={14} /> {sandbox.words}
            </span>
          )}
          {!isExtension(plugin) && plugin.origin === 'bundled' && <span className="plugin-reason">part of Tenon</span>}
        </span>
      </td>
      <td role="cell" data-label="Grants">
        <span className="plugin-grants-count">
          {grantCount(plugin)}
          {wide > 0 && <span className="grant-tag grant-tag-warn">{wide} wide</span>}
        </span>
      </td>
      <td role="cell" className="plugin-do">
        {canEnable && (
          <Button
            small
            onClick={() => onEnable(plugin)}
            aria-label={`${plugin.state === 'changed' ? 'Review' : 'Enable'} ${visible(plugin.name)}`}
          >
            {plugin.state === 'changed' ? 'Review' : 'Enable'}
          </Button>
        )}
        {mayChange && canRetry(plugin) && (
          <Button
            small
            reason={busy === 'retry' ? 'It is being started' : undefined}
            onClick={() => onRetry(plugin)}
            aria-label={`Retry ${visible(plugin.name)}`}
          >
            Retry
          </Button>
        )}
      </td>
    </tr>
  );
}
