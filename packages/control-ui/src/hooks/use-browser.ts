// The clock, the width and the choices of this browser, as state of components.
import { createContext, use, useEffect, useState, useSyncExternalStore } from 'react';
import { defaultPreferences, type Preferences } from '../state/preferences.ts';

/** The time, once a second while somebody looks at it; otherwise it stands. */
export function useNow(running: boolean, everyMs = 1_000): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!running) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [running, everyMs]);
  return now;
}

export function useMedia(query: string): boolean {
  return useSyncExternalStore(
    (listener) => {
      const list = matchMedia(query);
      list.addEventListener('change', listener);
      return () => list.removeEventListener('change', listener);
    },
    () => matchMedia(query).matches,
  );
}

/** Widths at which the layout changes. */
export const widths = { phone: '(max-width: 640px)', narrow: '(max-width: 900px)', wide: '(min-width: 1181px)' } as const;

/** True once the time has passed: what is quick shows no skeleton. */
export function useDelay(ms: number): boolean {
  const [isOver, setOver] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setOver(true), ms);
    return () => clearTimeout(timer);
  }, [ms]);
  return isOver;
}

export interface PreferencesState {
  readonly preferences: Preferences;
  set(change: Partial<Preferences>): void;
}

export const PreferencesContext = createContext<PreferencesState>({ preferences: defaultPreferences, set: () => {} });

export function usePreferences(): PreferencesState {
  return use(PreferencesContext);
}
