// The trace of a session as the gateway keeps it: read to its end, then further whenever the gateway says that there is more.
// One read at a time; the page keeps as much as the gateway does.
import { useCallback, useEffect, useRef, useState } from 'react';
import type { Result, TraceRecord } from '@tenon/protocol';
import { useApp, usePage } from '../hooks/page-context.ts';
import type { Loaded } from '../state/app-state.ts';
import { troubleOf } from '../state/trouble.ts';

type State = Pick<Result<'hooks.trace'>, 'recording' | 'turnsLeft' | 'until' | 'dropped'>;
export interface Trace extends State {
  readonly records: readonly TraceRecord[];
}

const PAGE = 200;
const MOST_RECORDS = 2_000;

export interface UsedTrace {
  readonly trace: Loaded<Trace>;
  /** Undefined: until it is switched off. Gives whether it was done. */
  readonly record: (turns: number | undefined) => Promise<boolean>;
  readonly stop: () => Promise<boolean>;
  readonly again: () => void;
}

export function useTrace(sessionKey: string | undefined): UsedTrace {
  const page = usePage();
  const isOnline = useApp((state) => state.connection.kind === 'online');
  const [trace, setTrace] = useState<Loaded<Trace>>({ kind: 'loading' });
  const reader = useRef<(() => void) | undefined>(undefined);

  useEffect(() => {
    setTrace({ kind: 'loading' });
    if (sessionKey === undefined || !isOnline) return;
    const key = sessionKey;
    let records: TraceRecord[] = [];
    let isOver = false;
    let isReading = false;
    let isAsked = false;
    const read = async (): Promise<void> => {
      isAsked = true;
      if (isReading) return;
      isReading = true;
      try {
        while (isAsked && !isOver) {
          isAsked = false;
          const {
            records: more,
            next,
            ...state
          } = await page.link().call('hooks.trace', {
            sessionKey: key,
            limit: PAGE,
            ...(records.length === 0 ? {} : { after: records.at(-1)!.seq }),
          });
          if (isOver) return;
          records = [...records, ...more].slice(-MOST_RECORDS);
          if (next !== undefined) isAsked = true;
          setTrace({ kind: 'ready', value: { ...state, records } });
        }
      } catch (error) {
        if (!isOver) setTrace({ kind: 'failed', error: troubleOf(error) });
      } finally {
        isReading = false;
      }
    };
    reader.current = () => void read();
    void read();
    const stop = page.link().on('hooks.traced', (event) => {
      if (event.sessionKey === key) void read();
    });
    return () => {
      isOver = true;
      reader.current = undefined;
      stop();
    };
  }, [page, sessionKey, isOnline]);

  const again = useCallback(() => reader.current?.(), []);
  const change = useCallback(
    async (how: { turns?: number; off?: true }): Promise<boolean> => {
      if (sessionKey === undefined) return false;
      try {
        await page.link().call('hooks.trace.record', { sessionKey, ...how });
        again();
        return true;
      } catch (error) {
        page.toasts.fail(how.off ? 'The recording could not be stopped' : 'Nothing is recorded', error);
        return false;
      }
    },
    [page, sessionKey, again],
  );
  return {
    trace,
    record: useCallback((turns) => change(turns === undefined ? {} : { turns }), [change]),
    stop: useCallback(() => change({ off: true }), [change]),
    again,
  };
}
