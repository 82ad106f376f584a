// What became of everything that a plugin registered, how its calls went, which handlers are switched off, and its services.
import type { ReactNode } from 'react';
import { type PluginDetails, type PluginInfo, type Result, visible } from '@tenon/protocol';
import { count, exactTime, plural, shortTime } from '../chat/format.ts';
import { VisibleText } from '../chat/visible-text.tsx';
import { useNow } from '../hooks/use-browser.ts';
import { Icon, type IconName } from '../icons.tsx';
import { Pill, type Tone } from '../parts/button.tsx';
import { registrationWord } from './extension-words.ts';
import { acceptedByKind, incidentWord, keyWord, kindWord, millis, refusedOf, sentence } from './plugin-words.ts';

export function RegistrationsCard({ plugin }: { readonly plugin: PluginInfo }): ReactNode {
  const refused = refusedOf(plugin);
  const accepted = plugin.registrations.length - refused.length;
  const { follows = [], leftOut = [] } = plugin.process ?? {};
  return (
    <section className="card" aria-labelledby="registrations-title">
      <div className="card-head">
        <h2 id="registrations-title">Registrations</h2>
        <p className="meta">
          {plugin.registrations.length > 0 && `${accepted} accepted, ${refused.length} refused`}
          {leftOut.length > 0 && `, ${leftOut.length} left out`}
        </p>
      </div>
      {plugin.registrations.length + leftOut.length + follows.length === 0 ? (
        <p className="card-empty">{plugin.state === 'loaded' ? 'It has registered nothing.' : 'It registers when it is loaded.'}</p>
      ) : (
        <ul className="rows">
          {refused.map(({ kind, key, code, message }) => (
            <li key={`${kind} ${key} ${code}`} className="registration registration-refused">
              <Icon name="x-circle" className="tone-bad" />
              <span className="registration-kind">{visible(kindWord(kind))}</span>
              <span className="registration-what">
                <code>
                  <VisibleText text={keyWord(kind, key)} />
                </code>
                <span className="registration-why">
                  <b>Refused.</b> <VisibleText text={sentence(message ?? 'The gateway did not say why')} />{' '}
                  {code !== undefined && <code className="registration-code">{visible(code)}</code>}
                </span>
              </span>
            </li>
          ))}
          {leftOut.map(({ kind, key, message }) => (
            <li key={`${kind} ${key} ${message}`} className="registration">
              <Icon name="minus" className="tone-warn" />
              <span className="registration-kind">{visible(registrationWord(kind))}</span>
              <span className="registration-what">
                {key !== '' && (
                  <code>
                    <VisibleText text={key} />
                  </code>
                )}
                <span className="registration-why">
                  <b className="registration-omitted">Left out.</b> <VisibleText text={sentence(message)} />
                </span>
              </span>
            </li>
          ))}
          {acceptedByKind(plugin).map(({ kind, keys }) => (
            <li key={kind} className="registration">
              <Icon name="check" className="tone-ok" />
              <span className="registration-kind">
                {visible(kindWord(kind))}
                <span className="visually-hidden">, accepted</span>
              </span>
              <span className="registration-what">
                <code>
                  <VisibleText text={keys.join(', ')} />
                </code>
              </span>
            </li>
          ))}
          {follows.length > 0 && (
            <li className="registration">
              <Icon name="check" className="tone-ok" />
              <span className="registration-kind">
                Events<span className="visually-hidden">, followed</span>
              </span>
              <span className="registration-what">
                <code>
                  <VisibleText text={follows.join(', ')} />
                </code>
              </span>
            </li>
          )}
        </ul>
      )}
    </section>
  );
}

type Hooks = Result<'hooks.status'>['hooks'];
type Counts = PluginDetails['counts'];

interface CallRow {
  readonly place: string;
  /** Of a hook: whom it comes after, and its deadline. */
  readonly position: string | undefined;
  readonly calls: number;
  readonly errors: number;
  readonly timeouts: number;
  readonly lastAt: number | undefined;
  readonly p50Ms: number | undefined;
  readonly p95Ms: number | undefined;
}

function callRows(plugin: string, hooks: Hooks | undefined, counts: Counts | undefined): CallRow[] {
  const byPlace = new Map((counts ?? []).map((each) => [each.place, each] as const));
  const rows: CallRow[] = [];
  for (const { hook, handlers } of hooks ?? []) {
    handlers.forEach((handler, at) => {
      if (handler.plugin !== plugin) return;
      const before = handlers[at - 1];
      rows.push({
        place: hook,
        position: [
          `${at + 1} of ${handlers.length}${before ? `, after ${visible(before.plugin)}` : ''}`,
          `${millis(handler.timeoutMs)} allowed`,
          ...(handler.skipped > 0 ? [`skipped ${plural(handler.skipped, 'time')}`] : []),
          ...(handler.switchedOff ? ['switched off'] : []),
        ].join(', '),
        calls: handler.calls,
        errors: handler.errors,
        timeouts: handler.timeouts,
        lastAt: handler.lastAt,
        p50Ms: handler.p50Ms,
        p95Ms: handler.p95Ms,
      });
      byPlace.delete(hook);
    });
  }
  for (const { place, calls, errors, timeouts, lastAt, p50Ms, p95Ms } of byPlace.values())
    rows.push({ place, position: undefined, calls, errors, timeouts, lastAt, p50Ms, p95Ms });
  return rows;
}

interface CallsProps {
  readonly plugin: PluginInfo;
  readonly hooks: Hooks | undefined;
  readonly counts: Counts | undefined;
}

export function CallsCard({ plugin, hooks, counts }: CallsProps): ReactNode {
  const now = useNow(true, 10_000);
  const rows = callRows(plugin.id, hooks, counts);
  return (
    <section className="card" aria-labelledby="calls-title">
      <div className="card-head">
        <h2 id="calls-title">Hooks and calls</h2>
      </div>
      {rows.length === 0 ? (
        <p className="card-empty">It was not called yet, and takes part in no hook.</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be reached with keys
        <section className="calls-scroll" tabIndex={0} aria-label="Table of calls">
          <table className="calls">
            <thead>
              <tr>
                <th scope="col">Where</th>
                <th scope="col">Position</th>
                <th scope="col" className="number">
                  Calls
                </th>
                <th scope="col" className="number">
                  Errors
                </th>
                <th scope="col" className="number">
                  Timeouts
                </th>
                <th scope="col" className="number">
                  p50
                </th>
                <th scope="col" className="number">
                  p95
                </th>
                <th scope="col" className="number">
                  Last
                </th>
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <tr key={`${row.place} ${row.position}`}>
                  <th scope="row">
                    <code>
                      <VisibleText text={row.place} />
                    </code>
                  </th>
                  <td className="calls-position">{row.position ?? '–'}</td>
                  <td className="number">{count(row.calls)}</td>
                  <td className={row.errors > 0 ? 'number tone-bad' : 'number'}>{count(row.errors)}</td>
                  <td className={row.timeouts > 0 ? 'number tone-bad' : 'number'}>{count(row.timeouts)}</td>
                  <td className="number">{row.p50Ms === undefined ? '–' : millis(row.p50Ms)}</td>
                  <td className="number">{row.p95Ms === undefined ? '–' : millis(row.p95Ms)}</td>
                  <td className="number">
                    {row.lastAt === undefined ? (
                      'never'
                    ) : (
                      <time dateTime={new Date(row.lastAt).toISOString()} title={exactTime(row.lastAt)}>
                        {shortTime(row.lastAt, now)}
                      </time>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
      {rows.length > 0 && (
        <p className="meta card-note">Counted since the gateway started. A dash: it has no position there, or was not measured.</p>
      )}
    </section>
  );
}

export function SwitchedOffCard({ plugin }: { readonly plugin: PluginInfo }): ReactNode {
  const now = useNow(true, 30_000);
  if (plugin.switchedOff.length === 0) return null;
  return (
    <section className="card" aria-labelledby="switched-off-title">
      <div className="card-head">
        <h2 id="switched-off-title">Switched off</h2>
        <p className="meta">{plural(plugin.switchedOff.length, 'handler')}; reload to try again</p>
      </div>
      <ul className="rows">
        {plugin.switchedOff.map(({ place, at, reason }) => (
          <li key={`${place} ${at}`} className="registration">
            <Icon name="blocked" className="tone-bad" />
            <span className="registration-what">
              <code>
                <VisibleText text={place} />
              </code>
              <span className="registration-why">
                {shortTime(at, now)}: <VisibleText text={sentence(reason)} />
              </span>
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** What its code did where nobody waited for it: it held up everything, or threw. */
export function IncidentsCard({ plugin }: { readonly plugin: PluginInfo }): ReactNode {
  const now = useNow(true, 30_000);
  if (plugin.incidents.length === 0) return null;
  return (
    <section className="card" aria-labelledby="incidents-title">
      <div className="card-head">
        <h2 id="incidents-title">Incidents</h2>
        <p className="meta">since it was loaded</p>
      </div>
      <ul className="rows">
        {plugin.incidents.toReversed().map(({ kind, place, message, at, count: times }) => (
          <li key={`${kind} ${place} ${message}`} className="registration">
            <Icon name={kind === 'blocked' ? 'hourglass' : 'x-circle'} className="tone-bad" />
            <span className="registration-what">
              {incidentWord(kind)}: <code>{visible(place)}</code>
              <span className="registration-why">
                <time dateTime={new Date(at).toISOString()} title={exactTime(at)}>
                  {shortTime(at, now)}
                </time>
                {times > 1 && `, ${plural(times, 'time')}`}: <VisibleText text={sentence(message)} />
              </span>
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

type Service = PluginInfo['services'][number];
const serviceLooks: Readonly<Record<Service['state'], { icon: IconName; tone: Tone; words: string }>> = {
  starting: { icon: 'spinner', tone: 'accent', words: 'Starting' },
  running: { icon: 'running', tone: 'ok', words: 'Running' },
  failed: { icon: 'x-circle', tone: 'bad', words: 'Failed' },
  stopped: { icon: 'pause', tone: 'plain', words: 'Stopped' },
};

export function ServicesCard({ plugin }: { readonly plugin: PluginInfo }): ReactNode {
  if (plugin.services.length === 0) return null;
  return (
    <section className="card" aria-labelledby="services-title">
      <div className="card-head">
        <h2 id="services-title">Services</h2>
      </div>
      <ul className="rows">
        {plugin.services.map(({ id, state, reason }) => {
          const { icon, tone, words } = serviceLooks[state];
          return (
            <li key={id} className="part-row">
              <Pill icon={icon} tone={tone} bare>
                {words}
              </Pill>
              <div className="row-text">
                <code>
                  <VisibleText text={id} />
                </code>
                {reason !== undefined && (
                  <span className="row-line row-line-wrap">
                    <VisibleText text={sentence(reason)} />
                  </span>
                )}
              </div>
            </li>
          );
        })}
      </ul>
    </section>
  );
}
