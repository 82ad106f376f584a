// The seam inspector: what plugins did in a session, turn by turn. Which handler ran, in what order, how long, what it changed,
// and what was refused and why. Nothing is recorded unless somebody asks for it.
import { type ReactNode, useMemo, useRef, useState } from 'react';
import { type TraceOutcome, type TraceRecord, visible } from '@tenon/protocol';
import { plural } from '../chat/format.ts';
import { useApp } from '../hooks/page-context.ts';
import { navigate } from '../hooks/use-route.ts';
import { Icon } from '../icons.tsx';
import { Button, Pill } from '../parts/button.tsx';
import { Empty, Failed, Skeleton } from '../parts/states.tsx';
import { may } from '../state/app-state.ts';
import { sessionOrder } from '../state/changes.ts';
import { formatRoute } from '../state/route.ts';
import { sessionTitle } from '../state/session-words.ts';
import { millis } from './plugin-words.ts';
import { type Dispatch, dispatchesOf, outcomeNames, outcomes, turnsOf } from './timeline.ts';
import { Select } from './select.tsx';
import { TraceDetail } from './trace-detail.tsx';
import { TraceTable } from './trace-table.tsx';
import { type Trace, type UsedTrace, useTrace } from './use-trace.ts';
import './inspector.later.css';

interface InspectorProps {
  readonly sessionKey: string | undefined;
  readonly plugin: string | undefined;
}

export function InspectorView({ sessionKey, plugin }: InspectorProps): ReactNode {
  const isAdmin = useApp((state) => may(state, 'operator.admin'));
  const used = useTrace(isAdmin ? sessionKey : undefined);
  return (
    <div className="page-view">
      <header className="bar inspector-bar">
        <h1 tabIndex={-1}>Inspector</h1>
        {isAdmin && <SessionSelect sessionKey={sessionKey} plugin={plugin} />}
        {isAdmin && sessionKey !== undefined && used.trace.kind === 'ready' && <Recording trace={used.trace.value} used={used} />}
      </header>
      {!isAdmin ? (
        <Empty icon="lock" title="You cannot see what plugins do">
          Your token does not have operator.admin. Somebody who has it can record a session and look at it.
        </Empty>
      ) : sessionKey === undefined ? (
        <Empty icon="inspector" title="Choose a session">
          The inspector shows what plugins do in it: which handler ran, how long, what it changed, and what was refused.
        </Empty>
      ) : used.trace.kind === 'loading' ? (
        <div className="pad">
          <Skeleton lines={6} label="Loading the trace" />
        </div>
      ) : used.trace.kind === 'failed' ? (
        <Failed title="The trace could not be read" error={used.trace.error} onRetry={used.again} />
      ) : used.trace.value.records.length === 0 ? (
        <NothingYet sessionKey={sessionKey} trace={used.trace.value} />
      ) : (
        <Records key={sessionKey} trace={used.trace.value} sessionKey={sessionKey} plugin={plugin} />
      )}
    </div>
  );
}

function SessionSelect({ sessionKey, plugin }: InspectorProps): ReactNode {
  const sessions = useApp((state) => state.sessions);
  const options = useMemo(() => {
    const known = sessionOrder(sessions).map((session) => ({ value: session.key, words: sessionTitle(session) }));
    const isKnown = sessionKey === undefined || known.some(({ value }) => value === sessionKey);
    return isKnown ? known : [{ value: sessionKey, words: visible(sessionKey) }, ...known];
  }, [sessions, sessionKey]);
  return (
    <Select
      label="Session"
      icon="chat"
      value={sessionKey ?? ''}
      options={sessionKey === undefined ? [{ value: '', words: 'Choose a session' }, ...options] : options}
      onPick={(key) => navigate({ view: 'inspector', sessionKey: key || undefined, plugin }, 'replace')}
    />
  );
}

const lengths = [
  { value: '1', words: 'the next turn' },
  { value: '5', words: 'the next 5 turns' },
  { value: '20', words: 'the next 20 turns' },
  { value: '', words: 'until I stop it' },
] as const;

function Recording({ trace, used }: { readonly trace: Trace; readonly used: UsedTrace }): ReactNode {
  const [turns, setTurns] = useState('1');
  if (trace.recording) {
    return (
      <div className="inspector-recording" role="status">
        <Pill icon="running" tone="accent">
          {trace.turnsLeft === undefined ? 'Recording' : `Recording, ${plural(trace.turnsLeft, 'turn')} left`}
        </Pill>
        <Button icon="stop" onClick={() => void used.stop()}>
          Stop
        </Button>
      </div>
    );
  }
  return (
    <div className="inspector-recording">
      <Select label="How much is recorded" icon="clock" value={turns} options={lengths} onPick={setTurns} />
      <Button icon="running" look="primary" onClick={() => void used.record(turns === '' ? undefined : Number(turns))}>
        Record
      </Button>
    </div>
  );
}

function NothingYet({ sessionKey, trace }: { readonly sessionKey: string; readonly trace: Trace }): ReactNode {
  const chat = <a href={formatRoute({ view: 'chat', sessionKey })}>Go to the session</a>;
  return trace.recording ? (
    <Empty icon="running" title="It records" action={chat}>
      Send a message in the session, press a button of a plugin or run one of its commands: every call of a handler appears here.
    </Empty>
  ) : (
    <Empty icon="inspector" title="Nothing is recorded" action={chat}>
      Recording is off unless you ask for it. Press Record, then send a message in the session. What is recorded stays in memory, for an
      hour at most, with secrets hidden.
    </Empty>
  );
}

interface RecordsProps {
  readonly trace: Trace;
  readonly sessionKey: string;
  readonly plugin: string | undefined;
}

const LATEST = 'latest';
const ALL = 'all';
const OUTSIDE = 'outside';

function Records({ trace, sessionKey, plugin }: RecordsProps): ReactNode {
  const [turn, setTurn] = useState(LATEST);
  const [place, setPlace] = useState('');
  const [outcome, setOutcome] = useState<TraceOutcome | ''>('');
  const [fold, setFold] = useState(true);
  const [selected, setSelected] = useState<number | undefined>();
  const opener = useRef<HTMLElement | null>(null);

  const all = useMemo(() => dispatchesOf(trace.records), [trace.records]);
  const turns = useMemo(() => turnsOf(all), [all]);
  const latest = turns.findLast(({ runId }) => runId !== undefined) ?? turns.at(-1);
  const ofTurn = all.filter(({ runId }) =>
    turn === ALL ? true : turn === LATEST ? runId === latest?.runId : turn === OUTSIDE ? runId === undefined : runId === turn,
  );
  const fits = (record: TraceRecord) =>
    (plugin === undefined || record.plugin === plugin) &&
    (place === '' || record.place === place) &&
    (outcome === '' || record.outcome === outcome);
  const shown = dispatchesOf(ofTurn.flatMap(({ records }) => records.filter(fits)));
  const open = trace.records.find(({ seq }) => seq === selected);

  return (
    <div className={open ? 'inspector inspector-open' : 'inspector'}>
      <div className="inspector-main">
        <Filters
          {...{ all, turns, turn, setTurn, place, setPlace, outcome, setOutcome, fold, setFold, plugin }}
          onPlugin={(next) => navigate({ view: 'inspector', sessionKey, plugin: next }, 'replace')}
        />
        {shown.length === 0 ? (
          <p className="inspector-none" role="status">
            Nothing that was recorded fits. {plugin !== undefined && `${visible(plugin)} took no part in this turn.`}
          </p>
        ) : (
          <>
            <Summary dispatches={shown} />
            <TraceTable
              dispatches={shown}
              fold={fold}
              selected={selected}
              onSelect={(record, button) => {
                opener.current = button;
                setSelected(record.seq === selected ? undefined : record.seq);
              }}
            />
          </>
        )}
        <p className="meta inspector-note">
          {fold && 'Hatched: no handler ran, because the model, a tool or a person was at work; folded, so that handlers stay visible. '}
          {trace.dropped > 0 && `${plural(trace.dropped, 'older record', 'older records')} made room for newer ones.`}
        </p>
      </div>
      {open && (
        <TraceDetail
          key={open.seq}
          record={open}
          dispatch={all.find(({ id }) => id === open.dispatch)}
          startedAt={ofTurn[0]?.from ?? open.at}
          onClose={() => {
            setSelected(undefined);
            requestAnimationFrame(() => opener.current?.isConnected && opener.current.focus());
          }}
        />
      )}
    </div>
  );
}

interface FiltersProps {
  readonly all: readonly Dispatch[];
  readonly turns: ReturnType<typeof turnsOf>;
  readonly turn: string;
  readonly setTurn: (turn: string) => void;
  readonly plugin: string | undefined;
  readonly onPlugin: (plugin: string | undefined) => void;
  readonly place: string;
  readonly setPlace: (place: string) => void;
  readonly outcome: TraceOutcome | '';
  readonly setOutcome: (outcome: TraceOutcome | '') => void;
  readonly fold: boolean;
  readonly setFold: (fold: boolean) => void;
}

const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });

function Filters(props: FiltersProps): ReactNode {
  const { all, turns, turn, setTurn, plugin, onPlugin, place, setPlace, outcome, setOutcome, fold, setFold } = props;
  const distinct = (values: readonly string[]) => [...new Set(values)].sort().map((value) => ({ value, words: visible(value) }));
  const records = all.flatMap((dispatch) => dispatch.records);
  const plugins = distinct([...records.map((record) => record.plugin), ...(plugin === undefined ? [] : [plugin])]);
  let number = 0;
  const turnOptions = turns.map(({ runId, at }) =>
    runId === undefined ? { value: OUTSIDE, words: 'Outside of turns' } : { value: runId, words: `Turn ${++number}, ${clock.format(at)}` },
  );
  return (
    <fieldset className="inspector-filters">
      <legend className="visually-hidden">What is shown</legend>
      <Select
        label="Turn"
        icon="history"
        value={turn}
        options={[{ value: LATEST, words: 'The latest turn' }, { value: ALL, words: 'All that was recorded' }, ...turnOptions]}
        onPick={setTurn}
      />
      <Select
        label="Plugin"
        icon="joint"
        value={plugin ?? ''}
        options={[{ value: '', words: 'Every plugin' }, ...plugins]}
        onPick={(next) => onPlugin(next || undefined)}
      />
      <Select
        label="Place"
        icon="filter"
        value={place}
        options={[{ value: '', words: 'Every place' }, ...distinct(all.map((dispatch) => dispatch.place))]}
        onPick={setPlace}
      />
      <Select
        label="Result"
        icon="filter"
        value={outcome}
        options={[{ value: '', words: 'Every result' }, ...outcomeNames.map((value) => ({ value, words: outcomes[value].words }))]}
        onPick={(next) => setOutcome(next as TraceOutcome | '')}
      />
      <Button small aria-pressed={!fold} className="inspector-scale" onClick={() => setFold(!fold)}>
        True scale
      </Button>
    </fieldset>
  );
}

function Summary({ dispatches }: { readonly dispatches: readonly Dispatch[] }): ReactNode {
  const records = dispatches.flatMap((dispatch) => dispatch.records);
  const count = (...wanted: TraceOutcome[]) => records.filter((record) => wanted.includes(record.outcome)).length;
  const from = Math.min(...dispatches.map((dispatch) => dispatch.from));
  const to = Math.max(...dispatches.map((dispatch) => dispatch.to));
  const troubled = count('failed', 'timed-out', 'dropped', 'aborted');
  return (
    <dl className="inspector-summary">
      <div>
        <dt>From first to last</dt>
        <dd>{millis(to - from)}</dd>
      </div>
      <div>
        <dt>
          <span className="bar-key" /> Plugins
        </dt>
        <dd>{millis(records.reduce((sum, record) => sum + record.durationMs, 0))}</dd>
      </div>
      <div>
        <dt>Calls</dt>
        <dd>{records.length}</dd>
      </div>
      <div>
        <dt>Changed</dt>
        <dd>{count('changed', 'claimed')}</dd>
      </div>
      <div>
        <dt>Refused</dt>
        <dd>{count('refused')}</dd>
      </div>
      <div>
        <dt>Failed</dt>
        <dd className={troubled > 0 ? 'tone-bad' : ''}>
          {troubled > 0 && <Icon name="x-circle" size={14} />} {troubled}
        </dd>
      </div>
    </dl>
  );
}
