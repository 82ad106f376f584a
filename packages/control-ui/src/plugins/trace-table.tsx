// The timeline: one row for each dispatch, below it one for each handler, with a bar where it ran. The bars are for the eye;
// words and times say the same.
import { Fragment, type ReactNode, useMemo, useState } from 'react';
import type { TraceRecord } from '@tenon/protocol';
import { visible } from '@tenon/protocol';
import { plural } from '../chat/format.ts';
import { VisibleText } from '../chat/visible-text.tsx';
import { Icon } from '../icons.tsx';
import { Pill } from '../parts/button.tsx';
import { millis } from './plugin-words.ts';
import { type Axis, axisOf, type Dispatch, outcomes, type Span } from './timeline.ts';

interface TableProps {
  readonly dispatches: readonly Dispatch[];
  readonly fold: boolean;
  /** The `seq` of the one whose details are open. */
  readonly selected: number | undefined;
  readonly onSelect: (record: TraceRecord, button: HTMLElement) => void;
}

export function TraceTable({ dispatches, fold, selected, onSelect }: TableProps): ReactNode {
  const axis = useMemo(() => axisOf(dispatches, fold), [dispatches, fold]);
  const [closed, setClosed] = useState<ReadonlySet<number>>(new Set());
  const toggle = (id: number) => {
    const next = new Set(closed);
    if (!next.delete(id)) next.add(id);
    setClosed(next);
  };
  return (
    <table className="trace" aria-label="What plugins did, in the order in which it began">
      <thead>
        <tr>
          <th scope="col">Step and handler</th>
          <th scope="col">Result</th>
          <td className="trace-axis" aria-hidden="true">
            <span className="trace-track">
              {axis.ticks.map(({ left, words }) => (
                <span key={left} className="trace-tick" style={{ left: `${left}%` }}>
                  {words}
                </span>
              ))}
            </span>
          </td>
          <th scope="col" className="number">
            Time
          </th>
        </tr>
      </thead>
      <tbody>
        {dispatches.map((dispatch) => {
          const isOpen = !closed.has(dispatch.id);
          return (
            <Fragment key={dispatch.id}>
              <DispatchRow dispatch={dispatch} axis={axis} isOpen={isOpen} onToggle={() => toggle(dispatch.id)} />
              {isOpen &&
                dispatch.records.map((record) => (
                  <HandlerRow
                    key={record.seq}
                    record={record}
                    axis={axis}
                    isSelected={record.seq === selected}
                    onSelect={(button) => onSelect(record, button)}
                  />
                ))}
            </Fragment>
          );
        })}
      </tbody>
    </table>
  );
}

interface DispatchProps {
  readonly dispatch: Dispatch;
  readonly axis: Axis;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
}

function DispatchRow({ dispatch, axis, isOpen, onToggle }: DispatchProps): ReactNode {
  const { place, records, from, to, outcome } = dispatch;
  return (
    <tr className="trace-step">
      <th scope="row">
        <button type="button" className="trace-toggle" aria-expanded={isOpen} onClick={onToggle}>
          <Icon name={isOpen ? 'chevron-down' : 'chevron-right'} size={14} />
          <span className="trace-label">
            <span className="trace-name">
              <VisibleText text={place} />
            </span>{' '}
            <span className="trace-who">{plural(records.length, 'handler')}</span>
          </span>
        </button>
      </th>
      <td>{!isOpen && <Outcome outcome={outcome} />}</td>
      <Bar axis={axis} span={axis.span(from, to)} look="trace-bar-step" />
      <td className="number">{millis(to - from)}</td>
    </tr>
  );
}

interface HandlerProps {
  readonly record: TraceRecord;
  readonly axis: Axis;
  readonly isSelected: boolean;
  readonly onSelect: (button: HTMLElement) => void;
}

function HandlerRow({ record, axis, isSelected, onSelect }: HandlerProps): ReactNode {
  const { plugin, order, priority, at, durationMs, outcome, place, times = 1 } = record;
  const look = outcomes[outcome].tone === 'bad' ? 'trace-bar-bad' : place === 'tool' ? 'trace-bar-tool' : '';
  return (
    <tr className="trace-handler" data-selected={isSelected}>
      <th scope="row">
        <button
          type="button"
          className="trace-open"
          data-row=""
          aria-pressed={isSelected}
          onClick={(event) => onSelect(event.currentTarget)}
        >
          <span className="trace-name">
            <VisibleText text={plugin} />
          </span>
          <span className="trace-who">
            order {order}
            {priority !== undefined && `, priority ${priority}`}
            {times > 1 && `, ${plural(times, 'time')}`}
          </span>
          <span className="visually-hidden">in {visible(place)}: details</span>
        </button>
      </th>
      <td>
        <Outcome outcome={outcome} />
      </td>
      <Bar axis={axis} span={axis.span(at, at + durationMs)} look={look} />
      <td className="number">{millis(durationMs)}</td>
    </tr>
  );
}

export function Outcome({ outcome }: { readonly outcome: TraceRecord['outcome'] }): ReactNode {
  const { icon, tone, words } = outcomes[outcome];
  return (
    <Pill icon={icon} tone={tone} bare>
      {words}
    </Pill>
  );
}

function Bar({ axis, span, look }: { readonly axis: Axis; readonly span: Span; readonly look: string }): ReactNode {
  return (
    <td className="trace-axis" aria-hidden="true">
      <span className="trace-track">
        {axis.waits.map(({ left, width }) => (
          <span key={left} className="trace-wait" style={{ left: `${left}%`, width: `${width}%` }} />
        ))}
        <span className={`trace-bar ${look}`} style={{ left: `${span.left}%`, width: `${span.width}%` }} />
      </span>
    </td>
  );
}
