// One call of a handler: what came of it, why, and what is different now, as lines that were taken out and put in.
import { type ReactNode, useEffect, useRef } from 'react';
import { type JsonValue, type TraceRecord, visible } from '@tenon/protocol';
import { exactTime, plural } from '../chat/format.ts';
import { VisibleText } from '../chat/visible-text.tsx';
import { useMedia } from '../hooks/use-browser.ts';
import { Icon } from '../icons.tsx';
import { IconButton } from '../parts/button.tsx';
import { formatRoute } from '../state/route.ts';
import { millis, sentence } from './plugin-words.ts';
import type { Dispatch } from './timeline.ts';
import { Outcome } from './trace-table.tsx';

interface DetailProps {
  readonly record: TraceRecord;
  readonly dispatch: Dispatch | undefined;
  /** Of the first thing that is shown. */
  readonly startedAt: number;
  readonly onClose: () => void;
}

export function TraceDetail({ record, dispatch, startedAt, onClose }: DetailProps): ReactNode {
  const title = useRef<HTMLHeadingElement>(null);
  // Over the list there is nothing else to be in.
  const isOver = useMedia('(max-width: 1180px)');
  useEffect(() => {
    if (isOver) title.current?.focus();
  }, [isOver]);
  const { plugin, place, order, priority, durationMs, at, outcome, reason, changes = [], moreChanges = 0, times = 1 } = record;
  return (
    <aside
      className="trace-detail"
      aria-label="Details of the call"
      onKeyDown={(event) => {
        if (event.key === 'Escape') onClose();
      }}
    >
      <div className="trace-detail-head">
        <span className="tile tile-accent">
          <Icon name="joint" />
        </span>
        <div className="row-text">
          <h2 ref={title} tabIndex={-1}>
            <VisibleText text={plugin} />
          </h2>
          <code className="meta">
            <VisibleText text={place} />
          </code>
        </div>
        <IconButton icon="x" label="Close the details" onClick={onClose} />
      </div>
      <dl className="trace-facts">
        <div>
          <dt>Result</dt>
          <dd>
            <Outcome outcome={outcome} />
          </dd>
        </div>
        <div>
          <dt>Ran</dt>
          <dd>
            {millis(durationMs)}
            {times > 1 && ` in ${plural(times, 'call')}`}, <span title={exactTime(at)}>at +{millis(Math.max(0, at - startedAt))}</span>
          </dd>
        </div>
        <div>
          <dt>Order</dt>
          <dd>
            {order} of {Math.max(order, dispatch?.records.length ?? 1)}
            {priority !== undefined && `, priority ${priority}`}
          </dd>
        </div>
        {record.runId !== undefined && (
          <div>
            <dt>Run</dt>
            <dd>
              <code>{visible(record.runId)}</code>
            </dd>
          </div>
        )}
      </dl>
      {reason !== undefined && (
        <>
          <h3>Why</h3>
          <p className="trace-reason">
            <VisibleText text={sentence(reason)} keep={'\n'} />
          </p>
        </>
      )}
      <h3>What it changed</h3>
      {changes.length === 0 && moreChanges === 0 ? (
        <p className="trace-reason">{outcome === 'claimed' ? 'It answered itself; nothing else is different.' : 'Nothing.'}</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be reached with keys
        <section className="trace-diff" tabIndex={0} aria-label="Before and after">
          {changes.map(({ path, before, after }) => (
            <div key={path} className="trace-change">
              <p className="trace-path">
                <VisibleText text={path === '' ? 'the whole' : path} />
              </p>
              {before !== undefined && <DiffLines sign="-" word="Before" value={before} />}
              {after !== undefined && <DiffLines sign="+" word="After" value={after} />}
            </div>
          ))}
        </section>
      )}
      {moreChanges > 0 && <p className="meta">{plural(moreChanges, 'more change', 'more changes')} not listed.</p>}
      <p className="trace-link">
        <a href={formatRoute({ view: 'plugins', id: plugin })}>Open the plugin</a>
      </p>
    </aside>
  );
}

function DiffLines({ sign, word, value }: { readonly sign: '-' | '+'; readonly word: string; readonly value: JsonValue }): ReactNode {
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  return (
    <pre className={sign === '+' ? 'trace-added' : 'trace-removed'}>
      <span className="visually-hidden">{word}: </span>
      {text.split('\n').map((line, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines of one text never move
        <span key={at} className="trace-line">
          <span aria-hidden="true" className="trace-sign">
            {sign}
          </span>
          <span>
            <VisibleText text={line} />
          </span>
        </span>
      ))}
    </pre>
  );
}
