// Runs before anything is painted: the theme that was chosen, so that the page does not flash in the other one.
import { applyTheme, readPreferences } from './state/preferences.ts';

applyTheme(readPreferences({ getItem: (key) => localStorage.getItem(key) }).theme, document.documentElement);
