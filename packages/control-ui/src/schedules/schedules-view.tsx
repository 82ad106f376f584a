// Every schedule: when it runs, when next, and what became of the last time. What was missed or failed comes first. One of them
// stands beside the list, with its occurrences; on a narrow page it takes the place of the list.
// biome-ignore-all lint/a11y/noRedundantRoles: a table that looks like cards on a phone is otherwise none for some readers
import { type ReactNode, useEffect, useState } from 'react';
import { visible } from '@tenon/protocol';
import { exactTime, plural, shortTime } from '../chat/format.ts';
import { VisibleText } from '../chat/visible-text.tsx';
import { useApp } from '../hooks/page-context.ts';
import { useMedia, useNow, widths } from '../hooks/use-browser.ts';
import { navigate } from '../hooks/use-route.ts';
import { Icon } from '../icons.tsx';
import { Button, IconButton, Pill } from '../parts/button.tsx';
import { Empty, Failed, Skeleton } from '../parts/states.tsx';
import { may } from '../state/app-state.ts';
import { formatRoute } from '../state/route.ts';
import { sessionTitle } from '../state/session-words.ts';
import { ScheduleDetail } from './schedule-detail.tsx';
import { ScheduleForm } from './schedule-form.tsx';
import type { Job } from './schedule-types.ts';
import { causeWords, fromNow, inOrder, jobWords, occurrenceWords, ownerWords, ownZone, whenWords } from './schedule-words.ts';
import { useScheduleActions, useSchedules } from './use-schedules.ts';
import './schedules.later.css';

interface SchedulesProps {
  readonly id: string | undefined;
  /** Only those of one session. */
  readonly sessionKey: string | undefined;
}

const DAY_MS = 86_400_000;

export function SchedulesView({ id, sessionKey }: SchedulesProps): ReactNode {
  const { jobs, isCut, again } = useSchedules();
  const mayChange = useApp((state) => may(state, 'operator.write'));
  const session = useApp((state) => (sessionKey === undefined ? undefined : state.sessions.byKey.get(sessionKey)));
  const isNarrow = useMedia('(max-width: 1180px)');
  const isPhone = useMedia(widths.phone);
  const now = useNow(true, 10_000);
  const actions = useScheduleActions();
  const [editing, setEditing] = useState<'new' | Job | undefined>();
  const all = jobs.kind === 'ready' ? inOrder(jobs.value) : [];
  const listed = all.filter(({ session: where }) => sessionKey === undefined || ('key' in where && where.key === sessionKey));
  const chosen = all.find((job) => job.id === id);
  // Beside the list something is always open; in its place, only what was asked for.
  const shown = chosen ?? (isNarrow ? undefined : listed[0]);
  const over = isNarrow && chosen !== undefined;
  // Where one takes the place of the other, what had the focus is gone.
  // biome-ignore lint/correctness/useExhaustiveDependencies: when the one has taken the place of the other
  useEffect(() => {
    if (document.activeElement === document.body) document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true });
  }, [over]);
  const newButton = mayChange && (
    <Button icon="plus" look="primary" onClick={() => setEditing('new')}>
      New schedule
    </Button>
  );
  return (
    <div className="page-view">
      <header className="bar">
        {over && (
          <IconButton
            icon="chevron-left"
            label="All schedules"
            className="bar-back"
            onClick={() => navigate({ view: 'schedules', id: undefined, sessionKey })}
          />
        )}
        <div className="bar-title bar-title-row">
          <h1 tabIndex={-1}>Schedules</h1>
          {jobs.kind === 'ready' && !isPhone && (
            <p className="meta">
              {plural(listed.length, 'schedule')}, times in {visible(ownZone())}
            </p>
          )}
        </div>
        {jobs.kind === 'ready' && !over && newButton}
      </header>
      {jobs.kind === 'loading' ? (
        <div className="pad">
          <Skeleton lines={6} label="Loading schedules" />
        </div>
      ) : jobs.kind === 'failed' ? (
        <Failed title="The schedules could not be read" error={jobs.error} onRetry={again} />
      ) : (
        <div className="schedules" data-over={over ? '' : undefined}>
          {!over && (
            <div className="schedules-list">
              {sessionKey !== undefined && (
                <p className="schedules-filter">
                  <Icon name="filter" size={14} />
                  <span>
                    Of “<VisibleText text={session ? sessionTitle(session) : sessionKey} />”
                  </span>
                  <a href={formatRoute({ view: 'schedules', id: undefined, sessionKey: undefined })}>Show all</a>
                </p>
              )}
              {id !== undefined && !chosen && (
                <p className="schedules-filter" role="status">
                  <Icon name="warning" size={14} /> The schedule that the address names is not there any more.
                </p>
              )}
              <Missed jobs={listed} now={now} {...(mayChange ? { onRun: (job: Job) => void actions.run(job) } : {})} />
              {listed.length === 0 ? (
                <Empty
                  icon="clock"
                  title={sessionKey === undefined ? 'Nothing is scheduled' : 'Nothing is scheduled for this session'}
                  action={newButton}
                >
                  A schedule tells the agent something at a time, every now and then, or by a cron expression. What became of each time is
                  kept here.
                </Empty>
              ) : (
                <JobTable jobs={listed} shown={shown} now={now} sessionKey={sessionKey} />
              )}
              {isCut && <p className="schedules-filter">There are more schedules than this page shows.</p>}
              {!mayChange && (
                <p className="schedules-filter">
                  <Icon name="lock" size={14} /> You can look. Changing schedules needs operator.write, which your token does not have.
                </p>
              )}
            </div>
          )}
          {shown && (
            <section className="schedules-detail" aria-labelledby="schedule-title">
              <ScheduleDetail
                key={shown.id}
                job={shown}
                now={now}
                actions={actions}
                mayChange={mayChange}
                onEdit={() => setEditing(shown)}
              />
            </section>
          )}
        </div>
      )}
      {editing !== undefined && (
        <ScheduleForm
          job={editing === 'new' ? undefined : editing}
          sessionKey={sessionKey}
          actions={actions}
          onClose={() => setEditing(undefined)}
        />
      )}
    </div>
  );
}

/** What was missed within a day is told before anything else. */
function Missed({
  jobs,
  now,
  onRun,
}: {
  readonly jobs: readonly Job[];
  readonly now: number;
  readonly onRun?: (job: Job) => void;
}): ReactNode {
  const missed = jobs.filter(({ last }) => last?.state === 'missed' && now - last.dueAt < DAY_MS);
  const [first] = missed;
  if (!first?.last) return null;
  return (
    <section className="schedules-missed" aria-label="Missed">
      <Icon name="missed" />
      <div>
        <p className="schedules-missed-title">
          {missed.length === 1 ? '1 schedule missed its last time' : `${missed.length} schedules missed their last time`}
        </p>
        <p>
          <VisibleText text={first.name} /> of {shortTime(first.last.dueAt, now)}. {causeWords(first.last)}
        </p>
      </div>
      {onRun && (
        <Button small aria-label={`Run it now: ${visible(first.name)}`} onClick={() => onRun(first)}>
          Run it now
        </Button>
      )}
    </section>
  );
}

interface TableProps {
  readonly jobs: readonly Job[];
  readonly shown: Job | undefined;
  readonly now: number;
  readonly sessionKey: string | undefined;
}

function JobTable({ jobs, shown, now, sessionKey }: TableProps): ReactNode {
  return (
    <table className="schedules-table" role="table" aria-label="Schedules">
      <thead>
        <tr>
          <th scope="col">Schedule</th>
          <th scope="col">Next</th>
          <th scope="col">Last</th>
          <th scope="col">Owner</th>
        </tr>
      </thead>
      <tbody role="rowgroup">
        {jobs.map((job) => (
          <JobRow key={job.id} job={job} isShown={job === shown} now={now} sessionKey={sessionKey} />
        ))}
      </tbody>
    </table>
  );
}

interface RowProps {
  readonly job: Job;
  readonly isShown: boolean;
  readonly now: number;
  readonly sessionKey: string | undefined;
}

function JobRow({ job, isShown, now, sessionKey }: RowProps): ReactNode {
  const principal = useApp((state) => state.identity?.principal);
  const names = useApp((state) => state.names);
  const { last, nextAt } = job;
  const state = jobWords(job);
  const outcome = last && occurrenceWords(last);
  return (
    <tr role="row" data-shown={isShown ? '' : undefined}>
      <th role="rowheader" scope="row">
        <a
          className="schedule-link"
          data-row=""
          href={formatRoute({ view: 'schedules', id: job.id, sessionKey })}
          aria-current={isShown ? 'true' : undefined}
        >
          <VisibleText text={job.name} />
        </a>
        <span className="row-line row-line-wrap">{whenWords(job.schedule)}</span>
      </th>
      <td role="cell" data-label="Next">
        {nextAt !== undefined && job.state === 'active' ? (
          <span className="schedule-two">
            <time dateTime={new Date(nextAt).toISOString()} title={exactTime(nextAt)}>
              {nextTime(nextAt, now)}
            </time>
            <span className="row-line">{fromNow(nextAt, now)}</span>
          </span>
        ) : (
          <Pill icon={state.icon} tone={state.tone}>
            {state.word}
          </Pill>
        )}
      </td>
      <td role="cell" data-label="Last">
        {last && outcome ? (
          <span className="schedule-two">
            <Pill icon={outcome.icon} tone={outcome.tone} spin={last.state === 'running'}>
              {outcome.word}
            </Pill>
            <span className="row-line">{shortTime(last.dueAt, now)}</span>
          </span>
        ) : (
          <span className="row-line">not yet</span>
        )}
      </td>
      <td role="cell" data-label="Owner">
        <span className="schedule-owner">{ownerWords(job.owner, principal, names)}</span>
      </td>
    </tr>
  );
}

const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const dayAndClock = new Intl.DateTimeFormat('en-GB', { weekday: 'short', hour: '2-digit', minute: '2-digit' });
const far = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' });

/** Clock time today, weekday this week, date after that. */
function nextTime(at: number, now: number): string {
  if (new Date(at).toDateString() === new Date(now).toDateString()) return clock.format(at);
  return (at - now < 6 * DAY_MS ? dayAndClock : far).format(at).replace(',', '');
}
