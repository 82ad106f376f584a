// What the person chose on this browser: theme, shortcuts, quiet. Kept until sign-out; unknown or broken values are defaults.
import type { Shelf } from './credentials.ts';

export type Theme = 'system' | 'light' | 'dark';

export interface Preferences {
  readonly theme: Theme;
  /** Keys without Ctrl or Cmd: `g a`, `n`, `?`, `a`, `d`. */
  readonly singleKeys: boolean;
  /** Screen readers are not told what streams. */
  readonly quiet: boolean;
  /** The panel beside the conversation is open where there is room. */
  readonly panel: boolean;
}

export const defaultPreferences: Preferences = { theme: 'system', singleKeys: true, quiet: false, panel: true };

export const PREFERENCES_KEY = 'tenon.preferences';

export function readPreferences(shelf: Pick<Shelf, 'getItem'>): Preferences {
  try {
    const stored: unknown = JSON.parse(shelf.getItem(PREFERENCES_KEY) ?? '{}');
    const { theme, singleKeys, quiet, panel } = (typeof stored === 'object' && stored !== null ? stored : {}) as Record<string, unknown>;
    return {
      theme: theme === 'light' || theme === 'dark' ? theme : 'system',
      singleKeys: singleKeys !== false,
      quiet: quiet === true,
      panel: panel !== false,
    };
  } catch {
    return defaultPreferences;
  }
}

export function writePreferences(shelf: Pick<Shelf, 'setItem'>, preferences: Preferences): void {
  try {
    shelf.setItem(PREFERENCES_KEY, JSON.stringify(preferences));
  } catch {
    // Storage is off or full: the choice holds for this page.
  }
}

export function applyTheme(theme: Theme, root: { readonly dataset: DOMStringMap }): void {
  if (theme === 'system') delete root.dataset.theme;
  else root.dataset.theme = theme;
}
