// One plugin: how it stands, what it may do, what became of everything it registered, how its calls went, and its
// configuration. Who may not change it sees the same without the buttons, and without what only the operator is told.
import { type ReactNode, useCallback, useState } from 'react';
import { type PluginDetails, type PluginInfo, visible } from '@tenon/protocol';
import { exactTime, shortTime } from '../chat/format.ts';
import { VisibleText } from '../chat/visible-text.tsx';
import { useApp, usePage } from '../hooks/page-context.ts';
import { useNow } from '../hooks/use-browser.ts';
import { navigate } from '../hooks/use-route.ts';
import { Icon } from '../icons.tsx';
import { Button, IconButton, Pill } from '../parts/button.tsx';
import { Confirm } from '../parts/dialog.tsx';
import { Failed } from '../parts/states.tsx';
import { may } from '../state/app-state.ts';
import { PluginSettings } from '../plugin-ui/surfaces.tsx';
import { formatRoute } from '../state/route.ts';
import { sessionTitle } from '../state/session-words.ts';
import { ConfigCard } from './config-form.tsx';
import { EnableDialog } from './enable-dialog.tsx';
import { LogCard } from './extension-log.tsx';
import { type Changes, canRetry, isExtension, nextTry, reachWords, runsWords, sandboxWords, shortHash } from './extension-words.ts';
import { usePluginActions } from './plugin-actions.ts';
import { ChangesCard } from './plugin-changes.tsx';
import { CallsCard, IncidentsCard, RegistrationsCard, ServicesCard, SwitchedOffCard } from './plugin-cards.tsx';
import { GrantsCard } from './plugin-grants.tsx';
import { originWords, stateWords } from './plugin-words.ts';
import { SafeMode } from './safe-mode.tsx';
import { useAsked } from './use-asked.ts';

/** Counts are told to nobody when they grow. */
const READ_EVERY_MS = 10_000;

export function PluginDetail({ plugin, safe }: { readonly plugin: PluginInfo; readonly safe: boolean }): ReactNode {
  const page = usePage();
  const isAdmin = useApp((state) => may(state, 'operator.admin'));
  const changed = useApp((state) => state.plugins);
  const { actions, busy } = usePluginActions();
  const [open, setOpen] = useState<'enable' | 'disable' | undefined>();
  const { id, state } = plugin;
  const readDetails = useCallback(async () => (await page.link().call('plugins.get', { id })).plugin, [page, id]);
  const readHooks = useCallback(async () => (await page.link().call('hooks.status', {})).hooks, [page]);
  // What cannot be used has nothing more to say than its reason.
  const isFit = state !== 'rejected';
  const details = useAsked<PluginDetails>(isAdmin && isFit ? readDetails : undefined, changed, READ_EVERY_MS);
  const readChanges = useCallback(() => page.link().call('plugins.changes', { id }), [page, id]);
  const since = useAsked(isAdmin && isFit && plugin.origin !== 'bundled' ? readChanges : undefined, changed).answer;
  const changes = since.kind === 'ready' ? since.value : undefined;
  const retries = canRetry(plugin);
  const hooks = useAsked(state === 'loaded' ? readHooks : undefined, changed, READ_EVERY_MS);
  const known = details.answer.kind === 'ready' ? details.answer.value : undefined;
  const waits =
    busy === 'enable' || busy === 'disable' || busy === 'reload' || busy === 'retry' ? 'It is being loaded or unloaded' : undefined;
  const mayChange = isAdmin && isFit && !safe;
  return (
    <div className="page-view">
      <header className="bar plugin-bar">
        <IconButton
          icon="chevron-left"
          label="All plugins"
          className="bar-back"
          onClick={() => navigate({ view: 'plugins', id: undefined })}
        />
        <div className="bar-title bar-title-row">
          <h1 tabIndex={-1}>
            <VisibleText text={plugin.name} />
          </h1>
          <Pill {...pillOf(plugin)}>{stateWords(plugin).words}</Pill>
        </div>
        {mayChange && plugin.enabled && state !== 'changed' && (
          <>
            {retries ? (
              <Button icon="retry" look="primary" reason={waits} onClick={() => void actions.retry(plugin)}>
                Retry
              </Button>
            ) : (
              <Button icon="retry" reason={waits} onClick={() => void actions.reload(plugin)}>
                Reload
              </Button>
            )}
            <Button icon="stop" look="danger" reason={waits} onClick={() => setOpen('disable')}>
              Disable
            </Button>
          </>
        )}
        {mayChange && (!plugin.enabled || state === 'changed') && (
          <Button icon="play" look="primary" reason={waits} onClick={() => setOpen('enable')}>
            {state === 'changed' ? 'Review changes' : 'Enable'}
          </Button>
        )}
        {mayChange && plugin.enabled && state === 'changed' && (
          <Button icon="stop" look="danger" reason={waits} onClick={() => setOpen('disable')}>
            Disable
          </Button>
        )}
      </header>
      <div className="page-body">
        {safe && <SafeMode />}
        <Facts plugin={plugin} known={known} changes={changes} />
        <Reasons plugin={plugin} />
        {details.answer.kind === 'failed' && known === undefined && (
          <Failed title="Its details could not be read" error={details.answer.error} onRetry={details.again} />
        )}
        {isFit && (
          <div className="columns plugin-columns">
            <div className="column">
              {changes && <ChangesCard changes={changes} isStopped={state === 'changed'} />}
              <GrantsCard plugin={plugin} actions={isAdmin && !safe ? actions : undefined} busy={busy} />
              {state === 'loaded' && (
                <CallsCard plugin={plugin} hooks={hooks.answer.kind === 'ready' ? hooks.answer.value : undefined} counts={known?.counts} />
              )}
              {!isAdmin && (
                <p className="plugins-note">
                  <Icon name="lock" size={14} />
                  <span>Its configuration, its folder, its log and its calls outside of hooks are told to operator.admin only.</span>
                </p>
              )}
            </div>
            <div className="column">
              <SettingsCard pluginId={plugin.id} />
              <RegistrationsCard plugin={plugin} />
              <SwitchedOffCard plugin={plugin} />
              <IncidentsCard plugin={plugin} />
              <ServicesCard plugin={plugin} />
              {isAdmin && isExtension(plugin) && <LogCard id={id} changed={changed} />}
              {known && <ConfigCard plugin={known} actions={actions} busy={busy === 'config'} onSaved={details.again} />}
            </div>
          </div>
        )}
      </div>
      {open === 'enable' && <EnableDialog plugin={plugin} actions={actions} onClose={() => setOpen(undefined)} />}
      {open === 'disable' && (
        <Confirm
          title={`Disable ${visible(plugin.name)}?`}
          action="Disable and remove its state"
          danger
          onClose={() => setOpen(undefined)}
          onConfirm={() => void actions.disable(plugin)}
        >
          <p>
            It is unloaded and stays off. What it keeps in sessions is removed, in every session, and cannot be brought back. Its
            configuration and what you granted are kept. To load it anew and keep everything, reload it.
          </p>
        </Confirm>
      )}
    </div>
  );
}

/** What the plugin itself shows here. It is about a session: the one that was open last. */
function SettingsCard({ pluginId }: { readonly pluginId: string }): ReactNode {
  const sessionKey = useApp((state) => [...state.chats.keys()].at(-1));
  const session = useApp((state) => (sessionKey === undefined ? undefined : state.sessions.byKey.get(sessionKey)));
  const active = useApp((state) => state.pluginUi.byKey.get(sessionKey ?? '')?.active) ?? [];
  if (!active.some((descriptor) => descriptor.pluginId === pluginId && descriptor.surface === 'settings')) return null;
  return (
    <section className="card" aria-labelledby="settings-title">
      <div className="card-head">
        <h2 id="settings-title">Its own settings</h2>
        <p className="meta">{sessionKey === undefined ? 'in a new session' : `in “${sessionTitle(session)}”`}</p>
      </div>
      <div className="plugin-settings">
        <PluginSettings pluginId={pluginId} sessionKey={sessionKey} />
      </div>
    </section>
  );
}

function pillOf(plugin: PluginInfo) {
  const { icon, tone } = stateWords(plugin);
  return { icon, tone };
}

interface FactsProps {
  readonly plugin: PluginInfo;
  /** What only the operator is told. */
  readonly known: PluginDetails | undefined;
  readonly changes: Changes | undefined;
}

function Facts({ plugin, known, changes }: FactsProps): ReactNode {
  const now = useNow(true, 30_000);
  const { folder, workspace } = known ?? {};
  const { trustedHash, acceptedAt, acceptedBy } = changes ?? {};
  const sandbox = sandboxWords(plugin);
  const reach = plugin.process ? reachWords(plugin.process.reach) : [];
  return (
    <>
      {plugin.description !== undefined && (
        <p className="plugin-about">
          <VisibleText text={plugin.description} />
        </p>
      )}
      <dl className="plugin-facts">
        <Fact name="Id">
          <code>{visible(plugin.id)}</code>
        </Fact>
        <Fact name="Version">{visible(plugin.version)}</Fact>
        <Fact name="From">{isExtension(plugin) ? 'an extension in a folder' : originWords[plugin.origin]}</Fact>
        {plugin.process && <Fact name="Runs as">{runsWords(plugin)}</Fact>}
        {sandbox && (
          <Fact name="Sandbox">
            <span className={sandbox.isOpen ? 'plugin-sandbox tone-warn' : 'plugin-sandbox'}>
              <Icon name={sandbox.icon} size={14} /> {sandbox.words}
            </span>
            {sandbox.more !== undefined && (
              <span className="meta">
                <VisibleText text={sandbox.more} />
              </span>
            )}
          </Fact>
        )}
        {reach.length > 0 && (
          <Fact name="Asks to">
            <VisibleText text={reach.join('; ')} />
          </Fact>
        )}
        {plugin.process && <Fact name="Crashes in 5 minutes">{plugin.process.crashes}</Fact>}
        {folder !== undefined && (
          <Fact name="Folder">
            <code>
              <VisibleText text={folder} />
            </code>
          </Fact>
        )}
        {workspace !== undefined && (
          <Fact name="Of the workspace">
            <code>
              <VisibleText text={workspace} />
            </code>
          </Fact>
        )}
        {trustedHash !== undefined && (
          <Fact name="Trusted">
            <code title={trustedHash}>{shortHash(trustedHash)}</code>
            {acceptedAt !== undefined && (
              <>
                {' '}
                <time dateTime={new Date(acceptedAt).toISOString()} title={exactTime(acceptedAt)}>
                  {shortTime(acceptedAt, now)}
                </time>
              </>
            )}
            {acceptedBy !== undefined && (
              <>
                {' '}
                by <VisibleText text={acceptedBy} />
              </>
            )}
          </Fact>
        )}
        {plugin.loadedAt !== undefined && (
          <Fact name="Loaded">
            <time dateTime={new Date(plugin.loadedAt).toISOString()} title={exactTime(plugin.loadedAt)}>
              {shortTime(plugin.loadedAt, now)}
            </time>
          </Fact>
        )}
        {plugin.generation !== undefined && <Fact name="Generation">{plugin.generation}</Fact>}
        {plugin.state !== 'rejected' && (
          <Fact name="In sessions">
            <a href={formatRoute({ view: 'inspector', sessionKey: undefined, plugin: plugin.id })}>What it does</a>
          </Fact>
        )}
      </dl>
    </>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }): ReactNode {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Reasons({ plugin }: { readonly plugin: PluginInfo }): ReactNode {
  const now = useNow(plugin.process?.restartAt !== undefined);
  const { reasons: said, tone } = stateWords(plugin);
  const next = nextTry(plugin, now);
  const reasons = next === undefined ? said : [...said, next];
  if (reasons.length === 0) return null;
  return (
    <ul className={`plugin-reasons plugin-reasons-${tone}`} aria-label="Why">
      {reasons.map((reason) => (
        <li key={reason}>
          <Icon name={tone === 'plain' ? 'info' : 'warning'} size={14} />
          <span>
            <VisibleText text={reason} />
          </span>
        </li>
      ))}
    </ul>
  );
}
