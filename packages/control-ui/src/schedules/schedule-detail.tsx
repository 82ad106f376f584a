// One schedule: what it does and by which rules, what can be done with it, and what became of every time, with the cause.
import { type ReactNode, useState } from 'react';
import { visible } from '@tenon/protocol';
import { exactTime } from '../chat/format.ts';
import { VisibleText } from '../chat/visible-text.tsx';
import { useApp } from '../hooks/page-context.ts';
import { navigate } from '../hooks/use-route.ts';
import { Icon } from '../icons.tsx';
import { Button, IconButton, Pill } from '../parts/button.tsx';
import { Confirm } from '../parts/dialog.tsx';
import { Failed, Skeleton } from '../parts/states.tsx';
import { formatRoute } from '../state/route.ts';
import { sessionTitle } from '../state/session-words.ts';
import type { Job, Occurrence } from './schedule-types.ts';
import {
  causeWords,
  fromNow,
  jobWords,
  missWords,
  moment,
  occurrenceWords,
  overlapWords,
  ownerWords,
  ownZone,
  retryWords,
  stripWords,
  whenWords,
} from './schedule-words.ts';
import { type ScheduleActions, useOccurrences } from './use-schedules.ts';

interface DetailProps {
  readonly job: Job;
  readonly now: number;
  readonly actions: ScheduleActions;
  readonly mayChange: boolean;
  readonly onEdit: () => void;
}

export function ScheduleDetail({ job, now, actions, mayChange, onEdit }: DetailProps): ReactNode {
  const principal = useApp((state) => state.identity?.principal);
  const names = useApp((state) => state.names);
  const [asked, setAsked] = useState(false);
  const { schedule } = job;
  const state = jobWords(job);
  const why = actions.busy === undefined ? undefined : 'Something is under way';
  return (
    <>
      <div className="schedule-head">
        <div>
          <h2 id="schedule-title">
            <VisibleText text={job.name} />
          </h2>
          <p className="meta">Owned by {ownerWords(job.owner, principal, names)}</p>
        </div>
        {mayChange && (
          <div className="schedule-do">
            {job.state !== 'finished' && (
              <Button
                small
                icon={job.state === 'paused' ? 'play' : 'pause'}
                reason={why}
                onClick={() => void (job.state === 'paused' ? actions.resume(job) : actions.pause(job))}
              >
                {job.state === 'paused' ? 'Resume' : 'Pause'}
              </Button>
            )}
            <Button small icon="play" reason={why} onClick={() => void actions.run(job)}>
              Run now
            </Button>
            <IconButton icon="edit" label={`Change ${visible(job.name)}`} onClick={onEdit} />
            <IconButton icon="trash" label={`Remove ${visible(job.name)}`} onClick={() => setAsked(true)} />
          </div>
        )}
      </div>
      <dl className="schedule-facts">
        <Fact name="When">
          {whenWords(schedule)} {schedule.kind === 'cron' && <code>{visible(schedule.cron)}</code>}
        </Fact>
        <Fact name="Time zone">{schedule.kind === 'cron' && schedule.tz !== undefined ? visible(schedule.tz) : visible(ownZone())}</Fact>
        <Fact name="State">
          <Pill icon={state.icon} tone={state.tone} bare>
            {state.word}
          </Pill>
          {job.note !== undefined && (
            <>
              {' '}
              <VisibleText text={job.note} />
            </>
          )}
        </Fact>
        <Fact name="Says">
          “<VisibleText text={job.message} keep={'\n'} />”
        </Fact>
        <Fact name="Session">
          <Where job={job} />
        </Fact>
        <Fact name="If late">A time that was missed {missWords(job.onMiss)}.</Fact>
        <Fact name="If busy">A time that comes while the one before runs {overlapWords(job.overlap)}.</Fact>
        <Fact name="Answer">It {job.delivery === 'none' ? 'stands in the session only' : 'goes to where the session came from'}.</Fact>
        <Fact name="If it fails">It {retryWords(job.retry)}.</Fact>
        {job.tag !== undefined && (
          <Fact name="Tag">
            <VisibleText text={job.tag} />
          </Fact>
        )}
      </dl>
      <h3>Occurrences</h3>
      <Occurrences job={job} now={now} {...(mayChange && why === undefined ? { onRun: () => void actions.run(job) } : {})} />
      {asked && (
        <Confirm
          title={`Remove “${visible(job.name)}”?`}
          action="Remove the schedule"
          danger
          onClose={() => setAsked(false)}
          onConfirm={() =>
            void actions.remove(job).then((isGone) => {
              if (!isGone) return;
              navigate({ view: 'schedules', id: undefined, sessionKey: undefined }, 'replace');
              document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true });
            })
          }
        >
          <p>It does not run again, and what became of its times is forgotten. What was said in its session stays.</p>
        </Confirm>
      )}
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

function Where({ job: { session } }: { readonly job: Job }): ReactNode {
  const known = useApp((state) => ('key' in session ? state.sessions.byKey.get(session.key) : undefined));
  if (!('key' in session))
    return (
      <>
        A fresh one of <VisibleText text={session.agentId} /> each time
      </>
    );
  return (
    <a href={formatRoute({ view: 'chat', sessionKey: session.key })}>
      <VisibleText text={known ? sessionTitle(known) : session.key} />
    </a>
  );
}

interface OccurrencesProps {
  readonly job: Job;
  readonly now: number;
  readonly onRun?: () => void;
}

function Occurrences({ job, now, onRun }: OccurrencesProps): ReactNode {
  const { answer, again } = useOccurrences(job);
  if (answer.kind === 'loading') return <Skeleton lines={4} label="Loading occurrences" />;
  if (answer.kind === 'failed') return <Failed title="The occurrences could not be read" error={answer.error} onRetry={again} />;
  const { nextAt } = job;
  const hasNext = nextAt !== undefined && job.state === 'active';
  return (
    <>
      <Strip occurrences={answer.value} />
      <ol className="occurrences">
        {hasNext && (
          <li data-tone="plain">
            <Icon name="clock" />
            <div>
              <p className="occurrence-head">
                <Time at={nextAt} />
                <Pill icon="clock" tone="plain">
                  Next
                </Pill>
              </p>
              <p>{fromNow(nextAt, now)}</p>
            </div>
          </li>
        )}
        {answer.value.map((occurrence, index) => (
          <OccurrenceItem
            key={`${occurrence.dueAt} ${occurrence.attempt}`}
            occurrence={occurrence}
            {...(index === 0 && onRun ? { onRun } : {})}
          />
        ))}
        {!hasNext && answer.value.length === 0 && <li>It has not run yet.</li>}
      </ol>
    </>
  );
}

const STRIP = 10;

/** How it went lately, at a glance. What a sign means stands beside it for whoever does not see it, and when it is pointed at. */
function Strip({ occurrences }: { readonly occurrences: readonly Occurrence[] }): ReactNode {
  if (occurrences.length < 2) return null;
  return (
    <ol className="occurrence-strip" aria-label="The last times, oldest first">
      {occurrences
        .slice(0, STRIP)
        .toReversed()
        .map((occurrence) => {
          const { icon, tone } = occurrenceWords(occurrence);
          const words = stripWords(occurrence);
          return (
            <li key={`${occurrence.dueAt} ${occurrence.attempt}`} data-tone={tone} title={words}>
              <Icon name={icon} size={14} />
              <span className="visually-hidden">{words}</span>
            </li>
          );
        })}
    </ol>
  );
}

interface ItemProps {
  readonly occurrence: Occurrence;
  readonly onRun?: () => void;
}

function OccurrenceItem({ occurrence, onRun }: ItemProps): ReactNode {
  const { icon, tone, word } = occurrenceWords(occurrence);
  const cause = causeWords(occurrence);
  const wasNot = occurrence.state === 'missed' || occurrence.state === 'failed' || occurrence.state === 'interrupted';
  return (
    <li data-tone={tone} data-state={occurrence.state}>
      <Icon name={icon} className={occurrence.state === 'running' ? 'turning' : ''} />
      <div>
        <p className="occurrence-head">
          <Time at={occurrence.dueAt} />
          <Pill icon={icon} tone={tone} spin={occurrence.state === 'running'}>
            {word}
          </Pill>
        </p>
        <p>
          {cause}{' '}
          {occurrence.runId !== undefined && occurrence.sessionKey !== undefined && (
            <a href={formatRoute({ view: 'chat', sessionKey: occurrence.sessionKey })}>Open session</a>
          )}
        </p>
        {wasNot && onRun && (
          <Button small icon="play" onClick={onRun}>
            Run it now
          </Button>
        )}
      </div>
    </li>
  );
}

function Time({ at }: { readonly at: number }): ReactNode {
  return (
    <time dateTime={new Date(at).toISOString()} title={exactTime(at)}>
      {moment(at)}
    </time>
  );
}
