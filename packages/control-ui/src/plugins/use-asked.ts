// What a view reads from the gateway for itself: again when something has changed, when the connection is back, and every
// now and then while somebody looks. What is shown stays until the next answer; an answer that was overtaken is dropped.
import { useCallback, useEffect, useRef, useState } from 'react';
import { useApp } from '../hooks/page-context.ts';
import type { Loaded } from '../state/app-state.ts';
import { troubleOf } from '../state/trouble.ts';

export interface Asked<Value> {
  readonly answer: Loaded<Value>;
  readonly again: () => void;
}

/**
 * @param ask Undefined: there is nothing to ask. It is asked anew when the function is another one.
 * @param changed Anything that is another value when the answer may be another one.
 */
export function useAsked<Value>(ask: (() => Promise<Value>) | undefined, changed: unknown, everyMs?: number): Asked<Value> {
  const isOnline = useApp((state) => state.connection.kind === 'online');
  const [answer, setAnswer] = useState<Loaded<Value>>({ kind: 'loading' });
  const latest = useRef(0);
  const again = useCallback(() => {
    if (!ask) return;
    const mine = ++latest.current;
    const settle = (next: Loaded<Value>) => {
      if (mine === latest.current) setAnswer(next);
    };
    ask().then(
      (value) => settle({ kind: 'ready', value }),
      (error: unknown) => settle({ kind: 'failed', error: troubleOf(error) }),
    );
  }, [ask]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another question makes the answer to the one before worthless
  useEffect(() => {
    setAnswer({ kind: 'loading' });
    return () => void latest.current++;
  }, [ask]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what has changed is the reason to ask again
  useEffect(() => {
    if (!isOnline) return;
    again();
    if (everyMs === undefined) return;
    const timer = setInterval(() => !document.hidden && again(), everyMs);
    return () => clearInterval(timer);
  }, [isOnline, again, everyMs, changed]);
  return { answer, again };
}
