// The log of an extension: its standard error, what it logged, and what became of its process; the latest first, live while
// somebody looks. Everything in it is text of the extension.
import { type ReactNode, useEffect, useRef, useState } from 'react';
import type { ExtensionLogLine } from '@tenon/protocol';
import { plural } from '../chat/format.ts';
import { CopyButton } from '../chat/copy-button.tsx';
import { VisibleText } from '../chat/visible-text.tsx';
import { useApp, usePage } from '../hooks/page-context.ts';
import { Button, Pill } from '../parts/button.tsx';
import { troubleOf } from '../state/trouble.ts';

const READ_EVERY_MS = 1_500;
const MAX_LINES = 300;
const TIME = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit', fractionalSecondDigits: 3 });

const sources = { stderr: 'stderr', log: 'log', gateway: 'gateway' } as const satisfies Record<ExtensionLogLine['from'], string>;

interface Read {
  readonly lines: readonly ExtensionLogLine[];
  readonly error?: string;
}

/** `changed`: another value when something has happened to the extension. */
function useLog(id: string, isLive: boolean, changed: unknown): Read {
  const page = usePage();
  const isOnline = useApp((state) => state.connection.kind === 'online');
  const [read, setRead] = useState<Read>({ lines: [] });
  const cursor = useRef(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what has changed is the reason to look again
  useEffect(() => {
    if (!isOnline || !isLive) return;
    let isOver = false;
    let isAsking = false;
    const look = async () => {
      if (isAsking || document.hidden) return;
      isAsking = true;
      const after = cursor.current;
      try {
        const answer = await page.link().call('plugins.logs', { id, after, limit: MAX_LINES });
        if (isOver) return;
        // A gateway that was started anew counts from the beginning.
        const isAnew = answer.cursor < after;
        cursor.current = answer.cursor;
        setRead((before) => ({ lines: [...(isAnew ? [] : before.lines), ...answer.lines].slice(-MAX_LINES) }));
      } catch (error) {
        if (!isOver) setRead((before) => ({ ...before, error: troubleOf(error).message }));
      } finally {
        isAsking = false;
      }
    };
    void look();
    const timer = setInterval(() => void look(), READ_EVERY_MS);
    return () => {
      isOver = true;
      clearInterval(timer);
    };
  }, [page, id, isOnline, isLive, changed]);
  return read;
}

export function LogCard({ id, changed }: { readonly id: string; readonly changed: unknown }): ReactNode {
  const [isLive, setLive] = useState(true);
  const { lines, error } = useLog(id, isLive, changed);
  const earlier = (lines.at(-1)?.seq ?? 0) - lines.length;
  const text = lines.map(({ at, from, level, text: said }) => `${new Date(at).toISOString()} ${from} ${level} ${said}`).join('\n');
  return (
    <section className="card" aria-labelledby="log-title">
      <div className="card-head log-head">
        <h2 id="log-title">Log</h2>
        <Pill icon={isLive ? 'running' : 'pause'} tone={isLive ? 'accent' : 'plain'} bare>
          {isLive ? 'Live' : 'Paused'}
        </Pill>
        <Button small look="quiet" icon={isLive ? 'pause' : 'play'} onClick={() => setLive(!isLive)}>
          {isLive ? 'Pause' : 'Go on'}
        </Button>
        {lines.length > 0 && <CopyButton text={text} label="Copy the log" />}
      </div>
      {error !== undefined && (
        <p className="card-empty" role="status">
          The log could not be read: <VisibleText text={error} />
        </p>
      )}
      {lines.length === 0 ? (
        <p className="card-empty">It has written nothing yet.</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be reached with keys
        <section className="log-scroll" tabIndex={0} aria-label="Lines of the log, the latest first">
          <ol className="log-lines" reversed>
            {lines.toReversed().map((line) => (
              <li key={line.seq} className="log-line">
                <time dateTime={new Date(line.at).toISOString()}>{TIME.format(line.at)}</time>
                <span className={`log-from log-${line.level}`}>{line.from === 'log' ? line.level : sources[line.from]}</span>
                <span className="log-text">
                  <VisibleText text={line.text} />
                </span>
              </li>
            ))}
          </ol>
        </section>
      )}
      {earlier > 0 && <p className="meta card-note">{plural(earlier, 'earlier line is', 'earlier lines are')} not shown.</p>}
    </section>
  );
}
