// How the gateway is: what waits for the person, each part with its reason, the models and why one cannot be used.
import { type ReactNode, useEffect, useMemo, useState } from 'react';
import type { ModelInfo, Result, Status } from '@tenon/protocol';
import { UNCONFINED, visible } from '@tenon/protocol';
import { bytes, duration, shortTime, timeLeft } from '../chat/format.ts';
import { useApp, usePage } from '../hooks/page-context.ts';
import { useNow } from '../hooks/use-browser.ts';
import { Icon, type IconName } from '../icons.tsx';
import { Button, CountBadge, Pill, type Tone } from '../parts/button.tsx';
import { Failed, Skeleton } from '../parts/states.tsx';
import { may, pendingApprovals } from '../state/app-state.ts';
import { troubledPlugins, unconfinedOnes } from '../state/plugin-trouble.ts';
import { formatRoute } from '../state/route.ts';
import { sessionTitle } from '../state/session-words.ts';

const READ_EVERY_MS = 30_000;

export function OverviewView(): ReactNode {
  const page = usePage();
  const status = useApp((state) => state.status);
  const health = useApp((state) => state.health);
  const isOnline = useApp((state) => state.connection.kind === 'online');
  const problems = health?.problems ?? [];
  useEffect(() => {
    if (!isOnline) return;
    void page.system.readOverview();
    const timer = setInterval(() => void page.system.readOverview(), READ_EVERY_MS);
    return () => clearInterval(timer);
  }, [page, isOnline]);
  return (
    <div className="page-view">
      <header className="bar">
        <div className="bar-title bar-title-row">
          <h1 tabIndex={-1}>Overview</h1>
          {problems.length > 0 ? (
            <Pill icon="warning" tone="warn">
              {problems.length} {problems.length === 1 ? 'part needs' : 'parts need'} you
            </Pill>
          ) : (
            health?.ok !== false && (
              <Pill icon="check-circle" tone="ok">
                All is well
              </Pill>
            )
          )}
        </div>
      </header>
      <div className="page-body">
        <div className="columns">
          <div className="column column-wide">
            {!status ? (
              <section className="card pad">
                <Skeleton lines={6} label="Loading the state of the gateway" />
              </section>
            ) : status.kind === 'failed' ? (
              <section className="card">
                <Failed title="The state could not be read" error={status.error} onRetry={() => void page.system.readOverview()} />
              </section>
            ) : (
              status.kind === 'ready' && <HealthCard status={status.value} />
            )}
            <ModelsCard />
          </div>
          <div className="column">
            <ApprovalsCard />
            {status?.kind === 'ready' && <WarningsCard warnings={status.value.warnings} />}
          </div>
        </div>
      </div>
    </div>
  );
}

function HealthCard({ status }: { readonly status: Status }): ReactNode {
  const now = useNow(true, 10_000);
  const sandbox = useApp((state) => state.sandbox);
  const plugins = useApp((state) => state.plugins);
  const troubled = troubledPlugins(plugins);
  const unconfined = unconfinedOnes(plugins);
  const problems = status.health.problems ?? [];
  return (
    <section className="card" aria-labelledby="health-title">
      <div className="card-head">
        <h2 id="health-title">Health by part</h2>
      </div>
      <ul className="rows">
        {problems.map((problem) => (
          <PartRow key={problem.part} icon="warning" tone="warn" words="Needs a look" part={problem.part}>
            {visible(problem.reason)}, since {shortTime(problem.since, now)}
          </PartRow>
        ))}
        {sandbox?.kind === 'ready' && sandbox.value.kind === 'none' && (
          <PartRow icon="shield-off" tone="warn" words="Not sandboxed" part="Programs">
            {visible(sandbox.value.reason)}
          </PartRow>
        )}
        {unconfined.length > 0 && (
          <PartRow icon="shield-off" tone="warn" words="Unconfined" part={unconfined.length === 1 ? 'Extension' : 'Extensions'}>
            {unconfined.map(({ id, name }, index) => (
              <span key={id}>
                {index > 0 && ', '}
                <a href={formatRoute({ view: 'plugins', id })}>{visible(name)}</a>
              </span>
            ))}{' '}
            {unconfined.length === 1 ? UNCONFINED : UNCONFINED.replace('runs', 'run')}: {visible(unconfined[0]?.process?.sandbox ?? '')}
          </PartRow>
        )}
        {troubled > 0 && (
          <PartRow icon="warning" tone="warn" words="Needs a look" part="Plugins">
            <a href={formatRoute({ view: 'plugins', id: undefined })}>
              {troubled === 1 ? '1 plugin needs a look' : `${troubled} plugins need a look`}
            </a>
          </PartRow>
        )}
        <PartRow icon="running" tone="ok" words="Running" part="Gateway">
          Tenon {status.version}, up {duration(status.uptimeMs)}, {bytes(status.memory.residentBytes)} of memory, {status.connections}{' '}
          {status.connections === 1 ? 'connection' : 'connections'}
        </PartRow>
        {!problems.some((problem) => problem.part === 'store') && (
          <PartRow icon="running" tone="ok" words="Running" part="Store">
            {status.store.engine}, {visible(status.store.location)}
          </PartRow>
        )}
        {sandbox?.kind === 'ready' && sandbox.value.kind !== 'none' && (
          <PartRow icon="shield-check" tone="ok" words="Sandboxed" part="Programs">
            {visible(sandbox.value.reason)}
          </PartRow>
        )}
        {sandbox?.kind === 'failed' && (
          <PartRow icon="x-circle" tone="bad" words="Unknown" part="Programs">
            {sandbox.error.message}
          </PartRow>
        )}
        <PartRow icon="lock" tone="plain" words="Access" part="Way in">
          {visible(status.auth)}, at {status.url}
        </PartRow>
      </ul>
    </section>
  );
}

function PartRow({
  icon,
  tone,
  words,
  part,
  children,
}: {
  icon: IconName;
  tone: Tone;
  words: string;
  part: string;
  children: ReactNode;
}): ReactNode {
  return (
    <li className="part-row">
      <Pill icon={icon} tone={tone} bare>
        {words}
      </Pill>
      <div className="row-text">
        <span className="row-title">{part}</span>
        <span className="row-line row-line-wrap">{children}</span>
      </div>
    </li>
  );
}

function ModelsCard(): ReactNode {
  const models = useApp((state) => state.models);
  return (
    <section className="card" aria-labelledby="models-title">
      <div className="card-head">
        <h2 id="models-title">Models</h2>
      </div>
      {models.kind === 'loading' ? (
        <div className="pad">
          <Skeleton lines={2} label="Loading models" />
        </div>
      ) : models.kind === 'failed' ? (
        <Failed title="The models could not be read" error={models.error} />
      ) : (
        <ul className="rows">
          {models.value.map((model) => (
            <ModelRow key={model.id} model={model} />
          ))}
        </ul>
      )}
    </section>
  );
}

function ModelRow({ model }: { readonly model: ModelInfo }): ReactNode {
  const page = usePage();
  const mayWrite = useApp((state) => may(state, 'operator.write'));
  const [probe, setProbe] = useState<Result<'models.probe'> | 'asking' | undefined>();
  const facts = [
    model.provider,
    `${Math.round(model.contextWindow / 1000)}k window`,
    model.images && 'sees images',
    model.thinking && 'thinks',
  ]
    .filter(Boolean)
    .join(', ');
  return (
    <li className="part-row">
      <Pill icon={model.usable ? 'check-circle' : 'blocked'} tone={model.usable ? 'ok' : 'warn'} bare>
        {model.usable ? 'Ready' : 'Not usable'}
      </Pill>
      <div className="row-text">
        <span className="row-title">
          {model.id} {model.isDefault && <span className="chip">default</span>}
        </span>
        <span className="row-line row-line-wrap">{model.usable ? facts : visible(model.reason ?? 'It did not say why')}</span>
        <span className="row-line row-line-wrap" role="status">
          {probe === 'asking' && 'Asking for one word'}
          {probe &&
            probe !== 'asking' &&
            (probe.ok ? `Answered in ${duration(probe.latencyMs)}` : `Did not answer: ${visible(probe.reason ?? probe.code ?? '')}`)}
        </span>
      </div>
      <Button
        small
        reason={mayWrite ? undefined : 'This needs operator.write'}
        onClick={() => {
          setProbe('asking');
          void page.system.probe(model.id).then(setProbe);
        }}
      >
        Try it<span className="visually-hidden">: {model.id}</span>
      </Button>
    </li>
  );
}

function ApprovalsCard(): ReactNode {
  const approvals = useApp((state) => state.approvals);
  const sessions = useApp((state) => state.sessions.byKey);
  const pending = useMemo(() => pendingApprovals(approvals), [approvals]);
  const now = useNow(pending.length > 0);
  return (
    <section className="card card-first" aria-labelledby="waiting-title">
      <div className="card-head">
        <h2 id="waiting-title">Waits for you</h2>
        <CountBadge count={pending.length} label={`${pending.length} approvals`} />
        <a className="card-link" href={formatRoute({ view: 'approvals', id: undefined })}>
          Open inbox
        </a>
      </div>
      {pending.length === 0 ? (
        <p className="card-empty">Nothing waits for you.</p>
      ) : (
        <ul className="rows">
          {pending.slice(0, 5).map((approval) => (
            <li key={approval.id}>
              <a className="approval-row" data-row="" href={formatRoute({ view: 'approvals', id: approval.id })}>
                <span className="tile tile-warn">
                  <Icon name="shield" />
                </span>
                <span className="row-text">
                  <span className="row-title">{visible(approval.title)}</span>
                  <span className="row-line">
                    {approval.agentId}, {sessionTitle(sessions.get(approval.sessionKey))}
                  </span>
                </span>
                <span className="row-end">{timeLeft(approval.expiresAt - now)}</span>
              </a>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function WarningsCard({ warnings }: { readonly warnings: readonly string[] }): ReactNode {
  if (warnings.length === 0) return null;
  return (
    <section className="card" aria-labelledby="warnings-title">
      <div className="card-head">
        <h2 id="warnings-title">Worth knowing</h2>
      </div>
      <ul className="rows">
        {warnings.map((warning) => (
          <li key={warning} className="warning-row">
            <Icon name="warning" />
            <span>{visible(warning)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
